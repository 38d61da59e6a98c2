/*
 * trace.c - the task's end of its trace: names become numbers, and the ring comes and goes.
 */
#include "lib/member/trace.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PREFIX "covey_"
#define BRIEF_SAMPLE 31       /* a prime, as calls come in turns */
#define BRIEF_TICKS_MAX 20000 /* some microseconds */

static uint32_t hash_text(const char *text, size_t bytes)
{
    uint32_t hash = 2166136261u; /* FNV-1a */
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ (uint8_t)text[i]) * 16777619u;
    return hash;
}

uint32_t trace_name(struct trace *t, const char *text)
{
    size_t bytes = strnlen(text, 255);
    uint32_t slot = hash_text(text, bytes) % TRACE_NAME_SLOTS;
    for (; t->by_text[slot] != 0; slot = (slot + 1) % TRACE_NAME_SLOTS) {
        const char *known = t->ring->names + t->at[t->by_text[slot]];
        if (strncmp(known, text, bytes) == 0 && known[bytes] == '\0')
            return t->by_text[slot];
    }
    uint32_t at = atomic_load_explicit(&t->ring->names_bytes, memory_order_relaxed);
    if (t->names >= TRACE_NAMES_MAX || !trace_ring_name(t->ring, text, bytes))
        return 0;
    t->at[++t->names] = at;
    t->by_text[slot] = (uint16_t)t->names;
    return t->names;
}

/* Calls are named as programs know them, without the prefix that all have. */
uint32_t trace_literal(struct trace *t, const char *text)
{
    size_t slot = ((uintptr_t)text >> 2) % (sizeof t->recent / sizeof t->recent[0]);
    if (t->recent[slot].text != text) {
        bool prefixed = strncmp(text, PREFIX, sizeof PREFIX - 1) == 0;
        t->recent[slot].text = text;
        t->recent[slot].number = trace_name(t, prefixed ? text + sizeof PREFIX - 1 : text);
    }
    return t->recent[slot].number;
}

/* To look at the clock takes a good part of what a short send does. So one of some is timed, and
 * the others are taken to be like it; what takes longer was kept from the processor, and counts for
 * itself. */
static uint64_t took_briefly(struct trace *t, uint64_t begun)
{
    if (t->briefs++ % BRIEF_SAMPLE != 0)
        return t->brief;
    uint64_t took = trace_now(t) - begun;
    if (took < BRIEF_TICKS_MAX)
        t->brief = took;
    return took;
}

void trace_put(struct trace *t, const struct trace_what *what)
{
    uint64_t took = what->brief ? took_briefly(t, what->begun) : trace_now(t) - what->begun;
    uint64_t bytes = what->bytes < TRACE_BYTES_MAX ? what->bytes : TRACE_BYTES_MAX;
    took = took < TRACE_DURATION_MAX ? took : TRACE_DURATION_MAX;
    const struct trace_record record = {
        {what->begun, took | (uint64_t)what->name << 48 | (uint64_t)what->kind << 60,
         bytes | what->sequence << 40, what->peer | (uint64_t)(uint32_t)what->tag << 32}};
    trace_ring_put(t->ring, &t->writer, &record);
}

void trace_call_open(struct trace *t, const char *name, uint64_t begun)
{
    struct trace_record *open = &t->ring->open;
    t->begun = begun;
    open->word[1] = (uint64_t)trace_literal(t, name) << 48 | (uint64_t)TRACE_OPEN << 60;
    open->word[3] = 0;
    open->word[0] = begun;
}

uint64_t trace_call_begin(struct trace *t, const char *name)
{
    trace_call_open(t, name, trace_now(t));
    return t->begun;
}

void trace_call_awaits(struct trace *t, uint32_t peer, int tag)
{
    t->ring->open.word[3] = peer | (uint64_t)(uint32_t)tag << 32;
}

void trace_call_told(struct trace *t)
{
    t->ring->open.word[0] = 0;
}

void trace_call_end(struct trace *t, const char *name, uint64_t begun)
{
    const struct trace_what what = {
        .kind = TRACE_CALL, .name = trace_literal(t, name), .begun = begun};
    trace_call_told(t);
    trace_put(t, &what);
}

void trace_instant(struct trace *t, enum trace_kind kind, const char *name, double value)
{
    struct trace_record record = {
        {trace_now(t), (uint64_t)kind << 60, 0, (uint64_t)trace_name(t, name) << 32}};
    memcpy(&record.word[2], &value, sizeof value);
    trace_ring_put(t->ring, &t->writer, &record);
}

static void ring_end(struct trace *t)
{
    trace_ring_close(t->ring);
    free(t->by_text);
    free(t->at);
    *t = (struct trace){0};
}

static bool ring_begin(struct trace *t, int fd)
{
    t->ring = trace_ring_open(fd);
    t->by_text = calloc(TRACE_NAME_SLOTS, sizeof *t->by_text);
    t->at = calloc(TRACE_NAMES_MAX + 1, sizeof *t->at);
    if (t->ring == NULL || t->by_text == NULL || t->at == NULL) {
        ring_end(t);
        return false;
    }
    t->cycles = t->ring->cycles != 0;
    t->begun = trace_now(t);
    /* their numbers are TRACE_NAME_SEND and TRACE_NAME_RECEIVE */
    trace_name(t, "send_array");
    trace_name(t, "recv_array");
    return true;
}

void trace_on_ring(struct covey *vm, const struct frame *frame, const uint8_t *payload, int *fds,
                   int nfds)
{
    struct trace *t = vm->part[PART_TRACE];
    (void)frame, (void)payload;
    __atomic_store_n(&vm->trace, NULL, __ATOMIC_RELAXED);
    ring_end(t);
    if (nfds > 0 && ring_begin(t, fds[0]))
        __atomic_store_n(&vm->trace, t, __ATOMIC_RELAXED);
    for (int i = 0; i < nfds; i++)
        close(fds[i]);
}

void trace_free(struct covey *vm)
{
    vm->trace = NULL;
    ring_end(vm->part[PART_TRACE]);
}
