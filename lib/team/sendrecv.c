/*
 * sendrecv.c - sending to one task and receiving from one, both at once: what neighbours need that
 * all do the same, for none of them waits for another to receive first.
 *
 * The receive is posted before the send starts, so that an array comes straight into its place. The
 * call does not last longer than its timeout: a send that is under way then goes on with a copy of
 * what the program has lent. It can, for its request is one that may outlive a call (step_req.c).
 */
#include "lib/calls/recv.h"
#include "lib/calls/send.h"
#include "lib/collective/collective_step.h"
#include "lib/drive/call.h"
#include "lib/drive/wait.h"
#include "lib/engine/match.h"
#include "lib/engine/outgo.h"
#include "lib/engine/req.h"
#include "lib/member/vm.h"
#include "lib/msg/clock.h"
#include "lib/msg/error.h"
#include "lib/team/talk.h"

#include <assert.h>

struct exchange {
    struct way to, from;  /* tid COVEY_NO_TASK: nothing is sent, or received */
    struct step_req *out; /* NULL: nothing is sent */
    struct covey_req in;
};

static bool receives(const struct exchange *x)
{
    return x->from.tid != COVEY_NO_TASK;
}

/* Both are done, or one of them failed. */
static bool exchange_done(void *context)
{
    const struct exchange *x = context;
    const struct covey_req *out = x->out == NULL ? NULL : &x->out->req;
    bool sent = out == NULL || out->done, received = !receives(x) || x->in.done;
    return (sent && received) || (out != NULL && out->done && out->error != COVEY_OK) ||
           (x->in.done && x->in.error != COVEY_OK);
}

static bool send_done(void *context)
{
    return ((struct step_req *)context)->req.done;
}

/* Makes the requests; what is sent is a message, or else an array. */
static int exchange_init(struct exchange *x, const covey_msg_t *msg)
{
    int error = COVEY_OK;
    if (x->to.vm == NULL || x->to.tag < 0)
        return error_set(COVEY_EINVAL, "sendrecv: NULL, or tag %d", x->to.tag);
    if (receives(x))
        error = receive_init(&x->in, &x->from);
    if (error != COVEY_OK || x->to.tid == COVEY_NO_TASK)
        return error;
    x->out = step_req_create();
    if (x->out == NULL)
        return error_code(COVEY_ENOMEM);
    send_init(&x->out->req, &x->to);
    x->out->req.send.msg = msg;
    return COVEY_OK;
}

/* The cause why one of them failed, or why the waiting ended before both were done. */
static int exchange_error(const struct exchange *x, int waited)
{
    const struct covey_req *out = x->out == NULL ? NULL : &x->out->req;
    if (out != NULL && out->done && out->error != COVEY_OK)
        return error_set(out->error, "%s", out->text);
    if (x->in.done && x->in.error != COVEY_OK)
        return error_set(x->in.error, "%s", x->in.text);
    if (waited == COVEY_ETIMEOUT)
        return error_set(waited, out == NULL || out->done ? "sendrecv: no message in time"
                                                          : "sendrecv: not sent in time");
    return waited;
}

/* Without memory for a copy the call lasts until the send is out. */
static void send_end(struct covey *vm, struct step_req *out)
{
    if (!out->req.done && !outgo_cancel(vm, &out->req)) {
        if (collective_orphan(vm, out))
            return;
        wait_until(vm, send_done, out, UINT64_MAX);
        assert(out->req.done); /* also when the daemon is lost: home_lost() ends all sends */
    }
    step_req_free(out);
}

/* Afterwards x->in is done when something was received, which may be so if the send failed. */
static int exchange_run(struct exchange *x, int64_t timeout_us)
{
    struct covey *vm = x->to.vm;
    struct call call = call_begin_as(vm, "team_sendrecv");
    int error = way_check(&x->to);
    if (error == COVEY_OK && receives(x))
        receive_start(vm, &x->in);
    if (error == COVEY_OK && x->out != NULL)
        error = send_start(vm, &x->out->req, x->to.tid);
    if (error == COVEY_OK) {
        error = exchange_error(x, call_idle(vm, exchange_done, x, clock_deadline(timeout_us)));
    } else if (x->out != NULL) { /* it did not start */
        step_req_free(x->out);
        x->out = NULL;
    }
    if (!x->in.done && (x->in.queued || x->in.receive.arrival != NULL))
        match_cancel(vm, &x->in);
    if (x->out != NULL)
        send_end(vm, x->out);
    return call_end(vm, &call, error);
}

static int exchange_messages(struct exchange *x, const covey_msg_t *out, int64_t timeout_us,
                             covey_msg_t **in)
{
    if ((x->to.tid != COVEY_NO_TASK && out == NULL) || in == NULL)
        return error_set(COVEY_EINVAL, "sendrecv: NULL");
    int error = exchange_init(x, out);
    if (error != COVEY_OK)
        return error;
    error = exchange_run(x, timeout_us);
    *in = x->in.owned;
    return error;
}

/* NOLINTNEXTLINE(readability-function-size): as covey_sendrecv_array() */
static int exchange_arrays(struct exchange *x, int64_t timeout_us, int type, const void *out,
                           size_t out_count, void *in, size_t capacity, size_t *count)
{
    int error = exchange_init(x, NULL);
    if (error == COVEY_OK && receives(x))
        error = receive_into(&x->in, type, in, capacity);
    if (error == COVEY_OK && x->out != NULL)
        error = send_array_init(&x->out->req, type, out, out_count);
    if (error != COVEY_OK) {
        if (x->out != NULL)
            step_req_free(x->out);
        return error;
    }
    error = exchange_run(x, timeout_us);
    bool received = x->in.done && x->in.error == COVEY_OK;
    if (count != NULL && (error == COVEY_OK || received))
        *count = received ? x->in.receive.count : 0;
    return error;
}

/* ---- by tid ---------------------------------------------------------------------------------- */

static struct exchange between(covey_t *vm, covey_tid_t to, covey_tid_t from, int tag)
{
    return (struct exchange){.to = {.vm = vm, .tid = to, .tag = tag},
                             .from = {.vm = vm, .tid = from, .tag = tag}};
}

/* NOLINTNEXTLINE(readability-function-size): the interface of covey.h */
int covey_sendrecv(covey_t *vm, covey_tid_t to, covey_tid_t from, int tag, int64_t timeout_us,
                   const covey_msg_t *out, covey_msg_t **in)
{
    struct exchange x = between(vm, to, from, tag);
    return exchange_messages(&x, out, timeout_us, in);
}

/* NOLINTNEXTLINE(readability-function-size): the interface of covey.h */
int covey_sendrecv_array(covey_t *vm, covey_tid_t to, covey_tid_t from, int tag, int64_t timeout_us,
                         int type, const void *out, size_t out_count, void *in, size_t capacity,
                         size_t *count)
{
    struct exchange x = between(vm, to, from, tag);
    return exchange_arrays(&x, timeout_us, type, out, out_count, in, capacity, count);
}

/* ---- by rank --------------------------------------------------------------------------------- */

static int sendrecv_side(covey_team_t *team, int rank, int tag, bool any, struct way *way)
{
    if (rank != COVEY_NO_RANK)
        return talk_way(team, rank, tag, any, way);
    int error = talk_way(team, 0, tag, any, way);
    way->tid = COVEY_NO_TASK;
    return error;
}

static int among(covey_team_t *team, int to, int from, int tag, struct exchange *x)
{
    int error = sendrecv_side(team, to, tag, false, &x->to);
    return error != COVEY_OK ? error : sendrecv_side(team, from, tag, true, &x->from);
}

/* NOLINTNEXTLINE(readability-function-size): the interface of covey.h */
int covey_team_sendrecv(covey_team_t *team, int to, int from, int tag, int64_t timeout_us,
                        const covey_msg_t *out, covey_msg_t **in)
{
    struct exchange x = {0};
    int error = among(team, to, from, tag, &x);
    return error != COVEY_OK ? error : exchange_messages(&x, out, timeout_us, in);
}

/* NOLINTNEXTLINE(readability-function-size): the interface of covey.h */
int covey_team_sendrecv_array(covey_team_t *team, int to, int from, int tag, int64_t timeout_us,
                              int type, const void *out, size_t out_count, void *in,
                              size_t capacity, size_t *count)
{
    struct exchange x = {0};
    int error = among(team, to, from, tag, &x);
    return error != COVEY_OK
               ? error
               : exchange_arrays(&x, timeout_us, type, out, out_count, in, capacity, count);
}
