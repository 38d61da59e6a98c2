/*
 * block.h - a range of n elements divided into parts whose sizes differ by one at most.
 */
#ifndef APPS_BLOCK_H
#define APPS_BLOCK_H

#include <stdint.h>

/* The first element of part `index` of `parts`; block_first(n, parts, parts) is n. */
int64_t block_first(int64_t n, int parts, int index);

/* The number of elements of that part. */
int64_t block_size(int64_t n, int parts, int index);

/* The largest of those sizes. */
int64_t block_size_max(int64_t n, int parts);

#endif
