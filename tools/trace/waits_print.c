/*
 * waits_print.c - the longest waits of a trace as sentences.
 */
#include <stdlib.h>

#include "tools/trace/waits.h"

struct pair {
    uint32_t task, other, name;
    enum wait_cause cause;
    uint64_t ns;
};

static int by_pair(const void *a, const void *b)
{
    const struct pair *x = a, *y = b;
    if (x->task != y->task)
        return x->task < y->task ? -1 : 1;
    if (x->other != y->other)
        return x->other < y->other ? -1 : 1;
    if (x->name != y->name)
        return x->name < y->name ? -1 : 1;
    return (int)x->cause - (int)y->cause;
}

static int by_time(const void *a, const void *b)
{
    const struct pair *x = a, *y = b;
    return x->ns > y->ns ? -1 : x->ns < y->ns ? 1 : by_pair(a, b);
}

static const char *const verbs[WAIT_CAUSE_COUNT] = {
    [WAIT_SENDER] = "to send",     [WAIT_TRANSFER] = ", whose message was on its way",
    [WAIT_CREDIT] = "to receive",  [WAIT_TURN] = ", to which it was not its turn to send",
    [WAIT_LOCK] = "to unlock",     [WAIT_COLLECTIVE] = "to call it, too",
    [WAIT_ITEMS] = "for items",    [WAIT_RESULTS] = "for results",
    [WAIT_NEVER] = "until the end"};

/* Those of one task for one other, in one call and of one cause, as one; returns how many. */
static size_t collect(const struct waits *waits, struct pair *pairs)
{
    size_t used = 0;
    for (size_t i = 0; i < waits->count; i++) {
        const struct wait *w = &waits->items[i];
        pairs[i] = (struct pair){w->task, w->other, w->name, w->cause, w->end_ns - w->begin_ns};
    }
    qsort(pairs, waits->count, sizeof *pairs, by_pair);
    for (size_t i = 0; i < waits->count; i++) {
        if (used > 0 && by_pair(&pairs[used - 1], &pairs[i]) == 0)
            pairs[used - 1].ns += pairs[i].ns;
        else
            pairs[used++] = pairs[i];
    }
    qsort(pairs, used, sizeof *pairs, by_time);
    return used;
}

static void put_pair(const struct trace *trace, const struct pair *p, FILE *out)
{
    const struct trace_task *task = &trace->tasks[p->task];
    fprintf(out, "  t%x waited %.3f s, %.0f %% of its time, in %s", task->tid, (double)p->ns / 1e9,
            100.0 * (double)p->ns / (double)(task->end_ns - task->begin_ns + 1),
            trace->names[p->name]);
    if (p->other != TRACE_NONE)
        fprintf(out, " for t%x", trace->tasks[p->other].tid);
    fprintf(out, "%s%s\n", verbs[p->cause][0] == ',' ? "" : " ", verbs[p->cause]);
}

bool waits_print(const struct trace *trace, const struct waits *waits, size_t most, FILE *out)
{
    struct pair *pairs = malloc((waits->count + 1) * sizeof *pairs);
    if (pairs == NULL)
        return false;
    size_t count = collect(waits, pairs);
    fputs(count > 0 ? "\nThe longest waits:\n" : "", out);
    for (size_t i = 0; i < count && i < most; i++)
        put_pair(trace, &pairs[i], out);
    free(pairs);
    return true;
}
