/* links: tests/conformance/story.c libcovey-domain */
/*
 * poisson.c - Poisson's equation on teams of tasks: every method has the solution of the direct
 * one, in as many iterations on any number of members, and errors that fall with the square of the
 * side of cells, for each kind of border.
 *
 *   poisson MEMBERS          spawns the others, and tests on teams of 1 to MEMBERS - 1
 *   poisson member MEMBERS   is what it spawns
 */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/domain/covey_domain.h"
#include "tests/conformance/story.h"

#define TOLERANCE 1e-8
#define V COVEY_BORDER_VALUE
#define S COVEY_BORDER_SLOPE
#define P COVEY_BORDER_PERIODIC

static covey_team_t *team; /* of the checks that run */

/* a network that needs not be measured */
static const struct covey_domain_network network = {
    .members = 9, .hosts = 3, .alpha_s = 2e-5, .beta_s = 1e-9};

static const char *const methods[] = {"jacobi",
                                      "sor",
                                      "chebyshev",
                                      "cg",
                                      "cg,pc=chebyshev,degree=3",
                                      "pipecg",
                                      "pipecg,pc=chebyshev",
                                      "mg",
                                      "mg,cycle=f,agglomerate=no",
                                      "mg-cg",
                                      "mg-cg,smoother=chebyshev,sweeps=2",
                                      "mg-cg,cycle=f",
                                      "local,local=mg-cg",
                                      "fft"};
#define METHODS (sizeof methods / sizeof *methods)

static const struct covey_poisson_problem problems[] = {
    {2, {V, V}, {V, V}, {16, 12}, {0.1, 0.1}, 0},
    {2, {P, P}, {P, P}, {12, 8}, {0.1, 0.2}, 0},
    {2, {S, V}, {V, S}, {9, 13}, {0.5, 0.4}, 3},
    {3, {V, S, P}, {V, S, P}, {8, 11, 10}, {0.1, 0.1, 0.1}, 0},
    {3, {S, S, S}, {S, S, S}, {6, 7, 5}, {1, 1, 1}, 0},
    {3, {V, V, V}, {V, V, V}, {10, 12, 9}, {0.1, 0.1, 0.1}, 0},
    {2, {V, V}, {V, V}, {1, 1}, {1, 1}, 0},
    {3, {V, P, S}, {S, P, V}, {2, 1, 3}, {1, 1, 1}, 0},
    {3, {S, S, P}, {S, S, P}, {1, 1, 1}, {1, 1, 1}, 0},
    {2, {V, V}, {V, V}, {20, 6}, {0.1, 1}, 0},
};
#define PROBLEMS (sizeof problems / sizeof *problems)

static int counts[PROBLEMS][METHODS]; /* iterations of one member alone, at rank 0 */

static const char *name_of(const struct covey_poisson_problem *p, const char *what, const char *how)
{
    static char name[300];
    snprintf(name, sizeof name, "%s: %d x %d x %d by %s, %d members: %s", what, (int)p->n[0],
             (int)p->n[1], p->dims == 3 ? (int)p->n[2] : 1, how, covey_team_size(team),
             covey_domain_error_text());
    return name;
}

/* ---- Fields ---------------------------------------------------------------------------------- */

typedef double function(const struct covey_poisson_problem *p, const double at[3]);

/* The value of a function at a point of a part, or of its halo, given relative to the part. */
static double at_point(const struct covey_poisson_problem *p, const struct covey_grid_part *part,
                       const int64_t at[3], function *of)
{
    double x[3] = {0, 0, 0};
    for (int d = 0; d < p->dims; d++)
        x[d] = ((double)(part->offset[d] + at[d]) + 0.5) * p->h[d];
    return of(p, x);
}

static int64_t place_of(const struct covey_grid_part *part, const int64_t at[3])
{
    int64_t place = part->start;
    for (int d = 0; d < part->dims; d++)
        place += at[d] * part->stride[d];
    return place;
}

static int next_point(const struct covey_grid_part *part, int64_t at[3])
{
    for (int d = part->dims - 1; d >= 0; d--) {
        if (++at[d] < part->size[d])
            return 1;
        at[d] = 0;
    }
    return 0;
}

static double *field_of(const covey_poisson_t *plan, const struct covey_poisson_problem *p,
                        function *of)
{
    struct covey_grid_part part;
    int64_t at[3] = {0, 0, 0};
    double *field = covey_grid_field(covey_poisson_grid(plan));
    covey_poisson_local(plan, &part);
    if (part.count > 0 && of != NULL)
        do
            field[place_of(&part, at)] = at_point(p, &part, at, of);
        while (next_point(&part, at));
    return field;
}

/* The largest difference of two fields, or of a field and a function, without what is constant. */
static double difference(const covey_poisson_t *plan, const struct covey_poisson_problem *p,
                         const double *u, const double *other, function *of)
{
    struct covey_grid_part part;
    int64_t at[3] = {0, 0, 0};
    double mine = 0, all = INFINITY;
    covey_poisson_local(plan, &part);
    if (part.count > 0)
        do {
            int64_t place = place_of(&part, at);
            double wanted = of != NULL ? at_point(p, &part, at, of) : other[place];
            mine = fmax(mine, isfinite(u[place]) ? fabs(u[place] - wanted) : INFINITY);
        } while (next_point(&part, at));
    covey_allreduce(team, COVEY_OP_MAX, COVEY_DOUBLE, &mine, &all, 1);
    return all;
}

/* Of no symmetry. */
static double rough(const struct covey_poisson_problem *p, const double at[3])
{
    (void)p;
    return sin(7 * at[0] + 3 * at[1] * at[1] + 1) + cos(5 * at[2] * at[0] + at[1]) + 0.3;
}

/* ---- Every method has the solution of the direct one ----------------------------------------- */

static void check_method(size_t problem, size_t method, const double *wanted)
{
    const struct covey_poisson_problem *p = &problems[problem];
    const char *how = methods[method];
    struct covey_poisson_report report = {.converged = 0};
    covey_poisson_t *plan;
    int error = covey_poisson_plan(team, p, how, &network, &plan);
    if (error != 0) {
        check(name_of(p, "a plan", how), 0);
        return;
    }
    double *f = field_of(plan, p, rough), *u = field_of(plan, p, NULL);
    error = covey_poisson_solve(plan, f, u, TOLERANCE, &report);
    check(name_of(p, "converges", how),
          error == 0 && report.converged && report.residual <= TOLERANCE);
    check(name_of(p, "is right", how), difference(plan, p, u, wanted, NULL) <= 2e-6);
    if (covey_team_size(team) == 1)
        counts[problem][method] = report.iterations;
    else if (covey_team_rank(team) == 0)
        check(name_of(p, "takes as many iterations", how),
              report.iterations == counts[problem][method]);
    int anew = strcmp(how, "fft") == 0 ? report.iterations : 0;
    error = covey_poisson_solve(plan, f, u, 1e-7, &report);
    check(name_of(p, "is there already", how), error == 0 && report.iterations == anew);
    free(f);
    free(u);
    covey_poisson_free(&plan);
}

/* Whether Covey was built with FFTW; without it the best iteration takes its place. */
static const char *direct(void)
{
    covey_poisson_t *plan;
    int error = covey_poisson_plan(team, &problems[0], "fft", &network, &plan);
    covey_poisson_free(&plan);
    if (error != 0)
        check("why not is said", strstr(covey_domain_error_text(), "FFTW") != NULL);
    return error == 0 ? "fft" : "mg-cg";
}

/* One member tries all; of more members each problem is solved by half of the methods and, from
 * four on, by a third, others from team to team. Those that take hundreds of iterations, each with
 * its messages, come half as often. */
static int is_turn(size_t problem, size_t method)
{
    size_t size = (size_t)covey_team_size(team), every = size == 1 ? 1 : size < 4 ? 2 : 3;
    int is_slow = strcmp(methods[method], "jacobi") == 0 || strcmp(methods[method], "sor") == 0;
    return (problem + method + size) % (is_slow && size > 1 ? 2 * every : every) == 0;
}

static void check_problem(size_t problem)
{
    const struct covey_poisson_problem *p = &problems[problem];
    covey_poisson_t *plan;
    const char *best = direct();
    if (covey_poisson_plan(team, p, best, &network, &plan) != 0) {
        check(name_of(p, "a plan", best), 0);
        return;
    }
    double *f = field_of(plan, p, rough), *u = field_of(plan, p, NULL);
    check(name_of(p, "is solved", best), covey_poisson_solve(plan, f, u, 1e-12, NULL) >= 0);
    for (size_t m = 0; m < METHODS; m++)
        if (is_turn(problem, m) && (strcmp(methods[m], "fft") != 0 || strcmp(best, "fft") == 0))
            check_method(problem, m, u);
    free(f);
    free(u);
    covey_poisson_free(&plan);
}

/* ---- The order ------------------------------------------------------------------------------- */

static const double waves[] = {M_PI, M_PI, 2 * M_PI, M_PI / 2, M_PI / 2};

/* Which wave the borders of an axis want. */
static int wave_of(const struct covey_poisson_problem *p, int d)
{
    if (p->low[d] == P)
        return 2;
    if (p->low[d] == p->high[d])
        return p->low[d] == V ? 0 : 1;
    return p->low[d] == V ? 3 : 4;
}

static double wavy(const struct covey_poisson_problem *p, const double at[3])
{
    double value = 1;
    for (int d = 0; d < p->dims; d++) {
        int wave = wave_of(p, d);
        double x = waves[wave] * at[d] / (p->h[d] * (double)p->n[d]);
        value *= wave == 1 || wave == 4 ? cos(x) : wave == 2 ? sin(x + 0.7) : sin(x);
    }
    return value;
}

static double wavy_f(const struct covey_poisson_problem *p, const double at[3])
{
    double factor = p->c;
    for (int d = 0; d < p->dims; d++) {
        double k = waves[wave_of(p, d)] / (p->h[d] * (double)p->n[d]);
        factor += k * k;
    }
    return factor * wavy(p, at);
}

/* Not 0 at any border. */
static double steep(const struct covey_poisson_problem *p, const double at[3])
{
    (void)p;
    return exp(at[0] - 0.5 * at[1] + 0.3 * at[2]);
}

static double steep_f(const struct covey_poisson_problem *p, const double at[3])
{
    double laplace = p->dims == 3 ? 1 + 0.25 + 0.09 : 1 + 0.25;
    return (p->c - laplace) * steep(p, at);
}

/* What holds at a side of a cell at the border: a value, or a slope outwards. */
static double border_of(const struct covey_poisson_problem *p, const double centre[3], int d,
                        int is_high)
{
    const double slopes[3] = {1, -0.5, 0.3};
    double x[3] = {centre[0], centre[1], centre[2]}, outwards = is_high ? 1 : -1;
    x[d] += outwards * 0.5 * p->h[d];
    int is_value = (is_high ? p->high[d] : p->low[d]) == V;
    return (is_value ? 1 : outwards * slopes[d]) * steep(p, x);
}

/* Puts what holds beside a cell into the halo of u. */
static void set_sides(const struct covey_poisson_problem *p, const struct covey_grid_part *part,
                      const int64_t at[3], double *u)
{
    double x[3] = {0, 0, 0};
    for (int d = 0; d < p->dims; d++)
        x[d] = ((double)(part->offset[d] + at[d]) + 0.5) * p->h[d];
    for (int d = 0; d < p->dims; d++) {
        int64_t place = place_of(part, at), global = part->offset[d] + at[d];
        if (global == 0)
            u[place - part->stride[d]] = border_of(p, x, d, 0);
        if (global == p->n[d] - 1)
            u[place + part->stride[d]] = border_of(p, x, d, 1);
    }
}

static void set_borders(const covey_poisson_t *plan, const struct covey_poisson_problem *p,
                        double *u)
{
    struct covey_grid_part part;
    int64_t at[3] = {0, 0, 0};
    covey_poisson_local(plan, &part);
    if (part.count > 0)
        do
            set_sides(p, &part, at, u);
        while (next_point(&part, at));
}

static double error_with(const struct covey_poisson_problem *p, const char *how, int is_steep)
{
    covey_poisson_t *plan;
    if (covey_poisson_plan(team, p, how, &network, &plan) != 0)
        return INFINITY;
    double *f = field_of(plan, p, is_steep ? steep_f : wavy_f), *u = field_of(plan, p, NULL);
    if (is_steep)
        set_borders(plan, p, u);
    int error = covey_poisson_solve(plan, f, u, 1e-10, NULL);
    double left = difference(plan, p, u, NULL, is_steep ? steep : wavy);
    free(f);
    free(u);
    covey_poisson_free(&plan);
    return error == 0 ? left : INFINITY;
}

static void check_order(const struct covey_poisson_problem *coarse, const char *how, int is_steep)
{
    struct covey_poisson_problem fine = *coarse;
    for (int d = 0; d < fine.dims; d++) {
        fine.n[d] *= 2;
        fine.h[d] /= 2;
    }
    double before = error_with(coarse, how, is_steep), after = error_with(&fine, how, is_steep);
    check(name_of(coarse, is_steep ? "the order, with borders" : "the order", how),
          before / after > 3.4 && before / after < 4.6);
}

static void check_orders(void)
{
    static const int32_t low[] = {V, S, P, V, S}, high[] = {V, S, P, S, V};
    for (int kind = 0; kind < 5; kind++) {
        struct covey_poisson_problem p = {.dims = 2, .c = 1};
        for (int d = 0; d < 2; d++) {
            p.n[d] = 12 - 2 * d;
            p.h[d] = 1.0 / (double)p.n[d];
            p.low[d] = d == 0 ? low[kind] : V;
            p.high[d] = d == 0 ? high[kind] : V;
        }
        for (size_t m = 0; m < METHODS; m++)
            if (is_turn((size_t)kind, m) &&
                (strcmp(methods[m], "fft") != 0 || strcmp(direct(), "fft") == 0))
                check_order(&p, methods[m], 0);
        if (kind != 2)
            check_order(&p, "mg-cg", 1);
    }
    const struct covey_poisson_problem cube = {
        3, {V, S, V}, {S, V, V}, {8, 10, 8}, {1.0 / 8, 1.0 / 10, 1.0 / 8}, 0};
    check_order(&cube, "mg-cg", 0);
    check_order(&cube, "mg-cg", 1);
    check_order(&cube, "local", 1);
}

/* ---- What is refused, and what does not converge --------------------------------------------- */

static void refused(const char *why, const struct covey_poisson_problem *p, const char *options)
{
    covey_poisson_t *plan = (covey_poisson_t *)&plan;
    int error = covey_poisson_plan(team, p, options, &network, &plan);
    check(why, error == COVEY_EINVAL && plan == NULL && covey_domain_error_text()[0] != '\0');
}

static void check_refusals(void)
{
    const struct covey_poisson_problem good = problems[0];
    struct covey_poisson_problem p = good;
    refused("no problem", NULL, NULL);
    p.dims = 1;
    refused("one axis", &p, NULL);
    p = good;
    p.n[1] = 0;
    refused("no cells", &p, NULL);
    p.n[0] = p.n[1] = INT64_MAX / 2;
    refused("too many cells", &p, NULL);
    p = good;
    p.h[0] = 0;
    refused("a side of 0", &p, NULL);
    p.h[0] = NAN;
    refused("a side that is no number", &p, NULL);
    p.h[0] = 1e-200;
    refused("a side whose square is 0", &p, NULL);
    p = good;
    p.c = -1;
    refused("c below 0", &p, NULL);
    p.c = INFINITY;
    refused("c of infinity", &p, NULL);
    p = good;
    p.low[0] = 0;
    refused("no such border", &p, NULL);
    p.low[0] = P;
    refused("periodic at one side", &p, NULL);
    refused("no such method", &good, "poisson=guess");
    refused("no such option", &good, "speed=high");
    refused("no number of iterations", &good, "iterations=many");
    refused("no iterations", &good, "iterations=0");
    refused("more parts than members", &good, "parts=20x20");
    if (covey_team_size(team) > 1) {
        p = good;
        p.c = covey_team_rank(team);
        refused("members that differ", &p, NULL);
    }
}

static void check_solve(covey_poisson_t *plan, double *f, double *u)
{
    int is_last = covey_team_rank(team) == covey_team_size(team) - 1;
    struct covey_poisson_report report;
    struct covey_grid_part part;
    covey_poisson_local(plan, &part);
    check("no tolerance", covey_poisson_solve(plan, f, u, 0, NULL) == COVEY_EINVAL);
    check("a tolerance of 1", covey_poisson_solve(plan, f, u, 1, NULL) == COVEY_EINVAL);
    check("a tolerance of NaN", covey_poisson_solve(plan, f, u, NAN, NULL) == COVEY_EINVAL);
    if (covey_team_size(team) > 1)
        check("tolerances that differ",
              covey_poisson_solve(plan, f, u, is_last ? 0.1 : 0.2, NULL) == COVEY_EINVAL);
    check("f NULL at one",
          covey_poisson_solve(plan, is_last ? NULL : f, u, 0.1, NULL) == COVEY_EINVAL ||
              (is_last && part.count == 0));
    check("u NULL",
          covey_poisson_solve(plan, f, NULL, 0.1, NULL) == COVEY_EINVAL || part.count == 0);
    check("one iteration", covey_poisson_solve(plan, f, u, 1e-12, &report) == 1);
    check("is too few", !report.converged && report.iterations == 1 && report.residual > 1e-12);
    if (part.count > 0)
        f[part.start] = is_last ? NAN : f[part.start];
    double before = part.count > 0 ? u[part.start] : 0;
    int error = covey_poisson_solve(plan, f, u, 1e-6, &report);
    check("f that is no number", error == COVEY_EINVAL);
    check("leaves u", part.count == 0 || u[part.start] == before);
    memset(f, 0, part.count * sizeof *f);
    check("f = 0 gives 0", covey_poisson_solve(plan, f, u, 1e-6, &report) == 0 &&
                               report.iterations == 0 && report.residual == 0 &&
                               (part.count == 0 || u[part.start] == 0));
    if (part.count > 0)
        u[part.start] = is_last ? INFINITY : 0;
    check("u that is no number", covey_poisson_solve(plan, f, u, 1e-6, NULL) == COVEY_EINVAL);
}

static void check_solves(void)
{
    covey_poisson_t *plan = NULL;
    struct covey_grid_part part;
    double number = 0;
    check("no team", covey_poisson_plan(NULL, problems, NULL, NULL, &plan) == COVEY_EINVAL);
    check("no place", covey_poisson_plan(team, problems, NULL, NULL, NULL) == COVEY_EINVAL);
    check("no plan to solve", covey_poisson_solve(NULL, &number, &number, 0.1, NULL) < 0);
    check("no plan of parts", covey_poisson_local(NULL, &part) == COVEY_EINVAL);
    check("no grid of no plan", covey_poisson_grid(NULL) == NULL);
    check("no table of no plan", covey_poisson_explain(NULL, NULL, 0) == 0);
    check("no name of no plan", covey_poisson_algorithm(NULL)[0] == '\0');
    covey_poisson_free(NULL);
    covey_poisson_free(&plan);
    if (covey_poisson_plan(team, problems, "mg-cg,iterations=1", &network, &plan) != 0) {
        check("a plan of one iteration", 0);
        return;
    }
    double *f = field_of(plan, problems, rough), *u = field_of(plan, problems, NULL);
    check_solve(plan, f, u);
    free(f);
    free(u);
    covey_poisson_free(&plan);
}

/* Where constants solve the equation, too, the mean of f is taken off, and that of u is 0. */
static void check_means(void)
{
    const struct covey_poisson_problem *p = &problems[4];
    struct covey_grid_part part;
    covey_poisson_t *plan;
    double mine = 0, all = 1;
    int64_t at[3] = {0, 0, 0};
    if (covey_poisson_plan(team, p, NULL, &network, &plan) != 0) {
        check(name_of(p, "a plan", "what is chosen"), 0);
        return;
    }
    double *f = field_of(plan, p, rough), *u = field_of(plan, p, steep);
    covey_poisson_local(plan, &part);
    check("it is solved", covey_poisson_solve(plan, f, u, TOLERANCE, NULL) == 0);
    if (part.count > 0)
        do
            mine += u[place_of(&part, at)];
        while (next_point(&part, at));
    covey_allreduce(team, COVEY_OP_SUM, COVEY_DOUBLE, &mine, &all, 1);
    check("the mean is 0", fabs(all) <= 1e-10);
    free(f);
    free(u);
    covey_poisson_free(&plan);
}

/* The environment counts, the table has a line for each method, and too much memory is an error. */
static void check_choice(void)
{
    struct covey_poisson_problem huge = problems[5];
    char text[2000], cut[10];
    covey_poisson_t *plan;
    setenv("COVEY_POISSON", "sor", 1);
    check("a plan of the environment",
          covey_poisson_plan(team, problems, "mg-cg", NULL, &plan) == 0);
    check("has its method", strcmp(covey_poisson_algorithm(plan), "sor") == 0);
    size_t length = covey_poisson_explain(plan, text, sizeof text);
    check("the table is whole", length == strlen(text) && strstr(text, "local") == text &&
                                    strstr(text, "sor") != NULL && strstr(text, "fft") != NULL);
    check("or cut", covey_poisson_explain(plan, cut, sizeof cut) == length && strlen(cut) == 9);
    covey_poisson_free(&plan);
    unsetenv("COVEY_POISSON");
    huge.n[0] = huge.n[1] = huge.n[2] = 1 << 16;
    check("more than memory",
          covey_poisson_plan(team, &huge, "mg", &network, &plan) == COVEY_ENOMEM && plan == NULL);
}

/* Plans of one grid divide it alike while they live, whatever the methods; a later one need not. */
static void check_division(void)
{
    static const char *const pairs[][2] = {{"fft", "mg"}, {"mg", "fft"}, {"fft", "local"}};
    const struct covey_poisson_problem *p = &problems[5];
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        covey_poisson_t *plans[2] = {NULL, NULL};
        struct covey_grid_part parts[2];
        for (int k = 0; k < 2; k++) {
            check(name_of(p, "a plan beside another", pairs[i][k]),
                  covey_poisson_plan(team, p, pairs[i][k], &network, &plans[k]) == 0 &&
                      covey_poisson_local(plans[k], &parts[k]) == 0);
        }
        check(name_of(p, "one grid", pairs[i][1]),
              memcmp(&parts[0], &parts[1], sizeof *parts) == 0);
        double *f = field_of(plans[0], p, rough), *u = field_of(plans[0], p, NULL);
        check(name_of(p, "fields of the other", pairs[i][1]),
              covey_poisson_solve(plans[1], f, u, TOLERANCE, NULL) == 0 &&
                  covey_poisson_solve(plans[0], f, u, TOLERANCE, NULL) == 0);
        free(f);
        free(u);
        covey_poisson_free(&plans[0]);
        covey_poisson_free(&plans[1]);
    }
}

/* ---- The story ------------------------------------------------------------------------------- */

static void tell_part(void)
{
    int size = covey_team_size(team);
    for (size_t i = 0; i < PROBLEMS; i++)
        check_problem(i);
    if (size == 1 || size == 4)
        check_orders();
    check_refusals();
    check_solves();
    check_means();
    check_choice();
    check_division();
}

/* The last member ends while the others solve: all of them get an error. */
static void check_end(void)
{
    const struct covey_poisson_problem *p = &problems[5];
    covey_poisson_t *plan;
    if (covey_poisson_plan(team, p, "mg-cg,agglomerate=no", &network, &plan) != 0) {
        check("a plan of all", 0);
        return;
    }
    double *f = field_of(plan, p, rough), *u = field_of(plan, p, NULL);
    check("it solves", covey_poisson_solve(plan, f, u, 1e-8, NULL) == 0);
    covey_barrier(team); /* of those that are still in it some might fail */
    if (covey_team_rank(team) == covey_team_size(team) - 1)
        raise(SIGKILL);
    int error = 0;
    for (int i = 0; error == 0 && i < 1000; i++) {
        struct covey_grid_part part;
        covey_poisson_local(plan, &part);
        memset(u, 0, part.count * sizeof *u);
        error = covey_poisson_solve(plan, f, u, 1e-8, NULL);
    }
    /* ETYPE: another member breaks the team in the place of the same call */
    check("a member's end is an error", error == COVEY_ENOTASK || error == COVEY_EHOSTFAIL ||
                                            error == COVEY_ECANCELED || error == COVEY_ETYPE ||
                                            error == COVEY_ETRUNC);
    check("which has words", strlen(covey_domain_error_text()) > 20);
    free(f);
    free(u);
    covey_poisson_free(&plan);
}

static void tell(covey_team_t *all)
{
    story_parts(all, &team, tell_part);
    team = all;
    check_end();
}

int main(int argc, char **argv)
{
    static const struct story story = {.group = "poisson", .members_max = 16, .tell = tell};
    return story_main(argc, argv, &story);
}
