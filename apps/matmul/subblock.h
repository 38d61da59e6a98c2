/*
 * subblock.h - matmul by agenda parallelism (Schmidt & Sunderam, section 4.1): the matrices lie in
 * q x q blocks, items of a bag say what is to be multiplied, whoever is free does the next one, and
 * the coordinator adds what comes back. Either all tasks have both factors in place, before the
 * clock starts: then an item is a block of C. Or (--fetch) only the coordinator has them: then an
 * item is the product of one block of A and one of B, and a task asks for those that it does not
 * have yet.
 *
 * Blocks and products go as messages between the two, by the route that suits them. Through the
 * bag they would pass two daemons, and blocks that a task had already would come again.
 *
 *   task                                  coordinator
 *   SUBBLOCK_ASK number           ->
 *                                <-       SUBBLOCK_BLOCK its elements
 *   SUBBLOCK_PRODUCT item, block  ->
 *                                <-       SUBBLOCK_ADDED    now the bag hears that the item is done
 *
 * The task that dies after it sent a product, and before the bag heard of it, leaves the item to
 * another; the product that comes second is not added.
 */
#ifndef MATMUL_SUBBLOCK_H
#define MATMUL_SUBBLOCK_H

#include "apps/agenda.h"
#include "apps/matmul/matrix.h"
#include "apps/matmul/multiply.h"
#include "apps/outbox.h"

#define SUBBLOCK_Q_DEFAULT 12
#define SUBBLOCK_Q_FETCH 4 /* larger blocks: a block is needed for q products */

enum subblock_tag { SUBBLOCK_ASK = CREW_PROGRAM, SUBBLOCK_BLOCK, SUBBLOCK_PRODUCT, SUBBLOCK_ADDED };

/* An item: a block of C; or of it the product of A[row][inner] and B[inner][column]. */
struct subblock_item {
    int32_t row, column, inner;
};

/* The items are numbered, by rows and columns of C and by inner. */
int64_t subblock_items(const struct multiply_job *job);
struct subblock_item subblock_item(const struct multiply_job *job, int64_t number);
/* The number of an item that somebody else names; -1: there is no such one. */
int64_t subblock_number(const struct multiply_job *job, const struct subblock_item *item);

/* The q x q blocks of A by rows, and behind them those of B, have numbers, too. */
struct matrix_part subblock_part(const struct multiply_job *job, int row, int column);

/* ---- the coordinator's side ---- */

struct subblocks {
    struct multiply_job job;
    covey_bag_t *bag;
    double **a, **b, **c; /* q x q blocks by rows, each by rows */
    double *product;      /* the one at hand */
    bool *added;          /* by number of the item */
    int64_t done;
    struct outbox outbox;
};

/* Makes the blocks of A and B, and the bag. 0, or -1 after saying what is wrong. */
int subblocks_prepare(struct subblocks *s, const struct multiply_job *job, struct crew *crew);
/* Puts and adds until C is there. */
int subblocks_multiply(struct subblocks *s, struct crew *crew);
/* The tasks were released: ends the bag, and what was still to be sent. */
void subblocks_end(struct subblocks *s);
void subblocks_free(struct subblocks *s);

/* ---- a task's side: multiplier.c ---- */

struct multiplier;

/* Makes the factors, if they are to be in place. 0 or an error of the library. */
int multiplier_create(struct worker *worker, const struct multiply_job *job,
                      struct multiplier **multiplier);
/* Multiplies blocks out of the bag until none are left. 0 or an error of the library. */
int multiplier_run(struct multiplier *m);
void multiplier_destroy(struct multiplier *m); /* NULL is fine */

#endif
