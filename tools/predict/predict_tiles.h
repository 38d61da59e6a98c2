/*
 * covey predict tiles: how long a tiled loop takes by the height of its tiles, overlapped and
 * blocking, after Koziris, Sotiropoulos & Goumas.
 *
 * predict_tiles.c finds the loop and the costs and computes, predict_tiles_read.c reads what tiles
 * printed, predict_tiles_print.c shows the figures and draws them.
 */
#ifndef COVEY_TOOLS_PREDICT_TILES_H
#define COVEY_TOOLS_PREDICT_TILES_H

#include <stdbool.h>

#include "tools/predict/predict.h"

enum { TILES_HEIGHTS_MAX = 256, TILES_MEASURED_MAX = 1024, TILES_SCHEDULES = 2 };

/* A height: the times by enum covey_tiles_schedule. */
struct tiles_height {
    int64_t height;
    double model_s[TILES_SCHEDULES];  /* by (3), and by (5) with what cannot be hidden (7) */
    double played_s[TILES_SCHEDULES]; /* all tiles played against each other */
};

struct tiles_measured {
    int schedule;
    int64_t height;
    double total_s;
};

struct predict_tiles {
    const struct predict *predict; /* what was asked for */
    char name[32];                 /* of the loop */
    struct covey_tiles_loop loop;
    struct covey_tiles_options options; /* with costs */
    int shape; /* 0: a skew; otherwise of least communication, one more than the covey_tiles_form */
    int tasks;
    int64_t extent;                              /* along the dimension that stays on a task */
    int64_t chosen[TILES_SCHEDULES];             /* heights */
    struct tiles_height rows[TILES_HEIGHTS_MAX]; /* of the table, increasing */
    int count;
    struct tiles_measured measured[TILES_MEASURED_MAX];
    int measured_count;
};

/* Does all of it; an exit status. All may be NULL. */
struct tiles_request {
    const char *size, *procs, *point, *loop, *shape;
    const char *const *measured;
    int measured_count;
};
int predict_tiles(const struct predict *predict, const struct tiles_request *request);

/* The times of one height; an exit status. */
int tiles_at(const struct predict_tiles *tiles, int64_t height, struct tiles_height *row);

/* The loop, or the shape, of that name; false: there is none. */
bool tiles_set_loop(struct predict_tiles *tiles, const char *name);
bool tiles_set_shape(struct predict_tiles *tiles, const char *name);

/* Reads a file that tiles --sweep --json printed; an exit status. */
int tiles_read(struct predict_tiles *tiles, const char *path);

int tiles_print(const struct predict_tiles *tiles);
int tiles_print_json(const struct predict_tiles *tiles);
int tiles_draw(const struct predict_tiles *tiles);

#endif
