/*
 * host_set.c - a set of hosts as one bit each, so that the union, the difference and the next host
 * of sets of thousands take a word at a time.
 */
#include "proto/wire/host_set.h"

#include <string.h>

void host_set_add(struct host_set *set, uint32_t host)
{
    if (host <= HOST_INDEX_MAX)
        set->words[host / 64] |= UINT64_C(1) << (host % 64);
}

void host_set_remove(struct host_set *set, uint32_t host)
{
    if (host <= HOST_INDEX_MAX)
        set->words[host / 64] &= ~(UINT64_C(1) << (host % 64));
}

bool host_set_empty(const struct host_set *set)
{
    return host_set_next(set, 0) == 0;
}

bool host_set_equal(const struct host_set *a, const struct host_set *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

size_t host_set_count(const struct host_set *set)
{
    size_t count = 0;
    for (size_t i = 0; i < HOST_SET_WORDS; i++)
        count += (size_t)__builtin_popcountll(set->words[i]);
    return count;
}

void host_set_intersect(struct host_set *a, const struct host_set *b)
{
    for (size_t i = 0; i < HOST_SET_WORDS; i++)
        a->words[i] &= b->words[i];
}

void host_set_subtract(struct host_set *a, const struct host_set *b)
{
    for (size_t i = 0; i < HOST_SET_WORDS; i++)
        a->words[i] &= ~b->words[i];
}

uint32_t host_set_next(const struct host_set *set, uint32_t after)
{
    uint32_t from = after + 1;
    if (from > HOST_INDEX_MAX)
        return 0;
    uint64_t word = set->words[from / 64] >> (from % 64);
    if (word != 0)
        return from + (uint32_t)__builtin_ctzll(word);
    for (uint32_t i = from / 64 + 1; i < HOST_SET_WORDS; i++) {
        if (set->words[i] != 0)
            return i * 64 + (uint32_t)__builtin_ctzll(set->words[i]);
    }
    return 0;
}

/* The mixing of splitmix64, word after word. */
uint64_t host_set_hash(const struct host_set *set)
{
    uint64_t hash = 0;
    for (size_t i = 0; i < HOST_SET_WORDS; i++) {
        hash += set->words[i] + UINT64_C(0x9e3779b97f4a7c15);
        hash = (hash ^ hash >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
        hash = (hash ^ hash >> 27) * UINT64_C(0x94d049bb133111eb);
        hash ^= hash >> 31;
    }
    return hash;
}

void host_set_put(struct cursor *c, const struct host_set *set)
{
    cursor_put_u16(c, (uint16_t)host_set_count(set));
    for (uint32_t host = 0; (host = host_set_next(set, host)) != 0;)
        cursor_put_u16(c, (uint16_t)host);
}

void host_set_get(struct cursor *c, struct host_set *set)
{
    uint16_t count = cursor_get_u16(c), last = 0;
    memset(set, 0, sizeof *set);
    for (; count > 0 && cursor_ok(c); count--) {
        uint16_t host = cursor_get_u16(c);
        if (host <= last || host > HOST_INDEX_MAX)
            c->bad = true;
        host_set_add(set, host);
        last = host;
    }
}
