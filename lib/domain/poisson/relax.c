/*
 * relax.c - Jacobi's method, successive over-relaxation of the two colours, and Chebyshev's
 * iteration, all with bounds of the eigenvalues that are known for boxes.
 *
 * The norm is computed at every CHECK-th iteration: it takes as long as an iteration.
 *
 * Y. Saad, Iterative methods for sparse linear systems (2nd edition), algorithm 12.1: Chebyshev.
 */
#include <math.h>

#include "lib/domain/poisson/solver.h"

#define CHECK 8
#define HIGH 2.0 /* no eigenvalue of D^-1 A is larger */

enum { REST, STEP }; /* vectors */

/* Whether it goes on: not there yet, and still numbers. */
static int goes_on(const struct task *t)
{
    return isfinite(t->norm) && t->norm > t->goal && t->iterations < t->most;
}

static int measure(struct solver *s, struct task *t)
{
    return solver_norm(s, t->b, t->x, s->vectors[REST], &t->norm);
}

/* ---- Jacobi ---------------------------------------------------------------------------------- */

int relax_jacobi(struct solver *solver, struct task *task)
{
    const struct kernel_step step = {.old = 0,
                                     .new = equation_jacobi_omega(&solver->level.equation)};
    int error = measure(solver, task);
    while (error == 0 && goes_on(task)) {
        error = level_step(&solver->level, &step, task->x, task->b, solver->vectors[STEP]);
        if (error == 0 && ++task->iterations % CHECK == 0)
            error = measure(solver, task);
    }
    return error;
}

/* ---- SOR ------------------------------------------------------------------------------------- */

int relax_sor(struct solver *solver, struct task *task)
{
    const struct level_relax how = {.omega = equation_sor_omega(&solver->level.equation)};
    int error = measure(solver, task);
    while (error == 0 && goes_on(task)) {
        error = level_relax(&solver->level, &how, task->x, task->b);
        if (error == 0 && ++task->iterations % CHECK == 0)
            error = measure(solver, task);
    }
    return error;
}

/* ---- Chebyshev ------------------------------------------------------------------------------- */

/* The recurrence: what the next step takes of the last one and of the residual. */
struct recurrence {
    double delta, sigma, rho;
};

static struct kernel_step first_step(double low, struct recurrence *r)
{
    double middle = (HIGH + low) / 2;
    r->delta = (HIGH - low) / 2;
    r->sigma = middle / r->delta;
    r->rho = 1 / r->sigma;
    return (struct kernel_step){.old = 0, .new = 1 / middle};
}

static struct kernel_step next_step(struct recurrence *r)
{
    double rho = 1 / (2 * r->sigma - r->rho);
    struct kernel_step step = {.old = rho * r->rho, .new = 2 * rho / r->delta};
    r->rho = rho;
    return step;
}

int relax_polynomial(struct level *level, const struct chebyshev *how, double *x, const double *b,
                     double *d)
{
    struct recurrence recurrence;
    struct kernel_step step = first_step(how->low, &recurrence);
    int error = 0;
    for (int i = 0; error == 0 && i < how->steps; i++) {
        if (i == 0 && how->is_zero && level_is_here(level)) {
            kernel_scale(&level->kernel, step.new, b, d);
            kernel_copy(&level->kernel, d, x);
        } else if (i > 0 || !how->is_zero) {
            error = level_step(level, &step, x, b, d);
        }
        step = next_step(&recurrence);
    }
    return error;
}

int relax_chebyshev(struct solver *solver, struct task *task)
{
    struct recurrence recurrence;
    double low = equation_low(&solver->level.equation);
    struct kernel_step step = first_step(low < 1 ? low : 1, &recurrence);
    int error = measure(solver, task);
    while (error == 0 && goes_on(task)) {
        error = level_step(&solver->level, &step, task->x, task->b, solver->vectors[STEP]);
        step = next_step(&recurrence);
        if (error == 0 && ++task->iterations % CHECK == 0)
            error = measure(solver, task);
    }
    return error;
}
