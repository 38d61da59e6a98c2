/*
 * hierarchical.c - pipe-multiply-roll in two levels, groups of tasks that each multiply by
 * pipe-multiply-roll again. The paper found it slower than the plain form; it stands here to
 * measure that, and, with groups of one task, to show the plain form phase by phase.
 */
#include "apps/matmul/hierarchical.h"

#include "apps/block.h"
#include "apps/crew.h"
#include "apps/matmul/blas.h"
#include "apps/matmul/grid.h"

#include <stdlib.h>
#include <string.h>

enum { TAG_OUTER_A = CREW_PROGRAM + 20, TAG_INNER_A, TAG_INNER_B, TAG_OUTER_B };

/* A task: its group and its place in there; rows and columns count from 0. */
struct place {
    struct worker *worker;
    const struct multiply_job *job;
    int p, r;
    int group_row, group_column, row, column;
    double *outer_a, *inner_a; /* as they came of others */
    double *b, *next_b;
    covey_req_t *a_in, *b_in;       /* what is expected into outer_a and next_b */
    covey_req_t *sends[GRID_Q_MAX]; /* of this phase */
    int sending;
};

int hierarchical_groups(int q)
{
    int p = 2;
    while (p < q && q % p != 0)
        p++;
    return p < q ? p : q;
}

static covey_tid_t tid_at(const struct place *t, int group_row, int row, int group_column,
                          int column)
{
    int whole_row = (group_row + t->p) % t->p * t->r + (row + t->r) % t->r;
    int whole_column = (group_column + t->p) % t->p * t->r + (column + t->r) % t->r;
    return t->worker->tids[whole_row * t->job->q + whole_column];
}

static size_t block_side(const struct place *t, int group, int index)
{
    return (size_t)block_size(t->job->n, t->job->q, group * t->r + index);
}

static int block_send(struct place *t, covey_tid_t to, int tag, const double *block, size_t count)
{
    int error = covey_isend_array(t->worker->vm, to, tag, COVEY_DOUBLE, block, count,
                                  &t->sends[t->sending]);
    t->sending += error >= 0;
    return error;
}

/* Waits until the blocks have left, unless something went wrong before. */
static int drain(struct place *t, int error)
{
    if (error >= 0)
        error = covey_wait_all(t->sends, (size_t)t->sending, COVEY_FOREVER);
    while (t->sending > 0)
        covey_req_free(&t->sends[--t->sending]);
    return error;
}

/* Posted while the task still does something else, so that the block goes to its place as it comes;
 * block_take() waits for it. */
static int expect(const struct place *t, covey_tid_t from, int tag, double *block, size_t count,
                  covey_req_t **req)
{
    if (*req != NULL)
        return 0;
    return covey_irecv_array(t->worker->vm, from, tag, COVEY_DOUBLE, block, count, req);
}

static int block_take(covey_req_t **req, size_t count)
{
    size_t got = 0;
    int error = covey_wait(*req, COVEY_FOREVER);
    if (error >= 0)
        covey_req_result(*req, NULL, NULL, &got);
    covey_req_free(req);
    return error < 0 ? error : got == count ? 0 : COVEY_EPROTO;
}

static int receive(const struct place *t, covey_tid_t from, int tag, double *block, size_t count)
{
    size_t got = 0;
    int error = covey_recv_array(t->worker->vm, from, tag, COVEY_FOREVER, COVEY_DOUBLE, block,
                                 count, &got, NULL);
    return error < 0 ? error : got == count ? 0 : COVEY_EPROTO;
}

static int expect_outer_a(struct place *t, int from)
{
    if (from == t->group_column)
        return 0;
    size_t count = block_side(t, t->group_row, t->row) * block_side(t, from, t->column);
    return expect(t, tid_at(t, t->group_row, t->row, from, t->column), TAG_OUTER_A, t->outer_a,
                  count, &t->a_in);
}

/* Pipe: the groups of column `from` pass their blocks of A along the rows of groups. */
static int pipe_outer(struct place *t, int from, const double *own, const double **a)
{
    size_t count = block_side(t, t->group_row, t->row) * block_side(t, from, t->column);
    int error = expect_outer_a(t, from);
    *a = from == t->group_column ? own : t->outer_a;
    if (error < 0)
        return error;
    if (from != t->group_column)
        return block_take(&t->a_in, count);
    for (int to = 0; to < t->p && error == 0; to++)
        if (to != from)
            error = block_send(t, tid_at(t, t->group_row, t->row, to, t->column), TAG_OUTER_A, own,
                               count);
    return drain(t, error);
}

/* The same within the group. */
static int pipe_inner(struct place *t, int group, int from, const double *own, const double **a)
{
    size_t count = block_side(t, t->group_row, t->row) * block_side(t, group, from);
    int error = 0;
    *a = from == t->column ? own : t->inner_a;
    if (from != t->column)
        return receive(t, tid_at(t, t->group_row, t->row, t->group_column, from), TAG_INNER_A,
                       t->inner_a, count);
    for (int to = 0; to < t->r && error == 0; to++)
        if (to != from)
            error = block_send(t, tid_at(t, t->group_row, t->row, t->group_column, to), TAG_INNER_A,
                               own, count);
    return drain(t, error);
}

/* A roll: blocks of B of so many rows go up to `to`, and others come up from `from`. */
struct roll {
    int tag;
    covey_tid_t to, from;
    size_t rows, next_rows;
};

static int expect_roll(struct place *t, const struct roll *roll)
{
    size_t columns = block_side(t, t->group_column, t->column);
    if (roll->to == covey_mytid(t->worker->vm))
        return 0;
    return expect(t, roll->from, roll->tag, t->next_b, roll->next_rows * columns, &t->b_in);
}

static int roll(struct place *t, const struct roll *roll)
{
    size_t columns = block_side(t, t->group_column, t->column);
    if (roll->to == covey_mytid(t->worker->vm))
        return 0;
    int error = expect_roll(t, roll);
    if (error == 0)
        error = block_send(t, roll->to, roll->tag, t->b, roll->rows * columns);
    if (error == 0)
        error = block_take(&t->b_in, roll->next_rows * columns);
    error = drain(t, error);
    double *b = t->b;
    t->b = t->next_b;
    t->next_b = b;
    return error;
}

/* The product of a block of a group of A, that of group column `group`, and one of B. */
static int multiply_groups(struct place *t, int group, const double *own, double *c)
{
    blasint rows = (blasint)block_side(t, t->group_row, t->row);
    blasint columns = (blasint)block_side(t, t->group_column, t->column);
    int error = 0;
    for (int k = 0; k < t->r && error == 0; k++) {
        int from = (t->row + k) % t->r;
        const struct roll inner = {
            .tag = TAG_INNER_B,
            .to = tid_at(t, t->group_row, t->row - 1, t->group_column, t->column),
            .from = tid_at(t, t->group_row, t->row + 1, t->group_column, t->column),
            .rows = block_side(t, group, from),
            .next_rows = block_side(t, group, (from + 1) % t->r),
        };
        const double *a;
        error = pipe_inner(t, group, from, own, &a);
        if (error == 0)
            error = expect_roll(t, &inner);
        if (error < 0)
            return error;
        double begin = worker_compute_begin();
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, rows, columns, (blasint)inner.rows,
                    1.0, a, (blasint)inner.rows, t->b, columns, 1.0, c, columns);
        worker_compute_end(t->worker, begin);
        error = roll(t, &inner);
    }
    return error;
}

/* One product of groups, and the roll after it. Only groups of one task have room for what comes of
 * the outer roll before that. */
static int step(struct place *t, int k, const double *own, double *c)
{
    int group = (t->group_row + k) % t->p;
    const struct roll outer = {
        .tag = TAG_OUTER_B,
        .to = tid_at(t, t->group_row - 1, t->row, t->group_column, t->column),
        .from = tid_at(t, t->group_row + 1, t->row, t->group_column, t->column),
        .rows = block_side(t, group, t->row),
        .next_rows = block_side(t, (group + 1) % t->p, t->row),
    };
    const double *a;
    int error = pipe_outer(t, group, own, &a);
    if (error == 0 && t->r == 1)
        error = expect_roll(t, &outer);
    if (error == 0)
        error = multiply_groups(t, group, a, c);
    if (error == 0 && k + 1 < t->p)
        error = expect_outer_a(t, (group + 1) % t->p);
    return error == 0 ? roll(t, &outer) : error;
}

int hierarchical_run(struct worker *worker, const struct multiply_job *job, const double *a,
                     const double *b, double *c, double *const comes[HIERARCHICAL_BLOCKS])
{
    int row = worker->rank / job->q, column = worker->rank % job->q;
    struct place t = {.worker = worker, .job = job, .p = job->groups, .r = job->q / job->groups};
    t.group_row = row / t.r;
    t.row = row % t.r;
    t.group_column = column / t.r;
    t.column = column % t.r;
    t.outer_a = comes[0];
    t.inner_a = comes[1];
    t.b = comes[2];
    t.next_b = comes[3];
    memcpy(t.b, b,
           block_side(&t, t.group_row, t.row) * block_side(&t, t.group_column, t.column) *
               sizeof *b);
    int error = 0;
    for (int k = 0; k < t.p && error == 0; k++) {
        worker->doing = "exchanging blocks";
        error = step(&t, k, a, c);
        if (worker->rank == 0)
            worker_progress(worker, (k + 1.0) / t.p);
    }
    covey_req_free(&t.a_in);
    covey_req_free(&t.b_in);
    return error;
}
