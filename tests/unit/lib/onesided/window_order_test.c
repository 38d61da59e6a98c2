/* links: lib/onesided/window_order.c lib/msg/message.c lib/msg/spare.c lib/msg/pack.c lib/msg/unpack.c lib/msg/error.c proto/wire/frame.c proto/wire/cursor.c */
/*
 * window_order_test.c - what members of a window on different hosts send each other: orders pass
 * unchanged, and what is no order is refused with the reason.
 */
#include "lib/onesided/window_order.h"
#include "tests/unit/runner.h"

#include <CUnit/CUnit.h>
#include <string.h>

static const double array[3] = {1.5, -2, 1e300};

/* What a receiver finds in it. */
static const char *read_it(covey_msg_t *msg, int kind, struct window_order *o)
{
    covey_msg_rewind(msg);
    return window_order_read(msg, kind, o);
}

static void all_kinds_pass(void)
{
    for (int kind = WINDOW_PUT; kind < WINDOW_ORDER_KINDS; kind++) {
        const struct window_order sent = {kind, COVEY_DOUBLE, 7, (uint64_t)1 << 40, 3};
        struct window_order got = {0};
        covey_msg_t *msg = window_order_message(&sent, array, kind % 2 == 0);
        CU_ASSERT_PTR_NOT_NULL_FATAL(msg);
        CU_ASSERT_PTR_NULL(read_it(msg, kind, &got));
        CU_ASSERT(got.kind == kind && got.type == COVEY_DOUBLE && got.number == 7);
        CU_ASSERT(got.at == (uint64_t)1 << 40 && got.count == 3);
        double values[3] = {0};
        bool brings = kind == WINDOW_PUT || kind == WINDOW_DATA;
        CU_ASSERT_EQUAL(covey_unpack(msg, COVEY_DOUBLE, values, 3, 1) == COVEY_OK, brings);
        CU_ASSERT(!brings || memcmp(values, array, sizeof array) == 0);
        covey_msg_free(msg);
    }
}

static covey_msg_t *words(const uint64_t *values, size_t count)
{
    covey_msg_t *msg = covey_msg_new();
    CU_ASSERT_PTR_NOT_NULL_FATAL(msg);
    covey_pack(msg, COVEY_UINT64, values, count, 1);
    return msg;
}

/* An order of these words, with an array behind them or none. */
static void refuses(int kind, const uint64_t *values, size_t count, int type, size_t elements,
                    const char *why)
{
    struct window_order o;
    covey_msg_t *msg = words(values, count);
    if (elements > 0)
        covey_pack(msg, type, array, elements, 1);
    const char *refused = read_it(msg, kind, &o);
    CU_ASSERT(refused != NULL && strstr(refused, why) != NULL);
    covey_msg_free(msg);
}

static void what_is_no_order(void)
{
    static const uint64_t put[] = {0, 0, COVEY_DOUBLE, 3};
    static const uint64_t text[] = {0, 0, COVEY_STRING, 3}, odd[] = {0, 0, 77, 3};
    static const uint64_t huge[] = {0, 0, UINT64_MAX, 3}, empty[] = {0, 0, COVEY_DOUBLE, 0};
    static const uint64_t most[] = {0, 0, COVEY_DOUBLE, UINT64_MAX / 8 + 2};
    static const uint64_t longer[] = {0, 0, COVEY_DOUBLE, WINDOW_ORDER_BYTES / 8 + 1};
    refuses(0, put, 4, COVEY_DOUBLE, 3, "unknown kind");
    refuses(WINDOW_ORDER_KINDS, put, 4, COVEY_DOUBLE, 3, "unknown kind");
    refuses(WINDOW_FLUSH, put, 3, 0, 0, "without its numbers");
    refuses(WINDOW_PUT, text, 4, COVEY_DOUBLE, 3, "a type that a window has not");
    refuses(WINDOW_GET, odd, 4, 0, 0, "a type that a window has not");
    refuses(WINDOW_GET, huge, 4, 0, 0, "unknown type");
    refuses(WINDOW_GET, empty, 4, 0, 0, "empty array");
    refuses(WINDOW_GET, most, 4, 0, 0, "too long");
    refuses(WINDOW_GET, longer, 4, 0, 0, "too long");
    refuses(WINDOW_PUT, put, 4, COVEY_DOUBLE, 2, "another array than it says");
    refuses(WINDOW_PUT, put, 4, COVEY_INT64, 3, "another array than it says");
    refuses(WINDOW_DATA, put, 4, 0, 0, "another array than it says");
}

static void what_is_within(void)
{
    CU_ASSERT(window_order_is_within(0, COVEY_DOUBLE, 8, 64));
    CU_ASSERT(window_order_is_within(64, COVEY_DOUBLE, 0, 64));
    CU_ASSERT(window_order_is_within(63, COVEY_BYTES, 1, 64));
    CU_ASSERT_FALSE(window_order_is_within(0, COVEY_DOUBLE, 9, 64));
    CU_ASSERT_FALSE(window_order_is_within(1, COVEY_DOUBLE, 8, 64));
    CU_ASSERT_FALSE(window_order_is_within(65, COVEY_BYTES, 0, 64));
    CU_ASSERT_FALSE(window_order_is_within(UINT64_MAX, COVEY_BYTES, 2, 64));
    CU_ASSERT_FALSE(window_order_is_within(8, COVEY_DOUBLE, UINT64_MAX / 8 + 2, 64));
}

static const struct test_case cases[] = {{"all kinds pass", all_kinds_pass},
                                         {"what is no order is refused", what_is_no_order},
                                         {"what is within a part", what_is_within}};

int main(void)
{
    return covey_test_main("window_order", cases, sizeof cases / sizeof cases[0]);
}
