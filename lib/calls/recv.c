/*
 * recv.c - the receiving calls and requests. Matching is in match.c.
 */
#include "lib/calls/recv.h"
#include "lib/calls/way.h"
#include "lib/drive/call.h"
#include "lib/drive/wait.h"
#include "lib/engine/credit.h"
#include "lib/engine/match.h"
#include "lib/engine/outgo.h"
#include "lib/engine/peer.h"
#include "lib/engine/plain.h"
#include "lib/engine/req.h"
#include "lib/member/trace.h"
#include "lib/member/vm.h"
#include "lib/msg/clock.h"
#include "lib/msg/error.h"

#include <stdlib.h>
#include <string.h>

static bool req_done(void *context)
{
    return ((struct covey_req *)context)->done;
}

int receive_init(struct covey_req *req, const struct way *from)
{
    memset(req, 0, sizeof *req);
    if (from->vm == NULL || (from->tid <= 0 && from->tid != COVEY_ANY_TASK) ||
        (from->tag < 0 && from->tag != COVEY_ANY_TAG))
        return error_set(COVEY_EINVAL, "receive: bad tid %d or tag %d", (int)from->tid, from->tag);
    req->vm = from->vm;
    req->kind = REQ_RECEIVE;
    req->receive.source = (uint32_t)from->tid;
    req->tag = from->tag;
    req->context = from->context;
    return COVEY_OK;
}

int receive_into(struct covey_req *req, int type, void *base, size_t capacity)
{
    if (covey_type_size(type) == 0 || (base == NULL && capacity > 0))
        return error_set(COVEY_EINVAL, "receive: unknown type %d or NULL array", type);
    req->receive.into_array = true;
    req->receive.type = type;
    req->receive.base = base;
    req->receive.capacity = capacity;
    return COVEY_OK;
}

/* The peer is known from now on, and so watched. */
void receive_start(struct covey *vm, struct covey_req *req)
{
    if (req->receive.source != (uint32_t)COVEY_ANY_TASK && req->receive.source != vm->self.tid)
        peer_get(vm, req->receive.source);
    if (vm->home.lost != 0 && match_find(vm, req->receive.source, req->tag, req->context) == NULL)
        req_finish(req, vm->home.lost, vm->home.lost_text);
    else
        match_post(vm, req);
}

static int receive_now(const struct way *from, struct covey_req *req, int64_t timeout_us,
                       struct call *call)
{
    struct covey *vm = from->vm;
    int error = way_check(from);
    if (error != COVEY_OK)
        return error;
    req->call = call->name;
    req->begun = call->begun;
    receive_start(vm, req);
    req_await(req);
    if (vm->trace != NULL)
        trace_call_awaits(vm->trace, req->receive.source, req->tag);
    error = call_idle(vm, req_done, req, clock_deadline(timeout_us));
    if (!req->done)
        match_cancel(vm, req);
    call->told = req->told;
    if (req->done)
        return req->error == COVEY_OK ? COVEY_OK : error_set(req->error, "%s", req->text);
    return error == COVEY_ETIMEOUT ? error_set(error, "receive: no message in time") : error;
}

int receive_message(const struct way *from, int64_t timeout_us, covey_msg_t **msg)
{
    struct covey_req req;
    int error = receive_init(&req, from);
    if (error != COVEY_OK || msg == NULL)
        return error != COVEY_OK ? error : error_set(COVEY_EINVAL, "receive: NULL");
    struct call call = call_begin_as(from->vm, "recv");
    error = receive_now(from, &req, timeout_us, &call);
    if (error == COVEY_OK)
        *msg = req.owned;
    return call_end(from->vm, &call, error);
}

int covey_recv(covey_t *vm, covey_tid_t tid, int tag, int64_t timeout_us, covey_msg_t **msg)
{
    return receive_message(&(struct way){.vm = vm, .tid = tid, .tag = tag}, timeout_us, msg);
}

/* By a request, for those that do not end soon. */
static int receive_array_long(const struct way *from, int64_t timeout_us,
                              struct plain_receive *what, struct call *call)
{
    struct covey_req req;
    int error = receive_init(&req, from);
    if (error == COVEY_OK)
        error = receive_into(&req, what->type, what->base, what->capacity);
    if (error == COVEY_OK)
        error = receive_now(from, &req, timeout_us, call);
    what->count = req.receive.count;
    what->info = req.info;
    return error;
}

/* NOLINTNEXTLINE(readability-function-size): the interface of covey.h */
int receive_array(const struct way *from, int64_t timeout_us, int type, void *base, size_t capacity,
                  size_t *count, struct covey_info *info)
{
    struct covey *vm = from->vm;
    if (vm == NULL)
        return error_set(COVEY_EINVAL, "receive: NULL");
    struct plain_receive what = {.vm = vm,
                                 .tid = from->tid,
                                 .tag = from->tag,
                                 .type = type,
                                 .context = from->context,
                                 .base = base,
                                 .capacity = capacity};
    struct call call;
    call_begin_short(vm, &call, "recv_array");
    bool waited = false;
    bool taken = plain_may_take(&what) && way_check(from) == COVEY_OK &&
                 wait_briefly(vm, plain_take, &what, timeout_us == 0, &waited);
    int error = COVEY_OK;
    if (!taken) {
        call_go_on(vm, &call, waited);
        error = receive_array_long(from, timeout_us, &what, &call);
    }
    if (error == COVEY_OK && count != NULL)
        *count = what.count;
    if (error == COVEY_OK && info != NULL)
        *info = what.info;
    return taken ? call_end_short(vm, &call, waited) : call_end(vm, &call, error);
}

/* NOLINTNEXTLINE(readability-function-size): the interface of covey.h */
int covey_recv_array(covey_t *vm, covey_tid_t tid, int tag, int64_t timeout_us, int type,
                     void *base, size_t capacity, size_t *count, struct covey_info *info)
{
    return receive_array(&(struct way){.vm = vm, .tid = tid, .tag = tag}, timeout_us, type, base,
                         capacity, count, info);
}

int receive_probe(const struct way *from, int64_t timeout_us, struct covey_info *info)
{
    struct covey_req req;
    int error = receive_init(&req, from);
    if (error != COVEY_OK)
        return error;
    req.receive.probe = true;
    struct call call = call_begin_as(from->vm, "probe");
    error = receive_now(from, &req, timeout_us, &call);
    if (error == COVEY_OK && info != NULL)
        *info = req.info;
    return call_end(from->vm, &call, error);
}

int covey_probe(covey_t *vm, covey_tid_t tid, int tag, int64_t timeout_us, struct covey_info *info)
{
    return receive_probe(&(struct way){.vm = vm, .tid = tid, .tag = tag}, timeout_us, info);
}

int covey_fd(covey_t *vm)
{
    if (vm == NULL)
        return error_set(COVEY_EINVAL, "fd: NULL");
    struct call call = call_begin(vm);
    wait_poll(vm);
    return call_end(vm, &call, match_ready_fd(vm));
}

int covey_keep(covey_t *vm, int64_t bytes)
{
    if (vm == NULL)
        return error_set(COVEY_EINVAL, "keep: NULL");
    struct call call = call_begin(vm);
    credit_keep(vm, bytes);
    return call_end(vm, &call, COVEY_OK);
}

/* ---- requests -------------------------------------------------------------------------------- */

static int irecv(const struct way *from, struct covey_req *init, covey_req_t **req)
{
    struct covey *vm = from->vm;
    struct covey_req *started = req == NULL ? NULL : malloc(sizeof *started);
    if (started == NULL)
        return req == NULL ? error_set(COVEY_EINVAL, "irecv: NULL") : error_code(COVEY_ENOMEM);
    *started = *init;
    struct call call = call_begin(vm);
    int error = way_check(from);
    if (error == COVEY_OK) {
        receive_start(vm, started);
        *req = started;
    } else {
        free(started);
    }
    vm->wait.calls++;
    return call_end(vm, &call, error);
}

int ireceive_message(const struct way *from, covey_req_t **req)
{
    struct covey_req init;
    int error = receive_init(&init, from);
    return error != COVEY_OK ? error : irecv(from, &init, req);
}

int covey_irecv(covey_t *vm, covey_tid_t tid, int tag, covey_req_t **req)
{
    return ireceive_message(&(struct way){.vm = vm, .tid = tid, .tag = tag}, req);
}

int ireceive_array(const struct way *from, int type, void *base, size_t capacity, covey_req_t **req)
{
    struct covey_req init;
    int error = receive_init(&init, from);
    if (error == COVEY_OK)
        error = receive_into(&init, type, base, capacity);
    return error != COVEY_OK ? error : irecv(from, &init, req);
}

/* NOLINTNEXTLINE(readability-function-size): the interface of covey.h */
int covey_irecv_array(covey_t *vm, covey_tid_t tid, int tag, int type, void *base, size_t capacity,
                      covey_req_t **req)
{
    return ireceive_array(&(struct way){.vm = vm, .tid = tid, .tag = tag}, type, base, capacity,
                          req);
}

struct covey_req req_over = {.kind = REQ_SEND, .done = true};

static int req_outcome(const struct covey_req *req)
{
    return req->error == COVEY_OK ? 1 : error_set(req->error, "%s", req->text);
}

int covey_test(covey_req_t *req)
{
    if (req == NULL)
        return error_set(COVEY_EINVAL, "test: NULL");
    if (req == &req_over)
        return 1;
    struct call call = call_begin(req->vm);
    req->vm->wait.calls++;
    if (!req->done)
        wait_poll(req->vm);
    int result = req->done ? req_outcome(req) : 0;
    return call_end(req->vm, &call, result);
}

int covey_wait(covey_req_t *req, int64_t timeout_us)
{
    if (req == NULL)
        return error_set(COVEY_EINVAL, "wait: NULL");
    if (req == &req_over)
        return COVEY_OK;
    struct covey *vm = req->vm;
    struct call call = call_begin(vm);
    req_await(req);
    uint64_t deadline_us = clock_deadline(timeout_us);
    int error = req->owner != NULL && req->owner->wait != NULL && timeout_us != 0
                    ? req->owner->wait(req, deadline_us)
                : req->kind != REQ_SEND ? call_idle(vm, req_done, req, deadline_us)
                                        : wait_until(vm, req_done, req, deadline_us);
    if (req->done)
        error = req->error == COVEY_OK ? COVEY_OK : req_outcome(req);
    else if (error == COVEY_ETIMEOUT)
        error_set(error, "wait: the request is not complete in time");
    return call_end(vm, &call, error);
}

int covey_cancel(covey_req_t *req)
{
    if (req == NULL)
        return error_set(COVEY_EINVAL, "cancel: NULL");
    if (req == &req_over)
        return 0;
    struct call call = call_begin(req->vm);
    bool cancelled;
    if (req->kind == REQ_COLLECTIVE) {
        cancelled = false;
    } else if (req->kind == REQ_SEND) {
        cancelled = outgo_cancel(req->vm, req);
    } else {
        cancelled = match_cancel(req->vm, req);
        if (cancelled)
            req_finish(req, COVEY_ECANCELED, covey_strerror(COVEY_ECANCELED));
    }
    return call_end(req->vm, &call, cancelled);
}

int covey_req_result(covey_req_t *req, struct covey_info *info, covey_msg_t **msg, size_t *count)
{
    if (req == NULL || !req->done)
        return error_set(COVEY_EINVAL, "req_result: the request is not complete");
    if (req->error != COVEY_OK)
        return error_set(req->error, "%s", req->text);
    if (info != NULL)
        *info = req->info;
    if (count != NULL)
        *count = req->receive.count;
    if (msg != NULL && req->kind == REQ_RECEIVE) {
        *msg = req->owned;
        req->owned = NULL;
    }
    return COVEY_OK;
}

void covey_req_free(covey_req_t **req)
{
    if (req == NULL || *req == NULL)
        return;
    struct covey_req *freed = *req;
    *req = NULL;
    if (freed == &req_over)
        return;
    if (freed->kind == REQ_COLLECTIVE) {
        freed->owner->release(freed);
        return;
    }
    if (!freed->done && covey_cancel(freed) == 0)
        covey_wait(freed, COVEY_FOREVER);
    covey_msg_free(freed->owned);
    free(freed);
}
