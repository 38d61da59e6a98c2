/*
 * poisson.c - plans.
 *
 *   equation.c  eigenvalues                          kernel.c    the loops over points
 *   level.c     a grid with its equation             transfer.c  between a grid and a coarser one
 *   coarsen.c   which grids multigrid has            cycle.c     multigrid
 *   relax.c, gradient.c, direct.c  other methods     solver.c    a method with what it needs
 *   speed.c     what is measured                     guess.c     what methods are expected to take
 *   poisson.c   plans, and the choice                poisson_options.c  what they are given
 *   division.c  plans of one grid divide it alike    solution.c  what a plan is for
 *
 * A plan has the equation on the program's division of the grid, and a solver: on the same
 * division, or for `local` on rank 0 alone, where all data go and whence they come back.
 */
#include "lib/domain/poisson/poisson.h"

#include "lib/domain/base/agree.h"
#include "lib/domain/base/cache.h"
#include "lib/domain/base/error.h"
#include "lib/domain/base/history.h"
#include "lib/domain/base/options.h"
#include "lib/domain/grid/grid.h"
#include "lib/domain/place/place.h"
#include "lib/domain/poisson/division.h"
#include "lib/domain/poisson/speed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TAG_TO_ONE 0x01f0
#define TOLERANCE 1e-8 /* for which times are predicted */

/* ---- The choice ------------------------------------------------------------------------------ */

static void predict(struct covey_poisson *plan)
{
    const struct equation *e = &plan->front.equation;
    struct settings settings = plan->options.settings;
    int inner = plan->options.local;
    if (inner == DOMAIN_CHOSEN)
        inner = guess_alone(&settings, e, &plan->speed, direct_refusal() == NULL);
    for (int m = 0; m < METHODS; m++) {
        int is_fft = m == METHOD_FFT || (m == METHOD_LOCAL && inner == METHOD_FFT);
        settings.method = m;
        plan->table[m] = (struct domain_algorithm){
            .name = poisson_names[m],
            .refusal = is_fft ? direct_refusal() : NULL,
            .seconds = guess_s(&settings, inner, e, &plan->speed, TOLERANCE)};
    }
    plan->options.local = inner;
}

/* What is learned of one plan counts for those of about as many points, on such a network. */
static void name_problem(struct covey_poisson *plan, const struct covey_domain_network *network)
{
    snprintf(plan->name, sizeof plan->name, "poisson%d.2^%d.%dx%d.b%d",
             (int)plan->front.equation.dims,
             domain_size_class(equation_points(&plan->front.equation)), (int)network->members,
             (int)network->hosts, domain_size_class(network->beta_s * 1e12) / 3);
}

/* What rank 0 chose for one member alone, and how it divides the grid. */
static int tell(struct covey_poisson *plan)
{
    int32_t told[2] = {plan->options.local, plan->speed.slabs};
    int error = covey_bcast(plan->team, 0, COVEY_INT32, told, 2);
    if (error == 0)
        error = covey_bcast(plan->team, 0, COVEY_BYTES, plan->shares,
                            (size_t)covey_team_size(plan->team));
    plan->options.local = told[0];
    plan->speed.slabs = told[1];
    return error < 0 ? domain_fail_of(error, "poisson") : 0;
}

/* Slabs are of use for the direct method. */
static void take_slabs(struct covey_poisson *plan)
{
    int slabs = guess_slabs(&plan->options.settings, &plan->front.equation, &plan->speed);
    plan->speed.slabs = plan->taken == METHOD_FFT ? slabs : SLABS_NONE;
    for (int i = 0; plan->speed.slabs == SLABS_REST && i < covey_team_size(plan->team); i++)
        if (!domain_is_at_rest(plan->shares[i]))
            plan->shares[i] = 0;
}

/* A grid that nobody else divided has slabs if they are of use. */
static int choose(struct covey_poisson *plan, const struct covey_domain_network *given)
{
    struct covey_domain_place place;
    int error = domain_place_learn(plan->team, given, &place, plan->shares);
    if (error == 0)
        error = speed_learn_passes(plan->team, &place, &plan->speed);
    if (error < 0)
        return error;
    int is_divided = plan->options.parts[0] != '\0';
    plan->speed.slabs = is_divided ? SLABS_NONE : SLABS_OPEN;
    is_divided |= division_find(plan);
    predict(plan);
    name_problem(plan, &place.network);
    plan->taken =
        domain_choose_learned(plan->team, plan->name, plan->table, METHODS, plan->options.forced);
    if (plan->taken < 0)
        return plan->taken;
    if (!is_divided)
        take_slabs(plan);
    return tell(plan);
}

/* ---- Plans ----------------------------------------------------------------------------------- */

static int make_grid(struct covey_poisson *plan, const struct covey_poisson_problem *problem)
{
    char text[POISSON_TEXT + 8] = "";
    struct covey_grid_shape shape = {
        .dims = problem->dims, .stencil = COVEY_STENCIL_STAR, .width = 1};
    for (int d = 0; d < problem->dims; d++) {
        shape.n[d] = problem->n[d];
        shape.periodic[d] = problem->low[d] == COVEY_BORDER_PERIODIC;
    }
    if (plan->options.parts[0] != '\0')
        snprintf(text, sizeof text, "parts=%s", plan->options.parts);
    return grid_create_slabs(plan->team, &shape, text,
                             plan->speed.slabs != SLABS_NONE ? plan->shares : NULL, &plan->grid);
}

static int make_front(struct covey_poisson *plan, const struct equation *equation)
{
    struct grid_split split;
    int error = split_copy(&split, &plan->grid->split);
    if (error == 0)
        error = level_make(&plan->front, plan->team, equation, &split, 0);
    else
        split_free(&split);
    plan->b = level_field(&plan->front);
    plan->x = level_field(&plan->front);
    if (error < 0 || plan->b == NULL || plan->x == NULL)
        return domain_fail(COVEY_ENOMEM, "poisson: no memory for two fields of %zu doubles",
                           plan->front.kernel.field.count);
    return 0;
}

/* Rank 0 has all. */
static void one_box(const void *context, int rank, struct grid_box *box)
{
    memset(box, 0, sizeof *box);
    if (rank == 0)
        memcpy(box->size, ((const struct level *)context)->equation.n, sizeof box->size);
}

static void front_box(const void *context, int rank, struct grid_box *box)
{
    split_box(&((const struct level *)context)->split, rank, box);
}

static int make_local(struct covey_poisson *plan)
{
    const int halo[GRID_AXES] = {plan->front.equation.dims == 3, 1, 1}, one[GRID_AXES] = {1, 1, 1};
    const int64_t period[GRID_AXES] = {0, 0, 0};
    const int32_t host = 0;
    const struct split_members alone = {.count = 1, .hosts = &host};
    struct grid_box box;
    struct grid_field field;
    struct grid_split split;
    int error = 0;
    one_box(&plan->front, plan->front.halo.rank, &box);
    field_make(&field, &box, halo);
    if (plan->front.halo.rank == 0) {
        plan->solver.settings.method = plan->options.local;
        plan->solver.speed.members = 1;
        if (split_make(&split, plan->front.equation.n, 1, &alone, one) < 0)
            error = COVEY_ENOMEM;
        else
            error = solver_make(&plan->solver, NULL, &plan->front.equation, &split);
        plan->b_all = level_field(&plan->solver.level);
        plan->x_all = level_field(&plan->solver.level);
        if (error == 0 && (plan->b_all == NULL || plan->x_all == NULL))
            error = COVEY_ENOMEM;
    }
    const struct move_side sides[2] = {{front_box, &plan->front, plan->front.halo.field},
                                       {one_box, &plan->front, field}};
    int failed = move_make(&plan->to_one, plan->team, sides, period, TAG_TO_ONE);
    return error < 0 ? error : failed;
}

static int make_solver(struct covey_poisson *plan)
{
    struct grid_split split;
    plan->solver.settings = plan->options.settings;
    plan->solver.settings.method = plan->taken;
    plan->solver.speed = plan->speed;
    plan->solver.shares = plan->shares;
    int error = 0;
    if (plan->taken == METHOD_LOCAL)
        error = make_local(plan);
    else if (split_copy(&split, &plan->grid->split) < 0)
        error = COVEY_ENOMEM;
    else
        error = solver_make(&plan->solver, plan->team, &plan->front.equation, &split);
    return error == COVEY_ENOMEM ? domain_fail(error, "poisson: no memory for the method %s",
                                               poisson_names[plan->taken])
                                 : error;
}

/* A method's matrix of its last level is computed without messages: all have one error or none. */
static int make(struct covey_poisson *plan, const struct covey_poisson_problem *problem,
                const struct equation *equation, const struct covey_domain_network *network)
{
    plan->front.equation = *equation;
    int error = choose(plan, network);
    if (error == 0)
        error = make_grid(plan, problem);
    if (error == 0)
        error = domain_agree(plan->team, make_front(plan, equation), "poisson");
    if (error == 0)
        error = domain_agree(plan->team, make_solver(plan), "poisson");
    if (error == 0)
        division_add(plan);
    return error;
}

int covey_poisson_plan(covey_team_t *team, const struct covey_poisson_problem *problem,
                       const char *options, const struct covey_domain_network *network,
                       covey_poisson_t **plan)
{
    struct equation equation;
    if (team == NULL || plan == NULL)
        return domain_fail(COVEY_EINVAL, "poisson: the team or the place of the plan is NULL");
    *plan = NULL;
    int error = poisson_problem_agree(team, problem, &equation);
    if (error < 0)
        return error;
    struct covey_poisson *made = calloc(1, sizeof *made);
    if (made != NULL)
        made->shares = calloc((size_t)covey_team_size(team), 1);
    error = domain_agree(team,
                         made == NULL || made->shares == NULL
                             ? domain_fail(COVEY_ENOMEM, "poisson: no memory for a plan")
                             : 0,
                         "poisson");
    if (error == 0) {
        made->team = team;
        error = poisson_options_agree(team, options, &made->options);
    }
    if (error == 0)
        error = make(made, problem, &equation, network);
    if (error < 0)
        covey_poisson_free(&made);
    *plan = made;
    return error;
}

void covey_poisson_free(covey_poisson_t **plan)
{
    if (plan == NULL || *plan == NULL)
        return;
    struct covey_poisson *p = *plan;
    division_remove(p);
    if (p->runs > 0 && covey_team_rank(p->team) == 0)
        domain_cache_save();
    solver_free(&p->solver);
    move_free(&p->to_one);
    level_free(&p->front);
    covey_grid_free(&p->grid);
    free(p->shares);
    free(p->b);
    free(p->x);
    free(p->b_all);
    free(p->x_all);
    free(p);
    *plan = NULL;
}

/* ---- What a plan tells ----------------------------------------------------------------------- */

int covey_poisson_local_of(const covey_poisson_t *plan, int rank, struct covey_grid_part *part)
{
    if (plan == NULL)
        return domain_fail(COVEY_EINVAL, "poisson: the plan is NULL");
    return covey_grid_local_of(plan->grid, rank, part);
}

int covey_poisson_local(const covey_poisson_t *plan, struct covey_grid_part *part)
{
    if (plan == NULL)
        return domain_fail(COVEY_EINVAL, "poisson: the plan is NULL");
    return covey_grid_local(plan->grid, part);
}

covey_grid_t *covey_poisson_grid(const covey_poisson_t *plan)
{
    return plan == NULL ? NULL : plan->grid;
}

size_t covey_poisson_explain(const covey_poisson_t *plan, char *text, size_t size)
{
    if (plan == NULL || (text == NULL && size > 0))
        return 0;
    return domain_explain(plan->table, METHODS, plan->taken, plan->options.forced, text, size);
}

const char *covey_poisson_algorithm(const covey_poisson_t *plan)
{
    return plan == NULL ? "" : poisson_names[plan->taken];
}
