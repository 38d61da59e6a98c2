/*
 * dense_factor.h - what Cholesky, QR and the inverse share: a block-cyclic matrix as one member
 * sees it, and calls over the rows and columns of the grid of members.
 */
#ifndef COVEY_LIB_DOMAIN_DENSE_DENSE_FACTOR_H
#define COVEY_LIB_DOMAIN_DENSE_DENSE_FACTOR_H

#include <covey.h>

#include "lib/domain/algebra/dense_cost_factor.h"
#include "lib/domain/algebra/dense_factor_kernel.h"
#include "lib/domain/dense/dense_cast.h"

/* rows x columns members, of which this one stands at (p, q). `row` are the members of grid row p,
 * by q; `column` those of grid column q, by p. The teams are the caller's. */
struct factor_grid {
    int rows, columns, p, q;
    int bcast; /* enum dense_bcast */
    covey_team_t *team, *row, *column;
};

/* m x n in blocks of nb x nb, block (I, J) at member (I mod rows, J mod columns). */
struct factor_matrix {
    const struct factor_kernel *kernel;
    struct factor_grid grid;
    int64_t m, n;
    int nb;
    struct factor_block local; /* what lies here; its m and n are local ones */
};

/* How many of the first `count` indices are those of member `me` of `members`. */
int factor_mine(int64_t count, int nb, int me, int members);

/* Local rows, and columns, before a global one. */
int factor_row(const struct factor_matrix *a, int64_t row);
int factor_column(const struct factor_matrix *a, int64_t column);

/* The matrix as its transpose: by rows, on the transposed grid. */
struct factor_matrix factor_transposed(const struct factor_matrix *a);

/* The local part from global row and column on. */
struct factor_block factor_from(const struct factor_matrix *a, int64_t row, int64_t column);

/* A block of m x n, one after another by rows or columns as `like` is, that lies at `at`. */
struct factor_block factor_packed(const struct factor_matrix *like, void *at, int m, int n);

/* Room for so many elements, all 0, at least one. NULL: out of memory. */
void *factor_room(const struct factor_kernel *kernel, size_t elements);

/* Collective calls over a row, a column or all; none where there is one member. They name `what` in
 * the text of errors. */
struct factor_call {
    const struct factor_matrix *of;
    covey_team_t *team;
    const char *what;
};
int factor_bcast(struct factor_call call, int root, void *base, size_t count);
/* The same in three steps: between them others are computed (dense_cast.h). A struct of zeros is
 * one that has ended. */
int factor_cast_begin(struct factor_call call, struct dense_cast *cast, int root, void *base,
                      size_t count);
int factor_cast_poll(struct factor_call call, struct dense_cast *cast);
int factor_cast_wait(struct factor_call call, struct dense_cast *cast);
int factor_cast_end(struct factor_call call, struct dense_cast *cast);
int factor_sum(struct factor_call call, void *base, size_t count);
int factor_sum_at(struct factor_call call, int root, void *base, size_t count);
int factor_gather(struct factor_call call, const void *mine, void *all, const size_t *counts);

/* *number becomes the largest one of all that are no NaN. */
int factor_greatest(struct factor_call call, double *number);

/* Ones on the diagonal, zeros elsewhere. */
void factor_identity(const struct factor_matrix *b);

/* info, a whole number, as so many elements in front of a message, and back. */
#define FACTOR_INFO 2
void factor_put(const struct factor_matrix *a, int64_t info, void *at);
int64_t factor_get(const struct factor_matrix *a, const void *at);

/* This member cannot go on, or was told so: nobody waits for it. Returns the error. */
int factor_break(const struct factor_grid *grid, int error);

/* ---- Cholesky: dense_cholesky*.c ----------------------------------------------------------- */

/* A = L L^H, in the lower triangle; of factor_transposed() A = U^H U. *info is 0, or the order of
 * the first leading minor that is not positive definite: the least one of all members is right.
 * Collective. On an error the teams are broken. */
typedef int factor_cholesky_fn(const struct factor_matrix *a, int64_t *info);
factor_cholesky_fn factor_cholesky_right, factor_cholesky_left, factor_cholesky_tiles;

/* B = T^-1 B, or with `adjoint` the adjoint of T: a triangle, the first t->n rows of the matrix
 * `t`, whose blocks and grid B has, too. Collective. */
struct factor_system {
    const struct factor_matrix *t;
    const struct factor_matrix *b;
    int upper, adjoint;
    int unit;       /* 1: ones on the diagonal of the triangle */
    int lower_only; /* 1: B is square, and what is above its diagonal blocks is not read */
};
int factor_solve(const struct factor_system *s);
int factor_solve_narrow(const struct factor_system *s); /* all of B is in the first grid column */

/* A step of it: block column `at` of T, and which of its rows are read. */
struct factor_step {
    int64_t at;
    int width, p, q;
    int first, last;        /* local rows of the panel */
    int diagonal;           /* local rows before the diagonal block */
    int others, others_end; /* local rows beside it */
    int columns;            /* of B that are read here */
};
struct factor_step factor_step_of(const struct factor_system *s, int64_t k);

/* L of A = L L^H, in the lower triangle, becomes that of the inverse of A. Collective. */
int factor_inverse(const struct factor_matrix *l);

/* L and U of a square A with rows interchanged, as covey_dense_lu() leaves them, become the inverse
 * of A. Collective. */
int factor_lu_inverse(const struct factor_matrix *lu, const int64_t *pivots);

/* ---- QR: dense_qr.c, dense_tsqr.c ------------------------------------------------------------ */

/* What of Q does not stand below the diagonal of A. A struct of zeros has nothing. */
struct factor_q {
    int is_there; /* the last QR of the plan succeeded */
    /* block: the triangular factors of all panels, nb x nb each, at all members; tsqr: those of
     * chunks of rows */
    void *t;
    /* tsqr: the reflectors of the rows here, local.m x n by columns, their factors; R, n x n, at
     * all members; for each level at which this member receives a triangle V and its T */
    void *v, *tau, *r, *tree;
};
void factor_q_free(struct factor_q *q); /* what it has, not itself */

/* A = Q R: R in the upper triangle of A. Both collective. TSQR takes a grid of one column whose
 * members 0, 2, 4 ... have n rows each, but the last one. */
typedef int factor_qr_fn(const struct factor_matrix *a, struct factor_q *q);
factor_qr_fn factor_qr_blocked, factor_qr_tree;

/* X of the least |A X - B|, m >= n, in the first n rows of B; what is in the others is not defined.
 * A is as factor_qr_fn left it. Collective. */
typedef int factor_qr_use_fn(const struct factor_matrix *a, const struct factor_q *q,
                             const struct factor_matrix *b);
factor_qr_use_fn factor_qr_blocked_solve, factor_qr_tree_solve;

/* B = Q B, or Q^H B, of factor_qr_blocked(). */
int factor_qr_apply(const struct factor_matrix *a, const struct factor_q *q, int adjoint,
                    const struct factor_matrix *b);

/* The place from 1 of the first 0 on the diagonal of R that lies here, or 0. */
int64_t factor_first_zero(const struct factor_matrix *a);

/* The shortest X of A X = B, m < n, of factor_qr_blocked(): all n rows of B, of which the first m
 * are given. Sets *info to the place from 1 of a 0 on a diagonal, B is as it was then; or to 0. A
 * call of all members of the team: those outside the grid have p = -1. */
int factor_least_norm(const struct factor_matrix *a, const struct factor_q *q,
                      const struct factor_matrix *b, int64_t *info);

/* *info becomes the least of all members' that is not 0, or 0. A call of the whole team. */
int factor_first(const struct factor_matrix *a, int64_t *info);

/* `b`, m x min(m, n), becomes the columns of Q. */
factor_qr_use_fn factor_qr_blocked_form, factor_qr_tree_form;

#endif
