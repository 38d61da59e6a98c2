/* links: tests/sim/cast_sim.c tests/sim/network.c proto/session/fault.c proto/cast/cast.c proto/cast/cast_flush.c proto/cast/cast_order.c proto/cast/cast_receive.c proto/cast/cast_ring.c proto/cast/cast_send.c proto/cast/cast_wire.c proto/wire/host_set.c proto/auth/handshake.c proto/wire/datagram.c proto/auth/auth.c cipher/cipher*.c proto/wire/frame.c proto/wire/cursor.c */
/*
 * cast_test.c - hosts that cast to each other, in stories of random weather and death. What is
 * checked stands in cast_sim.h.
 *
 *     cast_test                           all cases; SIM_SEEDS=N seeds in each of the last three
 *                                         (default 800, SOAK=1: 10000)
 *     cast_test --seed N FORM [--trace]   one seed; FORM: 0 segment, 1 unicast, 2 mixed
 *
 * slow: hundreds of seeds of whole groups; make quick leaves it out.
 */
#include "tests/sim/cast_sim.h"

#include <CUnit/CUnit.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/cast/cast_wire.h"
#include "tests/sim/network.h"
#include "tests/unit/runner.h"

#define SEEDS 800
#define SEEDS_SOAK 10000

static unsigned below(uint64_t *random, unsigned bound)
{
    return (unsigned)random_below(random, bound);
}

static struct cast_sim_config seeded(uint64_t seed, enum cast_sim_form form)
{
    uint64_t random = seed * 2654435761u + 1;
    bool bad = below(&random, 4) > 0;
    struct cast_sim_config c = {.seed = seed,
                                .form = form,
                                .hosts = 2 + below(&random, 5),
                                .joiners = below(&random, 3) == 0 ? 1 + below(&random, 3) : 0,
                                .messages = 10 + below(&random, 60),
                                .deaths = below(&random, 4),
                                .cuts = below(&random, 3),
                                .total_percent = below(&random, 3) * 40,
                                .loss_ppm = bad ? below(&random, 200000) : 0,
                                .duplicate_ppm = bad ? below(&random, 50000) : 0,
                                .reorder_ppm = bad ? below(&random, 200000) : 0,
                                .corrupt_ppm = bad ? below(&random, 20000) : 0,
                                .delay_us = 20 + below(&random, 2000),
                                .jitter_us = below(&random, 5000),
                                .refuse_ppm =
                                    below(&random, 2) * (below(&random, 3) == 0 ? 900000 : 100000),
                                .encrypt = below(&random, 4) == 0,
                                .large = below(&random, 3) == 0};
    if (below(&random, 2) == 0) {
        c.together = true;
        c.hosts = 4 + below(&random, 4);
        c.deaths = 1 + below(&random, c.hosts - 1);
    }
    if (below(&random, 3) == 0) { /* survivors that have got unequally far, and die in turn */
        c.together = true;
        c.joiners = c.refuse_ppm = 0;
        c.loss_ppm = 200000 + below(&random, 300000);
        c.total_percent = below(&random, 2) * 60;
        c.delay_us = 100;
        c.deaths = 2 + below(&random, 2);
        c.crisis_us = 5000 + below(&random, 20000);
    }
    if (below(&random, 10) == 0) {
        c.many_sets = true;
        c.large = below(&random, 2) == 0;
        c.messages = 150 + below(&random, 150);
    }
    if (below(&random, 5) == 0)
        c.narrow_percent = 10 + below(&random, 60);
    if (below(&random, 2) == 0) /* their names come again */
        c.first_id = CAST_NAME_MAX - below(&random, 8);
    return c;
}

static unsigned seeds_wanted(void)
{
    const char *text = getenv("SIM_SEEDS");
    if (text != NULL)
        return (unsigned)strtoul(text, NULL, 10);
    return getenv("SOAK") != NULL ? SEEDS_SOAK : SEEDS;
}

static void add(struct cast_sim_result *sum, const struct cast_sim_result *r)
{
    sum->delivered += r->delivered;
    sum->delivered_total += r->delivered_total;
    sum->repairs += r->repairs;
    sum->repairs_multicast += r->repairs_multicast;
    sum->repairs_framed += r->repairs_framed;
    sum->flushes += r->flushes;
    sum->broken_off += r->broken_off;
}

static void run_seeds(enum cast_sim_form form, struct cast_sim_result *sum)
{
    unsigned seeds = seeds_wanted();
    memset(sum, 0, sizeof *sum);
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        struct cast_sim_config config = seeded(seed, form);
        struct cast_sim_result r;
        const char *failure = cast_sim_run(&config, &r);
        if (failure != NULL) {
            printf("%s\n", failure);
            CU_FAIL("a seed failed");
            return;
        }
        add(sum, &r);
    }
    printf("%u seeds: %" PRIu64 " messages given out, %" PRIu64 " of them in total order, %" PRIu64
           " repairs, %" PRIu64 " of them to all, %" PRIu64 " over windows, %" PRIu64
           " flushes, %" PRIu64 " deaths between two copies\n",
           seeds, sum->delivered, sum->delivered_total, sum->repairs, sum->repairs_multicast,
           sum->repairs_framed, sum->flushes, sum->broken_off);
    CU_ASSERT(sum->flushes > seeds / 8);
    CU_ASSERT(sum->repairs_multicast > seeds / 8);
    CU_ASSERT(sum->repairs_framed > seeds / 8);
}

static void test_segment(void)
{
    struct cast_sim_result sum;
    run_seeds(CAST_SIM_SEGMENT, &sum);
}

static void test_unicast(void)
{
    struct cast_sim_result sum;
    run_seeds(CAST_SIM_UNICAST, &sum);
    CU_ASSERT(sum.broken_off > seeds_wanted() / 8);
}

static void test_mixed(void)
{
    struct cast_sim_result sum;
    run_seeds(CAST_SIM_MIXED, &sum);
    CU_ASSERT(sum.broken_off > seeds_wanted() / 16);
}

/* Where nothing is lost a fragment is sent once, however many hosts it is for. */
static void test_once_on_the_wire(void)
{
    struct cast_sim_config config = {
        .seed = 1, .hosts = 8, .messages = 100, .delay_us = 100, .large = true};
    struct cast_sim_result r;
    const char *failure = cast_sim_run(&config, &r);
    if (failure != NULL)
        printf("%s\n", failure);
    CU_ASSERT_PTR_NULL(failure);
    CU_ASSERT_EQUAL(r.repairs, 0);
    CU_ASSERT_EQUAL(r.flushes, 0);
    CU_ASSERT(r.delivered > 3 * r.sent);
}

static void test_heavy_loss(void)
{
    struct cast_sim_config config = {.seed = 2,
                                     .hosts = 5,
                                     .messages = 100,
                                     .total_percent = 30,
                                     .loss_ppm = 400000,
                                     .delay_us = 300,
                                     .large = true};
    struct cast_sim_result r;
    const char *failure = cast_sim_run(&config, &r);
    if (failure != NULL)
        printf("%s\n", failure);
    CU_ASSERT_PTR_NULL(failure);
    CU_ASSERT(r.repairs > 0);
}

static int one_seed(int argc, char **argv)
{
    unsigned form = argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) % CAST_SIM_FORMS : 0;
    struct cast_sim_config config = seeded(strtoull(argv[2], NULL, 10), (enum cast_sim_form)form);
    struct cast_sim_result r;
    config.trace = argc > 4 && strcmp(argv[4], "--trace") == 0;
    const char *failure = cast_sim_run(&config, &r);
    printf("%s\n%" PRIu64 " messages given out, %" PRIu64 " steps, until %" PRIu64 " us\n",
           failure != NULL ? failure : "good", r.delivered, r.steps, r.at_us);
    return failure != NULL;
}

int main(int argc, char **argv)
{
    static const struct test_case cases[] = {
        {"a fragment is on the wire once", test_once_on_the_wire},
        {"heavy loss", test_heavy_loss},
        {"seeds, all hosts on one segment", test_segment},
        {"seeds, a datagram to each host", test_unicast},
        {"seeds, some hosts on one segment", test_mixed},
    };
    if (argc > 2 && strcmp(argv[1], "--seed") == 0)
        return one_seed(argc, argv);
    return covey_test_main("cast", cases, sizeof cases / sizeof cases[0]);
}
