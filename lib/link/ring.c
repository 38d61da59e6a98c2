/*
 * ring.c - the shared-memory byte ring.
 */
#include "lib/link/ring.h"

#include <string.h>

_Static_assert((RING_BYTES & (RING_BYTES - 1)) == 0, "positions wrap by a mask");

#define FORMAT 0x52696e02u /* struct ring_shared, version 2 */
#define FORMAT_SWAPPED 0x026e6952u

void ring_begin(struct ring_shared *shared)
{
    atomic_store_explicit(&shared->format, FORMAT, memory_order_release);
}

const char *ring_check(const struct ring_shared *shared)
{
    uint32_t format = atomic_load_explicit(&shared->format, memory_order_acquire);
    if (format == FORMAT)
        return NULL;
    return format == FORMAT_SWAPPED ? "its rings have another byte order"
                                    : "its rings are of another version";
}

static bool ask_wake(_Atomic uint32_t *waiting)
{
    atomic_thread_fence(memory_order_seq_cst);
    if (atomic_load_explicit(waiting, memory_order_relaxed) == 0)
        return false;
    return atomic_exchange_explicit(waiting, 0, memory_order_acq_rel) != 0;
}

ptrdiff_t ring_write(struct ring *ring, const struct iovec *iov, int count, bool *wake)
{
    struct ring_shared *shared = ring->shared;
    uint64_t used = ring->position - atomic_load_explicit(&shared->read, memory_order_acquire);
    *wake = false;
    if (used > RING_BYTES)
        return -1;
    size_t room = (size_t)(RING_BYTES - used);
    size_t taken = 0;
    for (int i = 0; i < count && room > taken; i++) {
        size_t part = iov[i].iov_len < room - taken ? iov[i].iov_len : room - taken;
        if (part > 0) {
            const uint8_t *from = iov[i].iov_base;
            size_t at = (size_t)(ring->position & (RING_BYTES - 1));
            size_t first = RING_BYTES - at < part ? RING_BYTES - at : part;
            memcpy(ring->shared->bytes + at, from, first);
            memcpy(ring->shared->bytes, from + first, part - first);
            ring->position += part;
        }
        taken += part;
    }
    if (taken > 0) {
        atomic_store_explicit(&shared->written, ring->position, memory_order_release);
        *wake = ask_wake(&shared->reader_waiting);
    }
    return (ptrdiff_t)taken;
}

ptrdiff_t ring_read(struct ring *ring, void *bytes, size_t size, bool *wake)
{
    struct ring_shared *shared = ring->shared;
    uint64_t there = atomic_load_explicit(&shared->written, memory_order_acquire) - ring->position;
    *wake = false;
    if (there > RING_BYTES)
        return -1;
    if (size > there)
        size = (size_t)there;
    if (size == 0)
        return 0;
    size_t at = (size_t)(ring->position & (RING_BYTES - 1));
    size_t first = RING_BYTES - at < size ? RING_BYTES - at : size;
    memcpy(bytes, shared->bytes + at, first);
    memcpy((uint8_t *)bytes + first, shared->bytes, size - first);
    ring->position += size;
    atomic_store_explicit(&shared->read, ring->position, memory_order_release);
    *wake = ask_wake(&shared->writer_waiting);
    return (ptrdiff_t)size;
}

void ring_announce(struct ring *ring, uint64_t stamp, bool *wake)
{
    atomic_store_explicit(&ring->shared->announced, stamp, memory_order_release);
    *wake = stamp == 0 && ask_wake(&ring->shared->reader_waiting);
}

uint64_t ring_announced(const struct ring *ring)
{
    return atomic_load_explicit(&ring->shared->announced, memory_order_acquire);
}

uint64_t ring_written(const struct ring *ring)
{
    return atomic_load_explicit(&ring->shared->written, memory_order_acquire);
}

bool ring_reader_sleeps(struct ring *ring)
{
    atomic_store_explicit(&ring->shared->reader_waiting, 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
    return atomic_load_explicit(&ring->shared->written, memory_order_acquire) != ring->position;
}

bool ring_writer_sleeps(struct ring *ring)
{
    atomic_store_explicit(&ring->shared->writer_waiting, 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
    return ring->position - atomic_load_explicit(&ring->shared->read, memory_order_acquire) <
           RING_BYTES;
}
