/*
 * subblock.c - matmul out of a bag: items say which block is to be multiplied. Blocks and products
 * go as messages between coordinator and task, and not through the bag, for a bag's items pass two
 * daemons (subblock.h shows the messages).
 */
#include "apps/matmul/subblock.h"

#include "apps/block.h"
#include "apps/matmul/grid.h"

#include <err.h>
#include <stdlib.h>
#include <string.h>

struct matrix_part subblock_part(const struct multiply_job *job, int row, int column)
{
    return (struct matrix_part){.row = block_first(job->n, job->q, row),
                                .column = block_first(job->n, job->q, column),
                                .rows = block_size(job->n, job->q, row),
                                .columns = block_size(job->n, job->q, column)};
}

/* Of each block of C. */
static int parts(const struct multiply_job *job)
{
    return job->fetch ? job->q : 1;
}

int64_t subblock_items(const struct multiply_job *job)
{
    return (int64_t)job->q * job->q * parts(job);
}

struct subblock_item subblock_item(const struct multiply_job *job, int64_t number)
{
    int64_t block = number / parts(job);
    return (struct subblock_item){.row = (int32_t)(block / job->q),
                                  .column = (int32_t)(block % job->q),
                                  .inner = (int32_t)(number % parts(job))};
}

int64_t subblock_number(const struct multiply_job *job, const struct subblock_item *item)
{
    int q = job->q;
    bool sane = item->row >= 0 && item->row < q && item->column >= 0 && item->column < q &&
                item->inner >= 0 && item->inner < parts(job);
    return sane ? ((int64_t)item->row * q + item->column) * parts(job) + item->inner : -1;
}

static int64_t part_elements(const struct matrix_part *part)
{
    return part->rows * part->columns;
}

/* ---- blocks ---- */

static double **blocks_make(const struct multiply_job *job)
{
    int count = job->q * job->q;
    double **blocks = calloc((size_t)count, sizeof *blocks);
    for (int i = 0; blocks != NULL && i < count; i++) {
        const struct matrix_part part = subblock_part(job, i / job->q, i % job->q);
        blocks[i] = calloc((size_t)part_elements(&part), sizeof **blocks);
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
        const struct matrix_part part = subblock_part(job, i / job->q, i % job->q);
        matrix_fill(&matrix, &part, blocks[i]);
    }
}

static bool factors_make(struct subblocks *s)
{
    s->a = blocks_make(&s->job);
    s->b = blocks_make(&s->job);
    if (s->a == NULL || s->b == NULL)
        return false;
    blocks_fill(&s->job, MATRIX_A, s->a);
    blocks_fill(&s->job, MATRIX_B, s->b);
    return true;
}

static void blocks_free(const struct subblocks *s, double **blocks)
{
    for (int i = 0; blocks != NULL && i < s->job.q * s->job.q; i++)
        free(blocks[i]);
    free(blocks);
}

void subblocks_end(struct subblocks *s)
{
    covey_bag_free(&s->bag);
    outbox_free(&s->outbox);
}

void subblocks_free(struct subblocks *s)
{
    blocks_free(s, s->a);
    blocks_free(s, s->b);
    blocks_free(s, s->c);
    free(s->product);
    free(s->added);
    *s = (struct subblocks){.bag = NULL};
}

/* ---- what the tasks ask for and send ---- */

static int on_subblock_ask(struct subblocks *s, struct crew *crew, covey_msg_t *msg,
                           covey_tid_t task)
{
    int32_t number = -1, q = s->job.q;
    int error = covey_unpack_int32(msg, &number, 1, 1);
    if (error < 0 || number < 0 || number >= 2 * q * q || s->a == NULL) {
        warnx("a task asked for a block that there is not");
        return -1;
    }
    const struct matrix_part part = subblock_part(&s->job, number / q % q, number % q);
    const double *block = number < q * q ? s->a[number] : s->b[number - q * q];
    covey_msg_t *answer = covey_msg_new();
    error = answer == NULL
                ? COVEY_ENOMEM
                : covey_pack_inplace(answer, COVEY_DOUBLE, block, (size_t)part_elements(&part));
    if (error < 0) {
        covey_msg_free(answer);
        return crew_error("cannot make a message of a block", error);
    }
    error = outbox_send(&s->outbox, crew->vm, task, SUBBLOCK_BLOCK, answer);
    return error < 0 ? crew_error("cannot send a block", error) : 0;
}

static int subblocks_add(struct subblocks *s, const struct subblock_item *item, covey_msg_t *msg)
{
    const struct matrix_part part = subblock_part(&s->job, item->row, item->column);
    double *sum = s->c[item->row * s->job.q + item->column];
    int error = covey_unpack_double(msg, s->product, (size_t)part_elements(&part), 1);
    if (error < 0)
        return error;
    for (int64_t i = 0; i < part_elements(&part); i++)
        sum[i] += s->product[i];
    s->done++;
    return 0;
}

static int on_product(struct subblocks *s, struct crew *crew, covey_msg_t *msg, covey_tid_t task)
{
    struct subblock_item item;
    int error = covey_unpack_int32(msg, &item.row, 3, 1);
    int64_t index = error < 0 ? -1 : subblock_number(&s->job, &item);
    if (index >= 0 && !s->added[index]) {
        s->added[index] = true;
        error = subblocks_add(s, &item, msg);
    }
    if (index < 0 || error < 0) {
        warnx("a task sent a product that nobody asked for");
        return -1;
    }
    covey_msg_t *answer = covey_msg_new();
    error = answer == NULL ? COVEY_ENOMEM
                           : outbox_send(&s->outbox, crew->vm, task, SUBBLOCK_ADDED, answer);
    return error < 0 ? crew_error("cannot answer a task", error) : 0;
}

static int subblocks_serve(struct crew *crew, covey_msg_t *msg, const struct covey_info *info,
                           bool *taken)
{
    struct subblocks *s = crew->server;
    *taken = info->tag == SUBBLOCK_ASK || info->tag == SUBBLOCK_PRODUCT;
    if (!*taken)
        return 0;
    return info->tag == SUBBLOCK_ASK ? on_subblock_ask(s, crew, msg, info->source)
                                     : on_product(s, crew, msg, info->source);
}

/* ---- the whole ---- */

int subblocks_prepare(struct subblocks *s, const struct multiply_job *job, struct crew *crew)
{
    size_t side = (size_t)block_size_max(job->n, job->q);
    *s = (struct subblocks){.job = *job, .c = blocks_make(job)};
    s->product = calloc(side * side, sizeof *s->product);
    s->added = calloc((size_t)subblock_items(job), sizeof *s->added);
    bool enough = s->c != NULL && s->product != NULL && s->added != NULL;
    if (!enough || (job->fetch && !factors_make(s))) {
        warnx("out of memory for the matrices");
        return -1;
    }
    crew->serve = subblocks_serve;
    crew->server = s;
    return agenda_create(crew, &s->bag);
}

int subblocks_multiply(struct subblocks *s, struct crew *crew)
{
    int64_t all = subblock_items(&s->job);
    for (int64_t i = 0; i < all; i++) {
        const struct subblock_item item = subblock_item(&s->job, i);
        if (agenda_put(crew, s->bag, 0, &item, sizeof item) < 0)
            return -1;
    }
    if (agenda_close(crew, s->bag) < 0)
        return -1;
    return agenda_conduct(crew, s->bag, &s->done, all);
}
