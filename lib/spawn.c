/*
 * spawn.c - starting and ending tasks. The library chooses the hosts, in turn; each daemon starts
 * its share and answers with a tid or an error a task.
 */
#include "lib/task.h"

#include "lib/clock.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SPAWN_US 60000000u
#define SIGNAL_US 30000000u

/* The hosts to use, by their indices, in the order in which tasks are dealt to them. */
struct deal {
    uint32_t *hosts;
    int count;
};

/* A host that is silent for the moment is waited for when it is named: it answers, or is gone. */
static int find_host(const struct covey_host *hosts, int n, const char *name)
{
    for (int i = 0; i < n; i++) {
        bool there = hosts[i].state == COVEY_HOST_UP || hosts[i].state == COVEY_HOST_SUSPECT;
        if (there && strcmp(hosts[i].name, name) == 0)
            return i;
    }
    return error_set(COVEY_ENOHOST, "no host '%s' is up in this VM", name);
}

/* Named hosts in the order given; a name may come twice and then gets twice the tasks. */
static int deal_named(const struct covey_host *hosts, int n, const char *const *names,
                      struct deal *deal)
{
    for (; *names != NULL; names++) {
        int at = find_host(hosts, n, *names);
        if (at < 0)
            return at;
        uint32_t *grown = realloc(deal->hosts, ((size_t)deal->count + 1) * sizeof *grown);
        if (grown == NULL)
            return error_code(COVEY_ENOMEM);
        deal->hosts = grown;
        grown[deal->count++] = (uint32_t)hosts[at].index;
    }
    return COVEY_OK;
}

static int deal_all(const struct covey *vm, const struct covey_host *hosts, int n, int where,
                    struct deal *deal)
{
    deal->hosts = calloc((size_t)n, sizeof *deal->hosts);
    if (deal->hosts == NULL)
        return error_code(COVEY_ENOMEM);
    for (int i = 0; i < n; i++) {
        bool own = (uint32_t)hosts[i].index == vm->host;
        bool usable =
            hosts[i].state == COVEY_HOST_UP || (own && hosts[i].state == COVEY_HOST_SUSPECT);
        if (usable && !(own && where == COVEY_WHERE_OTHERS))
            deal->hosts[deal->count++] = (uint32_t)hosts[i].index;
    }
    return COVEY_OK;
}

static int deal_make(struct covey *vm, const struct covey_spawn *what, struct deal *deal)
{
    struct covey_host *hosts = NULL;
    bool by_name = what->where == COVEY_WHERE_HOSTS ||
                   (what->where == COVEY_WHERE_EACH && what->hosts != NULL);
    if (what->where < COVEY_WHERE_ANY || what->where > COVEY_WHERE_EACH ||
        (what->where == COVEY_WHERE_HOSTS && what->hosts == NULL))
        return error_set(COVEY_EINVAL, "spawn: unknown place %d, or no hosts named", what->where);
    int n = hosts_ask(vm, &hosts);
    if (n < 0)
        return n;
    *deal = (struct deal){0};
    int error = by_name ? deal_named(hosts, n, what->hosts, deal)
                        : deal_all(vm, hosts, n, what->where, deal);
    free(hosts);
    if (error == COVEY_OK && deal->count == 0)
        error = error_set(COVEY_ENOHOST, "spawn: no host fits");
    if (error != COVEY_OK)
        free(deal->hosts);
    return error;
}

/* ---- asking the daemons ---------------------------------------------------------------------- */

/* Everything after the request number. */
static int spawn_body(const struct covey *vm, const struct covey_spawn *what, uint32_t count,
                      uint8_t *body, size_t *size)
{
    struct control_spawn s = {
        .count = count,
        .parent = vm->tid,
        .route = (uint8_t)(what->route != COVEY_ROUTE_AUTO ? what->route : vm->route),
        .tether = what->tether != 0};
    s.sink = what->output == COVEY_OUTPUT_SELF      ? vm->tid
             : what->output == COVEY_OUTPUT_INHERIT ? vm->sink
                                                    : 0;
    if (what->cwd != NULL)
        snprintf(s.cwd, sizeof s.cwd, "%s", what->cwd);
    else if (getcwd(s.cwd, sizeof s.cwd) == NULL)
        return error_set(COVEY_ENOENT, "spawn: no working directory: %s", strerror(errno));
    struct cursor c = cursor_writer(body, FRAME_PAYLOAD_MAX);
    control_put_spawn(&c, &s, what->argv, what->env);
    if (!cursor_ok(&c))
        return error_set(COVEY_EINVAL, "spawn: arguments and environment exceed %d bytes",
                         FRAME_PAYLOAD_MAX);
    *size = (size_t)(c.at - body);
    return COVEY_OK;
}

static struct request *ask_host(struct covey *vm, const struct covey_spawn *what, uint32_t host,
                                uint32_t count)
{
    uint8_t body[FRAME_PAYLOAD_MAX];
    size_t size = 0;
    if (spawn_body(vm, what, count, body, &size) != COVEY_OK)
        return NULL;
    return request_begin(vm, FRAME_SPAWN, host, body + 4, size - 4);
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

/* The tasks of turn `turn` have positions turn, turn + stride ... Returns how many have started, or
 * the error that they all share. */
static int take_results(struct covey *vm, struct request **r, int turn, int stride, int n,
                        covey_tid_t *tids)
{
    uint8_t *content = NULL;
    size_t size = 0;
    int started = 0;
    int error =
        *r == NULL ? COVEY_EINVAL : request_end(vm, r, clock_us() + SPAWN_US, &content, &size);
    char why[200];
    snprintf(why, sizeof why, "%s", covey_error_text());
    struct cursor c = cursor_reader(content, size);
    for (int i = turn; i < n; i += stride) {
        if (error != COVEY_OK)
            task_failed(&tids[i], error, why);
        else
            started += one_result(&c, &tids[i]);
    }
    free(content);
    return error != COVEY_OK ? error : started;
}

/* A host that is on its way out gets host number 0 in the deal. */
static int spawn_dealt(struct covey *vm, const struct covey_spawn *what, struct deal *deal,
                       unsigned start, int n, covey_tid_t *tids)
{
    int turns = deal->count < n ? deal->count : n;
    struct request **asked = calloc((size_t)turns, sizeof *asked);
    if (asked == NULL)
        return error_code(COVEY_ENOMEM);
    int started = 0;
    for (int turn = 0; turn < turns; turn++) {
        uint32_t host = deal->hosts[(start + (unsigned)turn) % (unsigned)deal->count];
        uint32_t count = (uint32_t)((n - turn + deal->count - 1) / deal->count);
        asked[turn] = ask_host(vm, what, host, count);
        if (asked[turn] == NULL && turn == 0) {
            free(asked);
            return vm->lost != 0 ? vm->lost : COVEY_EINVAL; /* the request itself is bad */
        }
    }
    for (int turn = 0; turn < turns; turn++) {
        int result = take_results(vm, &asked[turn], turn, deal->count, n, tids);
        if (host_left(result))
            deal->hosts[(start + (unsigned)turn) % (unsigned)deal->count] = 0;
        started += result > 0 ? result : 0;
    }
    free(asked);
    return started;
}

static bool deal_drop_those_that_left(struct deal *deal)
{
    int kept = 0;
    for (int i = 0; i < deal->count; i++) {
        if (deal->hosts[i] != 0)
            deal->hosts[kept++] = deal->hosts[i];
    }
    bool dropped = kept < deal->count;
    deal->count = kept;
    return dropped && kept > 0;
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
        started = spawn_dealt(vm, what, deal, 0, count, again);
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

int covey_spawn(covey_t *vm, const struct covey_spawn *what, int n, covey_tid_t *tids)
{
    struct deal deal;
    int result = spawn_check(vm, what, n);
    if (result != COVEY_OK || tids == NULL)
        return result != COVEY_OK ? result : error_set(COVEY_EINVAL, "spawn: no array of tids");
    struct call call = call_begin(vm);
    result = deal_make(vm, what, &deal);
    if (result == COVEY_OK) {
        bool each = what->where == COVEY_WHERE_EACH;
        bool turn_about = what->where == COVEY_WHERE_ANY || what->where == COVEY_WHERE_OTHERS;
        int total = each ? n * deal.count : n;
        unsigned start = turn_about ? vm->spawn_next : 0;
        result = spawn_dealt(vm, what, &deal, start, total, tids);
        if (turn_about)
            vm->spawn_next = (start + (unsigned)total) % (unsigned)deal.count;
        while (turn_about && result >= 0 && deal_drop_those_that_left(&deal))
            result += spawn_elsewhere(vm, what, &deal, total, tids);
        free(deal.hosts);
    }
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
        result = n * deal.count;
        free(deal.hosts);
    }
    return call_end(vm, &call, result);
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
