/* links: tools/trace/trace.c tools/trace/trace_clock.c tools/trace/trace_match.c tools/trace/trace_read.c tools/trace/seen.c tools/trace/waits.c tools/trace/waits_print.c tools/trace/why.c tools/trace/why_print.c tools/trace/slices.c tools/trace/to_html.c tools/trace/page_json.c tools/trace/link_use.c proto/wire/cursor.c proto/trace/trace_pack.c -lzstd -ljansson */
/*
 * trace_page TASKS EVENTS [SEED] - the page of a trace as large as that, on standard output: rounds
 * of computation of uneven length, each with a message to the next task of a ring, a part of the
 * program around each ten rounds, and a number. trace_page.sh measures what a browser makes of it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/trace/forms.h"

#define US 1000u
#define TASKS_MAX 4096u

static struct trace trace;
static uint64_t state = 1;

static uint32_t tid_of(uint32_t task)
{
    return 0x40000 * (task / 4 + 1) + task % 4 + 1;
}

static uint64_t some(uint64_t below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 33) % below;
}

static struct trace_event *add(uint32_t task, int kind, uint32_t name, uint64_t begin_ns,
                               uint64_t end_ns)
{
    struct trace_event *e = trace_event(&trace);
    if (e == NULL)
        exit(1);
    e->task = task;
    e->kind = (uint8_t)kind;
    e->name = name;
    e->begin_ns = begin_ns;
    e->end_ns = end_ns;
    e->call = kind == TRACE_SEND || kind == TRACE_RECEIVE;
    return e;
}

static void talk(struct trace_event *e, uint32_t peer, uint64_t round)
{
    e->peer = tid_of(peer);
    e->tag = 1;
    e->bytes = 1024;
    e->sequence = round & 0xffffff;
}

static void make(uint32_t tasks, uint64_t events)
{
    uint64_t now[TASKS_MAX] = {0}, sent[TASKS_MAX];
    uint32_t send = trace_text(&trace, "send"), recv = trace_text(&trace, "recv"),
             part = trace_text(&trace, "iteration"), value = trace_text(&trace, "residual");
    for (uint64_t round = 0; trace.event_count + 5 * tasks <= events; round++) {
        for (uint32_t t = 0; t < tasks; t++) {
            if (round % 10 == 0) {
                if (round > 0)
                    add(t, TRACE_LEAVE, part, now[t], now[t]);
                add(t, TRACE_ENTER, part, now[t], now[t]);
                add(t, TRACE_COUNT, value, now[t], now[t])->value = 1.0 / (double)(round + 1);
            }
            now[t] += 20 * US + some(60 * US) + (t == 5 ? 40 * US : 0);
            sent[t] = now[t];
            now[t] += 2 * US;
            talk(add(t, TRACE_SEND, send, sent[t], now[t]), (t + 1) % tasks, round);
        }
        for (uint32_t t = 0; t < tasks; t++) {
            uint64_t came = sent[(t + tasks - 1) % tasks] + 15 * US;
            uint64_t end = came > now[t] ? came : now[t] + US;
            talk(add(t, TRACE_RECEIVE, recv, now[t], end), (t + tasks - 1) % tasks, round);
            now[t] = end;
        }
    }
}

int main(int argc, char **argv)
{
    uint32_t tasks = argc > 1 ? (uint32_t)atoi(argv[1]) : 0;
    uint64_t events = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
    state = argc > 3 ? strtoull(argv[3], NULL, 10) : state;
    if (tasks < 2 || tasks > TASKS_MAX || events == 0 || events > TRACE_EVENTS_MAX) {
        fprintf(stderr, "trace_page: needs TASKS (2 to %u) and EVENTS\n", TASKS_MAX);
        return 2;
    }
    trace_text(&trace, "");
    for (uint32_t t = 0; t < tasks; t++) {
        char name[16];
        snprintf(name, sizeof name, "h%u", t / 4);
        uint32_t host = trace_host(&trace, t / 4 + 1, name);
        if (host == TRACE_NONE || trace_task(&trace, host, tid_of(t)) != t)
            return 1;
        strcpy(trace.tasks[t].command, "ring");
    }
    make(tasks, events);
    bool good = trace_sort(&trace) && trace_match(&trace) && trace_mend(&trace) &&
                trace_to_html(&trace, stdout);
    trace_free(&trace);
    return good && fflush(stdout) == 0 ? 0 : 1;
}
