/*
 * loss.c - what a link took with it. A message that was written to a link may never be read from
 * it: when it breaks, what its end here still held is gone, whole messages among it, and these the
 * other task would await for ever. So the sender tells it through the daemons which messages were
 * the last on that link; and the other, when nothing more comes of them, takes them for lost: as
 * after a link that broke in the middle of a message, nothing that was sent later is given out.
 * Hand-overs have no numbers: that one is lost shows in how many came, and ends the teams of both.
 *
 * A link that is closed in order is the other task's end, as a rule. Only if that is not heard of
 * is it told, too.
 */
#include "lib/engine/loss.h"
#include "lib/engine/arrival.h"
#include "lib/engine/conn.h"
#include "lib/engine/credit.h"
#include "lib/engine/match.h"
#include "lib/engine/peer.h"
#include "lib/member/home.h"
#include "lib/member/part.h"
#include "lib/member/vm.h"
#include "lib/member/watch.h"
#include "lib/msg/clock.h"

#include <stdio.h>

#define END_US 2000000u /* how long after a link was closed the end of its task is waited for */
#define QUIET_US 1000000u

void loss_note(struct conn *conn, uint64_t sequence)
{
    if (sequence != conn->out.run_next || conn->out.run_next == conn->out.run_first)
        conn->out.run_first = sequence;
    conn->out.run_next = sequence + 1;
}

static void loss_tell(struct covey *vm, struct peer *peer)
{
    uint8_t payload[32];
    struct cursor c = cursor_writer(payload, sizeof payload);
    cursor_put_u64(&c, peer->out.untold.first);
    cursor_put_u64(&c, peer->out.untold.next);
    cursor_put_u64(&c, peer->out.untold.sent_bytes);
    cursor_put_u64(&c, peer->out.untold.syncs);
    peer->out.untold.at_us = 0;
    home_send(vm, FRAME_LINK_LOST, peer->tid, payload, sizeof payload);
}

void loss_on_close(struct covey *vm, const struct conn *conn, bool broken)
{
    struct peer *peer = conn->peer;
    bool none = conn->out.run_next == conn->out.run_first;
    if (peer == NULL || peer->leaving || peer->gone || vm->wait.closing || vm->home.lost != 0 ||
        (none && !conn->out.handed_over))
        return;
    if (peer->out.untold.at_us != 0)
        loss_tell(vm, peer);
    peer->out.untold = (struct loss){.first = none ? peer->out.sequence : conn->out.run_first,
                                     .next = none ? peer->out.sequence : conn->out.run_next,
                                     .sent_bytes = peer->out.sent_bytes,
                                     .syncs = peer->out.syncs_sent,
                                     .at_us = clock_us() + (broken ? 0 : END_US)};
    wait_check_at(vm, peer->out.untold.at_us);
}

void loss_on_frame(struct covey *vm, const struct frame *frame, const uint8_t *payload)
{
    struct peer *peer = peer_find(vm, frame->source);
    struct cursor c = cursor_reader(payload, frame->length);
    if (peer == NULL)
        return;
    struct loss l = {.first = cursor_get_u64(&c)};
    l.next = cursor_get_u64(&c);
    l.sent_bytes = cursor_get_u64(&c);
    l.syncs = cursor_get_u64(&c);
    if (!cursor_done(&c) || l.first > l.next || peer->gone)
        return;
    if (peer->in.doubted.at_us != 0 && peer->in.doubted.first < l.first)
        l.first = peer->in.doubted.first;
    l.at_us = clock_us() + QUIET_US;
    l.seen_bytes = peer->in.received_bytes;
    peer->in.doubted = l;
    wait_check_at(vm, l.at_us);
}

static void say_why(struct peer *peer)
{
    if (peer->broken_why[0] == '\0')
        snprintf(peer->broken_why, sizeof peer->broken_why, "the link that it took broke");
}

/* What was sent before by other ways, and counts, too, may be on its way yet. */
static void judge(struct covey *vm, struct peer *peer, uint64_t now_us)
{
    struct loss *l = &peer->in.doubted;
    for (struct conn *conn = vm->links.conns; conn != NULL; conn = conn->next) {
        if (conn->peer == peer && conn->ready && !conn->closed)
            conn_read(vm, conn);
    }
    l->at_us = 0;
    bool messages = peer->in.sequence < l->next, syncs = peer->in.syncs_heard < l->syncs;
    bool quiet = peer->in.received_bytes == l->seen_bytes;
    if (quiet && messages && peer->in.sequence >= l->first) {
        /* They are not coming, and what was sent after them is let go of. */
        peer->in.cut = true;
        say_why(peer);
        peer->in.sequence = peer->in.doubted.next;
        if (peer->in.received_bytes < peer->in.doubted.sent_bytes)
            peer->in.received_bytes = peer->in.doubted.sent_bytes;
        if (peer->broken_at_us == 0)
            match_fail_source(vm, peer);
        arrival_release(vm, peer);
        credit_update(vm, peer);
        messages = false;
    }
    if (quiet && syncs && !messages) {
        say_why(peer);
        peer->in.syncs_heard = peer->in.doubted.syncs;
        parts_syncs_lost(vm, peer);
        syncs = false;
    }
    if (!messages && !syncs)
        return;
    l->seen_bytes = peer->in.received_bytes;
    l->at_us = now_us + QUIET_US;
}

void loss_check(struct covey *vm, struct peer *peer, uint64_t now_us)
{
    if (peer->gone || peer->leaving) {
        peer->out.untold.at_us = peer->in.doubted.at_us = 0;
        return;
    }
    if (peer->out.untold.at_us != 0 && now_us >= peer->out.untold.at_us)
        loss_tell(vm, peer);
    if (peer->in.doubted.at_us != 0 && now_us >= peer->in.doubted.at_us)
        judge(vm, peer, now_us);
    if (peer->out.untold.at_us != 0)
        wait_check_at(vm, peer->out.untold.at_us);
    if (peer->in.doubted.at_us != 0)
        wait_check_at(vm, peer->in.doubted.at_us);
}
