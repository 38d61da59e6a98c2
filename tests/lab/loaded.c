/* links: libcovey-domain */
/*
 * loaded.c - solvers in a team of which one member's host is loaded: plans that leave that member
 * out are right.
 *
 *   covey run -n P loaded
 *
 * A process that only computes runs beside rank 1. Plans are made until that has no element: the
 * monitor tells of the load after some seconds. The network that they are given is a fast one, and
 * blocks are small: waiting for rank 1 is what costs. Rank 0 prints a line a check.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/domain/covey_domain.h"

enum { N = 512, POINTS = 16, TRIES = 60 };
#define TRY_US 500000
#define TOLERANCE 1e-9

static covey_team_t *team;
static struct covey_domain_network network = {.alpha_s = 1e-5, .beta_s = 1e-10};

/* Whether all members say so. */
static int all(int mine)
{
    int32_t own = mine, every = 0;
    return covey_allreduce(team, COVEY_OP_MIN, COVEY_INT32, &own, &every, 1) == 0 && every;
}

static int is_busy(void)
{
    return covey_team_rank(team) == 1;
}

/* Beside this process, until it ends. */
static void compute_beside(void)
{
    pid_t parent = getpid();
    if (fork() != 0)
        return;
    while (getppid() == parent)
        ;
    _exit(0);
}

static void say(const char *what, int is_right)
{
    int all_right = all(is_right);
    if (covey_team_rank(team) == 0)
        printf("%s: %s\n", what, all_right ? "right" : "wrong");
}

/* ---- Equations ------------------------------------------------------------------------------- */

static double element(int64_t i, int64_t j)
{
    return i == j ? N : (double)((i * 7 + j * 3) % 11) / 11;
}

static int64_t global(int64_t local, int64_t block, int64_t at, int64_t of)
{
    return (local / block * of + at) * block + local % block;
}

/* The rank that has an element has its row and column of the grid. */
static int are_places_right(const covey_dense_t *plan)
{
    struct covey_dense_part part, own;
    size_t found = 0;
    for (int64_t i = 0; i < N; i += 5) {
        int64_t at[2], j = (i * 13) % N;
        int rank = covey_dense_place(plan, COVEY_DENSE_A, i, j, at);
        if (rank < 0 || covey_dense_local_of(plan, COVEY_DENSE_A, rank, &part) < 0 ||
            global(at[0], part.block, part.row, part.rows) != i ||
            global(at[1], part.block, part.column, part.columns) != j)
            return 0;
    }
    for (int rank = 0; rank < covey_team_size(team); rank++) {
        covey_dense_local_of(plan, COVEY_DENSE_A, rank, &part);
        found += (size_t)(part.local_m * part.local_n);
    }
    covey_dense_local_of(plan, COVEY_DENSE_A, covey_team_rank(team), &part);
    covey_dense_local(plan, COVEY_DENSE_A, &own);
    return found == (size_t)N * N && memcmp(&own, &part, sizeof own) == 0;
}

/* A x = b with x = 1. */
static int solves(covey_dense_t *plan)
{
    struct covey_dense_part a, b;
    covey_dense_local(plan, COVEY_DENSE_A, &a);
    covey_dense_local(plan, COVEY_DENSE_B, &b);
    double *matrix = calloc(a.count + 1, sizeof *matrix), *x = calloc(b.count + 1, sizeof *x);
    int is_right = matrix != NULL && x != NULL;
    for (int64_t j = 0; is_right && j < a.local_n; j++)
        for (int64_t i = 0; i < a.local_m; i++)
            matrix[i + j * a.ld] =
                element(global(i, a.block, a.row, a.rows), global(j, a.block, a.column, a.columns));
    for (int64_t i = 0; is_right && b.local_n > 0 && i < b.local_m; i++)
        for (int64_t j = 0; j < N; j++)
            x[i] += element(global(i, b.block, b.row, b.rows), j);
    if (all(is_right))
        is_right = covey_dense_solve(plan, matrix, a.ld, x, b.ld) == 0;
    for (int64_t i = 0; is_right && b.local_n > 0 && i < b.local_m; i++)
        is_right = fabs(x[i] - 1) < TOLERANCE;
    free(matrix);
    free(x);
    return is_right;
}

static int check_equations(void)
{
    const struct covey_dense_problem problem = {COVEY_DENSE_SOLVE, COVEY_DOUBLE, N, N, N, 1};
    covey_dense_t *plan = NULL;
    int leaves = 0;
    for (int i = 0; !leaves && i < TRIES; i++) {
        struct covey_dense_part part;
        covey_dense_free(&plan);
        if (covey_dense_plan(team, &problem, "tournament,block=8", &network, &plan) < 0)
            return -1;
        covey_dense_local(plan, COVEY_DENSE_A, &part);
        leaves = all(part.count == 0 || !is_busy());
        if (!leaves)
            usleep(TRY_US);
    }
    say("equations leave the busy host out", leaves);
    say("who has which element", are_places_right(plan));
    say("the solution of equations", solves(plan));
    covey_dense_free(&plan);
    return 0;
}

/* ---- Poisson's equation ---------------------------------------------------------------------- */

static int solves_poisson(covey_poisson_t *plan)
{
    struct covey_grid_part part;
    struct covey_poisson_report report = {.converged = 0};
    covey_poisson_local(plan, &part);
    double *f = calloc(part.count + 1, sizeof *f), *u = calloc(part.count + 1, sizeof *u);
    int is_right = f != NULL && u != NULL;
    for (size_t i = 0; is_right && i < part.count; i++)
        f[i] = 1;
    if (all(is_right))
        is_right = covey_poisson_solve(plan, f, u, TOLERANCE, &report) == 0 &&
                   report.residual <= TOLERANCE;
    free(f);
    free(u);
    return is_right;
}

static int check_poisson(void)
{
    struct covey_poisson_problem problem = {.dims = 3};
    covey_poisson_t *plan = NULL;
    int leaves = 0;
    for (int d = 0; d < 3; d++) {
        problem.n[d] = POINTS;
        problem.h[d] = 1.0 / POINTS;
        problem.low[d] = problem.high[d] = COVEY_BORDER_VALUE;
    }
    for (int i = 0; !leaves && i < TRIES; i++) {
        struct covey_grid_part part;
        covey_poisson_free(&plan);
        if (covey_poisson_plan(team, &problem, "fft", &network, &plan) < 0)
            return -1;
        covey_poisson_local(plan, &part);
        leaves = all(part.count == 0 || !is_busy());
        if (!leaves)
            usleep(TRY_US);
    }
    say("Poisson's equation leaves it out", leaves);
    say("the solution of Poisson's equation", solves_poisson(plan));
    covey_poisson_free(&plan);
    return 0;
}

int main(void)
{
    covey_t *vm = NULL;
    if (covey_join(&vm, NULL) < 0 || covey_team_world(vm, &team) < 0) {
        fprintf(stderr, "loaded: %s\n", covey_error_text());
        return 2;
    }
    if (is_busy())
        compute_beside();
    network.members = network.hosts = covey_team_size(team);
    int error = check_equations();
    if (error == 0)
        error = check_poisson();
    if (error < 0)
        fprintf(stderr, "loaded: %s\n", covey_domain_error_text());
    covey_team_free(&team);
    covey_leave(&vm);
    return error < 0;
}
