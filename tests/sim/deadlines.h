/*
 * deadlines.h - which of many is due next: a heap of numbers by time, and by number where times are
 * equal, so that nothing depends on the order of the calls. To look costs nothing, a change the
 * logarithm of how many there are.
 */
#ifndef COVEY_TESTS_SIM_DEADLINES_H
#define COVEY_TESTS_SIM_DEADLINES_H

#include <stddef.h>
#include <stdint.h>

struct deadlines;

/* For numbers up to `most`; aborts without memory. */
struct deadlines *deadlines_create(uint32_t most);
void deadlines_destroy(struct deadlines *d);

/* From now on the number is due then; UINT64_MAX: never. */
void deadlines_set(struct deadlines *d, uint32_t number, uint64_t time_us);

/* When the first is due, and which that is; UINT64_MAX: none is. */
uint64_t deadlines_next(const struct deadlines *d, uint32_t *number);

#endif
