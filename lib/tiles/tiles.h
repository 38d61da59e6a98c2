/*
 * tiles.h - what the files of tiled loops share.
 *
 *   tiles_shape.c      struct tiles_shape: the loop as it is tiled, the same at all members
 *   tiles_skew.c       the shape of tiles, as the program asks for it
 *   tiles_store.c      struct tiles_store: the values of a box of the space, by rows
 *   tiles_channel.c    struct tiles_channel: faces to or from one neighbour
 *   tiles_message.c    struct tiles_message: one send or receive of those
 *   tiles_window.c     struct tiles_window: slots for those in memory that both tasks have
 *   tiles.c            struct covey_tiles: all of it at one member
 *   tiles_plan.c       how long it should take, and the height that is played to take least
 *   tiles_run.c        the pipeline
 *   tiles_measure.c    costs, measured
 *   tiles_gather.c     all values at one member
 *
 * Indices are the skewed ones but where the program sees them. Of a skew that is not unimodular
 * they are a lattice; boxes, parts and faces are boxes of them all the same, in which some indices
 * are no points. A task holds its own part of the
 * space, and below it, in each dimension, as many values as dependences reach back. A face is what
 * the next task along a dimension needs of a tile: the last values along it, and with them those
 * that came from the tasks before along earlier dimensions. So what a task needs of one that is
 * no neighbour comes through neighbours, along the first dimension first, and each task has to do
 * with one neighbour a dimension alone (section 2.3 of Koziris, Sotiropoulos & Goumas).
 */
#ifndef COVEY_LIB_TILES_H
#define COVEY_LIB_TILES_H

#include "lib/collective/collective.h"
#include "proto/tiling/tiling.h"

#define TILES_FRAME_BYTES 1460 /* of a message, at most, in the first frame of Ethernet */
#define TILES_AHEAD 2          /* faces under way at once, where the program does not say */

/* ---- tiles_shape.c --------------------------------------------------------------------------- */

struct tiles_shape {
    struct tiling_space space;
    struct tiling_dependences d; /* skewed: none is negative */
    struct tiling_grid grid;
    int64_t tile[TILING_DIMS_MAX];  /* sides; 0: that of the part */
    int64_t reach[TILING_DIMS_MAX]; /* how far dependences reach back */
    /* carry[i][k]: how many values along k, that came from there, a face along i carries on */
    int64_t carry[TILING_DIMS_MAX][TILING_DIMS_MAX];
    int type;
    size_t width, value_bytes;
};

/* D as the loop gives it. Errors: EINVAL. */
int tiles_shape_read(const struct covey_tiles_loop *loop, struct tiling_dependences *d);
/* Checks loop and options and divides the space among at most `tasks`; the height of tiles is left
 * 0 if it is not given. Errors: EINVAL. */
int tiles_shape_make(struct tiles_shape *shape, const struct covey_tiles_loop *loop,
                     const struct covey_tiles_options *options, int tasks);
/* Whether a task with that place in the grid has a neighbour to give to (+1) or to get from (-1).
 */
bool tiles_shape_has(const struct tiles_shape *s, const int32_t *place, int dim, int direction);
/* The face along `dim` that the task at `place` gives on when it has computed tiles at height k. */
void tiles_shape_face(const struct tiles_shape *s, const int32_t *place, int dim, int64_t k,
                      struct tiling_box *face);
/* The part of the task at `place` with what it needs of others, along `along` only where the space
 * is. False: it has nothing to do. */
bool tiles_shape_halo(const struct tiles_shape *s, const int32_t *place, struct tiling_box *halo);
/* Cuts the box down to tiles of height number k. */
void tiles_shape_layer(const struct tiles_shape *s, int64_t k, struct tiling_box *box);
/* Indices of the largest face along `dim`, a unit of height: of a lattice one of `density` is a
 * point. */
int64_t tiles_shape_face_size(const struct tiles_shape *s, int dim);
/* So many values a face along `dim` has at most, with tiles of height z. */
int64_t tiles_shape_face_most(const struct tiles_shape *s, int dim, int64_t z);

/* ---- tiles_store.c --------------------------------------------------------------------------- */

struct tiles_store {
    const struct tiles_shape *shape;
    struct tiling_box box;
    ptrdiff_t stride[TILING_DIMS_MAX]; /* in values */
    uint8_t *values;                   /* NULL: rows are counted alone */
    /* In elements, of each dependence, [phase][dependence]: of a lattice it differs by where a
     * point is between its steps. */
    ptrdiff_t *offsets;
};

struct covey_tile {
    const struct tiles_store *store;
    struct tiling_box box;
};

/* Values for a box, all zero. Errors: ENOMEM. */
int tiles_store_create(struct tiles_store *store, const struct tiles_shape *shape,
                       const struct tiling_box *box);
void tiles_store_destroy(struct tiles_store *store);
/* Asks for the values outside the space that points of `part` depend on. */
void tiles_store_border(struct tiles_store *store, const struct tiling_box *part,
                        const struct covey_tiles_loop *loop);
uint8_t *tiles_store_at(const struct tiles_store *store, const int64_t *p);
/* Copies the values of a box that are in the space to or from a buffer; both return their number.
 */
size_t tiles_store_pack(const struct tiles_store *store, const struct tiling_box *box,
                        uint8_t *buffer);
size_t tiles_store_unpack(const struct tiles_store *store, const struct tiling_box *box,
                          const uint8_t *buffer);
size_t tiles_store_count(const struct tiles_store *store, const struct tiling_box *box);

/* ---- tiles_plan.c ---------------------------------------------------------------------------- */

/* Sets the height, if it is not given, by the costs, and fills the plan. Errors: ENOMEM. */
int tiles_plan_make(struct tiles_shape *shape, const struct covey_tiles_options *options,
                    const struct covey_tiles_costs *costs, struct covey_tiles_plan *plan);

/* ---- tiles_message.c ------------------------------------------------------------------------- */

#define TILES_RECEIPT TILING_DIMS_MAX /* the first lane of receipts */

/* Like a collective call, a run takes a number of its team's calls, the same at all members, and
 * each dimension but that along which a task goes is a lane of it: messages of a pair and a lane
 * match in the order in which they are started. */
struct tiles_message {
    struct step_req *req; /* NULL: nothing is under way */
};
struct tiles_talk {
    struct covey_team *team;
    uint32_t number;
    uint64_t deadline_us; /* of the whole run */
};
struct tiles_array {
    int lane, rank; /* to or from whom */
    int type;
    void *base;
    size_t count;
};

/* Much is going to go there: opens the way. */
void tiles_open_way(struct covey_team *team, int rank);
/* Begins to talk; all members do so at the same place among their collective calls. Errors: that
 * with which the team is broken. */
int tiles_talk_begin(struct tiles_talk *talk, struct covey_team *team);
/* Start a message; the array stays until tiles_await(). Errors: those of sends and receives. */
int tiles_send(const struct tiles_talk *talk, const struct tiles_array *a, struct tiles_message *m);
int tiles_receive(const struct tiles_talk *talk, const struct tiles_array *a,
                  struct tiles_message *m);
/* Waits until it is done, if there is one; *count may be NULL: the elements that came. Errors:
 * those of sends and receives, ETIMEOUT, and that with which the team was broken by others. */
int tiles_await(const struct tiles_talk *talk, struct tiles_message *m, size_t *count);
/* Takes it back; a send that cannot be goes on with a copy. */
void tiles_abandon(const struct tiles_talk *talk, struct tiles_message *m);
/* The run ends with that error here, and so for all: the team is broken. Returns the error. */
int tiles_talk_fail(const struct tiles_talk *talk, int error);

/* ---- tiles_window.c -------------------------------------------------------------------------- */

struct covey_window;

/* One end of the slots for what goes from a task to a neighbour: they are in the taker's part of
 * the window. */
struct tiles_window {
    struct covey_window *memory; /* NULL: there are none */
    int rank;                    /* of the other end */
    int lane;                    /* by which both know their counters: 0 .. TILING_DIMS_MAX - 1 */
    int ahead;                   /* slots */
    size_t at, stride;           /* of the first one in the part, and of the next from it */
    uint8_t *slots;
    uint64_t count; /* so many went this way */
};

/* Makes a window in which each member has so many bytes; *memory is NULL at all members if there is
 * nobody to share memory with, or no memory. A collective call. Errors: those of collective calls.
 */
int tiles_window_create(struct covey_team *team, size_t bytes, struct covey_window **memory);
/* Whether what goes from one rank to the other goes by it; all members answer alike. */
bool tiles_window_joins(const struct covey_window *memory, int a, int b);
/* Of slots of so many bytes. */
size_t tiles_window_stride(size_t bytes);
/* How many slots there are, where the program does not say: with more tasks than processors a task
 * should have room for all that it can compute in one turn. */
int tiles_window_slots(size_t stride);
/* Finds the slots; all else is set. Errors: ENOMEM. */
int tiles_window_open(struct tiles_window *w, bool gives);

/* The giver waits for a slot, fills it, and says that it is full; the taker waits for a full one,
 * reads it, and says that it is free. Errors: those of tiles_await(), and that with which the other
 * end ended. */
int tiles_window_room(const struct tiles_talk *talk, const struct tiles_window *w, uint8_t **slot);
void tiles_window_full(struct tiles_window *w);
int tiles_window_next(const struct tiles_talk *talk, const struct tiles_window *w,
                      const uint8_t **slot);
void tiles_window_free(struct tiles_window *w);

/* ---- tiles_channel.c ------------------------------------------------------------------------- */

struct tiles_slot {
    struct tiles_message message;
    uint8_t *buffer;
    int64_t k;
};

/* Faces along one dimension, in the order of their tiles. */
struct tiles_channel {
    int dim, rank;
    int32_t place[TILING_DIMS_MAX]; /* of the task whose faces they are */
    int ahead;                      /* slots */
    struct tiles_window window;     /* by which they go, or else */
    struct tiles_slot *slots;       /* as messages; neither: there is no such neighbour */
    int next;                       /* slot */
    int64_t next_k;                 /* of the next face that is received */
};

/* ---- tiles.c, tiles_run.c -------------------------------------------------------------------- */

struct covey_tiles {
    struct covey_team *team;
    struct covey_tiles_loop loop;
    struct tiles_shape shape;
    struct covey_tiles_plan plan;
    bool working;                   /* has a part */
    int32_t place[TILING_DIMS_MAX]; /* in the grid */
    struct tiles_store store;
    struct covey_tile part;
    int64_t points;              /* of the part */
    int64_t first_k, end_k;      /* heights at which anything is to be done */
    int ahead;                   /* as the program said, or 0 */
    struct covey_window *memory; /* NULL: all faces are messages */
    struct tiles_channel in[TILING_DIMS_MAX], out[TILING_DIMS_MAX];
    struct tiles_talk talk; /* of the run */
    struct covey_tiles_timing timing;
};

/* Bytes that the caller's slots for faces take in a window. */
size_t tiles_channel_memory(const struct covey_tiles *t);
/* Makes room for the faces of one neighbour, if there is one: in front of the task (direction 1),
 * to whom they go, or behind it (-1). Errors: ENOMEM. */
int tiles_channel_open(const struct covey_tiles *t, struct tiles_channel *c, int dim,
                       int direction);
void tiles_channel_close(struct tiles_channel *c);
/* Begins to receive. The next ones are begun by tiles_channel_take(). */
int tiles_channel_expect(struct covey_tiles *t, struct tiles_channel *c);
/* Waits for face k, if there is one, and puts its values into their places. */
int tiles_channel_take(struct covey_tiles *t, struct tiles_channel *c, int64_t k);
/* Packs face k, if there is one, and sends it, when the slot is free. */
int tiles_channel_give(struct covey_tiles *t, struct tiles_channel *c, int64_t k);
/* The same in the blocking schedule: both last until the face is at the receiver's. */
int tiles_channel_take_now(struct covey_tiles *t, struct tiles_channel *c, int64_t k);
int tiles_channel_give_now(struct covey_tiles *t, struct tiles_channel *c, int64_t k);
/* Waits until all is sent. */
int tiles_channel_flush(struct covey_tiles *t, struct tiles_channel *c);
void tiles_channel_abandon(struct covey_tiles *t, struct tiles_channel *c);

/* One face by a window: waits for room and packs it there, or waits for it and unpacks it. */
int tiles_window_give(struct covey_tiles *t, struct tiles_window *w, const struct tiling_box *face);
int tiles_window_take(struct covey_tiles *t, struct tiles_window *w, const struct tiling_box *face);
/* In the blocking schedule: waits until the taker has come for all that was given, as a send lasts
 * until its receive has begun. */
int tiles_window_await_taker(struct covey_tiles *t, const struct tiles_window *w);

/* Measures those costs that are 0: of messages all, if alpha is. `puts`: faces may be put into
 * memory; if all are, that is what is measured. A collective call. Errors: those of collective
 * calls. */
int tiles_measure(struct covey_tiles *t, bool puts, struct covey_tiles_costs *costs);

/* Takes one more stretch of time: adds what passed since *since_us to *part_s, and sets it to now.
 */
void tiles_book(uint64_t *since_us, double *part_s);

#endif
