/*
 * multiply.c - the task of matmul in its usual form: it makes its blocks, takes panels of A and B
 * from its neighbours, multiplies, and hands them on. Transfers go on while it multiplies;
 * stream.c says which panel goes where.
 */
#include "apps/matmul/multiply.h"

#include "apps/block.h"
#include "apps/crew.h"
#include "apps/matmul/blas.h"
#include "apps/matmul/grid.h"
#include "apps/matmul/matrix.h"
#include "apps/matmul/stream.h"
#include "apps/memory.h"
#include "apps/worker.h"

#include "apps/matmul/hierarchical.h"
#include "apps/matmul/subblock.h"

#include <stdlib.h>

#define PANEL_WIDTH                                                                                \
    256 /* narrower and dgemm slows down, wider and less of a transfer is hidden                   \
         */
#define WATCHED_MAX 4

struct multiply {
    struct multiply_job job;
    struct stream_place place;
    struct stream a;
    struct stream b;
    int64_t rows; /* of the block of C */
    int64_t columns;
    double *own_a;   /* the task's block of A, by panels; alone: the whole matrix */
    double *whole_b; /* only alone */
    double *c;
    double *comes[HIERARCHICAL_BLOCKS]; /* only in two levels */
    struct multiplier *multiplier;      /* out of a bag */
};

int multiply_pack(covey_msg_t *msg, const void *context)
{
    const struct multiply_job *job = context;
    int error = covey_pack_int64(msg, &job->n, 1, 1);
    if (error >= 0)
        error = covey_pack_uint64(msg, &job->seed, 1, 1);
    if (error >= 0)
        error = covey_pack_int32(msg, &job->q, 1, 1);
    if (error >= 0)
        error = covey_pack_int32(msg, &job->bag, 1, 1);
    if (error >= 0)
        error = covey_pack_int32(msg, &job->fetch, 1, 1);
    return error < 0 ? error : covey_pack_int32(msg, &job->groups, 1, 1);
}

static int multiply_unpack(covey_msg_t *msg, struct multiply_job *job)
{
    int error = covey_unpack_int64(msg, &job->n, 1, 1);
    if (error >= 0)
        error = covey_unpack_uint64(msg, &job->seed, 1, 1);
    if (error >= 0)
        error = covey_unpack_int32(msg, &job->q, 1, 1);
    if (error >= 0)
        error = covey_unpack_int32(msg, &job->bag, 1, 1);
    if (error >= 0)
        error = covey_unpack_int32(msg, &job->fetch, 1, 1);
    if (error >= 0)
        error = covey_unpack_int32(msg, &job->groups, 1, 1);
    if (error < 0)
        return error;
    bool sane = job->q >= 1 && job->q <= GRID_Q_MAX && job->n >= job->q && job->n <= MATRIX_N_MAX &&
                job->groups >= 0 && job->groups <= job->q &&
                (job->groups == 0 || job->q % job->groups == 0);
    return sane ? 0 : COVEY_EPROTO;
}

/* The first write to each page costs time; that belongs to making the data. */
static double *allocate(int64_t rows, int64_t columns)
{
    return memory_ready((size_t)(rows * columns), sizeof(double));
}

/* ---- Data -------------------------------------------------------------------------------- */

/* What this task owns of a factor, in the panels of its stream. */
static void fill_factor(const struct multiply *m, enum matrix_name name,
                        const struct stream *stream)
{
    struct matrix matrix = {m->job.seed, m->job.n, name};
    struct matrix_part part = {.row = block_first(m->job.n, m->job.q, m->place.row),
                               .column = block_first(m->job.n, m->job.q, m->place.column)};
    for (int t = 0; t < stream->length; t++) {
        const struct parcel *parcel = &stream->parcels[t];
        part.rows = (int64_t)parcel->rows;
        part.columns = (int64_t)parcel->columns;
        if (name == MATRIX_A)
            stream_inner(&m->place, t, &part.column, &part.columns);
        else
            stream_inner(&m->place, t, &part.row, &part.rows);
        if (parcel->source < 0)
            matrix_fill(&matrix, &part, parcel->data);
    }
}

static int prepare_streams(struct multiply *m)
{
    int error = stream_plan_a(&m->place, &m->a);
    if (error >= 0)
        error = stream_plan_b(&m->place, &m->b);
    if (error >= 0)
        error = stream_allocate(&m->a, m->own_a);
    if (error >= 0)
        error = stream_allocate(&m->b, NULL);
    if (error < 0)
        return error;
    fill_factor(m, MATRIX_A, &m->a);
    fill_factor(m, MATRIX_B, &m->b);
    return 0;
}

static int prepare_block(struct multiply *m, const struct worker *worker)
{
    int64_t n = m->job.n;
    int q = m->job.q;
    if (worker->count != q * q)
        return COVEY_EPROTO;
    int row_hosts[GRID_Q_MAX];
    int panels = stream_panels(n, q, PANEL_WIDTH);
    m->place = (struct stream_place){.n = n,
                                     .q = q,
                                     .row = worker->rank / q,
                                     .column = worker->rank % q,
                                     .panels = panels,
                                     .window = panels,
                                     .row_hosts = row_hosts};
    for (int j = 0; j < q; j++)
        row_hosts[j] = covey_tid_host(worker->tids[m->place.row * q + j]);
    m->rows = block_size(n, q, m->place.row);
    m->columns = block_size(n, q, m->place.column);
    m->own_a = allocate(m->rows, block_size(n, q, m->place.column));
    m->c = allocate(m->rows, m->columns);
    if (m->own_a == NULL || m->c == NULL)
        return COVEY_ENOMEM;
    int error = prepare_streams(m);
    m->place.row_hosts = NULL;
    return error;
}

/* The same part of both factors, and room for that of the product. */
static int prepare_part(struct multiply *m, const struct matrix_part *part)
{
    m->rows = part->rows;
    m->columns = part->columns;
    m->own_a = allocate(m->rows, m->columns);
    m->whole_b = allocate(m->rows, m->columns);
    m->c = allocate(m->rows, m->columns);
    if (m->own_a == NULL || m->whole_b == NULL || m->c == NULL)
        return COVEY_ENOMEM;
    matrix_fill(&(struct matrix){m->job.seed, m->job.n, MATRIX_A}, part, m->own_a);
    matrix_fill(&(struct matrix){m->job.seed, m->job.n, MATRIX_B}, part, m->whole_b);
    return 0;
}

/* The block of each matrix in this task's place. */
static int prepare_places(struct multiply *m, const struct worker *worker)
{
    int64_t n = m->job.n;
    int q = m->job.q;
    if (worker->count != q * q)
        return COVEY_EPROTO;
    const struct matrix_part part = {.row = block_first(n, q, worker->rank / q),
                                     .column = block_first(n, q, worker->rank % q),
                                     .rows = block_size(n, q, worker->rank / q),
                                     .columns = block_size(n, q, worker->rank % q)};
    int64_t most = block_size_max(n, q);
    for (int i = 0; i < HIERARCHICAL_BLOCKS; i++) {
        m->comes[i] = allocate(most, most);
        if (m->comes[i] == NULL)
            return COVEY_ENOMEM;
    }
    return prepare_part(m, &part);
}

static int multiply_prepare(void *state, struct worker *worker, covey_msg_t *msg)
{
    struct multiply *m = state;
    int error = multiply_unpack(msg, &m->job);
    if (error < 0)
        return error;
    openblas_set_num_threads(1);
    if (m->job.bag && !worker->sequential)
        return multiplier_create(worker, &m->job, &m->multiplier);
    return worker->sequential  ? prepare_part(m, &(struct matrix_part){0, 0, m->job.n, m->job.n})
           : m->job.groups > 0 ? prepare_places(m, worker)
                               : prepare_block(m, worker);
}

/* ---- Multiplication ---------------------------------------------------------------------- */

/* C += A B, for A with `inner` columns. */
static void add_product(struct multiply *m, int64_t inner, const double *a, const double *b)
{
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (blasint)m->rows, (blasint)m->columns,
                (blasint)inner, 1.0, a, (blasint)inner, b, (blasint)m->columns, 1.0, m->c,
                (blasint)m->columns);
}

/* Waits until both panels number `now` are there, handing on others meanwhile. */
static int await_panels(struct multiply *m, const struct worker *worker, int now)
{
    for (;;) {
        int error = stream_pump(&m->a, worker->vm, worker->tids, now);
        if (error >= 0)
            error = stream_pump(&m->b, worker->vm, worker->tids, now);
        if (error < 0)
            return error;
        if (stream_ready(&m->a, now) && stream_ready(&m->b, now))
            return 0;
        covey_req_t *watched[WATCHED_MAX];
        size_t n = 0;
        stream_watch(&m->a, now, watched, &n);
        stream_watch(&m->b, now, watched, &n);
        error = covey_wait_any(watched, n, COVEY_FOREVER);
        if (error < 0)
            return error;
    }
}

static int multiply_run(void *state, struct worker *worker)
{
    struct multiply *m = state;
    if (m->job.bag)
        return multiplier_run(m->multiplier);
    if (m->job.groups > 0)
        return hierarchical_run(worker, &m->job, m->own_a, m->whole_b, m->c, m->comes);
    worker->doing = "exchanging panels";
    for (int t = 0; t < m->a.length; t++) {
        int error = await_panels(m, worker, t);
        if (error < 0)
            return error;
        double begin = worker_compute_begin();
        add_product(m, (int64_t)m->a.parcels[t].columns, m->a.parcels[t].data,
                    m->b.parcels[t].data);
        worker_compute_end(worker, begin);
        if (worker->rank == 0)
            worker_progress(worker, (t + 1.0) / m->a.length);
    }
    int error = stream_drain(&m->a);
    return error < 0 ? error : stream_drain(&m->b);
}

static int multiply_run_alone(void *state, struct worker *worker)
{
    struct multiply *m = state;
    double begin = worker_compute_begin();
    add_product(m, m->job.n, m->own_a, m->whole_b);
    worker_compute_end(worker, begin);
    return 0;
}

static int multiply_send_result(void *state, struct worker *worker)
{
    struct multiply *m = state;
    return covey_send_array(worker->vm, worker->parent, CREW_RESULT, COVEY_DOUBLE, m->c,
                            (size_t)(m->rows * m->columns));
}

static void multiply_finish(void *state)
{
    struct multiply *m = state;
    stream_free(&m->a);
    stream_free(&m->b);
    free(m->own_a);
    free(m->whole_b);
    free(m->c);
    for (int i = 0; i < HIERARCHICAL_BLOCKS; i++)
        free(m->comes[i]);
    multiplier_destroy(m->multiplier);
}

int multiply_worker(void)
{
    static const struct worker_program program = {.prepare = multiply_prepare,
                                                  .run = multiply_run,
                                                  .run_alone = multiply_run_alone,
                                                  .send_result = multiply_send_result,
                                                  .finish = multiply_finish};
    struct multiply state = {0};
    return worker_run(&program, &state);
}
