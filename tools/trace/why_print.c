/*
 * why_print.c - causes as sentences: what happened, what it cost, what may help.
 */
#include <stdlib.h>

#include "tools/trace/waits.h"
#include "tools/trace/why.h"

#define LONGEST 5

static double seconds(uint64_t ns)
{
    return (double)ns / 1e9;
}

/* "t40001 on h1" */
static void put_task(const struct trace *trace, uint32_t task, FILE *out)
{
    if (task == TRACE_NONE)
        fputs("a task that is not in the trace", out);
    else
        fprintf(out, "t%x on %s", trace->tasks[task].tid,
                trace->hosts[trace->tasks[task].host].name);
}

static void put_slow_task(const struct trace *trace, const struct why *why, FILE *out)
{
    put_task(trace, why->who, out);
    if (why->who == TRACE_NONE)
        fputs(" kept others waiting, such as the console or a task of another program", out);
    else if (why->ratio >= 1.3)
        fprintf(out,
                " kept the others waiting: it computed %.1f times as long as the middle one of the "
                "others. Give it less work, or use a bag, from which each takes what it can do",
                why->ratio);
    else
        fputs(
            " kept the others waiting, though it does not compute longer than others: they need "
            "what it makes. Let it send sooner, or let them do something else first (covey_irecv)",
            out);
}

static void put_link(const struct trace *trace, const struct why *why, FILE *out)
{
    const char *from = trace->hosts[why->who].name, *to = trace->hosts[why->whom].name;
    if (why->who == why->whom)
        fprintf(out, "messages within %s were waited for on their way, %.1f MB a second", from,
                why->rate / 1e6);
    else
        fprintf(out, "messages from %s to %s were waited for on their way, %.1f MB a second", from,
                to, why->rate / 1e6);
    if (why->who != why->whom && why->usual > 0 && why->rate < why->usual / 1.5)
        fprintf(out,
                ", while others go at %.1f. Look at that link, or place tasks that talk much "
                "on one host (covey run --traffic)",
                why->usual / 1e6);
    else
        fputs(". Send less or larger messages, or compute meanwhile (covey_isend, covey_irecv)",
              out);
}

static void put_cause(const struct trace *trace, const struct why *why, FILE *out)
{
    switch (why->kind) {
    case WHY_TASK:
        put_slow_task(trace, why, out);
        break;
    case WHY_HOST:
        fprintf(out,
                "%s is slow: each of its tasks computed %.1f times as long as the middle one of "
                "other hosts, or longer. Give it less, use a bag, or see what else runs there "
                "(covey top)",
                trace->hosts[why->who].name, why->ratio);
        break;
    case WHY_LINK:
        put_link(trace, why, out);
        break;
    case WHY_CREDIT:
        fputs("senders waited for credit: ", out);
        put_task(trace, why->who, out);
        fputs(" does not receive what comes. Let it receive sooner, or send it less", out);
        break;
    case WHY_TURN:
        fputs("sends waited for their turn on a link that is shared (contention in covey.conf)",
              out);
        break;
    case WHY_LOCK:
        fprintf(out, "the lock '%s' was waited for, most for ", trace->names[why->name]);
        put_task(trace, why->who, out);
        fputs(". Hold it for less, or have several locks", out);
        break;
    case WHY_ITEMS:
        fputs("workers waited for a bag that was empty. Put items sooner, or cut them smaller",
              out);
        break;
    case WHY_RESULTS:
        fputs("results of a bag were waited for: it has too few workers, or items that are too "
              "large. Start more workers, or cut the items smaller",
              out);
        break;
    default:
        put_task(trace, why->who, out);
        fprintf(out, " was in '%s' when the trace ended", trace->names[why->name]);
        if (why->whom != TRACE_NONE) {
            fputs(", waiting for ", out);
            put_task(trace, why->whom, out);
        }
        break;
    }
}

/* ---- the critical path ---- */

static void add_leg(void *context, uint32_t task, uint64_t begin_ns, uint64_t end_ns)
{
    uint64_t *on_path = context;
    on_path[task] += end_ns - begin_ns;
}

static void put_path(const struct trace *trace, const struct waits *waits, uint64_t *on_path,
                     FILE *out)
{
    trace_path(trace, waits, add_leg, on_path);
    fputs("\nThe critical path, on which nothing could begin sooner, is in:\n", out);
    for (int rank = 0; rank < LONGEST; rank++) {
        size_t most = 0;
        for (size_t t = 1; t < trace->task_count; t++)
            most = on_path[t] > on_path[most] ? t : most;
        if (trace->task_count == 0 || on_path[most] == 0)
            return;
        fputs("  ", out);
        put_task(trace, (uint32_t)most, out);
        fprintf(out, ": %.3f s, %.0f %%\n", seconds(on_path[most]),
                100.0 * (double)on_path[most] / (double)(trace->end_ns + 1));
        on_path[most] = 0;
    }
}

static void put_causes(const struct trace *trace, const struct why *causes, size_t count,
                       size_t most, FILE *out)
{
    uint64_t all_ns = 1;
    for (size_t t = 0; t < trace->task_count; t++)
        all_ns += trace->tasks[t].end_ns - trace->tasks[t].begin_ns;
    fprintf(out, "%zu tasks on %zu hosts, %.3f s.\n", trace->task_count, trace->host_count,
            seconds(trace->end_ns));
    if (count == 0)
        fputs("No task waited for anything.\n", out);
    for (size_t i = 0; i < count && i < most; i++) {
        fprintf(out, "%zu. %.1f %% of all tasks' time (%.3f s): ", i + 1,
                100.0 * (double)causes[i].cost_ns / (double)all_ns, seconds(causes[i].cost_ns));
        put_cause(trace, &causes[i], out);
        fputs(".\n", out);
    }
    if (count > most)
        fprintf(out, "%zu smaller causes are left out.\n", count - most);
}

bool why_print(const struct trace *trace, size_t most, FILE *out)
{
    struct waits waits;
    size_t count = 0;
    struct why *causes = why_find(trace, &count);
    if (causes == NULL || !waits_find(trace, &waits)) {
        free(causes);
        return false;
    }
    uint64_t *on_path = calloc(trace->task_count + 1, sizeof *on_path);
    bool good = on_path != NULL;
    if (good) {
        put_causes(trace, causes, count, most, out);
        good = waits_print(trace, &waits, LONGEST, out);
        put_path(trace, &waits, on_path, out);
    }
    free(on_path);
    waits_free(&waits);
    free(causes);
    return good;
}
