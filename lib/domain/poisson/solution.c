/*
 * solution.c - solutions with a plan.
 *
 * What is given at borders becomes a part of the right side: a ghost is 2 g - u, or u + h g. So the
 * methods know borders of 0 alone.
 */
#include "lib/domain/poisson/poisson.h"

#include "lib/domain/base/agree.h"
#include "lib/domain/base/clock.h"
#include "lib/domain/base/error.h"
#include "lib/domain/base/history.h"
#include "lib/domain/base/part.h"

#include <math.h>

#define SPARE 3 /* times the predicted iterations are allowed, and SPARE_MORE more */
#define SPARE_MORE 20

/* ---- The right side -------------------------------------------------------------------------- */

/* Adds what is given at one side of an axis, which stands in the halo of u. */
static void add_border(const struct level *front, int axis, int is_high, const double *u, double *b)
{
    const struct kernel *k = &front->kernel;
    struct grid_box box = k->field.box;
    int factor = is_high ? k->high[axis] : k->low[axis];
    int64_t step = (axis == 2 ? 1 : k->field.stride[axis]) * (is_high ? 1 : -1);
    double weight = factor < 0 ? 2 * k->k[axis] : 1 / front->equation.h[axis];
    if (factor == 0)
        return;
    box.low[axis] += is_high ? box.size[axis] - 1 : 0;
    box.size[axis] = 1;
    for (int64_t i = box.low[0]; i < box.low[0] + box.size[0]; i++) {
        for (int64_t j = box.low[1]; j < box.low[1] + box.size[1]; j++) {
            int64_t at = field_at(&k->field, i, j, box.low[2]);
            for (int64_t l = at; l < at + box.size[2]; l++)
                b[l] += weight * u[l + step];
        }
    }
}

static int mean_of(struct covey_poisson *plan, const double *x, double *mean)
{
    struct sum mine = sum_field(&plan->front.kernel.field, x, NULL);
    int error = sum_all(plan->team, &mine, 1, mean);
    const int64_t *n = plan->front.equation.n;
    *mean /= (double)n[0] * (double)n[1] * (double)n[2];
    return error;
}

static int check_arguments(const struct covey_poisson *plan, const double *f, const double *u,
                           double tolerance)
{
    if (level_is_here(&plan->front) && (f == NULL || u == NULL))
        return domain_fail(COVEY_EINVAL, "poisson: f or u is NULL");
    return tolerance > 0 && tolerance < 1
               ? 0
               : domain_fail(COVEY_EINVAL, "poisson: a tolerance of %g is not between 0 and 1",
                             tolerance);
}

/* What is summed up over all members, of which each knows its part: b^2, x^2 of the x that was
 * given, and (b - A x)^2 of the direct one. */
enum { RIGHT, LEFT, REST, PARTS };

struct opening {
    struct sum mine[PARTS];
    int count; /* PARTS, or REST: the direct method was not tried */
    struct sum_agreed agreed;
    double all[PARTS];
};

/* Sets b and x, and what the caller knows. An error has broken the team; what was given, and cannot
 * be, waits until members agree. */
static int prepare(struct covey_poisson *plan, const double *f, const double *u, double tolerance,
                   struct opening *opening)
{
    const struct kernel *k = &plan->front.kernel;
    double mean = 0;
    int error = 0;
    *opening = (struct opening){
        .count = REST, .agreed = {check_arguments(plan, f, u, tolerance), tolerance, "poisson"}};
    if (opening->agreed.error == 0 && level_is_here(&plan->front)) {
        kernel_copy(k, f, plan->b);
        kernel_copy(k, u, plan->x);
        for (int side = 0; side < 2 * GRID_AXES; side++)
            add_border(&plan->front, side / 2, side % 2, u, plan->b);
    }
    if (equation_is_singular(&plan->front.equation)) {
        error = mean_of(plan, plan->b, &mean);
        kernel_shift(k, -mean, plan->b);
    }
    opening->mine[RIGHT] = sum_field(&k->field, plan->b, plan->b);
    opening->mine[LEFT] = sum_field(&k->field, plan->x, plan->x);
    return error < 0 ? domain_break(plan->team, domain_fail_of(error, "poisson")) : 0;
}

/* The direct method needs nothing of other members' arguments but b, and no x to begin with: all
 * agree once it is done, by the sum that tells how far it came. Members wait for each other once
 * less. */
static int try_direct(struct covey_poisson *plan, struct opening *opening)
{
    int error = solver_direct(&plan->solver, plan->b, plan->x, &opening->mine[REST]);
    opening->count = PARTS;
    return error < 0 ? domain_break(plan->team, domain_fail_of(error, "poisson")) : 0;
}

/* Where members find that they were given what cannot be, or not the same, all have that error. A
 * sum is the cheapest way to agree. */
static int agree(struct covey_poisson *plan, struct opening *opening)
{
    double begin = domain_now_s();
    int error =
        sum_all_agreed(plan->team, opening->mine, opening->count, &opening->agreed, opening->all);
    plan->solver.reduce_s += domain_now_s() - begin;
    if (error == 0 && !(isfinite(opening->all[RIGHT]) && isfinite(opening->all[LEFT])))
        error = domain_fail(COVEY_EINVAL, "poisson: f, u or what is given at borders is not "
                                          "finite, or too large");
    return error;
}

/* ---- A solution ------------------------------------------------------------------------------ */

/* What rank 0 found out is told to all. */
static int run_local(struct covey_poisson *plan, struct task *task)
{
    double told[3] = {0, 0, 0};
    int error = move_run(&plan->to_one, MOVE_THERE, plan->b, plan->b_all);
    if (error == 0 && !task->is_zero)
        error = move_run(&plan->to_one, MOVE_THERE, plan->x, plan->x_all);
    if (error == 0 && plan->front.halo.rank == 0) {
        if (task->is_zero)
            kernel_set(&plan->solver.level.kernel, 0, plan->x_all);
        task->b = plan->b_all;
        task->x = plan->x_all;
        told[0] = solver_run(&plan->solver, task);
        told[1] = (double)task->iterations;
        told[2] = task->norm;
    }
    if (error == 0)
        error = covey_bcast(plan->team, 0, COVEY_DOUBLE, told, 3);
    task->iterations = (int64_t)told[1];
    task->norm = told[2];
    if (error == 0 && told[0] < 0)
        error = (int)told[0];
    return error < 0 ? error : move_run(&plan->to_one, MOVE_BACK, plan->x, plan->x_all);
}

static int run(struct covey_poisson *plan, struct task *task, double tolerance)
{
    struct settings settings = plan->solver.settings;
    int error;
    settings.method = plan->taken == METHOD_LOCAL ? plan->options.local : plan->taken;
    task->most =
        settings.iterations != SOLVER_NO_LIMIT
            ? settings.iterations
            : (int64_t)(SPARE * guess_iterations(&settings, &plan->front.equation, tolerance)) +
                  SPARE_MORE;
    if (task->norm <= task->goal)
        error = 0; /* the direct method was tried */
    else if (plan->taken == METHOD_LOCAL)
        error = run_local(plan, task);
    else
        error = solver_run(&plan->solver, task);
    double mean;
    if (error == 0 && equation_is_singular(&plan->front.equation)) {
        error = mean_of(plan, plan->x, &mean);
        kernel_shift(&plan->front.kernel, -mean, plan->x);
    }
    return error < 0 ? domain_break(plan->team, domain_fail_of(error, "poisson")) : 0;
}

static double exchange_s(const struct covey_poisson *plan)
{
    return solver_exchange_s(&plan->solver) + plan->to_one.seconds;
}

/* What all members begin with. */
static struct task task_of(struct covey_poisson *plan, double tolerance,
                           const struct opening *opening)
{
    double norm = sqrt(opening->all[RIGHT]);
    int is_tried = opening->count > REST && norm > 0;
    return (struct task){.b = plan->b,
                         .x = plan->x,
                         .goal = tolerance * norm,
                         .iterations = is_tried,
                         .is_zero = !is_tried && opening->all[LEFT] == 0,
                         .norm = is_tried ? sqrt(opening->all[REST]) : norm};
}

/* b and x are prepared: the rest. */
static int solve(struct covey_poisson *plan, double *u, double tolerance,
                 const struct opening *opening, struct covey_poisson_report *report)
{
    double norm = sqrt(opening->all[RIGHT]);
    struct task task = task_of(plan, tolerance, opening);
    int error = 0;
    if (norm > 0)
        error = run(plan, &task, tolerance);
    else
        kernel_set(&plan->front.kernel, 0, plan->x);
    if (error < 0)
        return error;
    report->iterations = (int32_t)task.iterations;
    report->residual = norm > 0 ? task.norm / norm : 0;
    report->converged = task.norm <= task.goal;
    if (isfinite(task.norm))
        kernel_copy(&plan->front.kernel, plan->x, u);
    if (!report->converged)
        domain_fail(1, "poisson: %s: after %d iterations a residual of %g is left",
                    poisson_names[plan->taken], report->iterations, report->residual);
    return report->converged ? 0 : 1;
}

static double expected_s(const struct covey_poisson *plan, double tolerance)
{
    struct settings settings = plan->options.settings;
    settings.method = plan->taken;
    return guess_s(&settings, plan->options.local, &plan->front.equation, &plan->speed, tolerance);
}

/* The first runs are told, and some of the later ones. How many iterations there are is predicted
 * of those that begin at 0. */
static void note(struct covey_poisson *plan, double tolerance, const struct opening *opening,
                 double seconds)
{
    const char *taken = plan->table[plan->taken].name;
    if (opening->all[RIGHT] == 0 || (opening->all[LEFT] > 0 && plan->taken != METHOD_FFT))
        return;
    if (domain_history_is_told(plan->name, taken, plan->runs))
        domain_history_note(plan->name, taken, expected_s(plan, tolerance), seconds);
    plan->runs = domain_history_count(plan->runs);
}

int covey_poisson_solve(covey_poisson_t *plan, const double *f, double *u, double tolerance,
                        struct covey_poisson_report *report)
{
    double begin = domain_now_s();
    struct opening opening;
    struct covey_poisson_report mine = {.converged = 0};
    if (plan == NULL)
        return domain_fail(COVEY_EINVAL, "poisson: the plan is NULL");
    double exchanged = exchange_s(plan), reduced = plan->solver.reduce_s;
    struct domain_part part;
    domain_part_begin(&part, plan->team, plan->name, plan->table[plan->taken].name,
                      covey_trace_on(covey_team_vm(plan->team)) == 1 ? expected_s(plan, tolerance)
                                                                     : 0);
    int result = prepare(plan, f, u, tolerance, &opening);
    if (result == 0 && plan->taken == METHOD_FFT)
        result = try_direct(plan, &opening);
    if (result == 0)
        result = agree(plan, &opening);
    if (result == 0)
        result = solve(plan, u, tolerance, &opening, &mine);
    domain_part_end(&part);
    mine.exchange_s = exchange_s(plan) - exchanged;
    mine.reduce_s = plan->solver.reduce_s - reduced;
    mine.seconds = domain_now_s() - begin;
    if (result == 0)
        note(plan, tolerance, &opening, mine.seconds);
    if (report != NULL && result >= 0)
        *report = mine;
    return result;
}
