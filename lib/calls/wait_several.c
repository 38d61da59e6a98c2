/*
 * wait_several.c - waiting for all of several requests, for one of them, and for one of them or a
 * notice. Whatever a program waits for is a request or a message; so one wait is enough for both.
 */
#include "lib/calls/recv.h"
#include "lib/calls/way.h"
#include "lib/drive/call.h"
#include "lib/engine/arrival.h"
#include "lib/engine/match.h"
#include "lib/engine/req.h"
#include "lib/member/vm.h"
#include "lib/msg/clock.h"
#include "lib/msg/error.h"

#include <stdbool.h>

struct several {
    covey_req_t *const *reqs; /* NULL entries are skipped */
    size_t n, at;             /* all before `at` are done */
    int found;                /* the first that is done, as any_done() found it */
};

/* Each request is looked at once after it is done, however often this is asked. */
static bool all_done(void *context)
{
    struct several *s = context;
    while (s->at < s->n && (s->reqs[s->at] == NULL || s->reqs[s->at]->done))
        s->at++;
    return s->at == s->n;
}

static bool any_done(void *context)
{
    struct several *s = context;
    for (size_t i = 0; i < s->n; i++) {
        if (s->reqs[i] != NULL && s->reqs[i]->done) {
            s->found = (int)i;
            return true;
        }
    }
    return false;
}

/* Sets *vm, unless it is set, to whose they are; NULL: none is under way. */
static int several_check(const struct several *s, const char *name, struct covey **vm)
{
    if (s->n > INT32_MAX || (s->reqs == NULL && s->n > 0))
        return error_set(COVEY_EINVAL, "%s: NULL, or too many requests", name);
    for (size_t i = 0; i < s->n; i++) {
        if (s->reqs[i] == NULL || s->reqs[i] == &req_over)
            continue;
        if (*vm != NULL && s->reqs[i]->vm != *vm)
            return error_set(COVEY_EINVAL, "%s: request %zu is of another covey_join()", name, i);
        *vm = s->reqs[i]->vm;
    }
    return COVEY_OK;
}

static int first_error(const struct several *s)
{
    for (size_t i = 0; i < s->n; i++) {
        const struct covey_req *req = s->reqs[i];
        if (req != NULL && req->error != COVEY_OK)
            return error_set(req->error, "request %zu of %zu: %s", i, s->n, req->text);
    }
    return COVEY_OK;
}

int covey_wait_all(covey_req_t *const *reqs, size_t n, int64_t timeout_us)
{
    struct several s = {.reqs = reqs, .n = n};
    struct covey *vm = NULL;
    int error = several_check(&s, "wait_all", &vm);
    if (error != COVEY_OK || vm == NULL)
        return error;
    struct call call = call_begin(vm);
    error = call_idle(vm, all_done, &s, clock_deadline(timeout_us));
    if (error == COVEY_ETIMEOUT)
        error_set(error, "wait_all: request %zu of %zu is not complete in time", s.at, n);
    if (error == COVEY_OK)
        error = first_error(&s);
    return call_end(vm, &call, error);
}

int covey_wait_any(covey_req_t *const *reqs, size_t n, int64_t timeout_us)
{
    struct several s = {.reqs = reqs, .n = n};
    struct covey *vm = NULL;
    int error = several_check(&s, "wait_any", &vm);
    if (error != COVEY_OK)
        return error;
    if (vm == NULL)
        return any_done(&s) ? s.found : error_set(COVEY_EINVAL, "wait_any: no request");
    struct call call = call_begin(vm);
    error = call_idle(vm, any_done, &s, clock_deadline(timeout_us));
    if (error == COVEY_ETIMEOUT)
        error_set(error, "wait_any: no request is complete in time");
    return call_end(vm, &call, error == COVEY_OK ? s.found : error);
}

/* ---- and notices ----------------------------------------------------------------------------- */

struct watchful {
    struct several several;
    struct covey_req notice; /* a look for a message that takes none */
};

static bool watchful_done(void *context)
{
    struct watchful *w = context;
    return any_done(&w->several) || w->notice.done;
}

/* Takes the message that the look found, if it is a notice; else it stays. */
static int take_notice(struct covey *vm, const struct way *from, struct covey_notice *notice)
{
    struct covey_req req;
    const struct arrival *a = match_find(vm, (uint32_t)from->tid, from->tag, 0);
    if (a == NULL)
        return error_set(COVEY_ETIMEOUT, "wait_notice: another thread took the notice");
    bool here = a->complete && a->msg != NULL;
    int error = here ? covey_unpack_notice(a->msg, notice) : COVEY_ETYPE;
    if (error != COVEY_OK) {
        if (here)
            covey_msg_rewind(a->msg);
        return error_set(COVEY_ETYPE, "wait_notice: the message with tag %d from t%x is no notice",
                         from->tag, (unsigned)a->info.source);
    }
    receive_init(&req, from);
    receive_start(vm, &req);
    covey_msg_free(req.owned);
    return COVEY_OK;
}

/* A request comes before a notice, so that a task's results are seen before its end. */
static int wait_once(struct covey *vm, struct watchful *w, const struct way *from,
                     uint64_t deadline_us, struct covey_notice *notice)
{
    w->several.found = -1;
    receive_init(&w->notice, from);
    w->notice.receive.probe = true;
    if (!any_done(&w->several))
        receive_start(vm, &w->notice);
    int error = call_idle(vm, watchful_done, w, deadline_us);
    if (w->notice.queued)
        match_cancel(vm, &w->notice);
    if (error == COVEY_ETIMEOUT)
        return error_set(error, "wait_notice: neither a request nor a notice in time");
    if (error != COVEY_OK || w->several.found >= 0)
        return error;
    if (w->notice.error != COVEY_OK)
        return error_set(w->notice.error, "%s", w->notice.text);
    return take_notice(vm, from, notice);
}

int covey_wait_notice(covey_t *vm, covey_req_t *const *reqs, size_t n, int tag, int64_t timeout_us,
                      struct covey_notice *notice)
{
    struct watchful w = {.several = {.reqs = reqs, .n = n}};
    const struct way from = {.vm = vm, .tid = COVEY_ANY_TASK, .tag = tag};
    if (vm == NULL || notice == NULL || tag < 0 || tag > COVEY_TAG_MAX)
        return error_set(COVEY_EINVAL, "wait_notice: NULL, or bad tag %d", tag);
    int error = several_check(&w.several, "wait_notice", &vm);
    if (error != COVEY_OK)
        return error;
    uint64_t deadline_us = clock_deadline(timeout_us);
    struct call call = call_begin(vm);
    do
        error = wait_once(vm, &w, &from, deadline_us, notice);
    while (error == COVEY_ETIMEOUT && w.several.found < 0 && clock_us() < deadline_us);
    int result = error != COVEY_OK ? error : w.several.found >= 0 ? w.several.found : (int)n;
    return call_end(vm, &call, result);
}
