/*
 * lu_factor.c - the factorization step by step: right-looking, in the block-cyclic layout.
 *
 * In each step the processes of one column of the grid factor a panel and send it along the rows;
 * then everybody interchanges rows of the columns behind it, computes U of these, and subtracts L
 * U. With lookahead those that have the next panel update its columns first, factor and send it,
 * and then update the rest; so it is there when the others have done that, too. Updates are made in
 * slices of columns, between which a panel under way is passed on.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/domain/base/error.h"
#include "lib/domain/dense/lu_run.h"

#define SLICE_COLUMNS 512
#define SLICE_COLUMNS_PAIR 2048 /* where nobody passes a panel on: each slice packs it for BLAS */

/* What panels, tournaments and swaps need, of which one is at work at a time. */
size_t lu_work_bytes(const struct lu *lu)
{
    size_t block = (size_t)lu->plan->setting.block, bytes = lu->kernel->bytes;
    size_t rows = (size_t)lu->a.m + 3 * block, columns = (size_t)lu->a.n;
    size_t tournament =
        (2 * (2 * (block + 1) + block * block) + 2 * block * block + rows * block) * bytes +
        (rows + 2 * block) * (sizeof(int64_t) + sizeof(int32_t));
    size_t swap = (2 * block * columns + 1) * bytes;
    size_t candidates = 2 * (4 + 2 * block) * bytes + (block + 1) * sizeof(int32_t);
    size_t most = tournament > swap ? tournament : swap;
    return (most > candidates ? most : candidates) + 64;
}

struct run {
    struct lu *lu;
    struct lu_panel panels[2];
    char *u; /* of the widest update */
    int tournament;
};

static int64_t column_of(const struct lu *lu, int64_t j)
{
    return dense_axis_before(&lu->columns, j);
}

/* Factors the panel, if it lies here, and begins to send or to receive it. */
static int start(struct run *run, struct lu_panel *panel)
{
    struct lu *lu = run->lu;
    int owner = dense_axis_owner(&lu->columns, panel->begin), error = 0;
    if (owner == lu->columns.at)
        error = lu_panel_factor(lu, panel, run->tournament);
    return error < 0 ? error : dense_cast_begin(&panel->cast, lu->of_row, lu->bcast, owner);
}

/* ---- The update ------------------------------------------------------------------------------ */

/* Interchanges and computes U; afterwards it stands in u, and where the panel's rows are also in
 * the matrix. */
static int make_u(struct run *run, const struct lu_panel *panel, const int64_t columns[2],
                  struct dense_view *u)
{
    struct lu *lu = run->lu;
    int64_t row = dense_axis_before(&lu->rows, panel->begin), width = columns[1] - columns[0];
    struct dense_view all =
        dense_part(lu->kernel, &lu->a, (int64_t[]){0, columns[0]}, (int64_t[]){lu->a.m, width});
    struct dense_view top =
        dense_part(lu->kernel, &all, (int64_t[]){row, 0}, (int64_t[]){panel->width, width});
    if (lu->rows.of == 1) {
        lu->kernel->swap(&all, panel->begin, panel->begin + panel->width, lu->places);
        lu->kernel->trsm(DENSE_UNIT, &panel->top, &top);
        *u = top;
        return 0;
    }
    *u = (struct dense_view){run->u, panel->width, width, panel->width, 0};
    int error = lu_swap(lu, panel, columns, u);
    if (error < 0)
        return error;
    lu->kernel->trsm(DENSE_UNIT, &panel->top, u);
    if (dense_axis_owner(&lu->rows, panel->begin) == lu->rows.at)
        dense_copy(lu->kernel, u, &top);
    return 0;
}

static int update(struct run *run, struct lu_panel *panel, struct lu_panel *next,
                  const int64_t columns[2])
{
    struct lu *lu = run->lu;
    struct dense_view u;
    int64_t row = dense_axis_before(&lu->rows, panel->begin + panel->width);
    int error = 0, is_whole = lu->rows.of > 1; /* U is there at once, for it comes by messages */
    if (columns[0] >= columns[1])
        return 0;
    if (is_whole)
        error = make_u(run, panel, columns, &u);
    int64_t slice = lu->columns.of > 2 ? SLICE_COLUMNS : SLICE_COLUMNS_PAIR;
    for (int64_t j = columns[0]; error >= 0 && j < columns[1]; j += slice) {
        int64_t end = j + slice < columns[1] ? j + slice : columns[1];
        struct dense_view b;
        if (is_whole)
            b = dense_part(lu->kernel, &u, (int64_t[]){0, j - columns[0]},
                           (int64_t[]){u.m, end - j});
        else
            error = make_u(run, panel, (int64_t[]){j, end}, &b);
        if (error < 0)
            break;
        struct dense_view c = dense_part(lu->kernel, &lu->a, (int64_t[]){row, j},
                                         (int64_t[]){lu->a.m - row, end - j});
        lu->kernel->gemm(lu->kernel->minus_one, &panel->below, &b, &c);
        if (next != NULL)
            error = dense_cast_poll(&next->cast);
    }
    return error < 0 ? error : 0;
}

/* ---- The steps ------------------------------------------------------------------------------- */

/* The columns of the next panel come first where it lies, and then it is on its way. */
static int step_ahead(struct run *run, struct lu_panel *panel, struct lu_panel *next,
                      int64_t columns[2])
{
    struct lu *lu = run->lu;
    int error = 0;
    lu_panel_set(lu, next, panel->begin + panel->width);
    if (dense_axis_owner(&lu->columns, next->begin) == lu->columns.at) {
        int64_t narrow[] = {columns[0], columns[0] + next->width};
        error = update(run, panel, NULL, narrow);
        columns[0] = narrow[1];
    }
    return error < 0 ? error : start(run, next);
}

static int step(struct run *run, struct lu_panel *panel, struct lu_panel *next, int lookahead)
{
    struct lu *lu = run->lu;
    int64_t end = panel->begin + panel->width, columns[] = {column_of(lu, end), lu->a.n};
    int error = dense_cast_wait(&panel->cast);
    if (error < 0)
        return error;
    lu_panel_pivots(lu, panel);
    if (end < lu->least && lookahead)
        error = step_ahead(run, panel, next, columns);
    if (error >= 0)
        error = update(run, panel, end < lu->least && lookahead ? next : NULL, columns);
    if (error >= 0 && end < lu->least && !lookahead) {
        lu_panel_set(lu, next, end);
        error = start(run, next);
    }
    return error < 0 ? error : dense_cast_end(&panel->cast);
}

static int run_steps(struct run *run, int lookahead)
{
    struct lu *lu = run->lu;
    int64_t block = lu->plan->setting.block;
    int error = 0, at = 0;
    if (lu->least == 0)
        return 0;
    lu_panel_set(lu, &run->panels[0], 0);
    error = start(run, &run->panels[0]);
    for (int64_t begin = 0; error >= 0 && begin < lu->least; begin += block, at = 1 - at)
        error = step(run, &run->panels[at], &run->panels[1 - at], lookahead);
    return error < 0 || lu->solves_alone ? error : lu_swap_left(lu);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static int create(struct lu *lu, struct run *run)
{
    size_t block = (size_t)lu->plan->setting.block, bytes = lu->kernel->bytes;
    size_t panel = lu_panel_elements(lu) * bytes;
    run->panels[0].memory = malloc(panel);
    run->panels[1].memory = malloc(panel);
    run->u = malloc((block * (size_t)lu->a.n + 1) * bytes);
    lu->work = malloc(lu_work_bytes(lu));
    lu->places = malloc(((size_t)lu->least + 1) * sizeof *lu->places);
    int64_t *moves = malloc(4 * block * sizeof *moves);
    lu->moves = (struct lu_moves){.top_from = moves,
                                  .outside_row = moves + block,
                                  .outside_from = moves + 2 * block,
                                  .places = moves + 3 * block};
    return run->panels[0].memory != NULL && run->panels[1].memory != NULL && run->u != NULL &&
                   lu->work != NULL && lu->places != NULL && moves != NULL
               ? 0
               : domain_fail(COVEY_ENOMEM, "no memory for the panels of a factorization");
}

static void destroy(struct lu *lu, struct run *run)
{
    for (int i = 0; i < 2; i++) {
        dense_cast_free(&run->panels[i].cast);
        free(run->panels[i].memory);
    }
    free(run->u);
    free(lu->work);
    free(lu->places);
    free(lu->moves.top_from);
}

int lu_factor(struct lu *lu, int tournament, int lookahead)
{
    covey_dense_t *plan = lu->plan;
    struct run run = {.lu = lu, .tournament = tournament};
    int inside = plan->row >= 0;
    int error = dense_agree(plan, inside ? create(lu, &run) : 0);
    if (error == 0 && inside) {
        int threads = dense_threads(plan->threads);
        error = run_steps(&run, lookahead);
        dense_threads(threads);
        if (error < 0)
            dense_broken(plan, error);
    }
    if (inside)
        destroy(lu, &run);
    return error;
}
