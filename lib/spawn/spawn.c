/*
 * spawn.c - starting and ending tasks. place.c chooses the hosts; each daemon starts its share and
 * answers with a tid or an error a task.
 */
#include "lib/drive/call.h"
#include "lib/drive/request.h"
#include "lib/engine/route.h"
#include "lib/member/vm.h"
#include "lib/msg/clock.h"
#include "lib/msg/error.h"
#include "lib/spawn/inside.h"
#include "lib/spawn/place.h"
#include "lib/spawn/printer.h"
#include "lib/spawn/siblings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A daemon answers for its whole share, and a busy machine takes tens of ms for a task. */
#define SPAWN_US 60000000u
#define SPAWN_TASK_US 100000u
#define SIGNAL_US 30000000u

/* ---- asking the daemons ---------------------------------------------------------------------- */

/* What one daemon was asked for. */
struct share {
    uint32_t host;
    uint32_t count;
    struct request *asked;
};

/* Everything after the request number. The first host has the first task. */
static int spawn_body(const struct covey *vm, const struct covey_spawn *what, uint32_t count,
                      bool first, uint8_t *body, size_t *size)
{
    struct control_spawn s = {
        .count = count,
        .input = first && what->input != 0,
        .parent = vm->self.tid,
        .route = (uint8_t)(what->route != COVEY_ROUTE_AUTO ? what->route : vm->self.route),
        .tether = what->tether != 0};
    s.sink = what->output == COVEY_OUTPUT_SELF      ? vm->self.tid
             : what->output == COVEY_OUTPUT_INHERIT ? vm->self.sink
                                                    : 0;
    s.print = what->output == COVEY_OUTPUT_INHERIT && output_of(vm)->printing != PRINTING_NOT;
    if (what->cwd != NULL)
        snprintf(s.cwd, sizeof s.cwd, "%s", what->cwd);
    else if (getcwd(s.cwd, sizeof s.cwd) == NULL)
        return error_set(COVEY_ENOENT, "spawn: no working directory: %s", strerror(errno));
    const char **inside;
    if (inside_words(what, &inside) != COVEY_OK)
        return error_code(COVEY_ENOMEM);
    struct cursor c = cursor_writer(body, FRAME_PAYLOAD_MAX);
    control_put_spawn(&c, &s, inside != NULL ? inside : what->argv, what->env);
    free(inside);
    if (!cursor_ok(&c))
        return error_set(COVEY_EINVAL, "spawn: arguments and environment exceed %d bytes",
                         FRAME_PAYLOAD_MAX);
    *size = (size_t)(c.at - body);
    return COVEY_OK;
}

/* A task that could not be started: its error instead of a tid; the text stays as the cause. */
static int task_failed(covey_tid_t *tid, int error, const char *why)
{
    *tid = error;
    error_set(error, "spawn: %s", why);
    return 0;
}

static int one_result(struct cursor *c, covey_tid_t *tid)
{
    struct control_result r;
    control_get_result(c, &r);
    if (!cursor_ok(c))
        return task_failed(tid, COVEY_EPROTO, "the daemon's answer makes no sense");
    if (r.error != COVEY_OK)
        return task_failed(tid, r.error, r.text);
    *tid = (covey_tid_t)r.number;
    return 1;
}

/* The host was on its way out: nothing has started there, or it ended with the host. */
static bool host_left(int error)
{
    return error == COVEY_EHALT || error == COVEY_EHOSTFAIL;
}

/* Tasks on their way to hosts: the i-th goes to host_of[i]. */
struct batch {
    const struct covey_spawn *what;
    const uint32_t *host_of;
    int n;
    bool first; /* the first one is that of covey_spawn() */
    covey_tid_t *tids;
};

/* Returns how many have started, or the error that all tasks of the host share. */
static int take_results(struct covey *vm, const struct batch *b, struct share *share)
{
    uint8_t *content = NULL;
    size_t size = 0;
    int started = 0;
    uint64_t deadline_us = clock_us() + SPAWN_US + (uint64_t)share->count * SPAWN_TASK_US;
    int error = share->asked == NULL ? COVEY_EINVAL
                                     : request_end(vm, &share->asked, deadline_us, &content, &size);
    char why[200];
    snprintf(why, sizeof why, "%s", covey_error_text());
    struct cursor c = cursor_reader(content, size);
    for (int i = 0; i < b->n; i++) {
        if (b->host_of[i] != share->host)
            continue;
        if (error != COVEY_OK)
            task_failed(&b->tids[i], error, why);
        else
            started += one_result(&c, &b->tids[i]);
    }
    free(content);
    return error != COVEY_OK ? error : started;
}

/* The hosts of a batch in the order of their first tasks; returns their number. */
static int shares_make(const struct batch *b, struct share *shares)
{
    uint16_t at[HOST_INDEX_MAX + 1] = {0}; /* positions, from 1 */
    int count = 0;
    for (int i = 0; i < b->n; i++) {
        uint32_t host = b->host_of[i];
        if (at[host] == 0) {
            shares[count] = (struct share){.host = host};
            at[host] = (uint16_t)++count;
        }
        shares[at[host] - 1].count++;
    }
    return count;
}

static int shares_spawn(struct covey *vm, const struct batch *b, struct deal *deal,
                        struct share *shares, int count)
{
    int started = 0;
    for (int i = 0; i < count; i++) {
        uint8_t body[FRAME_PAYLOAD_MAX];
        size_t size = 0;
        if (spawn_body(vm, b->what, shares[i].count, b->first && i == 0, body, &size) == COVEY_OK)
            shares[i].asked = request_begin(vm, FRAME_SPAWN, shares[i].host, body + 4, size - 4);
        if (shares[i].asked == NULL && i == 0)
            return vm->home.lost != 0 ? vm->home.lost
                                      : COVEY_EINVAL; /* the request itself is bad */
    }
    for (int i = 0; i < count; i++) {
        int result = take_results(vm, b, &shares[i]);
        for (int k = 0; host_left(result) && k < deal->count; k++)
            if (deal->hosts[k] == shares[i].host)
                deal->hosts[k] = 0;
        started += result > 0 ? result : 0;
    }
    return started;
}

/* A host that is on its way out gets host number 0 in the deal. */
static int spawn_dealt(struct covey *vm, const struct covey_spawn *what, struct deal *deal, int n,
                       bool first, covey_tid_t *tids)
{
    uint32_t *host_of = calloc((size_t)n, sizeof *host_of);
    struct share *shares = calloc((size_t)deal->count, sizeof *shares);
    int started = host_of == NULL || shares == NULL ? error_code(COVEY_ENOMEM)
                                                    : deal_tasks(vm, what, deal, n, host_of);
    if (started == COVEY_OK) {
        struct batch b = {.what = what, .host_of = host_of, .n = n, .first = first, .tids = tids};
        started = shares_spawn(vm, &b, deal, shares, shares_make(&b, shares));
    }
    free(shares);
    free(host_of);
    return started;
}

/* Where the library chooses the hosts, the tasks of one that was on its way out go to others. */
static int spawn_elsewhere(struct covey *vm, const struct covey_spawn *what, struct deal *deal,
                           int n, covey_tid_t *tids)
{
    covey_tid_t *again = calloc((size_t)n, sizeof *again);
    int started = 0, count = 0;
    for (int i = 0; i < n && again != NULL; i++)
        count += host_left(tids[i]);
    if (count > 0)
        started = spawn_dealt(vm, what, deal, count, host_left(tids[0]), again);
    if (started < 0)
        count = 0;
    for (int i = 0, at = 0; i < n && at < count; i++) {
        if (host_left(tids[i]))
            tids[i] = again[at++];
    }
    free(again);
    return started > 0 ? started : 0;
}

static int spawn_check(const struct covey *vm, const struct covey_spawn *what, int n)
{
    if (vm == NULL || what == NULL || what->argv == NULL || what->argv[0] == NULL ||
        what->argv[0][0] == '\0')
        return error_set(COVEY_EINVAL, "spawn: no program");
    if (n < 1 || n > (int)TID_LOCAL_MAX)
        return error_set(COVEY_EINVAL, "spawn: cannot start %d tasks", n);
    if (what->route < 0 || what->route >= ROUTES)
        return error_set(COVEY_EINVAL, "spawn: unknown route %d", what->route);
    return COVEY_OK;
}

/* How many tasks n means. */
static int spawn_total(const struct covey_spawn *what, const struct deal *deal, int n)
{
    return what->where == COVEY_WHERE_EACH ? n * deal->count : n;
}

/* The array of tids is as large as was told: hosts that are more by now are left out. */
static void told_keep(const struct covey *vm, const struct covey_spawn *what, struct deal *deal)
{
    const struct placing *p = placing_of(vm);
    bool same = strcmp(p->told_arch, what->arch == NULL ? "" : what->arch) == 0;
    if (what->where == COVEY_WHERE_EACH && what->hosts == NULL && same && p->told > 0 &&
        deal->count > p->told)
        deal->count = p->told;
}

static void told_set(const struct covey *vm, const struct covey_spawn *what, int count)
{
    struct placing *p = placing_of(vm);
    if (what->hosts != NULL)
        return;
    p->told = count;
    snprintf(p->told_arch, sizeof p->told_arch, "%s", what->arch == NULL ? "" : what->arch);
}

int covey_spawn(covey_t *vm, const struct covey_spawn *what, int n, covey_tid_t *tids)
{
    struct deal deal;
    int result = spawn_check(vm, what, n);
    if (result != COVEY_OK || tids == NULL)
        return result != COVEY_OK ? result : error_set(COVEY_EINVAL, "spawn: no array of tids");
    struct call call = call_begin(vm);
    int total = 0;
    siblings_spawning(vm);
    if (what->output == COVEY_OUTPUT_INHERIT)
        result = printer_start(vm, what->tether != 0);
    if (result == COVEY_OK)
        result = deal_make(vm, what, &deal);
    if (result == COVEY_OK) {
        told_keep(vm, what, &deal);
        total = spawn_total(what, &deal, n);
        result = spawn_dealt(vm, what, &deal, total, true, tids);
        while (deal.free_choice && result >= 0 && deal_drop(&deal))
            result += spawn_elsewhere(vm, what, &deal, total, tids);
        deal_free(&deal);
    }
    siblings_spawned(vm, tids, result < 0 ? 0 : total);
    return call_end(vm, &call, result);
}

int covey_spawn_count(covey_t *vm, const struct covey_spawn *what, int n)
{
    struct deal deal;
    int result = spawn_check(vm, what, n);
    if (result != COVEY_OK || what->where != COVEY_WHERE_EACH)
        return result != COVEY_OK ? result : n;
    struct call call = call_begin(vm);
    result = deal_make(vm, what, &deal);
    if (result == COVEY_OK) {
        result = spawn_total(what, &deal, n);
        told_set(vm, what, deal.count);
        deal_free(&deal);
    }
    return call_end(vm, &call, result);
}

int covey_place(covey_t *vm, const struct covey_spawn *what, int n, struct covey_place **places)
{
    int result = spawn_check(vm, what, n);
    if (result != COVEY_OK || places == NULL)
        return result != COVEY_OK ? result : error_set(COVEY_EINVAL, "place: nowhere to put it");
    struct call call = call_begin(vm);
    return call_end(vm, &call, place_explain(vm, what, n, places));
}

int covey_place_idle(covey_t *vm, const struct covey_spawn *what, struct covey_place **places)
{
    int result = spawn_check(vm, what, 1);
    if (result != COVEY_OK || places == NULL)
        return result != COVEY_OK ? result : error_set(COVEY_EINVAL, "place: nowhere to put it");
    struct call call = call_begin(vm);
    return call_end(vm, &call, place_idle(vm, what, places));
}

/* ---- standard input -------------------------------------------------------------------------- */

#define INPUT_BYTES 32768 /* a request */

int covey_input(covey_t *vm, covey_tid_t tid, const void *bytes, size_t n)
{
    if (vm == NULL || tid <= 0 || tid_local((uint32_t)tid) == 0 || (n > 0 && bytes == NULL))
        return error_set(COVEY_EINVAL, "input: NULL or bad tid %d", (int)tid);
    struct call call = call_begin(vm);
    int error;
    size_t done = 0;
    do {
        size_t part = n - done < INPUT_BYTES ? n - done : INPUT_BYTES;
        uint8_t body[4 + INPUT_BYTES];
        struct cursor c = cursor_writer(body, sizeof body);
        cursor_put_u32(&c, (uint32_t)tid);
        cursor_put_bytes(&c, (const uint8_t *)bytes + done, part);
        error = request_call(vm, FRAME_INPUT, tid_host((uint32_t)tid), body, 4 + part, UINT64_MAX,
                             NULL, NULL);
        done += part;
    } while (error == COVEY_OK && done < n);
    return call_end(vm, &call, error);
}

/* ---- signals --------------------------------------------------------------------------------- */

static int signal_task(covey_t *vm, covey_tid_t tid, int number)
{
    uint8_t body[32];
    struct cursor c = cursor_writer(body, sizeof body);
    struct control_signal s = {.tid = (uint32_t)tid, .signal = number};
    if (vm == NULL || tid <= 0 || tid_local((uint32_t)tid) == 0)
        return error_set(COVEY_EINVAL, "signal: bad tid %d", (int)tid);
    control_put_signal(&c, &s);
    struct call call = call_begin(vm);
    int error = request_call(vm, FRAME_SIGNAL, tid_host((uint32_t)tid), body + 4,
                             (size_t)(c.at - body) - 4, clock_us() + SIGNAL_US, NULL, NULL);
    return call_end(vm, &call, error);
}

int covey_kill(covey_t *vm, covey_tid_t tid)
{
    return signal_task(vm, tid, 0);
}

int covey_signal(covey_t *vm, covey_tid_t tid, int signal_number)
{
    if (signal_number < 1 || signal_number > 64)
        return error_set(COVEY_EINVAL, "signal: no signal %d", signal_number);
    return signal_task(vm, tid, signal_number);
}
