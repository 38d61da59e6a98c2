/*
 * names.h - things that have names: found by name, walked in the order in which they came.
 *
 * The order is part of what replicas agree on: what a walk does to each must happen in the same
 * order everywhere, so it never depends on addresses or on a hash.
 */
#ifndef COVEY_PROTO_NAMES_H
#define COVEY_PROTO_NAMES_H

#include <stddef.h>

#include "proto/wire/cursor.h"

#define NAME_BYTES_MAX 63
#define NAMES_BUCKETS 1024
#define NAMES_MAX 65536 /* of one kind */

/* The first member of a named struct, so that both have one address. */
struct name {
    struct name *bucket_next, *prev, *next;
    char text[NAME_BYTES_MAX + 1];
};

struct names {
    struct name *buckets[NAMES_BUCKETS];
    struct name *first, *last;
    size_t count;
};

/* Reads a name: false when it has no or more than NAME_BYTES_MAX bytes, or a NUL. The cursor is bad
 * only when the text is cut short; a name that is too long is passed over. */
bool name_get(struct cursor *c, char text[NAME_BYTES_MAX + 1]);

struct name *names_find(const struct names *names, const char *text); /* NULL: none */

/* A zeroed struct of `size` bytes that begins with a struct name, as the last one. There must be
 * none of that name. NULL: memory is exhausted. names_remove() frees it. */
void *names_add(struct names *names, const char *text, size_t size);
void names_remove(struct names *names, struct name *name);

#endif
