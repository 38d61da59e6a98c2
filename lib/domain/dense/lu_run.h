/*
 * lu_run.h - a factorization under way: what its panels, swaps and updates share.
 */
#ifndef COVEY_LIB_DOMAIN_DENSE_LU_RUN_H
#define COVEY_LIB_DOMAIN_DENSE_LU_RUN_H

#include "lib/domain/dense/dense.h"
#include "lib/domain/dense/dense_cast.h"

/* Where rows go in the interchanges of a panel that begins at row `begin`. */
struct lu_moves {
    int64_t count;         /* width of the panel */
    int64_t *top_from;     /* [count]: the row whose elements come to begin + i */
    int64_t outside;       /* how many rows behind the panel's get others: */
    int64_t *outside_row;  /* [outside]: these */
    int64_t *outside_from; /* [outside]: what comes there, all rows of begin .. begin + count - 1 */
    int64_t *places;       /* [count]: for work */
};

struct lu {
    covey_dense_t *plan;
    const struct dense_kernel *kernel;
    int bcast, swap;
    covey_team_t *of_row, *of_column;
    struct dense_view a; /* the piece that lies here */
    struct dense_axis rows, columns;
    int64_t m, n, least; /* least: of the two, the number of pivots */
    int64_t *pivots;     /* [least]: rows of the whole matrix */
    int32_t *places;     /* [least]: the same for LAPACK, from 1, in a grid of one row */
    int solves_alone;    /* 1: nobody else reads L, whose rows stay as each panel found them */
    int64_t info;        /* the first pivot that is 0, from 1; 0: none */
    struct lu_moves moves;
    char *work; /* of lu_work_bytes() */
};

/* A panel: the columns `begin` .. begin + width - 1. It goes along the rows as one array:
 *
 *   pairs      encoded: the first pivot of 0, from 1, or 0; then the pivots, rows of the matrix
 *   top        width x width: L and U of the rows that begin the panel
 *   below      the local rows behind these, of L
 *
 * top and below are one matrix by columns. */
struct lu_panel {
    int64_t begin, width;
    void *memory;
    struct dense_view top, below;
    struct dense_cast cast;
};

/* Elements of the array of the largest panel. */
size_t lu_panel_elements(const struct lu *lu);

/* Sets sizes and places of the panel that begins there. */
void lu_panel_set(const struct lu *lu, struct lu_panel *panel, int64_t begin);

/* Factors the panel: a call of all processes in the column of the grid that has it. What lies in
 * the matrix and the array of the panel are set. Errors: those of libcovey. */
int lu_panel_factor(struct lu *lu, struct lu_panel *panel, int tournament);

/* Takes the pivots out of the array. */
void lu_panel_pivots(struct lu *lu, const struct lu_panel *panel);

/* Bytes of lu->work. */
size_t lu_work_bytes(const struct lu *lu);

/* The interchanges of one panel in the local columns [from, to): U gets the rows that come to the
 * panel's, at all processes of the column (by columns, with ld = width), and rows behind them get
 * what they get. The panel's own rows stay as they are: the caller sets them. A call of all
 * processes in a column. Errors: those of libcovey. */
int lu_swap(struct lu *lu, const struct lu_panel *panel, const int64_t columns[2],
            struct dense_view *u);

/* Rows behind the panel's alone, in its own columns. */
int lu_swap_out(struct lu *lu, const struct lu_panel *panel, const int64_t columns[2]);

/* The interchanges of all panels in all columns that stand before them. */
int lu_swap_left(struct lu *lu);

/* What all-to-alls of rows need. */
struct lu_rows {
    int64_t columns; /* that are moved at a time */
    int64_t *from;   /* [m]: the row whose elements come to this one, of all panels so far */
    int64_t *moved;  /* [m]: the same of one panel */
    size_t *counts;  /* [4 size]: sent and received, where they start */
    char *out, *in;
};

int lu_rows_create(const struct lu *lu, int64_t columns, struct lu_rows *rows);
void lu_rows_free(struct lu_rows *rows);

/* The interchanges of all panels, or of one, in the local rows of right-hand sides. A call of all
 * processes in a column. Errors: those of libcovey. */
int lu_rows_swap_all(const struct lu *lu, struct lu_rows *rows, const struct dense_view *b);
int lu_rows_swap_panel(struct lu *lu, struct lu_rows *rows, int64_t begin,
                       const struct dense_view *b);

/* Factors what lu says; info and pivots are set at all members in the grid. Errors: those of
 * libcovey, ENOMEM before anything was sent. */
int lu_factor(struct lu *lu, int tournament, int lookahead);

#endif
