/*
 * ring.c - the shared-memory byte ring.
 */
#include "lib/link/ring.h"
#include "lib/link/barrier.h"
#include "lib/link/shared_memory.h"

#include <string.h>

_Static_assert((RING_BYTES & (RING_BYTES - 1)) == 0, "positions wrap by a mask");

_Static_assert(RING_TOLD_BYTES < RING_BYTES, "a reader of all that fits tells the writer");

#define MAPPED_BYTES 4096 /* at first: most rings carry no more */

#define FORMAT 0x52696e05u /* struct ring_shared and what is in it, version 5 */
#define FORMAT_SWAPPED 0x056e6952u

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

void ring_begin_writer(struct ring *ring, struct ring_shared *shared)
{
    *ring = (struct ring){.shared = shared, .mapped = MAPPED_BYTES, .trusts = barrier_join()};
}

void ring_begin_reader(struct ring *ring, struct ring_shared *shared)
{
    *ring = (struct ring){.shared = shared, .mapped = MAPPED_BYTES, .may_pay = barrier_all()};
    atomic_store_explicit(&shared->reader_waiting, 0, memory_order_relaxed);
}

/* Whether the other end sleeps; it is woken once. */
static bool take_sleeper(_Atomic uint32_t *waiting)
{
    if ((atomic_load_explicit(waiting, memory_order_relaxed) & RING_ASLEEP) == 0)
        return false;
    return (atomic_fetch_and_explicit(waiting, ~(uint32_t)RING_ASLEEP, memory_order_acq_rel) &
            RING_ASLEEP) != 0;
}

static bool must_wake_reader(const struct ring *ring)
{
    _Atomic uint32_t *waiting = &ring->shared->reader_waiting;
    atomic_signal_fence(memory_order_seq_cst);
    if (!ring->trusts || (atomic_load_explicit(waiting, memory_order_relaxed) & RING_PAYS) == 0)
        atomic_thread_fence(memory_order_seq_cst);
    return take_sleeper(waiting);
}

/* Bytes that the writer may write, at least `wanted` if there are as many; SIZE_MAX: the reader's
 * position makes no sense. */
static size_t room_for(struct ring *ring, size_t wanted)
{
    uint64_t used = ring->position - ring->other;
    if (used > RING_BYTES || RING_BYTES - used < wanted) {
        ring->other = atomic_load_explicit(&ring->shared->read, memory_order_acquire);
        used = ring->position - ring->other;
    }
    return used > RING_BYTES ? SIZE_MAX : (size_t)(RING_BYTES - used);
}

/* In its first round an end comes to new pages all the time, and so takes twice as many at once
 * each time: it has no more than twice what it used. */
static void map_up_to(struct ring *ring, uint64_t position)
{
    if (position <= ring->mapped)
        return;
    uint64_t end = position > 2 * ring->mapped ? position : 2 * ring->mapped;
    size_t to = end < RING_BYTES ? (size_t)end : RING_BYTES;
    shared_memory_use(ring->shared->bytes + ring->mapped, to - (size_t)ring->mapped);
    ring->mapped = to < RING_BYTES ? to : UINT64_MAX;
}

static void put(struct ring *ring, const void *bytes, size_t size)
{
    map_up_to(ring, ring->position + size);
    size_t at = (size_t)(ring->position & (RING_BYTES - 1));
    size_t first = RING_BYTES - at < size ? RING_BYTES - at : size;
    memcpy(ring->shared->bytes + at, bytes, first);
    if (first < size)
        memcpy(ring->shared->bytes, (const uint8_t *)bytes + first, size - first);
    ring->position += size;
}

/* ---- notes ----------------------------------------------------------------------------------- */

/* A reader that has got one of these words finds `end_size` changed, when it looks at that again.
 */
static void note_put(struct ring_note *note, uint64_t end, const uint64_t *words, size_t size)
{
    atomic_store_explicit(&note->end_size, end << 8 | size, memory_order_relaxed);
    for (size_t i = 0; i < (size + 7) / 8; i++)
        atomic_store_explicit(&note->words[i], words[i], memory_order_release);
}

/* If the note is of what was written last, and whole, it is copied. */
static void note_take(struct ring *ring)
{
    struct ring_note *note = &ring->shared->note;
    uint64_t end_size = atomic_load_explicit(&note->end_size, memory_order_relaxed);
    size_t size = end_size & 0xff;
    ring->note_size = 0;
    if (end_size >> 8 != (ring->other & UINT64_MAX >> 8) || size > RING_NOTE_BYTES)
        return;
    for (size_t i = 0; i < (size + 7) / 8; i++)
        ring->note[i] = atomic_load_explicit(&note->words[i], memory_order_acquire);
    if (atomic_load_explicit(&note->end_size, memory_order_relaxed) != end_size)
        return;
    ring->noted = ring->other;
    ring->note_size = size;
}

/* ---- writing and reading --------------------------------------------------------------------- */

/* What fits a note, as one piece. */
static void put_short(struct ring *ring, const struct iovec *iov, int count, size_t size)
{
    uint64_t words[RING_NOTE_BYTES / 8] = {0};
    uint8_t *at = (uint8_t *)words;
    for (int i = 0; i < count; at += iov[i++].iov_len) {
        if (iov[i].iov_len > 0)
            memcpy(at, iov[i].iov_base, iov[i].iov_len);
    }
    put(ring, words, size);
    note_put(&ring->shared->note, ring->position, words, size);
}

/* Stores are seen in their order, so that of a line that is far away would hold up the one that
 * publishes: the line behind what was written is asked for in time. */
static void publish(struct ring *ring, bool *wake)
{
    size_t next = (size_t)((ring->position + RING_LINE) & (RING_BYTES - 1));
    atomic_store_explicit(&ring->shared->written, ring->position, memory_order_release);
    *wake = must_wake_reader(ring);
    __builtin_prefetch(ring->shared->bytes + next, 1);
}

bool ring_write_words(struct ring *ring, const uint64_t *words, size_t count, bool *wake)
{
    size_t size = count * sizeof *words, at = (size_t)(ring->position & (RING_BYTES - 1));
    size_t room = room_for(ring, size);
    *wake = false;
    if (room < size || room == SIZE_MAX || size > RING_NOTE_BYTES)
        return false;
    if (at + size <= RING_BYTES && ring->position + size <= ring->mapped) {
        uint8_t *to = ring->shared->bytes + at;
        for (size_t i = 0; i < count; i++, to += sizeof *words)
            memcpy(to, &words[i], sizeof *words);
        ring->position += size;
    } else {
        put(ring, words, size);
    }
    note_put(&ring->shared->note, ring->position, words, size);
    publish(ring, wake);
    return true;
}

ptrdiff_t ring_write(struct ring *ring, const struct iovec *iov, int count, bool *wake)
{
    size_t wanted = 0, taken = 0;
    *wake = false;
    for (int i = 0; i < count; i++)
        wanted += iov[i].iov_len;
    size_t room = room_for(ring, wanted);
    if (room == SIZE_MAX)
        return -1;
    if (wanted <= RING_NOTE_BYTES && wanted <= room) {
        put_short(ring, iov, count, wanted);
        taken = wanted;
    }
    for (int i = 0; i < count && room > taken && taken < wanted; i++) {
        size_t part = iov[i].iov_len < room - taken ? iov[i].iov_len : room - taken;
        if (part > 0)
            put(ring, iov[i].iov_base, part);
        taken += part;
    }
    if (taken > 0)
        publish(ring, wake);
    return (ptrdiff_t)taken;
}

bool ring_fits(struct ring *ring, size_t size)
{
    size_t room = room_for(ring, size);
    return room != SIZE_MAX && room >= size;
}

/* Lines that the writer's processor has come one after the other to who only waits for the first.
 */
static void ask_for(const struct ring *ring, uint64_t bytes)
{
    size_t most = bytes < RING_AHEAD_BYTES ? (size_t)bytes : RING_AHEAD_BYTES;
    for (size_t i = 0; i < most + RING_LINE; i += RING_LINE)
        __builtin_prefetch(ring->shared->bytes + ((ring->position + i) & (RING_BYTES - 1)));
}

static void look(struct ring *ring)
{
    uint64_t before = ring->other;
    ring->other = ring_written(ring);
    if (ring->other == before)
        return;
    map_up_to(ring, ring->other);
    note_take(ring);
    if (ring->other - ring->position != ring->note_size)
        ask_for(ring, ring->other - ring->position);
}

size_t ring_there(struct ring *ring, size_t wanted)
{
    if (ring->other - ring->position < wanted)
        look(ring);
    uint64_t size = ring->other - ring->position;
    return size > RING_BYTES ? SIZE_MAX : (size_t)size;
}

const uint64_t *ring_noted(const struct ring *ring, size_t *size)
{
    *size = ring->note_size;
    return ring->noted - ring->position == ring->note_size && ring->note_size > 0 ? ring->note
                                                                                  : NULL;
}

void ring_peek(const struct ring *ring, size_t offset, void *bytes, size_t size)
{
    size_t at = (size_t)((ring->position + offset) & (RING_BYTES - 1));
    size_t first = RING_BYTES - at < size ? RING_BYTES - at : size;
    uint64_t left = ring->noted - (ring->position + offset); /* up to the end of the note */
    if (left <= ring->note_size && size <= left) {
        memcpy(bytes, (const uint8_t *)ring->note + ring->note_size - left, size);
        return;
    }
    memcpy(bytes, ring->shared->bytes + at, first);
    if (first < size)
        memcpy((uint8_t *)bytes + first, ring->shared->bytes, size - first);
}

/* From here on the next sleep has a barrier, so the writer needs none. Another thread of the task
 * may sleep, and its request stands. */
static void begin_to_pay(struct ring *ring)
{
    ring->pays = true;
    atomic_fetch_or_explicit(&ring->shared->reader_waiting, RING_PAYS, memory_order_relaxed);
}

/* A writer that found the ring full waits for no less than RING_TOLD_BYTES: whatever fills the ring
 * is more, and the reader publishes its position before it has read it all. */
void ring_skip(struct ring *ring, size_t size, bool *wake)
{
    ring->position += size;
    *wake = false;
    if (++ring->reads >= RING_PAYS_AFTER && ring->may_pay && !ring->pays)
        begin_to_pay(ring);
    if (ring->position - ring->told < RING_TOLD_BYTES)
        return;
    ring->told = ring->position;
    atomic_store_explicit(&ring->shared->read, ring->position, memory_order_release);
    atomic_thread_fence(memory_order_seq_cst);
    *wake = take_sleeper(&ring->shared->writer_waiting);
}

ptrdiff_t ring_read(struct ring *ring, void *bytes, size_t size, bool *wake)
{
    size_t most = ring_there(ring, 1);
    *wake = false;
    if (most == SIZE_MAX)
        return -1;
    if (size > most)
        size = most;
    if (size == 0)
        return 0;
    ring_peek(ring, 0, bytes, size);
    ring_skip(ring, size, wake);
    return (ptrdiff_t)size;
}

void ring_announce(struct ring *ring, uint64_t stamp, bool *wake)
{
    atomic_store_explicit(&ring->shared->announced, stamp, memory_order_release);
    *wake = stamp == 0 && must_wake_reader(ring);
}

void ring_nudge(struct ring *ring, bool *wake)
{
    *wake = must_wake_reader(ring);
}

uint64_t ring_announced(struct ring *ring)
{
    ring->seen = atomic_load_explicit(&ring->shared->announced, memory_order_acquire);
    return ring->seen;
}

uint64_t ring_written(const struct ring *ring)
{
    return atomic_load_explicit(&ring->shared->written, memory_order_acquire);
}

/* While what it said before stands, the writer has written nothing since, or has not looked yet and
 * will see it: that had its barrier. */
bool ring_reader_asks(struct ring *ring)
{
    _Atomic uint32_t *waiting = &ring->shared->reader_waiting;
    bool paid = ring->pays;
    if (ring->asked && (atomic_load_explicit(waiting, memory_order_relaxed) & RING_ASLEEP) != 0)
        return false;
    ring->asked = true;
    ring->pays = false;
    ring->reads = 0;
    atomic_store_explicit(waiting, RING_ASLEEP, memory_order_relaxed);
    if (!paid)
        atomic_thread_fence(memory_order_seq_cst);
    return paid;
}

/* A barrier that was to be had when the ring was made, and is refused now, is no more counted on.
 * The writer that did so a moment ago has seen it when the reader, who does not sleep this time,
 * comes here again. */
bool ring_reader_looks(struct ring *ring, bool barrier)
{
    bool ended = ring->seen != 0 &&
                 atomic_load_explicit(&ring->shared->announced, memory_order_acquire) == 0;
    if (ended)
        ring->seen = 0;
    if (!barrier) {
        ring->may_pay = false;
        ring_reader_awake(ring);
        return true;
    }
    return ended || ring_written(ring) != ring->position;
}

bool ring_reader_sleeps(struct ring *ring)
{
    bool pay = ring_reader_asks(ring);
    return ring_reader_looks(ring, !pay || barrier_all());
}

void ring_reader_awake(struct ring *ring)
{
    if (!ring->asked)
        return;
    ring->asked = false;
    atomic_store_explicit(&ring->shared->reader_waiting, ring->pays ? RING_PAYS : 0,
                          memory_order_relaxed);
}

bool ring_writer_sleeps(struct ring *ring)
{
    atomic_store_explicit(&ring->shared->writer_waiting, RING_ASLEEP, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
    return ring->position - atomic_load_explicit(&ring->shared->read, memory_order_acquire) <
           RING_BYTES;
}
