/*
 * trace_ring.h - memory in which a task records what it does, and which its daemon reads: a ring of
 * pages with records (trace_pack.h), and the names that they use. The task alone writes, the daemon
 * alone reads, and neither waits: a record that finds the ring full is counted and forgotten. What
 * a task wrote is there when it has died.
 */
#ifndef COVEY_LIB_LINK_TRACE_RING_H
#define COVEY_LIB_LINK_TRACE_RING_H

#include "proto/trace/trace_pack.h"
#include "proto/trace/trace_record.h"
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#if defined __x86_64__
#include <x86intrin.h>
#endif

#define TRACE_RING_BYTES (256u * TRACE_PAGE_BYTES)

struct trace_ring {
    uint32_t format;
    uint32_t cycles;                    /* ticks are the processor's cycles, else nanoseconds */
    _Alignas(64) _Atomic uint64_t head; /* bytes written, ever */
    _Atomic uint64_t dropped;
    _Atomic uint32_t names_bytes;
    struct trace_record open;           /* the call under way; word 0 is 0: none */
    _Alignas(64) _Atomic uint64_t tail; /* bytes read, ever */
    _Alignas(64) char names[TRACE_NAMES_BYTES];
    _Alignas(64) uint8_t bytes[TRACE_RING_BYTES];
};

/* What the task knows of its ring, beside it. All 0 at first. */
struct trace_writer {
    uint64_t read; /* as far as is known */
    struct trace_pack pack;
};

/* The daemon's end. *fd is the caller's to pass on and close. NULL: no memory or no descriptors. */
struct trace_ring *trace_ring_create(int *fd);
/* The task's end; the descriptor stays the caller's. NULL: that is no ring, or no memory. */
struct trace_ring *trace_ring_open(int fd);
void trace_ring_close(struct trace_ring *ring); /* either end; NULL is fine */

/* Now, in ticks of the ring. */
static inline uint64_t trace_ticks(bool cycles)
{
    struct timespec t;
#if defined __x86_64__
    if (cycles)
        return __rdtsc();
#endif
    (void)cycles;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* The task: one record. */
void trace_ring_put(struct trace_ring *ring, struct trace_writer *writer,
                    const struct trace_record *record);

/* The task: a name, which gets the next number. False: there is no room. */
bool trace_ring_name(struct trace_ring *ring, const char *name, size_t bytes);

/* The daemon: up to `most` bytes that were not read yet, whole records, and which of all bytes the
 * first one is. The task may have written anything. */
size_t trace_ring_take(struct trace_ring *ring, uint8_t *bytes, size_t most, uint64_t *from);
uint64_t trace_ring_waiting(const struct trace_ring *ring); /* bytes that were not read yet */
/* The names behind the first `from` bytes of them. */
size_t trace_ring_names(const struct trace_ring *ring, size_t from, char *names, size_t most);

#endif
