/*
 * dense_speed.c - how fast BLAS and LAPACK compute here with one thread, measured on matrices
 * beyond the first caches, as seconds of the processor: what others run there is told by the
 * monitor, and is not to count twice. The least of some runs counts.
 *
 * A figure is dense.TYPE.WORK.xMEMBERS, such as dense.double.gemm.32.x2: of so many members at once
 * on a host, which share its memory.
 */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/domain/algebra/dense_factor_kernel.h"
#include "lib/domain/base/cache.h"
#include "lib/domain/base/clock.h"
#include "lib/domain/base/error.h"
#include "lib/domain/dense/dense.h"

/* Rows and columns of real and of complex numbers; both take about as long. */
enum { ROWS_REAL = 1024, ROWS_COMPLEX = 512, RUNS = 3 };
enum { WIDEST = DENSE_WIDTH(DENSE_WIDTHS - 1) };

/* A matrix with a strong diagonal, whose factors stay finite. */
static void fill(const struct dense_kernel *kernel, const struct dense_view *a)
{
    for (int64_t j = 0; j < a->n; j++)
        for (int64_t i = 0; i < a->m; i++) {
            char pair[32];
            kernel->encode(i == j ? 8 * a->n : (i * 7 + j * 3) % 5 + 1, pair);
            struct dense_view from = {pair + kernel->bytes, 1, 1, 1, 0};
            struct dense_view to = {dense_at(kernel, a, i, j), 1, 1, 1, 0};
            dense_copy(kernel, &from, &to);
        }
}

struct trial {
    const struct dense_kernel *kernel;
    struct dense_view a, b, c; /* b and c are a, until they are written */
    int32_t pivots[ROWS_REAL];
    double taus[2 * ROWS_REAL];
};

static struct dense_view columns_of(const struct dense_view *a, int64_t columns)
{
    return (struct dense_view){a->at, a->m, columns, a->ld, 0};
}

static struct dense_view rows_of(const struct dense_view *a, int64_t rows)
{
    return (struct dense_view){a->at, rows, a->n, a->ld, 0};
}

static void try_gemm(struct trial *t, int width)
{
    struct dense_view a = columns_of(&t->a, width), b = rows_of(&t->b, width);
    t->kernel->gemm(t->kernel->one, &a, &b, &t->c);
}

static void try_panel(struct trial *t, int width)
{
    struct dense_view c = columns_of(&t->c, width);
    t->kernel->getrf(&c, t->pivots);
}

static void try_trsm(struct trial *t, int width)
{
    struct dense_view a = columns_of(&t->a, width), b = rows_of(&t->c, width);
    a.m = width;
    t->kernel->trsm(0, &a, &b);
}

static void try_update1(struct trial *t, int width)
{
    (void)width;
    t->kernel->update1(&t->c, t->a.at, t->b.at, 1);
}

/* As rows are gathered for a swap. */
static void try_copy(struct trial *t, int width)
{
    int64_t rows[WIDEST];
    for (int64_t i = 0; i < width; i++)
        rows[i] = i * 7 % t->a.m;
    t->kernel->pick(&t->a, rows, width, t->b.at);
}

static void try_lu(struct trial *t, int order)
{
    (void)order;
    t->kernel->getrf(&t->c, t->pivots);
}

static struct factor_block block_of(const struct trial *t)
{
    return (struct factor_block){t->c.at, (int)t->c.m, (int)t->c.n, (int)t->c.ld, 0};
}

static void try_cholesky(struct trial *t, int order)
{
    (void)order;
    factor_kernel_of(t->kernel->type)->cholesky(block_of(t));
}

static void try_qr(struct trial *t, int order)
{
    (void)order;
    factor_kernel_of(t->kernel->type)->qr(block_of(t), t->taus);
}

static double least_s(struct trial *t, void (*fn)(struct trial *t, int width), int width)
{
    struct domain_least least = {0};
    while (domain_least_lacks(&least, RUNS)) {
        dense_copy(t->kernel, &t->a, &t->c);
        double begin = domain_processor_s();
        fn(t, width);
        domain_least_add(&least, domain_processor_s() - begin);
    }
    return least.s;
}

/* Matrices of their own, whose columns follow one another: what a stride of a power of 2 costs
 * small ones is not meant. */
static void measure_orders(struct trial *t, struct dense_speed *speed)
{
    double flops = dense_flops(t->kernel->type);
    const struct dense_view whole[] = {t->a, t->c};
    for (int i = 0; i < DENSE_ORDERS; i++) {
        int64_t order = DENSE_ORDER(i) < whole[0].n ? DENSE_ORDER(i) : whole[0].n;
        double cube = (double)order * (double)order * (double)order;
        t->a.m = t->a.n = order;
        t->c.m = t->c.n = t->c.ld = order;
        speed->lu_s[i] = least_s(t, try_lu, 0) / (flops / 3 * cube);
        speed->cholesky_s[i] = least_s(t, try_cholesky, 0) / (flops / 6 * cube);
        speed->qr_s[i] = least_s(t, try_qr, 0) / (flops * 2 / 3 * cube);
    }
    t->a = whole[0];
    t->c = whole[1];
}

static void measure_with(struct trial *t, struct dense_speed *speed)
{
    double flops = dense_flops(t->kernel->type), n = (double)t->a.n;
    fill(t->kernel, &t->a);
    dense_copy(t->kernel, &t->a, &t->b);
    for (int i = 0; i < DENSE_WIDTHS; i++) {
        double w = DENSE_WIDTH(i);
        speed->gemm_s[i] = least_s(t, try_gemm, DENSE_WIDTH(i)) / (flops * n * n * w);
        speed->panel_s[i] =
            least_s(t, try_panel, DENSE_WIDTH(i)) / (flops / 2 * w * w * (n - w / 3));
    }
    double w = DENSE_WIDTH(1);
    speed->trsm_s = least_s(t, try_trsm, DENSE_WIDTH(1)) / (flops / 2 * w * w * n);
    speed->vector_s = least_s(t, try_update1, 1) / (flops * n * n);
    measure_orders(t, speed);
    speed->copy_s = least_s(t, try_copy, DENSE_WIDTH(1)) / (w * n * (double)t->kernel->bytes);
}

static void measure(const struct dense_kernel *kernel, struct dense_speed *speed)
{
    int64_t rows = kernel->is_complex ? ROWS_COMPLEX : ROWS_REAL;
    size_t bytes = kernel->bytes * (size_t)(rows * rows);
    struct trial *trial = malloc(sizeof *trial);
    char *memory = malloc(3 * bytes);
    *speed = (struct dense_speed){.trsm_s = 0};
    if (trial != NULL && memory != NULL) {
        struct dense_view a = {memory, rows, rows, rows, 0};
        *trial = (struct trial){.kernel = kernel, .a = a, .b = a, .c = a};
        trial->b.at = memory + bytes;
        trial->c.at = memory + 2 * bytes;
        int threads = dense_threads(1);
        measure_with(trial, speed);
        dense_threads(threads);
    }
    free(trial);
    free(memory);
}

/* ---- What is known --------------------------------------------------------------------------- */

static const struct work {
    const char *name;
    size_t at;
} works[] = {
#define WORK(word, place)                                                                          \
    {                                                                                              \
        word, offsetof(struct dense_speed, place)                                                  \
    }
    WORK("gemm.32", gemm_s[0]),
    WORK("gemm.64", gemm_s[1]),
    WORK("gemm.128", gemm_s[2]),
    WORK("gemm.256", gemm_s[3]),
    WORK("panel.32", panel_s[0]),
    WORK("panel.64", panel_s[1]),
    WORK("panel.128", panel_s[2]),
    WORK("panel.256", panel_s[3]),
    WORK("trsm", trsm_s),
    WORK("lu.64", lu_s[0]),
    WORK("lu.256", lu_s[1]),
    WORK("lu.1024", lu_s[2]),
    WORK("cholesky.64", cholesky_s[0]),
    WORK("cholesky.256", cholesky_s[1]),
    WORK("cholesky.1024", cholesky_s[2]),
    WORK("qr.64", qr_s[0]),
    WORK("qr.256", qr_s[1]),
    WORK("qr.1024", qr_s[2]),
    WORK("vector", vector_s),
    WORK("copy", copy_s)};
enum { WORKS = sizeof works / sizeof *works };
_Static_assert(WORKS * sizeof(double) == sizeof(struct dense_speed), "a speed has no name");

static double *speed_at(struct dense_speed *speed, int i)
{
    return (double *)(void *)((char *)speed + works[i].at);
}

static void figure_name(int type, int i, int together, char name[DOMAIN_FIGURE_NAME])
{
    const char *word = type == COVEY_DOUBLE           ? "double"
                       : type == COVEY_FLOAT          ? "float"
                       : type == COVEY_COMPLEX_DOUBLE ? "complexdouble"
                                                      : "complexfloat";
    snprintf(name, DOMAIN_FIGURE_NAME, "dense.%s.%s.x%d", word, works[i].name, together);
}

/* NULL: what this process knows. Whether it is all there. */
static int recall(const struct domain_figures *figures, int type, int together,
                  struct dense_speed *speed)
{
    char name[DOMAIN_FIGURE_NAME];
    int known = 0;
    for (int i = 0; i < WORKS; i++) {
        figure_name(type, i, together, name);
        double value = figures != NULL ? domain_figure(figures, name) : domain_cache_figure(name);
        *speed_at(speed, i) = value;
        known += value > 0;
    }
    return known == WORKS;
}

static int together_of(const struct covey_domain_place *place)
{
    double on_host = ceil((double)place->network.members / place->network.hosts);
    return (int)fmax(1, fmin(on_host, place->processors));
}

/* Members measure if one of them does not know; where only rank 0 does, the others wait. */
static int learn(covey_team_t *team, const struct dense_kernel *kernel, int together, int is_all,
                 struct dense_speed *speed)
{
    struct dense_speed mine = {.trsm_s = 0};
    char name[DOMAIN_FIGURE_NAME];
    int is_here = is_all || covey_team_rank(team) == 0;
    int32_t lacks = is_here && !recall(NULL, kernel->type, together, &mine), any = 0;
    int error = covey_allreduce(team, COVEY_OP_MAX, COVEY_INT32, &lacks, &any, 1);
    if (error == 0 && any && is_here) {
        measure(kernel, &mine);
        for (int i = 0; i < WORKS; i++) {
            figure_name(kernel->type, i, together, name);
            if (*speed_at(&mine, i) > 0)
                domain_cache_set(name, *speed_at(&mine, i));
        }
    }
    if (error == 0)
        error = covey_allreduce(team, COVEY_OP_MAX, COVEY_DOUBLE, &mine, speed, WORKS);
    return error < 0 ? domain_fail_of(error, "the speed of dense algebra") : 0;
}

int dense_speed_agree(covey_team_t *team, const struct dense_kernel *kernel, struct dense_case *c)
{
    int error = learn(team, kernel, together_of(&c->place), 1, &c->speed);
    return error < 0 ? error : learn(team, kernel, 1, 0, &c->root);
}

/* ---- Without a team -------------------------------------------------------------------------- */

int dense_speed_of_figures(const struct domain_figures *figures, struct dense_case *c)
{
    int type = c->problem.type, is_known = recall(figures, type, 1, &c->root);
    if (!recall(figures, type, together_of(&c->place), &c->speed))
        c->speed = c->root;
    return is_known;
}

int dense_speed_figures(struct domain_figures *figures, int type)
{
    struct dense_speed speed;
    char name[DOMAIN_FIGURE_NAME];
    int error = 0;
    measure(dense_kernel_of(type), &speed);
    for (int i = 0; error == 0 && i < WORKS; i++) {
        double value = *speed_at(&speed, i);
        figure_name(type, i, 1, name);
        error = value > 0 ? domain_figure_set(figures, name, value)
                          : domain_fail(COVEY_ENOMEM, "no memory to measure BLAS");
    }
    return error;
}
