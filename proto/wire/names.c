/*
 * names.c - a hash table for finding and a list for walking.
 */
#include "proto/wire/names.h"
#include "proto/wire/list.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

bool name_get(struct cursor *c, char text[NAME_BYTES_MAX + 1])
{
    size_t size = cursor_get_u16(c);
    const uint8_t *bytes = cursor_get_view(c, size);
    text[0] = '\0';
    if (bytes == NULL || size == 0 || size > NAME_BYTES_MAX || memchr(bytes, '\0', size) != NULL)
        return false;
    memcpy(text, bytes, size);
    text[size] = '\0';
    return true;
}

/* FNV-1a */
static size_t bucket_of(const char *text)
{
    uint32_t hash = 2166136261u;
    for (; *text != '\0'; text++)
        hash = (hash ^ (uint8_t)*text) * 16777619u;
    return hash % NAMES_BUCKETS;
}

struct name *names_find(const struct names *names, const char *text)
{
    struct name *name = names->buckets[bucket_of(text)];
    while (name != NULL && strcmp(name->text, text) != 0)
        name = name->bucket_next;
    return name;
}

void *names_add(struct names *names, const char *text, size_t size)
{
    struct name *name = calloc(1, size);
    if (name == NULL)
        return NULL;
    memcpy(name->text, text, strlen(text) + 1);
    struct name **bucket = &names->buckets[bucket_of(text)];
    name->bucket_next = *bucket;
    *bucket = name;
    LINK_AFTER(names->last, names->first, names->last, name, next, prev);
    names->count++;
    return name;
}

void names_remove(struct names *names, struct name *name)
{
    UNLINK(names->buckets[bucket_of(name->text)], name, bucket_next);
    assert(names->count > 0);
    UNLINK_BOTH(names->first, names->last, name, next, prev);
    names->count--;
    free(name);
}
