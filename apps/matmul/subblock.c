#include "apps/matmul/subblock.h"

#include "apps/block.h"
#include "apps/matmul/grid.h"

#include <cblas.h>
#include <err.h>
#include <stdlib.h>
#include <string.h>

#define AHEAD 3 /* items a worker that lie in the bag or are under way: more only fill memory */

/* What goes before the blocks of an item, and before that of a result. */
struct head {
    int64_t row, column; /* of the block of C */
    int64_t rows, inner, columns;
};

static size_t doubles(int64_t rows, int64_t columns)
{
    return (size_t)(rows * columns) * sizeof(double);
}

/* ---- a task ---- */

struct multiplier {
    struct worker *worker;
    char *result;
};

static bool is_sane(const struct head *h, size_t size)
{
    int64_t least = h->rows < h->inner ? h->rows : h->inner;
    int64_t most = h->rows > h->inner ? h->rows : h->inner;
    least = h->columns < least ? h->columns : least;
    most = h->columns > most ? h->columns : most;
    return least > 0 && most <= MATRIX_N_MAX &&
           size == sizeof *h + doubles(h->rows, h->inner) + doubles(h->inner, h->columns);
}

static void multiply(struct multiplier *m, const struct head *h, const double *a, const double *b)
{
    double begin = worker_compute_begin();
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (blasint)h->rows, (blasint)h->columns,
                (blasint)h->inner, 1.0, a, (blasint)h->inner, b, (blasint)h->columns, 0.0,
                (double *)(m->result + sizeof *h), (blasint)h->columns);
    worker_compute_end(m->worker, begin);
}

static int on_item(void *context, const struct covey_bag_item *item, const void **result,
                   size_t *size)
{
    struct multiplier *m = context;
    const struct head *h = item->bytes;
    const double *a = (const double *)(h + 1);
    if (item->size < sizeof *h || !is_sane(h, item->size))
        return COVEY_EPROTO;
    *size = sizeof *h + doubles(h->rows, h->columns);
    char *bytes = realloc(m->result, *size);
    if (bytes == NULL)
        return COVEY_ENOMEM;
    m->result = bytes;
    memcpy(bytes, h, sizeof *h);
    multiply(m, h, a, a + h->rows * h->inner);
    *result = bytes;
    return 0;
}

int subblock_run(struct worker *worker)
{
    struct multiplier m = {.worker = worker};
    int error = agenda_run(worker, on_item, &m);
    free(m.result);
    return error;
}

/* ---- the coordinator ---- */

struct matrix_part subblocks_part(const struct multiply_job *job, int row, int column)
{
    return (struct matrix_part){.row = block_first(job->n, job->q, row),
                                .column = block_first(job->n, job->q, column),
                                .rows = block_size(job->n, job->q, row),
                                .columns = block_size(job->n, job->q, column)};
}

static double **blocks_make(const struct multiply_job *job)
{
    int count = job->q * job->q;
    double **blocks = calloc((size_t)count, sizeof *blocks);
    for (int i = 0; blocks != NULL && i < count; i++) {
        const struct matrix_part part = subblocks_part(job, i / job->q, i % job->q);
        blocks[i] = calloc((size_t)(part.rows * part.columns), sizeof **blocks);
        if (blocks[i] == NULL) {
            while (i-- > 0)
                free(blocks[i]);
            free(blocks);
            return NULL;
        }
    }
    return blocks;
}

static void blocks_fill(const struct multiply_job *job, enum matrix_name name, double **blocks)
{
    const struct matrix matrix = {job->seed, job->n, name};
    for (int i = 0; i < job->q * job->q; i++) {
        const struct matrix_part part = subblocks_part(job, i / job->q, i % job->q);
        matrix_fill(&matrix, &part, blocks[i]);
    }
}

static void blocks_free(const struct subblocks *s, double **blocks)
{
    for (int i = 0; blocks != NULL && i < s->job.q * s->job.q; i++)
        free(blocks[i]);
    free(blocks);
}

void subblocks_free(struct subblocks *s)
{
    blocks_free(s, s->a);
    blocks_free(s, s->b);
    blocks_free(s, s->c);
    free(s->item);
    *s = (struct subblocks){.bag = NULL};
}

int subblocks_prepare(struct subblocks *s, const struct multiply_job *job, struct crew *crew)
{
    size_t side = (size_t)block_size_max(job->n, job->q);
    *s = (struct subblocks){.job = *job, .a = blocks_make(job), .b = blocks_make(job)};
    s->c = blocks_make(job);
    s->item = malloc(sizeof(struct head) + 2 * side * side * sizeof(double));
    if (s->a == NULL || s->b == NULL || s->c == NULL || s->item == NULL) {
        warnx("out of memory for the matrices");
        return -1;
    }
    blocks_fill(job, MATRIX_A, s->a);
    blocks_fill(job, MATRIX_B, s->b);
    return agenda_create(crew, &s->bag);
}

/* The products of one block of C follow each other. */
static int put_next(struct subblocks *s, struct crew *crew)
{
    int q = s->job.q, inner = (int)(s->put % q);
    int row = (int)(s->put / q / q), column = (int)(s->put / q % q);
    const struct matrix_part a = subblocks_part(&s->job, row, inner);
    const struct matrix_part b = subblocks_part(&s->job, inner, column);
    struct head *h = s->item;
    *h = (struct head){row, column, a.rows, a.columns, b.columns};
    char *to = (char *)(h + 1);
    memcpy(to, s->a[row * q + inner], doubles(a.rows, a.columns));
    memcpy(to + doubles(a.rows, a.columns), s->b[inner * q + column], doubles(b.rows, b.columns));
    s->put++;
    return agenda_put(crew, s->bag, 0, h,
                      sizeof *h + doubles(a.rows, a.columns) + doubles(b.rows, b.columns));
}

static int add(struct subblocks *s, const struct covey_bag_result *result)
{
    const struct head *h = result->bytes;
    int q = s->job.q;
    bool sane =
        result->size >= sizeof *h && h->row >= 0 && h->row < q && h->column >= 0 && h->column < q;
    const struct matrix_part part =
        sane ? subblocks_part(&s->job, (int)h->row, (int)h->column) : (struct matrix_part){0};
    if (!sane || result->size != sizeof *h + doubles(part.rows, part.columns)) {
        warnx("a task sent a block that nobody asked for");
        return -1;
    }
    const double *from = (const double *)(h + 1);
    double *to = s->c[h->row * q + h->column];
    for (int64_t i = 0; i < part.rows * part.columns; i++)
        to[i] += from[i];
    s->done++;
    return 0;
}

int subblocks_multiply(struct subblocks *s, struct crew *crew)
{
    int64_t all = (int64_t)s->job.q * s->job.q * s->job.q;
    while (s->done < all) {
        struct covey_bag_result result;
        while (s->put < all && s->put < s->done + (int64_t)AHEAD * crew->count)
            if (put_next(s, crew) < 0 || (s->put == all && agenda_close(crew, s->bag) < 0))
                return -1;
        if (agenda_result(crew, s->bag, &result) < 0 || add(s, &result) < 0)
            return -1;
        progress_show(&crew->progress, (double)s->done / (double)all);
    }
    covey_bag_free(&s->bag);
    return 0;
}
