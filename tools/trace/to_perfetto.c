/*
 * to_perfetto.c - a trace for ui.perfetto.dev: protocol buffers of perfetto/trace/trace.proto,
 * written by hand, for they are few. A host is a process, a task a thread of it; a call is a slice;
 * a message is an instant at each end, joined by a flow.
 */
#include <stdlib.h>
#include <string.h>

#include "tools/trace/forms.h"

/* Numbers of fields. */
enum { TRACE_PACKET = 1 };
enum { PACKET_TIMESTAMP = 8, PACKET_SEQUENCE = 10, PACKET_EVENT = 11, PACKET_DESCRIPTOR = 60 };
enum {
    DESCRIPTOR_UUID = 1,
    DESCRIPTOR_NAME = 2,
    DESCRIPTOR_PROCESS = 3,
    DESCRIPTOR_THREAD = 4,
    DESCRIPTOR_PARENT = 5,
    DESCRIPTOR_COUNTER = 8
};
enum { PROCESS_PID = 1, PROCESS_NAME = 6, THREAD_PID = 1, THREAD_TID = 2, THREAD_NAME = 5 };
enum {
    EVENT_ANNOTATION = 4,
    EVENT_TYPE = 9,
    EVENT_TRACK = 11,
    EVENT_CATEGORY = 22,
    EVENT_NAME = 23,
    EVENT_DOUBLE = 44,
    EVENT_FLOW = 47,
    EVENT_FLOW_END = 48
};
enum { TYPE_BEGIN = 1, TYPE_END = 2, TYPE_INSTANT = 3, TYPE_COUNTER = 4 };
enum { ANNOTATION_UINT = 3, ANNOTATION_INT = 4, ANNOTATION_STRING = 6, ANNOTATION_NAME = 10 };
enum { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2 };

/* A message that is being made; what does not fit is left out, and names are cut before. */
struct proto {
    uint8_t bytes[1536];
    size_t size;
};

static void put_varint(struct proto *p, uint64_t value)
{
    for (; value > 127 && p->size < sizeof p->bytes; value >>= 7)
        p->bytes[p->size++] = (uint8_t)(value | 128);
    if (p->size < sizeof p->bytes)
        p->bytes[p->size++] = (uint8_t)value;
}

static void put_number(struct proto *p, int field, uint64_t value)
{
    put_varint(p, (uint64_t)field << 3 | WIRE_VARINT);
    put_varint(p, value);
}

static void put_fixed(struct proto *p, int field, uint64_t value)
{
    put_varint(p, (uint64_t)field << 3 | WIRE_FIXED64);
    for (int i = 0; i < 8 && p->size < sizeof p->bytes; i++)
        p->bytes[p->size++] = (uint8_t)(value >> 8 * i);
}

static void put_bytes(struct proto *p, int field, const void *bytes, size_t size)
{
    size = size < 256 ? size : 256;
    put_varint(p, (uint64_t)field << 3 | WIRE_BYTES);
    put_varint(p, size);
    if (size <= sizeof p->bytes - p->size) {
        memcpy(p->bytes + p->size, bytes, size);
        p->size += size;
    }
}

static void put_text(struct proto *p, int field, const char *text)
{
    put_bytes(p, field, text, strlen(text));
}

static void put_annotation(struct proto *p, const char *name, int field, uint64_t value)
{
    struct proto a = {.size = 0};
    put_text(&a, ANNOTATION_NAME, name);
    put_number(&a, field, value);
    put_bytes(p, EVENT_ANNOTATION, a.bytes, a.size);
}

/* ---- packets ---- */

static void put_long(FILE *out, int field, const struct proto *p)
{
    struct proto head = {.size = 0};
    put_varint(&head, (uint64_t)field << 3 | WIRE_BYTES);
    put_varint(&head, p->size);
    fwrite(head.bytes, 1, head.size, out);
    fwrite(p->bytes, 1, p->size, out);
}

static void put_packet(FILE *out, int field, const struct proto *content, uint64_t at_ns)
{
    struct proto packet = {.size = 0};
    if (field == PACKET_EVENT)
        put_number(&packet, PACKET_TIMESTAMP, at_ns);
    put_number(&packet, PACKET_SEQUENCE, 1);
    put_varint(&packet, (uint64_t)field << 3 | WIRE_BYTES);
    put_varint(&packet, content->size);
    if (content->size > sizeof packet.bytes - packet.size)
        return; /* names are cut so short that this cannot be */
    memcpy(packet.bytes + packet.size, content->bytes, content->size);
    packet.size += content->size;
    put_long(out, TRACE_PACKET, &packet);
}

static uint64_t host_track(size_t host)
{
    return 1 + (uint64_t)host;
}
static uint64_t task_track(size_t task)
{
    return ((uint64_t)1 << 32) + task;
}
static uint64_t count_track(size_t task, uint32_t name)
{
    return (uint64_t)(2 + name) << 32 | task;
}

static void put_tracks(const struct trace *trace, FILE *out)
{
    for (size_t i = 0; i < trace->host_count; i++) {
        struct proto d = {.size = 0}, process = {.size = 0};
        put_number(&process, PROCESS_PID, trace->hosts[i].index);
        put_text(&process, PROCESS_NAME, trace->hosts[i].name);
        put_number(&d, DESCRIPTOR_UUID, host_track(i));
        put_bytes(&d, DESCRIPTOR_PROCESS, process.bytes, process.size);
        put_packet(out, PACKET_DESCRIPTOR, &d, 0);
    }
    for (size_t i = 0; i < trace->task_count; i++) {
        const struct trace_task *t = &trace->tasks[i];
        struct proto d = {.size = 0}, thread = {.size = 0};
        char name[96];
        snprintf(name, sizeof name, "t%x %s", t->tid, t->command);
        put_number(&thread, THREAD_PID, trace->hosts[t->host].index);
        put_number(&thread, THREAD_TID, t->tid);
        put_text(&thread, THREAD_NAME, name);
        put_number(&d, DESCRIPTOR_UUID, task_track(i));
        put_number(&d, DESCRIPTOR_PARENT, host_track(t->host));
        put_bytes(&d, DESCRIPTOR_THREAD, thread.bytes, thread.size);
        put_packet(out, PACKET_DESCRIPTOR, &d, 0);
    }
}

/* ---- events ---- */

static void put_event(FILE *out, int type, uint64_t track, const char *name, uint64_t at_ns)
{
    struct proto e = {.size = 0};
    put_number(&e, EVENT_TYPE, (uint64_t)type);
    put_number(&e, EVENT_TRACK, track);
    if (name != NULL)
        put_text(&e, EVENT_NAME, name);
    put_packet(out, PACKET_EVENT, &e, at_ns);
}

static void put_slices(const struct trace *trace, const struct trace_slice *slices, size_t count,
                       size_t *stack, FILE *out)
{
    size_t depth = 0;
    for (size_t i = 0; i <= count; i++) {
        while (depth > 0 && (i == count || slices[stack[depth - 1]].task != slices[i].task ||
                             slices[stack[depth - 1]].end_ns <= slices[i].begin_ns)) {
            const struct trace_slice *s = &slices[stack[--depth]];
            put_event(out, TYPE_END, task_track(s->task), NULL, s->end_ns);
        }
        if (i == count)
            return;
        const struct trace_slice *s = &slices[i];
        put_event(out, TYPE_BEGIN, task_track(s->task),
                  s->kind == TRACE_HELD ? "held back" : trace->names[s->name], s->begin_ns);
        stack[depth++] = i;
    }
}

/* An end of a message; the number of its receive is that of the flow. */
static void put_message(const struct trace *trace, size_t at, FILE *out)
{
    const struct trace_event *e = &trace->events[at];
    bool receives = trace_is_receive(e);
    struct proto p = {.size = 0};
    put_number(&p, EVENT_TYPE, TYPE_INSTANT);
    put_number(&p, EVENT_TRACK, task_track(e->task));
    put_text(&p, EVENT_CATEGORY, "message");
    put_text(&p, EVENT_NAME, receives ? "arrives" : "leaves");
    if (e->match != TRACE_NONE)
        put_fixed(&p, receives ? EVENT_FLOW_END : EVENT_FLOW, 1 + (receives ? at : e->match));
    put_annotation(&p, "bytes", ANNOTATION_UINT, e->bytes);
    put_annotation(&p, "tag", ANNOTATION_INT, (uint64_t)(int64_t)e->tag);
    char peer[16];
    struct proto a = {.size = 0};
    snprintf(peer, sizeof peer, "t%x", e->peer);
    put_text(&a, ANNOTATION_NAME, receives ? "from" : "to");
    put_text(&a, ANNOTATION_STRING, peer);
    put_bytes(&p, EVENT_ANNOTATION, a.bytes, a.size);
    put_packet(out, PACKET_EVENT, &p, receives ? e->end_ns : e->begin_ns);
}

static void put_count(const struct trace *trace, const struct trace_event *e, bool first, FILE *out)
{
    struct proto p = {.size = 0};
    uint64_t track = count_track(e->task, e->name), bits;
    if (first) {
        struct proto d = {.size = 0};
        put_number(&d, DESCRIPTOR_UUID, track);
        put_number(&d, DESCRIPTOR_PARENT, task_track(e->task));
        put_text(&d, DESCRIPTOR_NAME, trace->names[e->name]);
        put_bytes(&d, DESCRIPTOR_COUNTER, "", 0);
        put_packet(out, PACKET_DESCRIPTOR, &d, 0);
    }
    put_number(&p, EVENT_TYPE, TYPE_COUNTER);
    put_number(&p, EVENT_TRACK, track);
    memcpy(&bits, &e->value, sizeof bits);
    put_fixed(&p, EVENT_DOUBLE, bits);
    put_packet(out, PACKET_EVENT, &p, e->begin_ns);
}

static void put_points(const struct trace *trace, uint8_t *counted, FILE *out)
{
    uint32_t task = TRACE_NONE;
    for (size_t i = 0; i < trace->event_count; i++) {
        const struct trace_event *e = &trace->events[i];
        if (e->task != task)
            memset(counted, 0, trace->name_count);
        task = e->task;
        if (trace_is_send(e) || trace_is_receive(e)) {
            put_message(trace, i, out);
        } else if (e->kind == TRACE_MARK) {
            put_event(out, TYPE_INSTANT, task_track(e->task), trace->names[e->name], e->begin_ns);
        } else if (e->kind == TRACE_COUNT) {
            put_count(trace, e, !counted[e->name], out);
            counted[e->name] = 1;
        }
    }
}

bool trace_to_perfetto(const struct trace *trace, FILE *out)
{
    size_t count = 0;
    struct trace_slice *slices = trace_slices(trace, &count);
    size_t *stack = malloc((count + 1) * sizeof *stack);
    uint8_t *counted = calloc(trace->name_count + 1, 1);
    bool good = slices != NULL && stack != NULL && counted != NULL;
    if (good) {
        put_tracks(trace, out);
        put_slices(trace, slices, count, stack, out);
        put_points(trace, counted, out);
    }
    free(slices);
    free(stack);
    free(counted);
    return good;
}
