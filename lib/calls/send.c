/*
 * send.c - the sending calls. A message to the task itself is delivered at once, a short array that
 * nothing hinders goes at once (plain.c); any other is queued for its peer (outgo.c). A blocking
 * call keeps its request on the stack.
 */
#include "lib/calls/send.h"
#include "lib/calls/cast.h"
#include "lib/calls/mcast.h"
#include "lib/calls/total.h"
#include "lib/calls/way.h"
#include "lib/drive/announce.h"
#include "lib/drive/call.h"
#include "lib/drive/wait.h"
#include "lib/engine/arrival.h"
#include "lib/engine/order.h"
#include "lib/engine/outgo.h"
#include "lib/engine/peer.h"
#include "lib/engine/plain.h"
#include "lib/engine/req.h"
#include "lib/member/vm.h"
#include "lib/msg/error.h"
#include "lib/msg/message.h"

#include <stdlib.h>
#include <string.h>

static bool req_done(void *context)
{
    return ((struct covey_req *)context)->done;
}

int send_check(covey_tid_t tid, int tag, uint64_t size, uint64_t memory_bytes)
{
    if (tid <= 0 || tid_local((uint32_t)tid) == 0 || tid_host((uint32_t)tid) == 0)
        return error_set(COVEY_EINVAL, "send: bad tid %d", (int)tid);
    if (tag < 0 || tag > COVEY_TAG_MAX)
        return error_set(COVEY_EINVAL, "send: tag %d is not in 0 .. %d", tag, COVEY_TAG_MAX);
    if (size > COVEY_MESSAGE_BYTES_MAX)
        return error_set(COVEY_ETOOBIG, "send: %llu bytes are more than 2^40",
                         (unsigned long long)size);
    if (size > memory_bytes)
        return error_set(COVEY_ENOMEM, "send: %llu bytes are more than the memory of a host",
                         (unsigned long long)size);
    return COVEY_OK;
}

/* A copy of the message for the task itself. */
static int deliver_to_self(struct covey *vm, const struct covey_req *req)
{
    struct covey_msg *copy = message_receive(req->send.msg->size, req->send.msg->representation);
    if (copy == NULL)
        return COVEY_ENOMEM;
    message_copy(req->send.msg, 0, message_bytes(copy), (size_t)copy->size);
    copy->info = (struct covey_info){(covey_tid_t)vm->self.tid, req->tag, copy->size};
    task_count_sent(vm->self.page, vm->self.tid, copy->size);
    arrival_deliver(vm, req->context, &copy);
    if (copy == NULL)
        return COVEY_OK;
    covey_msg_free(copy);
    return COVEY_ENOMEM;
}

int send_start(struct covey *vm, struct covey_req *req, covey_tid_t tid)
{
    int error = send_check(tid, req->tag, req->send.msg->size, vm->memory.bytes);
    if (error != COVEY_OK)
        return error;
    if (vm->home.lost != 0)
        return error_set(vm->home.lost, "%s", vm->home.lost_text);
    if ((uint32_t)tid == vm->self.tid) {
        error = deliver_to_self(vm, req);
        req_finish(req, error, covey_error_text());
        return COVEY_OK;
    }
    struct peer *peer = peer_get(vm, (uint32_t)tid);
    if (peer == NULL)
        return COVEY_ENOMEM;
    if (peer->gone || peer->leaving)
        return peer_error(peer);
    outgo_queue(vm, peer, req);
    return COVEY_OK;
}

static int send_finish(struct covey *vm, struct covey_req *req)
{
    req_await(req);
    int error = wait_until(vm, req_done, req, UINT64_MAX);
    if (!req->done)
        outgo_cancel(vm, req);
    if (req->done && req->error != COVEY_OK)
        return error_set(req->error, "%s", req->text);
    return error;
}

void send_init(struct covey_req *req, const struct way *to)
{
    req->vm = to->vm;
    req->kind = REQ_SEND;
    req->tag = to->tag;
    req->context = to->context;
}

/* The array as a message on the request itself: item header, the array, padding. */
int send_array_init(struct covey_req *req, int type, const void *base, size_t count)
{
    uint64_t size = item_bytes(type, count);
    if (covey_type_size(type) == 0 || (count > 0 && base == NULL))
        return error_set(COVEY_EINVAL, "send: unknown type %d or NULL array", type);
    if (size == 0)
        return error_set(COVEY_ETOOBIG, "send: the array is larger than 2^40 bytes");
    if (!addressable(size))
        return error_code(COVEY_ENOMEM);
    struct covey_msg *msg = &req->send.array_msg;
    size_t bytes = count * covey_type_size(type);
    item_header_encode(req->send.array_item, type, count);
    msg->own = req->send.array_item;
    msg->segments = req->send.array_segments;
    msg->segments[0] = (struct segment){.size = ITEM_HEADER_BYTES};
    msg->segments[1] = (struct segment){.foreign = base, .size = bytes};
    msg->segments[2] =
        (struct segment){.offset = ITEM_HEADER_BYTES, .size = (size_t)size - 16 - bytes};
    msg->segment_count = 3;
    msg->size = size;
    msg->representation = representation_native();
    req->send.msg = msg;
    return COVEY_OK;
}

static int send_and_wait(const struct way *to, struct covey_req *req, struct call *call)
{
    int error = way_check(to);
    req->call = call->name;
    req->begun = call->begun;
    if (error == COVEY_OK)
        error = send_start(to->vm, req, to->tid);
    if (error == COVEY_OK)
        error = send_finish(to->vm, req);
    call->told = req->told;
    return error;
}

int send_message(const struct way *to, const covey_msg_t *msg)
{
    struct covey_req req = {0};
    if (to->vm == NULL || msg == NULL)
        return error_set(COVEY_EINVAL, "send: NULL");
    send_init(&req, to);
    req.send.msg = msg;
    struct call call = call_begin_as(to->vm, "send");
    int error = send_and_wait(to, &req, &call);
    return call_end(to->vm, &call, error);
}

int covey_send(covey_t *vm, covey_tid_t tid, int tag, const covey_msg_t *msg)
{
    return send_message(&(struct way){.vm = vm, .tid = tid, .tag = tag}, msg);
}

/* By a request, for those that do not go at once. */
static int send_array_long(const struct way *to, int type, const void *base, size_t count,
                           struct call *call)
{
    struct covey_req req = {0};
    send_init(&req, to);
    int error = send_array_init(&req, type, base, count);
    return error != COVEY_OK ? error : send_and_wait(to, &req, call);
}

/* False: it has to go another way, or is refused there. */
static bool goes_at_once(const struct way *to, int type, const void *base, size_t count)
{
    const struct plain_send what = {.tid = (uint32_t)to->tid,
                                    .tag = to->tag,
                                    .type = type,
                                    .context = to->context,
                                    .base = base,
                                    .count = count};
    return way_check(to) == COVEY_OK && plain_send(to->vm, &what);
}

int send_array(const struct way *to, int type, const void *base, size_t count)
{
    if (to->vm == NULL)
        return error_set(COVEY_EINVAL, "send: NULL");
    struct call call;
    call_begin_short(to->vm, &call, "send_array");
    if (goes_at_once(to, type, base, count))
        return call_end_short(to->vm, &call, false);
    call_go_on(to->vm, &call, false);
    int error = send_array_long(to, type, base, count, &call);
    return call_end(to->vm, &call, error);
}

int covey_send_array(covey_t *vm, covey_tid_t tid, int tag, int type, const void *base,
                     size_t count)
{
    return send_array(&(struct way){.vm = vm, .tid = tid, .tag = tag}, type, base, count);
}

/* The first error is kept in `first` and its text. */
struct outcome {
    int first;
    char text[160];
};

static void outcome_add(struct outcome *o, int error)
{
    if (error == COVEY_OK || o->first != COVEY_OK)
        return;
    o->first = error;
    memcpy(o->text, covey_error_text(), strnlen(covey_error_text(), sizeof o->text - 1));
}

static int finish_all(struct covey_req *reqs, size_t n, struct outcome *o)
{
    for (size_t i = 0; i < n; i++)
        outcome_add(o, send_finish(reqs[i].vm, &reqs[i]));
    return o->first == COVEY_OK ? COVEY_OK : error_set(o->first, "%s", o->text);
}

/* All sends are started before the first is waited for, so that they go out side by side. */
static int mcast_locked(struct covey *vm, const covey_tid_t *tids, struct covey_req *reqs, size_t n)
{
    struct outcome outcome = {0};
    caster_by_way(vm, tids, reqs, n);
    mcast_by_host(vm, tids, reqs, n, !order_announce(vm, tids, reqs, n));
    for (size_t i = 0; i < n; i++) {
        if (reqs[i].done || reqs[i].queued)
            continue;
        int error =
            (uint32_t)tids[i] == vm->self.tid ? COVEY_OK : send_start(vm, &reqs[i], tids[i]);
        if ((uint32_t)tids[i] == vm->self.tid || error != COVEY_OK)
            reqs[i].done = true;
        if (reqs[i].done && reqs[i].send.announced)
            order_announced(&reqs[i]);
        outcome_add(&outcome, error);
    }
    return finish_all(reqs, n, &outcome);
}

/* A request for each of the n tasks; NULL: no memory. */
static struct covey_req *reqs_create(struct covey *vm, size_t n, int tag, const covey_msg_t *msg)
{
    struct covey_req *reqs = calloc(n > 0 ? n : 1, sizeof *reqs);
    for (size_t i = 0; reqs != NULL && i < n; i++) {
        send_init(&reqs[i], &(struct way){.vm = vm, .tag = tag});
        reqs[i].send.msg = msg;
    }
    return reqs;
}

int covey_mcast(covey_t *vm, const covey_tid_t *tids, size_t n, int tag, const covey_msg_t *msg)
{
    if (vm == NULL || msg == NULL || (n > 0 && tids == NULL))
        return error_set(COVEY_EINVAL, "mcast: NULL");
    struct covey_req *reqs = reqs_create(vm, n, tag, msg);
    if (reqs == NULL)
        return error_code(COVEY_ENOMEM);
    struct call call = call_begin(vm);
    int error = mcast_locked(vm, tids, reqs, n);
    free(reqs);
    return call_end(vm, &call, error);
}

static int cast_in_order_of_sender(struct covey *vm, const covey_tid_t *tids, size_t n, int tag,
                                   const covey_msg_t *msg)
{
    struct outcome outcome = {0};
    if (n > COVEY_CAST_TASKS_MAX)
        return error_set(COVEY_ERESOURCE, "cast: %zu tasks are more than %d", n,
                         COVEY_CAST_TASKS_MAX);
    struct covey_req *reqs = reqs_create(vm, n, tag, msg);
    if (reqs == NULL)
        return error_code(COVEY_ENOMEM);
    struct call call = call_begin_as(vm, "cast");
    caster_to_all(vm, tids, reqs, n);
    int error = finish_all(reqs, n, &outcome);
    free(reqs);
    return call_end(vm, &call, error);
}

/* NOLINTNEXTLINE(readability-function-size): the interface of covey.h */
int covey_cast(covey_t *vm, const covey_tid_t *tids, size_t n, int order, int tag,
               const covey_msg_t *msg)
{
    if (vm == NULL || msg == NULL || (n > 0 && tids == NULL))
        return error_set(COVEY_EINVAL, "cast: NULL");
    if (order != COVEY_ORDER_FIFO && order != COVEY_ORDER_TOTAL)
        return error_set(COVEY_EINVAL, "cast: unknown order %d", order);
    return order == COVEY_ORDER_FIFO ? cast_in_order_of_sender(vm, tids, n, tag, msg)
                                     : total_send(vm, tids, n, tag, msg);
}

/* ---- non-blocking ---------------------------------------------------------------------------- */

static int isend(const struct way *to, struct covey_req *started, covey_req_t **req)
{
    struct call call = call_begin(to->vm);
    int error = way_check(to);
    if (error == COVEY_OK)
        error = send_start(to->vm, started, to->tid);
    if (error != COVEY_OK)
        free(started);
    else
        *req = started;
    to->vm->wait.calls++;
    return call_end(to->vm, &call, error);
}

int isend_message(const struct way *to, covey_msg_t **msg, covey_req_t **req)
{
    if (to->vm == NULL || msg == NULL || *msg == NULL || req == NULL)
        return error_set(COVEY_EINVAL, "isend: NULL");
    struct covey_req *started = calloc(1, sizeof *started);
    if (started == NULL)
        return error_code(COVEY_ENOMEM);
    send_init(started, to);
    started->send.msg = *msg;
    int error = isend(to, started, req);
    if (error == COVEY_OK) {
        started->owned = *msg;
        *msg = NULL;
    }
    return error;
}

int covey_isend(covey_t *vm, covey_tid_t tid, int tag, covey_msg_t **msg, covey_req_t **req)
{
    return isend_message(&(struct way){.vm = vm, .tid = tid, .tag = tag}, msg, req);
}

int isend_array(const struct way *to, int type, const void *base, size_t count, covey_req_t **req)
{
    if (to->vm == NULL || req == NULL)
        return error_set(COVEY_EINVAL, "isend: NULL");
    struct call call;
    call_begin_short(to->vm, &call, "isend");
    bool gone = goes_at_once(to, type, base, count);
    call_end_short(to->vm, &call, false);
    if (gone) {
        *req = &req_over;
        return COVEY_OK;
    }
    struct covey_req *started = calloc(1, sizeof *started);
    if (started == NULL)
        return error_code(COVEY_ENOMEM);
    send_init(started, to);
    int error = send_array_init(started, type, base, count);
    if (error != COVEY_OK) {
        free(started);
        return error;
    }
    return isend(to, started, req);
}

/* NOLINTNEXTLINE(readability-function-size): the interface of covey.h */
int covey_isend_array(covey_t *vm, covey_tid_t tid, int tag, int type, const void *base,
                      size_t count, covey_req_t **req)
{
    return isend_array(&(struct way){.vm = vm, .tid = tid, .tag = tag}, type, base, count, req);
}
