/*
 * area.c - the memory of a window at one host: its layout, its locks and its counters.
 *
 * A lock is the ticket lock of readers and writers: who wants it takes the next number. A writer
 * has it when all before have left, and a reader when all writers before have left, for a reader
 * lets the next one in as soon as it has come. So none is passed over. A member that dies with a
 * ticket leaves it for ever; the window is broken then, and nobody waits.
 */
#include "lib/onesided/area.h"
#include "lib/covey/window.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define LINE 64
#define PAGE ((size_t)65536) /* the largest of the machines that Covey runs on */

struct area_head {
    _Alignas(LINE) _Atomic uint32_t sleepers;
};

struct area_lock {
    _Alignas(LINE) _Atomic uint32_t next; /* ticket to be taken */
    _Atomic uint32_t reading, writing;    /* that a reader, or a writer, may come in with */
};
static_assert(sizeof(struct area_head) == LINE && sizeof(struct area_lock) == LINE, "a line each");

/* ---- layout ---------------------------------------------------------------------------------- */

/* Adds memory with that alignment; false: that is too much. */
static bool place(size_t *end, size_t alignment, size_t bytes, size_t *at)
{
    size_t from = (*end + alignment - 1) & ~(alignment - 1);
    if (from < *end || bytes > SIZE_MAX / 2 - from)
        return false;
    *at = from;
    *end = from + bytes;
    return true;
}

bool area_layout(struct area *area)
{
    size_t end = sizeof(struct area_head);
    bool fits = true;
    for (int i = 0; i < area->places && fits; i++) {
        struct area_part *part = &area->parts[i];
        fits = place(&end, LINE, sizeof(struct area_lock), &part->lock_at) &&
               place(&end, LINE, part->signals * sizeof(uint64_t), &part->signals_at);
    }
    for (int i = 0; i < area->places && fits; i++)
        fits = place(&end, PAGE, area->parts[i].bytes, &area->parts[i].data_at);
    area->bytes = end;
    return fits;
}

bool area_map(struct area *area, int fd)
{
    int flags = fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
    void *memory = mmap(NULL, area->bytes, PROT_READ | PROT_WRITE, flags, fd, 0);
    if (memory == MAP_FAILED)
        return false;
    area->memory = memory;
    return true;
}

void area_unmap(struct area *area)
{
    if (area->memory != NULL)
        munmap(area->memory, area->bytes);
    free(area->parts);
    *area = (struct area){0};
}

static const struct area_part *part_of(const struct area *area, int place)
{
    assert(place >= 0 && place < area->places);
    return &area->parts[place];
}

uint8_t *area_data(const struct area *area, int place)
{
    return area->memory + part_of(area, place)->data_at;
}

/* ---- locks ----------------------------------------------------------------------------------- */

static struct area_lock *lock_of(const struct area *area, int place)
{
    return (struct area_lock *)(void *)(area->memory + part_of(area, place)->lock_at);
}

uint32_t area_ticket(const struct area *area, int place)
{
    return atomic_fetch_add(&lock_of(area, place)->next, 1);
}

bool area_is_served(const struct area *area, int place, int kind, uint32_t ticket)
{
    const struct area_lock *lock = lock_of(area, place);
    const _Atomic uint32_t *turn = kind == COVEY_LOCK_SHARED ? &lock->reading : &lock->writing;
    return atomic_load_explicit(turn, memory_order_acquire) == ticket;
}

void area_enter(const struct area *area, int place, int kind)
{
    if (kind == COVEY_LOCK_SHARED)
        atomic_fetch_add_explicit(&lock_of(area, place)->reading, 1, memory_order_acq_rel);
}

void area_leave(const struct area *area, int place, int kind)
{
    struct area_lock *lock = lock_of(area, place);
    if (kind != COVEY_LOCK_SHARED)
        atomic_fetch_add_explicit(&lock->reading, 1, memory_order_acq_rel);
    atomic_fetch_add_explicit(&lock->writing, 1, memory_order_acq_rel);
}

/* ---- counters -------------------------------------------------------------------------------- */

static _Atomic uint64_t *signal_of(const struct area *area, int place, uint32_t signal)
{
    const struct area_part *part = part_of(area, place);
    assert(signal < part->signals);
    return (_Atomic uint64_t *)(void *)(area->memory + part->signals_at) + signal;
}

void area_signal(const struct area *area, int place, uint32_t signal, uint64_t by)
{
    atomic_fetch_add_explicit(signal_of(area, place, signal), by, memory_order_acq_rel);
}

uint64_t area_signals(const struct area *area, int place, uint32_t signal)
{
    return atomic_load_explicit(signal_of(area, place, signal), memory_order_acquire);
}

/* ---- the bell -------------------------------------------------------------------------------- */

static struct area_head *head_of(const struct area *area)
{
    return (struct area_head *)(void *)area->memory;
}

/* One of both sees what the other wrote. */
void area_ask_bell(const struct area *area)
{
    atomic_store_explicit(&head_of(area)->sleepers, 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
}

bool area_wants_bell(const struct area *area)
{
    struct area_head *head = head_of(area);
    atomic_thread_fence(memory_order_seq_cst);
    return atomic_load_explicit(&head->sleepers, memory_order_relaxed) != 0 &&
           atomic_exchange_explicit(&head->sleepers, 0, memory_order_acq_rel) != 0;
}
