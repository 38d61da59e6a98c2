/*
 * dense_cost_qr.c - the algorithms of QR factorization, and what they are expected to take. With a
 * block of b and a grid of P x Q:
 *
 *   local  all to rank 0, 2 n^2 (m - n / 3) flop there, and back
 *   block  in the step in which r rows and c columns are left
 *            panel   where a grid column is one member, three times the flop of LU's panel, which
 *                    with T take four times as long; else 2 b^2 r / P flop of single columns
 *                    and as many for T, b reductions of a row of the panel, and one of T
 *            along the rows  b r / P elements
 *            update  4 b r c / (P Q) flop, b^2 c / Q of T at all rows of the grid alike, and
 *                    b c / Q elements added up the columns, part by part
 *          With several grid columns the next panel is made and sent while others still update: the
 *          longer one of the two counts.
 *   tsqr   2 n^2 (m / P - n / 3) flop, log2(P) times n^2 elements and 2 n^3 / 3 flop, and R to all
 *
 * A flop is half a product with its sum.
 */
#include "lib/domain/algebra/dense_cost_factor.h"
#include "lib/domain/place/place.h"

static const char *const names[] = {"local", "block", "tsqr", NULL};

static const char *refusal(int algorithm, const struct dense_case *c)
{
    if (algorithm == QR_TSQR && c->problem.m < c->problem.n)
        return "there are fewer rows than columns";
    return NULL;
}

/* 2 k^2 (l - k / 3) of an m x n matrix. */
static double products(double m, double n)
{
    double least = fmin(m, n), most = fmax(m, n);
    return least * least * (most - least / 3);
}

static double local_s(const struct dense_case *c)
{
    double m = (double)c->problem.m, n = (double)c->problem.n, r = (double)c->problem.r;
    double flops = dense_flops(c->problem.type);
    double solve = flops * 2 * m * n * r * c->root.trsm_s;
    double factor = flops * products(m, n) * dense_at_order(c->root.qr_s, fmin(m, n));
    return (factor + solve) * dense_alone(c, fmin(m, n), DENSE_HALF_QR);
}

/* What a sum of messages of the grid columns has to add and to copy, beside what a message has. */
#define ADDED 4
#define PART_COLUMNS 512 /* of an update: dense_qr.c */

static double panel_s(const struct dense_case *c, const struct dense_setting *s, double rows)
{
    double b = fmin(s->block, fmin((double)c->problem.m, (double)c->problem.n));
    double work = dense_flops(c->problem.type) * b * b * rows;
    double crowd = dense_crowd(c, s->grid.rows * s->grid.columns);
    if (s->grid.rows == 1)
        return 2 * work * dense_at_width(c->speed.panel_s, b) * crowd;
    return work * (c->speed.vector_s + dense_at_width(c->speed.gemm_s, b)) * crowd +
           b * factor_rounds_s(c, s->grid.rows, 1, b) + factor_rounds_s(c, s->grid.rows, 1, b * b);
}

static double update_s(const struct dense_case *c, const struct dense_setting *s, double rows,
                       double columns)
{
    double b = fmin(s->block, fmin((double)c->problem.m, (double)c->problem.n));
    double flops = dense_flops(c->problem.type), sums = b * columns;
    double compute = (2 * flops * b * rows * columns + flops / 2 * b * sums) *
                     dense_at_width(c->speed.gemm_s, b) *
                     dense_crowd(c, s->grid.rows * s->grid.columns);
    if (s->grid.rows == 1)
        return compute;
    return compute + factor_rounds_s(c, s->grid.rows, s->grid.columns, sums) +
           (ceil(columns / PART_COLUMNS) - 1) *
               factor_rounds_s(c, s->grid.rows, s->grid.columns, 0) +
           ADDED * sums * dense_bytes(c->problem.type) * c->speed.copy_s;
}

static struct dense_step_cost block_step(const struct dense_case *c, const struct dense_setting *s,
                                         double left)
{
    const struct covey_dense_problem *p = &c->problem;
    double reflectors = fmin((double)p->m, (double)p->n), b = fmin(s->block, reflectors);
    double rows = factor_most((double)p->m - reflectors + left, s->block, s->grid.rows);
    double columns = factor_most((double)p->n - reflectors + left, s->block, s->grid.columns);
    double panel = panel_s(c, s, rows), update = update_s(c, s, rows, columns);
    double wait = domain_wait_s(&c->place);
    struct dense_cast_cost cast = factor_cast(c, s, s->grid.columns, s->grid.rows, b * (rows + b));
    if (s->grid.columns == 1)
        return (struct dense_step_cost){panel + update + wait, 0};
    return (struct dense_step_cost){
        fmax(update + panel / s->grid.columns + c->place.network.alpha_s,
             update_s(c, s, rows, b) + panel + cast.next_s) +
            wait,
        dense_drain_s(cast)};
}

/* Reflectors applied to the right-hand sides, and R solved. */
static double block_solve_s(const struct dense_case *c, const struct dense_setting *s)
{
    const struct covey_dense_problem *p = &c->problem;
    double m = factor_most((double)p->m, s->block, s->grid.rows), n = (double)p->n;
    double r = factor_most((double)p->r, s->block, s->grid.columns), b = s->block;
    double speed = r < 8 ? c->speed.vector_s : dense_at_width(c->speed.gemm_s, b);
    if (p->r < 1)
        return 0;
    return ceil(n / b) * (factor_cast(c, s, s->grid.columns, s->grid.rows, b * (m + b)).next_s +
                          factor_rounds_s(c, s->grid.rows, s->grid.columns, b * r)) +
           2 * dense_flops(p->type) * m * n * r * speed + factor_solve_cost(c, s);
}

/* Members 0, 2, 4 ... receive triangles, but the last one. */
static int factor_tsqr_suits(int64_t m, int64_t n, int nb, int members)
{
    for (int p = 0; p + 1 < members; p += 2)
        if (dense_axis_before(&(struct dense_axis){.block = nb, .at = p, .of = members}, m) < n)
            return 0;
    return m >= n;
}

static double tsqr_s(const struct dense_case *c, const struct dense_setting *s)
{
    const struct covey_dense_problem *p = &c->problem;
    int members = s->grid.rows;
    double n = (double)p->n, m = factor_most((double)p->m, s->block, members);
    double r = (double)p->r, flops = dense_flops(p->type), levels = ceil(log2(members));
    double crowd = dense_crowd(c, members);
    if (s->grid.columns > 1 || !factor_tsqr_suits(p->m, p->n, s->block, members))
        return -1;
    double panel = dense_at_width(c->speed.panel_s, 32);
    double seconds =
        flops * products(m, n) * fmax(dense_at_order(c->speed.qr_s, n), panel / 2) * crowd +
        levels * (factor_message_s(c, members / 2.0, n * n) + flops / 3 * n * n * n * panel) +
        factor_cast(c, s, members, 1, n * n).all_s;
    if (r > 0)
        seconds +=
            2 * flops * m * n * r * c->speed.vector_s * crowd +
            levels * (factor_message_s(c, members / 2.0, n * r) + 2 * flops * n * n * r * panel) +
            factor_cast(c, s, members, 1, n * r).all_s;
    return seconds;
}

static double cost(int algorithm, const struct dense_case *c, const struct dense_setting *s)
{
    double reflectors = fmin((double)c->problem.m, (double)c->problem.n);
    switch (algorithm) {
    case QR_LOCAL:
        return local_s(c);
    case QR_BLOCK:
        return dense_steps_s(c, s, reflectors, block_step) + block_solve_s(c, s);
    default:
        return tsqr_s(c, s);
    }
}

const struct dense_op dense_op_qr = {.key = "qr", .names = names, .refusal = refusal, .cost = cost};
