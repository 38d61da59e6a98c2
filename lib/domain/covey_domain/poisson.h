/*
 * covey_domain/poisson.h - Poisson's equation on a grid that is spread over the members of a team.
 * See covey_poisson(3).
 */
#ifndef COVEY_DOMAIN_POISSON_H
#define COVEY_DOMAIN_POISSON_H

#include "grid.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct covey_poisson covey_poisson_t; /* an equation that is planned, of one team */

/* What holds at a border. Values and slopes are 0, or stand in the halo of u: see
 * covey_poisson_solve(). */
enum covey_border {
    COVEY_BORDER_VALUE = 1,   /* Dirichlet: u is given */
    COVEY_BORDER_SLOPE = 2,   /* Neumann: the derivative of u outwards is given */
    COVEY_BORDER_PERIODIC = 3 /* at both sides of an axis, or at none */
};

/* -lap(u) + c u = f in a box of n[d] cells with the side h[d] along axis d; u and f are known at
 * the centres of cells, of which the first is h[d] / 2 behind the border. Second order. */
struct covey_poisson_problem {
    int32_t dims;                      /* 2 or 3 */
    int32_t low[COVEY_GRID_DIMS_MAX];  /* enum covey_border, where the axis begins */
    int32_t high[COVEY_GRID_DIMS_MAX]; /* and where it ends */
    int64_t n[COVEY_GRID_DIMS_MAX];    /* from 1 */
    double h[COVEY_GRID_DIMS_MAX];     /* above 0 */
    double c;                          /* from 0 */
};

/* What a solution took, at this member; the first three are the same at all. */
struct covey_poisson_report {
    int32_t converged;
    int32_t iterations; /* 0 of a direct method */
    double residual;    /* |f + lap(u) - c u| / |f|, with the borders' values in f */
    double seconds;     /* in all, of which */
    double exchange_s;  /* for halos and between levels */
    double reduce_s;    /* for sums of all members */
};

/* Plans for many solutions, and takes the algorithm with the least predicted time unless the
 * options, or COVEY_POISSON in the environment, name one. Members with network NULL measure it; all
 * give the same problem, and the plan ends before the team. A collective call. Sets *plan.
 * Errors: EINVAL (the problem, an option, an algorithm that cannot solve it here, members that
 * differ: at all members), ENOMEM, and those of all collective calls. */
int covey_poisson_plan(covey_team_t *team, const struct covey_poisson_problem *problem,
                       const char *options, const struct covey_domain_network *network,
                       covey_poisson_t **plan);

/* The caller's part of f and u, with a halo of 1, and that of another rank. Errors: EINVAL. */
int covey_poisson_local(const covey_poisson_t *plan, struct covey_grid_part *part);
int covey_poisson_local_of(const covey_poisson_t *plan, int rank, struct covey_grid_part *part);

/* The grid of these parts, for fields, sums, gathering and scattering. It is the plan's. */
covey_grid_t *covey_poisson_grid(const covey_poisson_t *plan);

/* Solves: u is where iterations begin (fft computes anew), and gets the solution. Its halo outside
 * the grid has what is given at the border beside it (values or slopes; 0 in a fresh field) and
 * keeps it. f is only read. Ends when the residual is at most `tolerance` (between 0 and 1). Where
 * only u up to a constant is determined, the mean of f is taken off first, and the mean of u is 0.
 *
 * Returns 0, or 1: it did not converge in the iterations that are allowed, or grew beyond numbers;
 * u is then the last of them, or as it was. report may be NULL. A collective call.
 * Errors: EINVAL (an array NULL where there are points; a tolerance; f or u is not finite: at all
 * members), and those of all collective calls, after which the team is broken. */
int covey_poisson_solve(covey_poisson_t *plan, const double *f, double *u, double tolerance,
                        struct covey_poisson_report *report);

/* Writes a table of the algorithms: what each is expected to take for a tolerance of 1e-8, or why
 * it cannot be taken, and which one is. Returns the length of the whole; text is cut at `size`. */
size_t covey_poisson_explain(const covey_poisson_t *plan, char *text, size_t size);

/* The name of the algorithm that is taken; "" without a plan. */
const char *covey_poisson_algorithm(const covey_poisson_t *plan);

/* Frees the plan and sets *plan to NULL; not collective. NULL is fine. */
void covey_poisson_free(covey_poisson_t **plan);

#ifdef __cplusplus
}
#endif
#endif
