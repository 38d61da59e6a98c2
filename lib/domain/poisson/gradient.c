/*
 * gradient.c - conjugate gradients: preconditioned by the diagonal, by a polynomial of it, or by a
 * cycle of multigrid; and the pipelined form, whose one reduction an iteration goes on behind the
 * preconditioner and the matrix.
 *
 * The factor of the direction is that of Polak and Ribiere, which a preconditioner that is not the
 * same from step to step does no harm (cycles of multigrid are not symmetric). The residual that is
 * kept by the recurrence drifts from the true one: when it is small enough the true one is
 * computed, and if that is not, iterations begin again where they are.
 *
 * Y. Notay, Flexible conjugate gradients, SIAM J. Sci. Comput. 22 (2000), section 1.
 * P. Ghysels and W. Vanroose, Hiding global synchronization latency in the preconditioned conjugate
 * gradient algorithm, Parallel Computing 40 (2014), algorithm 4.
 */
#include <math.h>

#include "lib/domain/poisson/solver.h"

enum { REST, DIRECTION, IMAGE, BETTER, SCRATCH }; /* vectors: r, p, A p, M r */
#define RESTARTS 6
#define POLYNOMIAL_LOW 30.0 /* the polynomial of degree d is good from 2 / (this * d^2) on */

static int goes_on(const struct task *t)
{
    return isfinite(t->norm) && t->norm > t->goal && t->iterations < t->most;
}

/* z = M r, and perhaps from the beginning of the vectors that it may use. */
static int precondition(struct solver *s, const double *r, double *z)
{
    const struct settings *settings = &s->settings;
    if (settings->method == METHOD_MG_CG)
        return multigrid_cycle(s, r, z);
    if (settings->pc == PC_JACOBI) {
        if (level_is_here(&s->level))
            kernel_scale(&s->level.kernel, 1, r, z);
        return 0;
    }
    double least = equation_low(&s->level.equation);
    double low = 2 / (POLYNOMIAL_LOW * settings->degree * settings->degree);
    const struct chebyshev how = {
        .low = fmin(fmax(low, least), 1), .steps = settings->degree, .is_zero = 1};
    return relax_polynomial(&s->level, &how, z, r, s->vectors[SCRATCH]);
}

static struct sum dot(const struct solver *s, const double *a, const double *b)
{
    return sum_field(&s->level.kernel.field, a, b);
}

/* p = z + beta p, with beta = 0 at first; the direction's image is q = A p, and *step how far. */
static int descend(struct solver *s, struct task *t, double *rz, double *pq)
{
    double **v = s->vectors, all[2];
    struct sum mine[2];
    int error = precondition(s, v[REST], v[BETTER]);
    if (error < 0)
        return error;
    mine[0] = dot(s, v[REST], v[BETTER]);
    mine[1] = dot(s, v[IMAGE], v[BETTER]);
    error = solver_sums(s, mine, 2, all);
    if (error < 0)
        return error;
    kernel_aypx(&s->level.kernel, *pq > 0 ? -all[1] / *pq : 0, v[BETTER], v[DIRECTION]);
    *rz = all[0];
    error = level_apply(&s->level, v[DIRECTION], v[IMAGE]);
    mine[0] = dot(s, v[DIRECTION], v[IMAGE]);
    if (error == 0)
        error = solver_sums(s, mine, 1, pq);
    if (error < 0 || !(*pq > 0)) {
        t->norm = error < 0 ? t->norm : NAN; /* the matrix is positive: numbers ran out */
        return error;
    }
    mine[0] = kernel_descend(&s->level.kernel, *rz / *pq, v[DIRECTION], v[IMAGE], t->x, v[REST]);
    error = solver_sums(s, mine, 1, &t->norm);
    t->norm = sqrt(t->norm);
    return error;
}

/* From x on, until the kept residual is small enough. */
static int descend_all(struct solver *s, struct task *t)
{
    double rz, pq = 0;
    int error = 0;
    kernel_set(&s->level.kernel, 0, s->vectors[DIRECTION]);
    kernel_set(&s->level.kernel, 0, s->vectors[IMAGE]);
    while (error == 0 && goes_on(t)) {
        error = descend(s, t, &rz, &pq);
        t->iterations++;
    }
    return error;
}

/* Runs a method, and again from where it ended while the true residual is too large. */
static int with_truth(struct solver *s, struct task *t, int (*run)(struct solver *, struct task *))
{
    int error = solver_begin(s, t, s->vectors[REST]);
    for (int i = 0; error == 0 && goes_on(t) && i < RESTARTS; i++) {
        error = run(s, t);
        if (error == 0 && isfinite(t->norm))
            error = solver_norm(s, t->b, t->x, s->vectors[REST], &t->norm);
    }
    return error;
}

int gradient_run(struct solver *solver, struct task *task)
{
    return with_truth(solver, task, descend_all);
}

/* ---- Pipelined ------------------------------------------------------------------------------- */

/* r, its u = M r and w = A u; m = M w and n = A m; the directions p, s = A p, q = M s, z = A q. */
enum { R = REST, U = 1, W = 2, M = 3, FREE = SCRATCH, N = 5, P = 6, S = 7, Q = 8, Z = 9 };

struct pipeline {
    double alpha, gamma; /* of the step before; gamma 0: there was none */
};

/* The sums of this step are gathered while m and n are computed. */
static int gather_behind(struct solver *s, double sums[3])
{
    double **v = s->vectors;
    const struct sum mine[3] = {dot(s, v[R], v[U]), dot(s, v[W], v[U]), dot(s, v[R], v[R])};
    covey_req_t *request = NULL;
    int error = sum_begin(s->team, mine, 3, s->pairs, &request);
    if (error == 0)
        error = precondition(s, v[W], v[M]);
    if (error == 0)
        error = level_apply(&s->level, v[M], v[N]);
    if (error < 0) {
        covey_req_free(&request);
        return error;
    }
    return sum_end(s->team, 3, s->pairs, &request, sums);
}

static int pipeline_step(struct solver *s, struct task *t, struct pipeline *pipe)
{
    double **v = s->vectors, sums[3];
    const struct kernel *k = &s->level.kernel;
    int error = gather_behind(s, sums);
    if (error < 0)
        return error;
    t->norm = sqrt(sums[2]);
    if (!goes_on(t))
        return 0;
    double beta = pipe->gamma > 0 ? sums[0] / pipe->gamma : 0;
    double below = sums[1] - (beta > 0 ? beta * sums[0] / pipe->alpha : 0);
    if (!(below > 0)) { /* rounding: the directions are no more conjugate, begin again */
        t->norm = sums[0] > 0 ? t->norm : NAN;
        pipe->gamma = -1;
        return 0;
    }
    double alpha = sums[0] / below;
    kernel_aypx(k, beta, v[N], v[Z]);
    kernel_aypx(k, beta, v[M], v[Q]);
    kernel_aypx(k, beta, v[W], v[S]);
    kernel_aypx(k, beta, v[U], v[P]);
    kernel_axpy(k, alpha, v[P], t->x);
    kernel_axpy(k, -alpha, v[S], v[R]);
    kernel_axpy(k, -alpha, v[Q], v[U]);
    kernel_axpy(k, -alpha, v[Z], v[W]);
    *pipe = (struct pipeline){.alpha = alpha, .gamma = sums[0]};
    t->iterations++;
    return 0;
}

static int pipeline_all(struct solver *s, struct task *t)
{
    struct pipeline pipe = {.gamma = 0};
    double **v = s->vectors;
    for (int i = P; i <= Z; i++)
        kernel_set(&s->level.kernel, 0, v[i]);
    int error = precondition(s, v[R], v[U]);
    if (error == 0)
        error = level_apply(&s->level, v[U], v[W]);
    while (error == 0 && goes_on(t) && pipe.gamma >= 0)
        error = pipeline_step(s, t, &pipe);
    return error;
}

int gradient_pipelined(struct solver *solver, struct task *task)
{
    return with_truth(solver, task, pipeline_all);
}
