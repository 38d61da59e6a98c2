/*
 * slices.c - what tasks did, as intervals that lie in each other: what timelines are drawn of.
 *
 * Calls of several threads overlap: one of the two is cut where the other begins or ends. A part of
 * the program ends with the latest mark of its name, or with the task.
 */
#include <stdlib.h>

#include "tools/trace/forms.h"

static int by_time(const void *a, const void *b)
{
    const struct trace_slice *x = a, *y = b;
    int order = trace_order((struct trace_interval){x->task, x->begin_ns, x->end_ns},
                            (struct trace_interval){y->task, y->begin_ns, y->end_ns});
    return order != 0 ? order : y->kind - x->kind;
}

/* Where the part ends that begins with that event. */
static uint64_t part_end(const struct trace *trace, size_t at)
{
    const struct trace_event *e = &trace->events[at];
    const struct trace_task *task = &trace->tasks[e->task];
    int depth = 0;
    for (size_t i = at + 1; i < task->first + task->count; i++) {
        const struct trace_event *other = &trace->events[i];
        if (other->name != e->name)
            continue;
        depth += other->kind == TRACE_ENTER;
        if (other->kind == TRACE_LEAVE && depth-- == 0)
            return other->begin_ns;
    }
    return task->end_ns;
}

/* Of two that overlap the longer part stays: mostly they do by a moment, since the clocks of hosts
 * are only known so well, and then the first one ends where the second begins. Those that are cut
 * never begin before those that they lie in. */
static void nest(struct trace_slice *slices, size_t count, size_t *stack)
{
    size_t depth = 0;
    for (size_t i = 0; i < count; i++) {
        struct trace_slice *s = &slices[i];
        for (; depth > 0; depth--) {
            struct trace_slice *outer = &slices[stack[depth - 1]];
            if (outer->task == s->task && outer->end_ns > s->begin_ns) {
                uint64_t common_ns = outer->end_ns - s->begin_ns;
                if (s->end_ns <= outer->end_ns || common_ns > (s->end_ns - s->begin_ns) / 2)
                    break;
                outer->end_ns = s->begin_ns;
            }
        }
        if (depth > 0 && s->end_ns > slices[stack[depth - 1]].end_ns)
            s->end_ns = slices[stack[depth - 1]].end_ns;
        stack[depth++] = i;
    }
}

struct trace_slice *trace_slices(const struct trace *trace, size_t *count)
{
    struct trace_slice *slices = malloc((trace->event_count + 1) * sizeof *slices);
    size_t *stack = malloc((trace->event_count + 1) * sizeof *stack);
    *count = 0;
    for (size_t i = 0; slices != NULL && stack != NULL && i < trace->event_count; i++) {
        const struct trace_event *e = &trace->events[i];
        if (!e->call && e->kind != TRACE_ENTER && e->kind != TRACE_HELD)
            continue;
        uint64_t end_ns = e->kind == TRACE_ENTER ? part_end(trace, i) : e->end_ns;
        slices[(*count)++] = (struct trace_slice){e->begin_ns, end_ns, e->task, e->name, e->kind};
    }
    if (slices != NULL && stack != NULL) {
        qsort(slices, *count, sizeof *slices, by_time);
        nest(slices, *count, stack);
    } else {
        free(slices);
        slices = NULL;
    }
    free(stack);
    return slices;
}
