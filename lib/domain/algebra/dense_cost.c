/*
 * dense_cost.c - what the costs of all operations share, and the search for the best setting.
 */
#include <math.h>

#include "lib/domain/algebra/dense_cost.h"
#include "lib/domain/place/place.h"

double dense_flops(int type)
{
    return type == COVEY_COMPLEX_DOUBLE || type == COVEY_COMPLEX_FLOAT ? 8 : 2;
}

double dense_bytes(int type)
{
    double real = type == COVEY_FLOAT || type == COVEY_COMPLEX_FLOAT ? 4 : 8;
    return type == COVEY_COMPLEX_DOUBLE || type == COVEY_COMPLEX_FLOAT ? 2 * real : real;
}

/* Threads of BLAS gain the less, the smaller matrices are; and where they wait for the next call
 * they take processors from other tasks. */
static double threaded(double threads, double n, double half)
{
    return threads > 1 ? 1 / (1 + (floor(threads) - 1) * n / (n + half)) : 1;
}

/* More processes than processors take caches from each other, and a panel waits until its process
 * has a turn: equations of 4000 by four on two processors took 4 to 24 % more than by two. */
#define CROWDED 1.1

double dense_crowd(const struct dense_case *c, int processes)
{
    const struct covey_domain_place *place = &c->place;
    double each = (double)processes / place->network.hosts / place->processors;
    double threads = place->processors * place->network.hosts / place->network.members;
    return fmax(place->load, 1) *
           (each > 1 ? each * CROWDED : threaded(threads, 1000, DENSE_HALF_LU));
}

double dense_alone(const struct dense_case *c, double n, double half)
{
    return fmax(c->place.load_root, 1) * threaded(n < DENSE_THREADED ? 1 : c->alone, n, half);
}

double dense_at_width(const double speeds[DENSE_WIDTHS], double width)
{
    double at = width > DENSE_WIDTH(0) ? log2(width / DENSE_WIDTH(0)) : 0;
    int i = at < DENSE_WIDTHS - 1 ? (int)at : DENSE_WIDTHS - 2;
    double part = fmin(at - i, 1);
    double seconds = speeds[i] * (1 - part) + speeds[i + 1] * part;
    return width < DENSE_WIDTH(0) && width > 0 ? seconds * DENSE_WIDTH(0) / width : seconds;
}

double dense_at_order(const double speeds[DENSE_ORDERS], double order)
{
    double at = order > DENSE_ORDER(0) ? log2(order / DENSE_ORDER(0)) / 2 : 0;
    int i = at < DENSE_ORDERS - 1 ? (int)at : DENSE_ORDERS - 2;
    double part = fmin(at - i, 1);
    return speeds[i] * (1 - part) + speeds[i + 1] * part;
}

int dense_sizes(const struct covey_dense_problem *p, int matrix, int64_t size[2])
{
    int is_product = p->op == COVEY_DENSE_GEMM;
    int is_square = p->op == COVEY_DENSE_CHOLESKY || p->op == COVEY_DENSE_SOLVE;
    switch (matrix) {
    case COVEY_DENSE_A:
        size[0] = is_square ? p->n : p->m;
        size[1] = is_product ? p->k : p->n;
        return 1;
    case COVEY_DENSE_B:
        size[0] = is_product                               ? p->k
                  : is_square                              ? p->n
                  : p->op == COVEY_DENSE_QR && p->m < p->n ? p->n
                                                           : p->m;
        size[1] = is_product ? p->n : p->r;
        return 1;
    case COVEY_DENSE_C:
        size[0] = p->m;
        size[1] = is_product || p->n < p->m ? p->n : p->m;
        return is_product || p->op == COVEY_DENSE_QR;
    default:
        return 0;
    }
}

/* Between what one sender takes, if that is known, and what all do. */
static double among(double one_s, double all_s, const struct covey_domain_network *network,
                    double senders)
{
    double others = network->members - 1;
    if (!(one_s > 0) || one_s > all_s || others < 1)
        return all_s;
    return one_s + (all_s - one_s) * fmin(fmax(senders - 1, 0) / others, 1);
}

double dense_alpha_s(const struct covey_domain_network *network, double senders)
{
    return among(network->one_alpha_s, network->alpha_s, network, senders);
}

double dense_beta_s(const struct covey_domain_network *network, double senders)
{
    return among(network->one_beta_s, network->beta_s, network, senders);
}

double dense_message_s(const struct covey_domain_network *network, double senders, double bytes)
{
    return dense_alpha_s(network, senders) + bytes * dense_beta_s(network, senders);
}

double dense_moves_s(const struct dense_case *c, const struct dense_grid *grid)
{
    const struct covey_dense_problem *p = &c->problem;
    const struct covey_domain_network *network = &c->place.network;
    int others = grid->rows * grid->columns - 1;
    double seconds = 0, beta_s = network->one_beta_s > 0 ? network->one_beta_s : network->beta_s;
    for (int matrix = COVEY_DENSE_A; matrix <= COVEY_DENSE_C; matrix++) {
        int64_t size[2];
        int is_input = (p->op == COVEY_DENSE_GEMM && matrix != COVEY_DENSE_C) ||
                       (p->op == COVEY_DENSE_SOLVE && matrix == COVEY_DENSE_A);
        int ways = is_input ? 1 : 2;
        if (!dense_sizes(p, matrix, size) || (p->op == COVEY_DENSE_QR && matrix == COVEY_DENSE_C))
            continue;
        double bytes = dense_bytes(p->type) * (double)size[0] * (double)size[1];
        seconds += ways * (others * network->alpha_s +
                           bytes * others / (others + 1) * (beta_s + 2 * c->speed.copy_s));
    }
    return seconds;
}

/* The M forms are judged as in HPL's TUNING: the next process has the panel as soon as in a ring,
 * and passes nothing on. */
struct dense_cast_cost dense_cast_cost(const struct covey_domain_network *network, int bcast,
                                       int members, double casts, double bytes)
{
    double senders = bcast == DENSE_TREE                              ? members / 2.0
                     : bcast == DENSE_LONG                            ? members
                     : bcast == DENSE_2RING || bcast == DENSE_2RING_M ? 2
                                                                      : 1;
    double one = dense_message_s(network, casts * senders, bytes);
    int rest = members - 1, half = rest / 2 + 1;
    switch (rest < 1 ? -1 : bcast) {
    case -1:
        return (struct dense_cast_cost){0, 0};
    case DENSE_1RING:
        return (struct dense_cast_cost){rest > 1 ? 2 * one : one, rest * one};
    case DENSE_1RING_M:
        return (struct dense_cast_cost){one, rest * one};
    case DENSE_2RING:
        return (struct dense_cast_cost){rest > 1 ? 2 * one : one, half * one};
    case DENSE_2RING_M:
        return (struct dense_cast_cost){one, half * one};
    case DENSE_TREE: {
        double rounds = ceil(log2(members));
        return (struct dense_cast_cost){rounds * one, rounds * one};
    }
    default: {
        double all = (log2(members) + rest) * dense_alpha_s(network, casts * senders) +
                     2 * bytes * rest / members * dense_beta_s(network, casts * senders);
        return (struct dense_cast_cost){all, all};
    }
    }
}

double dense_drain_s(struct dense_cast_cost cast)
{
    return cast.all_s - cast.next_s;
}

#define SAMPLES 48 /* steps of which the cost is computed; between them it is a line */

double dense_steps_s(const struct dense_case *c, const struct dense_setting *s, double n,
                     dense_step_fn *step)
{
    double steps = ceil(n / s->block), begun_s = 0, done_s = 0;
    int samples = steps < SAMPLES ? (int)steps : SAMPLES;
    for (int i = 0; i < samples; i++) {
        struct dense_step_cost cost = step(c, s, n * (1 - (i + 0.5) / samples));
        begun_s += steps / samples * cost.seconds;
        done_s = fmax(done_s, begun_s + cost.drain_s);
    }
    return done_s;
}

/* ---- The search ------------------------------------------------------------------------------ */

struct search {
    const struct dense_op *op;
    int algorithm;
    const struct dense_case *c;
    const struct dense_setting *forced;
    struct dense_setting *best;
    double least;
};

/* Memory of rank 0 for whole matrices, which is written first. */
static double whole_s(const struct dense_case *c)
{
    double elements = 0;
    for (int matrix = COVEY_DENSE_A; matrix <= COVEY_DENSE_C; matrix++) {
        int64_t size[2];
        int is_made = matrix != COVEY_DENSE_C || c->problem.op == COVEY_DENSE_GEMM;
        if (is_made && dense_sizes(&c->problem, matrix, size))
            elements += (double)size[0] * (double)size[1];
    }
    return elements * dense_bytes(c->problem.type) * c->place.touch_s;
}

static void try_setting(struct search *search, const struct dense_setting *s)
{
    const struct dense_case *c = search->c;
    double seconds = search->op->cost(search->algorithm, c, s);
    if (seconds < 0)
        return;
    if (search->algorithm == DENSE_LOCAL || c->at_root)
        seconds += dense_moves_s(c, &s->grid);
    if (search->algorithm == DENSE_LOCAL && !c->at_root && s->grid.rows * s->grid.columns > 1)
        seconds += whole_s(c);
    if (search->least >= 0 && seconds >= search->least)
        return;
    search->least = seconds;
    *search->best = *s;
}

static void try_ways(struct search *search, struct dense_setting s)
{
    const struct dense_setting *forced = search->forced;
    int bcast_end = forced->bcast >= 0 ? forced->bcast + 1 : DENSE_BCASTS;
    int swap_end = forced->swap >= 0 ? forced->swap + 1 : DENSE_SWAPS;
    int ahead_end = forced->lookahead >= 0 ? forced->lookahead + 1 : 2;
    for (s.bcast = forced->bcast >= 0 ? forced->bcast : 0; s.bcast < bcast_end; s.bcast++)
        for (s.swap = forced->swap >= 0 ? forced->swap : 0; s.swap < swap_end; s.swap++)
            for (s.lookahead = forced->lookahead >= 0 ? forced->lookahead : 0;
                 s.lookahead < ahead_end; s.lookahead++)
                try_setting(search, &s);
}

static void try_blocks(struct search *search, struct dense_setting s)
{
    static const int blocks[] = {32, 48, 64, 96, 128, 192, 256};
    s.block = search->forced->block;
    if (s.block > 0) {
        try_ways(search, s);
        return;
    }
    for (unsigned i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        s.block = blocks[i];
        try_ways(search, s);
    }
}

/* Rank 0 is in every grid; its load is of one processor, of which a host may have less. */
int dense_is_at_rest(const struct dense_case *c, const struct dense_grid *grid)
{
    return c->place.load_root * fmin(c->place.processors, 1) < DOMAIN_LOADED &&
           grid->rows * grid->columns <= c->place.at_rest.members;
}

/* Spread matrices shall lie at half of the members or more. */
double dense_best(const struct dense_op *op, int algorithm, const struct dense_case *c,
                  const struct dense_setting *forced, struct dense_setting *best)
{
    struct search search = {op, algorithm, c, forced, best, -1};
    struct dense_case rest = *c;
    rest.place = domain_place_at_rest(&c->place);
    struct dense_setting s = {.grid = forced->grid};
    int members = c->place.network.members;
    if (forced->grid.rows > 0) {
        try_blocks(&search, s);
        return search.least;
    }
    for (s.grid.rows = 1; s.grid.rows <= members; s.grid.rows++) {
        for (s.grid.columns = 1; s.grid.rows * s.grid.columns <= members; s.grid.columns++) {
            search.c = dense_is_at_rest(c, &s.grid) ? &rest : c;
            if (c->at_root || 2 * s.grid.rows * s.grid.columns >= members)
                try_blocks(&search, s);
        }
    }
    return search.least;
}
