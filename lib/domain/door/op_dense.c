/*
 * op_dense.c - products, linear equations and least squares of matrices in the caller's memory, by
 * plans of covey_dense(3): all of the matrices out to the grid, what the plan computes, and the
 * result back.
 *
 *   arguments: n[0] enum covey_dense_op, n[1] m, n[2] n, n[3] k, n[4] r, n[5..7] leading dimensions
 * of A, B, C; x[0] alpha, x[1] beta; in[] the matrices by enum covey_dense_matrix, less one; out[0]
 * where the result goes
 */
#include "lib/domain/base/error.h"
#include "lib/domain/covey_domain/dense.h"
#include "lib/domain/door/door.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if __has_include(<lapacke.h>)
#include "lib/domain/algebra/dense_blas.h"
#include "lib/domain/algebra/dense_cost.h"
#include "lib/domain/dense/dense.h"

#define OPTIONS_BYTES (DOOR_OPTION_BYTES + 32)

static struct covey_dense_problem problem_of(const struct door_args *args)
{
    return (struct covey_dense_problem){.op = (int32_t)args->n[0],
                                        .type = COVEY_DOUBLE,
                                        .m = args->n[1],
                                        .n = args->n[2],
                                        .k = args->n[3],
                                        .r = args->n[4]};
}

/* ---- a run ---- */

/* What one member has of each matrix. */
struct dense_run {
    struct door_member *member;
    const struct door_args *args;
    covey_dense_t *plan;
    double *pieces[3];
    int64_t lds[3];
    int result;    /* which of them it becomes */
    int64_t m, n;  /* of the result */
    double *whole; /* at the caller: the result, m x n */
};

static int no_memory(const struct dense_run *run)
{
    return domain_break(run->member->team,
                        domain_fail(COVEY_ENOMEM, "no memory for a piece of a matrix"));
}

static int is_used(const struct dense_run *run, int matrix)
{
    int op = (int)run->args->n[0];
    return matrix == COVEY_DENSE_C ? op == COVEY_DENSE_GEMM : 1;
}

static int allocate(struct dense_run *run)
{
    for (int i = 0; i < 3; i++) {
        struct covey_dense_part part;
        if (!is_used(run, i + 1))
            continue;
        int error = covey_dense_local(run->plan, i + 1, &part);
        if (error < 0)
            return domain_break(run->member->team, error);
        run->lds[i] = part.ld;
        run->pieces[i] = malloc(part.count * sizeof(double) + 1);
        if (run->pieces[i] == NULL)
            return no_memory(run);
    }
    run->result = run->args->n[0] == COVEY_DENSE_GEMM ? COVEY_DENSE_C : COVEY_DENSE_B;
    run->m = run->args->n[1];
    run->n = run->result == COVEY_DENSE_C ? run->args->n[2] : run->args->n[4];
    if (covey_team_rank(run->member->team) > 0)
        return 0;
    run->whole = malloc((size_t)(run->m * run->n) * sizeof(double) + 1);
    return run->whole == NULL ? no_memory(run) : 0;
}

static int send_out(struct dense_run *run)
{
    int error = 0;
    for (int i = 0; error == 0 && i < 3; i++) {
        int is_unread = i + 1 == COVEY_DENSE_C && run->args->x[1] == 0;
        if (is_used(run, i + 1) && !is_unread)
            error = covey_dense_scatter(run->plan, i + 1, run->args->in[i], run->args->n[5 + i],
                                        run->pieces[i], run->lds[i]);
    }
    return error;
}

/* Returns 0, or where it is singular. */
static int compute(struct dense_run *run)
{
    double *a = run->pieces[0], *b = run->pieces[1], *c = run->pieces[2];
    const int64_t *ld = run->lds;
    int status;
    switch (run->args->n[0]) {
    case COVEY_DENSE_GEMM:
        return covey_dense_gemm(run->plan, &run->args->x[0], a, ld[0], b, ld[1], &run->args->x[1],
                                c, ld[2]);
    case COVEY_DENSE_CHOLESKY:
        status = covey_dense_cholesky(run->plan, COVEY_DENSE_LOWER, a, ld[0]);
        return status != 0
                   ? status
                   : covey_dense_cholesky_solve(run->plan, COVEY_DENSE_LOWER, a, ld[0], b, ld[1]);
    case COVEY_DENSE_QR:
        status = covey_dense_qr(run->plan, a, ld[0]);
        return status != 0 ? status : covey_dense_qr_solve(run->plan, a, ld[0], b, ld[1]);
    default:
        return covey_dense_solve(run->plan, a, ld[0], b, ld[1]);
    }
}

static int bring_back(struct dense_run *run)
{
    int at = run->result - 1;
    return covey_dense_gather(run->plan, run->result, run->pieces[at], run->lds[at], run->whole,
                              run->m > 0 ? run->m : 1);
}

/* ---- the result ---- */

/* Element of the matrix that counts: of a symmetric one, the lower half. */
static double element(const struct dense_run *run, int64_t i, int64_t j)
{
    const double *a = run->args->in[0];
    int64_t lda = run->args->n[5];
    int is_upper = run->args->n[0] == COVEY_DENSE_CHOLESKY && i < j;
    return is_upper ? a[j + i * lda] : a[i + j * lda];
}

/* NaN is the largest number of all. */
static double larger(double a, double b)
{
    return isnan(a) || a >= b ? a : b;
}

/* |A x - b| / (eps (|A| |x| + |b|) n) in the norm of the largest, for the first column of B; NaN
 * where x has one. */
static double residual_of(const struct dense_run *run)
{
    int64_t n = run->args->n[2];
    const double *b = run->args->in[1], *x = run->whole;
    double *sums = calloc((size_t)(2 * n) + 1, sizeof *sums);
    double worst = 0, norm_a = 0, norm_x = 0, norm_b = 0;
    if (sums == NULL || run->args->n[4] == 0 || n == 0) {
        free(sums);
        return -1;
    }
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < n; i++) {
            double a = element(run, i, j);
            sums[i] += a * x[j];
            sums[n + i] += fabs(a);
        }
    for (int64_t i = 0; i < n; i++) {
        worst = larger(worst, fabs(sums[i] - b[i]));
        norm_a = larger(norm_a, sums[n + i]);
        norm_x = larger(norm_x, fabs(x[i]));
        norm_b = larger(norm_b, fabs(b[i]));
    }
    free(sums);
    double scale = DBL_EPSILON * (norm_a * norm_x + norm_b) * (double)n;
    return scale > 0 ? worst / scale : worst;
}

static void hand_over(const struct dense_run *run)
{
    int op = (int)run->args->n[0];
    double *out = run->args->out[0];
    int64_t ld = run->args->n[4 + run->result];
    int64_t m = op == COVEY_DENSE_QR ? run->args->n[2] : run->m; /* least squares: X */
    if (op == COVEY_DENSE_SOLVE || op == COVEY_DENSE_CHOLESKY)
        run->member->residual = residual_of(run);
    for (int64_t j = 0; j < run->n; j++)
        if (m > 0)
            memcpy(out + j * ld, run->whole + j * run->m, (size_t)m * sizeof *out);
}

static void run_free(struct dense_run *run)
{
    for (int i = 0; i < 3; i++)
        free(run->pieces[i]);
    free(run->whole);
    covey_dense_free(&run->plan);
}

/* ---- the caller alone ---- */

/* Without a plan, which first measures how fast BLAS is: that takes longer than a small problem. A
 * and B are copies, B with the leading dimension m. Returns LAPACK's info. LAPACKE's own search for
 * NaN is left out. */
static int factor_here(const struct door_args *args, double *a, double *b, lapack_int m)
{
    lapack_int n = (lapack_int)args->n[2], r = (lapack_int)args->n[4], info;
    double size;
    if (args->n[0] == COVEY_DENSE_CHOLESKY)
        return LAPACKE_dposv_work(LAPACK_COL_MAJOR, 'L', n, r, a, n, b, n);
    if (args->n[0] == COVEY_DENSE_SOLVE) {
        lapack_int *pivots = malloc((size_t)n * sizeof *pivots);
        info = pivots == NULL ? LAPACK_WORK_MEMORY_ERROR
                              : LAPACKE_dgesv_work(LAPACK_COL_MAJOR, n, r, a, n, pivots, b, n);
        free(pivots);
        return info;
    }
    info = LAPACKE_dgels_work(LAPACK_COL_MAJOR, 'N', m, n, r, a, m, b, m, &size, -1);
    double *work = info == 0 ? malloc((size_t)size * sizeof *work) : NULL;
    if (info == 0)
        info = work == NULL ? LAPACK_WORK_MEMORY_ERROR
                            : LAPACKE_dgels_work(LAPACK_COL_MAJOR, 'N', m, n, r, a, m, b, m, work,
                                                 (lapack_int)size);
    free(work);
    return info;
}

static double *copy_of(const double *from, int64_t m, int64_t n, int64_t ld)
{
    double *to = malloc((size_t)(m * n) * sizeof *to + 1);
    for (int64_t j = 0; to != NULL && m > 0 && j < n; j++)
        memcpy(to + j * m, from + j * ld, (size_t)m * sizeof *to);
    return to;
}

static int multiply_here(const struct door_args *args)
{
    const int64_t *n = args->n;
    if (n[1] > 0 && n[2] > 0)
        cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, (int)n[1], (int)n[2], (int)n[3],
                    args->x[0], args->in[0], (int)n[5], args->in[1], (int)n[6], args->x[1],
                    args->out[0], (int)n[7]);
    return 0;
}

static int run_here(struct door_member *member, const struct door_args *args)
{
    const int64_t *n = args->n;
    struct dense_run run = {
        .member = member, .args = args, .result = COVEY_DENSE_B, .m = n[1], .n = n[4]};
    int info = 0;
    snprintf(member->algorithm, sizeof member->algorithm, "local");
    if (n[0] == COVEY_DENSE_GEMM)
        return multiply_here(args);
    if (n[1] == 0 || n[2] == 0)
        return 0;
    double *a = copy_of(args->in[0], n[1], n[2], n[5]);
    run.whole = copy_of(args->in[1], n[1], n[4], n[6]);
    if (a == NULL || run.whole == NULL)
        info = LAPACK_WORK_MEMORY_ERROR;
    else
        info = factor_here(args, a, run.whole, (lapack_int)n[1]);
    free(a);
    if (info == 0)
        hand_over(&run);
    free(run.whole);
    return info >= 0 ? info : domain_fail(COVEY_ENOMEM, "no memory to factor a matrix");
}

/* ---- a team ---- */

static int run_dense(struct door_member *member, const struct door_args *args)
{
    struct dense_run run = {.member = member, .args = args};
    struct covey_dense_problem problem = problem_of(args);
    char options[OPTIONS_BYTES];
    int is_free = member->options[0] == '\0' && getenv("COVEY_DENSE") == NULL;
    if (covey_team_size(member->team) == 1 && is_free)
        return run_here(member, args);
    snprintf(options, sizeof options, "data=root%s%s", member->options[0] != '\0' ? "," : "",
             member->options);
    int error = covey_dense_plan(member->team, &problem, options, &member->network, &run.plan);
    if (error < 0)
        return error;
    snprintf(member->algorithm, sizeof member->algorithm, "%s", covey_dense_algorithm(run.plan));
    error = allocate(&run);
    if (error == 0)
        error = send_out(&run);
    if (error == 0)
        error = compute(&run);
    if (error == 0)
        error = bring_back(&run);
    if (error == 0 && covey_team_rank(member->team) == 0)
        hand_over(&run);
    run_free(&run);
    return error;
}

/* ---- what it takes ---- */

/* By which a problem is short: then nothing is measured for it. */
#define ROUGH_S 1e-9 /* a flop */
#define SHORT_S 1.5e-3

static double flops_of(const struct door_args *args)
{
    double m = (double)args->n[1], n = (double)args->n[2], r = (double)args->n[4];
    if (args->n[0] == COVEY_DENSE_GEMM)
        return 2 * m * n * (double)args->n[3];
    return 2 * m * n * n + 2 * m * n * r;
}

/* The least of the plan's own predictions, of matrices that begin and end at the caller. */
static double cost_dense(const struct door_args *args, const struct door_setting *s)
{
    const struct dense_setting open = {.bcast = -1, .swap = -1, .lookahead = -1};
    struct dense_case c = {.problem = problem_of(args),
                           .place = door_place_alone,
                           .alone = (double)sysconf(_SC_NPROCESSORS_ONLN),
                           .at_root = 1};
    const struct dense_op *op = dense_op_of(c.problem.op);
    struct dense_setting best;
    double least_s = -1, rough_s = flops_of(args) * ROUGH_S;
    if (s->tasks < 2 && rough_s < SHORT_S)
        return rough_s;
    if (dense_speed_agree(s->alone, dense_kernel_of(COVEY_DOUBLE), &c) < 0)
        return HUGE_VAL;
    c.place = s->place;
    for (int i = 0; op->names[i] != NULL; i++) {
        if ((s->tasks < 2) != (i == DENSE_LOCAL) || op->refusal(i, &c) != NULL)
            continue;
        double seconds = dense_best(op, i, &c, &open, &best);
        if (seconds >= 0 && (least_s < 0 || seconds < least_s))
            least_s = seconds;
    }
    return least_s < 0 ? HUGE_VAL : least_s;
}
#define DENSE_MISSING 0
#else
#define DENSE_MISSING 1
static int run_dense(struct door_member *member, const struct door_args *args)
{
    (void)member, (void)args;
    return domain_fail(COVEY_EINVAL, "built without LAPACKE");
}

static double cost_dense(const struct door_args *args, const struct door_setting *s)
{
    (void)args, (void)s;
    return 0;
}
#endif

/* ---- the calls ---- */

#define OP(symbol, call)                                                                           \
    const struct door_op symbol = {.name = call, .run = run_dense, .cost = cost_dense}
OP(door_gemm, "covey_gemm");
OP(door_solve, "covey_solve");
OP(door_solve_spd, "covey_solve_spd");
OP(door_least_squares, "covey_least_squares");

/* A matrix of the caller. */
struct given {
    char name;
    const void *at;
    int64_t m, n, ld;
};

static int check(const char *call, const struct given *g)
{
    if (DENSE_MISSING)
        return domain_fail(COVEY_EINVAL, "%s: this library was built without LAPACKE", call);
    if (g->m < 0 || g->n < 0 || g->m > INT32_MAX || g->n > INT32_MAX)
        return domain_fail(COVEY_EINVAL, "%s: %c has %lld x %lld elements: a size is 0 to %d", call,
                           g->name, (long long)g->m, (long long)g->n, INT32_MAX);
    if (g->ld < (g->m > 1 ? g->m : 1) || g->ld > INT32_MAX)
        return domain_fail(COVEY_EINVAL, "%s: the leading dimension %lld of %c is not %lld to %d",
                           call, (long long)g->ld, g->name, (long long)(g->m > 1 ? g->m : 1),
                           INT32_MAX);
    if (g->at == NULL && g->m > 0 && g->n > 0)
        return domain_fail(COVEY_EINVAL, "%s: %c is NULL", call, g->name);
    return 0;
}

static int check_two(const char *call, const struct given *a, const struct given *b)
{
    int error = check(call, a);
    return error < 0 ? error : check(call, b);
}

/* NOLINTNEXTLINE(readability-function-size): as dgemm() */
int covey_gemm(covey_t *vm, int64_t m, int64_t n, int64_t k, double alpha, const double *a,
               int64_t lda, const double *b, int64_t ldb, double beta, double *c, int64_t ldc,
               const char *options, struct covey_door_report *report)
{
    const struct given gives[] = {{'A', a, m, k, lda}, {'B', b, k, n, ldb}, {'C', c, m, n, ldc}};
    const struct door_args args = {.n = {COVEY_DENSE_GEMM, m, n, k, 0, lda, ldb, ldc},
                                   .x = {alpha, beta},
                                   .in = {a, b, c},
                                   .out = {c}};
    int error = check_two("covey_gemm", &gives[0], &gives[1]);
    if (error == 0)
        error = check("covey_gemm", &gives[2]);
    return error < 0 ? error : door_call(vm, DOOR_GEMM, &args, options, report);
}

/* NOLINTNEXTLINE(readability-function-size): as dgesv() */
int covey_solve(covey_t *vm, int64_t n, int64_t nrhs, const double *a, int64_t lda, double *b,
                int64_t ldb, const char *options, struct covey_door_report *report)
{
    const struct given matrix = {'A', a, n, n, lda}, sides = {'B', b, n, nrhs, ldb};
    const struct door_args args = {
        .n = {COVEY_DENSE_SOLVE, n, n, 0, nrhs, lda, ldb}, .in = {a, b}, .out = {b}};
    int error = check_two("covey_solve", &matrix, &sides);
    return error < 0 ? error : door_call(vm, DOOR_SOLVE, &args, options, report);
}

/* NOLINTNEXTLINE(readability-function-size): as dposv() */
int covey_solve_spd(covey_t *vm, int64_t n, int64_t nrhs, const double *a, int64_t lda, double *b,
                    int64_t ldb, const char *options, struct covey_door_report *report)
{
    const struct given matrix = {'A', a, n, n, lda}, sides = {'B', b, n, nrhs, ldb};
    const struct door_args args = {
        .n = {COVEY_DENSE_CHOLESKY, n, n, 0, nrhs, lda, ldb}, .in = {a, b}, .out = {b}};
    int error = check_two("covey_solve_spd", &matrix, &sides);
    return error < 0 ? error : door_call(vm, DOOR_SOLVE_SPD, &args, options, report);
}

/* NOLINTNEXTLINE(readability-function-size): as dgels() */
int covey_least_squares(covey_t *vm, int64_t m, int64_t n, int64_t nrhs, const double *a,
                        int64_t lda, double *b, int64_t ldb, const char *options,
                        struct covey_door_report *report)
{
    const struct given matrix = {'A', a, m, n, lda}, sides = {'B', b, m, nrhs, ldb};
    const struct door_args args = {
        .n = {COVEY_DENSE_QR, m, n, 0, nrhs, lda, ldb}, .in = {a, b}, .out = {b}};
    int error = check_two("covey_least_squares", &matrix, &sides);
    if (error == 0 && m < n)
        error = domain_fail(COVEY_EINVAL,
                            "covey_least_squares: A has fewer rows, %lld, than columns, %lld",
                            (long long)m, (long long)n);
    return error < 0 ? error : door_call(vm, DOOR_LEAST_SQUARES, &args, options, report);
}
