/* links: proto/window/window_wire.c proto/window/window_ranges.c proto/wire/cursor.c */
#include "proto/window/window_wire.h"

#include <CUnit/CUnit.h>
#include <string.h>

#include "tests/unit/runner.h"

static void test_round_trip(void)
{
    uint8_t payload[600];
    struct cursor c = cursor_writer(payload, sizeof payload);
    struct ranges seen = {0};
    struct wire_packet p;
    ranges_add(&seen, 3, 5);
    ranges_add(&seen, 7, 100);
    ranges_add(&seen, 110, 111);
    wire_put_ack(&c, &seen, 3, 4242);
    wire_put_limit(&c, 123456789012);
    wire_put_stream(&c, 99, 5);
    cursor_put_bytes(&c, "hello", 5);
    wire_put_ping(&c);
    wire_put_pad(&c);
    CU_ASSERT_TRUE(cursor_done(&c));
    CU_ASSERT_PTR_NULL(wire_decode(&p, payload, sizeof payload));
    CU_ASSERT(p.ack && p.limit && p.ping && p.stream);
    CU_ASSERT_EQUAL(p.ack_delay_us, 4242);
    CU_ASSERT_EQUAL(p.ack_count, 3);
    CU_ASSERT(p.ack_ranges[0].begin == 110 && p.ack_ranges[0].end == 111);
    CU_ASSERT(p.ack_ranges[1].begin == 7 && p.ack_ranges[1].end == 100);
    CU_ASSERT(p.ack_ranges[2].begin == 3 && p.ack_ranges[2].end == 5);
    CU_ASSERT_EQUAL(p.limit_offset, 123456789012);
    CU_ASSERT_EQUAL(p.offset, 99);
    CU_ASSERT_EQUAL(p.length, 5);
    CU_ASSERT_EQUAL(memcmp(p.bytes, "hello", 5), 0);
    ranges_free(&seen);
}

static void test_sizes(void)
{
    uint8_t payload[600];
    struct ranges seen = {0};
    for (uint64_t i = 0; i < 40; i++)
        ranges_add(&seen, 10 * i, 10 * i + 1);
    for (size_t count = 1; count <= WIRE_RANGES_MAX; count++) {
        struct cursor c = cursor_writer(payload, sizeof payload);
        wire_put_ack(&c, &seen, count, 0);
        CU_ASSERT_EQUAL(cursor_left(&c), sizeof payload - WIRE_ACK_BYTES(count));
    }
    struct cursor c = cursor_writer(payload, sizeof payload);
    wire_put_limit(&c, 1);
    wire_put_ping(&c);
    wire_put_stream(&c, 1, 1);
    CU_ASSERT_EQUAL(cursor_left(&c),
                    sizeof payload - WIRE_LIMIT_BYTES - WIRE_PING_BYTES - WIRE_STREAM_BYTES);
    ranges_free(&seen);
}

static void test_empty_is_good(void)
{
    struct wire_packet p;
    CU_ASSERT_PTR_NULL(wire_decode(&p, (const uint8_t *)"", 0));
    CU_ASSERT_FALSE(p.ack || p.limit || p.ping || p.stream);
}

#define PAYLOAD(...) (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__})
#define U32(n) 0, 0, 0, n
#define U64(n) 0, 0, 0, 0, 0, 0, 0, n
#define FULL 255, 255, 255, 255
static const struct {
    const char *reason;
    const uint8_t *payload;
    size_t size;
} hostile[] = {
    {"unknown kind of piece", PAYLOAD(9)},
    {"unknown kind of piece", PAYLOAD(3, 255)},
    {"second ping", PAYLOAD(3, 3)},
    {"limit cut short", PAYLOAD(2, 1, 2, 3)},
    {"second limit", PAYLOAD(2, U64(1), 2, U64(1))},
    {"limit too large", PAYLOAD(2, FULL, FULL)},
    {"stream piece cut short", PAYLOAD(4, U64(0), 0)},
    {"stream piece cut short", PAYLOAD(4, U64(0), 0, 9, 'a')},
    {"second stream piece", PAYLOAD(4, U64(0), 0, 1, 'a', 4, U64(0), 0, 1, 'a')},
    {"empty stream piece", PAYLOAD(4, U64(0), 0, 0)},
    {"stream offset too large", PAYLOAD(4, FULL, FULL, 0, 1, 'a')},
    {"acknowledgement cut short", PAYLOAD(1)},
    {"acknowledgement cut short", PAYLOAD(1, 1, U32(0), U64(5))},
    {"acknowledgement cut short", PAYLOAD(1, 2, U32(0), U64(5), U32(1))},
    {"acknowledgement cut short", PAYLOAD(1, 2, U32(0), U64(5), U32(1), U32(1))},
    {"second acknowledgement", PAYLOAD(1, 1, U32(0), U64(5), U32(1), 1, 1, U32(0), U64(5), U32(1))},
    {"number of ranges in acknowledgement", PAYLOAD(1, 0, U32(0), U64(5), U32(1))},
    {"number of ranges in acknowledgement", PAYLOAD(1, 33, U32(0), U64(5), U32(1))},
    {"packet number in acknowledgement too large", PAYLOAD(1, 1, U32(0), FULL, FULL, U32(1))},
    {"empty range in acknowledgement", PAYLOAD(1, 1, U32(0), U64(5), U32(0))},
    {"range in acknowledgement below zero", PAYLOAD(1, 1, U32(0), U64(5), U32(7))},
    {"empty gap in acknowledgement", PAYLOAD(1, 2, U32(0), U64(5), U32(1), U32(0), U32(1))},
    {"gap in acknowledgement below zero", PAYLOAD(1, 2, U32(0), U64(5), U32(1), FULL, U32(1))},
    {"range in acknowledgement below zero", PAYLOAD(1, 2, U32(0), U64(5), U32(1), U32(5), U32(1))},
};

static void test_refuses_by_name(void)
{
    for (size_t i = 0; i < sizeof hostile / sizeof *hostile; i++) {
        struct wire_packet p;
        const char *reason = wire_decode(&p, hostile[i].payload, hostile[i].size);
        CU_ASSERT_PTR_NOT_NULL_FATAL(reason);
        if (strcmp(reason, hostile[i].reason) != 0)
            printf("%zu: %s, expected: %s\n", i, reason, hostile[i].reason);
        CU_ASSERT_STRING_EQUAL(reason, hostile[i].reason);
    }
}

static const struct test_case cases[] = {
    {"round trip", test_round_trip},
    {"sizes", test_sizes},
    {"an empty payload is good", test_empty_is_good},
    {"refuses by name", test_refuses_by_name},
};

int main(void)
{
    return covey_test_main("window wire", cases, sizeof cases / sizeof cases[0]);
}
