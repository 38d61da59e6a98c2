/* links: proto/wire/ether.c proto/wire/cursor.c */
/*
 * ether_test.c - the heads of Ethernet frames.
 */
#include "proto/wire/ether.h"

#include <CUnit/CUnit.h>
#include <string.h>

#include "tests/unit/runner.h"

static const uint8_t TO[] = {1, 2, 3, 4, 5, 6}, FROM[] = {2, 7, 8, 9, 10, 11};
static const uint8_t DATAGRAM[] = {0xc0, 0x4e, 1};
static const uint8_t FRAME[] = {1,    2, 3, 4, 5, 6, 2, 7, 8, 9,    10,   11, 0x88,
                                0xb5, 1, 0, 0, 3, 0, 0, 1, 2, 0xc0, 0x4e, 1};

/* Writes the sample frame and returns its size. */
static size_t frame_write(uint8_t *bytes, size_t size)
{
    struct cursor c = cursor_writer(bytes, size);
    struct address to = ether_address(TO), from = ether_address(FROM);

    ether_put_link(&c, &to, &from, ETHER_TYPE_DEFAULT);
    ether_put(&c, &(struct ether){.channel = 0x102, .size = sizeof DATAGRAM});
    cursor_put_bytes(&c, DATAGRAM, sizeof DATAGRAM);
    CU_ASSERT(cursor_ok(&c));
    return (size_t)(c.at - bytes);
}

static void frame_is_what_the_grammar_says(void)
{
    uint8_t bytes[ETHER_FRAME_BYTES_MIN];

    CU_ASSERT_EQUAL(frame_write(bytes, sizeof bytes), sizeof FRAME);
    CU_ASSERT_EQUAL(sizeof FRAME, ETHER_LINK_BYTES + ETHER_HEADER_BYTES + sizeof DATAGRAM);
    CU_ASSERT(memcmp(bytes, FRAME, sizeof FRAME) == 0);
}

static void padding_is_left_over(void)
{
    uint8_t bytes[ETHER_FRAME_BYTES_MIN] = {0};
    struct cursor c = cursor_reader(bytes, sizeof bytes);
    struct address to, from;
    struct ether e = {0};
    uint16_t type;

    frame_write(bytes, sizeof bytes);
    ether_get_link(&c, &to, &from, &type);
    CU_ASSERT(memcmp(to.bytes, TO, 6) == 0 && memcmp(from.bytes, FROM, 6) == 0);
    CU_ASSERT(to.family == ADDRESS_ETHER && from.size == ETHER_MAC_BYTES);
    CU_ASSERT_EQUAL(type, ETHER_TYPE_DEFAULT);
    CU_ASSERT_PTR_NULL(ether_get(&c, &e));
    CU_ASSERT(e.channel == 0x102 && e.size == sizeof DATAGRAM);
    CU_ASSERT(e.datagram && memcmp(e.datagram, DATAGRAM, sizeof DATAGRAM) == 0);
    CU_ASSERT_EQUAL(cursor_left(&c), sizeof bytes - sizeof FRAME);
}

/* Each rung of the ladder: one byte of a good payload is made bad; nothing is set. */
static void refusals(void)
{
    static const struct {
        size_t at;
        uint8_t value;
        const char *why;
    } RUNGS[] = {
        {14, 2, "version"},
        {15, 1, "reserved"},
        {17, 0, "empty"},
        {17, 4, "shorter than it says"},
        {16, 0xff, "shorter than it says"},
    };

    for (size_t i = 0; i < sizeof RUNGS / sizeof RUNGS[0]; i++) {
        uint8_t bytes[sizeof FRAME];
        struct cursor c = cursor_reader(bytes + ETHER_LINK_BYTES, sizeof bytes - ETHER_LINK_BYTES);
        struct ether e = {.channel = 77};
        const char *why;

        memcpy(bytes, FRAME, sizeof bytes);
        bytes[RUNGS[i].at] = RUNGS[i].value;
        why = ether_get(&c, &e);
        CU_ASSERT_PTR_NOT_NULL_FATAL(why);
        CU_ASSERT_PTR_NOT_NULL(strstr(why, RUNGS[i].why));
        CU_ASSERT_EQUAL(e.channel, 77);
    }
}

static void cut_short(void)
{
    for (size_t size = ETHER_LINK_BYTES; size < sizeof FRAME; size++) {
        struct cursor c = cursor_reader(FRAME + ETHER_LINK_BYTES, size - ETHER_LINK_BYTES);
        struct ether e = {.channel = 77};

        CU_ASSERT_PTR_NOT_NULL(ether_get(&c, &e));
        CU_ASSERT_EQUAL(e.channel, 77);
    }
}

static void groups(void)
{
    struct address one = ether_address(FROM), many = ether_address(TO);
    struct address ip = {.family = ADDRESS_IPV4, .size = 6, .bytes = {1}};

    CU_ASSERT_FALSE(ether_is_group(&one));
    CU_ASSERT(ether_is_group(&many));
    CU_ASSERT_FALSE(ether_is_group(&ip));
}

static const struct test_case CASES[] = {
    {"frame is what the grammar says", frame_is_what_the_grammar_says},
    {"padding is left over", padding_is_left_over},
    {"refusals", refusals},
    {"cut short", cut_short},
    {"groups", groups},
};

int main(void)
{
    return covey_test_main("ether", CASES, sizeof CASES / sizeof CASES[0]);
}
