/* links: proto/window/window*.c proto/wire/cursor.c tests/sim/network.c proto/session/fault.c */
/*
 * window_test.c - one window or two, hand in hand, without a network: what the interface promises,
 * hostile payloads, exhausted memory. What networks do to them stands in tests/sim/window_test.c.
 */
#include "proto/window/window_internal.h"

#include <CUnit/CUnit.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sim/network.h"
#include "tests/unit/memory.h"
#include "tests/unit/runner.h"

#define PACKET_BYTES 1200

static const struct window_config config = {.packet_bytes_min = PACKET_BYTES,
                                            .packet_bytes_max = PACKET_BYTES,
                                            .send_buffer_bytes = 1u << 20,
                                            .receive_buffer_bytes = 1u << 20};

/* ---- allocations that fail when asked ---- */

static struct {
    bool armed;
    unsigned chance_ppm;
    uint64_t random, failed;
} memory;

static bool memory_fails(size_t size)
{
    (void)size;
    bool fails = memory.armed && random_chance(&memory.random, memory.chance_ppm);
    memory.failed += fails;
    return fails;
}

/* ---- two windows hand in hand ---- */

struct pair {
    struct window *a, *b;
    uint64_t a_number, b_number, now_us, random;
    uint32_t loss_ppm;
    unsigned packets;
};

static void pair_create(struct pair *p)
{
    *p = (struct pair){.a = window_create(&config), .b = window_create(&config), .random = 1};
    CU_ASSERT_FATAL(p->a != NULL && p->b != NULL);
}

static void pair_destroy(struct pair *p)
{
    window_destroy(p->a);
    window_destroy(p->b);
}

static void hand_over(struct pair *p, struct window *from, struct window *to, uint64_t *number)
{
    uint8_t packet[PACKET_BYTES];
    size_t size;
    if (window_deadline(from) <= p->now_us)
        window_on_timer(from, p->now_us);
    while ((size = window_next(from, *number, packet, sizeof packet, p->now_us)) != 0) {
        p->packets++;
        ++*number;
        if (!random_chance(&p->random, p->loss_ppm))
            window_on_packet(to, *number - 1, packet, size, p->now_us);
    }
}

static void exchange(struct pair *p, unsigned rounds)
{
    for (; rounds > 0; rounds--, p->now_us += 1000) {
        hand_over(p, p->a, p->b, &p->a_number);
        hand_over(p, p->b, p->a, &p->b_number);
    }
}

static void test_create_refuses(void)
{
    struct window_config bad = config;
    bad.packet_bytes_min = WINDOW_PACKET_BYTES_MIN - 1;
    CU_ASSERT_PTR_NULL(window_create(&bad));
    bad = config;
    bad.packet_bytes_max = WINDOW_PACKET_BYTES_MAX + 1;
    CU_ASSERT_PTR_NULL(window_create(&bad));
    bad = config;
    bad.send_buffer_bytes = 0;
    CU_ASSERT_PTR_NULL(window_create(&bad));
    window_destroy(NULL);
}

static void test_fresh_window_is_silent(void)
{
    struct pair p;
    uint8_t packet[PACKET_BYTES];
    const uint8_t *bytes;
    pair_create(&p);
    CU_ASSERT_EQUAL(window_deadline(p.a), UINT64_MAX);
    CU_ASSERT_EQUAL(window_next(p.a, 1, packet, sizeof packet, 0), 0);
    CU_ASSERT_EQUAL(window_readable(p.a, &bytes), 0);
    CU_ASSERT_EQUAL(window_writable(p.a), config.send_buffer_bytes);
    CU_ASSERT_EQUAL(window_write(p.a, "", 0), 0);
    CU_ASSERT_EQUAL(window_deadline(p.a), UINT64_MAX);
    pair_destroy(&p);
}

static void test_bytes_get_there(void)
{
    struct pair p;
    const uint8_t *bytes;
    pair_create(&p);
    CU_ASSERT_EQUAL(window_write(p.a, "hello", 5), 5);
    CU_ASSERT_EQUAL(window_deadline(p.a), 0);
    CU_ASSERT_EQUAL(window_unacknowledged(p.a), 5);
    CU_ASSERT_EQUAL(window_waiting(p.a), 5);
    hand_over(&p, p.a, p.b, &p.a_number);
    CU_ASSERT_EQUAL(window_unacknowledged(p.a), 5);
    CU_ASSERT_EQUAL(window_waiting(p.a), 0);
    exchange(&p, 1);
    CU_ASSERT_EQUAL(window_readable(p.b, &bytes), 5);
    CU_ASSERT_EQUAL(memcmp(bytes, "hello", 5), 0);
    window_consume(p.b, 2);
    CU_ASSERT_EQUAL(window_readable(p.b, &bytes), 3);
    window_consume(p.b, 100); /* more than there is */
    CU_ASSERT_EQUAL(window_readable(p.b, &bytes), 0);
    exchange(&p, 5);
    CU_ASSERT_EQUAL(window_unacknowledged(p.a), 0);
    CU_ASSERT_EQUAL(window_deadline(p.a), UINT64_MAX);
    CU_ASSERT_EQUAL(window_deadline(p.b), UINT64_MAX);
    CU_ASSERT_EQUAL(p.packets, 2); /* the bytes, one acknowledgement */
    pair_destroy(&p);
}

static void test_answer_carries_the_acknowledgement(void)
{
    struct pair p;
    pair_create(&p);
    window_write(p.a, "ping", 4);
    hand_over(&p, p.a, p.b, &p.a_number);
    window_write(p.b, "pong", 4);
    hand_over(&p, p.b, p.a, &p.b_number);
    CU_ASSERT_EQUAL(window_unacknowledged(p.a), 0);
    CU_ASSERT_EQUAL(p.packets, 2);
    pair_destroy(&p);
}

static void test_write_stops_at_the_buffer(void)
{
    static uint8_t much[3u << 20];
    struct pair p;
    pair_create(&p);
    CU_ASSERT_EQUAL(window_write(p.a, much, sizeof much), config.send_buffer_bytes);
    CU_ASSERT_EQUAL(window_writable(p.a), 0);
    CU_ASSERT_EQUAL(window_write(p.a, much, 1), 0);
    exchange(&p, 100);
    CU_ASSERT_EQUAL(window_writable(p.a), config.send_buffer_bytes);
    exchange(&p, 10);
    window_write(p.a, much, 1000); /* nobody read: the limit is reached */
    exchange(&p, 10);
    CU_ASSERT_EQUAL(window_unacknowledged(p.a), 1000);
    CU_ASSERT_EQUAL(window_deadline(p.a), UINT64_MAX);
    window_consume(p.b, 500000);
    exchange(&p, 10);
    CU_ASSERT_EQUAL(window_unacknowledged(p.a), 0);
    pair_destroy(&p);
}

static void test_numbers_must_grow(void)
{
    struct pair p;
    uint8_t packet[PACKET_BYTES];
    pair_create(&p);
    window_write(p.a, "x", 1);
    CU_ASSERT_NOT_EQUAL(window_next(p.a, 7, packet, sizeof packet, 0), 0);
    window_write(p.a, "y", 1);
    CU_ASSERT_EQUAL(window_next(p.a, 7, packet, sizeof packet, 0), 0);
    CU_ASSERT_EQUAL(window_next(p.a, 8, packet, WINDOW_PACKET_BYTES_MIN - 1, 0), 0);
    CU_ASSERT_NOT_EQUAL(window_next(p.a, 8, packet, sizeof packet, 0), 0);
    pair_destroy(&p);
}

static void test_duplicates_are_ignored(void)
{
    struct pair p;
    uint8_t packet[PACKET_BYTES];
    struct window_stats before, after;
    pair_create(&p);
    window_write(p.a, "once", 4);
    size_t size = window_next(p.a, 1, packet, sizeof packet, 0);
    CU_ASSERT_PTR_NULL(window_on_packet(p.b, 1, packet, size, 0));
    window_stats(p.b, &before);
    CU_ASSERT_PTR_NULL(window_on_packet(p.b, 1, packet, size, 0));
    window_stats(p.b, &after);
    CU_ASSERT_EQUAL(memcmp(&before, &after, sizeof before), 0);
    CU_ASSERT_PTR_NULL(window_on_packet(p.b, 2, packet, size, 0)); /* same bytes, sent again */
    window_stats(p.b, &after);
    CU_ASSERT_EQUAL(after.bytes_received, 4);
    CU_ASSERT_EQUAL(after.bytes_duplicate, 4);
    pair_destroy(&p);
}

/* ---- hostile peers ---- */

#define PAYLOAD(...) (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__})
static const struct {
    const char *reason;
    const uint8_t *payload;
    size_t size;
} hostile[] = {
    {"unknown kind of piece", PAYLOAD(3, 77)},
    {"acknowledges a packet that was never sent",
     PAYLOAD(1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 50, 0, 0, 0, 1)},
    {"acknowledges a packet that was never sent",
     PAYLOAD(2, 0, 0, 0, 0, 0, 16, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 50, 0, 0, 0, 1)},
    {"stream bytes beyond the limit granted", PAYLOAD(4, 0, 0, 0, 0, 0, 2, 0, 0, 0, 1, 'x')},
    {"stream bytes beyond the limit granted",
     PAYLOAD(4, 0, 0, 0, 0, 0, 1, 255, 255, 0, 2, 'x', 'x')},
};

static void test_hostile_payloads_have_no_effect(void)
{
    struct pair p;
    const uint8_t *bytes;
    pair_create(&p);
    window_write(p.a, "good", 4);
    for (size_t i = 0; i < sizeof hostile / sizeof *hostile; i++) {
        struct window_stats before, after;
        window_stats(p.a, &before);
        const char *reason = window_on_packet(p.a, 100 + i, hostile[i].payload, hostile[i].size, 0);
        CU_ASSERT_PTR_NOT_NULL_FATAL(reason);
        CU_ASSERT_STRING_EQUAL(reason, hostile[i].reason);
        window_stats(p.a, &after);
        CU_ASSERT_EQUAL(memcmp(&before, &after, sizeof before), 0);
    }
    CU_ASSERT_STRING_EQUAL(window_on_packet(p.a, UINT64_MAX, NULL, 0, 0),
                           "packet number too large");
    exchange(&p, 5);
    CU_ASSERT_EQUAL(window_readable(p.b, &bytes), 4);
    CU_ASSERT_EQUAL(window_unacknowledged(p.a), 0);
    CU_ASSERT_EQUAL(p.packets, 2); /* what was refused was not acknowledged */
    pair_destroy(&p);
}

/* Single bytes with gaps between them cost a bounded amount of memory. */
static void test_gaps_are_bounded(void)
{
    struct pair p;
    uint8_t piece[] = {4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 'x'};
    const char *reason = NULL;
    uint64_t number = 1;
    pair_create(&p);
    for (; number < 60000 && reason == NULL; number++) {
        uint64_t offset = 2 * number;
        piece[6] = (uint8_t)(offset >> 16);
        piece[7] = (uint8_t)(offset >> 8);
        piece[8] = (uint8_t)offset;
        reason = window_on_packet(p.b, number, piece, sizeof piece, 0);
    }
    CU_ASSERT_PTR_NOT_NULL_FATAL(reason);
    CU_ASSERT_STRING_EQUAL(reason, "too many gaps in the stream");
    CU_ASSERT(number < 10000);
    pair_destroy(&p);
}

/* ---- odd ways of sending ---- */

/* Links hand over many packets of one size at once. */
static void test_full_packets_have_one_size(void)
{
    static uint8_t much[500000];
    uint8_t packet[PACKET_BYTES];
    struct pair p;
    size_t size;
    unsigned odd = 0, packets = 0;
    pair_create(&p);
    window_write(p.a, much, 100000);
    exchange(&p, 50);
    window_write(p.a, much, sizeof much);
    for (; (size = window_next(p.a, p.a_number, packet, sizeof packet, p.now_us)) != 0; packets++)
        odd += size != PACKET_BYTES, p.a_number++;
    CU_ASSERT(packets > 16);
    CU_ASSERT_EQUAL(odd, 0);
    pair_destroy(&p);
}

/* A byte a packet: more packets than records. What has no record any more is sent again. */
static void test_more_packets_than_records(void)
{
    static uint8_t much[1u << 20];
    struct pair p;
    uint8_t packet[PACKET_BYTES];
    pair_create(&p);
    for (int i = 0; i < 20; i++) {
        window_write(p.a, much, sizeof much);
        exchange(&p, 20);
        window_consume(p.b, sizeof much);
        exchange(&p, 1);
    }
    CU_ASSERT_EQUAL(window_unacknowledged(p.a), 0);
    unsigned packets = 0;
    for (; packets < 80000; packets++, p.a_number++) {
        if (window_write(p.a, "x", 1) != 1)
            break;
        if (window_next(p.a, p.a_number, packet, sizeof packet, p.now_us += 10) == 0)
            break;
    }
    CU_ASSERT(packets > SENT_RECORDS_MAX);
    exchange(&p, 2000);
    CU_ASSERT_EQUAL(window_unacknowledged(p.a), 0);
    pair_destroy(&p);
}

/* ---- memory ---- */

/* Writes and reads `size` bytes while nine of ten allocations fail; returns how many came. */
static size_t transfer(struct pair *p, const uint8_t *sent, uint8_t *got, size_t size)
{
    const uint8_t *bytes;
    size_t written = 0, read = 0;
    for (int round = 0; round < 100000 && read < size; round++) {
        memory.armed = true;
        written += window_write(p->a, sent + written, (size - written + 1) / 2);
        exchange(p, 1);
        memory.armed = false;
        size_t run = window_readable(p->b, &bytes);
        if (run > 0)
            memcpy(got + read, bytes, run);
        window_consume(p->b, run);
        read += run;
    }
    return read;
}

static void test_allocations_that_fail(void)
{
    static uint8_t sent[400000], got[sizeof sent];
    unsigned wrong = 0;
    if (!MEMORY_CAN_FAIL) {
        covey_test_skip("a sanitizer owns malloc in this build");
        return;
    }
    memory.chance_ppm = NETWORK_MILLION / 10 * 9;
    for (size_t i = 0; i < sizeof sent; i++)
        sent[i] = (uint8_t)random_next(&memory.random);
    for (uint64_t seed = 1; seed <= 100; seed++) {
        struct pair p;
        pair_create(&p);
        p.random = memory.random = seed;
        p.loss_ppm = 100000;
        wrong += transfer(&p, sent, got, sizeof sent) != sizeof sent;
        wrong += memcmp(sent, got, sizeof sent) != 0;
        pair_destroy(&p);
    }
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT(memory.failed > 1000);
}

/* Adding to a full set then closes a gap: bytes are sent once more than needed, none is lost. */
static void test_cover_without_memory(void)
{
    struct ranges r = {0};
    if (!MEMORY_CAN_FAIL) {
        covey_test_skip("a sanitizer owns malloc in this build");
        return;
    }
    CU_ASSERT_TRUE(ranges_reserve(&r, 1));
    while (r.count < r.capacity)
        ranges_add(&r, 100 * r.count, 100 * r.count + 10);
    size_t full = r.count;
    memory.chance_ppm = NETWORK_MILLION;
    memory.armed = true;
    CU_ASSERT_FALSE(ranges_add(&r, 150, 160));
    ranges_cover(&r, 150, 160);
    ranges_cover(&r, 5000, 5010);
    ranges_remove(&r, 102, 104); /* would split: left as it is */
    memory.armed = false;
    CU_ASSERT_EQUAL(r.count, full);
    CU_ASSERT(ranges_contain(&r, 155) && ranges_contain(&r, 5005) && ranges_contain(&r, 103));
    ranges_free(&r);
}

static void test_create_without_memory(void)
{
    if (!MEMORY_CAN_FAIL) {
        covey_test_skip("a sanitizer owns malloc in this build");
        return;
    }
    memory.chance_ppm = NETWORK_MILLION;
    memory.armed = true;
    struct window *w = window_create(&config);
    memory.armed = false;
    CU_ASSERT_PTR_NULL(w);
}

/* Two windows that are told the same, one asked for packets in one piece, one for them apart. */
static void compare_next(struct window *whole, struct window *parted, uint64_t number,
                         uint64_t now_us)
{
    uint8_t packet[PACKET_BYTES], head[PACKET_BYTES];
    struct window_apart apart = {.payload = head, .capacity = sizeof head};
    size_t size = window_next(whole, number, packet, sizeof packet, now_us);
    CU_ASSERT_EQUAL_FATAL(window_next_apart(parted, number, &apart, now_us), size);
    CU_ASSERT_FATAL(apart.size <= size);
    size_t at = size - apart.size;
    CU_ASSERT_EQUAL(memcmp(packet, head, at), 0);
    for (unsigned i = 0; i < apart.count; at += apart.pieces[i++].size)
        CU_ASSERT_EQUAL(memcmp(packet + at, apart.pieces[i].bytes, apart.pieces[i].size), 0);
    CU_ASSERT_EQUAL(at, size);
}

static void test_apart_is_the_same(void)
{
    struct pair whole, parted;
    uint8_t bytes[5000];
    pair_create(&whole);
    pair_create(&parted);
    whole.loss_ppm = parted.loss_ppm = NETWORK_MILLION / 10;
    for (unsigned i = 0; i < 300; i++) { /* some turns of the rings */
        memset(bytes, (int)i, sizeof bytes);
        CU_ASSERT_EQUAL(window_write(whole.a, bytes, sizeof bytes - i),
                        window_write(parted.a, bytes, sizeof bytes - i));
        compare_next(whole.a, parted.a, whole.a_number++, whole.now_us);
        parted.a_number++;
        exchange(&whole, 3);
        exchange(&parted, 3);
        const uint8_t *view;
        window_consume(whole.b, window_readable(whole.b, &view));
        window_consume(parted.b, window_readable(parted.b, &view));
    }
    pair_destroy(&whole);
    pair_destroy(&parted);
}

#define LOANS 7

/* Of what is lent, nothing is read from its place any more once it is kept. */
static void test_lent_is_the_same(void)
{
    static uint8_t bytes[LOANS][5000];
    struct pair whole, lent;
    pair_create(&whole);
    pair_create(&lent);
    whole.loss_ppm = lent.loss_ppm = NETWORK_MILLION / 10;
    for (unsigned i = 0; i < 50 * LOANS; i++) {
        uint8_t *at = bytes[i % LOANS];
        size_t size = i % 3 == 0 ? 20 : sizeof bytes[0] - i;
        for (size_t j = 0; j < size; j++)
            at[j] = (uint8_t)((i + j) * 2654435761u >> 24);
        size_t taken = (i % 3 == 0 ? window_write : window_lend)(lent.a, at, size);
        CU_ASSERT_EQUAL(window_write(whole.a, at, size), taken);
        for (unsigned packets = i % 4; packets > 0; packets--)
            compare_next(whole.a, lent.a, whole.a_number++, whole.now_us);
        lent.a_number = whole.a_number;
        if (i % LOANS == LOANS - 1) {
            window_keep(lent.a);
            memset(bytes, 0, sizeof bytes);
        }
        exchange(&whole, i % 5);
        exchange(&lent, i % 5);
        const uint8_t *view, *same;
        size_t n = window_readable(whole.b, &view);
        CU_ASSERT_EQUAL_FATAL(window_readable(lent.b, &same), n);
        CU_ASSERT(n == 0 || memcmp(view, same, n) == 0);
        window_consume(whole.b, n);
        window_consume(lent.b, n);
    }
    pair_destroy(&whole);
    pair_destroy(&lent);
}

/* More loans than are kept track of, each apart from the one before. */
static void test_many_loans(void)
{
    static uint8_t bytes[LOANS_MAX + 50][200];
    const unsigned last = LOANS_MAX + 49;
    struct pair p;
    const uint8_t *view;
    pair_create(&p);
    for (unsigned i = 0; i <= last; i++) {
        memset(bytes[last - i], (int)i, 200);
        CU_ASSERT_EQUAL(window_lend(p.a, bytes[last - i], 200), 200);
    }
    exchange(&p, 2000);
    CU_ASSERT_EQUAL_FATAL(window_readable(p.b, &view), sizeof bytes);
    for (unsigned i = 0; i <= last; i++)
        CU_ASSERT_EQUAL(memcmp(view + 200 * i, bytes[last - i], 200), 0);
    pair_destroy(&p);
}

static void test_held_bytes_fill_a_packet(void)
{
    struct pair p;
    uint8_t bytes[PACKET_BYTES] = "", packet[PACKET_BYTES];
    pair_create(&p);
    window_hold(p.a, true);
    window_write(p.a, bytes, 700);
    CU_ASSERT_EQUAL(window_deadline(p.a), UINT64_MAX);
    CU_ASSERT_EQUAL(window_next(p.a, 0, packet, sizeof packet, 0), 0);
    window_write(p.a, bytes, 700);
    CU_ASSERT_EQUAL(window_deadline(p.a), 0);
    CU_ASSERT_EQUAL(window_next(p.a, 0, packet, sizeof packet, 0), PACKET_BYTES);
    CU_ASSERT_EQUAL(window_next(p.a, 1, packet, sizeof packet, 0), 0);
    window_hold(p.a, false);
    CU_ASSERT_NOT_EQUAL(window_next(p.a, 1, packet, sizeof packet, 0), 0);
    pair_destroy(&p);
}

/* What was lost is sent again at once, and who probes does not wait either. */
static void test_held_bytes_are_repaired(void)
{
    struct pair p;
    const uint8_t *view;
    uint8_t bytes[3 * PACKET_BYTES] = "";
    pair_create(&p);
    p.loss_ppm = NETWORK_MILLION / 2;
    window_hold(p.a, true);
    for (unsigned i = 0; i < 200; i++) {
        window_write(p.a, bytes, sizeof bytes);
        exchange(&p, 1);
    }
    p.loss_ppm = 0;
    exchange(&p, 2000);
    CU_ASSERT(window_unacknowledged(p.a) < PACKET_BYTES);
    window_hold(p.a, false);
    for (size_t n; (n = window_readable(p.b, &view)) > 0;) {
        window_consume(p.b, n);
        exchange(&p, 10);
    }
    CU_ASSERT_EQUAL(window_unacknowledged(p.a), 0);
    pair_destroy(&p);
}

static const struct test_case cases[] = {
    {"create refuses", test_create_refuses},
    {"a fresh window is silent", test_fresh_window_is_silent},
    {"bytes get there", test_bytes_get_there},
    {"an answer carries the acknowledgement", test_answer_carries_the_acknowledgement},
    {"write stops at the buffer", test_write_stops_at_the_buffer},
    {"numbers must grow", test_numbers_must_grow},
    {"duplicates are ignored", test_duplicates_are_ignored},
    {"hostile payloads have no effect", test_hostile_payloads_have_no_effect},
    {"gaps are bounded", test_gaps_are_bounded},
    {"full packets have one size", test_full_packets_have_one_size},
    {"more packets than records", test_more_packets_than_records},
    {"a set without memory covers more", test_cover_without_memory},
    {"allocations that fail", test_allocations_that_fail},
    {"create without memory", test_create_without_memory},
    {"apart it is the same", test_apart_is_the_same},
    {"lent it is the same", test_lent_is_the_same},
    {"many loans", test_many_loans},
    {"held bytes fill a packet", test_held_bytes_fill_a_packet},
    {"held bytes are repaired", test_held_bytes_are_repaired},
};

int main(void)
{
    return covey_test_main("window", cases, sizeof cases / sizeof cases[0]);
}
