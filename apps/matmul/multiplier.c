/*
 * multiplier.c - a task of matmul that takes products of blocks out of a bag; see subblock.h.
 *
 * While it multiplies, the blocks of the next item come, if it has to fetch them, and the products
 * before leave (ahead.h). Blocks that were fetched are kept until others need the room.
 */
#include "apps/ahead.h"
#include "apps/block.h"
#include "apps/matmul/blas.h"
#include "apps/matmul/subblock.h"
#include "apps/memory.h"

#include <stdlib.h>

#define ROWS_KEPT 3 /* so many times q blocks */

/* A block that is here, or on its way. */
struct block {
    int32_t number; /* -1: none */
    double *data;
    covey_req_t *asking, *coming;
    uint64_t used; /* when, in items */
};

struct product {
    struct subblock_item what;
    double *data;
};

struct multiplier {
    struct worker *worker;
    struct multiply_job job;
    size_t side;        /* of the largest block */
    double *factors[2]; /* A and B, if they are in place */
    struct block *blocks;
    int block_count;
    struct product products[AHEAD_ITEMS_MAX]; /* by place */
    uint64_t items;
};

/* ---- blocks ---- */

/* Where a block may go: it is not of the items at hand, which were the last to be used. */
static struct block *block_oldest(struct multiplier *m)
{
    struct block *oldest = &m->blocks[0];
    for (int i = 1; i < m->block_count; i++)
        if (m->blocks[i].used < oldest->used)
            oldest = &m->blocks[i];
    return oldest;
}

static int block_ask(struct multiplier *m, struct block *block, int32_t number)
{
    covey_t *vm = m->worker->vm;
    covey_tid_t parent = m->worker->parent;
    size_t room = m->side * m->side;
    if (block->data == NULL)
        block->data = malloc(room * sizeof *block->data);
    if (block->data == NULL)
        return COVEY_ENOMEM;
    block->number = number;
    int error = covey_irecv_array(vm, parent, SUBBLOCK_BLOCK, COVEY_DOUBLE, block->data, room,
                                  &block->coming);
    return error < 0 ? error
                     : covey_isend_array(vm, parent, SUBBLOCK_ASK, COVEY_INT32, &block->number, 1,
                                         &block->asking);
}

/* NULL: it is not there. */
static struct block *block_find(const struct multiplier *m, int32_t number)
{
    for (int i = 0; i < m->block_count; i++)
        if (m->blocks[i].number == number)
            return &m->blocks[i];
    return NULL;
}

static int block_want(struct multiplier *m, int32_t number)
{
    struct block *block = block_find(m, number);
    int error = 0;
    if (block == NULL) {
        block = block_oldest(m);
        error = block_ask(m, block, number);
    }
    block->used = m->items;
    return error;
}

static int block_await(struct block *block, int64_t elements)
{
    size_t count = 0;
    if (block->coming == NULL)
        return 0;
    int error = covey_wait(block->coming, COVEY_FOREVER);
    if (error >= 0)
        error = covey_req_result(block->coming, NULL, NULL, &count);
    covey_req_free(&block->coming);
    covey_req_free(&block->asking);
    return error < 0 || count == (size_t)elements ? error : COVEY_EPROTO;
}

/* ---- items ---- */

static int32_t number_a(const struct multiplier *m, const struct subblock_item *item)
{
    return item->row * m->job.q + item->inner;
}

static int32_t number_b(const struct multiplier *m, const struct subblock_item *item)
{
    return m->job.q * (m->job.q + item->inner) + item->column;
}

static int item_begin(void *state, int place, const struct covey_bag_item *item)
{
    struct multiplier *m = state;
    struct subblock_item *what = &m->products[place].what;
    if (item->size != sizeof *what)
        return COVEY_EPROTO;
    *what = *(const struct subblock_item *)item->bytes;
    if (subblock_number(&m->job, what) < 0)
        return COVEY_EPROTO;
    m->items++;
    int error = m->job.fetch ? block_want(m, number_a(m, what)) : 0;
    return error < 0 || !m->job.fetch ? error : block_want(m, number_b(m, what));
}

static int send_product(struct multiplier *m, struct product *p, size_t elements,
                        covey_req_t **sending)
{
    covey_msg_t *msg = covey_msg_new();
    int error = msg == NULL ? COVEY_ENOMEM : covey_pack_int32(msg, &p->what.row, 3, 1);
    if (error >= 0)
        error = covey_pack_inplace(msg, COVEY_DOUBLE, p->data, elements);
    if (error >= 0)
        error = covey_isend(m->worker->vm, m->worker->parent, SUBBLOCK_PRODUCT, &msg, sending);
    covey_msg_free(msg);
    return error;
}

/* What dgemm is given: a part of C is rows of A times columns of B. */
struct operands {
    const double *a, *b;
    int64_t inner, row_a, row_b; /* and how far apart rows lie */
};

static int fetched(struct multiplier *m, const struct product *p, struct operands *o)
{
    const struct matrix_part a = subblock_part(&m->job, p->what.row, p->what.inner);
    const struct matrix_part b = subblock_part(&m->job, p->what.inner, p->what.column);
    struct block *of_a = block_find(m, number_a(m, &p->what));
    struct block *of_b = block_find(m, number_b(m, &p->what));
    m->worker->doing = "waiting for blocks";
    *o = (struct operands){of_a->data, of_b->data, a.columns, a.columns, b.columns};
    int error = block_await(of_a, a.rows * a.columns);
    return error < 0 ? error : block_await(of_b, b.rows * b.columns);
}

static int item_multiply(void *state, int place, covey_req_t **sending)
{
    struct multiplier *m = state;
    struct product *p = &m->products[place];
    const struct matrix_part c = subblock_part(&m->job, p->what.row, p->what.column);
    int64_t n = m->job.n;
    struct operands o;
    int error = 0;
    if (m->job.fetch)
        error = fetched(m, p, &o);
    else
        o = (struct operands){m->factors[0] + c.row * n, m->factors[1] + c.column, n, n, n};
    if (error < 0)
        return error;
    double begin = worker_compute_begin();
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (blasint)c.rows, (blasint)c.columns,
                (blasint)o.inner, 1.0, o.a, (blasint)o.row_a, o.b, (blasint)o.row_b, 0.0, p->data,
                (blasint)c.columns);
    worker_compute_end(m->worker, begin);
    m->worker->doing = "sending a product";
    return send_product(m, p, (size_t)(c.rows * c.columns), sending);
}

/* ---- the whole ---- */

static int factors_make(struct multiplier *m)
{
    static const enum matrix_name names[] = {MATRIX_A, MATRIX_B};
    const struct matrix_part whole = {0, 0, m->job.n, m->job.n};
    for (int i = 0; i < 2; i++) {
        m->factors[i] = malloc((size_t)(m->job.n * m->job.n) * sizeof(double));
        if (m->factors[i] == NULL)
            return COVEY_ENOMEM;
        matrix_fill(&(struct matrix){m->job.seed, m->job.n, names[i]}, &whole, m->factors[i]);
    }
    return 0;
}

static int blocks_make(struct multiplier *m)
{
    m->block_count = ROWS_KEPT * m->job.q + 2 * AHEAD_TAKEN_MAX;
    m->blocks = calloc((size_t)m->block_count, sizeof *m->blocks);
    for (int i = 0; m->blocks != NULL && i < m->block_count; i++)
        m->blocks[i].number = -1;
    return m->blocks == NULL ? COVEY_ENOMEM : 0;
}

int multiplier_create(struct worker *worker, const struct multiply_job *job,
                      struct multiplier **multiplier)
{
    struct multiplier *m = calloc(1, sizeof *m);
    if (m == NULL)
        return COVEY_ENOMEM;
    m->worker = worker;
    m->job = *job;
    *multiplier = m;
    m->side = (size_t)block_size_max(m->job.n, m->job.q);
    for (int i = 0; i < AHEAD_ITEMS_MAX; i++) {
        m->products[i].data = memory_ready(m->side * m->side, sizeof(double));
        if (m->products[i].data == NULL)
            return COVEY_ENOMEM;
    }
    int error = m->job.fetch ? blocks_make(m) : factors_make(m);
    return error < 0 ? error : agenda_attach(m->worker);
}

void multiplier_destroy(struct multiplier *m)
{
    for (int i = 0; m != NULL && m->blocks != NULL && i < m->block_count; i++)
        free(m->blocks[i].data);
    for (int i = 0; m != NULL && i < AHEAD_ITEMS_MAX; i++)
        free(m->products[i].data);
    if (m != NULL) {
        free(m->blocks);
        free(m->factors[0]);
        free(m->factors[1]);
    }
    free(m);
}

int multiplier_run(struct multiplier *m)
{
    static const struct ahead_program program = {.sent_max = AHEAD_SENT_MAX,
                                                 .taken_over = SUBBLOCK_ADDED,
                                                 .waiting = "waiting for a product to be added",
                                                 .begin = item_begin,
                                                 .work = item_multiply};
    int error = ahead_run(&program, m->worker, m);
    for (int i = 0; m->blocks != NULL && i < m->block_count; i++) { /* these are for nobody */
        covey_req_free(&m->blocks[i].coming);
        covey_req_free(&m->blocks[i].asking);
    }
    return error;
}
