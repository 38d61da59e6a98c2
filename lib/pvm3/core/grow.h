/*
 * grow.h - arrays that grow: GROW() makes room for one more element behind `count` by doubling.
 * False: memory is exhausted, and the array is as it was.
 */
#ifndef COVEY_LIB_PVM3_GROW_H
#define COVEY_LIB_PVM3_GROW_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* `array` is the address of the pointer to it, of whatever type. */
static inline bool grow_array(void *array, int *capacity, int count, int first,
                              size_t element_bytes)
{
    if (count < *capacity)
        return true;
    int more = *capacity == 0 ? first : 2 * *capacity;
    void *at;
    memcpy(&at, array, sizeof at);
    at = realloc(at, (size_t)more * element_bytes);
    if (at == NULL)
        return false;
    memcpy(array, &at, sizeof at);
    *capacity = more;
    return true;
}

#define GROW(array, capacity, count, first)                                                        \
    grow_array(&(array), &(capacity), count, first, sizeof *(array))

#endif
