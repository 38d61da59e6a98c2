/*
 * why.c - what is behind the waits of a trace.
 *
 * A task that waits for another one often waits for a third: the second waits, too. So each wait is
 * followed: as far as the other task waited itself meanwhile, what that waited for is the cause,
 * and as far as it did not, the other task is. Time that all causes of one kind and one culprit
 * took is what they cost.
 */
#include "tools/trace/why.h"

#include <stdlib.h>
#include <string.h>

#include "tools/trace/waits.h"

#define DEPTH_MAX 6  /* tasks that wait for each other, one behind the other */
#define STEPS_MAX 64 /* waits of one task that are looked at for one of another */

struct causes {
    const struct trace *trace;
    const struct waits *waits;
    struct why *items;
    size_t count, room;
    bool failed;
    uint64_t *bytes; /* of links, beside items */
};

static void cause_add(struct causes *c, const struct why *why, uint64_t bytes)
{
    size_t i = 0;
    while (i < c->count && (c->items[i].kind != why->kind || c->items[i].who != why->who ||
                            c->items[i].whom != why->whom || c->items[i].name != why->name))
        i++;
    if (i == c->count && c->count == c->room) {
        size_t room = c->room == 0 ? 64 : 2 * c->room;
        struct why *items = realloc(c->items, room * sizeof *items);
        c->items = items != NULL ? items : c->items;
        uint64_t *sums = realloc(c->bytes, room * sizeof *sums);
        c->bytes = sums != NULL ? sums : c->bytes;
        c->failed = c->failed || items == NULL || sums == NULL;
        if (c->failed)
            return;
        c->room = room;
    }
    if (i == c->count) {
        c->items[c->count++] =
            (struct why){.kind = why->kind, .who = why->who, .whom = why->whom, .name = why->name};
        c->bytes[i] = 0;
    }
    c->items[i].cost_ns += why->cost_ns;
    c->bytes[i] += bytes;
}

/* The task and what it did itself in that time cost others so much. */
static void blame_task(struct causes *c, uint32_t task, uint64_t ns)
{
    cause_add(c, &(struct why){WHY_TASK, .cost_ns = ns, .who = task, .whom = TRACE_NONE}, 0);
}

static void follow(struct causes *c, const struct wait *w, uint64_t begin_ns, uint64_t end_ns,
                   int depth);

/* What the other task did from then to then: what it waited for, and the rest is its own. */
static void follow_task(struct causes *c, uint32_t task, uint64_t begin_ns, uint64_t end_ns,
                        int depth)
{
    const struct waits *waits = c->waits;
    size_t low = waits->first[task], high = waits->first[task + 1], last = high;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (waits->items[middle].end_ns <= begin_ns)
            low = middle + 1;
        else
            high = middle;
    }
    uint64_t at_ns = begin_ns, own_ns = 0;
    for (size_t i = low, steps = 0; i < last && depth < DEPTH_MAX && steps < STEPS_MAX;
         i++, steps++) {
        const struct wait *w = &waits->items[i];
        uint64_t from_ns = w->begin_ns > at_ns ? w->begin_ns : at_ns;
        uint64_t to_ns = w->end_ns < end_ns ? w->end_ns : end_ns;
        if (w->begin_ns >= end_ns)
            break;
        if (from_ns >= to_ns)
            continue;
        own_ns += from_ns - at_ns;
        follow(c, w, from_ns, to_ns, depth + 1);
        at_ns = to_ns;
    }
    own_ns += end_ns - at_ns;
    if (own_ns > 0)
        blame_task(c, task, own_ns);
}

static void blame_link(struct causes *c, const struct wait *w, uint64_t ns)
{
    const struct trace *trace = c->trace;
    const struct trace_event *e = &trace->events[w->event];
    cause_add(c,
              &(struct why){WHY_LINK, .cost_ns = ns, .who = trace->tasks[w->other].host,
                            .whom = trace->tasks[w->task].host},
              e->bytes);
}

/* The cause of a part of a wait. */
static void follow(struct causes *c, const struct wait *w, uint64_t begin_ns, uint64_t end_ns,
                   int depth)
{
    uint64_t ns = end_ns - begin_ns;
    struct why why = {.cost_ns = ns, .who = w->other, .whom = TRACE_NONE};
    switch (w->cause) {
    case WAIT_TRANSFER:
        blame_link(c, w, ns);
        return;
    case WAIT_CREDIT:
        why.kind = WHY_CREDIT;
        break;
    case WAIT_TURN:
        why.kind = WHY_TURN;
        why.who = TRACE_NONE;
        break;
    case WAIT_LOCK:
        why.kind = WHY_LOCK;
        why.name = w->name;
        why.who = TRACE_NONE; /* see holder_find() */
        break;
    case WAIT_ITEMS:
        why.kind = WHY_ITEMS;
        break;
    case WAIT_RESULTS:
        why.kind = WHY_RESULTS;
        break;
    case WAIT_NEVER:
        why = (struct why){WHY_NEVER, .cost_ns = ns, .who = w->task, .whom = w->other,
                           .name = w->name};
        break;
    default:
        if (w->other != TRACE_NONE && w->other != w->task)
            follow_task(c, w->other, begin_ns, end_ns, depth);
        if (w->other == TRACE_NONE)
            blame_task(c, TRACE_NONE, ns);
        return;
    }
    cause_add(c, &why, 0);
}

/* ---- how the culprits compare with others ---- */

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Of those that are not 0; 0: there are none. */
static double median(double *values, size_t count)
{
    size_t used = 0;
    for (size_t i = 0; i < count; i++)
        if (values[i] > 0)
            values[used++] = values[i];
    if (used == 0)
        return 0;
    qsort(values, used, sizeof *values, by_value);
    return used % 2 == 1 ? values[used / 2] : (values[used / 2 - 1] + values[used / 2]) / 2;
}

/* Times as long as tasks elsewhere compute: the other tasks, or those of other hosts. */
static double task_ratio(const struct trace *trace, const uint64_t *computed, double *values,
                         uint32_t task)
{
    size_t n = 0;
    for (uint32_t t = 0; t < trace->task_count; t++)
        if (t != task)
            values[n++] = (double)computed[t];
    double middle = median(values, n);
    return middle > 0 ? (double)computed[task] / middle : 0;
}

/* The least of the tasks of a host, of which there are two or more; 0 else. */
static double host_ratio(const struct trace *trace, const uint64_t *computed, double *values,
                         uint32_t host)
{
    size_t n = 0, here = 0;
    double least = 0;
    for (uint32_t t = 0; t < trace->task_count; t++) {
        if (trace->tasks[t].host != host)
            values[n++] = (double)computed[t];
        else if (here++ == 0 || (double)computed[t] < least)
            least = (double)computed[t];
    }
    double middle = median(values, n);
    return here >= 2 && middle > 0 ? least / middle : 0;
}

#define SLOW 1.3 /* times as long as others: no accident */

/* Tasks of a host that all compute longer than those of others are one cause: the host. */
static void hosts_find(struct causes *c, const uint64_t *computed, double *values)
{
    const struct trace *trace = c->trace;
    for (uint32_t h = 0; h < trace->host_count; h++) {
        double ratio = host_ratio(trace, computed, values, h);
        if (ratio < SLOW)
            continue;
        uint64_t cost_ns = 0;
        for (size_t i = 0; i < c->count; i++) {
            struct why *why = &c->items[i];
            if (why->kind != WHY_TASK || why->who == TRACE_NONE || trace->tasks[why->who].host != h)
                continue;
            cost_ns += why->cost_ns;
            why->cost_ns = 0;
        }
        size_t before = c->count;
        cause_add(c, &(struct why){WHY_HOST, .cost_ns = cost_ns, .who = h, .whom = TRACE_NONE}, 0);
        if (c->count > before)
            c->items[before].ratio = ratio;
    }
}

static void links_compare(struct causes *c, double *values)
{
    for (size_t i = 0; i < c->count; i++) {
        struct why *link = &c->items[i];
        if (link->kind != WHY_LINK || link->cost_ns == 0)
            continue;
        link->rate = (double)c->bytes[i] * 1e9 / (double)link->cost_ns;
        size_t n = 0;
        for (size_t k = 0; k < c->count; k++) {
            const struct why *other = &c->items[k];
            if (k != i && other->kind == WHY_LINK && other->cost_ns > 0 &&
                other->who != other->whom)
                values[n++] = (double)c->bytes[k] * 1e9 / (double)other->cost_ns;
        }
        link->usual = median(values, n);
    }
}

/* Slower than any network that is in use: messages this small are late, not long. */
#define LATE_BYTES_PER_S 1e5

static bool is_slow_at(const struct causes *c, const struct why *why, uint32_t host)
{
    if (why->cost_ns == 0 || why->ratio < SLOW)
        return false;
    return why->kind == WHY_HOST ? why->who == host
                                 : why->kind == WHY_TASK && c->trace->tasks[why->who].host == host;
}

/* Who has little of a processor sends and receives late, too: what that costs is the host's, or its
 * task's, not a link's. */
static void links_excuse(struct causes *c)
{
    for (size_t i = 0; i < c->count; i++) {
        struct why *link = &c->items[i];
        if (link->kind != WHY_LINK || link->rate >= LATE_BYTES_PER_S)
            continue;
        const uint32_t ends[] = {link->who, link->whom};
        for (size_t k = 0; k < 2 * c->count && link->cost_ns > 0; k++) {
            struct why *slow = &c->items[k % c->count];
            if (!is_slow_at(c, slow, ends[k / c->count]))
                continue;
            slow->cost_ns += link->cost_ns;
            link->cost_ns = 0;
        }
    }
}

/* Who of those that waiters of a lock waited for had it longest. */
static void holder_find(const struct causes *c, struct why *lock, uint64_t *had)
{
    memset(had, 0, (c->trace->task_count + 1) * sizeof *had);
    for (size_t i = 0; i < c->waits->count; i++) {
        const struct wait *w = &c->waits->items[i];
        if (w->cause == WAIT_LOCK && w->name == lock->name)
            had[w->other] += w->end_ns - w->begin_ns;
    }
    for (uint32_t t = 0; t < c->trace->task_count; t++)
        if (had[t] > 0 && (lock->who == TRACE_NONE || had[t] > had[lock->who]))
            lock->who = t;
}

/* A task waits for ever for the one that is stuck first; the most time is lost for links, locks and
 * tasks that are slow. */
static int by_cost(const void *a, const void *b)
{
    const struct why *x = a, *y = b;
    bool x_stuck = x->kind == WHY_NEVER, y_stuck = y->kind == WHY_NEVER;
    if (x_stuck != y_stuck)
        return x_stuck ? -1 : 1;
    if (x->cost_ns != y->cost_ns)
        return x->cost_ns > y->cost_ns ? -1 : 1;
    return x->who < y->who ? -1 : x->who > y->who;
}

static void compare_all(struct causes *c, const uint64_t *computed, double *values, uint64_t *had)
{
    for (size_t i = 0; i < c->count; i++) {
        if (c->items[i].kind == WHY_TASK && c->items[i].who != TRACE_NONE)
            c->items[i].ratio = task_ratio(c->trace, computed, values, c->items[i].who);
        if (c->items[i].kind == WHY_LOCK)
            holder_find(c, &c->items[i], had);
    }
    hosts_find(c, computed, values);
    links_compare(c, values);
    links_excuse(c);
}

static struct why *causes_end(struct causes *c, size_t *count)
{
    const struct trace *trace = c->trace;
    size_t values_count = trace->task_count + c->count + trace->host_count + 1;
    uint64_t *computed = trace_computed(trace);
    uint64_t *had = malloc((trace->task_count + 1) * sizeof *had);
    double *values = malloc(values_count * sizeof *values);
    if (c->items == NULL)
        c->items = calloc(1, sizeof *c->items);
    c->failed = c->failed || computed == NULL || values == NULL || had == NULL || c->items == NULL;
    if (!c->failed)
        compare_all(c, computed, values, had);
    free(computed);
    free(values);
    free(had);
    free(c->bytes);
    if (c->failed) {
        free(c->items);
        return NULL;
    }
    qsort(c->items, c->count, sizeof *c->items, by_cost);
    while (c->count > 0 && c->items[c->count - 1].cost_ns == 0)
        c->count--;
    *count = c->count;
    return c->items;
}

struct why *why_find(const struct trace *trace, size_t *count)
{
    struct waits waits;
    struct causes c = {.trace = trace, .waits = &waits};
    *count = 0;
    if (!waits_find(trace, &waits))
        return NULL;
    for (size_t i = 0; i < waits.count && !c.failed; i++)
        follow(&c, &waits.items[i], waits.items[i].begin_ns, waits.items[i].end_ns, 0);
    struct why *found = causes_end(&c, count);
    waits_free(&waits);
    return found;
}
