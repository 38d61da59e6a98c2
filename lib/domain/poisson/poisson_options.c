/*
 * poisson_options.c - the arguments of a plan: refused at all members for what is wrong at one.
 */
#include "lib/domain/poisson/poisson.h"

#include "lib/domain/base/agree.h"
#include "lib/domain/base/error.h"
#include "lib/domain/base/options.h"
#include "lib/domain/grid/grid.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define POINTS_MAX ((int64_t)1 << 50)
#define ITERATIONS_MAX 1000000000

/* ---- The problem ----------------------------------------------------------------------------- */

static int check_axis(const struct covey_poisson_problem *p, int d)
{
    int low = p->low[d], high = p->high[d];
    if (p->n[d] < 1 || p->n[d] > POINTS_MAX)
        return domain_fail(COVEY_EINVAL,
                           "poisson: axis %d has %lld cells: at least 1, at most 2^50", d,
                           (long long)p->n[d]);
    if (!(p->h[d] > 0) || !isfinite(p->h[d]) || !isnormal(1 / (p->h[d] * p->h[d])))
        return domain_fail(COVEY_EINVAL, "poisson: the side %g of cells along axis %d", p->h[d], d);
    if (low < COVEY_BORDER_VALUE || low > COVEY_BORDER_PERIODIC || high < COVEY_BORDER_VALUE ||
        high > COVEY_BORDER_PERIODIC)
        return domain_fail(COVEY_EINVAL, "poisson: there is no border %d, or %d, of axis %d", low,
                           high, d);
    if ((low == COVEY_BORDER_PERIODIC) != (high == COVEY_BORDER_PERIODIC))
        return domain_fail(COVEY_EINVAL, "poisson: axis %d is periodic at one side alone", d);
    return 0;
}

static int check(const struct covey_poisson_problem *p)
{
    int64_t points = 1;
    if (p == NULL || p->dims < 2 || p->dims > COVEY_GRID_DIMS_MAX)
        return domain_fail(COVEY_EINVAL,
                           "poisson: the problem is NULL, or has other than 2 or 3 axes");
    if (!(p->c >= 0) || !isfinite(p->c))
        return domain_fail(COVEY_EINVAL, "poisson: c is %g: it is at least 0", p->c);
    for (int d = 0; d < p->dims; d++) {
        int error = check_axis(p, d);
        if (error < 0)
            return error;
        if (p->n[d] > POINTS_MAX / points)
            return domain_fail(COVEY_EINVAL, "poisson: more than 2^50 cells");
        points *= p->n[d];
    }
    return 0;
}

int poisson_problem_agree(covey_team_t *team, const struct covey_poisson_problem *problem,
                          struct equation *equation)
{
    int64_t numbers[2 + 4 * GRID_AXES] = {0};
    int error = check(problem), count = 0;
    *equation = (struct equation){.dims = error < 0 ? 2 : problem->dims};
    for (int d = 0; d < GRID_AXES; d++) {
        equation->n[d] = 1;
        equation->h[d] = 1;
        equation->low[d] = equation->high[d] = COVEY_BORDER_PERIODIC;
    }
    for (int d = 0; error == 0 && d < problem->dims; d++) {
        int a = grid_axis(problem->dims, d);
        equation->n[a] = problem->n[d];
        equation->h[a] = problem->h[d];
        equation->low[a] = problem->low[d];
        equation->high[a] = problem->high[d];
    }
    equation->c = error < 0 ? 0 : problem->c;
    numbers[count++] = equation->dims;
    numbers[count++] = domain_bits(equation->c);
    for (int a = 0; a < GRID_AXES; a++) {
        numbers[count++] = equation->n[a];
        numbers[count++] = domain_bits(equation->h[a]);
        numbers[count++] = equation->low[a];
        numbers[count++] = equation->high[a];
    }
    return domain_agree_same(team, error, numbers, count, "poisson");
}

/* ---- Options --------------------------------------------------------------------------------- */

const char *const poisson_names[METHODS + 1] = {
    [METHOD_LOCAL] = "local", [METHOD_JACOBI] = "jacobi",
    [METHOD_SOR] = "sor",     [METHOD_CHEBYSHEV] = "chebyshev",
    [METHOD_CG] = "cg",       [METHOD_PIPECG] = "pipecg",
    [METHOD_MG] = "mg",       [METHOD_MG_CG] = "mg-cg",
    [METHOD_FFT] = "fft",
};
static const char *const pc_names[] = {"jacobi", "chebyshev", NULL};
static const char *const degree_names[] = {"1", "2", "3", "4", "5", "6", "7", "8", NULL};
static const char *const smoother_names[] = {"colours", "chebyshev", NULL};
static const char *const sweeps_names[] = {"1", "2", "3", "4", NULL};
static const char *const cycle_names[] = {"v", "f", NULL};
static const char *const agglomerate_names[] = {"no", "yes", NULL};

enum { METHOD, PC, DEGREE, SMOOTHER, SWEEPS, CYCLE, AGGLOMERATE, LOCAL, ITERATIONS, PARTS, KEYS };

static int value_of(const struct domain_option *option, int usual)
{
    return option->value == DOMAIN_CHOSEN ? usual : option->value;
}

static int read_iterations(const char *text, int64_t *iterations)
{
    char *end;
    *iterations = SOLVER_NO_LIMIT;
    if (text[0] == '\0')
        return 0;
    long long number = strtoll(text, &end, 10);
    if (*end != '\0' || number < 1 || number > ITERATIONS_MAX)
        return domain_fail(COVEY_EINVAL, "poisson: iterations=%s: it is a number from 1 to %d",
                           text, ITERATIONS_MAX);
    *iterations = number;
    return 0;
}

int poisson_options_agree(covey_team_t *team, const char *text, struct poisson_options *options)
{
    struct domain_option keys[KEYS] = {
        [METHOD] = {.key = "poisson", .names = poisson_names},
        [PC] = {.key = "pc", .names = pc_names},
        [DEGREE] = {.key = "degree", .names = degree_names},
        [SMOOTHER] = {.key = "smoother", .names = smoother_names},
        [SWEEPS] = {.key = "sweeps", .names = sweeps_names},
        [CYCLE] = {.key = "cycle", .names = cycle_names},
        [AGGLOMERATE] = {.key = "agglomerate", .names = agglomerate_names},
        [LOCAL] = {.key = "local", .names = poisson_names + 1},
        [ITERATIONS] = {.key = "iterations"},
        [PARTS] = {.key = "parts"}};
    int error = domain_options_agree(team, text, "COVEY_POISSON", keys, KEYS);
    if (error < 0)
        return error;
    *options = (struct poisson_options){
        .forced = keys[METHOD].value,
        .local = keys[LOCAL].value == DOMAIN_CHOSEN ? DOMAIN_CHOSEN : keys[LOCAL].value + 1,
        .settings = {.pc = value_of(&keys[PC], PC_JACOBI),
                     .degree = 1 + value_of(&keys[DEGREE], 3),
                     .smoother = value_of(&keys[SMOOTHER], SMOOTHER_RB),
                     .sweeps = 1 + value_of(&keys[SWEEPS], 0),
                     .is_f = value_of(&keys[CYCLE], 0),
                     .agglomerate = value_of(&keys[AGGLOMERATE], 1)}};
    memcpy(options->parts, keys[PARTS].text, sizeof options->parts);
    return read_iterations(keys[ITERATIONS].text, &options->settings.iterations);
}
