/*
 * spare.h - memory for long arrays that come and go: a message, what a collective call computes in.
 *
 * malloc() gives long blocks back to the system, and each page of the next one costs a fault and is
 * cleared: a fifth of the time of a message of 1 MiB on many machines, more than all of the rest
 * under some hypervisors. So a task keeps the last few blocks, at most SPARE_BLOCKS of
 * SPARE_BYTES_MAX. Any thread may call these.
 */
#ifndef COVEY_LIB_MSG_SPARE_H
#define COVEY_LIB_MSG_SPARE_H

#include <stddef.h>

#define SPARE_BLOCKS 4
#define SPARE_BYTES_MIN ((size_t)64 * 1024)
#define SPARE_BYTES_MAX ((size_t)2 * 1024 * 1024)

/* At least so many bytes, aligned as malloc() does, with anything in them; NULL: there is no
 * memory. Who gets it owns it, and ends that with spare_give(). */
void *spare_take(size_t bytes);
/* The same with what was in it (NULL: nothing); NULL: there is no memory, and it stands. */
void *spare_resize(void *memory, size_t bytes);
void spare_give(void *memory); /* NULL is fine */

#endif
