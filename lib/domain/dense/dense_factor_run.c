/*
 * dense_factor_run.c - the public calls of Cholesky, QR and inverses: arguments, the algorithm that
 * was taken, and the one that moves all to rank 0.
 *
 *   dense_factor             indices, and collective calls over rows and columns of the grid
 *   dense_cholesky           right- and left-looking; dense_cholesky_tiles as a graph of tasks
 *   dense_qr, dense_tsqr     by blocks of reflectors; up a tree
 *   dense_factor_solve, dense_factor_narrow   triangular systems; those with few right-hand sides
 *   dense_inverse, dense_least_norm           what is made of the factors
 *
 * Kernels and costs are in lib/domain/algebra. What of Q does not stand in A is kept by the plan.
 * An error in the middle breaks the teams of the plan; what is wrong with the arguments of one
 * member is told to all before.
 */
#include <stdlib.h>

#include "lib/domain/algebra/lu.h"
#include "lib/domain/base/clock.h"
#include "lib/domain/base/error.h"
#include "lib/domain/dense/dense.h"
#include "lib/domain/dense/dense_factor.h"
#include "lib/domain/dense/lu_solve.h"

/* A matrix of the plan as its pieces at the members of the grid. */
static struct factor_matrix spread_matrix(const covey_dense_t *plan, int matrix,
                                          const struct dense_view *view)
{
    const struct dense_grid *grid = &plan->setting.grid;
    int64_t size[2];
    dense_sizes(&plan->problem, matrix, size);
    return (struct factor_matrix){
        .kernel = factor_kernel_of(plan->problem.type),
        .grid = {.rows = grid->rows,
                 .columns = grid->columns,
                 .p = plan->row,
                 .q = plan->column,
                 .bcast = plan->setting.bcast,
                 .team = plan->teams[DENSE_ALL],
                 .row = plan->teams[DENSE_ROW],
                 .column = plan->teams[DENSE_COLUMN]},
        .m = size[0],
        .n = size[1],
        .nb = plan->setting.block,
        .local = {.at = view->at, .m = (int)view->m, .n = (int)view->n, .ld = (int)view->ld}};
}

/* ---- Arguments ------------------------------------------------------------------------------- */

/* What a call is given. */
struct given {
    int op;    /* that the plan must be of */
    int error; /* what the call itself found wrong */
    struct {
        int matrix; /* 0: none */
        const void *at;
        int64_t ld;
    } of[2];
};

/* What is wrong at one member is told to all. Sets the pieces of the matrices. */
static int begin(covey_dense_t *plan, const struct given *given, struct dense_view *pieces)
{
    if (plan == NULL)
        return domain_fail(COVEY_EINVAL, "the plan is NULL");
    int error = dense_check(plan, given->op);
    if (error == 0)
        error = given->error;
    for (int i = 0; error == 0 && i < 2 && given->of[i].matrix != 0; i++)
        error =
            dense_view_of(plan, given->of[i].matrix, given->of[i].at, given->of[i].ld, &pieces[i]);
    return dense_agree(plan, error);
}

/* ---- All at rank 0 --------------------------------------------------------------------------- */

/* A matrix that was collected; on a grid of one member it is its piece. */
struct whole {
    covey_dense_t *plan;
    int matrix, is_piece;
    void *room;
    struct dense_view piece, view;
};

/* Room for it at rank 0: not collective. */
static int whole_init(struct whole *w, covey_dense_t *plan, int matrix,
                      const struct dense_view *piece)
{
    int64_t size[2];
    dense_sizes(&plan->problem, matrix, size);
    *w = (struct whole){.plan = plan,
                        .matrix = matrix,
                        .is_piece = plan->setting.grid.rows * plan->setting.grid.columns == 1,
                        .piece = *piece,
                        .view = {.m = size[0], .n = size[1], .ld = size[0] > 0 ? size[0] : 1}};
    if (w->is_piece)
        w->view = *piece;
    if (w->is_piece || plan->rank != 0)
        return 0;
    w->room = calloc((size_t)size[0] * (size_t)size[1] + 1, plan->kernel->bytes);
    w->view.at = w->room;
    return w->room != NULL ? 0 : domain_fail(COVEY_ENOMEM, "no memory for a matrix at rank 0");
}

static int whole_collect(struct whole *w)
{
    return w->is_piece ? 0 : dense_collect(w->plan, w->matrix, &w->piece, &w->view);
}

static int whole_spread(struct whole *w)
{
    return w->is_piece ? 0 : dense_spread(w->plan, w->matrix, &w->view, &w->piece);
}

static struct factor_block whole_block(const struct whole *w)
{
    return (struct factor_block){
        .at = w->view.at, .m = (int)w->view.m, .n = (int)w->view.n, .ld = (int)w->view.ld};
}

/* The info of rank 0, or of LAPACK's failure, at all members. */
static int tell(covey_dense_t *plan, int info)
{
    int32_t told = info;
    int error = covey_bcast(plan->teams[DENSE_ALL], 0, COVEY_INT32, &told, 1);
    if (error < 0)
        return dense_broken(plan, error);
    return told >= 0 ? told : domain_fail(COVEY_ENOMEM, "no memory for what LAPACK needs");
}

/* ---- Cholesky -------------------------------------------------------------------------------- */

static struct factor_block by_half(struct factor_block a, int half)
{
    a.by_rows = half == COVEY_DENSE_UPPER;
    return a;
}

static int cholesky_local(covey_dense_t *plan, int half, const struct dense_view *piece)
{
    struct whole a;
    int info = 0;
    int error = dense_agree(plan, whole_init(&a, plan, COVEY_DENSE_A, piece));
    if (error == 0)
        error = whole_collect(&a);
    if (error == 0 && plan->rank == 0) {
        int threads = dense_threads(plan->threads_alone);
        info = factor_kernel_of(plan->problem.type)->cholesky(by_half(whole_block(&a), half));
        dense_threads(threads);
    }
    if (error == 0)
        error = whole_spread(&a);
    free(a.room);
    return error < 0 ? error : tell(plan, info);
}

static int cholesky_spread(covey_dense_t *plan, int half, const struct dense_view *piece)
{
    static factor_cholesky_fn *const algorithms[] = {[CHOLESKY_RIGHT] = factor_cholesky_right,
                                                     [CHOLESKY_LEFT] = factor_cholesky_left,
                                                     [CHOLESKY_TILES] = factor_cholesky_tiles};
    struct factor_matrix a = spread_matrix(plan, COVEY_DENSE_A, piece);
    int64_t info = 0;
    int error = 0;
    if (half == COVEY_DENSE_UPPER)
        a = factor_transposed(&a);
    if (plan->row >= 0) {
        int threads = dense_threads(plan->threads);
        error = algorithms[plan->taken](&a, &info);
        dense_threads(threads);
    }
    if (error == 0)
        error = factor_first(&a, &info);
    return error < 0 ? error : (int)info;
}

static int check_half(int half)
{
    if (half == COVEY_DENSE_LOWER || half == COVEY_DENSE_UPPER)
        return 0;
    return domain_fail(COVEY_EINVAL, "there is no half %d of a matrix", half);
}

int covey_dense_cholesky(covey_dense_t *plan, int half, void *a, int64_t lda)
{
    const struct given given = {COVEY_DENSE_CHOLESKY, check_half(half), {{COVEY_DENSE_A, a, lda}}};
    struct dense_view piece;
    int error = begin(plan, &given, &piece);
    if (error < 0)
        return error;
    double began_s = dense_begin(plan, 0);
    error = plan->taken == CHOLESKY_LOCAL ? cholesky_local(plan, half, &piece)
                                          : cholesky_spread(plan, half, &piece);
    dense_note(plan, began_s, error, 0);
    return error;
}

/* ---- Solving with its factor ----------------------------------------------------------------- */

static int cholesky_solve_local(covey_dense_t *plan, int half, const struct dense_view pieces[2])
{
    struct whole a, b;
    int error = whole_init(&a, plan, COVEY_DENSE_A, &pieces[0]);
    int error_b = whole_init(&b, plan, COVEY_DENSE_B, &pieces[1]);
    error = dense_agree(plan, error < 0 ? error : error_b);
    if (error == 0)
        error = whole_collect(&a);
    if (error == 0)
        error = whole_collect(&b);
    if (error == 0 && plan->rank == 0) {
        const struct factor_kernel *kernel = factor_kernel_of(plan->problem.type);
        int threads = dense_threads(plan->threads_alone), is_upper = half == COVEY_DENSE_UPPER;
        struct factor_triangle t = {.of = whole_block(&a), .upper = is_upper, .adjoint = is_upper};
        kernel->solve(t, 0, whole_block(&b));
        t.adjoint = !is_upper;
        kernel->solve(t, 0, whole_block(&b));
        dense_threads(threads);
    }
    if (error == 0)
        error = whole_spread(&b);
    free(a.room);
    free(b.room);
    return error;
}

static int cholesky_solve_spread(covey_dense_t *plan, int half, const struct dense_view pieces[2])
{
    struct factor_matrix a = spread_matrix(plan, COVEY_DENSE_A, &pieces[0]);
    struct factor_matrix b = spread_matrix(plan, COVEY_DENSE_B, &pieces[1]);
    int is_upper = half == COVEY_DENSE_UPPER;
    struct factor_system s = {.t = &a, .b = &b, .upper = is_upper, .adjoint = is_upper};
    if (plan->row < 0)
        return 0;
    int threads = dense_threads(plan->threads), error = factor_solve(&s);
    s.adjoint = !is_upper;
    if (error == 0)
        error = factor_solve(&s);
    dense_threads(threads);
    return error;
}

int covey_dense_cholesky_solve(covey_dense_t *plan, int half, const void *a, int64_t lda, void *b,
                               int64_t ldb)
{
    const struct given given = {
        COVEY_DENSE_CHOLESKY, check_half(half), {{COVEY_DENSE_A, a, lda}, {COVEY_DENSE_B, b, ldb}}};
    struct dense_view pieces[2];
    int error = begin(plan, &given, pieces);
    if (error < 0)
        return error;
    double began_s = dense_begin(plan, 1);
    error = plan->taken == CHOLESKY_LOCAL ? cholesky_solve_local(plan, half, pieces)
                                          : cholesky_solve_spread(plan, half, pieces);
    dense_note(plan, began_s, error, 1);
    return error;
}

/* ---- The inverse ----------------------------------------------------------------------------- */

static int inverse_local(covey_dense_t *plan, int half, const struct dense_view *piece)
{
    struct whole a;
    int info = 0;
    int error = dense_agree(plan, whole_init(&a, plan, COVEY_DENSE_A, piece));
    if (error == 0)
        error = whole_collect(&a);
    if (error == 0 && plan->rank == 0 && a.view.n > 0) {
        const struct factor_kernel *kernel = factor_kernel_of(plan->problem.type);
        int threads = dense_threads(plan->threads_alone);
        info = kernel->invert(by_half(whole_block(&a), half));
        if (info == 0)
            info = kernel->square(by_half(whole_block(&a), half));
        dense_threads(threads);
    }
    if (error == 0)
        error = whole_spread(&a);
    free(a.room);
    return error < 0 ? error : tell(plan, info);
}

int covey_dense_cholesky_inverse(covey_dense_t *plan, int half, void *a, int64_t lda)
{
    const struct given given = {COVEY_DENSE_CHOLESKY, check_half(half), {{COVEY_DENSE_A, a, lda}}};
    struct dense_view piece;
    int error = begin(plan, &given, &piece);
    if (error < 0)
        return error;
    if (plan->taken == CHOLESKY_LOCAL)
        return inverse_local(plan, half, &piece);
    if (plan->row < 0)
        return 0;
    struct factor_matrix l = spread_matrix(plan, COVEY_DENSE_A, &piece);
    if (half == COVEY_DENSE_UPPER)
        l = factor_transposed(&l);
    int threads = dense_threads(plan->threads);
    error = factor_inverse(&l);
    dense_threads(threads);
    return error;
}

/* What covey_dense_lu() left, all at rank 0. */
static int lu_inverse_local(covey_dense_t *plan, const struct dense_view *piece,
                            const int64_t *pivots)
{
    int64_t n = plan->problem.n;
    struct whole a;
    int info = 0, error = whole_init(&a, plan, COVEY_DENSE_A, piece);
    int32_t *places = malloc(((size_t)n + 1) * sizeof *places);
    if (error == 0 && places == NULL)
        error = domain_fail(COVEY_ENOMEM, "no memory for pivots");
    error = dense_agree(plan, error);
    if (error == 0)
        error = whole_collect(&a);
    if (error == 0 && plan->rank == 0) {
        int threads = dense_threads(plan->threads_alone);
        for (int64_t i = 0; i < n; i++)
            places[i] = (int32_t)(pivots[i] + 1);
        info = plan->kernel->getri(&a.view, places);
        dense_threads(threads);
    }
    if (error == 0)
        error = whole_spread(&a);
    free(a.room);
    free(places);
    return error < 0 ? error : tell(plan, info);
}

int covey_dense_lu_inverse(covey_dense_t *plan, void *a, int64_t lda, const int64_t *pivots)
{
    struct given given = {.op = COVEY_DENSE_LU, .of = {{COVEY_DENSE_A, a, lda}}};
    struct dense_view piece;
    if (plan != NULL && plan->problem.op == COVEY_DENSE_LU)
        given.error = lu_check_pivots(plan, pivots);
    int error = begin(plan, &given, &piece);
    if (error < 0)
        return error;
    if (plan->taken == LU_LOCAL)
        return lu_inverse_local(plan, &piece, pivots);
    struct factor_matrix lu = spread_matrix(plan, COVEY_DENSE_A, &piece);
    int64_t info = plan->row >= 0 ? factor_first_zero(&lu) : 0;
    error = factor_first(&lu, &info);
    if (error < 0 || info > 0 || plan->row < 0)
        return error < 0 ? error : (int)info;
    int threads = dense_threads(plan->threads);
    error = factor_lu_inverse(&lu, pivots);
    dense_threads(threads);
    return error;
}

/* ---- QR -------------------------------------------------------------------------------------- */

static int qr_local(covey_dense_t *plan, const struct dense_view *piece)
{
    const struct factor_kernel *kernel = factor_kernel_of(plan->problem.type);
    struct whole a;
    int info = 0, error = whole_init(&a, plan, COVEY_DENSE_A, piece);
    factor_q_free(plan->q);
    plan->q->tau = factor_room(kernel, (size_t)(a.view.n < a.view.m ? a.view.n : a.view.m));
    if (error == 0 && plan->q->tau == NULL)
        error = domain_fail(COVEY_ENOMEM, "no memory for QR");
    error = dense_agree(plan, error);
    if (error == 0)
        error = whole_collect(&a);
    if (error == 0 && plan->rank == 0 && a.view.m > 0 && a.view.n > 0) {
        int threads = dense_threads(plan->threads_alone);
        info = kernel->qr(whole_block(&a), plan->q->tau);
        dense_threads(threads);
    }
    if (error == 0)
        error = whole_spread(&a);
    free(a.room);
    return error < 0 ? error : tell(plan, info);
}

static int qr_run(covey_dense_t *plan, const struct dense_view *piece)
{
    if (plan->taken == QR_LOCAL)
        return qr_local(plan, piece);
    if (plan->row < 0)
        return 0;
    struct factor_matrix a = spread_matrix(plan, COVEY_DENSE_A, piece);
    int threads = dense_threads(plan->threads);
    int error =
        plan->taken == QR_TSQR ? factor_qr_tree(&a, plan->q) : factor_qr_blocked(&a, plan->q);
    dense_threads(threads);
    return error;
}

int covey_dense_qr(covey_dense_t *plan, void *a, int64_t lda)
{
    struct given given = {.op = COVEY_DENSE_QR, .of = {{COVEY_DENSE_A, a, lda}}};
    struct dense_view piece;
    if (plan != NULL && plan->q == NULL) {
        plan->q = calloc(1, sizeof *plan->q);
        if (plan->q == NULL)
            given.error = domain_fail(COVEY_ENOMEM, "no memory for QR");
    }
    int error = begin(plan, &given, &piece);
    if (error < 0)
        return error;
    double began_s = dense_begin(plan, 0);
    error = qr_run(plan, &piece);
    plan->q->is_there = error == 0;
    dense_note(plan, began_s, error, 0);
    return error;
}

/* ---- What Q is for --------------------------------------------------------------------------- */

/* At rank 0: the shortest solution of a wide system, as factor_least_norm() finds it. Returns
 * LAPACK's failures, or the place of a 0. */
static int least_norm_whole(const covey_dense_t *plan, struct factor_block a, struct factor_block b)
{
    const struct factor_kernel *kernel = factor_kernel_of(plan->problem.type);
    struct factor_block t = {.m = a.n, .n = a.m, .ld = a.n};
    struct factor_block rows = factor_sized(b, a.m, b.n);
    void *tau = factor_room(kernel, (size_t)a.m);
    int info = -1, zero = 0;
    t.at = factor_room(kernel, (size_t)a.m * (size_t)a.n);
    if (t.at != NULL && tau != NULL) {
        kernel->copy_adjoint(a, t);
        for (int j = 1; j < t.n; j++)
            kernel->clear(factor_sized(factor_part(t, kernel->width, 0, j), j, 1));
        info = kernel->qr(t, tau);
    }
    for (int i = 0; i < t.n && info == 0 && zero == 0; i++)
        if (kernel->largest(factor_sized(factor_part(t, kernel->width, i, i), 1, 1)) == 0)
            zero = i + 1;
    if (info == 0 && zero == 0)
        info = kernel->apply(a, plan->q->tau, 1, rows);
    if (info == 0 && zero == 0) {
        kernel->solve((struct factor_triangle){.of = t, .upper = 1, .adjoint = 1}, 0, rows);
        kernel->clear(factor_part(b, kernel->width, a.m, 0));
        info = kernel->apply(t, tau, 0, b);
    }
    free(t.at);
    free(tau);
    return info != 0 ? info : zero;
}

/* B = Q^H B and then R^-1 B, or Q, all at rank 0. */
static int qr_use_local(covey_dense_t *plan, int matrix, const struct dense_view pieces[2])
{
    struct whole a, b;
    int is_form = matrix == COVEY_DENSE_C, info = 0;
    int error = whole_init(&a, plan, COVEY_DENSE_A, &pieces[0]);
    int error_b = whole_init(&b, plan, matrix, &pieces[1]);
    error = dense_agree(plan, error < 0 ? error : error_b);
    if (error == 0)
        error = whole_collect(&a);
    if (error == 0 && !is_form)
        error = whole_collect(&b);
    if (error == 0 && plan->rank == 0) {
        const struct factor_kernel *kernel = factor_kernel_of(plan->problem.type);
        int threads = dense_threads(plan->threads_alone);
        struct factor_block v = whole_block(&a), c = whole_block(&b);
        if (is_form) {
            kernel->clear(c);
            kernel->make_unit_lower(c);
            info = kernel->apply(v, plan->q->tau, 0, c);
        } else if (v.m < v.n) {
            info = least_norm_whole(plan, v, c);
        } else {
            info = kernel->apply(v, plan->q->tau, 1, c);
            kernel->solve((struct factor_triangle){.of = v, .upper = 1}, 0,
                          factor_sized(c, v.n, c.n));
        }
        dense_threads(threads);
    }
    if (error == 0)
        error = whole_spread(&b);
    free(a.room);
    free(b.room);
    return error < 0 ? error : tell(plan, info);
}

static int qr_use(covey_dense_t *plan, int matrix, const struct dense_view pieces[2])
{
    static factor_qr_use_fn *const uses[][2] = {
        [QR_BLOCK] = {factor_qr_blocked_solve, factor_qr_blocked_form},
        [QR_TSQR] = {factor_qr_tree_solve, factor_qr_tree_form}};
    if (plan->taken == QR_LOCAL)
        return qr_use_local(plan, matrix, pieces);
    if (plan->row < 0)
        return 0;
    struct factor_matrix a = spread_matrix(plan, COVEY_DENSE_A, &pieces[0]);
    struct factor_matrix b = spread_matrix(plan, matrix, &pieces[1]);
    int threads = dense_threads(plan->threads);
    int error = uses[plan->taken][matrix == COVEY_DENSE_C](&a, plan->q, &b);
    dense_threads(threads);
    return error;
}

/* With another matrix beside A. */
static int qr_begin(covey_dense_t *plan, const struct given *factors, struct dense_view pieces[2])
{
    struct given given = *factors;
    if (plan != NULL && (plan->q == NULL || !plan->q->is_there))
        given.error = domain_fail(COVEY_EINVAL, "covey_dense_qr() was not called before");
    return begin(plan, &given, pieces);
}

int covey_dense_qr_form(covey_dense_t *plan, const void *a, int64_t lda, void *q, int64_t ldq)
{
    const struct given given = {
        COVEY_DENSE_QR, 0, {{COVEY_DENSE_A, a, lda}, {COVEY_DENSE_C, q, ldq}}};
    struct dense_view pieces[2];
    int error = qr_begin(plan, &given, pieces);
    return error < 0 ? error : qr_use(plan, COVEY_DENSE_C, pieces);
}

/* Of a system with fewer rows than columns. */
static int least_norm(covey_dense_t *plan, const struct dense_view pieces[2])
{
    int64_t info = 0;
    if (plan->taken == QR_LOCAL)
        return qr_use_local(plan, COVEY_DENSE_B, pieces);
    struct factor_matrix a = spread_matrix(plan, COVEY_DENSE_A, &pieces[0]);
    struct factor_matrix b = spread_matrix(plan, COVEY_DENSE_B, &pieces[1]);
    int threads = dense_threads(plan->threads);
    int error = factor_least_norm(&a, plan->q, &b, &info);
    dense_threads(threads);
    return error < 0 ? error : (int)info;
}

static int least_squares(covey_dense_t *plan, const struct dense_view pieces[2])
{
    struct factor_matrix a = spread_matrix(plan, COVEY_DENSE_A, &pieces[0]);
    int64_t info = plan->row >= 0 ? factor_first_zero(&a) : 0;
    int error = factor_first(&a, &info);
    if (error < 0 || info > 0)
        return error < 0 ? error : (int)info;
    return qr_use(plan, COVEY_DENSE_B, pieces);
}

int covey_dense_qr_solve(covey_dense_t *plan, const void *a, int64_t lda, void *b, int64_t ldb)
{
    const struct given given = {
        COVEY_DENSE_QR, 0, {{COVEY_DENSE_A, a, lda}, {COVEY_DENSE_B, b, ldb}}};
    struct dense_view pieces[2];
    int error = qr_begin(plan, &given, pieces);
    if (error < 0)
        return error;
    double began_s = dense_begin(plan, 1);
    error =
        plan->problem.m < plan->problem.n ? least_norm(plan, pieces) : least_squares(plan, pieces);
    dense_note(plan, began_s, error, 1);
    return error;
}
