/*
 * bulk.c - large messages to other hosts, where the VM avoids contention
 * (proto/contention/contention.h): the first send of a peer has a claim before a frame of it goes;
 * so a peer has one claim at most, and keeps it over as many of its messages as the quantum allows.
 *
 * What needs none: messages below the threshold (but they keep their place behind a large one to
 * the same task), those to tasks of this host, casts, and what a schedule paces, which keeps out of
 * contention by itself. Whatever route a message takes, shared memory excepted, its claim is the
 * same.
 *
 * Where receivers take bulk messages in turn (turn.c), the first frame of a message goes, and the
 * rest when the receiver says so; but not of one that has a claim, which nobody else sends beside.
 *
 * A claim ends when the last sixteenth of what it was for is left, so that the next sender has
 * heard that it is its turn before that has gone, and the medium is not idle meanwhile: the way by
 * two or three daemons takes tens of milliseconds where the medium is full and hosts compute. For a
 * moment two share it, which also uses what a host that computes leaves when it receives too
 * slowly.
 */
#include "lib/engine/bulk.h"
#include "lib/engine/arrival.h"
#include "lib/engine/conn.h"
#include "lib/engine/outgo.h"
#include "lib/engine/peer.h"
#include "lib/engine/req.h"
#include "lib/link/link.h"
#include "lib/member/home.h"
#include "lib/member/routes.h"
#include "lib/member/vm.h"
#include "lib/member/watch.h"
#include "lib/msg/clock.h"

#define TURN_FIRST_BYTES (FRAME_PAYLOAD_MAX - FRAME_MESSAGE_BYTES) /* go before it is the turn */
#define KEEP_BYTES (128 * 1024) /* in a stream, beyond what is on its way: 10 ms at 100 Mbit/s */
#define LAST_PART 16            /* of a message goes without a claim */

static void say(struct covey *vm, uint8_t kind, const uint8_t *bytes, const struct cursor *c)
{
    if (vm->home.lost == 0)
        home_send(vm, kind, 0, bytes, (size_t)(c->at - bytes));
}

static void say_ask(struct covey *vm, const struct peer *peer)
{
    uint8_t bytes[CONTENTION_ASK_BYTES];
    struct cursor c = cursor_writer(bytes, sizeof bytes);
    const struct contention_ask ask = {.task = vm->self.tid,
                                       .number = peer->bulk.claim.number,
                                       .asked_us = peer->bulk.claim.asked_us,
                                       .to = (uint16_t)tid_host(peer->tid)};
    contention_put_ask(&c, &ask);
    say(vm, FRAME_BULK_ASK, bytes, &c);
}

static void say_end(struct covey *vm, uint32_t number)
{
    uint8_t bytes[CONTENTION_END_BYTES];
    struct cursor c = cursor_writer(bytes, sizeof bytes);
    contention_put_end(&c, vm->self.tid, number);
    say(vm, FRAME_BULK_END, bytes, &c);
}

static void act(struct covey *vm, const struct peer *peer, enum claim_act what)
{
    if (what == CLAIM_ASK)
        say_ask(vm, peer);
    else if (what == CLAIM_END)
        say_end(vm, peer->bulk.claim.number);
}

static bool is_bulk(const struct covey *vm, const struct peer *peer, const struct covey_req *req)
{
    return req->send.msg->size >= vm->out.contention.threshold_bytes &&
           tid_host(peer->tid) != vm->self.host && !req_is_paced(req) && req->send.caster == NULL;
}

/* The next sender may begin: nothing but the end of a message is left for this peer. */
static bool is_ending(const struct covey *vm, const struct peer *peer, const struct covey_req *req)
{
    uint64_t left = req->send.msg->size - req->send.offset;
    return left <= req->send.msg->size / LAST_PART &&
           (req->next == NULL || !is_bulk(vm, peer, req->next));
}

static bool needs_claim(const struct covey *vm, const struct peer *peer,
                        const struct covey_req *req)
{
    return vm->out.contention.mode != CONTENTION_OFF && is_bulk(vm, peer, req) &&
           !is_ending(vm, peer, req);
}

/* Who holds a claim goes on, for others would wait for it, and so does what it left. */
bool bulk_in_turn(const struct covey *vm, const struct peer *peer, const struct covey_req *req,
                  size_t *size)
{
    if (!vm->out.contention.turns || req->send.sequence < peer->bulk.turn_before ||
        !is_bulk(vm, peer, req) || peer->bulk.claim.state == CLAIM_HELD ||
        (vm->out.contention.mode == CONTENTION_TOKEN && is_ending(vm, peer, req)))
        return true;
    uint64_t left = req->send.offset < TURN_FIRST_BYTES ? TURN_FIRST_BYTES - req->send.offset : 0;
    *size = *size < left ? *size : (size_t)left;
    return *size > 0;
}

/* ---- staggered ------------------------------------------------------------------------------- */

/* By rank, as long as one such message takes: so one after the other begins. */
static bool staggered(struct covey *vm, const struct peer *peer, struct covey_req *req,
                      uint64_t now_us)
{
    if (req->send.not_before_us == 0) {
        double takes_us = (double)req->send.msg->size * 8e6 / (double)peer->bulk.stagger_rate;
        const struct context_owner *owner = req->context == 0 ? NULL : vm->inbox.contexts;
        int rank = owner == NULL ? 0 : owner->rank(vm, req->context);
        req->send.not_before_us = now_us + (uint64_t)(takes_us * rank);
    }
    if (now_us >= req->send.not_before_us)
        return true;
    wait_check_at(vm, req->send.not_before_us);
    return false;
}

/* ---- claims ---------------------------------------------------------------------------------- */

/* Does what is due, and is called again in time. */
static void bulk_advance(struct covey *vm, struct peer *peer, uint64_t now_us)
{
    uint64_t next_us;
    act(vm, peer,
        claim_step(&peer->bulk.claim, vm->out.contention.quantum_bytes, now_us, &next_us));
    if (next_us != UINT64_MAX)
        wait_check_at(vm, next_us);
}

/* Asks, unless that was done. */
static void pursue(struct covey *vm, struct peer *peer, uint64_t now_us)
{
    bulk_advance(vm, peer, now_us);
    if (peer->bulk.claim.state != CLAIM_NONE)
        return;
    act(vm, peer, claim_want(&peer->bulk.claim, ++vm->out.claims, now_us));
    bulk_advance(vm, peer, now_us);
}

bool bulk_may_send(struct covey *vm, struct peer *peer, struct covey_req *req)
{
    if (!needs_claim(vm, peer, req)) {
        bulk_settle(vm, peer);
        return true;
    }
    uint64_t now_us = clock_us();
    if (now_us < peer->bulk.way_known_us)
        return peer->bulk.stagger_rate == 0 || staggered(vm, peer, req, now_us);
    if (!claim_may_send(&peer->bulk.claim, now_us))
        pursue(vm, peer, now_us);
    return claim_may_send(&peer->bulk.claim, now_us);
}

void bulk_sent(struct covey *vm, struct peer *peer, const struct covey_req *req, uint64_t bytes)
{
    if (peer->bulk.claim.state != CLAIM_HELD && peer->bulk.claim.state != CLAIM_PASSING)
        return;
    claim_sent(&peer->bulk.claim, needs_claim(vm, peer, req) ? bytes : 0, clock_us());
    if (peer->out.carrier != NULL && routes[peer->out.carrier->route].stream)
        link_tcp_hold_little(peer->out.carrier->link, KEEP_BYTES);
}

void bulk_settle(struct covey *vm, struct peer *peer)
{
    if (peer->bulk.claim.state == CLAIM_NONE)
        return;
    if (peer->out.sends == NULL || !needs_claim(vm, peer, peer->out.sends))
        bulk_drop(vm, peer);
}

void bulk_drop(struct covey *vm, struct peer *peer)
{
    act(vm, peer, claim_drop(&peer->bulk.claim));
}

void bulk_check(struct covey *vm, struct peer *peer, uint64_t now_us)
{
    if (vm->out.contention.turns && peer->in.grant_due)
        outgo_pump(vm, peer);
    if (vm->out.contention.mode == CONTENTION_OFF || peer->gone || peer->out.sends == NULL)
        return;
    bulk_advance(vm, peer, now_us);
    outgo_pump(vm, peer);
}

/* ---- answers --------------------------------------------------------------------------------- */

static struct peer *peer_of_claim(const struct covey *vm, uint32_t number)
{
    struct peer *peer = vm->out.sending;
    while (peer != NULL && peer->bulk.claim.number != number)
        peer = peer->out.sending_next;
    return peer;
}

void bulk_on_answer(struct covey *vm, const struct frame *frame, const uint8_t *payload)
{
    struct contention_answer answer;
    struct cursor c = cursor_reader(payload, frame->length);
    contention_get_answer(&c, &answer);
    if (!cursor_done(&c))
        return;
    uint64_t now_us = clock_us();
    struct peer *peer = peer_of_claim(vm, answer.number);
    if (peer == NULL || claim_on_answer(&peer->bulk.claim, &answer, now_us) == CLAIM_END) {
        if (answer.verdict == CONTENTION_GRANTED)
            say_end(vm, answer.number);
        return;
    }
    if (answer.verdict == CONTENTION_FREE || answer.verdict == CONTENTION_STAGGERED) {
        peer->bulk.way_known_us = now_us + CONTENTION_KNOWN_US;
        peer->bulk.stagger_rate = answer.verdict == CONTENTION_STAGGERED ? answer.rate : 0;
    }
    bulk_advance(vm, peer, now_us);
    outgo_pump(vm, peer);
}
