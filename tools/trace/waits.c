/*
 * waits.c - what tasks waited for.
 *
 * A receive waits from when its task began the call in which it ended: before, the task computed.
 * Until the message left, it is the sender that is late (Scalasca's "late sender"); from then on,
 * the message is on its way. A send that was held back for credit waits for a receiver that is
 * late. Who calls a collective waits for the member that calls last. Who asks for a lock waits as
 * long as others have it.
 */
#include "tools/trace/waits.h"

#include <stdlib.h>
#include <string.h>

struct finder {
    const struct trace *trace;
    struct waits *waits;
    size_t room;
    uint32_t *by_name; /* events of collectives, or of locks, in an order of their own */
};

static bool wait_add(struct finder *f, const struct wait *wait)
{
    struct waits *w = f->waits;
    if (wait->end_ns <= wait->begin_ns)
        return true;
    if (w->count == f->room) {
        size_t room = f->room == 0 ? 1024 : 2 * f->room;
        struct wait *more = realloc(w->items, room * sizeof *more);
        if (more == NULL)
            return false;
        w->items = more;
        f->room = room;
    }
    w->items[w->count++] = *wait;
    return true;
}

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t sooner(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* The call of the event's task in which that moment is; NULL: it computed. Calls are in the order
 * in which they begin, and lie beside each other but for those of several threads. */
static const struct trace_event *call_at(const struct trace *trace, size_t event, uint64_t at_ns)
{
    const struct trace_event *e = &trace->events[event];
    const struct trace_task *task = &trace->tasks[e->task];
    size_t low = task->first, high = task->first + task->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (trace->events[middle].begin_ns <= at_ns)
            low = middle + 1;
        else
            high = middle;
    }
    for (int looks = 0; low-- > task->first && looks < 64; looks++) {
        const struct trace_event *call = &trace->events[low];
        if (call->call && call->end_ns >= at_ns)
            return call;
    }
    return NULL;
}

/* ---- messages ---- */

static bool receive_waits(struct finder *f, size_t at)
{
    const struct trace *trace = f->trace;
    const struct trace_event *e = &trace->events[at];
    const struct trace_event *call = e->call ? e : call_at(trace, at, e->end_ns);
    if (call == NULL)
        return true; /* it came while the task computed */
    struct wait wait = {.begin_ns = later(e->begin_ns, call->begin_ns),
                        .end_ns = e->end_ns,
                        .freed_ns = e->end_ns,
                        .task = e->task,
                        .other = TRACE_NONE,
                        .name = call->name,
                        .event = (uint32_t)at,
                        .cause = WAIT_SENDER};
    if (e->match == TRACE_NONE)
        return wait_add(f, &wait);
    const struct trace_event *sent = &trace->events[e->match];
    uint64_t end_ns = wait.end_ns;
    wait.other = sent->task;
    wait.freed_ns = sent->begin_ns;
    wait.end_ns = sooner(end_ns, sent->begin_ns);
    if (!wait_add(f, &wait))
        return false;
    wait.begin_ns = later(wait.begin_ns, sent->begin_ns);
    wait.end_ns = end_ns;
    wait.cause = WAIT_TRANSFER;
    return wait_add(f, &wait);
}

/* What the task was in a call for meanwhile. */
static bool held_waits(struct finder *f, size_t at)
{
    const struct trace *trace = f->trace;
    const struct trace_event *e = &trace->events[at];
    const struct trace_event *call = call_at(trace, at, e->end_ns);
    if (call == NULL)
        return true;
    const struct wait wait = {.begin_ns = later(e->begin_ns, call->begin_ns),
                              .end_ns = e->end_ns,
                              .freed_ns = e->end_ns,
                              .task = e->task,
                              .other = trace_find(trace, e->peer),
                              .name = call->name,
                              .event = (uint32_t)at,
                              .cause = e->sequence == TRACE_HELD_CREDIT ? WAIT_CREDIT : WAIT_TURN};
    return wait_add(f, &wait);
}

static bool open_waits(struct finder *f, size_t at)
{
    const struct trace *trace = f->trace;
    const struct trace_event *e = &trace->events[at];
    const struct wait wait = {.begin_ns = e->begin_ns,
                              .end_ns = later(e->end_ns, trace->tasks[e->task].end_ns),
                              .freed_ns = e->end_ns,
                              .task = e->task,
                              .other = trace_find(trace, e->peer),
                              .name = e->name,
                              .event = (uint32_t)at,
                              .cause = WAIT_NEVER};
    return wait_add(f, &wait);
}

static bool bag_waits(struct finder *f, size_t at)
{
    const struct trace_event *e = &f->trace->events[at];
    const char *name = f->trace->names[e->name];
    bool takes = strcmp(name, "bag_take") == 0, results = strcmp(name, "bag_result") == 0;
    if (!takes && !results && strcmp(name, "bag_wait") != 0)
        return true;
    const struct wait wait = {.begin_ns = e->begin_ns,
                              .end_ns = e->end_ns,
                              .freed_ns = e->end_ns,
                              .task = e->task,
                              .other = TRACE_NONE,
                              .name = e->name,
                              .event = (uint32_t)at,
                              .cause = takes ? WAIT_ITEMS : WAIT_RESULTS};
    return wait_add(f, &wait);
}

/* ---- what belongs together: collectives, locks ---- */

static int by_group(const void *a, const void *b, void *context)
{
    const struct trace *trace = context;
    const struct trace_event *x = &trace->events[*(const uint32_t *)a];
    const struct trace_event *y = &trace->events[*(const uint32_t *)b];
    if (x->peer != y->peer)
        return x->peer < y->peer ? -1 : 1;
    if (x->name != y->name)
        return x->name < y->name ? -1 : 1;
    if (x->kind == TRACE_COLLECTIVE && x->tag != y->tag)
        return x->tag < y->tag ? -1 : 1;
    if (x->begin_ns != y->begin_ns)
        return x->begin_ns < y->begin_ns ? -1 : 1;
    return x < y ? -1 : x > y;
}

static bool same_group(const struct trace_event *x, const struct trace_event *y)
{
    return x->peer == y->peer && x->name == y->name &&
           (x->kind != TRACE_COLLECTIVE || x->tag == y->tag);
}

/* Of one kind; returns how many, grouped. */
static size_t group_all(struct finder *f, int kind)
{
    const struct trace *trace = f->trace;
    size_t count = 0;
    for (size_t i = 0; i < trace->event_count; i++)
        if (trace->events[i].kind == kind)
            f->by_name[count++] = (uint32_t)i;
    union {
        const struct trace *from;
        void *to;
    } context = {trace};
    qsort_r(f->by_name, count, sizeof *f->by_name, by_group, context.to);
    return count;
}

/* All calls of one number, of which the last is the one that began last. */
static bool collective_waits(struct finder *f, const uint32_t *calls, size_t count)
{
    const struct trace *trace = f->trace;
    const struct trace_event *last = &trace->events[calls[count - 1]];
    for (size_t i = 0; i + 1 < count; i++) {
        const struct trace_event *e = &trace->events[calls[i]];
        const struct wait wait = {.begin_ns = e->begin_ns,
                                  .end_ns = sooner(e->end_ns, last->begin_ns),
                                  .freed_ns = last->begin_ns,
                                  .task = e->task,
                                  .other = last->task,
                                  .name = e->name,
                                  .event = calls[i],
                                  .cause = WAIT_COLLECTIVE};
        if (!wait_add(f, &wait))
            return false;
    }
    return true;
}

#define HOLDERS 256 /* calls of others that are looked at for one who asks for a lock */

/* When a task that took a lock then gave it back. */
static uint64_t given_back(const struct trace *trace, const uint32_t *calls, size_t count,
                           size_t at)
{
    const struct trace_event *taken = &trace->events[calls[at]];
    for (size_t i = at + 1; i < count && i < at + 2 * HOLDERS; i++) {
        const struct trace_event *e = &trace->events[calls[i]];
        if (e->task == taken->task && e->sequence == TRACE_SERVICE_GIVE &&
            e->begin_ns >= taken->end_ns)
            return e->begin_ns;
    }
    return trace->tasks[taken->task].end_ns;
}

/* All that was done with one lock, in the order in which it was begun. Others who have it while a
 * task asks for it are before it in that order, or got it before it. */
static bool lock_waits(struct finder *f, const uint32_t *calls, size_t count)
{
    const struct trace *trace = f->trace;
    for (size_t i = 0; i < count; i++) {
        const struct trace_event *e = &trace->events[calls[i]];
        if (e->sequence != TRACE_SERVICE_TAKE)
            continue;
        size_t from = i > HOLDERS ? i - HOLDERS : 0, to = i + HOLDERS < count ? i + HOLDERS : count;
        for (size_t k = from; k < to; k++) {
            const struct trace_event *had = &trace->events[calls[k]];
            if (had->sequence != TRACE_SERVICE_TAKE || had->task == e->task ||
                had->end_ns >= e->end_ns)
                continue;
            uint64_t back_ns = given_back(trace, calls, count, k);
            const struct wait wait = {.begin_ns = later(e->begin_ns, had->end_ns),
                                      .end_ns = sooner(e->end_ns, back_ns),
                                      .freed_ns = back_ns,
                                      .task = e->task,
                                      .other = had->task,
                                      .name = e->name,
                                      .event = calls[i],
                                      .cause = WAIT_LOCK};
            if (!wait_add(f, &wait))
                return false;
        }
    }
    return true;
}

static bool groups_wait(struct finder *f, int kind)
{
    size_t count = group_all(f, kind), first = 0;
    for (size_t i = 1; i <= count; i++) {
        if (i < count &&
            same_group(&f->trace->events[f->by_name[i]], &f->trace->events[f->by_name[first]]))
            continue;
        bool good = kind == TRACE_COLLECTIVE ? collective_waits(f, f->by_name + first, i - first)
                                             : lock_waits(f, f->by_name + first, i - first);
        if (!good)
            return false;
        first = i;
    }
    return true;
}

/* ---- all ---- */

static bool event_waits(struct finder *f, size_t at)
{
    switch (f->trace->events[at].kind) {
    case TRACE_RECEIVE:
        return receive_waits(f, at);
    case TRACE_HELD:
        return held_waits(f, at);
    case TRACE_OPEN:
        return open_waits(f, at);
    case TRACE_CALL:
        return bag_waits(f, at);
    default:
        return true;
    }
}

static int by_task_and_end(const void *a, const void *b)
{
    const struct wait *x = a, *y = b;
    if (x->task != y->task)
        return x->task < y->task ? -1 : 1;
    if (x->end_ns != y->end_ns)
        return x->end_ns < y->end_ns ? -1 : 1;
    return x->begin_ns < y->begin_ns ? -1 : x->begin_ns > y->begin_ns;
}

bool waits_find(const struct trace *trace, struct waits *waits)
{
    struct finder f = {.trace = trace, .waits = waits};
    *waits = (struct waits){0};
    f.by_name = malloc((trace->event_count + 1) * sizeof *f.by_name);
    waits->first = calloc(trace->task_count + 2, sizeof *waits->first);
    bool good = f.by_name != NULL && waits->first != NULL;
    for (size_t i = 0; i < trace->event_count && good; i++)
        good = event_waits(&f, i);
    good = good && groups_wait(&f, TRACE_COLLECTIVE) && groups_wait(&f, TRACE_SERVICE);
    free(f.by_name);
    if (!good) {
        waits_free(waits);
        return false;
    }
    if (waits->count > 1)
        qsort(waits->items, waits->count, sizeof *waits->items, by_task_and_end);
    for (size_t i = 0; i < waits->count; i++)
        waits->first[waits->items[i].task + 1]++;
    for (size_t i = 0; i < trace->task_count; i++)
        waits->first[i + 1] += waits->first[i];
    return true;
}

void waits_free(struct waits *waits)
{
    free(waits->items);
    free(waits->first);
    *waits = (struct waits){0};
}

uint64_t *trace_computed(const struct trace *trace)
{
    uint64_t *computed = calloc(trace->task_count + 1, sizeof *computed);
    for (size_t t = 0; computed != NULL && t < trace->task_count; t++) {
        const struct trace_task *task = &trace->tasks[t];
        uint64_t until_ns = task->begin_ns;
        for (size_t i = task->first; i < task->first + task->count; i++) {
            const struct trace_event *e = &trace->events[i];
            if (!e->call)
                continue;
            computed[t] += e->begin_ns > until_ns ? e->begin_ns - until_ns : 0;
            until_ns = later(until_ns, e->end_ns);
        }
        computed[t] += task->end_ns > until_ns ? task->end_ns - until_ns : 0;
    }
    return computed;
}

/* ---- the critical path ---- */

/* The last wait of the task that ended then or before, for another task that is known. */
static const struct wait *wait_before(const struct waits *waits, uint32_t task, uint64_t at_ns)
{
    size_t low = waits->first[task], high = waits->first[task + 1], first = low;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (waits->items[middle].end_ns <= at_ns)
            low = middle + 1;
        else
            high = middle;
    }
    while (low-- > first) {
        const struct wait *w = &waits->items[low];
        if (w->other != TRACE_NONE && w->other != task && w->freed_ns < at_ns &&
            w->cause != WAIT_CREDIT && w->cause != WAIT_NEVER)
            return w;
    }
    return NULL;
}

void trace_path(const struct trace *trace, const struct waits *waits, trace_leg_fn *leg,
                void *context)
{
    uint32_t task = 0;
    for (size_t i = 0; i < trace->task_count; i++)
        if (trace->tasks[i].end_ns > trace->tasks[task].end_ns)
            task = (uint32_t)i;
    uint64_t at_ns = trace->task_count == 0 ? 0 : trace->tasks[task].end_ns;
    while (trace->task_count > 0) {
        const struct wait *w = wait_before(waits, task, at_ns);
        uint64_t from_ns = w == NULL ? trace->tasks[task].begin_ns : w->freed_ns;
        if (at_ns > from_ns)
            leg(context, task, from_ns, at_ns);
        if (w == NULL || from_ns >= at_ns)
            return;
        task = w->other;
        at_ns = from_ns;
    }
}
