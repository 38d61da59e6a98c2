/*
 * cycle.c - geometric multigrid: levels of which each has half the cells along its strong axes,
 * down to 8 points or fewer that one member solves by the inverse of their matrix.
 *
 * Coarse levels lie at as many members as are expected to be the fastest (coarsen.c), the last one
 * at one. A cycle has no sums of all members.
 *
 * A sweep relaxes the even points and then the odd ones, before and after the coarser level, and a
 * little too far, which makes a cycle worth nearly two. In the opposite order after it a cycle
 * would be symmetric, as conjugate gradients want it, but leave three times as much; those of this
 * room do without (gradient.c).
 *
 * U. Trottenberg, C. Oosterlee and A. Schueller, Multigrid (2001): sections 2.4 (cycles), 2.8.4 and
 * 5.1 (cells, semi-coarsening), 6.3 (agglomeration).
 * I. Yavneh, On red-black SOR smoothing in multigrid, SIAM J. Sci. Comput. 17 (1996): how far.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/domain/grid/grid.h"
#include "lib/domain/poisson/solver.h"
#include "lib/domain/poisson/transfer.h"

#define LEVELS_MAX 100
#define LAST_MAX 8 /* points of the last level */
#define TAG_LEVELS 0x0200
#define TAG_STRIDE 0x20
#define TOO_FAR_2 1.08
#define TOO_FAR_3 1.15
#define SMOOTH_LOW 0.33 /* Chebyshev's relaxation takes what is above this of 2 */

struct stage {
    struct level level; /* of the finest one, the solver's is used */
    struct transfer down;
    double *x, *b, *scratch;
};

struct multigrid {
    int count;
    struct stage stages[LEVELS_MAX]; /* stages[0] has no level, x and b of its own */
    double inverse[LAST_MAX * LAST_MAX];
};

/* ---- Plans ---------------------------------------------------------------------------------- */

static struct level *level_of(struct solver *s, int at)
{
    return at == 0 ? &s->level : &s->multigrid->stages[at].level;
}

static int add_level(struct solver *s, const struct equation *equation, int is_last)
{
    struct multigrid *mg = s->multigrid;
    struct stage *stage = &mg->stages[mg->count];
    const int chosen[GRID_AXES] = {0, 0, 0}, one[GRID_AXES] = {1, 1, 1};
    struct level *finer = level_of(s, mg->count - 1);
    struct grid_split split;
    struct split_members members = {.count = s->team == NULL ? 1 : covey_team_size(s->team)};
    int32_t alone = 0, *hosts = s->team == NULL ? NULL : grid_hosts(s->team);
    members.hosts = s->team == NULL ? &alone : hosts;
    members.most = finer->split.used;
    if (s->settings.agglomerate)
        members.most = coarsen_members(&s->speed, equation, members.most, s->settings.sweeps);
    int error = members.hosts == NULL
                    ? -2
                    : split_make(&split, equation->n, 1, &members, is_last ? one : chosen);
    free(hosts);
    if (error < 0)
        return COVEY_ENOMEM;
    int tag = TAG_LEVELS + mg->count * 2 * TAG_STRIDE;
    mg->count++;
    error = level_make(&stage->level, s->team, equation, &split, tag);
    stage->x = level_field(&stage->level);
    stage->b = level_field(&stage->level);
    stage->scratch = level_field(&stage->level);
    if (error < 0 || stage->x == NULL || stage->b == NULL || stage->scratch == NULL)
        return COVEY_ENOMEM;
    return transfer_make(&mg->stages[mg->count - 2].down, finer, &stage->level, tag + TAG_STRIDE);
}

/* ---- The last level -------------------------------------------------------------------------- */

static void take_off(double factor, const double *row, double *from, int n)
{
    for (int j = 0; j < n; j++)
        from[j] -= factor * row[j];
}

/* Gauss and Jordan's inversion, for a positive matrix of few rows. */
static void invert(double *a, int n, double *inverse)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            inverse[i * n + j] = i == j;
    for (int p = 0; p < n; p++) {
        double pivot = 1 / a[p * n + p];
        for (int j = 0; j < n; j++) {
            a[p * n + j] *= pivot;
            inverse[p * n + j] *= pivot;
        }
        for (int i = 0; i < n; i++) {
            double factor = i == p ? 0 : a[i * n + p];
            take_off(factor, a + p * n, a + i * n, n);
            take_off(factor, inverse + p * n, inverse + i * n, n);
        }
    }
}

/* The matrix of the level, column by column; of a singular one constants are made regular. */
static int prepare_last(struct solver *s)
{
    struct multigrid *mg = s->multigrid;
    struct level *last = level_of(s, mg->count - 1);
    struct stage *stage = &mg->stages[mg->count - 1];
    double matrix[LAST_MAX * LAST_MAX], column[LAST_MAX], *x = stage->x, *q = stage->scratch;
    int n = (int)grid_box_count(&last->kernel.field.box), error = 0;
    double shift =
        equation_is_singular(&last->equation) ? fmax(equation_diagonal(&last->equation), 1) / n : 0;
    for (int c = 0; error == 0 && c < n; c++) {
        memset(column, 0, sizeof column);
        column[c] = 1;
        field_unpack(&last->halo.field, &last->halo.field.box, column, x);
        error = level_apply(last, x, q);
        field_pack(&last->halo.field, &last->halo.field.box, q, column);
        for (int i = 0; i < n; i++)
            matrix[i * n + c] = column[i] + shift;
    }
    invert(matrix, n, mg->inverse);
    return error;
}

static void solve_last(struct solver *s, double *x, const double *b)
{
    const struct multigrid *mg = s->multigrid;
    const struct level *last = level_of(s, mg->count - 1);
    const struct grid_field *field = &last->halo.field;
    double right[LAST_MAX], solution[LAST_MAX], mean = 0;
    int n = (int)grid_box_count(&field->box);
    if (n == 0)
        return;
    field_pack(field, &field->box, b, right);
    if (equation_is_singular(&last->equation))
        for (int i = 0; i < n; i++)
            mean += right[i] / n;
    for (int i = 0; i < n; i++) {
        solution[i] = 0;
        for (int j = 0; j < n; j++)
            solution[i] += mg->inverse[i * n + j] * (right[j] - mean);
    }
    field_unpack(field, &field->box, solution, x);
}

int multigrid_make(struct solver *solver)
{
    struct equation equation = solver->level.equation, coarser;
    struct multigrid *mg = solver->multigrid = calloc(1, sizeof *mg);
    if (mg == NULL)
        return COVEY_ENOMEM;
    mg->count = 1;
    mg->stages[0].scratch = level_field(&solver->level);
    int error = mg->stages[0].scratch == NULL ? COVEY_ENOMEM : 0;
    while (error == 0 && mg->count < LEVELS_MAX && coarsen_equation(&equation, &coarser)) {
        struct equation next;
        error = add_level(solver, &coarser, !coarsen_equation(&coarser, &next));
        equation = coarser;
    }
    /* a grid that is the last level itself, at several members: one copy at one of them */
    if (error == 0 && mg->count == 1 && solver->level.split.used > 1)
        error = add_level(solver, &equation, 1);
    if (error == 0 && mg->count > 1) {
        mg->stages[0].x = mg->stages[0].b = NULL;
        return prepare_last(solver);
    }
    if (error == 0) {
        mg->stages[0].x = level_field(&solver->level);
        error = mg->stages[0].x == NULL ? COVEY_ENOMEM : prepare_last(solver);
    }
    return error;
}

void multigrid_free(struct multigrid **multigrid)
{
    struct multigrid *mg = *multigrid;
    for (int i = 0; mg != NULL && i < mg->count; i++) {
        if (i > 0)
            level_free(&mg->stages[i].level);
        transfer_free(&mg->stages[i].down);
        free(mg->stages[i].x);
        free(mg->stages[i].b);
        free(mg->stages[i].scratch);
    }
    free(mg);
    *multigrid = NULL;
}

double multigrid_exchange_s(const struct multigrid *multigrid)
{
    double seconds = 0;
    for (int i = 0; multigrid != NULL && i < multigrid->count; i++)
        seconds += multigrid->stages[i].down.move.seconds + multigrid->stages[i].level.halo.seconds;
    return seconds;
}

/* ---- Cycles ---------------------------------------------------------------------------------- */

/* One level of a cycle: what is solved there, and where it stands. */
struct visit {
    int at;
    double *x;
    const double *b;
    int is_zero; /* x is 0, whatever stands there */
};

static int smooth_colours(struct solver *s, const struct visit *v, int is_after)
{
    struct level *level = level_of(s, v->at);
    int error = 0;
    for (int i = 0; error == 0 && i < s->settings.sweeps; i++) {
        const struct level_relax how = {.omega = level->equation.dims == 3 ? TOO_FAR_3 : TOO_FAR_2,
                                        .is_zero = i == 0 && v->is_zero && !is_after};
        error = level_relax(level, &how, v->x, v->b);
    }
    return error;
}

static int smooth(struct solver *s, const struct visit *v, int is_after)
{
    if (s->settings.smoother == SMOOTHER_RB)
        return smooth_colours(s, v, is_after);
    const struct chebyshev how = {
        .low = 2 * SMOOTH_LOW, .steps = 2 * s->settings.sweeps, .is_zero = v->is_zero && !is_after};
    return relax_polynomial(level_of(s, v->at), &how, v->x, v->b,
                            s->multigrid->stages[v->at].scratch);
}

/* An F cycle visits the coarser level twice, by an F and by a V cycle: they are put one after
 * another on a stack of levels in the place of a recursion. */
struct step {
    int at;
    enum { DOWN_F, DOWN_V, AGAIN, UP } what;
    int is_zero;
};

static struct visit visit_of(struct solver *s, const struct step *step, const double *r, double *z)
{
    struct stage *stage = &s->multigrid->stages[step->at];
    return (struct visit){.at = step->at,
                          .x = step->at == 0 ? z : stage->x,
                          .b = step->at == 0 ? r : stage->b,
                          .is_zero = step->is_zero};
}

static int go_down(struct solver *s, const struct visit *v)
{
    struct multigrid *mg = s->multigrid;
    int error = smooth(s, v, 0);
    if (error == 0)
        error = transfer_restrict(&mg->stages[v->at].down, v->x, v->b, mg->stages[v->at + 1].b);
    return error;
}

static int go_up(struct solver *s, const struct visit *v)
{
    struct multigrid *mg = s->multigrid;
    int error = transfer_prolong(&mg->stages[v->at].down, mg->stages[v->at + 1].x, v->x);
    return error < 0 ? error : smooth(s, v, 1);
}

int multigrid_cycle(struct solver *solver, const double *r, double *z)
{
    int last = solver->multigrid->count - 1, depth = 0, error = 0;
    struct step stack[3 * LEVELS_MAX + 3];
    stack[depth++] = (struct step){0, solver->settings.is_f ? DOWN_F : DOWN_V, 1};
    while (error == 0 && depth > 0) {
        struct step step = stack[--depth];
        struct visit visit = visit_of(solver, &step, r, z);
        if (step.at == last) {
            solve_last(solver, visit.x, visit.b);
        } else if (step.what == UP) {
            error = go_up(solver, &visit);
        } else if (step.what == AGAIN) {
            stack[depth++] = (struct step){step.at, DOWN_V, 0};
        } else {
            error = go_down(solver, &visit);
            stack[depth++] = (struct step){step.at, UP, step.is_zero};
            if (step.what == DOWN_F && step.at + 1 < last)
                stack[depth++] = (struct step){step.at + 1, AGAIN, 0};
            stack[depth++] = (struct step){step.at + 1, step.what, 1};
        }
    }
    return error;
}
