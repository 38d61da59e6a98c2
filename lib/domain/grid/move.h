/*
 * move.h - points from one division of a grid to another: between levels of multigrid, between one
 * member and all, between the layouts of a Fourier transform.
 */
#ifndef COVEY_LIB_DOMAIN_GRID_MOVE_H
#define COVEY_LIB_DOMAIN_GRID_MOVE_H

#include "lib/domain/covey_domain/base.h"
#include "lib/domain/grid/field.h"

/* One side: the box of each rank, which may reach beyond the grid around a periodic axis. */
struct move_side {
    void (*box)(const void *context, int rank, struct grid_box *box);
    const void *context;
    struct grid_field field; /* where this member has its box */
};

/* Points that both a member's left and another's right box have. */
struct move_piece {
    int rank; /* of the other member */
    struct grid_box left, right;
    int64_t count;
};

struct move {
    covey_team_t *team; /* NULL: of this process alone */
    int rank, tag;
    struct grid_field left, right;
    struct move_piece *out, *in; /* of this member's left box; of its right one: by rank */
    int out_count, in_count;
    double *buffer; /* for out, and behind it for in */
    size_t in_at;
    covey_req_t **requests; /* of a run: see move_run.c */
    size_t request_count;
    double seconds; /* that moves took this member */
};

enum move_how { MOVE_THERE, MOVE_ADD, MOVE_BACK };

/* Plans. period: of each axis its points if it is periodic, otherwise 0. Returns 0 or ENOMEM.
 * move_free() follows in each case. */
int move_make(struct move *move, covey_team_t *team, const struct move_side sides[2],
              const int64_t period[GRID_AXES], int tag);
void move_free(struct move *move);
void move_drop_requests(struct move *move);

/* Copies what is left to the right, or adds it there, or copies what is right to the left. All
 * members that have pieces call it. Errors: those of messages. */
int move_run(struct move *move, enum move_how how, double *left, double *right);

#endif
