/*
 * window_mtu.c - see window_mtu.h. The ceiling is tried first (in a pool it mostly is the answer),
 * then the interval is halved. A size is given up after MTU_TRIES lost probes; a probe's loss says
 * nothing about congestion. Every MTU_RAISE_US the search begins again.
 */
#include "proto/window/window_mtu.h"

#include <assert.h>

#define MTU_TRIES 3
#define MTU_STEP_BYTES 32
#define MTU_BULK_BYTES (16u * 1024)
#define MTU_RAISE_US (600 * 1000000ull)
#define MTU_LARGE_LOST 6

static void mtu_search(struct mtu *m)
{
    m->high = m->ceiling;
    m->probe = 0;
    m->failures = 0;
    m->acked_bytes = 0;
    m->large_lost = 0;
    m->done = m->size >= m->ceiling;
}

void mtu_init(struct mtu *m, size_t floor, size_t ceiling)
{
    *m = (struct mtu){.floor = floor, .size = floor};
    m->ceiling = ceiling > floor ? ceiling : floor;
    mtu_search(m);
}

static void mtu_narrowed(struct mtu *m, uint64_t now_us)
{
    assert(m->floor <= m->size && m->size <= m->high && m->high <= m->ceiling);
    m->failures = 0;
    if (m->high - m->size >= MTU_STEP_BYTES)
        return;
    m->done = true;
    m->done_us = now_us;
}

size_t mtu_probe_wanted(struct mtu *m, uint64_t now_us)
{
    if (m->done && m->size < m->ceiling && now_us - m->done_us >= MTU_RAISE_US)
        mtu_search(m);
    if (m->done || m->probe != 0 || m->acked_bytes < MTU_BULK_BYTES)
        return 0;
    return m->high == m->ceiling ? m->high : m->size + (m->high - m->size + 1) / 2;
}

void mtu_probe_sent(struct mtu *m, size_t size)
{
    m->probe = size;
}

void mtu_probe_acked(struct mtu *m, size_t size, uint64_t now_us)
{
    m->probe = 0;
    m->large_lost = 0;
    m->large_acked_us = now_us;
    if (size <= m->size)
        return;
    m->size = size;
    if (m->high < size)
        m->high = size;
    mtu_narrowed(m, now_us);
}

void mtu_probe_lost(struct mtu *m, size_t size, uint64_t now_us)
{
    m->probe = 0;
    if (++m->failures < MTU_TRIES || size <= m->size)
        return;
    m->high = size - 1;
    mtu_narrowed(m, now_us);
}

void mtu_acked(struct mtu *m, size_t size, uint64_t now_us)
{
    m->acked_bytes += size;
    if (size <= m->floor)
        return;
    m->large_lost = 0;
    m->large_acked_us = now_us;
}

bool mtu_lost(struct mtu *m, size_t size, uint64_t patience_us, uint64_t now_us)
{
    if (size <= m->floor || m->size == m->floor)
        return false;
    if (++m->large_lost < MTU_LARGE_LOST || now_us - m->large_acked_us < patience_us)
        return false;
    m->size = m->floor;
    mtu_search(m);
    return true;
}
