/*
 * solver.h - what the methods share: the finest level, vectors on it, and what they report.
 */
#ifndef COVEY_LIB_DOMAIN_POISSON_SOLVER_H
#define COVEY_LIB_DOMAIN_POISSON_SOLVER_H

#include "lib/domain/poisson/guess.h"
#include "lib/domain/poisson/level.h"

#define SOLVER_VECTORS 10

struct multigrid;
struct direct;

struct solver {
    covey_team_t *team; /* NULL: this process alone */
    struct settings settings;
    struct speed speed;
    const unsigned char *shares; /* of the members in the slabs of METHOD_FFT */
    struct level level;          /* the finest */
    struct multigrid *multigrid;
    struct direct *direct;
    double *vectors[SOLVER_VECTORS];
    double *pairs; /* of sums under way */
    double reduce_s;
};

/* One problem: A x = b, to |b - A x| <= goal. */
struct task {
    const double *b;
    double *x;
    double goal;
    int64_t most; /* iterations */
    int64_t iterations;
    int is_zero; /* x is 0, and the norm that of b */
    double norm; /* |b - A x| as last known */
};

/* Makes what the method of the settings needs; takes the split over. Errors: ENOMEM, EINVAL (the
 * method cannot be had). solver_free() follows in each case. */
int solver_make(struct solver *solver, covey_team_t *team, const struct equation *equation,
                struct grid_split *split);
void solver_free(struct solver *solver);

/* Solves; task.norm tells how far it came. Errors: those of collective calls and of messages. */
int solver_run(struct solver *solver, struct task *task);

/* Seconds that this member spent in exchanges, of all levels. */
double solver_exchange_s(const struct solver *solver);

/* Sums over all members; `all` gets doubles. */
int solver_sums(struct solver *solver, const struct sum *mine, int count, double *all);

/* Sets the norm of a task that begins, with the residual in r. */
int solver_begin(struct solver *solver, struct task *task, double *r);

/* |b - A x|, with the residual in r. */
int solver_norm(struct solver *solver, const double *b, double *x, double *r, double *norm);

/* x = A^-1 b by the direct method, and this member's part of |b - A x|^2. Errors: those of
 * messages. */
int solver_direct(struct solver *solver, const double *b, double *x, struct sum *rest);

/* ---- Methods --------------------------------------------------------------------------------- */

typedef int method_fn(struct solver *solver, struct task *task);
method_fn relax_jacobi, relax_sor, relax_chebyshev; /* relax.c */
method_fn gradient_run, gradient_pipelined;         /* gradient.c */
method_fn richardson_run;                           /* solver.c: multigrid, and direct */

/* Chebyshev's iteration for D^-1 A with eigenvalues from low to 2, from x = 0 (is_zero) or from
 * x; d is scratch. */
struct chebyshev {
    double low;
    int steps;
    int is_zero;
};
int relax_polynomial(struct level *level, const struct chebyshev *how, double *x, const double *b,
                     double *d);

/* Multigrid: z = V r, from 0. */
int multigrid_make(struct solver *solver);
void multigrid_free(struct multigrid **multigrid);
int multigrid_cycle(struct solver *solver, const double *r, double *z);
double multigrid_exchange_s(const struct multigrid *multigrid);

/* The direct method: z = A^-1 r, but for rounding; of a singular matrix the z whose mean is 0.
 * direct_refusal() is NULL, or why it cannot be had. */
const char *direct_refusal(void);
int direct_make(struct solver *solver);
int direct_apply(struct solver *solver, const double *r, double *z);
void direct_free(struct direct **direct);
double direct_exchange_s(const struct direct *direct);

#endif
