/*
 * multiplier.c - a task of matmul that takes products of blocks out of a bag; see subblock.h.
 *
 * While it multiplies, the blocks of the next item come, if it has to fetch them, and the product
 * before leaves. Blocks that were fetched are kept until others need the room.
 *
 *   items:  taken, blocks asked for -> multiplied, product sent -> added: done
 */
#include "apps/block.h"
#include "apps/matmul/subblock.h"

#include <cblas.h>
#include <stdlib.h>

#define TAKEN_MAX 2 /* the item at hand and the next */
#define SENT_MAX 6  /* the coordinator may be busy with those of others */
#define ITEMS_MAX (TAKEN_MAX + SENT_MAX)
#define ROWS_KEPT 3 /* so many times q blocks */

/* A block that is here, or on its way. */
struct block {
    int32_t number; /* -1: none */
    double *data;
    covey_req_t *asking, *coming;
    uint64_t used; /* when, in items */
};

struct product {
    struct covey_bag_item item;
    struct subblock_item what;
    double *data;
    covey_req_t *sending;
};

struct multiplier {
    struct worker *worker;
    struct multiply_job job;
    size_t side;        /* of the largest block */
    double *factors[2]; /* A and B, if they are in place */
    struct block *blocks;
    int block_count;
    struct product products[ITEMS_MAX]; /* a ring: sent ones first, then those that were taken */
    int first, sent, taken;
    uint64_t items;
};

static struct product *product_at(struct multiplier *m, int place)
{
    return &m->products[(m->first + place) % ITEMS_MAX];
}

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

static int item_begin(struct multiplier *m, const struct covey_bag_item *item)
{
    struct product *p = product_at(m, m->sent + m->taken);
    if (item->size != sizeof p->what)
        return COVEY_EPROTO;
    p->item = *item;
    p->what = *(const struct subblock_item *)item->bytes;
    if (subblock_number(&m->job, &p->what) < 0)
        return COVEY_EPROTO;
    m->taken++;
    m->items++;
    int error = m->job.fetch ? block_want(m, number_a(m, &p->what)) : 0;
    return error < 0 || !m->job.fetch ? error : block_want(m, number_b(m, &p->what));
}

/* The next items, for which it waits only when there is nothing else to do. */
static int take_ahead(struct multiplier *m)
{
    while (m->taken < TAKEN_MAX && m->sent + m->taken < ITEMS_MAX) {
        struct covey_bag_item item;
        bool idle = m->taken + m->sent == 0;
        m->worker->doing = "taking items out of the bag";
        int got = covey_bag_take(m->worker->bag, idle ? COVEY_FOREVER : COVEY_POLL, &item, 1);
        if (got == 0 || got == COVEY_ETIMEOUT)
            return 0;
        int error = got < 0 ? got : item_begin(m, &item);
        if (error < 0)
            return error;
    }
    return 0;
}

static int send_product(struct multiplier *m, struct product *p, size_t elements)
{
    covey_msg_t *msg = covey_msg_new();
    int error = msg == NULL ? COVEY_ENOMEM : covey_pack_int32(msg, &p->what.row, 3, 1);
    if (error >= 0)
        error = covey_pack_inplace(msg, COVEY_DOUBLE, p->data, elements);
    if (error >= 0)
        error = covey_isend(m->worker->vm, m->worker->parent, SUBBLOCK_PRODUCT, &msg, &p->sending);
    covey_msg_free(msg);
    m->taken--;
    m->sent++;
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

static struct operands in_place(const struct multiplier *m, const struct matrix_part *c)
{
    int64_t n = m->job.n;
    return (struct operands){m->factors[0] + c->row * n, m->factors[1] + c->column, n, n, n};
}

static int multiply(struct multiplier *m, struct product *p)
{
    const struct matrix_part c = subblock_part(&m->job, p->what.row, p->what.column);
    struct operands o = {0};
    int error = m->job.fetch ? fetched(m, p, &o) : 0;
    if (error < 0)
        return error;
    if (!m->job.fetch)
        o = in_place(m, &c);
    double begin = worker_compute_begin();
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (blasint)c.rows, (blasint)c.columns,
                (blasint)o.inner, 1.0, o.a, (blasint)o.row_a, o.b, (blasint)o.row_b, 0.0, p->data,
                (blasint)c.columns);
    worker_compute_end(m->worker, begin);
    m->worker->doing = "sending a product";
    return send_product(m, p, (size_t)(c.rows * c.columns));
}

/* The first that was sent is added: it is done. Returns 1, 0: not yet, or an error. */
static int take_added(struct multiplier *m, int64_t timeout_us)
{
    covey_msg_t *msg = NULL;
    int error = covey_recv(m->worker->vm, m->worker->parent, SUBBLOCK_ADDED, timeout_us, &msg);
    covey_msg_free(msg);
    if (error < 0)
        return error == COVEY_ETIMEOUT ? 0 : error;
    struct product *p = product_at(m, 0);
    covey_req_free(&p->sending);
    m->first = (m->first + 1) % ITEMS_MAX;
    m->sent--;
    error = covey_bag_done(m->worker->bag, &p->item, NULL, 0);
    return error < 0 ? error : 1;
}

/* Waits for one at most: after that another item may be there. */
static int settle(struct multiplier *m)
{
    bool wait = m->taken == 0 || m->sent == SENT_MAX;
    int got = 1;
    for (; m->sent > 0 && got > 0; wait = false) {
        m->worker->doing = "waiting for a product to be added";
        got = take_added(m, wait ? COVEY_FOREVER : COVEY_POLL);
    }
    return got < 0 ? got : 0;
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
    m->block_count = ROWS_KEPT * m->job.q + 2 * TAKEN_MAX;
    m->blocks = calloc((size_t)m->block_count, sizeof *m->blocks);
    for (int i = 0; m->blocks != NULL && i < m->block_count; i++)
        m->blocks[i].number = -1;
    return m->blocks == NULL ? COVEY_ENOMEM : 0;
}

static int prepare(struct multiplier *m)
{
    m->side = (size_t)block_size_max(m->job.n, m->job.q);
    for (int i = 0; i < ITEMS_MAX; i++) {
        m->products[i].data = calloc(m->side * m->side, sizeof(double));
        if (m->products[i].data == NULL)
            return COVEY_ENOMEM;
    }
    int error = m->job.fetch ? blocks_make(m) : factors_make(m);
    return error < 0 ? error : agenda_attach(m->worker);
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
    return prepare(m);
}

void multiplier_destroy(struct multiplier *m)
{
    for (int i = 0; m != NULL && m->blocks != NULL && i < m->block_count; i++)
        free(m->blocks[i].data);
    for (int i = 0; m != NULL && i < ITEMS_MAX; i++)
        free(m->products[i].data);
    if (m != NULL) {
        free(m->blocks);
        free(m->factors[0]);
        free(m->factors[1]);
    }
    free(m);
}

/* What is still under way is for nobody. */
static void leave(struct multiplier *m)
{
    for (int i = 0; m->blocks != NULL && i < m->block_count; i++) {
        covey_req_free(&m->blocks[i].coming);
        covey_req_free(&m->blocks[i].asking);
    }
    for (int i = 0; i < ITEMS_MAX; i++)
        covey_req_free(&m->products[i].sending);
    covey_bag_free(&m->worker->bag);
}

int multiplier_run(struct multiplier *m)
{
    int error = 0;
    while (error >= 0) {
        error = take_ahead(m);
        if (error >= 0 && m->taken + m->sent == 0)
            break; /* nothing is left */
        if (error >= 0 && m->taken > 0)
            error = multiply(m, product_at(m, m->sent));
        if (error >= 0)
            error = settle(m);
    }
    leave(m);
    return error;
}
