/*
 * lu_panel.c - the factorization of one panel by the processes of a column of the grid.
 *
 * Alone in its column a process calls LAPACK. Otherwise it is one of
 *
 *   partial pivoting   as HPL (netlib.org/benchmark/hpl): each column costs one exchange among all,
 *                      which finds the largest element and brings its row, and the row in whose
 *                      place it comes, to everybody. Every process has the rows that are chosen,
 * and updates its own by halves of columns, which BLAS does as products. tournament (Grigori,
 * Demmel, Xiang: CALU, 2011, section 2): each process chooses as many rows as the panel has columns
 * out of its own, and up a tree two choices become one. All hear of the last one: two messages a
 * level in the place of one a column. A panel that is exactly singular is factored by partial
 * pivoting again, whose results are then defined.
 */
#include <math.h>
#include <string.h>

#include "lib/domain/dense/lu_run.h"

#define LEAF 8 /* columns that are updated one after another */
#define TAG_PIVOT 0x706976
#define TAG_CHOICE 0x63686f

size_t lu_panel_elements(const struct lu *lu)
{
    size_t width = (size_t)lu->plan->setting.block;
    return 2 * (width + 1) + (width + (size_t)lu->a.m) * width;
}

void lu_panel_set(const struct lu *lu, struct lu_panel *panel, int64_t begin)
{
    int64_t block = lu->plan->setting.block, rest = lu->least - begin;
    panel->begin = begin;
    panel->width = rest < block ? rest : block;
    int64_t below = lu->a.m - dense_axis_before(&lu->rows, begin + panel->width);
    char *matrix = (char *)panel->memory + (size_t)(2 * (panel->width + 1)) * lu->kernel->bytes;
    panel->top = (struct dense_view){matrix, panel->width, panel->width, panel->width + below, 0};
    panel->below = (struct dense_view){dense_at(lu->kernel, &panel->top, panel->width, 0), below,
                                       panel->width, panel->width + below, 0};
    panel->cast.type = lu->kernel->type;
    panel->cast.base = panel->memory;
    panel->cast.count = (size_t)(2 * (panel->width + 1) + panel->top.ld * panel->width);
}

static void *pair(const struct lu *lu, const struct lu_panel *panel, int64_t i)
{
    return (char *)panel->memory + (size_t)(2 * i) * lu->kernel->bytes;
}

static void set_pivot(const struct lu *lu, const struct lu_panel *panel, int64_t i, int64_t row)
{
    lu->kernel->encode(row, pair(lu, panel, 1 + i));
}

/* Column i of the panel has a pivot of 0. */
static void set_singular(const struct lu *lu, const struct lu_panel *panel, int64_t i)
{
    if (lu->kernel->decode(pair(lu, panel, 0)) == 0)
        lu->kernel->encode(panel->begin + i + 1, pair(lu, panel, 0));
}

void lu_panel_pivots(struct lu *lu, const struct lu_panel *panel)
{
    int64_t info = lu->kernel->decode(pair(lu, panel, 0));
    if (lu->info == 0)
        lu->info = info;
    for (int64_t i = 0; i < panel->width; i++) {
        int64_t row = lu->kernel->decode(pair(lu, panel, 1 + i));
        lu->pivots[panel->begin + i] = row;
        lu->places[panel->begin + i] = (int32_t)row + 1;
    }
}

/* ---- The local rows -------------------------------------------------------------------------- */

/* The rows of the panel that lie here; `own_top` of them are the panel's first ones. */
struct local {
    struct dense_view a;
    int64_t first; /* local row of the first one */
    int64_t own_top;
};

static struct local local_of(const struct lu *lu, const struct lu_panel *panel)
{
    struct local local = {.first = dense_axis_before(&lu->rows, panel->begin)};
    int64_t column = dense_axis_local(&lu->columns, panel->begin);
    local.a = dense_part(lu->kernel, &lu->a, (int64_t[]){local.first, column},
                         (int64_t[]){lu->a.m - local.first, panel->width});
    local.own_top = dense_axis_before(&lu->rows, panel->begin + panel->width) - local.first;
    return local;
}

/* The first local row, of these, that is still to be chosen in step i. */
static int64_t active(const struct local *local, int64_t i)
{
    return i < local->own_top ? i : local->own_top;
}

static struct dense_view block_of(const struct lu *lu, const struct dense_view *a, int64_t row,
                                  const int64_t columns[2])
{
    return dense_part(lu->kernel, a, (int64_t[]){row, columns[0]},
                      (int64_t[]){a->m - row, columns[1] - columns[0]});
}

/* What was factored to the array of the panel, or the top of it to the matrix. */
static void publish(const struct lu *lu, const struct lu_panel *panel, const struct local *local)
{
    struct dense_view top = local->a, below = local->a;
    top.m = local->own_top;
    below.m -= local->own_top;
    below.at = dense_at(lu->kernel, &local->a, local->own_top, 0);
    if (local->own_top > 0)
        dense_copy(lu->kernel, &panel->top, &top);
    dense_copy(lu->kernel, &below, &panel->below);
}

/* ---- Alone ----------------------------------------------------------------------------------- */

static void factor_alone(struct lu *lu, struct lu_panel *panel)
{
    struct local local = local_of(lu, panel);
    struct dense_view top = local.a;
    int32_t *pivots = (int32_t *)lu->work;
    int info = lu->kernel->getrf(&local.a, pivots);
    for (int64_t i = 0; i < panel->width; i++)
        set_pivot(lu, panel, i, panel->begin + pivots[i] - 1);
    if (info > 0)
        set_singular(lu, panel, info - 1);
    top.m = panel->width;
    dense_copy(lu->kernel, &top, &panel->top);
    publish(lu, panel, &local);
}

/* ---- Partial pivoting ------------------------------------------------------------------------ */

/* One candidate, as it is sent: the pair of its row, the pair of whether `current` is there, and
 * two rows of the panel's width. A member without rows names one that is not in the matrix. */
struct candidate {
    char *row, *known, *chosen, *current;
};

static size_t candidate_elements(int64_t width)
{
    return 4 + 2 * (size_t)width;
}

static struct candidate candidate_at(const struct lu *lu, char *memory, int64_t width)
{
    size_t bytes = lu->kernel->bytes;
    return (struct candidate){memory, memory + 2 * bytes, memory + 4 * bytes,
                              memory + (4 + (size_t)width) * bytes};
}

/* A row of the view between it and an array. */
static void copy_row(const struct lu *lu, const struct dense_view *a, int64_t row, char *array,
                     int to_view)
{
    size_t bytes = lu->kernel->bytes;
    for (int64_t j = 0; j < a->n; j++, array += bytes) {
        void *at = dense_at(lu->kernel, a, row, j);
        memcpy(to_view ? at : array, to_view ? array : at, bytes);
    }
}

static void candidate_set(const struct lu *lu, const struct local *local, int64_t i,
                          const struct candidate *c)
{
    int64_t from = active(local, i), is_owner = i < local->own_top;
    int64_t best = lu->kernel->largest(local->a.m - from, dense_at(lu->kernel, &local->a, from, i));
    lu->kernel->encode(best < 0 ? lu->m : dense_axis_global(&lu->rows, local->first + from + best),
                       c->row);
    lu->kernel->encode(is_owner, c->known);
    if (best >= 0)
        copy_row(lu, &local->a, from + best, c->chosen, 0);
    if (is_owner)
        copy_row(lu, &local->a, i, c->current, 0);
}

/* The larger one, and of equals the upper; NaN is above all, so that it is seen by everybody. */
static int is_better(const struct lu *lu, int64_t i, const struct candidate *left,
                     const struct candidate *right)
{
    int64_t rows[] = {lu->kernel->decode(left->row), lu->kernel->decode(right->row)};
    if (rows[0] >= lu->m || rows[1] >= lu->m)
        return rows[0] < rows[1];
    double sizes[] = {lu->kernel->size(left->chosen + (size_t)i * lu->kernel->bytes),
                      lu->kernel->size(right->chosen + (size_t)i * lu->kernel->bytes)};
    for (int k = 0; k < 2; k++)
        sizes[k] = isnan(sizes[k]) ? INFINITY : sizes[k];
    return sizes[0] > sizes[1] || (sizes[0] >= sizes[1] && rows[0] < rows[1]);
}

static void candidate_merge(const struct lu *lu, const struct lu_panel *panel, int64_t i,
                            char *mine, char *theirs)
{
    struct candidate a = candidate_at(lu, mine, panel->width);
    struct candidate b = candidate_at(lu, theirs, panel->width);
    size_t row = (size_t)panel->width * lu->kernel->bytes;
    if (lu->kernel->decode(b.known) == 1) {
        memcpy(a.current, b.current, row);
        memcpy(a.known, b.known, 2 * lu->kernel->bytes);
    }
    if (!is_better(lu, i, &b, &a))
        return;
    memcpy(a.row, b.row, 2 * lu->kernel->bytes);
    memcpy(a.chosen, b.chosen, row);
}

/* Binary exchange: those behind the largest power of two give theirs to one before it, and hear of
 * the result from it. */
static int candidate_agree(const struct lu *lu, const struct lu_panel *panel, int64_t i)
{
    covey_team_t *team = lu->of_column;
    int size = covey_team_size(team), rank = covey_team_rank(team), half = 1, error = 0;
    size_t count = candidate_elements(panel->width), got;
    char *mine = lu->work, *theirs = mine + count * lu->kernel->bytes;
    while (2 * half <= size)
        half *= 2;
    if (rank >= half) {
        error = covey_team_send_array(team, rank - half, TAG_PIVOT, lu->kernel->type, mine, count);
        return error < 0 ? error
                         : covey_team_recv_array(team, rank - half, TAG_PIVOT, COVEY_FOREVER,
                                                 lu->kernel->type, mine, count, &got);
    }
    if (rank + half < size) {
        error = covey_team_recv_array(team, rank + half, TAG_PIVOT, COVEY_FOREVER, lu->kernel->type,
                                      theirs, count, &got);
        if (error >= 0)
            candidate_merge(lu, panel, i, mine, theirs);
    }
    for (int step = 1; error >= 0 && step < half; step *= 2) {
        error = covey_team_sendrecv_array(team, rank ^ step, rank ^ step, TAG_PIVOT, COVEY_FOREVER,
                                          lu->kernel->type, mine, count, theirs, count, &got);
        if (error >= 0)
            candidate_merge(lu, panel, i, mine, theirs);
    }
    if (error >= 0 && rank + half < size)
        error = covey_team_send_array(team, rank + half, TAG_PIVOT, lu->kernel->type, mine, count);
    return error;
}

/* The rows change places, here as far as they lie here. */
static void interchange(const struct lu *lu, struct lu_panel *panel, const struct local *local,
                        int64_t i)
{
    struct candidate c = candidate_at(lu, lu->work, panel->width);
    int64_t row = lu->kernel->decode(c.row);
    set_pivot(lu, panel, i, row);
    if (dense_axis_owner(&lu->rows, row) == lu->rows.at)
        copy_row(lu, &local->a, dense_axis_local(&lu->rows, row) - local->first, c.current, 1);
    if (i < local->own_top)
        copy_row(lu, &local->a, i, c.chosen, 1);
    copy_row(lu, &panel->top, i, c.chosen, 1);
}

static int factor_column(struct lu *lu, struct lu_panel *panel, const struct local *local,
                         int64_t i, int64_t end)
{
    const struct dense_kernel *kernel = lu->kernel;
    struct candidate c = candidate_at(lu, lu->work, panel->width);
    candidate_set(lu, local, i, &c);
    int error = candidate_agree(lu, panel, i);
    if (error < 0)
        return error;
    interchange(lu, panel, local, i);
    int64_t from = active(local, i + 1);
    void *pivot = dense_at(kernel, &panel->top, i, i), *x = dense_at(kernel, &local->a, from, i);
    if (kernel->size(pivot) == 0)
        set_singular(lu, panel, i);
    else
        kernel->divide(local->a.m - from, x, pivot);
    struct dense_view rest = block_of(lu, &local->a, from, (int64_t[]){i + 1, end});
    if (i + 1 < end)
        kernel->update1(&rest, x, dense_at(kernel, &panel->top, i, i + 1), panel->top.ld);
    return 0;
}

/* Columns [begin, end) by halves: the left one, what it makes of the right one, and that. */
static int factor_columns(struct lu *lu, struct lu_panel *panel, const struct local *local,
                          const int64_t range[2])
{
    int64_t begin = range[0], end = range[1], middle = (begin + end) / 2;
    int error = 0;
    if (end - begin <= LEAF) {
        for (int64_t i = begin; error >= 0 && i < end; i++)
            error = factor_column(lu, panel, local, i, end);
        return error;
    }
    error = factor_columns(lu, panel, local, (int64_t[]){begin, middle});
    if (error < 0)
        return error;
    const int64_t left[] = {begin, middle}, right[] = {middle, end};
    struct dense_view lower = block_of(lu, &panel->top, begin, left);
    struct dense_view upper = block_of(lu, &panel->top, begin, right);
    lower.m = upper.m = middle - begin;
    lu->kernel->trsm(DENSE_UNIT, &lower, &upper);
    int64_t from = active(local, middle);
    struct dense_view l = block_of(lu, &local->a, from, left);
    struct dense_view rest = block_of(lu, &local->a, from, right);
    lu->kernel->gemm(lu->kernel->minus_one, &l, &upper, &rest);
    return factor_columns(lu, panel, local, right);
}

static int factor_partial(struct lu *lu, struct lu_panel *panel)
{
    struct local local = local_of(lu, panel);
    int error = factor_columns(lu, panel, &local, (int64_t[]){0, panel->width});
    if (error >= 0)
        publish(lu, panel, &local);
    return error;
}

/* ---- Tournament ------------------------------------------------------------------------------ */

/* Rows that were chosen, as they are sent: the pair of how many, `width` pairs of which, and their
 * elements by columns, with ld = width. The same array brings the result to all: then the pair says
 * whether it can be used, and the matrix is that of the factors. */
struct choice {
    char *count, *rows;
    struct dense_view a;
};

static size_t choice_elements(int64_t width)
{
    return (size_t)(2 * (width + 1) + width * width);
}

static struct choice choice_at(const struct lu *lu, char *memory, int64_t width)
{
    size_t bytes = lu->kernel->bytes;
    return (struct choice){memory,
                           memory + 2 * bytes,
                           {memory + (size_t)(2 * (width + 1)) * bytes, width, width, width, 0}};
}

static void *choice_row(const struct lu *lu, const struct choice *c, int64_t i)
{
    return c->rows + (size_t)(2 * i) * lu->kernel->bytes;
}

/* What is compared: rows of the panel, of which `order` is the order in which they stand after the
 * interchanges that LAPACK made in `factors`. */
struct heat {
    struct dense_view rows, factors;
    int64_t *order;
    int32_t *pivots;
};

static void heat_run(const struct lu *lu, struct heat *heat)
{
    int64_t least = heat->rows.m < heat->rows.n ? heat->rows.m : heat->rows.n;
    dense_copy(lu->kernel, &heat->rows, &heat->factors);
    lu->kernel->getrf(&heat->factors, heat->pivots);
    for (int64_t i = 0; i < heat->rows.m; i++)
        heat->order[i] = i;
    for (int64_t i = 0; i < least; i++) {
        int64_t other = heat->pivots[i] - 1, row = heat->order[i];
        heat->order[i] = heat->order[other];
        heat->order[other] = row;
    }
}

/* Memory of a tournament: two choices, the rows of a heat, its factors, order and pivots. */
struct arena {
    struct choice mine, theirs;
    struct heat heat;
    int64_t *numbers; /* [2 width]: rows of both choices */
};

static struct arena arena_of(const struct lu *lu, int64_t width)
{
    size_t bytes = lu->kernel->bytes, tall = (size_t)lu->a.m + 3 * (size_t)width;
    char *at = lu->work, *rows = at + 2 * choice_elements(width) * bytes;
    char *factors = rows + 2 * (size_t)(width * width) * bytes;
    size_t before = (size_t)(factors - at) + tall * (size_t)width * bytes;
    char *order = at + (before + sizeof(int64_t) - 1) / sizeof(int64_t) * sizeof(int64_t);
    return (struct arena){
        choice_at(lu, at, width),
        choice_at(lu, at + choice_elements(width) * bytes, width),
        {{rows, 0, width, 2 * width, 0},
         {factors, 0, width, (int64_t)tall, 0},
         (int64_t *)(void *)order,
         (int32_t *)(void *)(order + (tall + 2 * (size_t)width) * sizeof(int64_t))},
        (int64_t *)(void *)order + tall};
}

/* The best rows of what lies here. */
static void choose_own(const struct lu *lu, struct arena *arena, const struct local *local)
{
    struct heat heat = arena->heat;
    int64_t width = arena->mine.a.n, count = local->a.m < width ? local->a.m : width;
    heat.rows = local->a;
    heat.factors.m = local->a.m;
    heat_run(lu, &heat);
    lu->kernel->encode(count, arena->mine.count);
    for (int64_t i = 0; i < count; i++) {
        struct dense_view from =
            dense_part(lu->kernel, &local->a, (int64_t[]){heat.order[i], 0}, (int64_t[]){1, width});
        struct dense_view to =
            dense_part(lu->kernel, &arena->mine.a, (int64_t[]){i, 0}, (int64_t[]){1, width});
        dense_copy(lu->kernel, &from, &to);
        lu->kernel->encode(dense_axis_global(&lu->rows, local->first + heat.order[i]),
                           choice_row(lu, &arena->mine, i));
    }
}

/* The best rows of both become mine; the factors stay in the heat. */
static void choose_of_two(const struct lu *lu, struct arena *arena)
{
    const struct dense_kernel *kernel = lu->kernel;
    const struct choice *both[] = {&arena->mine, &arena->theirs};
    struct heat *heat = &arena->heat;
    int64_t width = arena->mine.a.n, *numbers = arena->numbers, total = 0;
    for (int side = 0; side < 2; side++) {
        int64_t count = kernel->decode(both[side]->count);
        struct dense_view from = both[side]->a, to = heat->rows;
        from.m = to.m = count;
        to.at = dense_at(kernel, &heat->rows, total, 0);
        dense_copy(kernel, &from, &to);
        for (int64_t i = 0; i < count; i++)
            numbers[total + i] = kernel->decode(choice_row(lu, both[side], i));
        total += count;
    }
    heat->rows.m = heat->factors.m = total;
    heat_run(lu, heat);
    total = total < width ? total : width;
    kernel->encode(total, arena->mine.count);
    for (int64_t i = 0; i < total; i++) {
        struct dense_view from =
            dense_part(kernel, &heat->rows, (int64_t[]){heat->order[i], 0}, (int64_t[]){1, width});
        struct dense_view to =
            dense_part(kernel, &arena->mine.a, (int64_t[]){i, 0}, (int64_t[]){1, width});
        dense_copy(kernel, &from, &to);
        kernel->encode(numbers[heat->order[i]], choice_row(lu, &arena->mine, i));
    }
}

/* The root tells whether its factors are good, and them. */
static void announce(const struct lu *lu, struct arena *arena)
{
    struct dense_view factors = arena->heat.factors;
    int good = 1;
    factors.m = arena->mine.a.m;
    dense_copy(lu->kernel, &factors, &arena->mine.a);
    for (int64_t i = 0; i < factors.n; i++) {
        double size = lu->kernel->size(dense_at(lu->kernel, &factors, i, i));
        good &= isfinite(size) && size > 0;
    }
    lu->kernel->encode(good, arena->mine.count);
}

/* Up a binomial tree to the process that has the panel's first rows, and from there to all: the
 * choice is then the same at all, whatever the last bits of their processors' factors are. */
static int play(const struct lu *lu, struct arena *arena, int root)
{
    covey_team_t *team = lu->of_column;
    int size = covey_team_size(team), at = (covey_team_rank(team) - root + size) % size;
    size_t count = choice_elements(arena->mine.a.n), got;
    for (int step = 1; step < size; step *= 2) {
        if (at & step) {
            int error = covey_team_send_array(team, (at - step + root) % size, TAG_CHOICE,
                                              lu->kernel->type, arena->mine.count, count);
            if (error < 0)
                return error;
            break;
        }
        if (at + step >= size)
            continue;
        int error =
            covey_team_recv_array(team, (at + step + root) % size, TAG_CHOICE, COVEY_FOREVER,
                                  lu->kernel->type, arena->theirs.count, count, &got);
        if (error < 0)
            return error;
        choose_of_two(lu, arena);
    }
    if (at == 0)
        announce(lu, arena);
    return covey_bcast(team, root, lu->kernel->type, arena->mine.count, count);
}

/* Interchanges that bring the chosen rows to the top, as LAPACK's pivots. `places` is what stands
 * at each row of the panel and at each chosen row behind it. */
static void set_pivots(const struct lu *lu, struct lu_panel *panel, const struct choice *choice,
                       int64_t *places)
{
    int64_t width = panel->width, *where = places + width, *rows = where + width;
    for (int64_t i = 0; i < width; i++) {
        places[i] = panel->begin + i;
        where[i] = rows[i] = lu->kernel->decode(choice_row(lu, choice, i));
    }
    for (int64_t i = 0; i < width; i++) {
        /* the row to come stands at where[i]; what it replaces goes there */
        int64_t at = rows[i] < panel->begin + width ? -1 : rows[i];
        for (int64_t k = 0; at < 0 && k < width; k++)
            if (places[k] == rows[i])
                at = panel->begin + k;
        for (int64_t k = 0; at < 0 && k < i; k++)
            if (where[k] == rows[i])
                at = rows[k];
        set_pivot(lu, panel, i, at);
        if (at < panel->begin + width)
            places[at - panel->begin] = places[i];
        for (int64_t k = 0; at >= panel->begin + width && k < width; k++)
            if (rows[k] == at)
                where[k] = places[i];
        places[i] = rows[i];
    }
}

static int factor_tournament(struct lu *lu, struct lu_panel *panel)
{
    struct local local = local_of(lu, panel);
    struct arena arena = arena_of(lu, panel->width);
    choose_own(lu, &arena, &local);
    int error = play(lu, &arena, dense_axis_owner(&lu->rows, panel->begin));
    if (error < 0)
        return error;
    if (lu->kernel->decode(arena.mine.count) != 1)
        return factor_partial(lu, panel);
    set_pivots(lu, panel, &arena.mine, arena.heat.order);
    dense_copy(lu->kernel, &arena.mine.a, &panel->top);
    lu_panel_pivots(lu, panel);
    int64_t column = dense_axis_local(&lu->columns, panel->begin);
    error = lu_swap_out(lu, panel, (int64_t[]){column, column + panel->width});
    if (error < 0)
        return error;
    struct dense_view below = local.a;
    below.m -= local.own_top;
    below.at = dense_at(lu->kernel, &local.a, local.own_top, 0);
    lu->kernel->trsm(DENSE_RIGHT | DENSE_UPPER, &panel->top, &below);
    publish(lu, panel, &local);
    return 0;
}

int lu_panel_factor(struct lu *lu, struct lu_panel *panel, int tournament)
{
    lu->kernel->encode(0, pair(lu, panel, 0));
    if (lu->rows.of > 1)
        return tournament ? factor_tournament(lu, panel) : factor_partial(lu, panel);
    factor_alone(lu, panel);
    return 0;
}
