/*
 * to_paje.c - a trace for Paje and ViTE: containers are the VM, hosts and tasks; a task's state is
 * the call that it is in; messages are links. Paje wants all lines in the order of time.
 */
#include <stdlib.h>

#include "tools/trace/forms.h"

static const char head[] =
    "%EventDef PajeDefineContainerType 0\n% Alias string\n% Type string\n% Name "
    "string\n%EndEventDef\n"
    "%EventDef PajeDefineStateType 1\n% Alias string\n% Type string\n% Name string\n%EndEventDef\n"
    "%EventDef PajeDefineLinkType 2\n% Alias string\n% Type string\n% StartContainerType string\n"
    "% EndContainerType string\n% Name string\n%EndEventDef\n"
    "%EventDef PajeDefineVariableType 3\n% Alias string\n% Type string\n% Name string\n"
    "% Color color\n%EndEventDef\n"
    "%EventDef PajeCreateContainer 4\n% Time date\n% Alias string\n% Type string\n"
    "% Container string\n% Name string\n%EndEventDef\n"
    "%EventDef PajeDestroyContainer 5\n% Time date\n% Type string\n% Name string\n%EndEventDef\n"
    "%EventDef PajePushState 6\n% Time date\n% Type string\n% Container string\n% Value string\n"
    "%EndEventDef\n"
    "%EventDef PajePopState 7\n% Time date\n% Type string\n% Container string\n%EndEventDef\n"
    "%EventDef PajeStartLink 8\n% Time date\n% Type string\n% Container string\n% Value string\n"
    "% StartContainer string\n% Key string\n%EndEventDef\n"
    "%EventDef PajeEndLink 9\n% Time date\n% Type string\n% Container string\n% Value string\n"
    "% EndContainer string\n% Key string\n%EndEventDef\n"
    "%EventDef PajeSetVariable 10\n% Time date\n% Type string\n% Container string\n% Value double\n"
    "%EndEventDef\n"
    "0 V 0 \"virtual machine\"\n0 H V \"host\"\n0 T H \"task\"\n1 S T \"call\"\n"
    "2 M V T T \"message\"\n";

enum what { ENDS, BEGINS, LEAVES, ARRIVES, COUNTS };

struct line {
    uint64_t at_ns;
    size_t order; /* of those at one moment */
    size_t index; /* of the slice or event */
    enum what what;
};

static int by_time(const void *a, const void *b)
{
    const struct line *x = a, *y = b;
    if (x->at_ns != y->at_ns)
        return x->at_ns < y->at_ns ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

/* A text in quotes, in which quotes have no place. */
static void put_text(FILE *out, const char *text)
{
    fputc('"', out);
    for (; *text != '\0'; text++)
        fputc(*text == '"' || (unsigned char)*text < ' ' ? '_' : *text, out);
    fputc('"', out);
}

static void put_containers(const struct trace *trace, FILE *out)
{
    fputs("4 0.000000000 v V 0 \"VM\"\n", out);
    for (size_t i = 0; i < trace->host_count; i++) {
        fprintf(out, "4 0.000000000 h%u H v ", trace->hosts[i].index);
        put_text(out, trace->hosts[i].name);
        fputc('\n', out);
    }
    for (size_t i = 0; i < trace->task_count; i++)
        fprintf(out, "4 0.000000000 t%x T h%u \"t%x\"\n", trace->tasks[i].tid,
                trace->hosts[trace->tasks[i].host].index, trace->tasks[i].tid);
    for (size_t i = 0; i < trace->event_count; i++) {
        if (trace->events[i].kind != TRACE_COUNT)
            continue;
        bool first = true; /* of its name */
        for (size_t k = 0; k < i && first; k++)
            first = trace->events[k].kind != TRACE_COUNT ||
                    trace->events[k].name != trace->events[i].name;
        if (!first)
            continue;
        fprintf(out, "3 C%u T ", trace->events[i].name);
        put_text(out, trace->names[trace->events[i].name]);
        fputs(" \"0.2 0.4 0.8\"\n", out);
    }
}

static size_t lines_make(const struct trace *trace, const struct trace_slice *slices, size_t count,
                         struct line *lines)
{
    size_t n = 0, depth = 0;
    size_t *stack = malloc((count + 1) * sizeof *stack);
    if (stack == NULL)
        return 0;
    /* Ends come where their slices are left, so that what lies inside ends first. */
    for (size_t i = 0; i <= count; i++) {
        while (depth > 0 && (i == count || slices[stack[depth - 1]].task != slices[i].task ||
                             slices[stack[depth - 1]].end_ns <= slices[i].begin_ns)) {
            size_t ended = stack[--depth];
            lines[n] = (struct line){slices[ended].end_ns, n, ended, ENDS};
            n++;
        }
        if (i == count)
            break;
        lines[n] = (struct line){slices[i].begin_ns, n, i, BEGINS};
        n++;
        stack[depth++] = i;
    }
    free(stack);
    for (size_t i = 0; i < trace->event_count; i++) {
        const struct trace_event *e = &trace->events[i];
        if (trace_is_receive(e) && e->match != TRACE_NONE) {
            lines[n] = (struct line){trace->events[e->match].begin_ns, n, i, LEAVES};
            n++;
            lines[n] = (struct line){e->end_ns, n, i, ARRIVES};
            n++;
        } else if (e->kind == TRACE_COUNT) {
            lines[n] = (struct line){e->begin_ns, n, i, COUNTS};
            n++;
        }
    }
    return n;
}

static void put_line(const struct trace *trace, const struct trace_slice *slices,
                     const struct line *line, FILE *out)
{
    double at_s = (double)line->at_ns / 1e9;
    if (line->what == BEGINS || line->what == ENDS) {
        const struct trace_slice *s = &slices[line->index];
        uint32_t tid = trace->tasks[s->task].tid;
        if (line->what == ENDS) {
            fprintf(out, "7 %.9f S t%x\n", at_s, tid);
            return;
        }
        fprintf(out, "6 %.9f S t%x ", at_s, tid);
        put_text(out, s->kind == TRACE_HELD ? "held back" : trace->names[s->name]);
        fputc('\n', out);
        return;
    }
    const struct trace_event *e = &trace->events[line->index];
    uint32_t tid = trace->tasks[e->task].tid;
    if (line->what == COUNTS)
        fprintf(out, "10 %.9f C%u t%x %.17g\n", at_s, e->name, tid, e->value);
    else
        fprintf(out, "%d %.9f M v \"%llu bytes, tag %d\" t%x m%zu\n", line->what == LEAVES ? 8 : 9,
                at_s, (unsigned long long)e->bytes, (int)e->tag,
                line->what == LEAVES ? e->peer : tid, line->index);
}

bool trace_to_paje(const struct trace *trace, FILE *out)
{
    size_t count = 0;
    struct trace_slice *slices = trace_slices(trace, &count);
    struct line *lines = malloc((2 * (count + trace->event_count) + 1) * sizeof *lines);
    bool good = slices != NULL && lines != NULL;
    if (good) {
        size_t n = lines_make(trace, slices, count, lines);
        qsort(lines, n, sizeof *lines, by_time);
        fputs(head, out);
        put_containers(trace, out);
        for (size_t i = 0; i < n; i++)
            put_line(trace, slices, &lines[i], out);
        fprintf(out, "5 %.9f V v\n", (double)trace->end_ns / 1e9);
    }
    free(slices);
    free(lines);
    return good;
}
