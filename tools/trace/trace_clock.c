/*
 * trace_clock.c - one clock for all hosts.
 *
 * Each question to a daemon tells by how much its host's clock is ahead: the answer's time less the
 * middle between question and answer, and wrong by half the way there and back at most (Cristian).
 * So the quickest answers count: one of the first half of the trace, and one of the second, between
 * which clocks drift apart evenly. What is left over shows in messages that arrive before they
 * left. Each says of a pair of hosts by how much at least one clock must be moved against the
 * other; the least moves that satisfy all are the longest paths in the graph of these bounds, found
 * as Bellman and Ford do. Where bounds contradict each other, as clocks have not drifted evenly,
 * the rest is mended message by message, and counted.
 */
#include <stdlib.h>

#include "tools/trace/trace.h"

struct line {
    double at_ns, ahead_ns, rate; /* ahead(t) = ahead + rate * (t - at), t on the host's clock */
};

static const struct trace_look *quickest(const struct trace_host *host, size_t from, size_t to)
{
    const struct trace_look *best = NULL;
    for (size_t i = from; i < to; i++) {
        const struct trace_look *look = &host->looks[i];
        if (best == NULL || look->after_ns - look->before_ns < best->after_ns - best->before_ns)
            best = look;
    }
    return best;
}

static double ahead(const struct trace_look *look)
{
    double middle = (double)look->before_ns + (double)(look->after_ns - look->before_ns) / 2;
    return (double)look->host_ns - middle;
}

#define DRIFT_NS 1e9   /* so far apart two looks must be to tell a drift */
#define DRIFT_MAX 1e-3 /* what is more is no clock's */

static struct line line_of(const struct trace_host *host)
{
    size_t half = host->look_count / 2;
    const struct trace_look *a = quickest(host, 0, half),
                            *b = quickest(host, half, host->look_count);
    const struct trace_look *best = quickest(host, 0, host->look_count);
    struct line line = {0};
    if (best == NULL)
        return line;
    line.at_ns = (double)best->host_ns;
    line.ahead_ns = ahead(best);
    if (a != NULL && b != NULL && (double)b->host_ns - (double)a->host_ns > DRIFT_NS)
        line.rate = (ahead(b) - ahead(a)) / ((double)b->host_ns - (double)a->host_ns);
    if (line.rate > DRIFT_MAX || line.rate < -DRIFT_MAX)
        line.rate = 0;
    return line;
}

/* Times are TRACE_TIME_MAX at most, so that none overflows. */
static uint64_t moved(uint64_t ns, double by_ns)
{
    if (by_ns >= (double)TRACE_TIME_MAX)
        return ns; /* no clock's */
    if (by_ns >= 0)
        return ns + (uint64_t)by_ns;
    uint64_t back = by_ns > -(double)TRACE_TIME_MAX ? (uint64_t)-by_ns : TRACE_TIME_MAX;
    return ns > back ? ns - back : 0;
}

bool trace_clock(struct trace *trace)
{
    struct line *lines = malloc((trace->host_count + 1) * sizeof *lines);
    if (lines == NULL)
        return false;
    for (size_t h = 0; h < trace->host_count; h++)
        lines[h] = line_of(&trace->hosts[h]);
    for (size_t i = 0; i < trace->event_count; i++) {
        struct trace_event *e = &trace->events[i];
        const struct line *line = &lines[trace->tasks[e->task].host];
        double by_ns = -(line->ahead_ns + line->rate * ((double)e->begin_ns - line->at_ns));
        e->begin_ns = moved(e->begin_ns, by_ns);
        e->end_ns = moved(e->end_ns, by_ns);
    }
    free(lines);
    return true;
}

#define MOVE_MAX 100000000000000000 /* nanoseconds: three years; what is more is no clock's */

/* ---- messages arrive after they left ---- */

static uint32_t host_of(const struct trace *trace, uint32_t event)
{
    return trace->tasks[trace->events[event].task].host;
}

/* least[a * n + b]: the host b must be moved by so much against a, or more. */
static void bounds_find(const struct trace *trace, int64_t *least, size_t n)
{
    for (size_t i = 0; i < n * n; i++)
        least[i] = INT64_MIN;
    for (size_t i = 0; i < trace->event_count; i++) {
        const struct trace_event *e = &trace->events[i];
        if (!trace_is_receive(e) || e->match == TRACE_NONE)
            continue;
        uint32_t from = host_of(trace, e->match), to = host_of(trace, (uint32_t)i);
        int64_t by = (int64_t)(trace->events[e->match].begin_ns - e->end_ns);
        bool sane = by < MOVE_MAX && by > -MOVE_MAX;
        if (from != to && sane && by > least[from * n + to])
            least[from * n + to] = by;
    }
}

static void moves_find(const int64_t *least, size_t n, int64_t *moves)
{
    bool changed = true;
    for (size_t round = 0; round < n && changed; round++) {
        changed = false;
        for (size_t a = 0; a < n; a++)
            for (size_t b = 0; b < n; b++)
                if (least[a * n + b] != INT64_MIN && moves[a] < MOVE_MAX &&
                    moves[a] + least[a * n + b] > moves[b]) {
                    moves[b] = moves[a] + least[a * n + b];
                    changed = true;
                }
    }
}

static void clamp(struct trace *trace)
{
    for (size_t i = 0; i < trace->event_count; i++) {
        struct trace_event *e = &trace->events[i];
        if (!trace_is_receive(e) || e->match == TRACE_NONE)
            continue;
        const struct trace_event *sent = &trace->events[e->match];
        if (e->end_ns >= sent->begin_ns)
            continue;
        struct trace_task *task = &trace->tasks[e->task];
        e->end_ns = sent->begin_ns;
        task->end_ns = task->end_ns > e->end_ns ? task->end_ns : e->end_ns;
        trace->clamped++;
    }
}

bool trace_mend(struct trace *trace)
{
    size_t n = trace->host_count;
    int64_t *least = malloc((n * n + 1) * sizeof *least), *moves = calloc(n + 1, sizeof *moves);
    if (least == NULL || moves == NULL) {
        free(least);
        free(moves);
        return false;
    }
    bounds_find(trace, least, n);
    moves_find(least, n, moves);
    for (size_t i = 0; i < trace->event_count; i++) {
        struct trace_event *e = &trace->events[i];
        double by_ns = (double)moves[trace->tasks[e->task].host];
        e->begin_ns = moved(e->begin_ns, by_ns);
        e->end_ns = moved(e->end_ns, by_ns);
    }
    free(least);
    free(moves);
    if (!trace_sort(trace) || !trace_match(trace))
        return false;
    clamp(trace);
    return true;
}
