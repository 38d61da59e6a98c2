/*
 * turn.c - bulk messages of which several come at once are taken one after the other, where the VM
 * is configured so (`turns` of covey.conf). Of each, what its sender may send unasked comes; then
 * they are in line, in the order in which they began, and the first has the turn: its sender is
 * told by a CREDIT that messages up to this one may go on. The turn is passed when little of the
 * message is missing, so that the next one's bytes come when its last ones have, or when nothing of
 * it came for a while: its sender may wait for something else, and keeps what it was given.
 *
 * A message that nobody will get (its sender failed in an earlier one) goes on at once. Messages of
 * tasks of this host are in no line, and smaller ones pass all.
 */
#include "lib/engine/turn.h"
#include "lib/engine/arrival.h"
#include "lib/engine/peer.h"
#include "lib/member/vm.h"
#include "lib/member/watch.h"
#include "lib/msg/clock.h"
#include "proto/wire/list.h"

#include <assert.h>
#include <stdlib.h>

#define LAST_BYTES (64 * 1024) /* when no more is missing it is the next one's turn */
#define STALL_US 200000u

struct turn {
    struct turn *next, *prev;
    struct arrival *arrival;
    uint64_t sequence;
    uint64_t moved_us; /* since then nothing came; 0: it has not its turn yet */
};

static void unlink_turn(struct covey *vm, struct turn *turn)
{
    assert(turn->arrival->turn == turn);
    UNLINK_BOTH(vm->inbox.turns, vm->inbox.turns_last, turn, next, prev);
    turn->arrival->turn = NULL;
    free(turn);
}

/* The news goes from the poll loop: here bytes are being read, perhaps of a link that fails when it
 * is written to. */
static void allow(struct covey *vm, struct peer *peer, uint64_t sequence)
{
    if (peer->bulk.turn_granted <= sequence)
        peer->bulk.turn_granted = sequence + 1;
    peer->in.grant_due = true;
    wait_check_at(vm, 1);
}

/* The first in line has the turn. */
static void turn_settle(struct covey *vm)
{
    struct turn *first = vm->inbox.turns;
    if (first == NULL || first->moved_us != 0)
        return;
    first->moved_us = clock_us();
    allow(vm, first->arrival->peer, first->sequence);
}

static struct turn *turn_add(struct covey *vm, struct arrival *a, uint64_t sequence)
{
    struct turn *turn = malloc(sizeof *turn);
    if (turn == NULL)
        return NULL;
    *turn = (struct turn){.arrival = a, .sequence = sequence};
    LINK_AFTER(vm->inbox.turns_last, vm->inbox.turns, vm->inbox.turns_last, turn, next, prev);
    a->turn = turn;
    return turn;
}

void turn_begin(struct covey *vm, struct arrival *a, uint64_t sequence)
{
    if (!vm->out.contention.turns || a->cast ||
        a->info.bytes < vm->out.contention.threshold_bytes ||
        tid_host(a->peer->tid) == vm->self.host)
        return;
    if (a->lost || turn_add(vm, a, sequence) == NULL)
        allow(vm, a->peer, sequence);
    else
        turn_settle(vm);
}

void turn_moved(struct covey *vm, struct arrival *a)
{
    if (a->turn == NULL || a->turn->moved_us == 0)
        return;
    a->turn->moved_us = clock_us();
    if (a->info.bytes - a->received > LAST_BYTES)
        return;
    unlink_turn(vm, a->turn);
    turn_settle(vm);
}

/* The rest of one that nobody gets is only read: its sender need not wait for a turn. */
void turn_end(struct covey *vm, struct arrival *a)
{
    struct turn *turn = a->turn;
    if (turn == NULL)
        return;
    bool waited = turn->moved_us == 0 && a->received < a->info.bytes;
    struct peer *peer = a->peer;
    uint64_t sequence = turn->sequence;
    unlink_turn(vm, turn);
    if (waited && !peer->gone)
        allow(vm, peer, sequence);
    turn_settle(vm);
}

void turn_check(struct covey *vm, uint64_t now_us)
{
    struct turn *first = vm->inbox.turns;
    if (first == NULL || first->moved_us == 0)
        return;
    if (now_us < first->moved_us + STALL_US) {
        wait_check_at(vm, first->moved_us + STALL_US);
        return;
    }
    unlink_turn(vm, first);
    turn_settle(vm);
}

void turn_free_all(struct covey *vm)
{
    while (vm->inbox.turns != NULL)
        unlink_turn(vm, vm->inbox.turns);
}
