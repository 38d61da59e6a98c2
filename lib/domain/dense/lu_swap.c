/*
 * lu_swap.c - the interchanges of rows. A panel of some width is interchanged with rows anywhere
 * behind it. Of the columns that are still to be factored every process needs the rows that come to
 * the top, U; the rows that went away go to the places of these.
 *
 *   binary   the processes of a column gather U by binary exchange: log2(P) messages
 *   roll     by the library's ring: P - 1 messages, each of a P-th part
 *
 * Rows that went away are sent by the process that has the panel's rows, to each one that gets
 * some. Columns before the panels get all interchanges at the end, by one all-to-all for each
 * block.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/domain/dense/lu_run.h"

#define TAG_OUT 0x6f7574
#define TAG_ROWS 0x726f77

/* ---- Where rows go --------------------------------------------------------------------------- */

static void exchange(int64_t *a, int64_t *b)
{
    int64_t kept = *a;
    *a = *b;
    *b = kept;
}

static int64_t *outside_of(struct lu_moves *moves, int64_t row)
{
    for (int64_t i = 0; i < moves->outside; i++)
        if (moves->outside_row[i] == row)
            return &moves->outside_from[i];
    moves->outside_row[moves->outside] = row;
    moves->outside_from[moves->outside] = row;
    return &moves->outside_from[moves->outside++];
}

static void moves_set(struct lu *lu, int64_t begin, int64_t width)
{
    struct lu_moves *moves = &lu->moves;
    moves->count = width;
    moves->outside = 0;
    for (int64_t i = 0; i < width; i++)
        moves->top_from[i] = begin + i;
    for (int64_t i = 0; i < width; i++) {
        int64_t row = lu->pivots[begin + i];
        exchange(&moves->top_from[i],
                 row < begin + width ? &moves->top_from[row - begin] : outside_of(moves, row));
    }
}

/* ---- Rows of several processes --------------------------------------------------------------- */

static int owner_of(const struct lu *lu, int64_t row)
{
    return dense_axis_owner(&lu->rows, row);
}

static int64_t owned(const struct lu *lu, const int64_t *rows, int64_t count, int owner)
{
    int64_t sum = 0;
    for (int64_t i = 0; i < count; i++)
        sum += owner_of(lu, rows[i]) == owner;
    return sum;
}

/* Of these rows of the matrix those where owners[i] belongs to `owner`. */
struct pick {
    const int64_t *rows, *owners;
    int64_t count;
    int owner;
};

/* Between those rows of the view and an array by columns. */
static void pick_copy(const struct lu *lu, const struct dense_view *a, const struct pick *pick,
                      char *array, int to_view)
{
    int64_t *places = lu->moves.places, count = 0;
    for (int64_t i = 0; i < pick->count; i++)
        if (owner_of(lu, pick->owners[i]) == pick->owner)
            places[count++] = dense_axis_local(&lu->rows, pick->rows[i]);
    if (to_view)
        lu->kernel->put(a, places, count, array);
    else
        lu->kernel->pick(a, places, count, array);
}

/* ---- U --------------------------------------------------------------------------------------- */

/* The parts of U of all processes, one after another in an order in which those of each round of
 * the exchange stand together: behind each process the one that gives it its part at first. */
struct parts {
    int size, half; /* processes, and the largest power of two that is not above */
    int64_t columns;
    char *memory;
};

static int parts_rank(const struct parts *parts, int place)
{
    int pairs = parts->size - parts->half;
    return place >= 2 * pairs ? place - pairs : place % 2 ? place / 2 + parts->half : place / 2;
}

static int parts_place(const struct parts *parts, int rank)
{
    int pairs = parts->size - parts->half;
    return rank >= parts->half ? 2 * (rank - parts->half) + 1
           : rank < pairs      ? 2 * rank
                               : rank + pairs;
}

/* Elements before that place. */
static size_t parts_start(const struct lu *lu, const struct parts *parts, int place)
{
    int64_t rows = 0;
    for (int i = 0; i < place; i++)
        rows += owned(lu, lu->moves.top_from, lu->moves.count, parts_rank(parts, i));
    return (size_t)(rows * parts->columns);
}

static char *parts_at(const struct lu *lu, const struct parts *parts, int place)
{
    return parts->memory + parts_start(lu, parts, place) * lu->kernel->bytes;
}

/* The places [begin, end) of the processes that rank `first` and the `step` - 1 behind it stand
 * for. */
static void parts_range(const struct parts *parts, int first, int step, int range[2])
{
    range[0] = parts_place(parts, first);
    range[1] = first + step < parts->half ? parts_place(parts, first + step) : parts->size;
}

static int swap_ranges(const struct lu *lu, const struct parts *parts, int other, const int mine[2],
                       const int theirs[2])
{
    size_t got;
    size_t out = parts_start(lu, parts, mine[1]) - parts_start(lu, parts, mine[0]);
    size_t in = parts_start(lu, parts, theirs[1]) - parts_start(lu, parts, theirs[0]);
    return covey_team_sendrecv_array(lu->of_column, other, other, TAG_ROWS, COVEY_FOREVER,
                                     lu->kernel->type, parts_at(lu, parts, mine[0]), out,
                                     parts_at(lu, parts, theirs[0]), in, &got);
}

static int gather_binary(const struct lu *lu, const struct parts *parts)
{
    covey_team_t *team = lu->of_column;
    int rank = covey_team_rank(team), half = parts->half, error = 0, all[] = {0, parts->size};
    const int none[] = {0, 0};
    if (rank >= half) {
        int own[] = {parts_place(parts, rank), parts_place(parts, rank) + 1};
        error = swap_ranges(lu, parts, rank - half, own, none);
        return error < 0 ? error : swap_ranges(lu, parts, rank - half, none, all);
    }
    if (rank + half < parts->size) {
        int its[] = {parts_place(parts, rank + half), parts_place(parts, rank + half) + 1};
        error = swap_ranges(lu, parts, rank + half, none, its);
    }
    for (int step = 1; error >= 0 && step < half; step *= 2) {
        int mine[2], theirs[2], first = rank / step * step;
        parts_range(parts, first, step, mine);
        parts_range(parts, first ^ step, step, theirs);
        error = swap_ranges(lu, parts, rank ^ step, mine, theirs);
    }
    if (error >= 0 && rank + half < parts->size)
        error = swap_ranges(lu, parts, rank + half, all, none);
    return error;
}

static int gather_roll(const struct lu *lu, const struct parts *parts)
{
    size_t *counts = calloc(2 * (size_t)parts->size, sizeof *counts);
    if (counts == NULL)
        return COVEY_ENOMEM;
    size_t *starts = counts + parts->size;
    for (int i = 0; i < parts->size; i++) {
        int rank = parts_rank(parts, i);
        starts[rank] = parts_start(lu, parts, i);
        counts[rank] = parts_start(lu, parts, i + 1) - starts[rank];
    }
    char *own = parts->memory + starts[lu->rows.at] * lu->kernel->bytes;
    int error =
        covey_allgatherv(lu->of_column, lu->kernel->type, own, parts->memory, counts, starts);
    free(counts);
    return error;
}

static void unpack(const struct lu *lu, const struct parts *parts, struct dense_view *u)
{
    for (int place = 0; place < parts->size; place++) {
        int owner = parts_rank(parts, place);
        int64_t *rows = lu->moves.places, count = 0;
        for (int64_t i = 0; i < lu->moves.count; i++)
            if (owner_of(lu, lu->moves.top_from[i]) == owner)
                rows[count++] = i;
        lu->kernel->put(u, rows, count, parts_at(lu, parts, place));
    }
}

/* ---- Rows that went away --------------------------------------------------------------------- */

/* The owner of the panel's rows sends to each process what comes to its rows. */
static int send_out(const struct lu *lu, const struct dense_view *a, int root, char *memory)
{
    const struct lu_moves *moves = &lu->moves;
    int size = lu->rows.of, error = 0;
    covey_req_t **sends = calloc((size_t)size, sizeof(covey_req_t *));
    if (sends == NULL)
        return COVEY_ENOMEM;
    for (int to = 0; error >= 0 && to < size; to++) {
        size_t count = (size_t)(owned(lu, moves->outside_row, moves->outside, to) * a->n);
        struct pick from = {moves->outside_from, moves->outside_row, moves->outside, to};
        struct pick own = {moves->outside_row, moves->outside_row, moves->outside, to};
        if (count == 0)
            continue;
        pick_copy(lu, a, &from, memory, 0);
        if (to == root)
            pick_copy(lu, a, &own, memory, 1);
        else
            error = covey_team_isend_array(lu->of_column, to, TAG_OUT, lu->kernel->type, memory,
                                           count, &sends[to]);
        memory += count * lu->kernel->bytes;
    }
    if (error >= 0)
        error = covey_wait_all(sends, (size_t)size, COVEY_FOREVER);
    for (int to = 0; to < size; to++)
        covey_req_free(&sends[to]);
    free(sends);
    return error;
}

static int receive_out(const struct lu *lu, const struct dense_view *a, int root, char *memory)
{
    const struct lu_moves *moves = &lu->moves;
    struct pick own = {moves->outside_row, moves->outside_row, moves->outside, lu->rows.at};
    size_t got, count = (size_t)(owned(lu, own.rows, own.count, own.owner) * a->n);
    if (count == 0)
        return 0;
    int error = covey_team_recv_array(lu->of_column, root, TAG_OUT, COVEY_FOREVER, lu->kernel->type,
                                      memory, count, &got);
    if (error >= 0)
        pick_copy(lu, a, &own, memory, 1);
    return error;
}

static int move_out(const struct lu *lu, const struct dense_view *a, int64_t begin, char *memory)
{
    int root = owner_of(lu, begin);
    return root == lu->rows.at ? send_out(lu, a, root, memory) : receive_out(lu, a, root, memory);
}

static struct dense_view columns_of(const struct lu *lu, const int64_t columns[2])
{
    return dense_part(lu->kernel, &lu->a, (int64_t[]){0, columns[0]},
                      (int64_t[]){lu->a.m, columns[1] - columns[0]});
}

int lu_swap_out(struct lu *lu, const struct lu_panel *panel, const int64_t columns[2])
{
    struct dense_view a = columns_of(lu, columns);
    moves_set(lu, panel->begin, panel->width);
    return a.n > 0 ? move_out(lu, &a, panel->begin, lu->work) : 0;
}

int lu_swap(struct lu *lu, const struct lu_panel *panel, const int64_t columns[2],
            struct dense_view *u)
{
    struct dense_view a = columns_of(lu, columns);
    struct parts parts = {.size = lu->rows.of, .half = 1, .columns = a.n, .memory = lu->work};
    if (a.n == 0)
        return 0;
    while (2 * parts.half <= parts.size)
        parts.half *= 2;
    moves_set(lu, panel->begin, panel->width);
    struct pick own = {lu->moves.top_from, lu->moves.top_from, lu->moves.count, lu->rows.at};
    pick_copy(lu, &a, &own, parts_at(lu, &parts, parts_place(&parts, lu->rows.at)), 0);
    char *rest = lu->work + (size_t)(panel->width * a.n) * lu->kernel->bytes;
    int error = move_out(lu, &a, panel->begin, rest);
    if (error >= 0)
        error = lu->swap == DENSE_SWAP_ROLL ? gather_roll(lu, &parts) : gather_binary(lu, &parts);
    if (error >= 0)
        unpack(lu, &parts, u);
    return error;
}

/* ---- Columns before the panels --------------------------------------------------------------- */

int lu_rows_create(const struct lu *lu, int64_t columns, struct lu_rows *left)
{
    size_t elements = (size_t)lu->a.m * (size_t)columns + 1;
    *left = (struct lu_rows){.columns = columns,
                             .from = malloc(2 * ((size_t)lu->m + 1) * sizeof *left->from),
                             .counts = calloc(4 * (size_t)lu->rows.of, sizeof *left->counts),
                             .out = malloc(elements * lu->kernel->bytes),
                             .in = malloc(elements * lu->kernel->bytes)};
    if (left->from == NULL || left->counts == NULL || left->out == NULL || left->in == NULL)
        return COVEY_ENOMEM;
    left->moved = left->from + lu->m;
    for (int64_t i = 0; i < lu->m; i++)
        left->from[i] = left->moved[i] = i;
    return 0;
}

void lu_rows_free(struct lu_rows *left)
{
    free(left->from);
    free(left->counts);
    free(left->out);
    free(left->in);
}

/* The interchanges of one panel come before those known so far. */
static void left_add(struct lu *lu, struct lu_rows *left, int64_t begin, int64_t width)
{
    const struct lu_moves *moves = &lu->moves;
    moves_set(lu, begin, width);
    for (int64_t i = 0; i < width; i++)
        left->moved[begin + i] = moves->top_from[i];
    for (int64_t i = 0; i < moves->outside; i++)
        left->moved[moves->outside_row[i]] = moves->outside_from[i];
    for (int64_t i = begin; i < lu->m; i++)
        left->from[i] = left->moved[left->from[i]];
    for (int64_t i = 0; i < width; i++)
        left->moved[begin + i] = begin + i;
    for (int64_t i = 0; i < moves->outside; i++)
        left->moved[moves->outside_row[i]] = moves->outside_row[i];
}

/* Calls for each row from `begin` on that gets another's elements and for which the caller is the
 * one side, with the process of the other side. */
static void left_walk(const struct lu *lu, const struct lu_rows *left, int64_t begin, int is_out,
                      size_t *starts, const struct dense_view *a)
{
    size_t bytes = lu->kernel->bytes;
    for (int64_t i = begin; i < lu->m; i++) {
        int64_t row = is_out ? left->from[i] : i;
        if (left->from[i] == i || owner_of(lu, row) != lu->rows.at)
            continue;
        size_t *start = &starts[owner_of(lu, is_out ? i : left->from[i])];
        char *element =
            a == NULL ? NULL : dense_at(lu->kernel, a, dense_axis_local(&lu->rows, row), 0);
        char *array = (is_out ? left->out : left->in) + *start * bytes;
        *start += (size_t)left->columns;
        for (int64_t j = 0; a != NULL && j < a->n; j++, array += bytes) {
            memcpy(is_out ? array : element, is_out ? element : array, bytes);
            element += (size_t)a->ld * bytes;
        }
    }
}

static void starts_of(const size_t *counts, size_t *starts, int size)
{
    for (int i = 0; i < size; i++)
        starts[i] = i == 0 ? 0 : starts[i - 1] + counts[i - 1];
}

static int left_block(const struct lu *lu, struct lu_rows *left, int64_t begin,
                      const struct dense_view *a)
{
    int size = lu->rows.of;
    size_t *counts[] = {left->counts, left->counts + size};
    size_t *starts[] = {left->counts + 2 * size, left->counts + 3 * size};
    for (int way = 0; way < 2; way++) {
        memset(counts[way], 0, (size_t)size * sizeof(size_t));
        left_walk(lu, left, begin, way == 0, counts[way], NULL);
        starts_of(counts[way], starts[way], size);
    }
    left_walk(lu, left, begin, 1, starts[0], a);
    starts_of(counts[0], starts[0], size);
    int error = covey_alltoallv(lu->of_column, lu->kernel->type, left->out, counts[0], starts[0],
                                left->in, counts[1], starts[1]);
    if (error >= 0)
        left_walk(lu, left, begin, 0, starts[1], a);
    return error;
}

/* From the last panel to the first: each block of columns gets what comes behind it. */
static int left_run(struct lu *lu, struct lu_rows *left)
{
    int64_t block = lu->plan->setting.block, last = (lu->least - 1) / block * block;
    int error = 0;
    for (int64_t begin = last; error >= 0 && begin > 0; begin -= block) {
        int64_t rest = lu->least - begin;
        left_add(lu, left, begin, rest < block ? rest : block);
        if (dense_axis_owner(&lu->columns, begin - block) != lu->columns.at)
            continue;
        int64_t column = dense_axis_local(&lu->columns, begin - block);
        struct dense_view a = columns_of(lu, (int64_t[]){column, column + block});
        error = left_block(lu, left, begin, &a);
    }
    return error;
}

static void left_alone(struct lu *lu)
{
    int64_t block = lu->plan->setting.block;
    for (int64_t column = 0; column < lu->a.n; column += block) {
        int64_t behind = dense_axis_global(&lu->columns, column) + block;
        struct dense_view a = columns_of(
            lu, (int64_t[]){column, column + block < lu->a.n ? column + block : lu->a.n});
        if (behind < lu->least)
            lu->kernel->swap(&a, behind, lu->least, lu->places);
    }
}

int lu_swap_left(struct lu *lu)
{
    struct lu_rows left;
    if (lu->rows.of == 1) {
        left_alone(lu);
        return 0;
    }
    if (lu->a.n == 0 || lu->least == 0)
        return 0;
    int error = lu_rows_create(lu, lu->plan->setting.block, &left);
    if (error == 0)
        error = left_run(lu, &left);
    lu_rows_free(&left);
    return error;
}

/* ---- Right-hand sides ------------------------------------------------------------------------ */

int lu_rows_swap_all(const struct lu *lu, struct lu_rows *rows, const struct dense_view *b)
{
    for (int64_t i = 0; i < lu->least; i++)
        exchange(&rows->from[i], &rows->from[lu->pivots[i]]);
    return left_block(lu, rows, 0, b);
}

int lu_rows_swap_panel(struct lu *lu, struct lu_rows *rows, int64_t begin,
                       const struct dense_view *b)
{
    int64_t rest = lu->least - begin, block = lu->plan->setting.block;
    for (int64_t i = begin > block ? begin - block : 0; i < lu->m; i++)
        rows->from[i] = i; /* not those of the panel before */
    left_add(lu, rows, begin, rest < block ? rest : block);
    return left_block(lu, rows, begin, b);
}
