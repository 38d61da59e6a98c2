/*
 * total.c - messages in total order: each goes whole, in one frame, to the own daemon, and comes
 * back from it to all receivers, this task included, in the order that the VM's sequencer gives it
 * (proto/cast/cast_order.c). They stand in no order with a pair's other messages, but count against
 * its credit, so that a receiver that takes none holds its senders back.
 */
#include "lib/calls/total.h"
#include "lib/calls/send.h"
#include "lib/drive/call.h"
#include "lib/drive/wait.h"
#include "lib/engine/peer.h"
#include "lib/link/stream.h"
#include "lib/member/home.h"
#include "lib/member/vm.h"
#include "lib/msg/error.h"
#include "lib/msg/message.h"
#include "proto/cast/cast.h"

_Static_assert(COVEY_TOTAL_MEMBERS_MAX <= CONTROL_RECEIVERS_MAX, "what one frame can name");
_Static_assert(COVEY_CAST_TASKS_MAX == CONTROL_RECEIVERS_MAX, "what one frame can name");
_Static_assert(COVEY_TOTAL_BYTES_MAX + FRAME_MESSAGE_BYTES + 4 + CONTROL_MCAST_BYTES +
                       CONTROL_RECEIVER_BYTES * COVEY_TOTAL_MEMBERS_MAX + CAST_TOTAL_BYTES <=
                   CAST_MESSAGE_MAX,
               "a message and its names in one frame");

struct total {
    struct covey *vm;
    const covey_msg_t *msg;
    struct control_mcast head;
};

static bool takes(const struct covey *vm, const struct peer *peer, size_t bytes)
{
    return peer == NULL || peer->tid == vm->self.tid || peer->gone || peer->leaving ||
           peer->out.credit_bytes >= peer->out.sent_bytes + bytes;
}

static bool total_can_go(void *context)
{
    const struct total *t = context;
    struct covey *vm = t->vm;
    size_t bytes = FRAME_MESSAGE_BYTES + (size_t)t->msg->size;
    if (vm->home.lost != 0)
        return true;
    if (stream_queued(vm->home.daemon) >= DAEMON_QUEUE_BYTES) {
        vm->home.full = true;
        return false;
    }
    for (uint16_t i = 0; i < t->head.count; i++) {
        if (!takes(vm, peer_find(vm, t->head.receivers[i].tid), bytes))
            return false;
    }
    return true;
}

static int put_total(struct total *t, int tag)
{
    uint8_t payload[FRAME_PAYLOAD_MAX];
    size_t size = (size_t)t->msg->size;
    struct message_header header = {.sequence = CONTROL_TOTAL,
                                    .size = size,
                                    .tag = tag,
                                    .representation = t->msg->representation};
    struct cursor c = cursor_writer(payload, sizeof payload);
    cursor_put_u32(&c, (uint32_t)CAST_TOTAL << 24);
    control_put_mcast(&c, &t->head);
    message_header_encode(&header, c.at);
    message_copy(t->msg, 0, c.at + FRAME_MESSAGE_BYTES, size);
    for (uint16_t i = 0; i < t->head.count; i++) {
        struct peer *peer = peer_find(t->vm, t->head.receivers[i].tid);
        task_count_sent(t->vm->self.page, t->head.receivers[i].tid, size);
        if (peer != NULL)
            peer->out.sent_bytes += FRAME_MESSAGE_BYTES + size;
    }
    return home_send(t->vm, FRAME_CAST, 0, payload,
                     (size_t)(c.at - payload) + FRAME_MESSAGE_BYTES + size);
}

static bool is_named(const struct total *t, uint32_t tid)
{
    for (uint16_t i = 0; i < t->head.count; i++) {
        if (t->head.receivers[i].tid == tid)
            return true;
    }
    return false;
}

static int name_receivers(struct total *t, const covey_tid_t *tids, size_t n)
{
    t->head.flags = FRAME_FIRST | FRAME_LAST;
    for (size_t i = 0; i < n; i++) {
        struct peer *peer = peer_get(t->vm, (uint32_t)tids[i]);
        if (peer == NULL)
            return error_code(COVEY_ENOMEM);
        if (peer->gone || peer->leaving || is_named(t, peer->tid))
            continue;
        t->head.receivers[t->head.count++] =
            (struct control_receiver){(uint32_t)tids[i], CONTROL_TOTAL};
    }
    return COVEY_OK;
}

static int send_locked(struct total *t, const covey_tid_t *tids, size_t n, int tag)
{
    int error = name_receivers(t, tids, n);
    if (error != COVEY_OK || t->head.count == 0)
        return error;
    error = wait_until(t->vm, total_can_go, t, UINT64_MAX);
    if (error == COVEY_OK && t->vm->home.lost != 0)
        return error_set(t->vm->home.lost, "%s", t->vm->home.lost_text);
    return error == COVEY_OK ? put_total(t, tag) : error;
}

int total_send(struct covey *vm, const covey_tid_t *tids, size_t n, int tag, const covey_msg_t *msg)
{
    struct total t = {.vm = vm, .msg = msg};
    for (size_t i = 0; i < n; i++) {
        int error = send_check(tids[i], tag, msg->size, vm->memory.bytes);
        if (error != COVEY_OK)
            return error;
    }
    if (msg->size > COVEY_TOTAL_BYTES_MAX)
        return error_set(COVEY_ETOOBIG, "cast: %llu bytes are more than %d in total order",
                         (unsigned long long)msg->size, COVEY_TOTAL_BYTES_MAX);
    if (n > COVEY_TOTAL_MEMBERS_MAX)
        return error_set(COVEY_ERESOURCE, "cast: %zu tasks are more than %d in total order", n,
                         COVEY_TOTAL_MEMBERS_MAX);
    struct call call = call_begin_as(vm, "cast");
    int error = send_locked(&t, tids, n, tag);
    return call_end(vm, &call, error);
}
