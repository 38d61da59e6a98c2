/*
 * grow.h - arrays that grow: GROW() makes room for so many elements by doubling, as that of
 * proto/wire/grow.h does, which this room does not see; its counts are ints, as PVM's are. False:
 * memory is exhausted, and the array is as it was.
 */
#ifndef COVEY_LIB_PVM3_GROW_H
#define COVEY_LIB_PVM3_GROW_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* `array` is the address of the pointer to it, of whatever type. */
static inline bool grow_array(void *array, int *capacity, int wanted, int first,
                              size_t element_bytes)
{
    if (wanted <= *capacity)
        return true;
    int more = *capacity == 0 ? first : *capacity;
    void *at;
    while (more < wanted)
        more *= 2;
    memcpy(&at, array, sizeof at);
    at = realloc(at, (size_t)more * element_bytes);
    if (at == NULL)
        return false;
    memcpy(array, &at, sizeof at);
    *capacity = more;
    return true;
}

#define GROW(array, capacity, wanted, first)                                                       \
    grow_array(&(array), &(capacity), wanted, first, sizeof *(array))

#endif
