/* links: proto/exchange/exchange.c proto/exchange/exchange_random.c proto/exchange/exchange_colour.c proto/exchange/exchange_longest.c proto/exchange/exchange_signal.c proto/network/network.c proto/network/topology.c tests/unit/proto/schedule/random_tree.c -lm */
/*
 * Orders of exchanges carried out in virtual time, by the rules of the runtime: a rank sends its
 * messages in their order, one at a time; a receiver says that it is ready when what it receives
 * before has arrived (S1); where there are signals a message waits for these alone. No link may
 * ever carry more than its rate, and the end is compared with the bound. Ways and sums are found
 * here, by means of this file alone.
 *
 * SOAK=1 takes ten thousand patterns in the place of some hundreds.
 */
#include <CUnit/CUnit.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/exchange/exchange_signal.h"
#include "tests/unit/proto/schedule/random_tree.h"
#include "tests/unit/runner.h"

#define WAY_MAX 160
#define MANY 8 /* messages a rank; fewer may leave gaps whatever their order */
#define NEVER INFINITY

struct message {
    double start, end;
    uint32_t wants; /* signals that have not come */
    bool ready, started, arrived;
};

struct run {
    struct exchange *x;
    const struct network *n; /* NULL: ports alone */
    const struct exchange_signal *signals;
    size_t signal_count;
    bool s1;
    struct message *messages;
    size_t *next_send,
        *next_receive; /* by rank: from where in the list the next one is looked for */
    bool *sending;
    double *load; /* by edge */
    double now, worst_load;
    size_t arrived;
};

/* ---- A pattern ---------------------------------------------------------------------------- */

static uint64_t random_size(uint64_t *seed, uint32_t kind)
{
    if (kind == 0) /* of four magnitudes */
        return 6400 + 100 * tree_below(seed, 1u << (5 * tree_below(seed, 4) + 4));
    if (kind == 3) /* nearly equal */
        return 100 * (4096 + tree_below(seed, 400));
    return 100 * (kind == 1 ? 1000 + tree_below(seed, 100000) : 4096);
}

/* Dense and sparse ones, and some in which a rank has much more to do than the others. */
static struct exchange random_pattern(uint64_t *seed, int ranks)
{
    struct exchange x = {.ranks = ranks,
                         .messages = calloc((size_t)ranks * (size_t)ranks + 1, sizeof *x.messages)};
    uint32_t percent = 1 + tree_below(seed, 100), kind = tree_below(seed, 4);
    int hot = tree_below(seed, 4) == 0 ? (int)tree_below(seed, (uint32_t)ranks) : -1;

    for (int from = 0; from < ranks; from++) {
        for (int to = 0; to < ranks; to++) {
            if (from == to || (to != hot && tree_below(seed, 100) >= percent))
                continue;
            x.messages[x.count++] = (struct exchange_message){
                .bytes = random_size(seed, kind), .from = (uint16_t)from, .to = (uint16_t)to};
        }
    }
    return x;
}

/* ---- Ways and bounds ------------------------------------------------------------------------ */

static bool is_above(const struct network *n, int node, int leaf)
{
    for (; leaf >= 0; leaf = n->nodes[leaf].parent) {
        if (leaf == node)
            return true;
    }
    return false;
}

/* Edges: 2 * node up, 2 * node + 1 down; without a network a node is a rank. */
static int way_of(const struct run *r, const struct exchange_message *m, int *way)
{
    int length = 0;

    if (!r->n) {
        way[0] = 2 * m->from;
        way[1] = 2 * m->to + 1;
        return 2;
    }
    int from = r->n->leaf[m->from], to = r->n->leaf[m->to];
    for (int at = from; at >= 0 && !is_above(r->n, at, to); at = r->n->nodes[at].parent)
        way[length++] = 2 * at;
    for (int at = to; at >= 0 && !is_above(r->n, at, from); at = r->n->nodes[at].parent)
        way[length++] = 2 * at + 1;
    return length;
}

static double rate_of(const struct run *r, int edge)
{
    int node = edge / 2;
    return r->n ? (double)r->n->nodes[node].rate : 1;
}

static double slowest_of(const struct run *r)
{
    double slowest = r->n ? NEVER : 1;
    for (int i = 0; r->n && i < r->n->node_count; i++) {
        const struct network_node *node = &r->n->nodes[i];
        bool used = node->ranks > 0 && node->ranks < r->n->rank_count;
        slowest = used && (double)node->rate < slowest ? (double)node->rate : slowest;
    }
    return slowest;
}

static double bound_of(const struct run *r)
{
    double *sums = calloc(2 * (size_t)(r->n ? r->n->node_count : r->x->ranks) + 1, sizeof *sums);
    double most = 0;
    int way[WAY_MAX];

    for (size_t i = 0; i < r->x->count; i++) {
        const struct exchange_message *m = &r->x->messages[i];
        int length = way_of(r, m, way);
        for (int k = 0; k < length; k++) {
            sums[way[k]] += (double)m->bytes * slowest_of(r) / rate_of(r, way[k]);
            most = sums[way[k]] > most ? sums[way[k]] : most;
        }
    }
    free(sums);
    return most;
}

/* ---- A run ---------------------------------------------------------------------------------- */

/* Adds the message's rate to its way, or takes it away. */
static void carry(struct run *r, size_t at, int sign)
{
    const struct exchange_message *m = &r->x->messages[at];
    double rate = (double)m->bytes * slowest_of(r) / (r->messages[at].end - r->messages[at].start);
    int way[WAY_MAX], length = way_of(r, m, way);

    for (int k = 0; k < length; k++) {
        r->load[way[k]] += sign * rate;
        double share = r->load[way[k]] / rate_of(r, way[k]);
        r->worst_load = share > r->worst_load ? share : r->worst_load;
    }
}

static void give_ready(struct run *r, int rank)
{
    size_t at = r->next_receive[rank];
    while (at < r->x->count && r->x->messages[at].to != rank)
        at++;
    r->next_receive[rank] = at + 1;
    if (at < r->x->count)
        r->messages[at].ready = true;
}

static bool start_next(struct run *r, int rank)
{
    size_t at = r->next_send[rank];
    while (at < r->x->count && r->x->messages[at].from != rank)
        at++;
    r->next_send[rank] = at;
    if (at >= r->x->count || r->messages[at].wants > 0)
        return false;
    if (!r->signals && (r->sending[rank] || (r->s1 && !r->messages[at].ready)))
        return false;
    const struct exchange_message *m = &r->x->messages[at];
    double time = m->end > m->start ? (double)(m->end - m->start) : (double)m->bytes;
    r->messages[at].started = r->sending[rank] = true;
    r->messages[at].start = r->now;
    r->messages[at].end = r->now + time;
    r->next_send[rank] = at + 1;
    carry(r, at, 1);
    return true;
}

static void arrive(struct run *r, size_t at)
{
    r->messages[at].arrived = true;
    r->arrived++;
    carry(r, at, -1);
    r->sending[r->x->messages[at].from] = false;
    give_ready(r, r->x->messages[at].to);
    for (size_t i = 0; i < r->signal_count; i++)
        r->messages[r->signals[i].after].wants -= r->signals[i].before == at;
}

static size_t next_end(const struct run *r)
{
    size_t first = r->x->count;
    for (size_t i = 0; i < r->x->count; i++) {
        const struct message *m = &r->messages[i];
        if (m->started && !m->arrived && (first == r->x->count || m->end < r->messages[first].end))
            first = i;
    }
    return first;
}

/* Everything that ends at one moment ends before anything starts. */
static void play(struct run *r)
{
    for (int rank = 0; rank < r->x->ranks; rank++)
        give_ready(r, rank);
    for (;;) {
        for (int rank = 0; rank < r->x->ranks; rank++)
            while (start_next(r, rank)) {
            }
        size_t at = next_end(r);
        if (at == r->x->count)
            return;
        r->now = r->messages[at].end;
        for (; at < r->x->count && r->messages[at].end <= r->now; at = next_end(r))
            arrive(r, at);
    }
}

/* Plays the order; the time it takes, or NEVER when some message never goes. */
static double play_order(struct run *r)
{
    size_t ranks = (size_t)r->x->ranks;
    size_t edges = 2 * (r->n ? (size_t)r->n->node_count : ranks);

    r->messages = calloc(r->x->count + 1, sizeof *r->messages);
    r->next_send = calloc(ranks, sizeof *r->next_send);
    r->next_receive = calloc(ranks, sizeof *r->next_receive);
    r->sending = calloc(ranks, sizeof *r->sending);
    r->load = calloc(edges + 1, sizeof *r->load);
    for (size_t i = 0; i < r->signal_count; i++)
        r->messages[r->signals[i].after].wants++;
    play(r);
    free(r->messages);
    free(r->next_send);
    free(r->next_receive);
    free(r->sending);
    free(r->load);
    return r->arrived == r->x->count ? r->now : NEVER;
}

/* ---- Cases ---------------------------------------------------------------------------------- */

static uint64_t patterns(uint64_t few)
{
    return getenv("SOAK") ? 10000 : few;
}

struct figures {
    double sum, worst, worst_load;
    uint64_t count, late, many_late;
};

static void add_figure(struct figures *f, const struct run *r, double end)
{
    double ratio = end / bound_of(r);
    f->sum += ratio;
    f->count++;
    f->late += ratio > 1.1;
    f->many_late += ratio > 1.1 && r->x->count >= MANY * (size_t)r->x->ranks;
    f->worst = ratio > f->worst ? ratio : f->worst;
    f->worst_load = r->worst_load > f->worst_load ? r->worst_load : f->worst_load;
    CU_ASSERT(ratio > 0.999);
}

static void longest_on_a_tree(struct figures *f, uint64_t seed, enum tree_rates rates)
{
    uint64_t random = seed * 7919;
    struct topology t;
    struct network n;
    struct exchange_signal *signals = NULL;
    size_t count = 0;

    tree_make(&t, seed, 40, rates);
    CU_ASSERT_EQUAL_FATAL(network_create(&n, &t, NULL, 0), 0);
    struct exchange x = random_pattern(&random, n.rank_count);
    CU_ASSERT_EQUAL_FATAL(exchange_schedule(&x, EXCHANGE_LONGEST, &n, 0), 0);
    CU_ASSERT_EQUAL_FATAL(exchange_signals(&x, &n, &signals, &count), 0);
    struct run r = {.x = &x, .n = &n, .signals = signals, .signal_count = count, .s1 = true};
    double end = play_order(&r);
    if (x.count > 0)
        add_figure(f, &r, end);
    free(signals);
    free(x.messages);
    network_destroy(&n);
    topology_destroy(&t);
}

static void judge(const struct figures *f)
{
    printf("%llu patterns: mean %.4f of the bound, worst %.3f, %llu beyond 1.1, load %.3f; ",
           (unsigned long long)f->count, f->sum / (double)f->count, f->worst,
           (unsigned long long)f->late, f->worst_load);
    CU_ASSERT(f->sum / (double)f->count <= 1.01);
    CU_ASSERT((double)f->late <= 0.005 * (double)f->count);
    CU_ASSERT_EQUAL(f->many_late, 0);
    CU_ASSERT(f->worst_load <= 1.02);
}

static void longest_first_keeps_equal_links_free(void)
{
    struct figures f = {0};
    for (uint64_t seed = 1; seed <= patterns(150); seed++)
        longest_on_a_tree(&f, seed, TREE_EQUAL);
    judge(&f);
}

static void longest_first_keeps_trunks_free(void)
{
    struct figures f = {0};
    for (uint64_t seed = 1; seed <= patterns(100); seed++)
        longest_on_a_tree(&f, seed, TREE_TRUNKS);
    judge(&f);
}

static void longest_first_keeps_any_links_free(void)
{
    struct figures f = {0};
    for (uint64_t seed = 1; seed <= patterns(100); seed++)
        longest_on_a_tree(&f, seed, TREE_ANY_RATES);
    judge(&f);
}

static void longest_first_between_ports(void)
{
    struct figures f = {0};
    for (uint64_t seed = 1; seed <= patterns(150); seed++) {
        uint64_t random = seed;
        struct exchange x = random_pattern(&random, 2 + (int)tree_below(&random, 47));
        CU_ASSERT_EQUAL(exchange_schedule(&x, EXCHANGE_LONGEST, NULL, 0), 0);
        struct run r = {.x = &x, .s1 = true};
        double end = play_order(&r);
        if (x.count > 0)
            add_figure(&f, &r, end);
        free(x.messages);
    }
    judge(&f);
}

/* Whatever the order, every message goes, with ready signals and without. */
static void no_order_stands_still(void)
{
    static const enum exchange_algorithm all[] = {
        EXCHANGE_AC, EXCHANGE_LP, EXCHANGE_RS_N, EXCHANGE_RS_NL, EXCHANGE_COLOUR, EXCHANGE_LONGEST};
    for (uint64_t seed = 1; seed <= 40; seed++) {
        uint64_t random = seed;
        struct topology t;
        struct network n;
        tree_make(&t, seed, 24, TREE_EQUAL);
        CU_ASSERT_EQUAL_FATAL(network_create(&n, &t, NULL, 0), 0);
        struct exchange x = random_pattern(&random, n.rank_count);
        for (size_t i = 0; i < 2 * sizeof all / sizeof *all; i++) {
            CU_ASSERT_EQUAL(exchange_schedule(&x, all[i / 2], &n, seed), 0);
            struct run r = {.x = &x, .s1 = i % 2};
            CU_ASSERT(play_order(&r) < NEVER);
        }
        free(x.messages);
        network_destroy(&n);
        topology_destroy(&t);
    }
}

static const struct test_case cases[] = {
    {"longest first between ports comes near the bound", longest_first_between_ports},
    {"longest first keeps equal links free, near the bound", longest_first_keeps_equal_links_free},
    {"longest first keeps faster trunks free", longest_first_keeps_trunks_free},
    {"longest first keeps links of any rates free", longest_first_keeps_any_links_free},
    {"no order stands still", no_order_stands_still},
};

int main(void)
{
    return covey_test_main("exchange in virtual time", cases, sizeof cases / sizeof cases[0]);
}
