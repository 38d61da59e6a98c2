/*
 * grow.h - arrays that grow: GROW() makes room for so many elements by doubling, so that adding n
 * of them costs n. False: memory is exhausted, and the array is as it was.
 */
#ifndef COVEY_PROTO_GROW_H
#define COVEY_PROTO_GROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* `array` is the address of the pointer to it, of whatever type. */
static inline bool grow_array(void *array, size_t *capacity, size_t wanted, size_t first,
                              size_t element_bytes)
{
    void *at;
    size_t more = *capacity == 0 ? first : *capacity;
    if (wanted <= *capacity)
        return true;
    while (more < wanted)
        more *= 2;
    memcpy(&at, array, sizeof at);
    at = realloc(at, more * element_bytes);
    if (at == NULL)
        return false;
    memcpy(array, &at, sizeof at);
    *capacity = more;
    return true;
}

#define GROW(array, capacity, wanted, first)                                                       \
    grow_array(&(array), &(capacity), wanted, first, sizeof *(array))

#endif
