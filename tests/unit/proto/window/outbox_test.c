/* links: proto/window/window*.c proto/window/outbox.c proto/wire/cursor.c tests/sim/network.c proto/session/fault.c */
/*
 * outbox_test.c - a window that sends from its outbox: nothing is copied between them, and what the
 * outbox has is freed when it is acknowledged, and not before.
 */
#include "proto/window/outbox.h"

#include <CUnit/CUnit.h>
#include <stdlib.h>
#include <string.h>

#include "proto/window/window_internal.h"
#include "tests/sim/network.h"
#include "tests/unit/runner.h"

#define PACKET_BYTES 1400
#define BODY_BYTES 65536

static const struct window_config config = {.packet_bytes_min = PACKET_BYTES,
                                            .packet_bytes_max = PACKET_BYTES,
                                            .send_buffer_bytes = 1u << 20,
                                            .receive_buffer_bytes = 1u << 20,
                                            .lent_stay = true};

struct pair {
    struct window *from, *to;
    struct outbox outbox;
    uint64_t from_number, to_number, now_us, random;
    uint64_t appended, read; /* bytes */
    uint32_t loss_ppm;
};

static uint8_t byte_at(uint64_t offset)
{
    return (uint8_t)(offset * 31 + offset / 251);
}

static void pair_create(struct pair *p)
{
    *p = (struct pair){.from = window_create(&config), .to = window_create(&config), .random = 1};
    CU_ASSERT_FATAL(p->from != NULL && p->to != NULL);
}

static void pair_destroy(struct pair *p)
{
    CU_ASSERT_PTR_NULL(p->from->send.ring.bytes); /* nothing was ever copied into the window */
    window_destroy(p->from);
    window_destroy(p->to);
    outbox_free(&p->outbox);
}

static void append(struct pair *p, size_t header, size_t body)
{
    static uint8_t bytes[100 + BODY_BYTES];
    for (size_t i = 0; i < header + body; i++)
        bytes[i] = byte_at(p->appended + i);
    CU_ASSERT_TRUE(outbox_append(&p->outbox, bytes, header, bytes + header, body));
    memset(bytes, 0, header + body);
    p->appended += header + body;
}

/* Memory of its own: it becomes a chunk. */
static void give(struct pair *p, size_t size)
{
    uint8_t *bytes = malloc(size);
    CU_ASSERT_PTR_NOT_NULL_FATAL(bytes);
    for (size_t i = 0; i < size; i++)
        bytes[i] = byte_at(p->appended + i);
    CU_ASSERT_TRUE(outbox_give(&p->outbox, bytes, size));
    p->appended += size;
}

static void hand_over(struct pair *p, struct window *from, struct window *to, uint64_t *number)
{
    uint8_t packet[PACKET_BYTES];
    if (window_deadline(from) <= p->now_us)
        window_on_timer(from, p->now_us);
    for (;;) {
        if (from == p->from)
            outbox_pump(&p->outbox, from);
        size_t size = window_next(from, *number, packet, sizeof packet, p->now_us);
        if (size == 0)
            return;
        ++*number;
        if (!random_chance(&p->random, p->loss_ppm))
            CU_ASSERT_PTR_NULL(window_on_packet(to, *number - 1, packet, size, p->now_us));
    }
}

static void exchange(struct pair *p, unsigned rounds)
{
    const uint8_t *bytes;
    for (; rounds > 0; rounds--, p->now_us += 1000) {
        hand_over(p, p->from, p->to, &p->from_number);
        for (size_t size; (size = window_readable(p->to, &bytes)) > 0; p->read += size) {
            for (size_t i = 0; i < size; i++)
                CU_ASSERT_EQUAL_FATAL(bytes[i], byte_at(p->read + i));
            window_consume(p->to, size);
        }
        hand_over(p, p->to, p->from, &p->to_number);
    }
    outbox_pump(&p->outbox, p->from);
}

/* Also when they are sent again and again; frames of all sizes share chunks or have their own. */
static void test_bytes_get_there(void)
{
    struct pair p;
    pair_create(&p);
    p.loss_ppm = NETWORK_MILLION / 10;
    for (unsigned i = 0; i < 300; i++) {
        append(&p, 16, i % 4 == 0 ? BODY_BYTES : i % 4 == 1 ? 40000 : i);
        if (i % 3 == 0)
            give(&p, 1000 + 100 * (size_t)i);
        exchange(&p, i % 3);
    }
    CU_ASSERT_TRUE(p.outbox.bytes > 0); /* more than the window takes */
    p.loss_ppm = 0;
    exchange(&p, 20000);
    CU_ASSERT_EQUAL(p.read, p.appended);
    CU_ASSERT_EQUAL(p.outbox.bytes, 0);
    CU_ASSERT_PTR_NULL(p.outbox.head);
    pair_destroy(&p);
}

/* Two chunks; of the second the window sends when the first is acknowledged. */
static void test_chunks_last_until_acknowledged(void)
{
    struct pair p;
    pair_create(&p);
    append(&p, 16, 3000);
    append(&p, 16, BODY_BYTES);
    outbox_pump(&p.outbox, p.from);
    CU_ASSERT_EQUAL(p.outbox.bytes, 0);
    CU_ASSERT_EQUAL(p.from->send.loans.count, 2);
    const struct outbox_chunk *first = p.outbox.head, *second = p.outbox.tail;
    CU_ASSERT_PTR_NOT_EQUAL(first, second);
    hand_over(&p, p.from, p.to, &p.from_number);
    CU_ASSERT_PTR_EQUAL(p.outbox.head, first);
    sender_acked(&p.from->send, 0, 3015);
    outbox_pump(&p.outbox, p.from);
    CU_ASSERT_PTR_EQUAL(p.outbox.head, first); /* a byte of it is missing */
    sender_acked(&p.from->send, 3015, 1);
    outbox_pump(&p.outbox, p.from);
    CU_ASSERT_PTR_EQUAL(p.outbox.head, second);
    sender_acked(&p.from->send, 3016, 16 + BODY_BYTES);
    outbox_pump(&p.outbox, p.from);
    CU_ASSERT_PTR_NULL(p.outbox.head);
    CU_ASSERT_PTR_NULL(p.outbox.tail);
    pair_destroy(&p);
}

/* What is given is lent where it lies, and what follows it shares a chunk again. */
static void test_given_bytes_stay_where_they_are(void)
{
    struct pair p;
    pair_create(&p);
    uint8_t *bytes = malloc(20000);
    CU_ASSERT_PTR_NOT_NULL_FATAL(bytes);
    for (size_t i = 0; i < 20000; i++)
        bytes[i] = byte_at(i);
    CU_ASSERT_TRUE(outbox_give(&p.outbox, bytes, 20000));
    p.appended = 20000;
    append(&p, 16, 100);
    append(&p, 16, 200);
    outbox_pump(&p.outbox, p.from);
    CU_ASSERT_EQUAL(p.from->send.loans.count, 2);
    CU_ASSERT_PTR_EQUAL(p.from->send.loans.at[0].bytes, bytes);
    exchange(&p, 100);
    CU_ASSERT_EQUAL(p.read, p.appended);
    CU_ASSERT_PTR_NULL(p.outbox.head);
    pair_destroy(&p);
}

/* What the window has is still sent. */
static void test_withdrawn_is_not_sent(void)
{
    struct pair p;
    pair_create(&p);
    for (unsigned i = 0; i < 40; i++)
        append(&p, 16, BODY_BYTES);
    outbox_pump(&p.outbox, p.from);
    uint64_t taken = window_unacknowledged(p.from);
    CU_ASSERT_EQUAL(p.outbox.bytes, p.appended - taken);
    outbox_withdraw(&p.outbox);
    CU_ASSERT_EQUAL(p.outbox.bytes, 0);
    exchange(&p, 3000);
    CU_ASSERT_EQUAL(p.read, taken);
    CU_ASSERT_PTR_NULL(p.outbox.head);
    pair_destroy(&p);
}

static const struct test_case cases[] = {
    {"bytes get there", test_bytes_get_there},
    {"chunks last until they are acknowledged", test_chunks_last_until_acknowledged},
    {"given bytes stay where they are", test_given_bytes_stay_where_they_are},
    {"what is withdrawn is not sent", test_withdrawn_is_not_sent},
};

int main(void)
{
    return covey_test_main("outbox", cases, sizeof cases / sizeof cases[0]);
}
