/*
 * hosts.c - the host table, the task lists and the counters, asked from the daemons.
 */
#include "lib/calls/hosts.h"
#include "lib/drive/call.h"
#include "lib/drive/request.h"
#include "lib/member/vm.h"
#include "lib/msg/clock.h"
#include "lib/msg/error.h"
#include "proto/model/counter_help.h"
#include "proto/model/figure.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ASK_US 30000000u

void covey_free(void *array)
{
    free(array);
}

static void id_text(const uint8_t id[HOST_ID_BYTES], char *text)
{
    for (int i = 0; i < HOST_ID_BYTES; i++) {
        bool dash = i == 4 || i == 6 || i == 8 || i == 10;
        text += sprintf(text, dash ? "-%02x" : "%02x", id[i]);
    }
}

static void host_public(const struct host *row, const struct address *path, struct covey_host *out)
{
    *out = (struct covey_host){.index = (int32_t)row->index,
                               .state = row->state,
                               .cores = (int32_t)row->cores,
                               .speed = (int32_t)row->speed,
                               .coordinator = row->coordinator,
                               .big_endian = row->representation == REPRESENTATION_BIG,
                               .memory_bytes = row->memory_bytes,
                               .incarnation = row->incarnation};
    snprintf(out->name, sizeof out->name, "%s", row->name);
    snprintf(out->arch, sizeof out->arch, "%s", row->arch);
    id_text(row->id, out->id);
    const struct address *shown = path;
    if (path->family == ADDRESS_NONE && row->address_count > 0)
        shown = &row->addresses[0];
    address_text(shown, out->address);
}

/* Room for one more element of an array of `count`; it doubles. */
static void *array_grow(void *array, size_t count, size_t element)
{
    if ((count & (count - 1)) != 0)
        return array;
    void *grown = realloc(array, (count == 0 ? 1 : 2 * count) * element);
    if (grown == NULL)
        free(array);
    return grown;
}

static int hosts_decode(const uint8_t *content, size_t size, struct covey_host **hosts)
{
    struct cursor c = cursor_reader(content, size);
    struct covey_host *list = NULL;
    int count = 0;
    while (cursor_left(&c) > 0) {
        struct host_room room;
        struct host row;
        struct address path = {.family = ADDRESS_NONE};
        control_get_host(&c, &row, &room);
        /* The address by which the daemon reaches a host; a host that never joined has none. */
        if (cursor_left(&c) >= 2 && c.at[0] == ADDRESS_NONE)
            cursor_get_u16(&c);
        else
            address_get(&c, &path);
        list = cursor_ok(&c) ? array_grow(list, (size_t)count, sizeof *list) : list;
        if (!cursor_ok(&c) || list == NULL)
            break;
        host_public(&row, &path, &list[count++]);
    }
    if (cursor_ok(&c) && list != NULL) {
        *hosts = list;
        return count;
    }
    free(list);
    return error_set(COVEY_EPROTO, "the daemon's host table makes no sense");
}

static int compare_index(const void *a, const void *b)
{
    const struct covey_host *x = a, *y = b;
    return (x->index > y->index) - (x->index < y->index);
}

int hosts_ask(struct covey *vm, struct covey_host **hosts)
{
    uint8_t *content;
    size_t size;
    int error = request_call(vm, FRAME_HOSTS, 0, NULL, 0, clock_us() + ASK_US, &content, &size);
    if (error != COVEY_OK)
        return error;
    int count = hosts_decode(content, size, hosts);
    free(content);
    if (count > 0)
        qsort(*hosts, (size_t)count, sizeof **hosts, compare_index);
    for (int i = 0; i < count; i++) {
        if ((*hosts)[i].coordinator)
            vm->self.coordinator = (uint32_t)(*hosts)[i].index;
    }
    return count;
}

int covey_hosts(covey_t *vm, struct covey_host **list)
{
    if (vm == NULL || list == NULL)
        return error_set(COVEY_EINVAL, "hosts: NULL");
    struct call call = call_begin(vm);
    return call_end(vm, &call, hosts_ask(vm, list));
}

_Static_assert(sizeof((struct covey_host *)0)->address == ADDRESS_TEXT_BYTES, "shown whole");

/* ---- asking one daemon, or all of them side by side ------------------------------------------ */

/* Adds what one daemon answered to *list; false: no memory, or the answer makes no sense. */
typedef bool add_fn(uint32_t host, struct cursor *c, void **list, int *count);

/* A question to several daemons, and what they answered so far. */
struct poll {
    struct covey *vm;
    uint8_t kind;
    add_fn *add;
    uint64_t deadline_us;
    bool silence_ok; /* who does not answer in time is a suspect, not an error */
    void *list;
    int count;
};

static bool alive(const struct covey_host *host)
{
    return host->state == COVEY_HOST_UP || host->state == COVEY_HOST_SUSPECT;
}

static int poll_collect(struct poll *p, struct request **r, struct covey_host *host)
{
    uint8_t *content = NULL;
    size_t size = 0;
    int error = request_end(p->vm, r, p->deadline_us, &content, &size);
    if (error == COVEY_EHOSTFAIL || error == COVEY_ENOHOST)
        return COVEY_OK; /* it left meanwhile, and its tasks with it */
    if (error == COVEY_ETIMEOUT && p->silence_ok) {
        host->state = COVEY_HOST_SUSPECT;
        return COVEY_OK;
    }
    if (error != COVEY_OK)
        return error;
    if (p->silence_ok)
        host->state = COVEY_HOST_UP; /* whatever the table says of it */
    struct cursor c = cursor_reader(content, size);
    while (error == COVEY_OK && cursor_left(&c) > 0) {
        if (!p->add((uint32_t)host->index, &c, &p->list, &p->count))
            error = error_set(COVEY_EPROTO, "the daemon's answer makes no sense");
    }
    free(content);
    return error;
}

/* On failure nothing is left in the list. */
static int poll_hosts(struct poll *p, struct covey_host *hosts, int n)
{
    struct request **asked = calloc((size_t)n + 1, sizeof *asked);
    int error = asked == NULL ? error_code(COVEY_ENOMEM) : COVEY_OK;
    for (int i = 0; i < n && error == COVEY_OK; i++) {
        if (alive(&hosts[i]))
            asked[i] = request_begin(p->vm, p->kind, (uint32_t)hosts[i].index, NULL, 0);
    }
    for (int i = 0; i < n && asked != NULL; i++) {
        int one = asked[i] == NULL ? COVEY_OK : poll_collect(p, &asked[i], &hosts[i]);
        error = error == COVEY_OK ? one : error;
    }
    free(asked);
    if (error == COVEY_OK)
        return p->count;
    free(p->list);
    p->list = NULL;
    return error;
}

static int daemons_ask(struct covey *vm, uint8_t kind, int host, add_fn *add, void **list)
{
    struct covey_host *hosts = NULL;
    struct poll p = {.vm = vm, .kind = kind, .add = add, .deadline_us = clock_us() + ASK_US};
    int n = hosts_ask(vm, &hosts);
    if (n < 0)
        return n;
    int first = 0, last = n;
    for (int i = 0; i < n && host != 0; i++) {
        if (hosts[i].index == host) {
            first = i;
            last = i + 1;
        }
    }
    bool known = host == 0 || (last - first == 1 && hosts[first].index == host);
    int count = known ? poll_hosts(&p, hosts + first, last - first)
                      : error_set(COVEY_ENOHOST, "no host with index %d", host);
    free(hosts);
    *list = p.list;
    return count;
}

static bool add_task(uint32_t host, struct cursor *c, void **list, int *count)
{
    struct control_task row;
    control_get_task(c, &row);
    struct covey_task *tasks = array_grow(*list, (size_t)*count, sizeof *tasks);
    *list = tasks;
    if (tasks == NULL || !cursor_ok(c))
        return false;
    struct covey_task *task = &tasks[(*count)++];
    *task = (struct covey_task){.tid = (covey_tid_t)row.tid,
                                .parent = (covey_tid_t)row.parent,
                                .output = (covey_tid_t)row.sink,
                                .host = (int32_t)host,
                                .pid = row.pid,
                                .state = row.state};
    memcpy(task->command, row.command, sizeof task->command);
    return true;
}

int covey_tasks(covey_t *vm, int host, struct covey_task **list)
{
    void *tasks = NULL;
    if (vm == NULL || list == NULL || host < 0)
        return error_set(COVEY_EINVAL, "tasks: NULL or bad host");
    struct call call = call_begin(vm);
    int count = daemons_ask(vm, FRAME_TASKS, host, add_task, &tasks);
    if (count >= 0)
        *list = tasks;
    return call_end(vm, &call, count);
}

static int survey(struct poll *p, struct covey_host **hosts)
{
    int n = hosts_ask(p->vm, hosts);
    if (n < 0)
        return n;
    int error = poll_hosts(p, *hosts, n);
    if (error >= 0)
        return n;
    free(*hosts);
    *hosts = NULL;
    return error;
}

int tasks_survey(struct covey *vm, int64_t timeout_us, struct covey_host **hosts,
                 struct covey_task **tasks, int *task_count)
{
    struct poll p = {.vm = vm,
                     .kind = FRAME_TASKS,
                     .add = add_task,
                     .deadline_us = clock_us() + (uint64_t)timeout_us,
                     .silence_ok = true};
    int n = survey(&p, hosts);
    *tasks = p.list;
    *task_count = p.count;
    return n;
}

int covey_survey(covey_t *vm, int64_t timeout_us, struct covey_host **hosts,
                 struct covey_task **tasks, int *task_count)
{
    if (vm == NULL || timeout_us < 0 || hosts == NULL || tasks == NULL || task_count == NULL)
        return error_set(COVEY_EINVAL, "survey: NULL or bad timeout");
    struct call call = call_begin(vm);
    return call_end(vm, &call, tasks_survey(vm, timeout_us, hosts, tasks, task_count));
}

/* ---- figures --------------------------------------------------------------------------------- */

struct covey_host_stat host_stat_of(uint32_t host, const struct figures *figures)
{
    return (struct covey_host_stat){.host = (int32_t)host,
                                    .known = 1,
                                    .machine = figures->machine,
#define FIGURE_FIELD(number, field, name, help) .field = figures->values[FIGURE_##field],
                                    FIGURES(FIGURE_FIELD)
#undef FIGURE_FIELD
    };
}

static bool add_figures(uint32_t host, struct cursor *c, void **list, int *count)
{
    struct figures figures;
    figures_get(c, &figures);
    struct covey_host_stat *stats = array_grow(*list, (size_t)*count, sizeof *stats);
    *list = stats;
    if (stats == NULL || !cursor_ok(c))
        return false;
    stats[(*count)++] = host_stat_of(host, &figures);
    return true;
}

#define PAGES_SWAP 1048576.0 /* bytes a second */
#define PAGES_PRESSURE 0.1
#define PAGES_FREE 0.1 /* of the memory */
#define PAGES_FAULTS 100.0

int covey_host_pages(const struct covey_host_stat *s)
{
    if (s == NULL || !s->known)
        return 0;
    double swap = fmax(s->swap_in_bytes_per_s, 0) + fmax(s->swap_out_bytes_per_s, 0);
    bool is_full =
        s->memory_free_bytes >= 0 && s->memory_free_bytes < s->memory_total_bytes * PAGES_FREE;
    return swap >= PAGES_SWAP || s->memory_pressure >= PAGES_PRESSURE ||
           (is_full && s->major_faults_per_s >= PAGES_FAULTS);
}

static struct covey_host_stat stat_unknown(int32_t host)
{
    return (struct covey_host_stat){.host = host,
#define FIGURE_FIELD(number, field, name, help) .field = FIGURE_UNKNOWN,
                                    FIGURES(FIGURE_FIELD)
#undef FIGURE_FIELD
    };
}

/* One for each host, in their order; those that have answered stand in `found` in that order. */
static struct covey_host_stat *stats_beside(const struct covey_host *hosts, int n,
                                            const struct covey_host_stat *found, int count)
{
    struct covey_host_stat *stats = calloc((size_t)n, sizeof *stats);
    for (int i = 0, at = 0; i < n && stats != NULL; i++) {
        bool there = at < count && found[at].host == hosts[i].index;
        stats[i] = there ? found[at++] : stat_unknown(hosts[i].index);
    }
    return stats;
}

int host_stats_ask(struct covey *vm, int64_t timeout_us, struct covey_host **hosts,
                   struct covey_host_stat **stats)
{
    struct poll p = {.vm = vm,
                     .kind = FRAME_HOST_STAT,
                     .add = add_figures,
                     .deadline_us = clock_us() + (uint64_t)timeout_us,
                     .silence_ok = true};
    struct covey_host *list;
    int n = survey(&p, &list);
    struct covey_host_stat *all = n < 0 ? NULL : stats_beside(list, n, p.list, p.count);
    free(p.list);
    if (n < 0)
        return n;
    if (all == NULL) {
        free(list);
        return error_code(COVEY_ENOMEM);
    }
    *hosts = list;
    *stats = all;
    return n;
}

int covey_host_stats(covey_t *vm, int64_t timeout_us, struct covey_host **hosts,
                     struct covey_host_stat **stats)
{
    if (vm == NULL || timeout_us < 0 || hosts == NULL || stats == NULL)
        return error_set(COVEY_EINVAL, "host stats: NULL or bad timeout");
    struct call call = call_begin(vm);
    return call_end(vm, &call, host_stats_ask(vm, timeout_us, hosts, stats));
}

/* ---- clocks ---------------------------------------------------------------------------------- */

#define CLOCK_TRIES 3 /* a daemon that looks at its load first answers late */
#define CLOCK_S_MAX 1e12

/* A look at another clock. */
struct clock_look {
    int64_t there_us, ahead_us;
    uint64_t way_us; /* there and back */
};

static int clock_read(const uint8_t *content, size_t size, struct clock_look *look)
{
    struct figures figures;
    struct cursor c = cursor_reader(content, size);
    figures_get(&c, &figures);
    double clock_s = figures.values[FIGURE_clock_s];
    if (!cursor_ok(&c) || clock_s < 0 || clock_s > CLOCK_S_MAX)
        return error_set(COVEY_EPROTO, "the daemon did not tell its time");
    look->there_us = (int64_t)(clock_s * 1e6 + 0.5);
    return COVEY_OK;
}

static int clock_ask(struct covey *vm, uint32_t host, struct clock_look *look)
{
    uint8_t *content = NULL;
    size_t size = 0;
    uint64_t begin_us = clock_us();
    int error =
        request_call(vm, FRAME_HOST_STAT, host, NULL, 0, begin_us + ASK_US, &content, &size);
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    int64_t here_us = (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
    look->way_us = clock_us() - begin_us;
    if (error == COVEY_OK)
        error = clock_read(content, size, look);
    look->ahead_us = here_us - (int64_t)(look->way_us / 2) - look->there_us;
    free(content);
    return error;
}

/* The look that took the least time is the closest. */
static int clock_compare(struct covey *vm, uint32_t host, struct clock_look *best)
{
    best->way_us = UINT64_MAX;
    for (int i = 0; i < CLOCK_TRIES; i++) {
        struct clock_look look = {0};
        int error = clock_ask(vm, host, &look);
        if (error != COVEY_OK)
            return error;
        if (look.way_us < best->way_us)
            *best = look;
        best->there_us = look.there_us;
    }
    return COVEY_OK;
}

int covey_host_drain(covey_t *vm, int host, int64_t in_us)
{
    uint8_t body[8], *content = NULL;
    size_t size = 0;
    if (vm == NULL || host <= 0 || host > (int)HOST_INDEX_MAX)
        return error_set(COVEY_EINVAL, "host drain: NULL or bad host");
    struct cursor c = cursor_writer(body, sizeof body);
    cursor_put_u64(&c, in_us < 0 ? CONTROL_ENDS_NEVER : (uint64_t)in_us);
    struct call call = call_begin(vm);
    int error = request_call(vm, FRAME_DRAIN, (uint32_t)host, body, sizeof body,
                             clock_us() + ASK_US, &content, &size);
    free(content);
    return call_end(vm, &call, error);
}

int covey_host_clock(covey_t *vm, int host, int64_t *time_us, int64_t *ahead_us)
{
    struct clock_look look = {0};
    if (vm == NULL || host <= 0 || host > (int)HOST_INDEX_MAX)
        return error_set(COVEY_EINVAL, "host clock: NULL or bad host");
    struct call call = call_begin(vm);
    int error = clock_compare(vm, (uint32_t)host, &look);
    if (error == COVEY_OK && time_us != NULL)
        *time_us = look.there_us;
    if (error == COVEY_OK && ahead_us != NULL)
        *ahead_us = look.ahead_us;
    return call_end(vm, &call, error);
}

int covey_measure(covey_t *vm, int host)
{
    void *stats = NULL;
    if (vm == NULL || host < 0)
        return error_set(COVEY_EINVAL, "measure: NULL or bad host");
    struct call call = call_begin(vm);
    int count = daemons_ask(vm, FRAME_MEASURE, host, add_figures, &stats);
    vm->known.measured++;
    free(stats);
    return call_end(vm, &call, count);
}

/* ---- counters -------------------------------------------------------------------------------- */

static bool add_stat(uint32_t host, struct cursor *c, void **list, int *count)
{
    struct covey_stat row = {.host = (int32_t)host};
    cursor_get_text(c, row.name, sizeof row.name);
    row.value = cursor_get_u64(c);
    struct covey_stat *stats = array_grow(*list, (size_t)*count, sizeof *stats);
    *list = stats;
    if (stats == NULL || !cursor_ok(c))
        return false;
    stats[(*count)++] = row;
    return true;
}

const char *covey_stat_help(const char *name)
{
    return name == NULL ? NULL : counter_help(name);
}

int covey_stats(covey_t *vm, int host, struct covey_stat **list)
{
    void *stats = NULL;
    if (vm == NULL || list == NULL || host < 0)
        return error_set(COVEY_EINVAL, "stats: NULL or bad host");
    struct call call = call_begin(vm);
    int count = daemons_ask(vm, FRAME_STATS, host, add_stat, &stats);
    if (count >= 0)
        *list = stats;
    return call_end(vm, &call, count);
}

/* ---- logs ------------------------------------------------------------------------------------ */

static int piece_read(const uint8_t *content, size_t content_size, int64_t *offset, char *text,
                      size_t size)
{
    struct cursor c = cursor_reader(content, content_size);
    uint64_t at = cursor_get_u64(&c);
    size_t n = cursor_left(&c) < size ? cursor_left(&c) : size;
    if (!cursor_ok(&c) || at > INT64_MAX - CONTROL_LOG_BYTES || n > CONTROL_LOG_BYTES)
        return error_set(COVEY_EPROTO, "the daemon's answer makes no sense");
    memcpy(text, c.at, n);
    *offset = (int64_t)(at + n);
    return (int)n;
}

static int log_ask(struct covey *vm, uint32_t host, int64_t *offset, char *text, size_t size)
{
    uint8_t body[8];
    struct cursor c = cursor_writer(body, sizeof body);
    uint8_t *content = NULL;
    size_t content_size = 0;
    cursor_put_u64(&c, (uint64_t)*offset);
    int result = request_call(vm, FRAME_LOG, host, body, sizeof body, clock_us() + ASK_US, &content,
                              &content_size);
    if (result == COVEY_OK)
        result = piece_read(content, content_size, offset, text, size);
    free(content);
    return result;
}

int covey_log(covey_t *vm, int host, int64_t *offset, char *text, size_t size)
{
    bool good = vm != NULL && offset != NULL && text != NULL;
    if (!good || host <= 0 || host > (int)HOST_INDEX_MAX)
        return error_set(COVEY_EINVAL, "log: NULL or bad host");
    struct call call = call_begin(vm);
    return call_end(vm, &call, log_ask(vm, (uint32_t)host, offset, text, size));
}
