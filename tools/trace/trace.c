/*
 * trace.c - a trace in memory: its tables, and the order of its events.
 */
#include "tools/trace/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAMES_MAX 16384 /* what is more has none */

bool trace_grow(void **items, size_t *room, size_t count, size_t size)
{
    if (count < *room)
        return true;
    size_t more = *room < 64 ? 64 : *room * 2;
    void *grown = realloc(*items, more * size);
    if (grown == NULL)
        return false;
    *items = grown;
    *room = more;
    return true;
}

uint32_t trace_text(struct trace *trace, const char *text)
{
    /* The first is "", for what has no name. They are few: a program's words and the calls. */
    if (trace->name_count == 0 && *text != '\0' && trace_text(trace, "") == TRACE_NONE)
        return TRACE_NONE;
    for (size_t i = 0; i < trace->name_count; i++)
        if (strcmp(trace->names[i], text) == 0)
            return (uint32_t)i;
    if (trace->name_count == NAMES_MAX)
        return 0;
    if (!trace_grow((void **)&trace->names, &trace->name_room, trace->name_count,
                    sizeof *trace->names))
        return TRACE_NONE;
    char *copy = strdup(text);
    if (copy == NULL)
        return TRACE_NONE;
    trace->names[trace->name_count] = copy;
    return (uint32_t)trace->name_count++;
}

uint32_t trace_host(struct trace *trace, uint32_t index, const char *name)
{
    for (size_t i = 0; i < trace->host_count; i++)
        if (trace->hosts[i].index == index)
            return (uint32_t)i;
    if (trace->host_count == TRACE_HOSTS_MAX ||
        !trace_grow((void **)&trace->hosts, &trace->host_room, trace->host_count,
                    sizeof *trace->hosts))
        return TRACE_NONE;
    struct trace_host *host = &trace->hosts[trace->host_count];
    *host = (struct trace_host){.index = index};
    snprintf(host->name, sizeof host->name, "%s", name);
    return (uint32_t)trace->host_count++;
}

bool trace_look(struct trace_host *host, const struct trace_look *look)
{
    if (!trace_grow((void **)&host->looks, &host->look_room, host->look_count, sizeof *host->looks))
        return false;
    host->looks[host->look_count++] = *look;
    return true;
}

uint32_t trace_find(const struct trace *trace, uint32_t tid)
{
    for (size_t i = trace->task_count; i-- > 0;)
        if (trace->tasks[i].tid == tid)
            return (uint32_t)i;
    return TRACE_NONE;
}

uint32_t trace_task(struct trace *trace, uint32_t host, uint32_t tid)
{
    uint32_t known = trace_find(trace, tid);
    if (known != TRACE_NONE)
        return known;
    if (!trace_grow((void **)&trace->tasks, &trace->task_room, trace->task_count,
                    sizeof *trace->tasks))
        return TRACE_NONE;
    trace->tasks[trace->task_count] = (struct trace_task){.tid = tid, .host = host};
    return (uint32_t)trace->task_count++;
}

struct trace_event *trace_event(struct trace *trace)
{
    if (trace->event_count == TRACE_EVENTS_MAX ||
        !trace_grow((void **)&trace->events, &trace->event_room, trace->event_count,
                    sizeof *trace->events))
        return NULL;
    struct trace_event *e = &trace->events[trace->event_count++];
    *e = (struct trace_event){.match = TRACE_NONE};
    return e;
}

void trace_free(struct trace *trace)
{
    for (size_t i = 0; i < trace->host_count; i++)
        free(trace->hosts[i].looks);
    for (size_t i = 0; i < trace->name_count; i++)
        free(trace->names[i]);
    seen_free(&trace->seen);
    free(trace->hosts);
    free(trace->tasks);
    free(trace->events);
    free(trace->names);
    *trace = (struct trace){0};
}

int trace_order(struct trace_interval x, struct trace_interval y)
{
    if (x.task != y.task)
        return x.task < y.task ? -1 : 1;
    if (x.begin_ns != y.begin_ns)
        return x.begin_ns < y.begin_ns ? -1 : 1;
    return x.end_ns > y.end_ns ? -1 : x.end_ns < y.end_ns;
}

static int by_time(const void *a, const void *b)
{
    const struct trace_event *x = a, *y = b;
    int order = trace_order((struct trace_interval){x->task, x->begin_ns, x->end_ns},
                            (struct trace_interval){y->task, y->begin_ns, y->end_ns});
    return order != 0 ? order : x->kind - y->kind;
}

bool trace_sort(struct trace *trace)
{
    if (trace->event_count > 1)
        qsort(trace->events, trace->event_count, sizeof *trace->events, by_time);
    for (size_t i = 0; i < trace->task_count; i++) {
        trace->tasks[i].first = trace->tasks[i].count = 0;
        trace->tasks[i].begin_ns = UINT64_MAX;
        trace->tasks[i].end_ns = 0;
    }
    uint64_t begin_ns = UINT64_MAX;
    for (size_t i = 0; i < trace->event_count; i++)
        if (trace->events[i].begin_ns < begin_ns)
            begin_ns = trace->events[i].begin_ns;
    trace->begin_ns += begin_ns == UINT64_MAX ? 0 : begin_ns;
    trace->end_ns = 0;
    for (size_t i = 0; i < trace->event_count; i++) {
        struct trace_event *e = &trace->events[i];
        struct trace_task *task = &trace->tasks[e->task];
        e->begin_ns -= begin_ns;
        e->end_ns -= begin_ns;
        if (task->count++ == 0) {
            task->first = i;
            task->begin_ns = e->begin_ns;
        }
        task->end_ns = e->end_ns > task->end_ns ? e->end_ns : task->end_ns;
        trace->end_ns = e->end_ns > trace->end_ns ? e->end_ns : trace->end_ns;
    }
    for (size_t i = 0; i < trace->task_count; i++)
        if (trace->tasks[i].count == 0)
            trace->tasks[i].begin_ns = trace->tasks[i].end_ns = 0;
    return true;
}

const char *trace_kind_name(int kind)
{
    switch (kind) {
#define NAME(number, NAME, text)                                                                   \
    case number:                                                                                   \
        return text;
        TRACE_KINDS(NAME)
#undef NAME
    default:
        return "?";
    }
}

bool trace_is_send(const struct trace_event *e)
{
    return e->kind == TRACE_SEND || e->kind == TRACE_INNER_SEND;
}

bool trace_is_receive(const struct trace_event *e)
{
    return e->kind == TRACE_RECEIVE || e->kind == TRACE_INNER_RECEIVE;
}
