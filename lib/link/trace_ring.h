/*
 * trace_ring.h - memory in which a task records what it does, and which its daemon reads: a ring of
 * records, and the names that they use. The task alone writes, the daemon alone reads, and neither
 * waits: a record that finds the ring full is counted and forgotten. What a task wrote is there
 * when it has died.
 */
#ifndef COVEY_LIB_LINK_TRACE_RING_H
#define COVEY_LIB_LINK_TRACE_RING_H

#include "proto/trace/trace_record.h"
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#if defined __x86_64__
#include <x86intrin.h>
#endif

#define TRACE_RING_RECORDS 32768u

struct trace_ring {
    uint32_t format;
    uint32_t cycles;                    /* ticks are the processor's cycles, else nanoseconds */
    _Alignas(64) _Atomic uint64_t head; /* records written, ever */
    _Atomic uint64_t dropped;
    _Atomic uint32_t names_bytes;
    struct trace_record open;           /* the call under way; word 0 is 0: none */
    _Alignas(64) _Atomic uint64_t tail; /* records read, ever */
    _Alignas(64) char names[TRACE_NAMES_BYTES];
    struct trace_record records[TRACE_RING_RECORDS];
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

/* The task: one record. `read` is what it knows of the reader's place, and keeps. */
static inline void trace_ring_put(struct trace_ring *ring, uint64_t *read,
                                  const struct trace_record *record)
{
    uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
    if (head - *read >= TRACE_RING_RECORDS) {
        *read = atomic_load_explicit(&ring->tail, memory_order_acquire);
        if (head - *read >= TRACE_RING_RECORDS) {
            atomic_fetch_add_explicit(&ring->dropped, 1, memory_order_relaxed);
            return;
        }
    }
    ring->records[head % TRACE_RING_RECORDS] = *record;
    atomic_store_explicit(&ring->head, head + 1, memory_order_release);
}

/* The task: a name, which gets the next number. False: there is no room. */
bool trace_ring_name(struct trace_ring *ring, const char *name, size_t bytes);

/* The daemon: up to `most` records that were not read yet. The task may have written anything. */
size_t trace_ring_take(struct trace_ring *ring, struct trace_record *records, size_t most);
bool trace_ring_waits(const struct trace_ring *ring); /* some were not read */
/* The names behind the first `from` bytes of them. */
size_t trace_ring_names(const struct trace_ring *ring, size_t from, char *names, size_t most);

#endif
