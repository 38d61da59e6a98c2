/*
 * write_all.h - all of some bytes to a descriptor.
 */
#ifndef COVEY_LIB_WRITE_ALL_H
#define COVEY_LIB_WRITE_ALL_H

#include <stdbool.h>
#include <stddef.h>

/* Waits as long as it takes, also where somebody who shares the descriptor has made it not block.
 * False: errno says why. */
bool write_all(int fd, const void *bytes, size_t size);

#endif
