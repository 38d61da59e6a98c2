/*
 * trace_ring.c - the memory between a task that is traced and its daemon.
 *
 * Ticks are cycles of the processor where the system itself takes them for its clock: then they go
 * on at one rate, and are the same on all processors. To read them costs a third of what the
 * system's clock costs.
 */
#include "lib/link/trace_ring.h"
#include "lib/link/shared_memory.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define FORMAT 0x54726302u /* struct trace_ring, version 2 */

_Static_assert(sizeof(struct trace_record) == TRACE_RECORD_BYTES, "records without padding");

static bool cycles_are_the_clock(void)
{
    char name[16] = "";
#if defined __x86_64__
    FILE *f = fopen("/sys/devices/system/clocksource/clocksource0/current_clocksource", "re");
    if (f == NULL)
        return false;
    if (fgets(name, sizeof name, f) == NULL)
        name[0] = '\0';
    fclose(f);
#endif
    return strcmp(name, "tsc\n") == 0;
}

static struct trace_ring *ring_map(int fd)
{
    void *at = mmap(NULL, sizeof(struct trace_ring), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    return at == MAP_FAILED ? NULL : at;
}

struct trace_ring *trace_ring_create(int *fd)
{
    int memory = shared_memory_create("covey-trace", sizeof(struct trace_ring));
    struct trace_ring *ring = memory < 0 ? NULL : ring_map(memory);
    if (ring == NULL) {
        if (memory >= 0)
            close(memory);
        return NULL;
    }
    ring->format = FORMAT;
    ring->cycles = cycles_are_the_clock();
    *fd = memory;
    return ring;
}

struct trace_ring *trace_ring_open(int fd)
{
    if (!shared_memory_ok(fd, sizeof(struct trace_ring)))
        return NULL;
    struct trace_ring *ring = ring_map(fd);
    if (ring == NULL || ring->format == FORMAT)
        return ring;
    trace_ring_close(ring); /* of another byte order, under an emulator */
    return NULL;
}

void trace_ring_close(struct trace_ring *ring)
{
    if (ring != NULL)
        munmap(ring, sizeof *ring);
}

void trace_ring_put(struct trace_ring *ring, struct trace_writer *writer,
                    const struct trace_record *record)
{
    uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed), at = head;
    size_t left = TRACE_PAGE_BYTES - head % TRACE_PAGE_BYTES;
    if (left <= TRACE_PACKED_MAX) /* with the mark of its end */
        at += left;
    if (at + TRACE_PACKED_MAX - writer->read > TRACE_RING_BYTES) {
        writer->read = atomic_load_explicit(&ring->tail, memory_order_acquire);
        if (at + TRACE_PACKED_MAX - writer->read > TRACE_RING_BYTES) {
            atomic_fetch_add_explicit(&ring->dropped, 1, memory_order_relaxed);
            return;
        }
    }
    if (at != head) {
        ring->bytes[head % TRACE_RING_BYTES] = TRACE_PAGE_END;
        trace_pack_begin(&writer->pack);
    }
    at += trace_pack_put(&writer->pack, ring->bytes + at % TRACE_RING_BYTES, record);
    atomic_store_explicit(&ring->head, at, memory_order_release);
}

bool trace_ring_name(struct trace_ring *ring, const char *name, size_t bytes)
{
    uint32_t used = atomic_load_explicit(&ring->names_bytes, memory_order_relaxed);
    if (used > sizeof ring->names || bytes >= sizeof ring->names - used)
        return false;
    memcpy(ring->names + used, name, bytes);
    ring->names[used + bytes] = '\0';
    atomic_store_explicit(&ring->names_bytes, used + (uint32_t)bytes + 1, memory_order_release);
    return true;
}

uint64_t trace_ring_waiting(const struct trace_ring *ring)
{
    return atomic_load_explicit(&ring->head, memory_order_acquire) -
           atomic_load_explicit(&ring->tail, memory_order_relaxed);
}

size_t trace_ring_take(struct trace_ring *ring, uint8_t *bytes, size_t most, uint64_t *from)
{
    uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
    uint64_t waiting = trace_ring_waiting(ring);
    *from = tail;
    if (waiting > TRACE_RING_BYTES)
        return 0;
    if (waiting > most) { /* records end where a page does */
        uint64_t end = (tail + most) / TRACE_PAGE_BYTES * TRACE_PAGE_BYTES;
        waiting = end > tail ? end - tail : 0;
    }
    size_t count = (size_t)waiting, first = TRACE_RING_BYTES - (size_t)(tail % TRACE_RING_BYTES);
    first = first < count ? first : count;
    memcpy(bytes, ring->bytes + tail % TRACE_RING_BYTES, first);
    memcpy(bytes + first, ring->bytes, count - first);
    atomic_store_explicit(&ring->tail, tail + count, memory_order_release);
    return count;
}

size_t trace_ring_names(const struct trace_ring *ring, size_t from, char *names, size_t most)
{
    size_t used = atomic_load_explicit(&ring->names_bytes, memory_order_acquire);
    if (used > sizeof ring->names || used <= from)
        return 0;
    size_t bytes = used - from < most ? used - from : most;
    memcpy(names, ring->names + from, bytes);
    return bytes;
}
