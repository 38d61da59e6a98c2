/*
 * covey_domain/grid.h - regular grids that are spread over the members of a team, and their halos.
 * See covey_grid(3).
 */
#ifndef COVEY_DOMAIN_GRID_H
#define COVEY_DOMAIN_GRID_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

#define COVEY_GRID_DIMS_MAX 3
#define COVEY_GRID_WIDTH_MAX 16

typedef struct covey_grid covey_grid_t; /* a grid that is divided among the members of a team */

/* Which neighbours of a point the halo has: along each axis, or also across (edges, corners). */
enum covey_stencil { COVEY_STENCIL_STAR = 1, COVEY_STENCIL_BOX = 2 };

/* A grid of n[0] x n[1] (x n[2]) points; the last axis runs fastest in memory. */
struct covey_grid_shape {
    int32_t dims; /* 2 or 3 */
    int32_t stencil;
    int32_t width;                         /* of the halo, points: 1 .. COVEY_GRID_WIDTH_MAX */
    int32_t periodic[COVEY_GRID_DIMS_MAX]; /* 1: the first point is behind the last one */
    int64_t n[COVEY_GRID_DIMS_MAX];        /* from 1 */
};

/* What lies at a member: of axis d the points offset[d] .. offset[d] + size[d] - 1. A field is an
 * array of `count` doubles, halo included; its point (i, j, k) of the whole grid is element
 * start + (i - offset[0]) * stride[0] + (j - offset[1]) * stride[1] + ...; the halo has `width`
 * points more on both sides of each axis. A member without points has sizes and a count of 0. */
struct covey_grid_part {
    int32_t dims;
    int32_t width;
    int32_t parts[COVEY_GRID_DIMS_MAX]; /* into how many the axes are divided */
    int32_t place[COVEY_GRID_DIMS_MAX]; /* which of these this one is; -1: none */
    int64_t n[COVEY_GRID_DIMS_MAX];
    int64_t offset[COVEY_GRID_DIMS_MAX];
    int64_t size[COVEY_GRID_DIMS_MAX];
    int64_t stride[COVEY_GRID_DIMS_MAX]; /* doubles */
    int64_t start;                       /* doubles */
    size_t count;                        /* doubles */
};

/* Divides a grid so that the members with the most points and halo have as few as can be, those of
 * a host beside each other. `options` is NULL, or text that forces, as "parts=4x2x1"; COVEY_GRID in
 * the environment counts instead. Members that are more than points have none. All give the same
 * shape; the grid ends before the team. A collective call.
 * Errors: EINVAL (the shape, an option, a halo that is wider than a part: at all members), ENOMEM,
 * and those of all collective calls. */
int covey_grid_create(covey_team_t *team, const struct covey_grid_shape *shape, const char *options,
                      covey_grid_t **grid);

/* The caller's part, and that of another rank. Errors: EINVAL. */
int covey_grid_local(const covey_grid_t *grid, struct covey_grid_part *part);
int covey_grid_local_of(const covey_grid_t *grid, int rank, struct covey_grid_part *part);

/* The rank that has a point of the grid. Errors: EINVAL (no such point). */
int covey_grid_owner(const covey_grid_t *grid, const int64_t *at);

/* A field of zeros; free with free(). NULL: no memory. At a member without points not NULL either.
 */
double *covey_grid_field(const covey_grid_t *grid);

/* Fills the halo of a field with the points of other members, and around periodic axes; the halo
 * outside the grid stays as it is, and so do edges and corners with a star. A collective call of
 * neighbours. Between begin and end the program may read the field, and change points that are
 * farther than `width` from the border of its part; one exchange of a grid runs at a time.
 * Errors: EINVAL (field NULL where there are points; none, or one, runs: the team is broken), and
 * those of messages, after which the team is broken. */
int covey_grid_exchange(covey_grid_t *grid, double *field);
int covey_grid_begin(covey_grid_t *grid, double *field);
int covey_grid_end(covey_grid_t *grid);

/* Sum of a[i] * b[i], and the root of that of a[i]^2, over all points without halo, the same bits
 * at all members and, but for one time in 2^40, however the grid is divided. Collective calls.
 * Errors: as covey_grid_exchange(). */
int covey_grid_dot(covey_grid_t *grid, const double *a, const double *b, double *dot);
int covey_grid_norm(covey_grid_t *grid, const double *a, double *norm);

/* The whole grid, n[0] * n[1] * n[2] doubles without halo, from the fields of all members to rank
 * `root`, and back. `whole` matters there alone. Collective calls.
 * Errors: EINVAL (root at all; an array NULL: the team is broken), ENOMEM, and those of messages.
 */
int covey_grid_gather(covey_grid_t *grid, const double *field, int root, double *whole);
int covey_grid_scatter(covey_grid_t *grid, int root, const double *whole, double *field);

/* Frees the grid and sets *grid to NULL; not collective. NULL is fine. */
void covey_grid_free(covey_grid_t **grid);

#ifdef __cplusplus
}
#endif
#endif
