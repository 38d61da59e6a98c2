/*
 * subblock.h - matmul by agenda parallelism (Schmidt & Sunderam, section 4.1): the matrices lie in
 * q x q blocks, the product of one block of A and one of B is an item of a bag, whoever is free
 * does the next one, and the coordinator adds what comes back. An item carries both blocks.
 */
#ifndef MATMUL_SUBBLOCK_H
#define MATMUL_SUBBLOCK_H

#include "apps/agenda.h"
#include "apps/matmul/matrix.h"
#include "apps/matmul/multiply.h"

#define SUBBLOCK_Q_DEFAULT 4

/* ---- the coordinator's side ---- */

struct subblocks {
    struct multiply_job job;
    covey_bag_t *bag;
    double **a, **b, **c; /* q x q blocks by rows, each by rows */
    int64_t put, done;    /* of q x q x q products */
    void *item;           /* the one at hand */
};

/* Makes the blocks of A and B, and the bag. 0, or -1 after saying what is wrong. */
int subblocks_prepare(struct subblocks *s, const struct multiply_job *job, struct crew *crew);
/* Puts and adds until C is there. */
int subblocks_multiply(struct subblocks *s, struct crew *crew);
struct matrix_part subblocks_part(const struct multiply_job *job, int row, int column);
void subblocks_free(struct subblocks *s);

/* ---- a task's side ---- */

/* Multiplies blocks out of the bag until none are left. 0 or an error of the library. */
int subblock_run(struct worker *worker);

#endif
