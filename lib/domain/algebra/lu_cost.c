/*
 * lu_cost.c - the algorithms of LU factorization, and what they are expected to take. In the step
 * in which r rows and c columns are left, with a block of b, a grid of P x Q and w bytes of an
 * element:
 *
 *   panel       b^2 r / P flop, and in a grid of several rows b log2(P) (alpha + 2 b w beta) to
 *               find pivots; with a tournament log2(P) (alpha + b^2 w beta) twice, and the
 *               factorization of what meets there
 *   broadcast   (r / P + b) b w bytes along the rows
 *   swap        b c / Q elements gathered from the rows of the grid, and as many put back there
 *   update      b^2 c / Q flop of a trsm and 2 b (r / P) (c / Q) flop of a gemm; of what is larger
 *               than the matrix that gemm was measured with, each byte comes from memory and goes
 *               there while others are computed: as measured, a quarter of a copy
 *
 * Without lookahead they follow one another. With it the next panel is made and sent while others
 * still update: the longer one of the two counts. Beside a load each step waits once for a member
 * that others keep from its host.
 */
#include <math.h>
#include <stddef.h>

#include "lib/domain/algebra/dense_ops.h"
#include "lib/domain/algebra/lu.h"
#include "lib/domain/place/place.h"

#define STREAM 0.25   /* of a copy */
#define REFINEMENTS 3 /* rounds that a solution in single precision usually takes */

static const char *const names[] = {"local", "column", "block", "tournament", "float", NULL};

static const char *refusal(int algorithm, const struct dense_case *c)
{
    if (algorithm != LU_FLOAT)
        return NULL;
    if (c->problem.op != COVEY_DENSE_SOLVE)
        return "its factors are of another precision: it solves alone";
    if (c->problem.type != COVEY_DOUBLE && c->problem.type != COVEY_COMPLEX_DOUBLE)
        return "there is no lower precision than single";
    return NULL;
}

static double rows_of(const struct dense_case *c)
{
    return (double)(c->problem.op == COVEY_DENSE_SOLVE ? c->problem.n : c->problem.m);
}

static double local_s(const struct dense_case *c)
{
    double m = rows_of(c), n = (double)c->problem.n, r = (double)c->problem.r;
    double least = fmin(m, n), most = fmax(m, n), flops = dense_flops(c->problem.type);
    double factor =
        flops / 2 * least * least * (most - least / 3) * dense_at_order(c->root.lu_s, least);
    double solve = flops * least * least * r * c->root.trsm_s;
    return (factor + solve) * dense_alone(c, least, DENSE_HALF_LU);
}

/* ---- One step -------------------------------------------------------------------------------- */

struct step_cost {
    double panel, update, narrow; /* narrow: the update of what becomes the next panel */
    struct dense_cast_cost cast;
};

static double pivots_s(const struct dense_case *c, const struct dense_setting *s, int tournament)
{
    double rounds = ceil(log2(s->grid.rows)), b = s->block, bytes = dense_bytes(c->problem.type);
    const struct covey_domain_network *net = &c->place.network;
    double one_s = dense_message_s(net, s->grid.rows, 2 * b * bytes); /* of a grid column's rows */
    if (!tournament)
        return b * rounds * one_s;
    double meet = dense_flops(c->problem.type) / 2 * b * b * (2 * b - b / 3) *
                  dense_at_width(c->speed.panel_s, b);
    return rounds * (2 * dense_message_s(net, s->grid.rows, b * b * bytes) + meet);
}

static double swap_s(const struct dense_case *c, const struct dense_setting *s, double columns)
{
    double p = s->grid.rows, rounds = ceil(log2(p)), bytes = dense_bytes(c->problem.type);
    double volume = s->block * columns * bytes;
    double copies = 4 * volume * c->speed.copy_s;
    if (p < 2)
        return volume * c->speed.copy_s;
    if (s->swap == DENSE_SWAP_BINARY)
        return (rounds + 1) * c->place.network.alpha_s + rounds * volume * c->place.network.beta_s +
               copies;
    return (p + 1) * c->place.network.alpha_s + 2 * volume * c->place.network.beta_s + copies;
}

static double update_s(const struct dense_case *c, const struct dense_setting *s, double rows,
                       double columns)
{
    double b = s->block, flops = dense_flops(c->problem.type);
    double bytes = rows * columns * dense_bytes(c->problem.type);
    double beyond = fmax(0, bytes - DENSE_TRIAL_BYTES); /* of what was measured: it is streamed */
    return flops / 2 * b * b * columns * c->speed.trsm_s +
           flops * b * rows * columns * dense_at_width(c->speed.gemm_s, b) +
           beyond * c->speed.copy_s * STREAM;
}

static struct step_cost step_cost(const struct dense_case *c, const struct dense_setting *s,
                                  double left, int tournament)
{
    double b = s->block, flops = dense_flops(c->problem.type);
    double most = fmax(rows_of(c), (double)c->problem.n) - (double)c->problem.n;
    /* ragged ends: the busiest process has half a block more than the mean */
    double rows = (left + most) / s->grid.rows + (s->grid.rows > 1 ? b / 2 : 0);
    double columns = left / s->grid.columns + (s->grid.columns > 1 ? b / 2 : 0);
    double slower = dense_crowd(c, s->grid.rows * s->grid.columns);
    /* without lookahead the other columns wait for the panel */
    double panel = flops / 2 * b * b * rows * dense_at_width(c->speed.panel_s, b) *
                   (s->lookahead ? slower : dense_crowd(c, s->grid.rows));
    struct step_cost cost;
    cost.panel = panel + domain_wait_s(&c->place);
    if (s->grid.rows > 1)
        cost.panel += pivots_s(c, s, tournament) + (tournament ? panel : 0);
    cost.cast = dense_cast_cost(&c->place.network, s->bcast, s->grid.columns, s->grid.rows,
                                (rows + b) * b * dense_bytes(c->problem.type));
    cost.update = swap_s(c, s, (double)c->problem.n / s->grid.columns) +
                  update_s(c, s, rows, columns) * slower;
    cost.narrow = swap_s(c, s, b) + update_s(c, s, rows, b) * slower;
    return cost;
}

static struct dense_step_cost step(const struct dense_case *c, const struct dense_setting *s,
                                   double left, int tournament)
{
    struct step_cost cost = step_cost(c, s, left, tournament);
    double seconds = cost.panel + cost.cast.next_s + cost.update;
    if (s->lookahead)
        seconds = fmax(cost.update + cost.panel / s->grid.columns +
                           dense_alpha_s(&c->place.network, s->grid.rows),
                       cost.narrow + cost.panel + cost.cast.next_s);
    return (struct dense_step_cost){seconds, dense_drain_s(cost.cast)};
}

static struct dense_step_cost partial_step(const struct dense_case *c,
                                           const struct dense_setting *s, double left)
{
    return step(c, s, left, 0);
}

static struct dense_step_cost tournament_step(const struct dense_case *c,
                                              const struct dense_setting *s, double left)
{
    return step(c, s, left, 1);
}

/* ---- All of it ------------------------------------------------------------------------------- */

static double factor_s(const struct dense_case *c, const struct dense_setting *s, int tournament)
{
    return dense_steps_s(c, s, fmin(rows_of(c), (double)c->problem.n),
                         tournament ? tournament_step : partial_step);
}

static double solve_s(const struct dense_case *c, const struct dense_setting *s)
{
    double n = (double)c->problem.n, r = (double)c->problem.r, b = s->block;
    const struct covey_domain_network *net = &c->place.network;
    double down = ceil(log2(s->grid.rows)), along = ceil(log2(s->grid.columns));
    double bytes = b * r * dense_bytes(c->problem.type);
    if (r < 1)
        return 0;
    /* one row of the grid adds up, then one column hears of it: half of them send at once */
    double messages_s = down * dense_message_s(net, s->grid.rows / 2.0, bytes) +
                        along * dense_message_s(net, s->grid.columns / 2.0, bytes);
    return 2 * ceil(n / b) * messages_s +
           2 * dense_flops(c->problem.type) / 2 * n * n * r / s->grid.rows * c->speed.vector_s;
}

/* In single precision all is half as much; what is copied counts by bytes, and they are. Members
 * that share a processor share it when they convert and refine, too. */
static double float_s(const struct dense_case *c, const struct dense_setting *s)
{
    struct dense_case half = *c;
    double n = (double)c->problem.n, processes = s->grid.rows * s->grid.columns;
    double slower = fmax(dense_crowd(c, (int)processes), 1);
    half.problem.type = c->problem.type == COVEY_DOUBLE ? COVEY_FLOAT : COVEY_COMPLEX_FLOAT;
    half.speed.trsm_s /= 2;
    half.speed.vector_s /= 2;
    for (int i = 0; i < DENSE_WIDTHS; i++) {
        half.speed.gemm_s[i] /= 2;
        half.speed.panel_s[i] /= 2;
    }
    double convert = n * n / processes * dense_bytes(c->problem.type) *
                     (c->speed.copy_s + c->place.touch_s / 2) * slower;
    double residual = dense_flops(c->problem.type) * n * n * (double)c->problem.r / processes *
                      c->speed.vector_s * slower;
    return factor_s(&half, s, 1) + solve_s(&half, s) + convert +
           REFINEMENTS * (residual + solve_s(&half, s));
}

static double cost(int algorithm, const struct dense_case *c, const struct dense_setting *s)
{
    switch (algorithm) {
    case LU_LOCAL:
        return local_s(c);
    case LU_COLUMN:
        return s->grid.rows == 1 ? factor_s(c, s, 0) + solve_s(c, s) : -1;
    case LU_FLOAT:
        return float_s(c, s);
    default:
        return factor_s(c, s, algorithm == LU_TOURNAMENT) + solve_s(c, s);
    }
}

const struct dense_op dense_op_lu = {.key = "lu", .names = names, .refusal = refusal, .cost = cost};
