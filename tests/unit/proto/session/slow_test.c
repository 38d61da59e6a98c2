/* links: proto/session/slow.c proto/session/fault.c proto/session/fault_line.c proto/wire/address.c proto/wire/cursor.c */
/* slow_test.c - rules of a slow network, and what comes out of its lanes when, in virtual time. */
#include <CUnit/CUnit.h>
#include <stdlib.h>
#include <string.h>

#include "proto/session/fault_line.h"
#include "proto/session/slow.h"
#include "tests/unit/runner.h"

static struct slow_config config;

static void rules_are_read_and_printed(void)
{
    static char text[SLOW_TEXT_MAX], again[SLOW_TEXT_MAX];
    struct slow_lane lane;
    CU_ASSERT_EQUAL(
        slow_parse("* alpha=1ms rate=10Mbit # all, but\n h1-h2 rate=1Gbit;;h2 speed=0.5,"
                   "h3-* alpha=0.2s\n",
                   &config),
        0);
    CU_ASSERT_EQUAL(config.count, 4);
    slow_lane_init(&lane, &config, "h0", "h1");
    CU_ASSERT(lane.alpha_us == 1000 && lane.rate_bps == 10000000);
    slow_lane_init(&lane, &config, "h2", "h1");
    CU_ASSERT(lane.alpha_us == 1000 && lane.rate_bps == 1000000000);
    slow_lane_init(&lane, &config, "h0", "h3");
    CU_ASSERT(lane.alpha_us == 200000 && lane.rate_bps == 10000000);
    CU_ASSERT(slow_speed(&config, "h2") == 500 && slow_speed(&config, "h1") == SLOW_WHOLE);
    CU_ASSERT_TRUE(slow_any_link(&config));
    slow_print(&config, text);
    CU_ASSERT_EQUAL(slow_parse(text, &config), 0);
    slow_print(&config, again);
    CU_ASSERT_STRING_EQUAL(text, again);
    CU_ASSERT_EQUAL(slow_parse("", &config), 0);
    CU_ASSERT_EQUAL(config.count, 0);
    CU_ASSERT_FALSE(slow_any_link(&config));
}

static void bad_rules_are_refused(void)
{
    static const char *const bad[] = {
        "h1",           "h1 alpha=1ms",     "h1-h2 speed=0.5",
        "h1-h2",        "h1 speed=2",       "h1 speed=0.01",
        "h1 speed=nan", "h1-h2 alpha=-1ms", "h1-h2 alpha=3s",
        "h1-h2 rate=1", "h1-h2 rate=1bit",  "h1-h2 rate=infMbit",
        "-h2 alpha=1s", "h1- alpha=1s",     "h1-h2 alpha=1ms speed=1"};
    slow_parse("h1 speed=0.5", &config);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        CU_ASSERT_EQUAL(slow_parse(bad[i], &config), -1);
    char *many = calloc(1, SLOW_TEXT_MAX);
    for (int i = 0; i <= SLOW_RULES_MAX; i++)
        strcat(many, "h1 speed=1;");
    CU_ASSERT_EQUAL(slow_parse(many, &config), -1);
    free(many);
    CU_ASSERT_EQUAL(slow_speed(&config, "h1"), 500); /* what was read before stays */
}

/* ---- a message through the line, as the daemon sends it ---- */

struct end {
    size_t bytes, count;
    uint64_t now_us, last_us;
};

static void on_out(void *context, const struct address *to, const uint8_t *bytes, size_t size)
{
    struct end *end = context;
    (void)to;
    CU_ASSERT_EQUAL(bytes[0], (uint8_t)end->count); /* in order */
    end->bytes += size;
    end->count++;
    end->last_us = end->now_us;
}

static uint64_t send_all(struct slow_lane *lane, size_t bytes, size_t piece, uint64_t begin_us)
{
    static const struct fault_config none;
    static uint8_t datagram[2000];
    const struct address to = {0};
    struct end end = {.now_us = begin_us};
    struct fault_line *line = fault_line_create(&none, on_out, &end);
    for (size_t at = 0, i = 0; at < bytes; at += piece, i++) {
        size_t n = bytes - at < piece ? bytes - at : piece;
        datagram[0] = (uint8_t)i;
        fault_line_put(line, &to, datagram, n, slow_lane_send(lane, n, true, begin_us), begin_us);
    }
    for (uint64_t next_us = begin_us; next_us != UINT64_MAX;) {
        end.now_us = next_us;
        next_us = fault_line_step(line, next_us);
    }
    CU_ASSERT_EQUAL(end.bytes, bytes);
    fault_line_destroy(line);
    return end.last_us - begin_us;
}

/* alpha + 8 n / rate, for one datagram and for many; what comes later waits for what is on its way.
 */
static void a_message_takes_what_the_model_says(void)
{
    struct slow_lane lane;
    slow_parse("* alpha=1ms rate=10Mbit", &config);
    slow_lane_init(&lane, &config, "h0", "h1");
    CU_ASSERT_EQUAL(send_all(&lane, 1000, 1000, 0), 1000 + 800);
    slow_lane_init(&lane, &config, "h0", "h1");
    CU_ASSERT_EQUAL(send_all(&lane, 1000000, 1000, 5000), 1000 + 800000);
    CU_ASSERT_EQUAL(send_all(&lane, 1000, 1000, 5000), 1000 + 800000 + 800);
    CU_ASSERT_EQUAL(send_all(&lane, 1000, 1000, 5000000), 1000 + 800); /* it was idle */
    CU_ASSERT_EQUAL(slow_lane_send(&lane, 100, false, 5000000), 1000); /* passes the line */
    slow_parse("* alpha=3ms", &config);
    slow_lane_init(&lane, &config, "h0", "h1");
    CU_ASSERT_EQUAL(send_all(&lane, 100000, 1000, 7), 3000);
}

static const struct test_case cases[] = {
    {"rules are read and printed", rules_are_read_and_printed},
    {"bad rules are refused", bad_rules_are_refused},
    {"a message takes what the model says", a_message_takes_what_the_model_says},
};

int main(void)
{
    return covey_test_main("slow", cases, sizeof cases / sizeof cases[0]);
}
