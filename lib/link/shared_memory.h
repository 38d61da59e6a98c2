/*
 * shared_memory.h - memory without a name that is passed to other tasks of the host by descriptor,
 * and doorbells: eventfds that are passed likewise.
 */
#ifndef COVEY_LIB_LINK_SHARED_MEMORY_H
#define COVEY_LIB_LINK_SHARED_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

/* A descriptor of so many bytes of zeros, sealed so that nobody can shrink them under another; -1:
 * errno. */
int shared_memory_create(const char *name, size_t bytes);

/* Whether the descriptor that another task passed is such memory, of exactly so many bytes. */
bool shared_memory_ok(int fd, size_t bytes);

/* The caller is going to use that part of what it has mapped: its pages come at once, where they
 * would come one by one, each by a fault, of some microseconds under some hypervisors. */
void shared_memory_use(void *from, size_t bytes);

/* Whether ringing it, by doorbell_ring(), neither blocks nor writes into anything but an eventfd.
 */
bool doorbell_ok(int fd);
void doorbell_ring(int fd);

#endif
