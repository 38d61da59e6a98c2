/*
 * cast.c - one message for many tasks: it goes once to the own daemon, which casts it to the other
 * hosts' (daemon/post/casting.c) with one frame on the wire for all of them, or one datagram to
 * each where raw Ethernet does not reach them, and hands it to tasks of this host itself. That is
 * how all of them get it or none: what a covey_cast() is for, and a covey_mcast() where it is the
 * fastest way.
 *
 * To the order and the credit of each pair a cast is a message like any other: it stands in the
 * queue of each receiver, begins when it is first in all of them, and its frames leave as the
 * credit of the slowest allows. A receiver that ends meanwhile drops out; the others go on. The
 * frames go on naming it, since the daemon tells a cast's way by its receivers.
 * What comes in is cast_inlet.c's.
 */
#include "lib/calls/cast.h"
#include "lib/calls/send.h"
#include "lib/drive/request.h"
#include "lib/engine/conn.h"
#include "lib/engine/outgo.h"
#include "lib/engine/peer.h"
#include "lib/engine/req.h"
#include "lib/engine/route.h"
#include "lib/link/stream.h"
#include "lib/member/home.h"
#include "lib/member/vm.h"
#include "lib/msg/clock.h"
#include "lib/msg/error.h"
#include "lib/msg/message.h"
#include "proto/cast/cast.h"

#include <stdlib.h>

#define HOSTS_LEAST 2      /* where the program chose raw Ethernet */
#define HOSTS_LEAST_AUTO 3 /* where it chose nothing */
#define WAY_US 2000000u    /* what was found out about the way holds so long */
#define NO_WAY_US 100000u
#define ASK_US 2000000u
#define FRAME_LEAST_BYTES 4096u /* waits for more credit rather than send smaller pieces */
#define ORDER_BYTES 4

struct caster {
    const struct covey_msg *msg;
    struct covey_msg *owned; /* or NULL: msg is the sender's */
    uint64_t offset;
    bool started, in_step;
    unsigned left; /* receivers that are still to get it */
    struct control_mcast head;
    struct covey_req *reqs[CONTROL_RECEIVERS_MAX]; /* NULL: dropped out */
};

static void caster_free(struct caster *c)
{
    if (c != NULL)
        covey_msg_free(c->owned);
    free(c);
}

/* ---- going out ------------------------------------------------------------------------------- */

/* Whether it is first in all queues and nothing is in the middle of a frame there. */
static bool at_head(const struct caster *c)
{
    for (uint16_t i = 0; i < c->head.count; i++) {
        const struct covey_req *req = c->reqs[i];
        if (req == NULL)
            continue;
        struct peer *peer = req->peer;
        if (peer->out.carrier != NULL && !conn_flush(peer->out.carrier))
            return false;
        if (peer->out.sends != req)
            return false;
    }
    return true;
}

/* What all receivers' credit allows, the message header included. */
static uint64_t credit_of(const struct caster *c)
{
    uint64_t credit = FRAME_PAYLOAD_MAX;
    for (uint16_t i = 0; i < c->head.count; i++) {
        if (c->reqs[i] == NULL)
            continue;
        const struct peer *peer = c->reqs[i]->peer;
        uint64_t own = peer->out.credit_bytes > peer->out.sent_bytes
                           ? peer->out.credit_bytes - peer->out.sent_bytes
                           : 0;
        credit = own < credit ? own : credit;
    }
    return credit;
}

/* Bytes of message for the next frame; false: no credit. */
static bool frame_size(const struct caster *c, size_t *size)
{
    uint64_t left = c->msg->size - c->offset, credit = credit_of(c);
    uint64_t head = c->offset == 0 ? FRAME_MESSAGE_BYTES : 0;
    uint64_t least = left < FRAME_LEAST_BYTES ? left : FRAME_LEAST_BYTES;
    size_t names = CONTROL_MCAST_BYTES + CONTROL_RECEIVER_BYTES * (size_t)c->head.count;
    uint64_t room = CAST_MESSAGE_MAX - CAST_TOTAL_BYTES - ORDER_BYTES - names;
    if (credit < head + least)
        return false;
    uint64_t most = (credit < room ? credit : room) - head;
    *size = (size_t)(left < most ? left : most);
    return true;
}

static const struct covey_req *any_of(const struct caster *c)
{
    uint16_t i = 0;
    while (c->reqs[i] == NULL)
        i++;
    return c->reqs[i];
}

static bool caster_put_frame(struct covey *vm, struct caster *c, size_t size)
{
    uint8_t payload[FRAME_PAYLOAD_MAX];
    size_t head = c->offset == 0 ? FRAME_MESSAGE_BYTES : 0;
    struct cursor out = cursor_writer(payload, sizeof payload);
    bool last = c->offset + size == c->msg->size;
    c->head.flags = (uint8_t)((head > 0 ? FRAME_FIRST : 0) | (last ? FRAME_LAST : 0));
    cursor_put_u32(&out, (uint32_t)CAST_FIFO << 24);
    control_put_mcast(&out, &c->head);
    if (head > 0) {
        struct message_header header = outgo_header(any_of(c));
        message_header_encode(&header, out.at);
    }
    message_copy(c->msg, c->offset, out.at + head, size);
    struct frame frame = home_frame(vm, FRAME_CAST, 0, (size_t)(out.at - payload) + head + size);
    if (stream_put(vm->home.daemon, &frame, payload, NULL, 0) != 0)
        return false;
    c->offset += size;
    for (uint16_t i = 0; i < c->head.count; i++) {
        if (c->reqs[i] != NULL)
            c->reqs[i]->peer->out.sent_bytes += head + size;
    }
    return true;
}

/* The message is out: whoever waits behind it goes on. */
static void caster_finish(struct covey *vm, struct caster *c)
{
    struct peer *peers[CONTROL_RECEIVERS_MAX];
    unsigned count = 0;
    for (uint16_t i = 0; i < c->head.count; i++) {
        struct covey_req *req = c->reqs[i];
        if (req == NULL)
            continue;
        peers[count++] = req->peer;
        req->send.caster = NULL;
        outgo_sent(vm, req);
    }
    caster_free(c);
    for (unsigned i = 0; i < count; i++)
        outgo_pump(vm, peers[i]);
}

static bool caster_step(struct covey *vm, struct caster *c)
{
    size_t size;
    if (c->in_step)
        return false;
    c->in_step = true;
    bool ready = at_head(c);
    c->in_step = false;
    if (!ready || !frame_size(c, &size))
        return false;
    if (stream_queued(vm->home.daemon) >= DAEMON_QUEUE_BYTES)
        vm->home.full = true;
    if (stream_queued(vm->home.daemon) >= DAEMON_QUEUE_BYTES || vm->home.lost != 0)
        return false;
    if (!c->started) {
        /* Each receiver's place in the order of its pair. */
        c->started = true;
        for (uint16_t i = 0; i < c->head.count; i++) {
            struct covey_req *req = c->reqs[i];
            if (req == NULL)
                continue;
            req->send.started = true;
            req->send.sequence = req->peer->out.sequence++;
            req->peer->out.carrier = NULL;
            c->head.receivers[i].sequence = req->send.sequence;
        }
    }
    if (!caster_put_frame(vm, c, size))
        return false;
    if (c->offset == c->msg->size)
        caster_finish(vm, c);
    return true;
}

static void caster_leave(struct covey *vm, struct covey_req *req)
{
    struct caster *c = req->send.caster;
    struct peer *other = NULL;
    req->send.caster = NULL;
    for (uint16_t i = 0; i < c->head.count; i++) {
        if (c->reqs[i] == req)
            c->reqs[i] = NULL;
        else if (c->reqs[i] != NULL)
            other = c->reqs[i]->peer;
    }
    if (--c->left == 0)
        caster_free(c);
    else if (other != NULL && !c->in_step)
        outgo_pump(vm, other); /* it may have waited for this one alone */
}

bool caster_detach(struct covey_req *req)
{
    struct caster *c = req->send.caster;
    if (c->owned != NULL)
        return true;
    struct covey_msg *copy = message_receive(c->msg->size, c->msg->representation);
    if (copy == NULL)
        return false;
    message_copy(c->msg, 0, message_bytes(copy), (size_t)copy->size);
    c->msg = c->owned = copy;
    return true;
}

/* ---- who can be cast to ---------------------------------------------------------------------- */

/* Whether one frame reaches the hosts of all those peers, as the daemon sees it. */
static bool ask_way(struct covey *vm, const struct caster *c)
{
    uint8_t body[2 + 2 * CONTROL_RECEIVERS_MAX], *content = NULL;
    size_t size = 0;
    struct cursor b = cursor_writer(body, sizeof body);
    cursor_put_u16(&b, c->head.count);
    for (uint16_t i = 0; i < c->head.count; i++)
        cursor_put_u16(&b, (uint16_t)tid_host(c->head.receivers[i].tid));
    int error = request_call(vm, FRAME_CAST_WAY, 0, body, (size_t)(b.at - body),
                             clock_us() + ASK_US, &content, &size);
    bool way = error == COVEY_OK && size == 1 && content[0] == 1;
    free(content);
    return way;
}

/* Whether it was found out lately, and then *way. */
static bool knows_way(struct covey *vm, const struct caster *c, bool *way)
{
    uint64_t now_us = clock_us();
    bool known = true;
    *way = true;
    for (uint16_t i = 0; i < c->head.count; i++) {
        const struct peer *peer = peer_find(vm, c->head.receivers[i].tid);
        known = known && peer->way_until_us > now_us;
        *way = *way && peer->way;
    }
    return known;
}

static bool has_way(struct covey *vm, const struct caster *c)
{
    uint64_t now_us = clock_us();
    bool way;
    if (knows_way(vm, c, &way))
        return way;
    way = ask_way(vm, c);
    for (uint16_t i = 0; i < c->head.count; i++) {
        struct peer *peer = peer_find(vm, c->head.receivers[i].tid);
        peer->way = way;
        peer->way_until_us = now_us + (way ? WAY_US : NO_WAY_US);
    }
    return way;
}

static bool caster_contains(const struct caster *c, uint32_t tid)
{
    for (uint16_t i = 0; i < c->head.count; i++) {
        if (c->head.receivers[i].tid == tid)
            return true;
    }
    return false;
}

/* Tasks, and the requests that stand for sends to them, `stride` bytes apart; NULL: none yet. */
struct candidates {
    const covey_tid_t *tids;
    struct covey_req *reqs;
    size_t stride, n;
};

static struct covey_req *request_of(const struct candidates *all, size_t i)
{
    return all->reqs == NULL ? NULL : (struct covey_req *)((uint8_t *)all->reqs + i * all->stride);
}

static struct candidates behind(const struct candidates *all, size_t at)
{
    return (struct candidates){all->tids + at, request_of(all, at), all->stride, all->n - at};
}

static bool caster_can_go(const struct covey *vm, const struct covey_req *req, uint32_t tid)
{
    return req == NULL || (!req->done && !req->queued &&
                           send_check((covey_tid_t)tid, req->tag, req->send.msg->size,
                                      vm->memory.bytes) == COVEY_OK);
}

static bool suits(struct covey *vm, const struct covey_req *req, uint32_t tid, bool *chosen)
{
    if (tid_host(tid) == vm->self.host || !caster_can_go(vm, req, tid))
        return false;
    const struct peer *peer = peer_get(vm, tid);
    if (peer == NULL || peer->gone || peer->leaving || peer->broken_at_us != 0)
        return false;
    int route = route_wanted(vm, peer);
    *chosen = *chosen && routes[route].broadcast;
    return routes[route].broadcast || route == COVEY_ROUTE_AUTO;
}

/* Collects receivers from the first on; returns how many hosts they are on, at least. */
static unsigned caster_collect(struct covey *vm, struct caster *c, const struct candidates *all)
{
    unsigned hosts = 0;
    bool chosen = true;
    uint32_t last = 0;
    for (size_t i = 0; i < all->n && c->head.count < CONTROL_RECEIVERS_MAX; i++) {
        uint32_t tid = (uint32_t)all->tids[i];
        struct covey_req *req = request_of(all, i);
        if (all->tids[i] <= 0 || caster_contains(c, tid) || !suits(vm, req, tid, &chosen))
            continue;
        hosts += tid_host(tid) != last;
        last = tid_host(tid);
        c->reqs[c->head.count] = req;
        c->head.receivers[c->head.count++].tid = tid;
    }
    return hosts >= (chosen ? HOSTS_LEAST : HOSTS_LEAST_AUTO) ? hosts : 0;
}

/* Looking for the way took a while, in which receivers may have ended: nothing would end what is
 * queued for them now. */
static bool all_stay(struct covey *vm, const struct caster *c)
{
    bool stay = vm->home.lost == 0;
    for (uint16_t i = 0; i < c->head.count && stay; i++) {
        const struct peer *peer = peer_find(vm, c->head.receivers[i].tid);
        stay = !peer->gone && !peer->leaving && peer->broken_at_us == 0;
    }
    return stay;
}

static const struct cast_ops ops = {.step = caster_step, .leave = caster_leave};

static void queue(struct covey *vm, struct caster *c)
{
    c->left = c->head.count + 1u; /* itself: it stays while it is queued, whoever drops out */
    c->in_step = true;            /* until it stands in all queues */
    for (uint16_t i = 0; i < c->head.count; i++) {
        struct covey_req *req = c->reqs[i];
        req->send.caster = c;
        req->send.cast_ops = &ops;
        outgo_queue(vm, peer_find(vm, c->head.receivers[i].tid), req);
    }
    c->in_step = false;
    if (--c->left == 0)
        caster_free(c);
    else
        outgo_pump(vm, any_of(c)->peer);
}

/* One caster; false: it cannot, and no further one. */
static bool cast_some(struct covey *vm, const struct candidates *all, bool may_ask)
{
    struct caster *c = calloc(1, sizeof *c);
    bool way = false;
    if (c == NULL)
        return false;
    c->msg = all->reqs->send.msg;
    if (caster_collect(vm, c, all) > 0)
        way = may_ask ? has_way(vm, c) : knows_way(vm, c, &way) && way;
    if (!way || !all_stay(vm, c)) {
        caster_free(c);
        return false;
    }
    queue(vm, c);
    return true;
}

void caster_by_way(struct covey *vm, const covey_tid_t *tids, struct covey_req *reqs, size_t n)
{
    const struct candidates all = {tids, reqs, sizeof *reqs, n};
    bool more = true;
    for (size_t at = 0; at + 1 < n && vm->home.lost == 0 && more; at += CONTROL_RECEIVERS_MAX) {
        const struct candidates rest = behind(&all, at);
        more = cast_some(vm, &rest, true);
    }
}

void caster_by_known_way(struct covey *vm, const covey_tid_t *tids, struct covey_req *reqs,
                         size_t stride, size_t n)
{
    const struct candidates all = {tids, reqs, stride, n};
    bool more = true;
    for (size_t at = 0; at + 1 < n && vm->home.lost == 0 && more; at += CONTROL_RECEIVERS_MAX) {
        const struct candidates rest = behind(&all, at);
        more = cast_some(vm, &rest, false);
    }
}

bool caster_way(struct covey *vm, const covey_tid_t *tids, size_t n)
{
    const struct candidates all = {.tids = tids, .n = n};
    bool way = n > 1;
    for (size_t at = 0; at < n && vm->home.lost == 0 && way; at += CONTROL_RECEIVERS_MAX) {
        const struct candidates rest = behind(&all, at);
        struct caster *c = calloc(1, sizeof *c);
        way = c != NULL && caster_collect(vm, c, &rest) > 0 && has_way(vm, c);
        caster_free(c);
    }
    return way;
}

static bool is_receiver(struct covey *vm, const struct caster *c, uint32_t tid)
{
    return tid != vm->self.tid && !caster_contains(c, tid);
}

static int add_receiver(struct covey *vm, struct caster *c, covey_tid_t tid, struct covey_req *req)
{
    int error = send_check(tid, req->tag, req->send.msg->size, vm->memory.bytes);
    if (error != COVEY_OK)
        return error;
    if (vm->home.lost != 0)
        return error_set(vm->home.lost, "%s", vm->home.lost_text);
    const struct peer *peer = peer_get(vm, (uint32_t)tid);
    if (peer == NULL)
        return COVEY_ENOMEM;
    if (peer->gone || peer->leaving)
        return peer_error(peer);
    c->reqs[c->head.count] = req;
    c->head.receivers[c->head.count++].tid = (uint32_t)tid;
    return COVEY_OK;
}

void caster_to_all(struct covey *vm, const covey_tid_t *tids, struct covey_req *reqs, size_t n)
{
    struct caster *c = calloc(1, sizeof *c);
    for (size_t i = 0; i < n; i++) {
        if (c != NULL && !is_receiver(vm, c, (uint32_t)tids[i])) {
            reqs[i].done = true;
            continue;
        }
        int error = c == NULL ? error_code(COVEY_ENOMEM) : add_receiver(vm, c, tids[i], &reqs[i]);
        if (error != COVEY_OK)
            req_finish(&reqs[i], error, covey_error_text());
    }
    if (c == NULL || c->head.count == 0) {
        caster_free(c);
        return;
    }
    c->msg = reqs[0].send.msg;
    queue(vm, c);
}
