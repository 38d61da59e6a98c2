/* past_cache.c - see past_cache.h. */
#include "lib/link/past_cache.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define LINE ((size_t)64)
#define USUAL_CACHE ((size_t)32 << 20) /* where the system does not tell */

/* sysconf() tells the sum of all caches of the machine. */
static size_t read_cache_bytes(void)
{
    unsigned long kib = 0;
    FILE *file = fopen("/sys/devices/system/cpu/cpu0/cache/index3/size", "re");
    if (file != NULL && fscanf(file, "%8luK", &kib) != 1)
        kib = 0;
    if (file != NULL)
        fclose(file);
    return kib > 0 ? (size_t)kib * 1024 : USUAL_CACHE;
}

static size_t cache_bytes(void)
{
    static _Atomic size_t known;
    size_t bytes = atomic_load_explicit(&known, memory_order_relaxed);
    if (bytes == 0) {
        bytes = read_cache_bytes();
        atomic_store_explicit(&known, bytes, memory_order_relaxed);
    }
    return bytes;
}

bool past_cache_is_best(size_t bytes)
{
    return bytes > cache_bytes();
}

#ifdef __SSE2__
#include <emmintrin.h>

/* Whole lines, to the beginning of one. */
static void copy_lines(uint8_t *to, const uint8_t *from, size_t lines)
{
    enum { PARTS = 4 };
    for (; lines > 0; lines--, to += LINE, from += LINE) {
        __m128i part[PARTS];
        for (int i = 0; i < PARTS; i++)
            part[i] = _mm_loadu_si128((const __m128i *)(const void *)from + i);
        for (int i = 0; i < PARTS; i++)
            _mm_stream_si128((__m128i *)(void *)to + i, part[i]);
    }
    _mm_sfence();
}

void past_cache_copy(void *to, const void *from, size_t bytes)
{
    uint8_t *t = to;
    const uint8_t *f = from;
    size_t head = (LINE - (uintptr_t)to % LINE) % LINE;
    if (bytes < head + LINE) {
        memcpy(to, from, bytes);
        return;
    }
    size_t lines = (bytes - head) / LINE, end = head + lines * LINE;
    memcpy(t, f, head);
    copy_lines(t + head, f + head, lines);
    memcpy(t + end, f + end, bytes - end);
}
#else
void past_cache_copy(void *to, const void *from, size_t bytes)
{
    memcpy(to, from, bytes);
}
#endif
