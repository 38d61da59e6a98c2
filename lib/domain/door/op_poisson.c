/*
 * op_poisson.c - covey_poisson(): a plan of covey_poisson(3), whose fields begin and end whole at
 * the caller.
 *
 *   arguments: n[0] dims, n[1..3] low, n[4..6] high, n[7..9] sizes; x[0..2] h, x[3] c, x[4] the
 *              tolerance; in[0] f, in[1] where iterations begin; out[0] u
 */
#include "lib/domain/base/error.h"
#include "lib/domain/covey_domain/poisson.h"
#include "lib/domain/door/door.h"
#include "lib/domain/place/place.h"
#include "lib/domain/poisson/poisson.h"
#include "lib/domain/poisson/speed.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct covey_poisson_problem problem_of(const struct door_args *args)
{
    struct covey_poisson_problem p = {.dims = (int32_t)args->n[0], .c = args->x[3]};
    for (int d = 0; d < COVEY_GRID_DIMS_MAX; d++) {
        p.low[d] = (int32_t)args->n[1 + d];
        p.high[d] = (int32_t)args->n[4 + d];
        p.n[d] = args->n[7 + d];
        p.h[d] = args->x[d];
    }
    return p;
}

static double points_of(const struct door_args *args)
{
    double points = 1;
    for (int d = 0; d < args->n[0]; d++)
        points *= (double)args->n[7 + d];
    return points;
}

/* ---- a run ---- */

struct fields {
    double *f, *u;
    double *whole; /* at the caller: the result */
};

static int allocate(const struct door_member *member, const struct door_args *args,
                    const covey_poisson_t *plan, struct fields *fields)
{
    int is_root = covey_team_rank(member->team) == 0;
    fields->f = covey_grid_field(covey_poisson_grid(plan));
    fields->u = covey_grid_field(covey_poisson_grid(plan));
    fields->whole = is_root ? malloc((size_t)points_of(args) * sizeof(double)) : NULL;
    if (fields->f == NULL || fields->u == NULL || (is_root && fields->whole == NULL))
        return domain_break(member->team,
                            domain_fail(COVEY_ENOMEM, "no memory for the fields of an equation"));
    return 0;
}

/* Returns as covey_poisson_solve(). */
static int solve(struct door_member *member, const struct door_args *args, covey_poisson_t *plan,
                 const struct fields *fields)
{
    covey_grid_t *grid = covey_poisson_grid(plan);
    struct covey_poisson_report report = {.residual = -1};
    int error = covey_grid_scatter(grid, 0, args->in[0], fields->f);
    if (error == 0)
        error = covey_grid_scatter(grid, 0, args->in[1], fields->u);
    int status =
        error < 0 ? error : covey_poisson_solve(plan, fields->f, fields->u, args->x[4], &report);
    if (status >= 0)
        error = covey_grid_gather(grid, fields->u, 0, fields->whole);
    member->residual = report.residual;
    return error < 0 ? error : status;
}

static int run_poisson(struct door_member *member, const struct door_args *args)
{
    const struct covey_poisson_problem problem = problem_of(args);
    covey_poisson_t *plan = NULL;
    struct fields fields = {0};
    int error =
        covey_poisson_plan(member->team, &problem, member->options, &member->network, &plan);
    if (error < 0)
        return error;
    snprintf(member->algorithm, sizeof member->algorithm, "%s", covey_poisson_algorithm(plan));
    error = allocate(member, args, plan, &fields);
    if (error == 0)
        error = solve(member, args, plan, &fields);
    if (error >= 0 && fields.whole != NULL)
        memcpy(args->out[0], fields.whole, (size_t)points_of(args) * sizeof(double));
    free(fields.f);
    free(fields.u);
    free(fields.whole);
    covey_poisson_free(&plan);
    return error;
}

/* ---- what it takes ---- */

/* The least of the plan's own predictions, and f and u on their way there, and u back. */
static double cost_poisson(const struct door_args *args, const struct door_setting *s)
{
    const struct covey_poisson_problem problem = problem_of(args);
    const struct covey_domain_network *network = &s->place.network;
    struct poisson_options options;
    struct equation equation;
    struct speed speed;
    double least_s = HUGE_VAL;
    int has_fft = direct_refusal() == NULL;
    if (poisson_problem_agree(s->alone, &problem, &equation) < 0 ||
        poisson_options_agree(s->alone, NULL, &options) < 0 ||
        speed_learn_passes(s->alone, &door_place_alone, &speed) < 0)
        return HUGE_VAL; /* the plan says what is wrong */
    speed_at(&s->place, speed.sweep_s, speed.alone_s, &speed);
    int inner = guess_alone(&options.settings, &equation, &speed, has_fft);
    for (int m = METHOD_JACOBI; m < METHODS; m++) {
        options.settings.method = m;
        if ((m != METHOD_FFT || has_fft) && (s->tasks > 1 || m == inner))
            least_s =
                fmin(least_s, guess_s(&options.settings, inner, &equation, &speed, args->x[4]));
    }
    double part = 8 * points_of(args) / s->tasks;
    return least_s + 3 * (s->tasks - 1) * (network->alpha_s + part * network->beta_s);
}

const struct door_op door_poisson = {
    .name = "covey_poisson", .run = run_poisson, .cost = cost_poisson};

/* NOLINTNEXTLINE(readability-function-size): the equation, its data and what all calls have */
int covey_poisson(covey_t *vm, const struct covey_poisson_problem *problem, const double *f,
                  double *u, double tolerance, const char *options,
                  struct covey_door_report *report)
{
    if (problem == NULL || f == NULL || u == NULL)
        return domain_fail(COVEY_EINVAL, "covey_poisson: the problem or an array is NULL");
    if (!(tolerance > 0 && tolerance < 1))
        return domain_fail(COVEY_EINVAL, "covey_poisson: tolerance %g is not between 0 and 1",
                           tolerance);
    struct door_args args = {
        .n = {problem->dims}, .x = {[3] = problem->c, [4] = tolerance}, .in = {f, u}, .out = {u}};
    for (int d = 0; d < COVEY_GRID_DIMS_MAX; d++) {
        args.n[1 + d] = problem->low[d];
        args.n[4 + d] = problem->high[d];
        args.n[7 + d] = problem->n[d];
        args.x[d] = problem->h[d];
    }
    return door_call(vm, DOOR_POISSON, &args, options, report);
}
