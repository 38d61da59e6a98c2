/*
 * gemm.c - C = alpha A B + beta C.
 *
 * SUMMA (van de Geijn and Watts, 1997): for each block of k, the processes that have it of A send
 * it along their rows, those that have it of B along their columns, and everybody adds the product
 * of the two panels to what it has of C. With lookahead the panels of the next step are under way
 * meanwhile, and the product is made in slices of columns between which panels are passed on.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/domain/algebra/gemm.h"
#include "lib/domain/base/clock.h"
#include "lib/domain/base/error.h"
#include "lib/domain/dense/dense.h"
#include "lib/domain/dense/dense_cast.h"

#define SLICE_COLUMNS 256

struct gemm {
    covey_dense_t *plan;
    const void *alpha, *beta;
    struct dense_view a, b, c;
};

/* ---- Local ----------------------------------------------------------------------------------- */

struct whole {
    struct dense_view a, b, c;
    void *memory;
};

/* Of all three matrices; at rank 0. */
static int whole_create(const covey_dense_t *plan, struct whole *whole)
{
    const struct covey_dense_problem *p = &plan->problem;
    size_t bytes = plan->kernel->bytes;
    int64_t a = p->m * p->k, b = p->k * p->n, c = p->m * p->n;
    *whole = (struct whole){.memory = NULL};
    if (plan->rank != 0)
        return 0;
    whole->memory = malloc((size_t)(a + b + c + 1) * bytes);
    if (whole->memory == NULL)
        return domain_fail(COVEY_ENOMEM, "no memory for three matrices at rank 0");
    char *at = whole->memory;
    whole->a = (struct dense_view){at, p->m, p->k, p->m > 0 ? p->m : 1, 0};
    whole->b = (struct dense_view){at + (size_t)a * bytes, p->k, p->n, p->k > 0 ? p->k : 1, 0};
    whole->c =
        (struct dense_view){at + (size_t)(a + b) * bytes, p->m, p->n, p->m > 0 ? p->m : 1, 0};
    return 0;
}

static void multiply(const struct gemm *g, const struct dense_view *a, const struct dense_view *b,
                     const struct dense_view *c)
{
    int threads = dense_threads(g->plan->threads_alone);
    g->plan->kernel->scale(g->beta, c);
    g->plan->kernel->gemm(g->alpha, a, b, c);
    dense_threads(threads);
}

static int gemm_local(struct gemm *g)
{
    covey_dense_t *plan = g->plan;
    const struct dense_grid *grid = &plan->setting.grid;
    struct whole whole;
    if (grid->rows * grid->columns == 1) {
        if (plan->rank == 0)
            multiply(g, &g->a, &g->b, &g->c);
        return 0;
    }
    int error = dense_agree(plan, whole_create(plan, &whole));
    if (error == 0)
        error = dense_collect(plan, COVEY_DENSE_A, &g->a, &whole.a);
    if (error == 0)
        error = dense_collect(plan, COVEY_DENSE_B, &g->b, &whole.b);
    if (error == 0)
        error = dense_collect(plan, COVEY_DENSE_C, &g->c, &whole.c);
    if (error == 0 && plan->rank == 0)
        multiply(g, &whole.a, &whole.b, &whole.c);
    if (error == 0)
        error = dense_spread(plan, COVEY_DENSE_C, &whole.c, &g->c);
    free(whole.memory);
    return error;
}

/* ---- SUMMA ----------------------------------------------------------------------------------- */

/* The panels of one step; where the owner has its own panel without gaps it is sent from there. */
struct step {
    struct dense_view a, b;
    struct dense_cast along, down;
    void *memory[2];
};

static int step_create(const struct gemm *g, struct step *step)
{
    size_t bytes = g->plan->kernel->bytes, width = (size_t)g->plan->setting.block;
    memset(step, 0, sizeof *step);
    step->memory[0] = malloc(((size_t)g->a.m * width + 1) * bytes);
    step->memory[1] = malloc(((size_t)g->b.n * width + 1) * bytes);
    return step->memory[0] != NULL && step->memory[1] != NULL
               ? 0
               : domain_fail(COVEY_ENOMEM, "no memory for the panels of a product");
}

static void step_free(struct step *step)
{
    dense_cast_free(&step->along);
    dense_cast_free(&step->down);
    free(step->memory[0]);
    free(step->memory[1]);
}

/* The part of A's columns, or of B's rows, that begins at element k; packed by its owner. */
static void step_pack(const struct gemm *g, struct step *step, int64_t k, int64_t width)
{
    const struct dense_kernel *kernel = g->plan->kernel;
    struct dense_axis rows = dense_axis(g->plan, 0), columns = dense_axis(g->plan, 1);
    step->a = (struct dense_view){step->memory[0], g->a.m, width, g->a.m > 0 ? g->a.m : 1, 0};
    step->b = (struct dense_view){step->memory[1], width, g->b.n, width, 0};
    if (dense_axis_owner(&columns, k) == columns.at) {
        struct dense_view own =
            dense_part(kernel, &g->a, (int64_t[]){0, dense_axis_local(&columns, k)},
                       (int64_t[]){g->a.m, width});
        dense_copy(kernel, &own, &step->a);
    }
    if (dense_axis_owner(&rows, k) == rows.at) {
        struct dense_view own = dense_part(
            kernel, &g->b, (int64_t[]){dense_axis_local(&rows, k), 0}, (int64_t[]){width, g->b.n});
        dense_copy(kernel, &own, &step->b);
    }
}

static int step_begin(const struct gemm *g, struct step *step, int64_t k)
{
    covey_dense_t *plan = g->plan;
    int64_t rest = plan->problem.k - k;
    struct dense_axis rows = dense_axis(plan, 0), columns = dense_axis(plan, 1);
    if (rest <= 0)
        return 0;
    step_pack(g, step, k, rest < plan->setting.block ? rest : plan->setting.block);
    step->along.type = step->down.type = plan->kernel->type;
    step->along.base = step->a.at;
    step->along.count = (size_t)(step->a.m * step->a.n);
    step->down.base = step->b.at;
    step->down.count = (size_t)(step->b.m * step->b.n);
    int error = dense_cast_begin(&step->along, plan->teams[DENSE_ROW], plan->setting.bcast,
                                 dense_axis_owner(&columns, k));
    if (error >= 0)
        error = dense_cast_begin(&step->down, plan->teams[DENSE_COLUMN], plan->setting.bcast,
                                 dense_axis_owner(&rows, k));
    return error;
}

/* Adds the product of this step's panels, and passes on those of the next one. */
static int step_add(const struct gemm *g, struct step *step, struct step *next)
{
    const struct dense_kernel *kernel = g->plan->kernel;
    for (int64_t j = 0; j < g->c.n; j += SLICE_COLUMNS) {
        int64_t rest = g->c.n - j, n = rest < SLICE_COLUMNS ? rest : SLICE_COLUMNS;
        struct dense_view b =
            dense_part(kernel, &step->b, (int64_t[]){0, j}, (int64_t[]){step->b.m, n});
        struct dense_view c = dense_part(kernel, &g->c, (int64_t[]){0, j}, (int64_t[]){g->c.m, n});
        kernel->gemm(g->alpha, &step->a, &b, &c);
        int error = next == NULL ? 0 : dense_cast_poll(&next->along);
        if (next != NULL && error >= 0)
            error = dense_cast_poll(&next->down);
        if (error < 0)
            return error;
    }
    return 0;
}

static int summa_run(struct gemm *g, struct step steps[2])
{
    int64_t block = g->plan->setting.block, k = g->plan->problem.k;
    int ahead = g->plan->setting.lookahead;
    int error = step_begin(g, &steps[0], 0);
    for (int64_t at = 0; error >= 0 && at < k; at += block) {
        struct step *step = &steps[at / block % 2], *next = &steps[(at / block + 1) % 2];
        error = dense_cast_wait(&step->along);
        if (error >= 0)
            error = dense_cast_wait(&step->down);
        if (error >= 0 && ahead)
            error = step_begin(g, next, at + block);
        if (error >= 0)
            error = step_add(g, step, ahead ? next : NULL);
        if (error >= 0)
            error = dense_cast_end(&step->along);
        if (error >= 0)
            error = dense_cast_end(&step->down);
        if (error >= 0 && !ahead)
            error = step_begin(g, next, at + block);
    }
    return error;
}

static int gemm_summa(struct gemm *g)
{
    struct step steps[2] = {0};
    int inside = g->plan->row >= 0, error = 0;
    if (inside)
        error = step_create(g, &steps[0]);
    if (inside && error == 0)
        error = step_create(g, &steps[1]);
    error = dense_agree(g->plan, error);
    if (error == 0 && inside) {
        int threads = dense_threads(g->plan->threads);
        g->plan->kernel->scale(g->beta, &g->c);
        error = summa_run(g, steps);
        dense_threads(threads);
        if (error < 0)
            dense_broken(g->plan, error);
    }
    step_free(&steps[0]);
    step_free(&steps[1]);
    return error < 0 ? error : 0;
}

/* ---- The public call ------------------------------------------------------------------------- */

/* NOLINTNEXTLINE(readability-function-size): the interface of BLAS */
int covey_dense_gemm(covey_dense_t *plan, const void *alpha, const void *a, int64_t lda,
                     const void *b, int64_t ldb, const void *beta, void *c, int64_t ldc)
{
    struct gemm g = {.plan = plan, .alpha = alpha, .beta = beta};
    if (plan == NULL)
        return domain_fail(COVEY_EINVAL, "the plan is NULL");
    int error = dense_check(plan, COVEY_DENSE_GEMM);
    if (error == 0 && (alpha == NULL || beta == NULL))
        error = domain_fail(COVEY_EINVAL, "alpha or beta is NULL");
    if (error == 0)
        error = dense_view_of(plan, COVEY_DENSE_A, a, lda, &g.a);
    if (error == 0)
        error = dense_view_of(plan, COVEY_DENSE_B, b, ldb, &g.b);
    if (error == 0)
        error = dense_view_of(plan, COVEY_DENSE_C, c, ldc, &g.c);
    error = dense_agree(plan, error);
    if (error < 0)
        return error;
    double began_s = dense_begin(plan, 0);
    error = plan->taken == GEMM_LOCAL ? gemm_local(&g) : gemm_summa(&g);
    dense_note(plan, began_s, error, 0);
    return error;
}
