/* links: proto/window/window*.c proto/window/inbox.c proto/wire/cursor.c proto/wire/frame.c */
/*
 * inbox_test.c - frames out of a window: whole ones, in the window's own memory.
 */
#include "proto/window/inbox.h"

#include <CUnit/CUnit.h>
#include <stdlib.h>
#include <string.h>

#include "proto/window/window_internal.h"
#include "tests/unit/runner.h"

#define PACKET_BYTES 60000
#define FRAMES 40

static const struct window_config config = {.packet_bytes_min = PACKET_BYTES,
                                            .packet_bytes_max = PACKET_BYTES,
                                            .send_buffer_bytes = 4u << 20,
                                            .receive_buffer_bytes = 4u << 20};

struct pair {
    struct window *from, *to;
    uint64_t from_number, to_number, now_us;
    struct inbox inbox;
    struct frame frame;
    const uint8_t *payload;
    const char *reason;
};

static void pair_create(struct pair *p)
{
    *p = (struct pair){.from = window_create(&config), .to = window_create(&config)};
    CU_ASSERT_FATAL(p->from != NULL && p->to != NULL);
}

static void pair_destroy(struct pair *p)
{
    window_destroy(p->from);
    window_destroy(p->to);
}

static void hand_over(struct window *from, struct window *to, uint64_t *number, uint64_t now_us)
{
    static uint8_t packet[PACKET_BYTES];
    if (window_deadline(from) <= now_us)
        window_on_timer(from, now_us);
    for (size_t size; (size = window_next(from, *number, packet, sizeof packet, now_us)) != 0;)
        CU_ASSERT_PTR_NULL(window_on_packet(to, (*number)++, packet, size, now_us));
}

static int next(struct pair *p)
{
    return inbox_next(&p->inbox, p->to, &p->frame, &p->payload, &p->reason);
}

static void put(struct pair *p, uint8_t filler, size_t length)
{
    static uint8_t bytes[FRAME_HEADER_BYTES + FRAME_PAYLOAD_MAX];
    struct frame frame = {.length = (uint32_t)length, .kind = FRAME_DATA};
    frame_encode(&frame, bytes);
    memset(bytes + FRAME_HEADER_BYTES, filler, length);
    CU_ASSERT_EQUAL(window_write(p->from, bytes, FRAME_HEADER_BYTES + length),
                    FRAME_HEADER_BYTES + length);
}

static bool is_filled(const uint8_t *bytes, uint8_t filler, size_t size)
{
    return bytes[0] == filler && memcmp(bytes, bytes + 1, size - 1) == 0;
}

/* Small frames and the largest, which lie across the ends of packets and of the window's memory. */
static void test_frames_lie_in_the_window(void)
{
    struct pair p;
    const struct window_ring *ring;
    pair_create(&p);
    ring = &p.to->receive.ring;
    unsigned put_count = 0, got = 0;
    while (got < FRAMES) {
        if (put_count < FRAMES && window_unacknowledged(p.from) < 1u << 20) {
            put(&p, (uint8_t)put_count, put_count % 3 == 0 ? 100 : FRAME_PAYLOAD_MAX);
            put_count++;
        }
        hand_over(p.from, p.to, &p.from_number, p.now_us);
        hand_over(p.to, p.from, &p.to_number, p.now_us);
        p.now_us += 1000;
        for (int found; (found = next(&p)) != 0; got++) {
            CU_ASSERT_EQUAL_FATAL(found, 1);
            CU_ASSERT_EQUAL(p.frame.length, got % 3 == 0 ? 100 : FRAME_PAYLOAD_MAX);
            CU_ASSERT_TRUE(is_filled(p.payload, (uint8_t)got, p.frame.length));
            CU_ASSERT_TRUE(p.payload > ring->bytes);
            CU_ASSERT_TRUE(p.payload + p.frame.length <=
                           ring->bytes + ring->capacity + RING_VIEW_BYTES);
            CU_ASSERT_EQUAL(p.inbox.missing, 0);
        }
    }
    CU_ASSERT_TRUE(p.to->receive.next > 2 * ring->capacity); /* it went round */
    pair_destroy(&p);
}

static void test_part_of_a_frame_is_left_there(void)
{
    struct pair p;
    uint8_t header[FRAME_HEADER_BYTES];
    struct frame frame = {.length = 50, .kind = FRAME_DATA};
    pair_create(&p);
    CU_ASSERT_EQUAL(next(&p), 0);
    frame_encode(&frame, header);
    window_write(p.from, header, 3);
    hand_over(p.from, p.to, &p.from_number, 0);
    CU_ASSERT_EQUAL(next(&p), 0);
    CU_ASSERT_EQUAL(p.inbox.missing, 0); /* nobody knows */
    window_write(p.from, header + 3, sizeof header - 3);
    window_write(p.from, header, 10);
    hand_over(p.from, p.to, &p.from_number, 0);
    CU_ASSERT_EQUAL(next(&p), 0);
    CU_ASSERT_EQUAL(p.inbox.missing, 40);
    CU_ASSERT_EQUAL(window_unread(p.to), sizeof header + 10);
    pair_destroy(&p);
}

static void test_a_frame_is_put_back(void)
{
    struct pair p;
    pair_create(&p);
    put(&p, 7, 1000);
    put(&p, 8, 1000);
    hand_over(p.from, p.to, &p.from_number, 0);
    CU_ASSERT_EQUAL(next(&p), 1);
    inbox_put_back(&p.inbox);
    CU_ASSERT_EQUAL(next(&p), 1);
    CU_ASSERT_TRUE(is_filled(p.payload, 7, 1000));
    CU_ASSERT_EQUAL(next(&p), 1);
    CU_ASSERT_TRUE(is_filled(p.payload, 8, 1000));
    CU_ASSERT_EQUAL(next(&p), 0);
    CU_ASSERT_EQUAL(window_unread(p.to), 0);
    pair_destroy(&p);
}

static void test_refusal_has_a_reason(void)
{
    struct pair p;
    uint8_t header[FRAME_HEADER_BYTES];
    pair_create(&p);
    memset(header, 0xff, sizeof header);
    window_write(p.from, header, sizeof header);
    hand_over(p.from, p.to, &p.from_number, 0);
    CU_ASSERT_EQUAL(next(&p), -1);
    CU_ASSERT_PTR_NOT_NULL(p.reason);
    pair_destroy(&p);
}

static const struct test_case cases[] = {
    {"frames lie in the window", test_frames_lie_in_the_window},
    {"part of a frame is left there", test_part_of_a_frame_is_left_there},
    {"a frame is put back", test_a_frame_is_put_back},
    {"a refusal has a reason", test_refusal_has_a_reason},
};

int main(void)
{
    return covey_test_main("inbox", cases, sizeof cases / sizeof cases[0]);
}
