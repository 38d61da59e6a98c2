/*
 * nest.h - the loops of this program: what depends on what, what a point computes, and what stands
 * outside the space.
 *
 *   sqrt   A(i,j,k) = sqrt(A(i-1,j,k)) + sqrt(A(i,j-1,k)) + sqrt(A(i,j,k-1)), the loop of Koziris,
 *          Sotiropoulos & Goumas, section 5.3; floats.
 *          Where a point is to take longer, each sum is replaced several times by three of its
 *          roots.
 *
 *   heat   heat that spreads over a plate, step by step: T(t,x,y) is made of T(t-1,x,y) and the
 *          four beside it; doubles. Two of the dependences point backwards, (1,-1,0) and (1,0,-1):
 *          rectangular tiles wait for each other, and only skewed ones are legal.
 */
#ifndef TILES_NEST_H
#define TILES_NEST_H

#include "covey.h"

#include <stdbool.h>

enum nest_kind { NEST_SQRT, NEST_HEAT, NEST_KINDS };
enum { NEST_DIMS = 3 };

/* Of the tiles: skewed if they have to be, or of least communication (enum covey_tiles_form). */
enum nest_shape { NEST_SKEW, NEST_OF_EACH, NEST_OF_COLUMNS, NEST_SHAPES };

#define NEST_SIDE_MAX ((int64_t)1 << 24)
#define NEST_ROOTS_MAX 1000000
#define NEST_BYTES_MAX ((int64_t)1 << 31) /* of all values, where they are wanted in one place */

/* "sqrt", "heat"; the kind of a name, or -1. */
const char *nest_name(int kind);
int nest_find(const char *name);

/* "skew", "each", "columns"; the shape of a name, or -1. */
const char *nest_shape_name(int shape);
int nest_shape_find(const char *name);

/* What is computed. It outlives what is made of it. */
struct nest_problem {
    int32_t kind;
    int32_t roots; /* of sqrt: so many more at each point */
    int32_t shape; /* enum nest_shape */
    int64_t size[NEST_DIMS];
};

/* The loop for covey_tiles_create(), with the skew of the problem's shape if `skewed` says so. */
struct covey_tiles_loop nest_loop(const struct nest_problem *problem, bool skewed);

/* Along which dimension tiles are one task's, 1 .. 3; 0: the shape does not say. */
int nest_along(const struct nest_problem *problem);

/* Bytes of a value. */
size_t nest_width(int kind);

/* The loop as it stands, without tiles. */
struct nest_space;

/* The space and what surrounds it. NULL: out of memory. */
struct nest_space *nest_space_create(const struct nest_problem *problem);

/* Computes all values, and gives them out: the last index runs fastest. */
void nest_space_run(struct nest_space *space, void *values);

/* NULL is fine. */
void nest_space_free(struct nest_space *space);

/* Prints the time of a point of each loop on this host; returns the exit status of the process. */
int nest_kernel(void);

#endif
