/* links: proto/window/window_cc.c */
#include "proto/window/window_cc.h"

#include <CUnit/CUnit.h>

#include "tests/unit/runner.h"

#define PACKET 1000
#define RTT_US 100000 /* long enough that CUBIC is faster than Reno */

/* One on whose path so many packets are lost that each further one counts. */
static void init_congested(struct cc *c)
{
    cc_init(c, PACKET);
    c->loss_share = 0.5;
}

/* Acknowledges a whole window, as a sender does who always has more to send. */
static void round_trip(struct cc *c, uint64_t *position, uint64_t *now_us)
{
    uint64_t left = cc_window(c);
    *now_us += RTT_US;
    while (left >= PACKET) {
        struct cc_ack ack = {
            .position = ++*position, .bytes = PACKET, .rtt_us = RTT_US, .now_us = *now_us};
        c->limited = true;
        cc_on_ack(c, &ack);
        left -= PACKET;
    }
}

static void test_slow_start_doubles(void)
{
    struct cc c;
    uint64_t position = 0, now_us = 0;
    cc_init(&c, PACKET);
    uint64_t before = cc_window(&c);
    CU_ASSERT_TRUE(cc_slow_start(&c));
    round_trip(&c, &position, &now_us);
    CU_ASSERT_EQUAL(cc_window(&c), 2 * before);
}

static void test_unused_window_does_not_grow(void)
{
    struct cc c;
    cc_init(&c, PACKET);
    uint64_t before = cc_window(&c);
    struct cc_ack ack = {.position = 1, .bytes = PACKET, .rtt_us = RTT_US, .now_us = 1};
    cc_on_ack(&c, &ack);
    CU_ASSERT_EQUAL(cc_window(&c), before);
}

static void test_one_reduction_a_round_trip(void)
{
    struct cc c;
    init_congested(&c);
    uint64_t before = cc_window(&c);
    uint32_t episode = cc_on_loss(&c, 5, 20);
    CU_ASSERT_EQUAL(cc_window(&c), before * 7 / 10);
    CU_ASSERT_FALSE(cc_slow_start(&c));
    CU_ASSERT_EQUAL(cc_on_loss(&c, 6, 21), episode);
    CU_ASSERT_EQUAL(cc_window(&c), before * 7 / 10);
    CU_ASSERT_NOT_EQUAL(cc_on_loss(&c, 20, 40), episode);
    CU_ASSERT(cc_window(&c) < before / 2);
}

static void ack_one(struct cc *c, uint64_t position)
{
    struct cc_ack ack = {
        .position = position, .bytes = PACKET, .rtt_us = RTT_US, .now_us = position * 100};
    c->limited = true;
    cc_on_ack(c, &ack);
}

/* One of a hundred packets is lost, for ever: the window grows as if none were. */
static void test_few_losses_reduce_nothing(void)
{
    struct cc c;
    cc_init(&c, PACKET);
    uint64_t before = cc_window(&c);
    for (uint64_t i = 1; i < 10000; i++) {
        if (i % 100 != 0)
            ack_one(&c, i);
        else if (cc_on_loss(&c, i, i + 20) != 0)
            CU_FAIL("reduced");
    }
    CU_ASSERT_EQUAL(cc_window(&c), before + 9900 * PACKET);
    CU_ASSERT_TRUE(cc_slow_start(&c));
}

/* A queue that is full loses several at once: after some of them the window is reduced. */
static void test_a_burst_of_losses_reduces(void)
{
    struct cc c;
    unsigned tolerated = 0;
    cc_init(&c, PACKET);
    uint64_t before = cc_window(&c);
    while (cc_on_loss(&c, 1, 20) == 0)
        tolerated++;
    CU_ASSERT(tolerated >= 5 && tolerated <= 12);
    CU_ASSERT_EQUAL(cc_window(&c), before * 7 / 10);
}

/* What was lost by mistake is forgotten. */
static void test_spurious_losses_count_for_nothing(void)
{
    struct cc c;
    cc_init(&c, PACKET);
    for (uint64_t i = 1; i < 1000; i++) {
        uint32_t episode = cc_on_loss(&c, i, i + 20);
        CU_ASSERT_EQUAL(episode, 0);
        cc_on_spurious(&c, episode);
    }
    CU_ASSERT_TRUE(cc_slow_start(&c));
}

static void test_spurious_reduction_is_undone(void)
{
    struct cc c;
    init_congested(&c);
    uint64_t before = cc_window(&c);
    uint32_t episode = cc_on_loss(&c, 5, 20);
    cc_on_loss(&c, 6, 20);
    cc_on_spurious(&c, episode);
    CU_ASSERT(cc_window(&c) < before);
    cc_on_spurious(&c, episode);
    CU_ASSERT_EQUAL(cc_window(&c), before);
    CU_ASSERT_TRUE(cc_slow_start(&c));
}

static void test_real_loss_is_not_undone(void)
{
    struct cc c;
    init_congested(&c);
    uint32_t first = cc_on_loss(&c, 5, 20);
    cc_on_loss(&c, 25, 40);
    uint64_t window = cc_window(&c);
    cc_on_spurious(&c, first); /* belongs to the reduction before */
    CU_ASSERT_EQUAL(cc_window(&c), window);
}

/* RFC 9438: concave up to the old window, a plateau there, then convex. */
static void test_cubic_comes_back(void)
{
    struct cc c;
    uint64_t position = 0, now_us = 0;
    cc_init(&c, PACKET);
    while (cc_window(&c) < 1000 * PACKET)
        round_trip(&c, &position, &now_us);
    double maximum = (double)cc_window(&c);
    c.loss_share = 0.5;
    cc_on_loss(&c, position + 1, position + 2);
    position += 2;
    double k_us = 1e6 * 9.1; /* cube root of 1000 * 0.3 / 0.4 */
    uint64_t start_us = now_us;
    while ((double)(now_us - start_us) < k_us)
        round_trip(&c, &position, &now_us);
    CU_ASSERT_DOUBLE_EQUAL((double)cc_window(&c), maximum, 0.05 * maximum);
    while ((double)(now_us - start_us) < 2 * k_us)
        round_trip(&c, &position, &now_us);
    CU_ASSERT((double)cc_window(&c) > 1.15 * maximum);
}

static void test_has_a_floor(void)
{
    struct cc c;
    init_congested(&c);
    for (uint64_t i = 0; i < 50; i++)
        cc_on_loss(&c, 10 * i, 10 * i + 5);
    CU_ASSERT_EQUAL(cc_window(&c), 2 * PACKET);
    cc_set_packet_bytes(&c, 9 * PACKET);
    CU_ASSERT_EQUAL(cc_window(&c), 18 * PACKET);
    cc_on_persistent_congestion(&c);
    CU_ASSERT_EQUAL(cc_window(&c), 18 * PACKET);
}

static void test_idle_restarts_small(void)
{
    struct cc c;
    uint64_t position = 0, now_us = 0;
    cc_init(&c, PACKET);
    uint64_t initial = cc_window(&c);
    for (int i = 0; i < 5; i++)
        round_trip(&c, &position, &now_us);
    cc_on_idle(&c);
    CU_ASSERT_EQUAL(cc_window(&c), initial);
}

/* Over a second no more than rate x time + burst, and not much less. */
static void test_pacer_keeps_the_rate(void)
{
    struct cc c;
    struct pacer p;
    init_congested(&c);
    cc_on_loss(&c, 0, 1); /* ends slow start: gain 1.25 */
    pacer_init(&p);
    CU_ASSERT_TRUE(pacer_allows(&p, PACKET, 0));
    pacer_set_rate(&p, &c, RTT_US);
    double sent = 0, rate = 1.25 * (double)cc_window(&c) / RTT_US;
    unsigned waits = 0;
    for (uint64_t now_us = 0; now_us < 1000000; now_us = p.resume_us, waits++) {
        while (pacer_allows(&p, PACKET, now_us)) {
            pacer_spend(&p, PACKET);
            sent += PACKET;
        }
        CU_ASSERT(p.resume_us > now_us);
    }
    CU_ASSERT(sent <= rate * 1e6 + p.burst + PACKET);
    CU_ASSERT(sent >= 0.95 * rate * 1e6);
    CU_ASSERT(waits <= 2001); /* no timer below half a millisecond */
}

static const struct test_case cases[] = {
    {"slow start doubles", test_slow_start_doubles},
    {"an unused window does not grow", test_unused_window_does_not_grow},
    {"one reduction a round trip", test_one_reduction_a_round_trip},
    {"few losses reduce nothing", test_few_losses_reduce_nothing},
    {"a burst of losses reduces", test_a_burst_of_losses_reduces},
    {"spurious losses count for nothing", test_spurious_losses_count_for_nothing},
    {"a spurious reduction is undone", test_spurious_reduction_is_undone},
    {"a real loss is not undone", test_real_loss_is_not_undone},
    {"CUBIC comes back", test_cubic_comes_back},
    {"has a floor", test_has_a_floor},
    {"idle restarts small", test_idle_restarts_small},
    {"the pacer keeps the rate", test_pacer_keeps_the_rate},
};

int main(void)
{
    return covey_test_main("window congestion control", cases, sizeof cases / sizeof cases[0]);
}
