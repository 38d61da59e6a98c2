/* links: proto/exchange/exchange.c proto/exchange/exchange_random.c proto/exchange/exchange_colour.c proto/exchange/exchange_longest.c proto/network/network.c proto/network/topology.c tests/unit/proto/schedule/random_tree.c -lm */
/*
 * Orders of sparse exchanges: every algorithm on random patterns, checked by means of this file
 * alone, and the numbers of phases that the paper states.
 */
#include <CUnit/CUnit.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/exchange/exchange.h"
#include "tests/unit/proto/schedule/random_tree.h"
#include "tests/unit/runner.h"

#define RANKS_MAX 64

static struct exchange empty(int ranks)
{
    return (struct exchange){
        .ranks = ranks,
        .messages = calloc((size_t)ranks * (size_t)ranks + 1, sizeof(struct exchange_message))};
}

static void add(struct exchange *x, int from, int to, uint64_t bytes)
{
    x->messages[x->count++] =
        (struct exchange_message){.bytes = bytes, .from = (uint16_t)from, .to = (uint16_t)to};
}

/* Each pair with a chance of `percent`; sizes of three magnitudes. */
static struct exchange random_pattern(uint64_t *seed, int ranks, uint32_t percent)
{
    struct exchange x = empty(ranks);
    for (int from = 0; from < ranks; from++)
        for (int to = 0; to < ranks; to++)
            if (from != to && tree_below(seed, 100) < percent)
                add(&x, from, to, 1 + tree_below(seed, 1u << (7 * tree_below(seed, 3) + 4)));
    return x;
}

static bool has(const struct exchange *x, int from, int to)
{
    for (size_t i = 0; i < x->count; i++)
        if (x->messages[i].from == from && x->messages[i].to == to)
            return true;
    return false;
}

/* Every rank sends and receives exactly d messages: cyclic shifts, in which pairs of messages then
 * exchange their receivers at random. */
static struct exchange regular_pattern(uint64_t *seed, int ranks, int density)
{
    struct exchange x = empty(ranks);
    for (int s = 1; s <= density; s++)
        for (int i = 0; i < ranks; i++)
            add(&x, i, (i + s) % ranks, 1);
    for (size_t i = 0; i < 3 * x.count; i++) {
        struct exchange_message *m = &x.messages[tree_below(seed, (uint32_t)x.count)];
        struct exchange_message *n = &x.messages[tree_below(seed, (uint32_t)x.count)];
        uint16_t held = m->to;
        if (m->from == n->to || n->from == m->to || has(&x, m->from, n->to) ||
            has(&x, n->from, m->to))
            continue;
        m->to = n->to;
        n->to = held;
    }
    return x;
}

static int by_pair(const void *a, const void *b)
{
    const struct exchange_message *m = a, *n = b;
    return m->from != n->from ? m->from - n->from : m->to - n->to;
}

/* Whether the messages are those of before, with their sizes. */
static bool same_messages(const struct exchange *x, const struct exchange *before)
{
    bool same = x->count == before->count;
    size_t bytes = sizeof *x->messages * (x->count + 1);
    struct exchange_message *a = malloc(bytes), *b = malloc(bytes);
    memcpy(a, x->messages, bytes);
    memcpy(b, before->messages, bytes);
    qsort(a, x->count, sizeof *a, by_pair);
    qsort(b, x->count, sizeof *b, by_pair);
    for (size_t i = 0; i < x->count; i++)
        same &= by_pair(&a[i], &b[i]) == 0 && a[i].bytes == b[i].bytes;
    free(a);
    free(b);
    return same;
}

/* Whether phases are rising and exist, and each is a partial permutation. */
static bool permutations(const struct exchange *x)
{
    bool sends[RANKS_MAX], receives[RANKS_MAX];
    uint32_t phase = UINT32_MAX;
    for (size_t i = 0; i < x->count; i++) {
        const struct exchange_message *m = &x->messages[i];
        if (m->phase != phase) {
            memset(sends, 0, sizeof sends);
            memset(receives, 0, sizeof receives);
            if (m->phase >= x->phases || (phase != UINT32_MAX && m->phase < phase))
                return false;
            phase = m->phase;
        }
        if (sends[m->from] || receives[m->to])
            return false;
        sends[m->from] = receives[m->to] = true;
    }
    return true;
}

/* Whether no link of the tree, all of one rate, has two messages one way in a phase. A link is used
 * upwards by a message from below it to elsewhere. */
static bool links_are_free(const struct exchange *x, const struct network *n)
{
    for (int node = 0; node < n->node_count; node++) {
        uint32_t up = UINT32_MAX, down = UINT32_MAX;
        for (size_t i = 0; i < x->count; i++) {
            const struct exchange_message *m = &x->messages[i];
            bool from = false, to = false;
            for (int at = n->leaf[m->from]; at >= 0; at = n->nodes[at].parent)
                from |= at == node;
            for (int at = n->leaf[m->to]; at >= 0; at = n->nodes[at].parent)
                to |= at == node;
            if (from == to)
                continue;
            uint32_t *last = from ? &up : &down;
            if (*last == m->phase)
                return false;
            *last = m->phase;
        }
    }
    return true;
}

static struct exchange copy_of(const struct exchange *x)
{
    struct exchange copy = empty(x->ranks);
    copy.count = x->count;
    memcpy(copy.messages, x->messages, sizeof *x->messages * x->count);
    return copy;
}

static void all_make_partial_permutations(void)
{
    static const enum exchange_algorithm algorithms[] = {EXCHANGE_LP, EXCHANGE_RS_N,
                                                         EXCHANGE_COLOUR};
    for (uint64_t seed = 1; seed <= 400; seed++) {
        uint64_t random = seed;
        int ranks = 1 + (int)tree_below(&random, 40);
        struct exchange x = random_pattern(&random, ranks, 1 + tree_below(&random, 100));
        for (size_t i = 0; i < 3; i++) {
            struct exchange y = copy_of(&x);
            CU_ASSERT_EQUAL(exchange_schedule(&y, algorithms[i], NULL, seed), 0);
            CU_ASSERT(same_messages(&y, &x));
            CU_ASSERT(permutations(&y));
            free(y.messages);
        }
        free(x.messages);
    }
}

static void ac_is_one_phase_and_lp_all(void)
{
    uint64_t seed = 3;
    struct exchange x = random_pattern(&seed, 16, 30);
    CU_ASSERT_EQUAL(exchange_schedule(&x, EXCHANGE_AC, NULL, 0), 0);
    CU_ASSERT_EQUAL(x.phases, 1);
    CU_ASSERT_EQUAL(exchange_schedule(&x, EXCHANGE_LP, NULL, 0), 0);
    CU_ASSERT_EQUAL(x.phases, 15);
    for (size_t i = 0; i < x.count; i++)
        CU_ASSERT_EQUAL(x.messages[i].from ^ x.messages[i].to, (int)x.messages[i].phase + 1);
    free(x.messages);
}

static void colouring_takes_the_density(void)
{
    for (uint64_t seed = 1; seed <= 600; seed++) {
        uint64_t random = seed;
        int ranks = 2 + (int)tree_below(&random, 62);
        struct exchange x =
            seed % 2 ? random_pattern(&random, ranks, tree_below(&random, 101))
                     : regular_pattern(&random, ranks, (int)tree_below(&random, (uint32_t)ranks));
        CU_ASSERT_EQUAL(exchange_schedule(&x, EXCHANGE_COLOUR, NULL, 0), 0);
        CU_ASSERT(permutations(&x));
        CU_ASSERT_EQUAL(x.phases, exchange_density(&x));
        CU_ASSERT(x.count == 0 || x.messages[x.count - 1].phase == x.phases - 1);
        free(x.messages);
    }
}

/* Section 4.2: at most d + log2 d phases on average; 50 samples of 64 ranks, as in section 6. */
static void rs_n_takes_what_the_paper_says(void)
{
    static const int densities[] = {4, 8, 16, 32, 48};
    for (size_t k = 0; k < 5; k++) {
        double sum = 0, d = densities[k];
        for (uint64_t seed = 1; seed <= 50; seed++) {
            uint64_t random = seed * 77 + k;
            struct exchange x = regular_pattern(&random, 64, densities[k]);
            CU_ASSERT_EQUAL(exchange_schedule(&x, EXCHANGE_RS_N, NULL, seed), 0);
            sum += x.phases;
            free(x.messages);
        }
        printf("d = %g: %.2f phases; ", d, sum / 50);
        CU_ASSERT(sum / 50 <= d + log2(d));
        CU_ASSERT(sum / 50 >= d);
    }
}

static void rs_nl_keeps_links_free(void)
{
    for (uint64_t seed = 0; seed < 300; seed++) {
        uint64_t random = seed;
        struct topology t;
        struct network n;
        tree_make(&t, seed, 32, TREE_EQUAL);
        CU_ASSERT_EQUAL_FATAL(network_create(&n, &t, NULL, 0), 0);
        struct exchange x = random_pattern(&random, n.rank_count, 1 + tree_below(&random, 100));
        struct exchange before = copy_of(&x);
        CU_ASSERT_EQUAL(exchange_schedule(&x, EXCHANGE_RS_NL, &n, seed), 0);
        CU_ASSERT(same_messages(&x, &before));
        CU_ASSERT(permutations(&x));
        CU_ASSERT(links_are_free(&x, &n));
        free(x.messages);
        free(before.messages);
        network_destroy(&n);
        topology_destroy(&t);
    }
}

/* The share of messages whose reverse goes in the same phase. */
static double paired(const struct exchange *x)
{
    size_t pairs = 0;
    for (size_t i = 0; i < x->count; i++)
        for (size_t k = 0; k < x->count; k++)
            pairs += x->messages[i].phase == x->messages[k].phase &&
                     x->messages[i].from == x->messages[k].to &&
                     x->messages[i].to == x->messages[k].from;
    return (double)pairs / (double)x->count;
}

static void rs_nl_prefers_both_ways(void)
{
    uint64_t seed = 5;
    struct topology t;
    struct network n;
    char error[TOPOLOGY_ERROR_BYTES];
    char text[1024] = "switch s\n";
    for (int i = 0; i < 16; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "host n%d s\n", i);
    CU_ASSERT_EQUAL_FATAL(topology_parse(&t, text, strlen(text), "net", error), 0);
    CU_ASSERT_EQUAL_FATAL(network_create(&n, &t, NULL, 0), 0);
    struct exchange x = random_pattern(&seed, 16, 100), y = copy_of(&x);
    CU_ASSERT_EQUAL(exchange_schedule(&x, EXCHANGE_RS_NL, &n, 1), 0);
    CU_ASSERT_EQUAL(exchange_schedule(&y, EXCHANGE_RS_N, NULL, 1), 0);
    CU_ASSERT(paired(&x) > 0.9);
    CU_ASSERT(paired(&y) < 0.5);
    free(x.messages);
    free(y.messages);
    network_destroy(&n);
    topology_destroy(&t);
}

/* Whether no rank sends two messages at a time, or receives two. */
static bool ports_are_free(const struct exchange *x)
{
    uint64_t sends[RANKS_MAX] = {0}, receives[RANKS_MAX] = {0};
    for (size_t i = 0; i < x->count; i++) {
        const struct exchange_message *m = &x->messages[i];
        if (m->start < sends[m->from] || m->start < receives[m->to])
            return false;
        sends[m->from] = receives[m->to] = m->start + m->bytes;
        if (m->start + m->bytes > x->end)
            return false;
    }
    return true;
}

static void longest_first_comes_near_the_bound(void)
{
    double worst = 0, sum = 0;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        uint64_t random = seed;
        int ranks = 2 + (int)tree_below(&random, 62);
        struct exchange x = random_pattern(&random, ranks, 5 + tree_below(&random, 96));
        struct exchange before = copy_of(&x);
        CU_ASSERT_EQUAL(exchange_schedule(&x, EXCHANGE_LONGEST, NULL, 0), 0);
        CU_ASSERT(same_messages(&x, &before));
        CU_ASSERT(ports_are_free(&x));
        double ratio = x.count > 0 ? (double)x.end / exchange_bound(&x, NULL) : 1;
        CU_ASSERT(ratio > 0.999999);
        worst = ratio > worst ? ratio : worst;
        sum += ratio / 300;
        free(x.messages);
        free(before.messages);
    }
    printf("mean %.4f, worst %.3f of the bound; ", sum, worst);
    CU_ASSERT(sum <= 1.01);
    CU_ASSERT(worst <= 1.10);
}

static void the_bound_counts_links(void)
{
    static const char text[] = "switch s t\nlink s t 2G\nhost a s\nhost b s\nhost c t\nhost d t\n";
    struct topology t;
    struct network n;
    char error[TOPOLOGY_ERROR_BYTES];
    struct exchange x = empty(4);
    CU_ASSERT_EQUAL_FATAL(topology_parse(&t, text, strlen(text), "net", error), 0);
    CU_ASSERT_EQUAL_FATAL(network_create(&n, &t, NULL, 0), 0);
    add(&x, 0, 2, 100);
    add(&x, 1, 3, 60);
    add(&x, 1, 0, 10);
    CU_ASSERT_DOUBLE_EQUAL(exchange_bound(&x, NULL), 100, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(exchange_bound(&x, &n), 100, 1e-9);
    add(&x, 1, 2, 60);
    CU_ASSERT_DOUBLE_EQUAL(exchange_bound(&x, NULL), 160, 1e-9);
    x.messages[0].to = 3;
    x.messages[0].bytes = 300;
    CU_ASSERT_DOUBLE_EQUAL(exchange_bound(&x, &n), 360, 1e-9);
    x.messages[2] = (struct exchange_message){.bytes = 1000, .from = 1, .to = 2};
    CU_ASSERT_DOUBLE_EQUAL(exchange_bound(&x, &n), 1120, 1e-9);
    free(x.messages);
    network_destroy(&n);
    topology_destroy(&t);
}

static const struct test_case cases[] = {
    {"all make partial permutations", all_make_partial_permutations},
    {"AC is one phase, LP is all of them", ac_is_one_phase_and_lp_all},
    {"colouring takes as many phases as the density", colouring_takes_the_density},
    {"RS_N takes what the paper says", rs_n_takes_what_the_paper_says},
    {"RS_NL keeps links free", rs_nl_keeps_links_free},
    {"RS_NL prefers pairs both ways", rs_nl_prefers_both_ways},
    {"longest first comes near the bound", longest_first_comes_near_the_bound},
    {"the bound counts links", the_bound_counts_links},
};

int main(void)
{
    return covey_test_main("exchange", cases, sizeof cases / sizeof cases[0]);
}
