/* links: apps/matmul/stream.c apps/matmul/grid.c apps/matmul/matrix.c apps/block.c */
/*
 * A whole grid of tasks multiplies in this one process. In the place of the library stands the
 * strictest network it may be: a send is complete only when its receive was posted, and nothing
 * is buffered, so that a grid that could lock up somewhere does so here.
 */
#include "apps/matmul/stream.h"

#include "apps/block.h"
#include "apps/matmul/grid.h"
#include "apps/matmul/matrix.h"

#include <CUnit/CUnit.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/runner.h"

/* ---- The network: tids are ranks + 1, `vm` points to the rank that calls ------------------- */

struct covey_req {
    struct covey_req *next;
    int from;
    int to;
    int tag;
    bool is_send;
    bool complete;
    void *base;
    size_t count;
};

static struct covey_req *pending; /* not matched yet */
static int crossings;             /* sends in all */

static bool fits(const struct covey_req *a, const struct covey_req *b)
{
    return a->from == b->from && a->to == b->to && a->tag == b->tag && a->is_send != b->is_send;
}

static void match(struct covey_req *a, struct covey_req *b)
{
    struct covey_req *send = a->is_send ? a : b;
    struct covey_req *receive = a->is_send ? b : a;
    CU_ASSERT_EQUAL_FATAL(send->count, receive->count);
    memcpy(receive->base, send->base, send->count * sizeof(double));
    send->complete = receive->complete = true;
}

static void enter(struct covey_req *req)
{
    for (struct covey_req **at = &pending; *at != NULL; at = &(*at)->next) {
        if (!fits(*at, req))
            continue;
        match(*at, req);
        *at = (*at)->next;
        return;
    }
    req->next = pending;
    pending = req;
}

static int start(struct covey_req request, covey_req_t **req)
{
    *req = malloc(sizeof **req);
    **req = request;
    enter(*req);
    return 0;
}

/* The library's interface, not ours. NOLINTBEGIN(readability-function-size) */

int covey_isend_array(covey_t *vm, covey_tid_t tid, int tag, int type, const void *base,
                      size_t count, covey_req_t **req)
{
    CU_ASSERT_EQUAL(type, COVEY_DOUBLE);
    crossings++;
    return start((struct covey_req){.from = *(const int *)(void *)vm + 1,
                                    .to = tid,
                                    .tag = tag,
                                    .is_send = true,
                                    .base = (void *)(uintptr_t)base,
                                    .count = count},
                 req);
}

int covey_irecv_array(covey_t *vm, covey_tid_t tid, int tag, int type, void *base, size_t capacity,
                      covey_req_t **req)
{
    CU_ASSERT_EQUAL(type, COVEY_DOUBLE);
    return start((struct covey_req){.from = tid,
                                    .to = *(const int *)(void *)vm + 1,
                                    .tag = tag,
                                    .base = base,
                                    .count = capacity},
                 req);
}

/* NOLINTEND(readability-function-size) */

int covey_test(covey_req_t *req)
{
    return req->complete;
}

int covey_wait(covey_req_t *req, int64_t timeout_us)
{
    (void)timeout_us;
    return req->complete ? 0 : COVEY_ETIMEOUT;
}

int covey_req_result(covey_req_t *req, struct covey_info *info, covey_msg_t **msg, size_t *count)
{
    (void)info;
    (void)msg;
    *count = req->count;
    return 0;
}

void covey_req_free(covey_req_t **req)
{
    for (struct covey_req **at = &pending; *req != NULL && *at != NULL; at = &(*at)->next) {
        if (*at != *req)
            continue;
        *at = (*at)->next;
        break;
    }
    free(*req);
    *req = NULL;
}

/* ---- The grid ---------------------------------------------------------------------------- */

#define SEED 42

struct cell {
    int rank;
    int now; /* the pair of panels it multiplies next */
    int row_hosts[GRID_Q_MAX];
    struct stream_place place;
    struct stream a;
    struct stream b;
    double *own_a;
    double *c;
};

static void fill(const struct stream_place *place, struct stream *stream, enum matrix_name name)
{
    struct matrix matrix = {SEED, place->n, name};
    for (int t = 0; t < stream->length; t++) {
        struct parcel *parcel = &stream->parcels[t];
        struct matrix_part part = {.row = block_first(place->n, place->q, place->row),
                                   .column = block_first(place->n, place->q, place->column),
                                   .rows = (int64_t)parcel->rows,
                                   .columns = (int64_t)parcel->columns};
        int64_t size;
        stream_inner(place, t, name == MATRIX_A ? &part.column : &part.row, &size);
        CU_ASSERT_EQUAL(size, name == MATRIX_A ? part.columns : part.rows);
        if (parcel->source < 0)
            matrix_fill(&matrix, &part, parcel->data);
    }
}

static void cell_init(struct cell *cell, const struct stream_place *shape, int rank)
{
    *cell = (struct cell){.rank = rank, .place = *shape};
    cell->place.row = rank / shape->q;
    cell->place.column = rank % shape->q;
    for (int j = 0; j < shape->q; j++)
        cell->row_hosts[j] = j / 2; /* two tasks a host */
    cell->place.row_hosts = cell->row_hosts;
    CU_ASSERT_EQUAL_FATAL(stream_plan_a(&cell->place, &cell->a), 0);
    CU_ASSERT_EQUAL_FATAL(stream_plan_b(&cell->place, &cell->b), 0);
    size_t most = (size_t)block_size_max(shape->n, shape->q);
    cell->own_a = calloc(most * most, sizeof(double));
    cell->c = calloc(most * most, sizeof(double));
    CU_ASSERT_EQUAL_FATAL(stream_allocate(&cell->a, cell->own_a), 0);
    CU_ASSERT_EQUAL_FATAL(stream_allocate(&cell->b, NULL), 0);
    fill(&cell->place, &cell->a, MATRIX_A);
    fill(&cell->place, &cell->b, MATRIX_B);
}

static void cell_free(struct cell *cell)
{
    stream_free(&cell->a);
    stream_free(&cell->b);
    free(cell->own_a);
    free(cell->c);
}

static void add_product(struct cell *cell)
{
    const struct parcel *a = &cell->a.parcels[cell->now];
    const struct parcel *b = &cell->b.parcels[cell->now];
    CU_ASSERT_EQUAL_FATAL(a->columns, b->rows);
    for (size_t i = 0; i < a->rows; i++)
        for (size_t j = 0; j < b->columns; j++)
            for (size_t k = 0; k < b->rows; k++)
                cell->c[i * b->columns + j] +=
                    a->data[i * a->columns + k] * b->data[k * b->columns + j];
}

/* Hands on what it can and multiplies, if its panels are there. Returns whether it did. */
static bool cell_step(struct cell *cell, const covey_tid_t *tids)
{
    covey_t *vm = (covey_t *)(void *)&cell->rank;
    if (cell->now == cell->a.length)
        return false;
    CU_ASSERT_EQUAL(stream_pump(&cell->a, vm, tids, cell->now), 0);
    CU_ASSERT_EQUAL(stream_pump(&cell->b, vm, tids, cell->now), 0);
    if (!stream_ready(&cell->a, cell->now) || !stream_ready(&cell->b, cell->now))
        return false;
    add_product(cell);
    cell->now++;
    return true;
}

/* Cells that wait must have something to wait for that is not there yet. */
static void expect_no_spin(const struct cell *cell)
{
    covey_req_t *watched[4];
    size_t n = 0;
    if (cell->now == cell->a.length)
        return;
    stream_watch(&cell->a, cell->now, watched, &n);
    stream_watch(&cell->b, cell->now, watched, &n);
    CU_ASSERT_FATAL(n <= 4);
    size_t waiting = 0;
    for (size_t i = 0; i < n; i++)
        waiting += watched[i] != NULL && !watched[i]->complete;
    CU_ASSERT(waiting > 0);
}

/* A panel moves on by at least one task a round, so so many rounds are enough or none are. */
static void run_grid(struct cell *cells, const covey_tid_t *tids, int count)
{
    int rounds = 2 * count * cells[0].a.length;
    for (int round = 0; round < rounds; round++)
        for (int i = 0; i < count; i++) /* back and forth: no order of tasks may matter */
            cell_step(&cells[round % 2 ? count - 1 - i : i], tids);
    for (int i = 0; i < count; i++)
        CU_ASSERT_EQUAL(cells[i].now, cells[i].a.length);
}

static double product_element(int64_t n, int64_t row, int64_t column)
{
    struct matrix a = {SEED, n, MATRIX_A};
    struct matrix b = {SEED, n, MATRIX_B};
    double sum = 0;
    for (int64_t k = 0; k < n; k++)
        sum += (double)matrix_element(&a, row, k) * matrix_element(&b, k, column);
    return sum;
}

static void expect_block(const struct cell *cell)
{
    const struct stream_place *place = &cell->place;
    int64_t rows = block_size(place->n, place->q, place->row);
    int64_t columns = block_size(place->n, place->q, place->column);
    int64_t row = block_first(place->n, place->q, place->row);
    int64_t column = block_first(place->n, place->q, place->column);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++)
            CU_ASSERT_EQUAL(cell->c[i * columns + j],
                            product_element(place->n, row + i, column + j));
}

static void multiply(int64_t n, int q, int width, int window)
{
    struct stream_place shape = {
        .n = n, .q = q, .panels = stream_panels(n, q, width), .window = window};
    int count = q * q;
    struct cell *cells = calloc((size_t)count, sizeof *cells);
    covey_tid_t *tids = calloc((size_t)count, sizeof *tids);
    crossings = 0;
    for (int i = 0; i < count; i++) {
        cell_init(&cells[i], &shape, i);
        tids[i] = i + 1;
    }
    run_grid(cells, tids, count);
    for (int i = 0; i < count; i++) {
        CU_ASSERT_EQUAL(stream_drain(&cells[i].a), 0);
        CU_ASSERT_EQUAL(stream_drain(&cells[i].b), 0);
        expect_block(&cells[i]);
        cell_free(&cells[i]);
    }
    /* A: every block to q - 1 others; B: every block q - 1 times upwards */
    CU_ASSERT_EQUAL(crossings, 2 * count * (q - 1) * shape.panels);
    CU_ASSERT_PTR_NULL(pending);
    free(cells);
    free(tids);
}

static void test_one_task_needs_no_messages(void)
{
    multiply(7, 1, 3, 2);
}

static void test_even_blocks(void)
{
    multiply(12, 2, 3, 2);
    multiply(12, 3, 2, 2);
    multiply(16, 4, 1, 4);
}

static void test_uneven_blocks(void)
{
    multiply(13, 2, 3, 2);
    multiply(14, 3, 2, 1);
    multiply(17, 5, 2, 2);
    multiply(5, 5, 4, 1);
}

static void test_any_window(void)
{
    for (int window = 1; window <= 9; window++)
        multiply(18, 3, 2, window);
}

static void test_waiting_tasks_do_not_spin(void)
{
    struct stream_place shape = {.n = 12, .q = 3, .panels = 2, .window = 2};
    struct cell cells[9];
    covey_tid_t tids[9];
    for (int i = 0; i < 9; i++) {
        cell_init(&cells[i], &shape, i);
        tids[i] = i + 1;
    }
    while (cell_step(&cells[0], tids))
        ;
    expect_no_spin(&cells[0]);
    while (cell_step(&cells[1], tids) || cell_step(&cells[4], tids))
        ;
    expect_no_spin(&cells[1]);
    for (int i = 0; i < 9; i++)
        cell_free(&cells[i]);
}

static void test_panels_have_at_least_one_element(void)
{
    CU_ASSERT_EQUAL(stream_panels(1, 1, 256), 1);
    CU_ASSERT_EQUAL(stream_panels(1024, 2, 256), 2);
    CU_ASSERT_EQUAL(stream_panels(1030, 2, 256), 3);
    CU_ASSERT_EQUAL(stream_panels(7, 4, 1), 1);
}

int main(void)
{
    static const struct test_case cases[] = {
        {"one task needs no messages", test_one_task_needs_no_messages},
        {"even blocks", test_even_blocks},
        {"uneven blocks", test_uneven_blocks},
        {"any window", test_any_window},
        {"waiting tasks do not spin", test_waiting_tasks_do_not_spin},
        {"panels have at least one element", test_panels_have_at_least_one_element},
    };
    return covey_test_main("app_stream", cases, sizeof cases / sizeof cases[0]);
}
