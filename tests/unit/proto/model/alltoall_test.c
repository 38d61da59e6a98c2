/* links: proto/model/model_alltoall.c proto/model/model_exchange.c proto/model/model_net.c proto/model/model_tcp.c proto/schedule/*.c proto/network/network.c proto/network/topology.c */
/*
 * All-to-all on networks, played frame by frame: what can be reckoned by hand, and that the
 * schedule pays where links between switches are the limit.
 */
#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/model/model.h"
#include "proto/model/model_exchange.h"
#include "proto/model/model_net.h"
#include "proto/schedule/pace_bytes.h"
#include "proto/schedule/unscheduled.h"
#include "tests/unit/runner.h"

#define NEAR(a, b) CU_ASSERT_DOUBLE_EQUAL(a, b, 1e-9)

/* 8 Mbit/s are a frame of 1000 bytes in a millisecond. */
static const char star[] = "switch s\nhost a s 8M\nhost b s 8M\nhost c s 8M\nhost d s 8M\n";
static const char chain[] = "switch s t\nlink s t 8M\nhost a s 8M\nhost b s 8M\n"
                            "host c t 8M\nhost d t 8M\n";

/* Frames without headers, queues that hold all, and nothing takes time but links. */
static const struct net_config plain = {.frame_bytes = 1000, .queue_bytes = 1e9, .seed = 1};

static void make(struct network *network, const char *text)
{
    struct topology topology;
    char why[TOPOLOGY_ERROR_BYTES];
    CU_ASSERT_EQUAL_FATAL(topology_parse(&topology, text, strlen(text), "net", why), 0);
    CU_ASSERT_EQUAL_FATAL(network_create(network, &topology, NULL, 0), 0);
    topology_destroy(&topology);
}

/* ---- Messages -------------------------------------------------------------------------------- */

/* When the last message was whole, how many were, and when marks were passed. */
struct ear {
    struct net *net;
    double whole_s, mark_s, told_s;
    int wholes;
};

static void hear(void *context, const struct net_event *event)
{
    struct ear *ear = context;
    if (event->what == NET_WHOLE) {
        ear->whole_s = net_now(ear->net);
        ear->wholes++;
    }
    if (event->what == NET_MARK)
        ear->mark_s = net_now(ear->net);
    if (event->what == NET_TOLD)
        ear->told_s = net_now(ear->net);
}

/* So many ranks from the first on send the last one so many bytes at once. */
static uint64_t converge(const char *text, const struct net_config *config, int senders,
                         double bytes, struct ear *ear)
{
    struct network network;
    make(&network, text);
    *ear = (struct ear){.net = net_create(&network, config, hear, ear)};
    CU_ASSERT_PTR_NOT_NULL_FATAL(ear->net);
    for (int i = 0; i < senders; i++) {
        const struct net_message message = {
            .from = i, .to = network.rank_count - 1, .bytes = bytes, .mark_bytes = bytes / 2};
        net_send(ear->net, &message);
    }
    CU_ASSERT_EQUAL(net_run(ear->net, 0), 0);
    uint64_t lost = net_lost(ear->net);
    net_destroy(ear->net);
    network_destroy(&network);
    return lost;
}

/* Four frames on the host's link, and the last one on the receiver's. */
static void test_a_message_alone(void)
{
    struct ear ear;
    CU_ASSERT_EQUAL(converge(star, &plain, 1, 4000, &ear), 0);
    NEAR(ear.whole_s, 0.005);
    NEAR(ear.mark_s, 0.003);
}

/* Headers count on every link, and a part of a frame is shorter. */
static void test_headers(void)
{
    struct net_config config = plain;
    struct ear ear;
    config.header_bytes = 250;
    converge(star, &config, 1, 1500, &ear);
    NEAR(ear.whole_s, 0.00125 + 2 * 0.00075 + 0.0005); /* waits behind the first one there */
}

/* Two share the receiver's link. */
static void test_messages_meet(void)
{
    struct ear ear;
    CU_ASSERT_EQUAL(converge(star, &plain, 2, 4000, &ear), 0);
    CU_ASSERT_EQUAL(ear.wholes, 2);
    NEAR(ear.whole_s, 0.001 + 8 * 0.001);
}

/* More of them than the queue holds: frames are lost and sent once more, and all comes. */
static void test_a_full_queue(void)
{
    struct net_config config = plain;
    struct ear ear;
    config.queue_bytes = 4000;
    uint64_t lost = converge(star, &config, 3, 20000, &ear);
    CU_ASSERT(lost > 0);
    CU_ASSERT_EQUAL(ear.wholes, 3);
    CU_ASSERT(ear.whole_s > 0.06);
}

/* A message of one frame that is lost shows in nothing but a timeout of 200 ms. */
static void test_a_timeout(void)
{
    struct net_config config = plain;
    struct ear ear;
    config.queue_bytes = 999;
    CU_ASSERT(converge(star, &config, 2, 1000, &ear) > 0);
    CU_ASSERT_EQUAL(ear.wholes, 2);
    CU_ASSERT(ear.whole_s > 0.2 && ear.whole_s < 0.25);
}

/* What is sent again after a timeout shows what else was lost: nothing waits for the next one, of
 * 400 ms. Where one segment alone came of it, it is acknowledged after 40 ms. */
static void test_one_timeout(void)
{
    struct net_config config = plain;
    struct ear ear;
    config.queue_bytes = 999;
    CU_ASSERT(converge(star, &config, 2, 3000, &ear) > 0);
    CU_ASSERT_EQUAL(ear.wholes, 2);
    CU_ASSERT(ear.whole_s > 0.2 && ear.whole_s < 0.25);
    CU_ASSERT(converge(star, &config, 3, 2000, &ear) > 0);
    CU_ASSERT_EQUAL(ear.wholes, 3);
    CU_ASSERT(ear.whole_s > 0.44 && ear.whole_s < 0.5);
}

/* ---- All-to-all ------------------------------------------------------------------------------ */

static double played_as(const struct network *network, const struct net_config *config,
                        enum exchange_way way, double bytes)
{
    struct exchange_result result;
    struct schedule schedule;
    CU_ASSERT_EQUAL_FATAL(schedule_create(&schedule, network, 1), 0);
    const struct exchange what = {way, &schedule, bytes, bytes};
    CU_ASSERT_EQUAL(exchange_play(network, config, &what, 2, 1, &result), 0);
    NEAR(result.lost, 0);
    schedule_destroy(&schedule);
    return result.seconds;
}

static double played(const struct network *network, enum exchange_way way, double bytes)
{
    return played_as(network, &plain, way, bytes);
}

/* On one switch a host's link is the limit, and nobody meets: three blocks of 100 frames each, and
 * the last frame's way. */
static void test_alltoall_on_a_star(void)
{
    struct network network;
    make(&network, star);
    for (int way = EXCHANGE_SCHEDULED; way <= EXCHANGE_PAIRWISE; way++) {
        double seconds = played(&network, (enum exchange_way)way, 100e3);
        CU_ASSERT(seconds > 0.3 && seconds < 0.315);
    }
    network_destroy(&network);
}

/* Faraj & Yuan, section 3: two switches of two hosts, the link between them has a load of 4. */
static void test_alltoall_over_a_trunk(void)
{
    struct network network;
    make(&network, chain);
    double seconds = played(&network, EXCHANGE_SCHEDULED, 100e3);
    CU_ASSERT(seconds > 0.4 && seconds < 0.43);
    CU_ASSERT(played(&network, EXCHANGE_RING, 100e3) > 0.4);
    CU_ASSERT(played(&network, EXCHANGE_PAIRWISE, 100e3) > 0.4);
    network_destroy(&network);
}

/* As covey predict has it. */
static struct model_alltoall predict(const char *text, double bytes)
{
    static const struct net_config config = {
        .frame_bytes = 1448, .header_bytes = 90, .queue_bytes = 131072, .delay_s = 1e-4, .seed = 1};
    struct model_alltoall result = {0};
    struct network network;
    make(&network, text);
    CU_ASSERT_EQUAL(model_alltoall(&network, &config, bytes, &result), 0);
    network_destroy(&network);
    return result;
}

/* conf/topologies/faraj-c at 50 Mbit/s. */
static const char *faraj_c(void)
{
    static char text[2048] = "switch s0 s1 s2 s3\n"
                             "link s0 s1 50M\nlink s1 s2 50M\nlink s2 s3 50M\n";
    for (int i = 0; i < 32; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "host n%d s%d 50M\n", i, i / 8);
    return text;
}

/* Ranks that begin many frames apart: pairs fall out of step, and two blocks meet at some hosts
 * while others get none. */
static void test_pairs_out_of_step(void)
{
    char text[512] = "switch s\n";
    for (int i = 0; i < 12; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "host h%d s 8M\n", i);
    struct net_config config = plain;
    struct network network;
    make(&network, text);
    double in_step_s = played(&network, EXCHANGE_PAIRWISE, 20e3);
    config.skew_s = 0.04;
    double skewed_s = played_as(&network, &config, EXCHANGE_PAIRWISE, 20e3);
    CU_ASSERT(skewed_s > 1.3 * in_step_s && skewed_s < 3 * in_step_s);
    network_destroy(&network);
}

/* Section 3: 256 messages cross the middle. The schedule comes within a tenth of that; the ring,
 * whose messages fill the queues in front of it, does not. */
static void test_the_schedule_pays(void)
{
    struct model_alltoall result = predict(faraj_c(), 65536);
    CU_ASSERT_EQUAL(result.phases, 256);
    CU_ASSERT_DOUBLE_EQUAL(result.bound_s, 256 * 65536 * 8 / 50e6 * 1538 / 1448, 1e-6);
    CU_ASSERT(result.scheduled_s > result.bound_s);
    CU_ASSERT(result.scheduled_s < 1.15 * result.bound_s);
    CU_ASSERT(result.ring_s > 1.05 * result.scheduled_s);
    CU_ASSERT(result.pairwise_s > result.bound_s);
}

/* One network has one prediction. */
static void test_twice_the_same(void)
{
    struct model_alltoall one = predict(chain, 4096), two = predict(chain, 4096);
    NEAR(one.ring_s, two.ring_s);
    NEAR(one.pairwise_s, two.pairwise_s);
    NEAR(one.scheduled_s, two.scheduled_s);
}

/* Blocks of a gigabyte are not played byte by byte. */
static void test_long_blocks(void)
{
    struct model_alltoall result = predict(chain, 1e9);
    CU_ASSERT(result.scheduled_s > result.bound_s && result.scheduled_s < 1.1 * result.bound_s);
}

/* ---- The rules that runtime and model share -------------------------------------------------- */

/* Each rank is sent to once, and what goes there in the second half comes back in the first. */
static void test_each_distance_once(void)
{
    for (int size = 2; size < 40; size++) {
        bool seen[40] = {false};
        for (int i = 1; i < size; i++) {
            int distance = unscheduled_distance(i, size);
            CU_ASSERT_FATAL(distance >= 1 && distance < size && !seen[distance]);
            seen[distance] = true;
        }
    }
}

static void test_small_blocks_at_once(void)
{
    CU_ASSERT_EQUAL(unscheduled_at_once(1), 8);
    CU_ASSERT_EQUAL(unscheduled_at_once(1024), 6);
    CU_ASSERT_EQUAL(unscheduled_at_once(4096), 2);
    CU_ASSERT_EQUAL(unscheduled_at_once(4097), 1);
    CU_ASSERT_EQUAL(unscheduled_at_once(0), 1);
}

static bool is_asked(struct unscheduled_linear l, size_t bytes)
{
    return bytes >= l.asked_from && bytes <= l.asked_to;
}

static void test_linear(void)
{
    struct unscheduled_linear l = unscheduled_linear(8, 1, 65536); /* one host */
    CU_ASSERT(l.window == UNSCHEDULED_WINDOW && !is_asked(l, 0) && !is_asked(l, 65536));
    l = unscheduled_linear(1, 1, 65536);
    CU_ASSERT(l.window == UNSCHEDULED_WINDOW && !is_asked(l, 65536));
    l = unscheduled_linear(2, 2, 65536); /* nobody else sends there */
    CU_ASSERT(l.window == UNSCHEDULED_WINDOW && !is_asked(l, 65536));
    l = unscheduled_linear(8, 8, 65536);
    CU_ASSERT(l.window == 2 && is_asked(l, 65536) && is_asked(l, 14100) && !is_asked(l, 14000));
    CU_ASSERT(!is_asked(l, 0) && !is_asked(l, 81921));
    l = unscheduled_linear(8, 8, 24576);
    CU_ASSERT_EQUAL(l.window, 4);
    l = unscheduled_linear(8, 8, 1 << 20);
    CU_ASSERT_EQUAL(l.window, UNSCHEDULED_WINDOW);
    l = unscheduled_linear(16, 4, 32768);
    CU_ASSERT_EQUAL(l.window, 1);
    /* What is asked for is the same at all members, whatever their blocks are in the mean. */
    for (int size = 2; size < 40; size++)
        for (int hosts = 1; hosts <= size; hosts++)
            for (size_t mean = 0; mean < 200000; mean += 4999) {
                struct unscheduled_linear a = unscheduled_linear(size, hosts, mean);
                l = unscheduled_linear(size, hosts, 0);
                CU_ASSERT(a.asked_from == l.asked_from && a.asked_to == l.asked_to);
                CU_ASSERT(a.asked_from > 0 && a.window >= 1 && a.window <= UNSCHEDULED_WINDOW);
            }
}

/* A message hands over when 8 KiB and what passes in 100 us are missing, a long one a little
 * earlier. */
static void test_hand_over(void)
{
    uint64_t early = pace_early_bytes(10000000);
    CU_ASSERT_EQUAL(early, 8192 + 1000);
    CU_ASSERT_EQUAL(pace_mark_bytes(early, 65536), 65536 - 12288);
    CU_ASSERT_EQUAL(pace_mark_bytes(early, 16384), 16384 - 9192);
    CU_ASSERT_EQUAL(pace_mark_bytes(early, 1024), 1);
    CU_ASSERT_EQUAL(pace_rest_bytes(50000, 40000, 65536), 10000);
    CU_ASSERT_EQUAL(pace_rest_bytes(50000, 1000, 65536), 1448);
    CU_ASSERT_EQUAL(pace_rest_bytes(50000, 60000, 65536), 5536);
}

static void test_alltoall_of_one(void)
{
    struct model_alltoall result = predict("switch s\nhost a s 1M\n", 1e6);
    NEAR(result.bound_s, 0);
    NEAR(result.scheduled_s, 0);
    NEAR(result.ring_s, 0);
}

int main(void)
{
    static const struct test_case cases[] = {
        {"a message alone", test_a_message_alone},
        {"headers", test_headers},
        {"messages meet", test_messages_meet},
        {"a full queue", test_a_full_queue},
        {"a timeout", test_a_timeout},
        {"one timeout", test_one_timeout},
        {"all-to-all on a star", test_alltoall_on_a_star},
        {"all-to-all over a trunk", test_alltoall_over_a_trunk},
        {"pairs out of step", test_pairs_out_of_step},
        {"the schedule pays", test_the_schedule_pays},
        {"twice the same", test_twice_the_same},
        {"long blocks", test_long_blocks},
        {"all-to-all of one", test_alltoall_of_one},
        {"each distance once", test_each_distance_once},
        {"small blocks at once", test_small_blocks_at_once},
        {"blocks without a schedule", test_linear},
        {"hand-over", test_hand_over},
    };
    return covey_test_main("alltoall", cases, sizeof cases / sizeof cases[0]);
}
