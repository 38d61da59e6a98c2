/*
 * to_csv.c - a trace as a table, an event a line (RFC 4180).
 */
#include <string.h>

#include "tools/trace/forms.h"

static void put_text(FILE *out, const char *text)
{
    if (strpbrk(text, "\",\r\n") == NULL) {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    for (; *text != '\0'; text++) {
        if (*text == '"')
            fputc('"', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

bool trace_to_csv(const struct trace *trace, FILE *out)
{
    fputs(
        "begin_s,end_s,host,task,kind,name,peer,tag,bytes,value,number,other_begin_s,other_end_s\n",
        out);
    for (size_t i = 0; i < trace->event_count; i++) {
        const struct trace_event *e = &trace->events[i];
        const struct trace_task *task = &trace->tasks[e->task];
        bool message = trace_is_send(e) || trace_is_receive(e);
        fprintf(out, "%.9f,%.9f,", (double)e->begin_ns / 1e9, (double)e->end_ns / 1e9);
        put_text(out, trace->hosts[task->host].name);
        fprintf(out, ",t%x,%s,", task->tid, trace_kind_name(e->kind));
        put_text(out, trace->names[e->name]);
        if (message || e->kind == TRACE_HELD)
            fprintf(out, ",t%x,%d,%llu", e->peer, (int)e->tag, (unsigned long long)e->bytes);
        else
            fputs(",,,", out);
        fputc(',', out);
        if (e->kind == TRACE_COUNT || e->kind == TRACE_EXPECT)
            fprintf(out, "%.17g", e->value);
        fputc(',', out);
        if (message || e->kind == TRACE_COLLECTIVE)
            fprintf(out, "%llu",
                    message ? (unsigned long long)e->sequence
                            : (unsigned long long)(uint32_t)e->tag);
        if (e->match == TRACE_NONE)
            fputs(",,\n", out);
        else
            fprintf(out, ",%.9f,%.9f\n", (double)trace->events[e->match].begin_ns / 1e9,
                    (double)trace->events[e->match].end_ns / 1e9);
    }
    return true;
}
