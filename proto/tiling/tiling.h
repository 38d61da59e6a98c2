/*
 * tiling.h - loops in tiles: the mathematics of Koziris, Sotiropoulos & Goumas.
 *
 *   tiling_matrix.c  integer matrices, exactly: determinant, inverse
 *   tiling.c         D, H and P: whether a tiling is legal, what a tile computes and sends
 *   tiling_space.c   the iteration space in the indices of the tiles
 *   tiling_shape.c   the shape of least communication
 *   tiling_grid.c    tasks in a grid over that space
 *   tiling_time.c    time hyperplanes, completion times
 *   tiling_play.c    the steps of all tasks played against each other
 *   tiling_height.c  the height of least time
 *
 * A loop nest has n dimensions and m uniform dependences, the columns of D: point j needs the value
 * of j - d. A tiling is a matrix H whose rows are perpendicular to the sides of tiles, P = H^-1 has
 * the sides as columns (section 2.3). Point j is in tile floor(H j).
 *
 * All is pure: figures in, figures out, no memory but the caller's. Functions that can fail return
 * 0 or -1. Dimensions count from 0. Times are seconds.
 */
#ifndef COVEY_PROTO_TILING_H
#define COVEY_PROTO_TILING_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/tiling/tiling_matrix.h"

enum { TILING_DIMS_MAX = TILING_MATRIX_MAX, TILING_DEPENDENCES_MAX = 32 };

/* D, by columns. */
struct tiling_dependences {
    int count;
    int64_t vector[TILING_DEPENDENCES_MAX][TILING_DIMS_MAX];
};

/* ---- tiling.c -------------------------------------------------------------------------------- */

/* Rows of H are kept as integers over a common unit: h_ik = row[i][k] / unit[i]. */
struct tiling {
    int dims;
    struct tiling_matrix row;
    int64_t unit[TILING_DIMS_MAX];
    struct tiling_matrix side; /* P: side[k][i] is the k-th component of the i-th side */
    int64_t volume;            /* V_comp = det(P), section 2.4: points of a tile */
};

/* From P, whose columns are the sides. Fails for sides that are dependent, or too long. */
int tiling_from_sides(struct tiling *t, int dims, const struct tiling_matrix *side);

/* H = diag(1 / sides) skew: rectangles of the indices skew * j; the skew is unimodular. Fails if it
 * is not, or sides are below 1 or too long. */
int tiling_from_skew(struct tiling *t, int dims, const struct tiling_matrix *skew,
                     const int64_t *sides);

/* What is wrong with a tiling, and with which dependence at which row of H. */
enum tiling_fault {
    TILING_LEGAL,
    TILING_NEGATIVE, /* HD >= 0 does not hold (section 2.3): tiles would wait for each other */
    TILING_FAR,      /* a dependence reaches beyond the neighbouring tile */
    TILING_LONG      /* |HD| < 1 does not hold (section 2.3): it is as long as a tile, so that D^S
                      * has still only 0 and 1, but the tile does not contain it */
};
struct tiling_verdict {
    enum tiling_fault fault; /* the worst; NEGATIVE before FAR before LONG */
    int dependence, row;
};
struct tiling_verdict tiling_check(const struct tiling *t, const struct tiling_dependences *d);

/* r(j) of section 2.3: the tile of a point, floor(H j), and where it is in it, j - P floor(H j). */
void tiling_place(const struct tiling *t, const int64_t *point, int64_t *tile, int64_t *inside);

/* V_comm by (1): points of a tile that others need, counted once for each dependence and side. */
double tiling_volume_all(const struct tiling *t, const struct tiling_dependences *d);
/* By (2): tiles along that dimension are one processor's. */
double tiling_volume(const struct tiling *t, const struct tiling_dependences *d, int along);

/* Section 2.3, D^S: whether the tile at `offset` (zeros and ones) needs a value of the one at 0. */
bool tiling_tile_depends(const struct tiling *t, const struct tiling_dependences *d,
                         const int64_t *offset);

/* A skew after which D has no negative component: unit lower triangular. Fails if a dependence is
 * not lexicographically positive, or reaches back so far that the skew is beyond 2^20. */
int tiling_find_skew(int dims, const struct tiling_dependences *d, struct tiling_matrix *skew);
/* skew * D */
void tiling_skew_dependences(int dims, const struct tiling_matrix *skew,
                             const struct tiling_dependences *d, struct tiling_dependences *skewed);

/* ---- tiling_space.c -------------------------------------------------------------------------- */

/* Points from `first` to before `end` in each dimension. */
struct tiling_box {
    int64_t first[TILING_DIMS_MAX], end[TILING_DIMS_MAX];
};

enum { TILING_DENSITY_MAX = 4096 };

/* The space 0 <= j < size as seen in skewed indices p = skew * j: a parallelepiped in its box.
 * Where the determinant of the skew is not 1 or -1 these p are a lattice, one of `density` of all
 * integer points. The basis of the lattice is lower triangular: given the components before, the
 * i-th of a point is one of each basis[i][i]. */
struct tiling_space {
    int dims;
    bool skewed;
    int64_t size[TILING_DIMS_MAX];
    struct tiling_matrix skew, back; /* back = density skew^-1 */
    int64_t density;
    struct tiling_matrix basis;
    struct tiling_box box;
};

/* skew NULL: none. Fails for a skew whose determinant is 0 or beyond TILING_DENSITY_MAX, sizes
 * below 1, or too large a space. */
int tiling_space_init(struct tiling_space *s, int dims, const int64_t *size,
                      const struct tiling_matrix *skew);
/* j of a p of the lattice. */
void tiling_space_point(const struct tiling_space *s, const int64_t *p, int64_t *point);
/* Cuts the row of points with p[dims-1] from *first to before *end down to those in the space; the
 * other components are given. They are *first, *first + basis[dims-1][dims-1] and so on, whole
 * steps to *end, which may be more than it was. False: none is. */
bool tiling_space_row(const struct tiling_space *s, const int64_t *p, int64_t *first, int64_t *end);
/* False: no point of the box is in the space. True of a skewed space: perhaps one is. */
bool tiling_space_meets(const struct tiling_space *s, const struct tiling_box *box);
/* Cuts the box along one dimension to what meets the space. False: nothing does. */
bool tiling_space_trim(const struct tiling_space *s, int along, struct tiling_box *box);

/* ---- tiling_shape.c -------------------------------------------------------------------------- */

/* H = diag(1 / sides) skew. */
struct tiling_shape {
    struct tiling_matrix skew;     /* integers; its rows are in lowest terms */
    double sides[TILING_DIMS_MAX]; /* 0: along; 1: where no dependence cuts */
    double volume;                 /* V_comm with these sides */
};

/* The shape of least V_comm. along < 0: by (1), of tiles of so many points. Otherwise by (2): tiles
 * along a line of the loop's dimension `along` are one task's, and have so many points in each
 * plane across it; row `along` of the skew is the one by which their heights are counted. points 0:
 * the skew alone counts. Fails if the dependences have no common half-space, or there are too many.
 */
int tiling_shape_find(int dims, const struct tiling_dependences *d, int along, double points,
                      struct tiling_shape *shape);

/* ---- tiling_grid.c --------------------------------------------------------------------------- */

/* A grid of tasks over a box: tasks[i] along dimension i, one along `along`. Parts are whole
 * numbers of grains, and differ by one grain at most. */
struct tiling_grid {
    int dims, along;
    int32_t tasks[TILING_DIMS_MAX];
    int64_t grain[TILING_DIMS_MAX];
    struct tiling_box box;
};

/* The largest dimension, the last of equal ones: its tiles go to one processor (section 4). */
int tiling_along(int dims, const struct tiling_box *box);
/* Fills g->tasks where they are 0 (g->along has 1): at most `tasks` together, so that the largest
 * part is as small as possible, then least of (2), then fewest tasks from the first to the last; no
 * dependence reaches across a part. Fails if what is given cannot be. */
int tiling_grid_choose(struct tiling_grid *g, const struct tiling_dependences *d, int tasks);
int tiling_grid_count(const struct tiling_grid *g);
/* Places in the grid by number; the first dimension runs slowest. */
void tiling_grid_place(const struct tiling_grid *g, int number, int32_t *place);
int tiling_grid_number(const struct tiling_grid *g, const int32_t *place);
/* The part of the task at that place, all along `along`. */
void tiling_grid_part(const struct tiling_grid *g, const int32_t *place, struct tiling_box *part);
/* The longest part along a dimension. */
int64_t tiling_grid_longest(const struct tiling_grid *g, int dim);

/* ---- tiling_time.c --------------------------------------------------------------------------- */

/* P(g) and P'(g) of sections 3 and 4 for a last tile x (the first one is 0): with Pi = [1 .. 1],
 * and with Pi = [2 .. 2 1 2 .. 2], the 1 at `along`. */
int64_t tiling_steps_block(int dims, const int64_t *x);
int64_t tiling_steps_overlap(int dims, int along, const int64_t *x);

double tiling_time_block(int64_t steps, double comp_s, double comm_s);   /* (3) */
double tiling_time_overlap(int64_t steps, double comp_s, double comm_s); /* (4), (5), (6) */
/* (7): start-up and synchronisation cannot be overlapped; and what is slower of the rest counts. */
double tiling_time_started(int64_t steps, double start_s, double comp_s, double comm_s);

/* What a step costs at a height of z: each of these is a constant and a unit times z. */
struct tiling_cost {
    double base_s, unit_s;
};
struct tiling_step {
    struct tiling_cost comp;  /* t_comp: the base is 0 */
    struct tiling_cost comm;  /* t_comm of (4): in and out at once */
    struct tiling_cost turn;  /* t_comm of (3): what is received, and then what is sent */
    struct tiling_cost start; /* of comm, what cannot be overlapped (7) */
};

/* The tiles of one task: `hops` is the sum of its coordinates without that along `along`, where it
 * has points from `first` to before `end`; equal: it has none. */
struct tiling_column {
    int64_t hops, first, end;
};

/* A pipe: of a rectangular space the first and the last column are enough. */
struct tiling_pipe {
    const struct tiling_column *columns;
    int count;
    int64_t extent; /* of the space along `along` */
    struct tiling_step step;
};

/* P(g) and P'(g) with tiles of height z, over all columns: Pi j_final - Pi j_init + 1. */
int64_t tiling_pipe_steps(const struct tiling_pipe *p, int64_t z, bool overlap);
/* T(z) by (3), or by (5) and (7). */
double tiling_pipe_time(const struct tiling_pipe *p, int64_t z, bool overlap);

/* ---- tiling_play.c --------------------------------------------------------------------------- */

enum { TILING_AHEAD_MAX = 64 };

/* What a face along a dimension takes: of the task's own time, on the link, and until it is there.
 */
struct tiling_play_face {
    bool used;
    double start_s, wire_s, alpha_s;
    double store_s; /* switches have it so long, while others may be sent */
};

/* How far a task is. */
struct tiling_player {
    double now_s;
    double link_s;                                    /* until then its link is busy */
    double given_s[TILING_DIMS_MAX];                  /* when its last face is there */
    double sent_s[TILING_DIMS_MAX][TILING_AHEAD_MAX]; /* when a slot is free again */
};

struct tiling_play {
    const struct tiling_grid *grid;
    struct tiling_player *players;       /* the caller's, one for each task of the grid */
    const struct tiling_column *columns; /* of each task */
    int64_t height;
    double last_share; /* of the height, that the last layer has */
    double comp_s;     /* t_comp */
    struct tiling_play_face face[TILING_DIMS_MAX];
    int ahead;          /* slots */
    int64_t layers_max; /* of more it is concluded how long they take */
};

/* When the last task is done with so many layers of tiles. */
double tiling_play_run(const struct tiling_play *p, int64_t layers, bool overlapped);
/* No less than the busiest task or link needs alone: tiling_play_run() gives no less. */
double tiling_play_bound(const struct tiling_play *p, int64_t layers, bool overlapped);

/* ---- tiling_height.c ------------------------------------------------------------------------- */

/* How long it takes with tiles of height z; anything from enough_s on if it takes that or more. */
typedef double tiling_height_fn(void *context, int64_t z, double enough_s);

/* The height 1 .. extent with the least time among some 150 of them, those near the least among
 * them; of equal ones the largest. */
int64_t tiling_height_best(int64_t extent, tiling_height_fn *time_s, void *context);

#endif
