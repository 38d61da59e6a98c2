/*
 * gemm_cost.c - the algorithms of products, and what they are expected to take. With a block of b,
 * a grid of P x Q and w bytes of an element:
 *
 *   local   all matrices to rank 0, 2 m n k flop there, C back
 *   summa   k / b steps: a panel of m / P x b along the rows and one of b x n / Q along the
 * columns, and 2 b (m / P) (n / Q) flop; with lookahead the panels of the next step meanwhile
 *
 * A grid of P x 1 moves nothing of A, which is best where m is much larger than n, and 1 x Q
 * nothing of B.
 */
#include <math.h>
#include <stddef.h>

#include "lib/domain/algebra/dense_ops.h"
#include "lib/domain/algebra/gemm.h"
#include "lib/domain/place/place.h"

static const char *const names[] = {"local", "summa", NULL};

static const char *refusal(int algorithm, const struct dense_case *c)
{
    (void)algorithm;
    (void)c;
    return NULL;
}

static double local_s(const struct dense_case *c)
{
    const struct covey_dense_problem *p = &c->problem;
    double m = (double)p->m, n = (double)p->n, k = (double)p->k;
    return dense_flops(p->type) * m * n * k * dense_at_width(c->root.gemm_s, k) *
           dense_alone(c, cbrt(m * n * k), DENSE_HALF_GEMM);
}

/* What the busiest process has of n elements. */
static double most(double n, int block, int processes)
{
    double rounds = ceil(ceil(n / block) / processes);
    return fmin(n, rounds * block);
}

static double summa_s(const struct dense_case *c, const struct dense_setting *s)
{
    const struct covey_dense_problem *p = &c->problem;
    const struct dense_grid *grid = &s->grid;
    double m = most((double)p->m, s->block, grid->rows);
    double n = most((double)p->n, s->block, grid->columns);
    double width = fmin(s->block, (double)p->k), steps = width > 0 ? (double)p->k / width : 0;
    double bytes = dense_bytes(p->type);
    struct dense_cast_cost along =
        dense_cast_cost(&c->place.network, s->bcast, grid->columns, grid->rows, bytes * m * width);
    struct dense_cast_cost down =
        dense_cast_cost(&c->place.network, s->bcast, grid->rows, grid->columns, bytes * n * width);
    double compute = dense_flops(p->type) * m * n * width * dense_at_width(c->speed.gemm_s, width) *
                     dense_crowd(c, grid->rows * grid->columns);
    double send = along.next_s + down.next_s;
    double step = s->lookahead ? fmax(compute, send) : compute + send;
    step += domain_wait_s(&c->place);
    return steps * step + along.all_s + down.all_s + (s->lookahead ? fmin(compute, send) : 0);
}

static double cost(int algorithm, const struct dense_case *c, const struct dense_setting *s)
{
    return algorithm == GEMM_LOCAL ? local_s(c) : summa_s(c, s);
}

const struct dense_op dense_op_gemm = {
    .key = "gemm", .names = names, .refusal = refusal, .cost = cost};
