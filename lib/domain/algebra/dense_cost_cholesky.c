/*
 * dense_cost_cholesky.c - the algorithms of Cholesky factorization, and what they are expected to
 * take. In the step in which r rows and columns are left of n, with a block of b and a grid of
 * P x Q, all with b^3 / 3 flop of the diagonal block and b^2 r / P of the panel below it:
 *
 *   local  all to rank 0, n^3 / 3 flop there, and back
 *   right  the diagonal block down a column, b r / P elements along the rows, b r / Q collected in
 *          the columns, and b r^2 / (P Q) flop
 *   left   b (n - r) / Q elements down the columns, 2 b (n - r) r / (P Q) flop, b r / P elements
 *          added along the rows, the diagonal block down a column; on a grid of one column one
 *          broadcast
 *   tiles  the same flop in tiles of b x b, during which messages are on their way: each member
 *          gets n^2 / 2 (P + Q - 2) / (P Q) elements, a tile each. It takes at least n / b times a
 *          diagonal block, a tile below it, a tile behind that, and two messages
 */
#include "lib/domain/algebra/dense_cost_factor.h"
#include "lib/domain/place/place.h"

/* A product of tiles is slower than one of panels, and a task has to be found: as measured. */
#define SMALL 8.0
#define TASK_S 2e-6
#define TILES_MAX 2048 /* in a column: a table of all of them stands at each member */

static const char *const names[] = {"local", "right", "left", "tiles", NULL};

static const char *refusal(int algorithm, const struct dense_case *c)
{
    (void)algorithm;
    (void)c;
    return NULL;
}

/* ---- Shared ---------------------------------------------------------------------------------- */

static struct dense_step_cost solve_step(const struct dense_case *c, const struct dense_setting *s,
                                         double left)
{
    double rows = factor_most(left, s->block, s->grid.rows), b = s->block;
    double r = (double)c->problem.r, columns = factor_most(r, s->block, s->grid.columns);
    double flops = dense_flops(c->problem.type);
    double compute =
        flops / 2 * b * b * columns * c->speed.trsm_s +
        flops * b * rows * columns * (columns < 8 ? c->speed.vector_s : c->speed.gemm_s[1]);
    /* of few right-hand sides only one row of the grid adds up, and one column hears of it:
     * dense_factor_narrow.c */
    int is_narrow = r <= b && s->grid.columns > 1;
    struct dense_cast_cost down = factor_cast(c, s, s->grid.rows, is_narrow ? 1 : s->grid.columns,
                                              columns * b),
                           along = {0, 0};
    if (!is_narrow)
        along = factor_cast(c, s, s->grid.columns, s->grid.rows, rows * b);
    double sums = is_narrow ? factor_rounds_s(c, s->grid.columns, 1, b * r) : 0;
    return (struct dense_step_cost){sums + along.next_s + down.next_s +
                                        compute * dense_crowd(c, s->grid.rows * s->grid.columns) +
                                        domain_wait_s(&c->place),
                                    dense_drain_s(along) + dense_drain_s(down)};
}

double factor_solve_cost(const struct dense_case *c, const struct dense_setting *s)
{
    return c->problem.r > 0 ? dense_steps_s(c, s, (double)c->problem.n, solve_step) : 0;
}

/* ---- One step -------------------------------------------------------------------------------- */

static double diagonal_s(const struct dense_case *c, double b)
{
    return dense_flops(c->problem.type) / 6 * b * b * b * dense_at_order(c->speed.cholesky_s, b);
}

static double crowd(const struct dense_case *c, const struct dense_setting *s)
{
    return dense_crowd(c, s->grid.rows * s->grid.columns);
}

/* The diagonal block and the panel below it, in a grid column; the others wait, and all for a
 * member on a loaded host. */
static double panel_s(const struct dense_case *c, const struct dense_setting *s, double rows)
{
    double b = fmin(s->block, (double)c->problem.n);
    return (diagonal_s(c, b) + dense_flops(c->problem.type) / 2 * b * b * rows * c->speed.trsm_s) *
               dense_crowd(c, s->grid.rows) +
           domain_wait_s(&c->place);
}

/* Half a block less than what is left before the step, in the mean: 0 where one block is all, of
 * which nobody but its owner hears. */
static double below_of(const struct dense_case *c, const struct dense_setting *s, double left)
{
    return fmax(0, left - fmin(s->block, (double)c->problem.n) / 2);
}

static struct dense_step_cost right_step(const struct dense_case *c, const struct dense_setting *s,
                                         double left)
{
    double b = fmin(s->block, (double)c->problem.n), below = below_of(c, s, left);
    double rows = factor_most(below, s->block, s->grid.rows);
    double columns = factor_most(below, s->block, s->grid.columns);
    if (below <= 0)
        return (struct dense_step_cost){panel_s(c, s, 0), 0};
    double update = dense_flops(c->problem.type) / 2 * b * rows * columns *
                    dense_at_width(c->speed.gemm_s, b) * crowd(c, s);
    struct dense_cast_cost down = factor_cast(c, s, s->grid.rows, 1, b * b),
                           along = factor_cast(c, s, s->grid.columns, s->grid.rows, b * rows);
    return (struct dense_step_cost){
        panel_s(c, s, rows) + down.next_s + along.next_s +
            factor_rounds_s(c, s->grid.rows, s->grid.columns, b * columns) +
            2 * b * (rows + columns) * dense_bytes(c->problem.type) * c->speed.copy_s + update,
        dense_drain_s(down) + dense_drain_s(along)};
}

static struct dense_step_cost left_step(const struct dense_case *c, const struct dense_setting *s,
                                        double left)
{
    double b = s->block, rows = factor_most(left, s->block, s->grid.rows);
    double done = factor_most((double)c->problem.n - left, s->block, s->grid.columns);
    double update = dense_flops(c->problem.type) * b * rows * done *
                    dense_at_width(c->speed.gemm_s, b) * crowd(c, s);
    struct dense_cast_cost down = factor_cast(c, s, s->grid.rows, s->grid.columns, b * (done + b));
    double seconds = panel_s(c, s, rows) + down.next_s +
                     b * (rows + done) * dense_bytes(c->problem.type) * c->speed.copy_s + update;
    if (s->grid.columns > 1)
        seconds += factor_rounds_s(c, s->grid.columns, s->grid.rows, b * rows) +
                   factor_cast(c, s, s->grid.rows, 1, b * b).next_s;
    return (struct dense_step_cost){seconds, dense_drain_s(down)};
}

static double tiles_s(const struct dense_case *c, const struct dense_setting *s)
{
    double n = fmax((double)c->problem.n, 1), b = fmin(s->block, n), steps = ceil(n / b);
    double flops = dense_flops(c->problem.type), processes = s->grid.rows * s->grid.columns;
    if (steps > TILES_MAX)
        return -1;
    double tile = flops * b * b * b * dense_at_width(c->speed.gemm_s, b) * (1 + SMALL / b) +
                  (processes > 1 ? TASK_S : 0);
    double solve = flops / 2 * b * b * b * c->speed.trsm_s;
    double parts = (s->grid.rows + s->grid.columns - 2) / processes;
    double messages = steps * steps / 2 * parts;
    double compute = (steps * steps * steps / 6 * tile + steps * steps / 2 * solve) / processes;
    double path = steps * (diagonal_s(c, b) + solve + tile);
    double senders =
        processes * messages / (2 * steps); /* of all messages, while one is waited for */
    double waits = processes > 1 ? 2 * steps * factor_message_s(c, senders, b * b) : 0;
    double busy = messages * (c->place.network.alpha_s / 2 +
                              b * b * dense_bytes(c->problem.type) * c->speed.copy_s);
    double link = messages * b * b * dense_bytes(c->problem.type) * c->place.network.beta_s;
    return fmax(fmax(compute * crowd(c, s) + busy, link), path * crowd(c, s) + waits);
}

/* ---- All of it ------------------------------------------------------------------------------- */

static double local_s(const struct dense_case *c)
{
    double n = (double)c->problem.n, flops = dense_flops(c->problem.type);
    double solve = flops * n * n * (double)c->problem.r * c->root.trsm_s;
    return (flops / 6 * n * n * n * dense_at_order(c->root.cholesky_s, n) + solve) *
           dense_alone(c, n, DENSE_HALF_CHOLESKY);
}

static double cost(int algorithm, const struct dense_case *c, const struct dense_setting *s)
{
    double n = (double)c->problem.n, solve = 2 * factor_solve_cost(c, s);
    switch (algorithm) {
    case CHOLESKY_LOCAL:
        return local_s(c);
    case CHOLESKY_RIGHT:
        return dense_steps_s(c, s, n, right_step) + solve;
    case CHOLESKY_LEFT:
        return dense_steps_s(c, s, n, left_step) + solve;
    default: {
        double seconds = tiles_s(c, s);
        return seconds < 0 ? seconds : seconds + solve;
    }
    }
}

const struct dense_op dense_op_cholesky = {
    .key = "cholesky", .names = names, .refusal = refusal, .cost = cost};
