/*
 * dense.c - plans of dense algebra.
 *
 *   lib/domain/algebra has what needs no team: dense_layout, which element lies where;
 * dense_kernel, BLAS and LAPACK for each type of elements; dense_cost, what an algorithm is
 * expected to take, and the search for the setting; dense_ops, the operations, of which gemm_cost,
 * lu_cost ... have the algorithms.
 *
 *   dense_cast     broadcasts of panels that go on meanwhile
 *   dense_move     whole matrices at rank 0 to the pieces, and back
 *   dense_speed    how fast BLAS and LAPACK are here
 *   dense_options  the arguments of a plan, agreed on
 *   dense          makes a plan; dense_info tells of it; gemm, lu ... carry it out
 *
 * A plan has teams of its own. Members outside its grid have no elements; they take part in the
 * collective calls on all members alone. What fails at one member while it plans, or while
 * arguments are checked, is told to all; a later failure breaks the teams of the plan.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/domain/base/agree.h"
#include "lib/domain/base/cache.h"
#include "lib/domain/base/clock.h"
#include "lib/domain/base/error.h"
#include "lib/domain/base/history.h"
#include "lib/domain/base/options.h"
#include "lib/domain/dense/dense.h"
#include "lib/domain/dense/dense_factor.h"
#include "lib/domain/place/place.h"

#define DENSE_WHAT "an operation of dense algebra" /* begins texts */

/* ---- The choice ------------------------------------------------------------------------------ */

static void predict(struct covey_dense *plan, const struct dense_case *c,
                    struct dense_setting settings[DENSE_ALGORITHMS])
{
    const struct dense_op *op = plan->op;
    for (int a = 0; a < DENSE_ALGORITHMS && op->names[a] != NULL; a++) {
        struct domain_algorithm *row = &plan->table[a];
        *row = (struct domain_algorithm){.name = op->names[a], .refusal = op->refusal(a, c)};
        plan->algorithms = a + 1;
        if (row->refusal != NULL)
            continue;
        row->seconds = dense_best(op, a, c, &plan->options.forced, &settings[a]);
        if (row->seconds < 0)
            row->refusal = "the grid does not suit it";
    }
}

/* What is learned of one plan counts for those of about that size, on such a network. */
static void name_problem(struct covey_dense *plan, const struct covey_domain_network *network)
{
    const struct covey_dense_problem *p = &plan->problem;
    int64_t size[2], inner = p->op == COVEY_DENSE_GEMM ? p->k : p->r;
    dense_sizes(p, COVEY_DENSE_A, size);
    snprintf(plan->name, sizeof plan->name, "dense%d.t%d%c.%d.%d.%d.%dx%d.b%d", (int)p->op,
             (int)p->type, plan->options.at_root ? 'r' : 's', domain_size_class((double)size[0]),
             domain_size_class((double)(p->op == COVEY_DENSE_GEMM ? p->n : size[1])),
             domain_size_class((double)inner), (int)network->members, (int)network->hosts,
             domain_size_class(network->beta_s * 1e12) / 3);
}

/* Rank 0 decides on all of it, for predictions may differ in their last bits. */
static int choose(struct covey_dense *plan, covey_team_t *team, const struct dense_case *c)
{
    struct dense_setting settings[DENSE_ALGORITHMS], *s;
    predict(plan, c, settings);
    name_problem(plan, &c->place.network);
    plan->taken = domain_choose_learned(team, plan->name, plan->table, plan->algorithms,
                                        plan->options.algorithm);
    if (plan->taken < 0)
        return plan->taken;
    s = &settings[plan->taken];
    int32_t figures[] = {s->grid.rows, s->grid.columns, s->block, s->bcast, s->swap, s->lookahead};
    int error = covey_bcast(team, 0, COVEY_INT32, figures, sizeof figures / sizeof *figures);
    plan->setting = (struct dense_setting){.grid = {figures[0], figures[1]},
                                           .block = figures[2],
                                           .bcast = figures[3],
                                           .swap = figures[4],
                                           .lookahead = figures[5]};
    plan->moves_s = c->at_root ? dense_moves_s(c, &plan->setting.grid) : 0;
    plan->load = fmax(c->place.load, c->place.load_root);
    return error < 0 ? domain_fail_of(error, "the plan of a problem") : 0;
}

/* ---- Those at rest --------------------------------------------------------------------------- */

/* A grid that suits the members on hosts that others leave alone is made of these: they come first
 * in the plan's teams. */
static int order(struct covey_dense *plan, covey_team_t *team, const struct dense_case *c,
                 const unsigned char *shares)
{
    const struct dense_grid *grid = &plan->setting.grid;
    int members = c->place.network.members, count = 0;
    if (plan->options.forced.grid.rows > 0 || !dense_is_at_rest(c, grid))
        return 0;
    plan->ranks = calloc((size_t)members, sizeof *plan->ranks);
    int error = plan->ranks != NULL ? 0 : domain_fail(COVEY_ENOMEM, "no memory for a plan");
    error = domain_agree(team, error, DENSE_WHAT);
    if (error < 0)
        return error;
    for (int is_busy = 0; is_busy < 2; is_busy++)
        for (int rank = 0; rank < members; rank++)
            if (domain_is_at_rest(shares[rank]) != is_busy)
                plan->ranks[count++] = rank;
    int own = 0;
    while (plan->ranks[own] != plan->rank)
        own++;
    plan->rank = own;
    return 0;
}

/* ---- The teams ------------------------------------------------------------------------------- */

static int add_team(struct covey_dense *plan, covey_team_t *team, int which, int colour)
{
    int error = covey_team_split(team, colour, plan->rank, &plan->teams[which]);
    int bcast = plan->setting.bcast;
    const char *name = bcast == DENSE_TREE   ? "binomial"
                       : bcast == DENSE_LONG ? "scatter-allgather"
                                             : NULL;
    if (error == 0 && plan->teams[which] != NULL && name != NULL && which != DENSE_ALL)
        error = covey_team_force(plan->teams[which], "bcast", name);
    return error < 0 ? domain_fail_of(error, "the teams of a plan") : 0;
}

static int add_teams(struct covey_dense *plan, covey_team_t *team)
{
    const struct dense_grid *grid = &plan->setting.grid;
    int inside = plan->rank < grid->rows * grid->columns;
    plan->row = inside ? plan->rank / grid->columns : -1;
    plan->column = inside ? plan->rank % grid->columns : -1;
    int error = add_team(plan, team, DENSE_ALL, 0);
    if (error == 0)
        error = add_team(plan, team, DENSE_ROW, plan->row);
    return error < 0 ? error : add_team(plan, team, DENSE_COLUMN, plan->column);
}

/* Several tasks on a host share its processors, and hosts of one machine those of that. */
static void set_threads(struct covey_dense *plan, const covey_team_t *team,
                        const struct dense_case *c)
{
    int here = 0, host = covey_tid_host(covey_team_tid(team, plan->rank));
    for (int i = 0; i < covey_team_size(team); i++)
        here += covey_tid_host(covey_team_tid(team, i)) == host;
    plan->threads = (int)fmax(1, c->place.processors / here);
    const struct covey_dense_problem *p = &plan->problem;
    int64_t size[2];
    dense_sizes(p, COVEY_DENSE_A, size);
    double n = p->op == COVEY_DENSE_GEMM ? cbrt((double)p->m * (double)p->n * (double)p->k)
                                         : fmin((double)size[0], (double)size[1]);
    plan->threads_alone = n < DENSE_THREADED ? 1 : (int)fmax(1, c->alone);
}

/* ---- Plans ----------------------------------------------------------------------------------- */

static int make(struct covey_dense *plan, covey_team_t *team, const char *options,
                const struct covey_domain_network *network, unsigned char *shares)
{
    struct dense_case c = {.problem = plan->problem};
    plan->rank = covey_team_rank(team);
    plan->op = dense_op_of(plan->problem.op);
    plan->kernel = dense_kernel_of(plan->problem.type);
    int error = dense_options_agree(team, options, plan->problem.op, &plan->options);
    if (error == 0)
        error = domain_place_learn(team, network, &c.place, shares);
    if (error == 0)
        error = dense_speed_agree(team, plan->kernel, &c);
    if (error < 0)
        return error;
    c.alone =
        fmin((double)sysconf(_SC_NPROCESSORS_ONLN), c.place.processors * c.place.network.hosts);
    c.at_root = plan->options.at_root;
    set_threads(plan, team, &c);
    error = choose(plan, team, &c);
    if (error == 0)
        error = order(plan, team, &c, shares);
    return error < 0 ? error : add_teams(plan, team);
}

int covey_dense_plan(covey_team_t *team, const struct covey_dense_problem *problem,
                     const char *options, const struct covey_domain_network *network,
                     covey_dense_t **plan)
{
    struct covey_dense_problem agreed;
    if (team == NULL || plan == NULL)
        return domain_fail(COVEY_EINVAL, "the team or the place for the plan is NULL");
    *plan = NULL;
    int error = dense_problem_agree(team, problem, network != NULL, &agreed);
    if (error < 0)
        return error;
    covey_dense_t *made = calloc(1, sizeof *made);
    unsigned char *shares = malloc((size_t)covey_team_size(team));
    error = made != NULL && shares != NULL ? 0 : domain_fail(COVEY_ENOMEM, "no memory for a plan");
    error = domain_agree(team, error, DENSE_WHAT);
    if (error == 0) {
        made->problem = agreed;
        error = make(made, team, options, network, shares);
    }
    free(shares);
    if (error < 0)
        covey_dense_free(&made);
    *plan = made;
    return error;
}

void covey_dense_free(covey_dense_t **plan)
{
    if (plan == NULL || *plan == NULL)
        return;
    if ((*plan)->rank == 0 && (*plan)->runs > 0)
        domain_cache_save();
    for (int i = 0; i < DENSE_TEAMS; i++)
        covey_team_free(&(*plan)->teams[i]);
    if ((*plan)->q != NULL)
        factor_q_free((*plan)->q);
    free((*plan)->q);
    free((*plan)->ranks);
    free(*plan);
    *plan = NULL;
}

/* ---- What runs took -------------------------------------------------------------------------- */

/* What a program forces besides the algorithm is not what would be chosen. */
static int is_as_chosen(const struct dense_setting *forced)
{
    return forced->grid.rows == 0 && forced->block <= 0 && forced->bcast < 0 && forced->swap < 0 &&
           forced->lookahead < 0;
}

/* Of an operation that is done in two calls neither is predicted: factors, then what they solve. */
static int is_half(const covey_dense_t *plan)
{
    int op = plan->problem.op;
    return op != COVEY_DENSE_GEMM && op != COVEY_DENSE_SOLVE && plan->problem.r > 0;
}

double dense_begin(covey_dense_t *plan, int is_solution)
{
    const struct domain_algorithm *row = &plan->table[plan->taken];
    domain_part_begin(&plan->part, plan->teams[DENSE_ALL], plan->name, row->name,
                      is_solution || is_half(plan) ? 0 : domain_expected_s(row));
    return domain_now_s();
}

void dense_note(covey_dense_t *plan, double began_s, int result, int is_solution)
{
    const struct domain_algorithm *row = &plan->table[plan->taken];
    double seconds = domain_now_s() - began_s, before_s = plan->factors_s;
    domain_part_end(&plan->part);
    plan->factors_s = is_half(plan) && !is_solution && result == 0 ? seconds : 0;
    if (result != 0 || (is_solution ? before_s <= 0 : is_half(plan)))
        return; /* a further solution is not predicted */
    if (is_as_chosen(&plan->options.forced) &&
        domain_history_is_told(plan->name, row->name, plan->runs))
        domain_history_note_loaded(plan->name, row->name, row->seconds,
                                   before_s * is_solution + seconds + plan->moves_s, plan->load);
    plan->runs = domain_history_count(plan->runs);
}

/* ---- What the operations share --------------------------------------------------------------- */

struct dense_axis dense_axis(const covey_dense_t *plan, int axis)
{
    const struct dense_grid *grid = &plan->setting.grid;
    return (struct dense_axis){.block = plan->setting.block,
                               .at = axis == 0 ? plan->row : plan->column,
                               .of = axis == 0 ? grid->rows : grid->columns};
}

int dense_check(const covey_dense_t *plan, int op)
{
    if (plan == NULL)
        return domain_fail(COVEY_EINVAL, "the plan is NULL");
    if (plan->problem.op != op)
        return domain_fail(COVEY_EINVAL, "the plan is one of another operation");
    return 0;
}

int dense_agree(covey_dense_t *plan, int error)
{
    return domain_agree(plan->teams[DENSE_ALL], error, DENSE_WHAT);
}

int dense_view_of(const covey_dense_t *plan, int matrix, const void *piece, int64_t ld,
                  struct dense_view *view)
{
    struct covey_dense_part part;
    int error = covey_dense_local(plan, matrix, &part);
    if (error < 0)
        return error;
    *view = (struct dense_view){
        .at = (void *)piece, .m = part.local_m, .n = part.local_n, .ld = part.ld};
    if (part.count == 0 || part.local_m == 0)
        return 0;
    if (piece == NULL)
        return domain_fail(COVEY_EINVAL, "a matrix is NULL");
    if (ld < part.ld || ld > INT32_MAX)
        return domain_fail(COVEY_EINVAL, "leading dimension %lld is not %lld to %d", (long long)ld,
                           (long long)part.ld, INT32_MAX);
    view->ld = ld;
    return 0;
}

int dense_break(covey_dense_t *plan, int error)
{
    for (int i = 0; i < DENSE_TEAMS; i++)
        if (plan->teams[i] != NULL)
            domain_break(plan->teams[i], error);
    return error;
}

int dense_broken(covey_dense_t *plan, int error)
{
    return dense_break(plan, domain_fail_of(error, DENSE_WHAT));
}
