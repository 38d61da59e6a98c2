/*
 * memory.h - memory that a task makes ready before its timed part.
 *
 * The system gives a page of memory away when it is written for the first time. In a virtual
 * machine that took 20 to 30 us, and sort a fifth longer than what it computes and sends. A program
 * has its memory before its work begins, as those of Schmidt & Sunderam have, and all tasks write
 * theirs at the same time, while the first one makes the data.
 */
#ifndef APPS_MEMORY_H
#define APPS_MEMORY_H

#include <stddef.h>
#include <stdlib.h>

#define MEMORY_PAGE 4096 /* bytes; the smallest there is */

/* Room for `count` elements of `size` bytes, all 0, of which each page has been written. Free it
 * with free(). NULL: there is no memory. */
static inline void *memory_ready(size_t count, size_t size)
{
    char *memory = calloc(count, size);
    for (size_t at = 0; memory != NULL && at < count * size; at += MEMORY_PAGE)
        ((volatile char *)memory)[at] = 0; /* a compiler knows that there are zeros */
    return memory;
}

#endif
