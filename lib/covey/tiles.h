/*
 * covey/tiles.h - loop nests that a team runs in tiles.
 */
#ifndef COVEY_TILES_H
#define COVEY_TILES_H

#include "team.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A perfect loop nest whose points depend on points before them by fixed vectors, run by a team in
 * tiles (Koziris, Sotiropoulos & Goumas). Each task computes all tiles along one dimension, the
 * largest, one after the other, and gives the faces of each to the tasks after it: while it
 * computes tile k the faces for k + 1 come in and those of k - 1 go out.
 *
 * The library keeps the values, of each task its own part and what it needs of others', packs the
 * faces and moves them. The program computes the points of a tile, row by row, in the order in
 * which they are given. See covey_tiles(3). */

#define COVEY_TILES_DIMS_MAX 8
#define COVEY_TILES_DEPENDENCES_MAX 32
#define COVEY_TILES_AHEAD_MAX 64

typedef struct covey_tiles covey_tiles_t; /* a tiled loop, of one team */
typedef struct covey_tile covey_tile_t;   /* a tile as the program gets it to compute */

/* Points one after the other: point + i * step for i of 0 .. count-1. Their values stand one after
 * the other, too, `width` elements each; the value on which such an element depends by the d-th
 * vector is offset[d] elements from it. */
struct covey_tile_row {
    int64_t point[COVEY_TILES_DIMS_MAX]; /* in the loop's own indices */
    int32_t step[COVEY_TILES_DIMS_MAX];
    int64_t count;
    void *values;
    const ptrdiff_t *offset;
    int64_t place[COVEY_TILES_DIMS_MAX]; /* the library's own */
};

/* The next row of a tile; *row is zeroed before the first one. 1, or 0 behind the last. */
int covey_tile_next(const covey_tile_t *tile, struct covey_tile_row *row);

/* Computes all points of a tile. */
typedef void covey_tile_fn(const covey_tile_t *tile, void *context);

/* Sets the value of a point outside the space, on which one inside depends. */
typedef void covey_tile_outside_fn(const int64_t *point, void *value, void *context);

/* The loop: for i_0 = 0 .. size[0]-1, for i_1 ... The same at all members. */
struct covey_tiles_loop {
    int32_t dims;
    int32_t dependences;
    int64_t size[COVEY_TILES_DIMS_MAX];
    /* D: point i needs the value of i - dependence[d]; each is lexicographically positive */
    int32_t dependence[COVEY_TILES_DEPENDENCES_MAX][COVEY_TILES_DIMS_MAX];
    /* Tiles are rectangles of the indices skew * i, so that H = diag(1 / sides) skew: any integers
     * with a determinant that is not 0, nor beyond 4096. HD >= 0 if skew * dependence[d] has no
     * negative component. All zeros: no skew. */
    int32_t skew[COVEY_TILES_DIMS_MAX][COVEY_TILES_DIMS_MAX];
    int32_t type;                   /* of the elements of a value: no STRING or MESSAGE */
    int32_t width;                  /* elements of a value; 0: 1 */
    covey_tile_fn *compute;         /* not needed by covey_tiles_plan() */
    covey_tile_outside_fn *outside; /* NULL: zeros */
    void *context;                  /* of both */
};

enum covey_tiles_schedule {
    COVEY_TILES_OVERLAP = 0, /* receive for k + 1, compute k, send k - 1 */
    COVEY_TILES_BLOCK = 1    /* receive, compute, send, and each send lasts until it was received */
};

enum covey_tiles_faces {
    COVEY_TILES_ANY_WAY = 0, /* put into the memory of a neighbour on the same host, or sent */
    COVEY_TILES_MESSAGES = 1 /* sent to all */
};

/* What the choice of the height goes by. Those that are 0 covey_tiles_create() measures, if it has
 * a height to choose; of messages all, if alpha_s is 0. */
struct covey_tiles_costs {
    double point_s; /* t_c: a point is computed */
    double alpha_s; /* a message of N bytes takes alpha + beta N */
    double beta_s;
    double start_s; /* of alpha, what a message costs a task that computes meanwhile */
    double drag_s;  /* of beta, likewise */
    double store_s; /* each byte of a message's first frame takes that much more than beta, where
                     * switches send a frame on when they have it whole */
};

/* Zeroed fields mean the defaults. The same at all members. */
struct covey_tiles_options {
    int32_t schedule;                   /* enum covey_tiles_schedule */
    int32_t along;                      /* 1 .. dims: tiles along it are one task's; 0: chosen */
    int32_t ahead;                      /* faces of so many tiles are under way at once; 0: 2 */
    int32_t faces;                      /* enum covey_tiles_faces */
    int32_t grid[COVEY_TILES_DIMS_MAX]; /* tasks along each dimension; 0: chosen */
    int64_t tile[COVEY_TILES_DIMS_MAX]; /* sides of a tile; 0: chosen: the part of a task, and
                                         * along `along` the height z of which the
                                         * least time is played */
    struct covey_tiles_costs costs;
};

/* How a loop is tiled, and how long it should take. Dimensions are those of the skewed indices. */
struct covey_tiles_plan {
    int32_t dims;
    int32_t tasks; /* that compute; the others of the team have nothing */
    int32_t schedule;
    int32_t along;
    int32_t ahead;
    int32_t grid[COVEY_TILES_DIMS_MAX];
    int64_t extent[COVEY_TILES_DIMS_MAX];     /* of the space */
    int64_t tile[COVEY_TILES_DIMS_MAX];       /* sides; at the space's border tiles are smaller */
    int64_t tiles[COVEY_TILES_DIMS_MAX];      /* how many */
    int64_t face_bytes[COVEY_TILES_DIMS_MAX]; /* what a task sends on in each step */
    double points;                            /* that a task computes in a step: g = det(P) */
    double volume;                            /* of these, sent: V_comm by (2) */
    double volume_all;                        /* and if each tile were another task's: by (1) */
    int64_t steps_block;                      /* P(g) */
    int64_t steps_overlap;                    /* P'(g) */
    struct covey_tiles_costs costs;
    double computation_s;   /* t_comp */
    double communication_s; /* t_comm */
    double block_s;         /* T by (3) */
    double overlap_s;       /* T by (5), and what cannot be hidden as in (7) */
    double played_block_s;  /* the steps of all tasks played against each other */
    double played_overlap_s;
};

struct covey_calibration; /* model.h */

/* Sets all costs but point_s to those of messages between hosts by that route (enum covey_route;
 * COVEY_ROUTE_AUTO: tcp, or else that with the least beta), from a calibration: of alpha, start_s
 * is what was calibrated apart as processor time, by the share of a processor that a task gets.
 * store_s is 0. Errors: EINVAL (no such route), ENOHOST (it was not calibrated). */
int covey_tiles_costs(const struct covey_calibration *calibration, int route,
                      struct covey_tiles_costs *costs);

/* Plans without any task. The height, if it is not given, is that with the least of
 * played_overlap_s or played_block_s, whichever is the schedule's. Costs that are 0 count as 0;
 * without point_s and alpha_s the height is the space's. Errors: EINVAL (the loop; tiles that are
 * not legal: HD >= 0, and no dependence may reach beyond the neighbour). */
int covey_tiles_plan(const struct covey_tiles_loop *loop, const struct covey_tiles_options *options,
                     int tasks, struct covey_tiles_plan *plan);

/* A skew by which no dependence has a negative component, where the loop needs one: sets
 * loop->skew. Errors: EINVAL (a dependence is not lexicographically positive, or reaches back too
 * far). */
int covey_tiles_skew(struct covey_tiles_loop *loop);

/* Tiles of any shape (section 2.3): side[i] is the i-th side, a column of P. Sets loop->skew and
 * options->tile to the rows of H = P^-1. Errors: EINVAL (the sides are dependent or too long; HD >=
 * 0 does not hold). */
int covey_tiles_sides(struct covey_tiles_loop *loop,
                      const int64_t side[COVEY_TILES_DIMS_MAX][COVEY_TILES_DIMS_MAX],
                      struct covey_tiles_options *options);

enum covey_tiles_form {
    COVEY_TILES_OF_EACH = 0,   /* each tile is another task's: V_comm by (1) */
    COVEY_TILES_OF_COLUMNS = 1 /* tiles along options->along are one task's: V_comm by (2) */
};

/* The shape of least communication (section 2.4): sets loop->skew to the rows of H, up to their
 * lengths, with which V_comm is least for tiles of any number of points, among all that are legal.
 * With points > 0 options->tile is set, too: of COVEY_TILES_OF_EACH to sides of so many points; of
 * COVEY_TILES_OF_COLUMNS to sides of so many in each plane across the loop's dimension
 * options->along (0: the longest, and it is set), with the height left to be chosen. Points 0:
 * sides are 0, the parts of tasks. The space's bounds do not count, as in the paper: at the borders
 * tiles are not full. Errors: EINVAL (no such form; dependences on several sides, or more than are
 * tried).
 */
int covey_tiles_shape(struct covey_tiles_loop *loop, int form, double points,
                      struct covey_tiles_options *options);

/* Tiles the loop for the team: allocates, asks for the values outside, measures costs (compute is
 * then called for tiles whose values count for nothing), and plans. options may
 * be NULL. A collective call; sets *tiles. Errors: EINVAL (also: the members differ), ENOMEM, and
 * those of collective calls. */
int covey_tiles_create(covey_team_t *team, const struct covey_tiles_loop *loop,
                       const struct covey_tiles_options *options, covey_tiles_t **tiles);

/* Where the time of a task went in a run, from the moment at which all had begun. */
struct covey_tiles_timing {
    double total_s;
    double computation_s;   /* in compute() */
    double packing_s;       /* copying faces */
    double communication_s; /* starting sends and receives; BLOCK: all that is not idle in them */
    double idle_s;          /* waiting for faces, or for room to send the next */
    int64_t tiles;          /* computed */
    int64_t points;
    int64_t messages; /* faces sent, */
    int64_t puts;     /* and put into the memory of neighbours */
    int64_t bytes;    /* of both */
};

/* Runs the loop. A collective call; timing may be NULL. It can be run again. Errors: those of
 * collective calls. */
int covey_tiles_run(covey_tiles_t *tiles, struct covey_tiles_timing *timing);

/* The plan, with costs as they were measured. */
void covey_tiles_info(const covey_tiles_t *tiles, struct covey_tiles_plan *plan);

/* The caller's part of the space as one tile, for covey_tile_next(); it belongs to the loop. */
const covey_tile_t *covey_tiles_part(const covey_tiles_t *tiles);

/* The value of a point that the caller computed, NULL: another did. It belongs to the loop. */
const void *covey_tiles_value(const covey_tiles_t *tiles, const int64_t *point);

/* All values of the space at the root, in the order of the untiled loop: the last index runs
 * fastest. `values` matters there alone. A collective call. */
int covey_tiles_gather(covey_tiles_t *tiles, int root, void *values);

/* Frees it and sets *tiles to NULL; not collective. NULL is fine. */
void covey_tiles_free(covey_tiles_t **tiles);

#ifdef __cplusplus
}
#endif
#endif
