/* links: tests/sim/window_sim.c tests/sim/network.c proto/session/fault.c proto/window/window*.c proto/wire/cursor.c */
/*
 * window_test.c - windows under a hostile network. What every run checks at every step stands in
 * window_sim.c: the bytes that come out are those that were written, in order and once; buffers are
 * bounded; no window has something to do and does not do it.
 *
 *     window_test                      all cases; SIM_SEEDS=N seeds in the first (default 2000)
 *     window_test --seed N [--trace]   one seed of the first case, packet by packet
 */
#include "tests/sim/window_sim.h"

#include <CUnit/CUnit.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/runner.h"

#define SECOND_US UINT64_C(1000000)
#define LINK_BYTES_S 12500000 /* 100 Mbit/s */
#define QUEUE_BYTES (128u * 1024)
#define PACKET_HEADERS 46 /* Ethernet, IP, UDP around ours */

/* Two hosts at one switch with ports of 100 Mbit/s and shallow queues. */
static struct sim_config lan(uint64_t write_bytes)
{
    return (struct sim_config){.network = {.seed = 1,
                                           .ports = 2,
                                           .delay_us = 100,
                                           .rate_bytes_s = LINK_BYTES_S,
                                           .queue_bytes = QUEUE_BYTES,
                                           .datagram_bytes = 1500,
                                           .overhead_bytes = PACKET_HEADERS},
                               .window = {.packet_bytes_min = 1200,
                                          .packet_bytes_max = 8900,
                                          .send_buffer_bytes = 4u << 20,
                                          .receive_buffer_bytes = 4u << 20},
                               .write_bytes = write_bytes,
                               .one_way = true};
}

static size_t between(uint64_t *random, size_t low, size_t high)
{
    return low + (size_t)random_below(random, high - low + 1);
}

static void seeded_network(struct network_config *n, uint64_t *random)
{
    n->ports = (uint32_t)between(random, 2, 4);
    n->loss_ppm = (uint32_t)(random_below(random, 3) == 0 ? 0 : random_below(random, 300000));
    n->duplicate_ppm = (uint32_t)random_below(random, 50000);
    n->reorder_ppm = (uint32_t)(random_below(random, 2) == 0 ? 0 : random_below(random, 200000));
    n->reorder_us = random_below(random, 20000);
    n->delay_us = random_below(random, random_below(random, 3) == 0 ? 50000 : 300);
    n->jitter_us = random_below(random, 3) == 0 ? random_below(random, 10000) : 0;
    n->rate_bytes_s = random_below(random, 2) == 0 ? 0 : between(random, 1000000, 200000000);
    n->queue_bytes = random_below(random, 2) == 0 ? 0 : between(random, 16384, 262144);
    n->datagram_bytes = random_below(random, 2) == 0 ? 0 : between(random, 1300, 10000);
    n->overhead_bytes = PACKET_HEADERS;
}

/* Everything about a run follows from its seed. */
static struct sim_config seeded(uint64_t seed)
{
    uint64_t random = seed;
    struct sim_config c = {.network.seed = seed};
    seeded_network(&c.network, &random);
    c.window.packet_bytes_min = between(&random, 512, 1280);
    c.window.packet_bytes_max = between(&random, c.window.packet_bytes_min, 65535);
    c.window.send_buffer_bytes = between(&random, 1, 300000);
    c.window.receive_buffer_bytes = between(&random, 128u << 10, 600000);
    c.write_bytes = between(&random, 0, 150000);
    c.write_chunk = random_below(&random, 2) == 0 ? 0 : between(&random, 200, 20000);
    c.write_pause_us = random_below(&random, 3) == 0 ? random_below(&random, 20000) : 0;
    c.read_pause_us = random_below(&random, 3) == 0 ? random_below(&random, 20000) : 0;
    c.run_us = 2000;
    c.freeze_us = random_below(&random, 4) == 0 ? 8000 : 0;
    c.one_way = random_below(&random, 3) == 0;
    c.gaps = random_below(&random, 3) == 0;
    return c;
}

/* A few cuts, each shorter than two seconds. */
static void seeded_cuts(struct sim *s, uint64_t seed)
{
    uint64_t random = seed ^ 0xc07;
    uint32_t ports = s->config.network.ports;
    for (uint64_t cuts = random_below(&random, 4); cuts > 0; cuts--) {
        uint32_t a = (uint32_t)random_below(&random, ports), b = (a + 1) % ports;
        sim_run(s, network_now(s->network) + random_below(&random, 50000));
        network_cut_one_way(s->network, a, b, true);
        network_cut_one_way(s->network, b, a, random_below(&random, 2) == 0);
        sim_run(s, network_now(s->network) + random_below(&random, 2 * SECOND_US));
        network_cut(s->network, a, b, false);
    }
}

static bool run_seed(uint64_t seed, bool trace)
{
    struct sim_config config = seeded(seed);
    struct sim *s = sim_create(&config, trace);
    if (s == NULL)
        return false;
    seeded_cuts(s, seed);
    bool ok = sim_run(s, 600 * SECOND_US) && s->quiet;
    if (!ok || trace)
        printf("seed %" PRIu64 ": %s at %" PRIu64 " us\n", seed,
               s->failure != NULL ? s->failure
               : sim_complete(s)  ? (s->quiet ? "complete" : "does not become quiet")
                                  : "not complete in time",
               network_now(s->network));
    sim_destroy(s);
    return ok;
}

static void test_seeds(void)
{
    const char *wanted = getenv("SIM_SEEDS");
    uint64_t seeds = wanted != NULL ? strtoull(wanted, NULL, 10) : 2000;
    unsigned failed = 0;
    for (uint64_t seed = 1; seed <= seeds && failed < 5; seed++)
        failed += !run_seed(seed, false);
    CU_ASSERT_EQUAL(failed, 0);
}

/* Runs to the end; gives back the stats of end 0 and the bytes a second that reached end 1. */
static double run(const struct sim_config *config, struct window_stats *stats)
{
    struct sim *s = sim_create(config, false);
    CU_ASSERT_PTR_NOT_NULL_FATAL(s);
    bool ok = sim_run(s, 1000 * SECOND_US);
    if (!ok)
        printf("%s\n", s->failure != NULL ? s->failure : "not complete in time");
    CU_ASSERT_TRUE(ok);
    CU_ASSERT_TRUE(s->quiet);
    window_stats(s->ends[0].window, stats);
    double rate = (double)config->write_bytes * 1e6 / (double)s->ends[1].finished_us;
    sim_destroy(s);
    return rate;
}

static double run_lan(uint32_t loss_ppm, struct window_stats *stats)
{
    struct sim_config c = lan(20000000);
    c.network.loss_ppm = loss_ppm;
    return run(&c, stats);
}

static void test_fills_a_link(void)
{
    struct window_stats stats;
    double rate = run_lan(0, &stats);
    CU_ASSERT(rate > 0.93 * LINK_BYTES_S);
    CU_ASSERT_EQUAL(stats.probes_sent, 0);
    CU_ASSERT_EQUAL(stats.packets_spurious, 0);
}

static void test_does_not_collapse_under_loss(void)
{
    struct window_stats stats;
    CU_ASSERT(run_lan(10000, &stats) > 0.90 * LINK_BYTES_S);
    CU_ASSERT(run_lan(20000, &stats) > 0.85 * LINK_BYTES_S);
    CU_ASSERT(run_lan(50000, &stats) > 0.70 * LINK_BYTES_S);
    CU_ASSERT(run_lan(100000, &stats) > 0.35 * LINK_BYTES_S);
}

/* 1 Gbit/s, hosts that answer after a millisecond: so much is under way that a window which took
 * each lost packet for congestion would be far too small. */
static void test_loss_is_not_all_congestion(void)
{
    struct window_stats stats;
    struct sim_config c = lan(200000000);
    c.network.rate_bytes_s = 125000000;
    c.network.queue_bytes = 512u * 1024;
    c.network.delay_us = 500;
    double rate = run(&c, &stats);
    printf("%.0f MB/s", rate / 1e6);
    for (uint32_t ppm = 1000; ppm <= 100000; ppm *= 10) {
        c.network.loss_ppm = ppm;
        double under_loss = run(&c, &stats);
        printf(", %.1f %% loss %.0f", ppm / 1e4, under_loss / 1e6);
        CU_ASSERT(ppm > 10000 || under_loss > 0.8 * rate);
        CU_ASSERT(stats.bytes_retransmitted < 200000000 * (uint64_t)(ppm + 20000) / 1000000);
    }
    printf(" ");
}

static void test_both_ways(void)
{
    struct window_stats stats;
    struct sim_config c = lan(20000000);
    c.one_way = false;
    CU_ASSERT(run(&c, &stats) > 0.85 * LINK_BYTES_S);
}

/* Hosts that run 2 ms of every 10 ms, as under a CPU quota. */
static void test_hosts_that_stand_still(void)
{
    struct window_stats stats;
    struct sim_config c = lan(20000000);
    c.run_us = 2000;
    c.freeze_us = 8000;
    CU_ASSERT(run(&c, &stats) > 0.80 * LINK_BYTES_S);
    CU_ASSERT(stats.packets_spurious < 10);
    CU_ASSERT(stats.bytes_retransmitted < 20000000 / 50);
}

static void test_million_messages(void)
{
    struct window_stats stats;
    struct sim_config c = lan(32000000);
    c.write_chunk = 63; /* 32 bytes on the average */
    c.network.rate_bytes_s = 125000000;
    c.network.loss_ppm = 50000;
    c.network.duplicate_ppm = 10000;
    c.network.reorder_ppm = 50000;
    c.network.reorder_us = 1000;
    CU_ASSERT(run(&c, &stats) > 1000000);
}

/* Without loss, packets that overtake each other must not cost much. */
static void test_reordering_is_not_loss(void)
{
    struct window_stats stats;
    struct sim_config c = lan(20000000);
    c.network.reorder_ppm = 20000;
    c.network.reorder_us = 3000;
    CU_ASSERT(run(&c, &stats) > 0.85 * LINK_BYTES_S);
    CU_ASSERT(stats.bytes_retransmitted < 20000000 / 20);
}

static void test_finds_the_path_mtu(void)
{
    static const size_t paths[] = {1300, 1500, 4000, 9000, 65535};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        struct window_stats stats;
        struct sim_config c = lan(20000000);
        c.network.datagram_bytes = paths[i];
        c.window.packet_bytes_max = 65000;
        run(&c, &stats);
        CU_ASSERT(stats.packet_bytes <= paths[i]);
        CU_ASSERT(stats.packet_bytes + 44 >= paths[i] || stats.packet_bytes == 65000);
    }
}

/* The path gets narrower while bytes are under way: the window falls back and goes on. */
static void test_black_hole(void)
{
    struct sim_config c = lan(20000000);
    c.network.datagram_bytes = 9000;
    struct sim *s = sim_create(&c, false);
    struct window_stats stats;
    sim_run(s, SECOND_US / 2);
    window_stats(s->ends[0].window, &stats);
    CU_ASSERT(stats.packet_bytes > 8000);
    c.network.datagram_bytes = 1500;
    network_configure(s->network, &c.network);
    CU_ASSERT_TRUE(sim_run(s, 10 * SECOND_US));
    CU_ASSERT(s->ends[1].finished_us < 3 * SECOND_US);
    window_stats(s->ends[0].window, &stats);
    CU_ASSERT(stats.packet_bytes < 1500 && stats.packet_bytes > 1400);
    sim_destroy(s);
}

/* Eight hosts send to all others at once through queues of 128 KiB. */
static void test_all_to_all(void)
{
    struct sim_config c = lan(1000000);
    c.network.ports = 8;
    c.one_way = false;
    struct sim *s = sim_create(&c, false);
    CU_ASSERT_TRUE(sim_run(s, 100 * SECOND_US));
    uint64_t last_us = 0;
    for (uint32_t i = 0; i < s->count; i++)
        last_us = s->ends[i].finished_us > last_us ? s->ends[i].finished_us : last_us;
    double rate = 7 * 1000000.0 * 1e6 / (double)last_us; /* into each host */
    printf("%.0f KB/s into each of 8 hosts ", rate / 1000);
    CU_ASSERT(rate > 0.55 * LINK_BYTES_S);
    sim_destroy(s);
}

static void test_goes_on_after_a_cut(void)
{
    struct sim_config c = lan(20000000);
    struct sim *s = sim_create(&c, false);
    sim_run(s, SECOND_US / 2);
    network_cut(s->network, 0, 1, true);
    sim_run(s, 60 * SECOND_US);
    uint64_t before = s->ends[1].read;
    CU_ASSERT(before < c.write_bytes);
    network_cut(s->network, 0, 1, false);
    sim_run(s, 62 * SECOND_US);
    CU_ASSERT(s->ends[1].read > before);
    CU_ASSERT_TRUE(sim_run(s, 70 * SECOND_US));
    sim_destroy(s);
}

/* While nobody reads, the sender stops at the limit and nobody has a deadline; each limit that is
 * announced then may be lost and still arrives in the end. */
static void test_reader_who_stops(void)
{
    struct sim_config c = lan(3000000);
    c.window.receive_buffer_bytes = 256u << 10;
    struct sim *s = sim_create(&c, false);
    s->ends[1].read_us = 5 * SECOND_US;
    sim_run(s, 4 * SECOND_US);
    CU_ASSERT_EQUAL(s->ends[1].read, 0);
    CU_ASSERT_EQUAL(network_next(s->network), UINT64_MAX);
    CU_ASSERT_EQUAL(window_deadline(s->ends[0].window), UINT64_MAX);
    network_cut_one_way(s->network, 1, 0, true);
    sim_run(s, 5 * SECOND_US + 500000);
    CU_ASSERT_EQUAL(s->ends[1].read, 256u << 10);
    network_cut_one_way(s->network, 1, 0, false);
    CU_ASSERT_TRUE(sim_run(s, 10 * SECOND_US));
    CU_ASSERT_TRUE(s->quiet);
    sim_destroy(s);
}

static void test_fast_link(void)
{
    struct window_stats stats;
    struct sim_config c = lan(400000000);
    c.network.rate_bytes_s = 1250000000;
    c.network.queue_bytes = 1u << 20;
    c.network.delay_us = 20;
    c.network.datagram_bytes = 9018;
    CU_ASSERT(run(&c, &stats) > 0.85 * 1250000000);
}

static const struct test_case cases[] = {
    {"seeded networks", test_seeds},
    {"fills a link of 100 Mbit/s", test_fills_a_link},
    {"does not collapse under loss", test_does_not_collapse_under_loss},
    {"loss is not all congestion", test_loss_is_not_all_congestion},
    {"both ways at once", test_both_ways},
    {"hosts that stand still", test_hosts_that_stand_still},
    {"a million messages under loss, duplication and reordering", test_million_messages},
    {"reordering is not loss", test_reordering_is_not_loss},
    {"finds the path MTU", test_finds_the_path_mtu},
    {"a black hole", test_black_hole},
    {"all to all", test_all_to_all},
    {"goes on after a cut", test_goes_on_after_a_cut},
    {"a reader who stops", test_reader_who_stops},
    {"a link of 10 Gbit/s", test_fast_link},
};

int main(int argc, char **argv)
{
    bool trace = argc > 3 && strcmp(argv[3], "--trace") == 0;
    if (argc > 2 && strcmp(argv[1], "--seed") == 0)
        return run_seed(strtoull(argv[2], NULL, 10), trace) ? EXIT_SUCCESS : EXIT_FAILURE;
    if (argc > 1) {
        fprintf(stderr, "usage: window_test [--seed N [--trace]]\n");
        return 2;
    }
    return covey_test_main("window in a simulated network", cases, sizeof cases / sizeof cases[0]);
}
