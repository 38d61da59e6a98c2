/*
 * host_set.h - a set of hosts, by index. On the wire: count=u16 *index=u16, ascending.
 */
#ifndef COVEY_PROTO_HOST_SET_H
#define COVEY_PROTO_HOST_SET_H

#include "proto/wire/cursor.h"
#include "proto/wire/frame.h"

#define HOST_SET_WORDS ((HOST_INDEX_MAX + 1) / 64)

struct host_set {
    uint64_t words[HOST_SET_WORDS];
};

static inline bool host_set_has(const struct host_set *set, uint32_t host)
{
    return host <= HOST_INDEX_MAX && (set->words[host / 64] >> (host % 64) & 1);
}

void host_set_add(struct host_set *set, uint32_t host); /* one beyond HOST_INDEX_MAX: not at all */
void host_set_remove(struct host_set *set, uint32_t host);
bool host_set_empty(const struct host_set *set);
bool host_set_equal(const struct host_set *a, const struct host_set *b);
size_t host_set_count(const struct host_set *set);

/* a becomes the hosts that are in both; that are in a and not in b. */
void host_set_intersect(struct host_set *a, const struct host_set *b);
void host_set_subtract(struct host_set *a, const struct host_set *b);

/* The lowest host above `after`, 0: none. Begin with 0, which is no host. */
uint32_t host_set_next(const struct host_set *set, uint32_t after);

/* A number that tells sets apart. */
uint64_t host_set_hash(const struct host_set *set);

/* get refuses hosts that do not ascend or are none. */
void host_set_put(struct cursor *c, const struct host_set *set);
void host_set_get(struct cursor *c, struct host_set *set);

#endif
