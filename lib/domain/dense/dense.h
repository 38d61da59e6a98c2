/*
 * dense.h - a planned problem: what covey_dense_plan() makes and the operations read.
 */
#ifndef COVEY_LIB_DOMAIN_DENSE_DENSE_H
#define COVEY_LIB_DOMAIN_DENSE_DENSE_H

#include "lib/domain/algebra/dense_kernel.h"
#include "lib/domain/base/chooser.h"
#include "lib/domain/base/figures.h"
#include "lib/domain/base/part.h"
#include "lib/domain/dense/dense_options.h"

enum { DENSE_ALL, DENSE_ROW, DENSE_COLUMN, DENSE_TEAMS };

struct covey_dense {
    struct covey_dense_problem problem;
    struct dense_options options;
    const struct dense_op *op;
    const struct dense_kernel *kernel;
    struct domain_algorithm table[DENSE_ALGORITHMS];
    int algorithms, taken;        /* how many the table has, and which one was taken */
    struct dense_setting setting; /* with which it is */
    char name[48];                /* of the problem, as the history has it */
    double moves_s;   /* of the prediction: between rank 0 and the pieces, by calls of their own */
    double load;      /* by how much others seemed to slow the hosts down when it was planned */
    double factors_s; /* what the last factorization took, until something is solved with it; 0 */
    struct domain_part part; /* of a trace: the operation under way */
    int runs;
    int rank;           /* in the plan's own teams, which the grid goes by: */
    int *ranks;         /* of each of these ranks the one in the program's team; NULL: the same */
    int row, column;    /* in the grid; -1: outside */
    struct factor_q *q; /* of the last QR; NULL: there was none */
    int threads;        /* of BLAS, while all members compute; and while rank 0 does alone: */
    int threads_alone;
    /* The plan's own, so that its messages are apart from the program's: all members, and of those
     * in the grid the caller's row, in which the rank is the column, and its column. */
    covey_team_t *teams[DENSE_TEAMS];
};

/* What a rank of the plan's own teams has of a matrix of the operation. */
void dense_part_of(const covey_dense_t *plan, int matrix, int rank, struct covey_dense_part *part);

/* Rows and columns of matrices at this process: axis 0 and 1. */
struct dense_axis dense_axis(const covey_dense_t *plan, int axis);

/* Refuses at all members what is wrong at one: another operation than `op`, a NULL, a leading
 * dimension. A collective call at the beginning of each operation. `error` is what the caller found
 * already. Errors: EINVAL, ENOMEM, those of all collective calls. */
int dense_agree(covey_dense_t *plan, int error);

/* Checks a piece of that matrix, and sets a view of it. Not collective. */
int dense_view_of(const covey_dense_t *plan, int matrix, const void *piece, int64_t ld,
                  struct dense_view *view);

/* Checks that the plan is there and of that operation. Not collective. */
int dense_check(const covey_dense_t *plan, int op);

/* A member that cannot go on ends the calls of all others on the plan's teams. Returns the error.
 */
int dense_break(covey_dense_t *plan, int error);

/* Fails with what a call of libcovey ended with, and breaks the plan's teams. */
int dense_broken(covey_dense_t *plan, int error);

/* An operation begins; returns when. It is solving with factors that are there, or not. */
double dense_begin(covey_dense_t *plan, int is_solution);

/* What an operation took that returned `result` is known for the next plan: a factorization with
 * right-hand sides together with the first solution. Each member notes its own. */
void dense_note(covey_dense_t *plan, double began_s, int result, int is_solution);

/* All or a part of a matrix between the whole at rank 0 and the pieces; views with at NULL where
 * there is nothing. Collective calls. Errors: ENOMEM, those of all collective calls. */
int dense_spread(covey_dense_t *plan, int matrix, const struct dense_view *whole,
                 const struct dense_view *piece);
int dense_collect(covey_dense_t *plan, int matrix, const struct dense_view *piece,
                  const struct dense_view *whole);

/* Sets the speeds of this type at the place of the case: what members do not know is measured. A
 * collective call. Errors: those of all collective calls. */
int dense_speed_agree(covey_team_t *team, const struct dense_kernel *kernel, struct dense_case *c);

/* The same out of figures; returns whether they are there. */
int dense_speed_of_figures(const struct domain_figures *figures, struct dense_case *c);

/* Measures them in this process, and enters them. Errors: ENOMEM. */
int dense_speed_figures(struct domain_figures *figures, int type);

#endif
