/*
 * to_html.c - a trace as one page that needs nothing else: page/page.html with the data in it.
 *
 * What is little goes in as JSON. What there is per event is a stream of bytes in base64: numbers
 * of 7 bits a byte, the lowest first, and lists by task, each behind its length:
 *
 *   stream  = *slices *arrows *waits *counts *marks *expects path ; each but path: a list for each
 * task slices  = count *(begin duration what)     ; what: 4 * name + enum slice_class arrows  =
 * count *(begin duration to bytes) ; a message, from its send until it was received; ; bytes: one
 * more, or 0: as many as before waits   = count *(end duration why) why     = cause other / 0 ; 0:
 * as before; cause: one more than the enum; ; other: a task + 1, or 0 counts  = count *(at name
 * double)          ; its 8 bytes, the lowest first marks   = count *(at name) expects = count *(at
 * name double)          ; seconds path    = count *(task begin duration)     ; the last one first;
 * begin is the time itself
 *
 * Times are in units of `unit` ns; begin, end and at are what they are more than the one before.
 */
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "proto/embed/embed.h"
#include "tools/trace/forms.h"
#include "tools/trace/page_json.h"
#include "tools/trace/waits.h"
#include "tools/trace/why.h"

#define UNITS 30         /* the whole is at most 2^30 of them; */
#define UNITS_LARGE 24   /* of large traces: a page shall stay small enough to be sent around */
#define LARGE 300000     /* events */
#define SHORT_WAITS 4096 /* with more waits than that of a task those below a unit are left out */
#define FINDINGS 5

#define PLACE_DATA "@data@"
#define PLACE_STREAM "@stream@"

extern const char trace_page[];
EMBED(trace_page, "tools/trace/page/page.html");

enum slice_class { SLICE_CALL, SLICE_PART, SLICE_HELD };

/* ---- the stream ---- */

struct stream {
    FILE *out;
    uint8_t held[3];
    int count;
    uint64_t unit_ns, last; /* last: a time, in units */
    uint64_t before;        /* what a 0 stands for */
};

static void put_group(struct stream *s)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    uint32_t bits = (uint32_t)s->held[0] << 16 | (uint32_t)s->held[1] << 8 | s->held[2];
    for (int i = 0; i < 4; i++)
        putc(i > s->count ? '=' : digits[bits >> (18 - 6 * i) & 63], s->out);
    s->count = 0;
    memset(s->held, 0, sizeof s->held);
}

static void put_byte(struct stream *s, uint8_t byte)
{
    s->held[s->count++] = byte;
    if (s->count == 3)
        put_group(s);
}

static void put_number(struct stream *s, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        put_byte(s, (uint8_t)(value | 0x80));
    put_byte(s, (uint8_t)value);
}

static void put_double(struct stream *s, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    for (int i = 0; i < 8; i++)
        put_byte(s, (uint8_t)(bits >> 8 * i));
}

static uint64_t units(const struct stream *s, uint64_t ns)
{
    return ns / s->unit_ns;
}

static void put_time(struct stream *s, uint64_t ns)
{
    uint64_t at = units(s, ns);
    at = at > s->last ? at : s->last;
    put_number(s, at - s->last);
    s->last = at;
}

/* So long from then on, in units that begin and end where times do. */
static void put_duration(struct stream *s, uint64_t begin_ns, uint64_t end_ns)
{
    put_number(s, end_ns > begin_ns ? units(s, end_ns) - units(s, begin_ns) : 0);
}

/* ---- lists ---- */

static size_t put_slices(struct stream *s, uint32_t task, const struct trace_slice *slices,
                         size_t count)
{
    size_t used = 0;
    while (used < count && slices[used].task == task)
        used++;
    put_number(s, used);
    s->last = 0;
    for (size_t i = 0; i < used; i++) {
        enum slice_class class = slices[i].kind == TRACE_ENTER  ? SLICE_PART
                                 : slices[i].kind == TRACE_HELD ? SLICE_HELD
                                                                : SLICE_CALL;
        put_time(s, slices[i].begin_ns);
        put_duration(s, slices[i].begin_ns, slices[i].end_ns);
        put_number(s, 4 * (uint64_t)slices[i].name + class);
    }
    return used;
}

typedef bool chosen_fn(const struct trace_event *e);

static bool is_joined(const struct trace_event *e)
{
    return trace_is_send(e) && e->match != TRACE_NONE;
}

static bool is_count(const struct trace_event *e)
{
    return e->kind == TRACE_COUNT;
}

static bool is_expect(const struct trace_event *e)
{
    return e->kind == TRACE_EXPECT;
}

static bool is_mark(const struct trace_event *e)
{
    return e->kind == TRACE_MARK;
}

static void put_event(struct stream *s, const struct trace *trace, const struct trace_event *e)
{
    put_time(s, e->begin_ns);
    if (is_joined(e)) {
        const struct trace_event *other = &trace->events[e->match];
        put_duration(s, e->begin_ns, other->end_ns);
        put_number(s, other->task);
        put_number(s, s->before == e->bytes + 1 ? 0 : e->bytes + 1);
        s->before = e->bytes + 1;
    } else {
        put_number(s, e->name);
        if (is_count(e) || is_expect(e))
            put_double(s, e->value);
    }
}

static void put_events(struct stream *s, const struct trace *trace, chosen_fn *chosen)
{
    for (size_t t = 0; t < trace->task_count; t++) {
        const struct trace_task *task = &trace->tasks[t];
        size_t used = 0;
        for (size_t i = 0; i < task->count; i++)
            used += chosen(&trace->events[task->first + i]);
        put_number(s, used);
        s->last = s->before = 0;
        for (size_t i = 0; i < task->count; i++)
            if (chosen(&trace->events[task->first + i]))
                put_event(s, trace, &trace->events[task->first + i]);
    }
}

static bool shows(const struct stream *s, const struct wait *w, bool many)
{
    return !many || units(s, w->end_ns) > units(s, w->begin_ns);
}

static void put_wait(struct stream *s, const struct wait *w)
{
    uint64_t other = w->other == TRACE_NONE ? 0 : (uint64_t)w->other + 1;
    uint64_t what = other * WAIT_CAUSE_COUNT + w->cause + 1;
    put_time(s, w->end_ns);
    put_duration(s, w->begin_ns, w->end_ns);
    put_number(s, s->before == what ? 0 : (uint64_t)w->cause + 1);
    if (s->before != what)
        put_number(s, other);
    s->before = what;
}

static void put_waits(struct stream *s, const struct trace *trace, const struct waits *waits)
{
    for (size_t t = 0; t < trace->task_count; t++) {
        size_t from = waits->first[t], to = waits->first[t + 1], used = 0;
        bool many = to - from > SHORT_WAITS;
        for (size_t i = from; i < to; i++)
            used += shows(s, &waits->items[i], many);
        put_number(s, used);
        s->last = s->before = 0;
        for (size_t i = from; i < to; i++)
            if (shows(s, &waits->items[i], many))
                put_wait(s, &waits->items[i]);
    }
}

/* ---- the critical path ---- */

struct legs {
    struct stream *stream; /* NULL: they are only counted */
    size_t count;
};

static void take_leg(void *context, uint32_t task, uint64_t begin_ns, uint64_t end_ns)
{
    struct legs *legs = context;
    legs->count++;
    if (legs->stream == NULL)
        return;
    put_number(legs->stream, task);
    put_number(legs->stream, units(legs->stream, begin_ns));
    put_duration(legs->stream, begin_ns, end_ns);
}

static void put_path(struct stream *s, const struct trace *trace, const struct waits *waits)
{
    struct legs legs = {.stream = NULL};
    trace_path(trace, waits, take_leg, &legs);
    put_number(s, legs.count);
    legs.stream = s;
    trace_path(trace, waits, take_leg, &legs);
}

static bool put_stream(const struct trace *trace, const struct waits *waits, uint64_t unit_ns,
                       FILE *out)
{
    struct stream s = {.out = out, .unit_ns = unit_ns};
    size_t count = 0, used = 0;
    struct trace_slice *slices = trace_slices(trace, &count);
    if (slices == NULL)
        return false;
    for (uint32_t t = 0; t < trace->task_count; t++)
        used += put_slices(&s, t, slices + used, count - used);
    free(slices);
    put_events(&s, trace, is_joined);
    put_waits(&s, trace, waits);
    put_events(&s, trace, is_count);
    put_events(&s, trace, is_mark);
    put_events(&s, trace, is_expect);
    put_path(&s, trace, waits);
    if (s.count > 0)
        put_group(&s);
    return true;
}

/* ---- what is little ---- */

static json_t *hosts_json(const struct trace *trace)
{
    json_t *list = json_array();
    for (size_t h = 0; h < trace->host_count; h++)
        json_array_append_new(list, page_text(trace->hosts[h].name));
    return list;
}

static json_t *names_json(const struct trace *trace)
{
    json_t *list = json_array();
    for (size_t n = 0; n < trace->name_count; n++)
        json_array_append_new(list, page_text(trace->names[n]));
    return list;
}

/* [tid, host, command, begin, end, computed] in ns; NULL: no memory. */
static json_t *tasks_json(const struct trace *trace)
{
    uint64_t *computed = trace_computed(trace);
    json_t *list = computed == NULL ? NULL : json_array();
    for (size_t t = 0; list != NULL && t < trace->task_count; t++) {
        const struct trace_task *task = &trace->tasks[t];
        char tid[16];
        snprintf(tid, sizeof tid, "t%x", task->tid);
        json_t *row = json_pack("[s,I,o,I,I,I]", tid, (json_int_t)task->host,
                                page_text(task->command), (json_int_t)task->begin_ns,
                                (json_int_t)task->end_ns, (json_int_t)computed[t]);
        json_array_append_new(list, row);
    }
    free(computed);
    return list;
}

/* What `covey trace --why` says. */
static json_t *why_json(const struct trace *trace)
{
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    bool good = f != NULL && why_print(trace, FINDINGS, f);
    if (f != NULL)
        fclose(f);
    json_t *json = good ? page_text(text) : NULL;
    free(text);
    return json;
}

static json_t *causes_json(void)
{
    static const char *const names[] = {
#define WAIT_NAME(name) #name,
        WAIT_CAUSES(WAIT_NAME)
#undef WAIT_NAME
    };
    json_t *list = json_array();
    for (size_t i = 0; i < WAIT_CAUSE_COUNT; i++)
        json_array_append_new(list, json_string(names[i]));
    return list;
}

static json_t *data_json(const struct trace *trace, uint64_t unit_ns)
{
    return json_pack("{s:I,s:I,s:I,s:I,s:I,s:b,s:o,s:o,s:o,s:o,s:o,s:o}", "unit",
                     (json_int_t)unit_ns, "end", (json_int_t)trace->end_ns, "events",
                     (json_int_t)trace->event_count, "dropped", (json_int_t)trace->dropped,
                     "untraced", (json_int_t)trace->untraced, "cut", (int)trace->cut, "hosts",
                     hosts_json(trace), "names", names_json(trace), "tasks", tasks_json(trace),
                     "why", why_json(trace), "causes", causes_json(), "seen", page_seen(trace));
}

/* No text of a program's ends the element that it stands in: all < of JSON are within texts. */
static int put_escaped(const char *bytes, size_t size, void *context)
{
    FILE *out = context;
    for (size_t i = 0; i < size; i++)
        if (bytes[i] == '<')
            fputs("\\u003c", out);
        else
            putc(bytes[i], out);
    return 0;
}

/* ---- the page ---- */

bool trace_to_html(const struct trace *trace, FILE *out)
{
    const char *data_at = strstr(trace_page, PLACE_DATA);
    const char *stream_at = strstr(trace_page, PLACE_STREAM);
    uint64_t unit_ns = (trace->end_ns >> (trace->event_count > LARGE ? UNITS_LARGE : UNITS)) + 1;
    struct waits waits;
    if (!waits_find(trace, &waits))
        return false;
    json_t *data = data_json(trace, unit_ns);
    bool good = data != NULL;
    if (good) {
        fwrite(trace_page, 1, (size_t)(data_at - trace_page), out);
        good = json_dump_callback(data, put_escaped, out, JSON_COMPACT | JSON_ENSURE_ASCII) == 0;
        data_at += sizeof PLACE_DATA - 1;
        fwrite(data_at, 1, (size_t)(stream_at - data_at), out);
        good = put_stream(trace, &waits, unit_ns, out) && good;
        fputs(stream_at + sizeof PLACE_STREAM - 1, out);
    }
    json_decref(data);
    waits_free(&waits);
    return good;
}
