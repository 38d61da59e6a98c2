/*
 * dense_layout.h - which element of a matrix lies where: ScaLAPACK's block-cyclic layout, of which
 * rows and columns are each one axis. An axis of n elements in blocks goes round `of` processes,
 * the first block to process 0.
 */
#ifndef COVEY_LIB_DOMAIN_ALGEBRA_DENSE_LAYOUT_H
#define COVEY_LIB_DOMAIN_ALGEBRA_DENSE_LAYOUT_H

#include <stdint.h>

struct dense_grid {
    int rows, columns; /* processes; rank = row * columns + column */
};

struct dense_axis {
    int64_t block; /* elements */
    int at, of;    /* the process, and how many there are */
};

/* The process that has element i. */
int dense_axis_owner(const struct dense_axis *axis, int64_t i);

/* How many of the elements 0 .. i-1 process axis->at has: the local place of the first of its
 * elements that is not below i. With i = n: what it has in all (ScaLAPACK's NUMROC). */
int64_t dense_axis_before(const struct dense_axis *axis, int64_t i);

/* The local place of element i at the process that has it. */
int64_t dense_axis_local(const struct dense_axis *axis, int64_t i);

/* The element at a local place of process axis->at. */
int64_t dense_axis_global(const struct dense_axis *axis, int64_t local);

/* The grid of so many processes that is nearest to a square, with no more rows than columns. */
struct dense_grid dense_grid_square(int processes);

#endif
