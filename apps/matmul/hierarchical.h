/*
 * hierarchical.h - hierarchical pipe-multiply-roll (Schmidt & Sunderam, section 4.1): a grid of p x
 * p groups of r x r tasks, p r = q. The blocks of the groups are multiplied by pipe-multiply-roll,
 * and within a group each such product is again pipe-multiply-roll. The paper found it slower than
 * the plain one, for messages are more and smaller; it is here for that comparison.
 *
 * With groups of one task (p = q) it is the plain one, phase by phase as in Figure 3(b): the next
 * phase begins when the messages of this one have come and gone, and nothing is sent ahead.
 */
#ifndef MATMUL_HIERARCHICAL_H
#define MATMUL_HIERARCHICAL_H

#include "apps/matmul/multiply.h"
#include "apps/worker.h"

/* The side of the grid of groups: the smallest divisor of q above 1; q itself when it is prime, and
 * then there are no groups. */
int hierarchical_groups(int q);

#define HIERARCHICAL_BLOCKS 4

/* C += A B: a and b are this task's blocks of A and B, c is that of C, job->groups is p. `comes` is
 * room for as many elements as the largest block has, each. Returns 0 or an error of the library.
 */
int hierarchical_run(struct worker *worker, const struct multiply_job *job, const double *a,
                     const double *b, double *c, double *const comes[HIERARCHICAL_BLOCKS]);

#endif
