/* links: proto/session/fault.c proto/session/fault_line.c proto/wire/address.c proto/wire/cursor.c */
#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/session/fault_line.h"
#include "tests/unit/runner.h"

#define DATAGRAMS 20000u
#define BYTES 40

/* ---- text ---- */

static void comes_back_as(const char *text, const char *expected)
{
    struct fault_config config = {.seed = 99};
    char printed[FAULT_TEXT_MAX] = "refused";

    if (fault_parse(text, &config) == 0)
        fault_print(&config, printed);
    CU_ASSERT_STRING_EQUAL(printed, expected);
}

static void text_comes_back(void)
{
    comes_back_as("", "");
    comes_back_as("loss=0.05", "loss=0.05");
    comes_back_as("seed=7,loss=1", "loss=1,seed=7");
    comes_back_as("reorder=0.5", "reorder=0.5,hold=0.002");
    comes_back_as("loss=0.123457,dup=1e-6,reorder=0.3,corrupt=0.000002,delay=59.999999,hold=0.25,"
                  "seed=18446744073709551615",
                  "loss=0.123457,dup=1e-06,reorder=0.3,corrupt=2e-06,delay=59.999999,hold=0.25,"
                  "seed=18446744073709551615");
}

static void bad_text_is_refused(void)
{
    static const char *const bad[] = {"loss",     "loss=",     "loss=2", "loss=-0.1",
                                      "loss=nan", "loss=0.1,", ",",      "loss=0.1;dup=0.1",
                                      "drop=0.1", "seed=-1",   "seed=x", "delay=61",
                                      "loss=5%"};

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        comes_back_as(bad[i], "refused");
}

/* ---- a line ---- */

struct sink {
    uint32_t count[DATAGRAMS]; /* how often each came out as it went in */
    uint32_t total, damaged, overtaken;
    uint32_t last;
};

static void fill(uint8_t bytes[BYTES], uint32_t number)
{
    memset(bytes, 0xa5, BYTES);
    memcpy(bytes, &number, sizeof number);
    memcpy(bytes + 4, &number, sizeof number); /* so that no flipped bit makes another one of it */
}

static unsigned bits_that_differ(const uint8_t *a, const uint8_t *b, size_t size)
{
    unsigned bits = 0;

    for (size_t i = 0; i < size; i++)
        bits += (unsigned)__builtin_popcount(a[i] ^ b[i]);
    return bits;
}

static void take(void *context, const struct address *to, const uint8_t *bytes, size_t size)
{
    struct sink *sink = context;
    uint8_t expected[BYTES];
    uint32_t number;

    CU_ASSERT_EQUAL(size, BYTES);
    CU_ASSERT_EQUAL(to->bytes[0], 10);
    memcpy(&number, bytes, sizeof number);
    sink->total++;
    fill(expected, number);
    if (number >= DATAGRAMS || memcmp(expected, bytes, BYTES) != 0) {
        sink->damaged++;
        return;
    }
    sink->count[number]++;
    sink->overtaken += number < sink->last;
    sink->last = number;
}

/* One datagram a microsecond; all that was held back comes out in the end. */
static struct sink *run(const char *text, struct fault_line **line)
{
    struct fault_config config;
    const struct address to = {.family = ADDRESS_IPV4, .size = 6, .bytes = {10, 0, 0, 1, 0, 1}};
    struct sink *sink = calloc(1, sizeof *sink);
    uint8_t bytes[BYTES];

    CU_ASSERT_EQUAL_FATAL(fault_parse(text, &config), 0);
    *line = fault_line_create(&config, take, sink);
    CU_ASSERT_FATAL(*line != NULL && sink != NULL);
    for (uint32_t i = 0; i < DATAGRAMS; i++) {
        fill(bytes, i);
        fault_line_put(*line, &to, bytes, sizeof bytes, 0, i);
        CU_ASSERT(fault_line_step(*line, i) > i);
    }
    for (uint64_t now = DATAGRAMS, next; (next = fault_line_step(*line, now)) != UINT64_MAX;)
        now = next;
    return sink;
}

static uint64_t stat(const struct fault_line *line, const char *name)
{
    uint64_t value;
    const char *at;

    for (size_t i = 0; (at = fault_line_stat(line, i, &value)) != NULL; i++)
        if (strcmp(at, name) == 0)
            return value;
    return UINT64_MAX;
}

static bool is_about(uint64_t value, double share)
{
    double expected = share * DATAGRAMS;

    return (double)value > 0.8 * expected && (double)value < 1.2 * expected;
}

static void without_faults_nothing_changes(void)
{
    struct fault_line *line;
    struct sink *sink = run("seed=5", &line);

    CU_ASSERT_EQUAL(sink->total, DATAGRAMS);
    CU_ASSERT_EQUAL(sink->overtaken + sink->damaged, 0);
    fault_line_destroy(line);
    free(sink);
}

static void each_fault_happens_as_often_as_told(void)
{
    struct fault_line *line;
    struct sink *sink = run("loss=0.1,dup=0.05,reorder=0.2,corrupt=0.02,hold=0.0001,seed=1", &line);
    uint32_t missing = 0, doubled = 0;

    for (uint32_t i = 0; i < DATAGRAMS; i++) {
        missing += sink->count[i] == 0;
        doubled += sink->count[i] == 2;
    }
    CU_ASSERT(is_about(stat(line, "fault.lost"), 0.1));
    CU_ASSERT(is_about(stat(line, "fault.duplicated"), 0.9 * 0.05));
    CU_ASSERT(is_about(stat(line, "fault.reordered"), 0.945 * 0.2));
    CU_ASSERT(is_about(stat(line, "fault.corrupted"), 0.945 * 0.02));
    CU_ASSERT_EQUAL(sink->damaged, stat(line, "fault.corrupted"));
    CU_ASSERT_EQUAL(sink->total,
                    DATAGRAMS - stat(line, "fault.lost") + stat(line, "fault.duplicated"));
    CU_ASSERT(is_about(missing, 0.1 + 0.9 * 0.02));
    CU_ASSERT(doubled > 0 && doubled <= stat(line, "fault.duplicated"));
    CU_ASSERT(is_about(sink->overtaken, 0.9 * 0.2));
    CU_ASSERT_EQUAL(stat(line, "fault.waiting"), 0);
    fault_line_destroy(line);
    free(sink);
}

static void a_seed_gives_one_sequence(void)
{
    struct fault_line *lines[3];
    struct sink *sinks[3] = {run("loss=0.3,seed=1", &lines[0]), run("loss=0.3,seed=1", &lines[1]),
                             run("loss=0.3,seed=2", &lines[2])};

    CU_ASSERT_EQUAL(memcmp(sinks[0], sinks[1], sizeof *sinks[0]), 0);
    CU_ASSERT_NOT_EQUAL(memcmp(sinks[0], sinks[2], sizeof *sinks[0]), 0);
    for (int i = 0; i < 3; i++) {
        fault_line_destroy(lines[i]);
        free(sinks[i]);
    }
}

struct last {
    uint8_t bytes[BYTES];
    unsigned count;
};

static void keep(void *context, const struct address *to, const uint8_t *bytes, size_t size)
{
    struct last *last = context;

    (void)to;
    memcpy(last->bytes, bytes, size);
    last->count++;
}

static void one_bit_is_flipped(void)
{
    const struct fault_config config = {.corrupt_ppm = FAULT_MILLION, .seed = 3};
    const struct address to = {.family = ADDRESS_IPV4, .size = 6};
    struct last last = {.count = 0};
    struct fault_line *line = fault_line_create(&config, keep, &last);
    uint8_t bytes[BYTES];

    fill(bytes, 1);
    for (unsigned i = 1; i <= 100; i++) {
        fault_line_put(line, &to, bytes, sizeof bytes, 0, 0);
        CU_ASSERT_EQUAL(last.count, i);
        CU_ASSERT_EQUAL(bits_that_differ(bytes, last.bytes, BYTES), 1);
    }
    fault_line_destroy(line);
}

static void delay_keeps_the_order(void)
{
    const struct fault_config config = {.delay_us = 1000};
    const struct address to = {.family = ADDRESS_IPV4, .size = 6};
    struct last last = {.count = 0};
    struct fault_line *line = fault_line_create(&config, keep, &last);

    for (uint8_t i = 0; i < 100; i++)
        fault_line_put(line, &to, &i, 1, 0, i / 10u);
    CU_ASSERT_EQUAL(fault_line_step(line, 999), 1000);
    CU_ASSERT_EQUAL(last.count, 0);
    for (uint8_t i = 0; i < 10; i++) {
        fault_line_step(line, 1000u + i);
        CU_ASSERT_EQUAL(last.count, 10u * i + 10u);
        CU_ASSERT_EQUAL(last.bytes[0], 10 * i + 9);
    }
    CU_ASSERT_EQUAL(fault_line_step(line, 1009), UINT64_MAX);
    fault_line_put(line, &to, last.bytes, 1, 0, 2000); /* is lost with the line */
    fault_line_destroy(line);
}

/* What waits is bounded. */
static void a_full_line_loses(void)
{
    static uint8_t bytes[65000];
    const struct fault_config config = {.delay_us = 1000};
    const struct address to = {.family = ADDRESS_IPV4, .size = 6};
    struct last last = {.count = 0};
    struct fault_line *line = fault_line_create(&config, keep, &last);

    for (unsigned i = 0; i < 2000; i++)
        fault_line_put(line, &to, bytes, sizeof bytes, 0, 0);
    CU_ASSERT_EQUAL(stat(line, "fault.waiting"), (64u << 20) / sizeof bytes);
    CU_ASSERT_EQUAL(stat(line, "fault.waiting") + stat(line, "fault.overflowed"), 2000);
    fault_line_destroy(line);
}

int main(void)
{
    static const struct test_case cases[] = {
        {"text comes back", text_comes_back},
        {"bad text is refused", bad_text_is_refused},
        {"without faults nothing changes", without_faults_nothing_changes},
        {"each fault happens as often as told", each_fault_happens_as_often_as_told},
        {"a seed gives one sequence", a_seed_gives_one_sequence},
        {"one bit is flipped", one_bit_is_flipped},
        {"delay keeps the order", delay_keeps_the_order},
        {"a full line loses", a_full_line_loses},
    };
    return covey_test_main("fault", cases, sizeof cases / sizeof cases[0]);
}
