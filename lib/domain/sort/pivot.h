/*
 * pivot.h - a group of ranks agrees where to cut, by a sample of what it has.
 */
#ifndef COVEY_LIB_DOMAIN_SORT_PIVOT_H
#define COVEY_LIB_DOMAIN_SORT_PIVOT_H

#include "lib/domain/sort/run.h"

/* Sets *cut to the place in the sorted piece so that of all pieces of the ranks first .. first +
 * size
 * - 1 about size / 2 of `size` parts are before their cuts. All of these ranks call it. */
int pivot_cut(const struct sort_run *run, const struct sort_piece *piece, int first, int size,
              size_t *cut);

#endif
