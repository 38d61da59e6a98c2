/*
 * mcast.c - one message for several tasks of another host: it travels there once, through the
 * daemons, and that host's daemon hands it to each of them.
 *
 * To its receivers nothing is different: it takes its place in the order of each pair's messages
 * and counts against each one's credit. So it takes this way as a whole or not at all: every
 * receiver must have room for it and nothing else under way. The others of a covey_mcast(), and
 * what this way cannot take, are sent one by one.
 *
 * So are a few small messages to tasks that a stream reaches: passing through two daemons, each of
 * which must be woken up, takes longer than writing to some streams.
 */
#include "lib/calls/mcast.h"
#include "lib/calls/send.h"
#include "lib/engine/order.h"
#include "lib/engine/outgo.h"
#include "lib/engine/peer.h"
#include "lib/engine/req.h"
#include "lib/engine/route.h"
#include "lib/link/stream.h"
#include "lib/member/home.h"
#include "lib/member/vm.h"
#include "lib/msg/message.h"

#define RECEIVERS_LEAST 2
#define STREAMS_MOST 6    /* so many of one host, */
#define STREAMS_BYTES 256 /* and so much to each, go by streams */

/* The receivers of one host, and their sends. */
struct fan {
    struct control_mcast head;
    struct covey_req *reqs[CONTROL_RECEIVERS_MAX];
    struct peer *peers[CONTROL_RECEIVERS_MAX];
};

static bool fan_contains(const struct fan *fan, const struct peer *peer)
{
    for (uint16_t i = 0; i < fan->head.count; i++) {
        if (fan->peers[i] == peer)
            return true;
    }
    return false;
}

/* Whether the whole message can go to the peer now, through the daemon. */
static bool takes(const struct covey *vm, const struct peer *peer, const struct covey_req *req)
{
    int route = route_wanted(vm, peer);
    if ((route != COVEY_ROUTE_AUTO && !routes[route].by_daemons) || peer->out.sends != NULL)
        return false;
    if (peer->gone || peer->leaving || peer->broken_at_us != 0)
        return false;
    return peer->out.credit_bytes >=
           peer->out.sent_bytes + FRAME_MESSAGE_BYTES + req->send.msg->size;
}

/* Collects those of the host from the first on. */
static void fan_collect(struct covey *vm, struct fan *fan, const covey_tid_t *tids,
                        struct covey_req *reqs, size_t n)
{
    fan->head.count = 0;
    for (size_t i = 0; i < n && fan->head.count < CONTROL_RECEIVERS_MAX; i++) {
        if (reqs[i].done || reqs[i].queued ||
            tid_host((uint32_t)tids[i]) != tid_host((uint32_t)tids[0]))
            continue;
        bool good =
            (uint32_t)tids[i] != vm->self.tid &&
            send_check(tids[i], reqs[i].tag, reqs[i].send.msg->size, vm->memory.bytes) == COVEY_OK;
        struct peer *peer = good ? peer_get(vm, (uint32_t)tids[i]) : NULL;
        if (peer == NULL || !takes(vm, peer, &reqs[i]) || fan_contains(fan, peer))
            continue;
        uint16_t at = fan->head.count++;
        fan->head.receivers[at] = (struct control_receiver){peer->tid, peer->out.sequence};
        fan->reqs[at] = &reqs[i];
        fan->peers[at] = peer;
    }
}

/* Whether the message is sooner there by the streams that reach the receivers. */
static bool suits_streams(const struct covey *vm, const struct fan *fan)
{
    if (fan->head.count == 0 || fan->head.count > STREAMS_MOST ||
        fan->reqs[0]->send.msg->size > STREAMS_BYTES)
        return false;
    for (uint16_t i = 0; i < fan->head.count; i++) {
        if (!route_takes_stream(vm, fan->peers[i]))
            return false;
    }
    return true;
}

/* The next frame into the queue to the daemon; false when it could not be put there. */
static bool fan_put_frame(struct covey *vm, struct fan *fan)
{
    uint8_t payload[FRAME_PAYLOAD_MAX];
    struct covey_req *first = fan->reqs[0];
    const struct covey_msg *msg = first->send.msg;
    size_t head = first->send.offset == 0 ? FRAME_MESSAGE_BYTES : 0;
    size_t names = CONTROL_MCAST_BYTES + CONTROL_RECEIVER_BYTES * (size_t)fan->head.count;
    uint64_t left = msg->size - first->send.offset;
    size_t room = FRAME_PAYLOAD_MAX - names - head;
    size_t size = left < room ? (size_t)left : room;
    fan->head.flags = (uint8_t)((head > 0 ? FRAME_FIRST : 0) | (size == left ? FRAME_LAST : 0));
    struct cursor c = cursor_writer(payload, sizeof payload);
    control_put_mcast(&c, &fan->head);
    if (head > 0) {
        struct message_header header = outgo_header(first);
        message_header_encode(&header, c.at);
    }
    message_copy(msg, first->send.offset, c.at + head, size);
    uint32_t daemon = tid_make(tid_host(fan->peers[0]->tid), 0);
    struct frame frame = home_frame(vm, FRAME_MCAST, daemon, names + head + size);
    if (stream_put(vm->home.daemon, &frame, payload, NULL, 0) != 0)
        return false;
    for (uint16_t i = 0; i < fan->head.count; i++) {
        fan->reqs[i]->send.offset += size;
        fan->peers[i]->out.sent_bytes += head + size;
    }
    order_note_home(vm, fan->peers[0]);
    return true;
}

static void send_fan(struct covey *vm, struct fan *fan)
{
    struct covey_req *first = fan->reqs[0];
    first->send.stamp = order_stamp(vm, fan->peers[0]);
    if (!fan_put_frame(vm, fan))
        return; /* nothing has left: they are sent one by one */
    while (first->send.offset < first->send.msg->size && fan_put_frame(vm, fan))
        ;
    /* What has begun is finished one by one should memory be exhausted in the middle. */
    for (uint16_t i = 0; i < fan->head.count; i++) {
        struct covey_req *req = fan->reqs[i];
        struct peer *peer = fan->peers[i];
        req->peer = peer;
        req->send.sequence = peer->out.sequence++;
        req->send.started = true;
        if (req->send.offset == req->send.msg->size) {
            outgo_count(vm, peer, req->send.msg->size);
            req_finish(req, COVEY_OK, NULL);
            continue;
        }
        peer->out.carrier = NULL;
        peer->out.carrier_flags = 0;
        outgo_queue(vm, peer, req);
    }
    home_flush(vm);
}

/* One that cannot be started now is met again among those that are sent one by one. */
static void send_by_streams(struct covey *vm, struct fan *fan)
{
    for (uint16_t i = 0; i < fan->head.count; i++)
        send_start(vm, fan->reqs[i], (covey_tid_t)fan->peers[i]->tid);
}

void mcast_by_host(struct covey *vm, const covey_tid_t *tids, struct covey_req *reqs, size_t n,
                   bool here)
{
    struct fan fan;
    for (size_t i = 0; i + 1 < n; i++) {
        bool away = here || tid_host((uint32_t)tids[i]) != vm->self.host;
        if (reqs[i].done || reqs[i].queued || !away || vm->home.lost != 0 ||
            stream_queued(vm->home.daemon) >= DAEMON_QUEUE_BYTES)
            continue;
        fan_collect(vm, &fan, tids + i, reqs + i, n - i);
        if (suits_streams(vm, &fan))
            send_by_streams(vm, &fan);
        else if (fan.head.count >= RECEIVERS_LEAST)
            send_fan(vm, &fan);
    }
}
