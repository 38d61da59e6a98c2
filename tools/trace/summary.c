/*
 * summary.c - where the time of each task went.
 */
#include "tools/trace/summary.h"

#include <stdlib.h>

#include "tools/list/table.h"
#include "tools/trace/waits.h"

static uint64_t span(const struct trace_task *task)
{
    return task->end_ns - task->begin_ns;
}

static double share(uint64_t part_ns, uint64_t whole_ns)
{
    return whole_ns == 0 ? 0 : 100.0 * (double)part_ns / (double)whole_ns;
}

/* Waits of several threads lie over each other: together they are no more than there is. */
static uint64_t waited(const struct waits *waits, uint32_t task, uint64_t most_ns)
{
    uint64_t sum_ns = 0;
    for (size_t i = waits->first[task]; i < waits->first[task + 1]; i++)
        sum_ns += waits->items[i].end_ns - waits->items[i].begin_ns;
    return sum_ns < most_ns ? sum_ns : most_ns;
}

static void add_task(struct table *table, const struct trace *trace, const struct waits *waits,
                     uint32_t t, uint64_t computed_ns)
{
    const struct trace_task *task = &trace->tasks[t];
    uint64_t whole_ns = span(task), sent = 0, bytes = 0;
    uint64_t waited_ns = waited(waits, t, whole_ns - computed_ns);
    for (size_t i = task->first; i < task->first + task->count; i++) {
        sent += trace_is_send(&trace->events[i]);
        bytes += trace_is_send(&trace->events[i]) ? trace->events[i].bytes : 0;
    }
    TABLE_ROW(table, CELL("t%x", task->tid), trace->hosts[task->host].name,
              CELL("%.3f", (double)whole_ns / 1e9), CELL("%.1f", share(computed_ns, whole_ns)),
              CELL("%.1f", share(whole_ns - computed_ns - waited_ns, whole_ns)),
              CELL("%.1f", share(waited_ns, whole_ns)), CELL("%llu", (unsigned long long)sent),
              CELL("%llu", (unsigned long long)bytes), task->command);
}

bool trace_summary(const struct trace *trace, size_t most, FILE *out)
{
    static const char *const columns[] = {"TASK",    "HOST",    ">SECONDS",  ">COMPUTES%",
                                          ">CALLS%", ">WAITS%", ">MESSAGES", ">BYTES",
                                          "COMMAND", NULL};
    struct waits waits;
    uint64_t *computed = trace_computed(trace);
    if (computed == NULL || !waits_find(trace, &waits)) {
        free(computed);
        return false;
    }
    struct table *table = table_create(columns);
    for (uint32_t t = 0; t < trace->task_count; t++)
        add_task(table, trace, &waits, t, computed[t]);
    bool good = table_print(table, out) == 0;
    table_destroy(table);
    fprintf(out, "%zu events of %zu tasks on %zu hosts in %.3f s", trace->event_count,
            trace->task_count, trace->host_count, (double)trace->end_ns / 1e9);
    fputs(most > 0 ? "\n" : "; what they waited for: covey trace --why\n", out);
    good = (most == 0 || waits_print(trace, &waits, most, out)) && good;
    waits_free(&waits);
    free(computed);
    return good;
}
