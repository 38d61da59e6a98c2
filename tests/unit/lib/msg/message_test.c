/* links: lib/msg/message.c lib/msg/spare.c lib/msg/pack.c lib/msg/unpack.c lib/msg/error.c proto/wire/frame.c proto/wire/cursor.c */
/*
 * message_test.c - messages: all types there and back, errors, damage, other representations.
 */
#include "lib/msg/message.h"

#include "lib/msg/error.h"
#include "proto/wire/cursor.h"
#include "tests/unit/memory.h"
#include "tests/unit/runner.h"

#include <CUnit/CUnit.h>
#include <stdlib.h>
#include <string.h>

/* ---- allocations that fail when asked ---- */

static struct {
    unsigned countdown; /* 0: none fails; otherwise the countdown-th from now on and all later */
    unsigned failed;
} memory;

static bool memory_fails(size_t size)
{
    (void)size;
    if (memory.countdown == 0)
        return false;
    if (memory.countdown > 1) {
        memory.countdown--;
        return false;
    }
    memory.failed++;
    return true;
}

/* ---- arrays ---- */

enum { ELEMENTS_MAX = 40, WIDTH_MAX = 16, STRIDE_MAX = 3 };

/* Bytes for arrays of any type and stride, aligned for any type. */
struct array {
    _Alignas(16) uint8_t bytes[ELEMENTS_MAX * STRIDE_MAX * WIDTH_MAX];
};

static void array_fill(struct array *a, uint32_t seed)
{
    for (size_t i = 0; i < sizeof a->bytes; i++) {
        seed = seed * 1664525 + 1013904223;
        a->bytes[i] = (uint8_t)(seed >> 24);
    }
}

/* Where an array with that stride begins: at the end when it runs backwards. */
static uint8_t *array_base(struct array *a, ptrdiff_t stride, size_t width, size_t count)
{
    size_t back = stride < 0 && count > 0 ? (size_t)-stride * width * (count - 1) : 0;
    return a->bytes + back;
}

static bool arrays_equal(const uint8_t *a, ptrdiff_t a_stride, const uint8_t *b, ptrdiff_t b_stride,
                         size_t width, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        ptrdiff_t at = (ptrdiff_t)(i * width);
        if (memcmp(a + at * a_stride, b + at * b_stride, width) != 0)
            return false;
    }
    return true;
}

static const ptrdiff_t strides[] = {1, 2, 3, -1, -2};
#define STRIDES (sizeof strides / sizeof strides[0])

static bool strided_comes_back(int type, size_t count, ptrdiff_t there, ptrdiff_t back)
{
    struct array from, to = {{0}};
    size_t width = covey_type_size(type);
    array_fill(&from, (uint32_t)(type * 1000 + (int)count));
    uint8_t *in = array_base(&from, there, width, count);
    uint8_t *out = array_base(&to, back, width, count);
    covey_msg_t *msg = covey_msg_new();
    bool ok = covey_pack(msg, type, in, count, there) == COVEY_OK &&
              covey_unpack(msg, type, out, count, back) == COVEY_OK &&
              arrays_equal(in, there, out, back, width, count) &&
              covey_unpack(msg, type, out, 0, 1) == COVEY_EEND;
    covey_msg_free(msg);
    return ok;
}

static void every_type_comes_back_with_every_stride(void)
{
    static const size_t counts[] = {0, 1, 2, 7, ELEMENTS_MAX};
    for (int type = COVEY_INT8; type <= COVEY_MESSAGE; type++)
        for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++)
            for (size_t s = 0; s < STRIDES * STRIDES; s++)
                CU_ASSERT(strided_comes_back(type, counts[c], strides[s / STRIDES],
                                             strides[s % STRIDES]));
}

static void a_strided_unpack_leaves_the_gaps_alone(void)
{
    const int16_t from[] = {1, 2, 3};
    int16_t to[] = {-9, -9, -9, -9, -9, -9};
    covey_msg_t *msg = covey_msg_new();
    CU_ASSERT_EQUAL(covey_pack_int16(msg, from, 3, 1), COVEY_OK);
    CU_ASSERT_EQUAL(covey_unpack_int16(msg, to + 4, 3, -2), COVEY_OK);
    CU_ASSERT(to[0] == 3 && to[2] == 2 && to[4] == 1);
    CU_ASSERT(to[1] == -9 && to[3] == -9 && to[5] == -9);
    covey_msg_free(msg);
}

static void items_come_in_order_and_in_parts(void)
{
    const int32_t numbers[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    const double real = 2.5;
    int32_t got[10] = {0};
    double real_got = 0;
    int type = 0;
    size_t count = 0;
    covey_msg_t *msg = covey_msg_new();
    CU_ASSERT_EQUAL(covey_pack_int32(msg, numbers, 10, 1), COVEY_OK);
    CU_ASSERT_EQUAL(covey_pack_double(msg, &real, 1, 1), COVEY_OK);
    CU_ASSERT_EQUAL(covey_unpack_int32(msg, got, 3, 1), COVEY_OK);
    CU_ASSERT_EQUAL(covey_unpack_int32(msg, NULL, 0, 1), COVEY_OK);
    CU_ASSERT_EQUAL(covey_peek(msg, &type, &count), COVEY_OK);
    CU_ASSERT(type == COVEY_INT32 && count == 7);
    CU_ASSERT_EQUAL(covey_unpack_int32(msg, got + 3, 7, 1), COVEY_OK);
    CU_ASSERT(memcmp(got, numbers, sizeof got) == 0);
    CU_ASSERT_EQUAL(covey_unpack_double(msg, &real_got, 1, 1), COVEY_OK);
    CU_ASSERT(real_got == 2.5);
    CU_ASSERT_EQUAL(covey_peek(msg, &type, &count), COVEY_EEND);
    covey_msg_free(msg);
}

static void a_part_may_be_followed_by_a_view_and_by_packing(void)
{
    const int32_t numbers[] = {1, 2, 3, 4, 5};
    int32_t got[2];
    const void *view = NULL;
    int type = 0;
    size_t count = 0;
    covey_msg_t *msg = covey_msg_new();
    covey_pack_int32(msg, numbers, 5, 1);
    CU_ASSERT_EQUAL(covey_unpack_int32(msg, got, 2, 1), COVEY_OK);
    CU_ASSERT_EQUAL(covey_pack_inplace(msg, COVEY_INT32, numbers, 5), COVEY_OK);
    CU_ASSERT_EQUAL(covey_peek(msg, &type, &count), COVEY_OK);
    CU_ASSERT(type == COVEY_INT32 && count == 3);
    CU_ASSERT_EQUAL(covey_unpack_view(msg, COVEY_INT32, &view, &count), COVEY_OK);
    CU_ASSERT(count == 3 && memcmp(view, numbers + 2, 12) == 0);
    CU_ASSERT_EQUAL(covey_unpack_view(msg, COVEY_INT32, &view, &count), COVEY_OK);
    CU_ASSERT(count == 5 && memcmp(view, numbers, 20) == 0);
    covey_msg_free(msg);
}

/* ---- errors ---- */

static void the_text_of_an_error_is_one_printable_line(void)
{
    CU_ASSERT_EQUAL(error_set(COVEY_EEXIST, "lock %s: there", "a\tb\n\033[31m \x7f\xc3\xa4"),
                    COVEY_EEXIST);
    CU_ASSERT_STRING_EQUAL(covey_error_text(), "lock a?b??[31m ?\xc3\xa4: there");
}

static void a_wrong_type_is_named_with_both_counts(void)
{
    const int32_t numbers[] = {1, 2, 3};
    double reals[4] = {-1};
    int32_t got[4] = {-1};
    covey_msg_t *msg = covey_msg_new();
    covey_pack_int32(msg, numbers, 3, 1);
    CU_ASSERT_EQUAL(covey_unpack_double(msg, reals, 4, 1), COVEY_ETYPE);
    CU_ASSERT_STRING_EQUAL(covey_error_text(), "unpack: wanted 4 double, the message has 3 int32");
    CU_ASSERT(reals[0] == -1);
    CU_ASSERT_EQUAL(covey_unpack_int32(msg, got, 4, 1), COVEY_ETYPE);
    CU_ASSERT_STRING_EQUAL(covey_error_text(), "unpack: wanted 4 int32, the message has 3 int32");
    CU_ASSERT(got[0] == -1);
    CU_ASSERT_EQUAL(covey_unpack_int32(msg, got, 3, 1), COVEY_OK); /* nothing was taken */
    CU_ASSERT_EQUAL(covey_unpack_float(msg, (float *)reals, 2, 1), COVEY_EEND);
    CU_ASSERT_STRING_EQUAL(covey_error_text(),
                           "unpack: wanted 2 float, the message has no further item");
    covey_msg_free(msg);
}

static void bad_arguments_are_refused(void)
{
    int32_t number = 5;
    covey_msg_t *msg = covey_msg_new();
    CU_ASSERT_EQUAL(covey_pack(msg, 0, &number, 1, 1), COVEY_EINVAL);
    CU_ASSERT_EQUAL(covey_pack(msg, 16, &number, 1, 1), COVEY_EINVAL);
    CU_ASSERT_EQUAL(covey_pack(msg, -1, &number, 1, 1), COVEY_EINVAL);
    CU_ASSERT_EQUAL(covey_pack(NULL, COVEY_INT32, &number, 1, 1), COVEY_EINVAL);
    CU_ASSERT_EQUAL(covey_pack(msg, COVEY_INT32, NULL, 1, 1), COVEY_EINVAL);
    CU_ASSERT_EQUAL(covey_pack(msg, COVEY_INT32, &number, 2, 0), COVEY_EINVAL);
    CU_ASSERT_EQUAL(covey_pack_inplace(msg, COVEY_INT32, NULL, 2), COVEY_EINVAL);
    CU_ASSERT_EQUAL(covey_pack_inplace(msg, 99, &number, 1), COVEY_EINVAL);
    CU_ASSERT_EQUAL(covey_pack_string(msg, NULL), COVEY_EINVAL);
    CU_ASSERT_EQUAL(covey_pack_msg(msg, NULL), COVEY_EINVAL);
    CU_ASSERT_EQUAL(covey_pack_msg(msg, msg), COVEY_EINVAL);
    CU_ASSERT_EQUAL(covey_pack_msg(NULL, msg), COVEY_EINVAL);
    struct covey_info info;
    covey_msg_info(msg, &info);
    CU_ASSERT(info.bytes == 0 && info.source == 0);
    CU_ASSERT_EQUAL(covey_pack(msg, COVEY_INT32, &number, 1, 0), COVEY_OK);
    CU_ASSERT_EQUAL(covey_unpack(msg, 99, &number, 1, 1), COVEY_EINVAL);
    CU_ASSERT_EQUAL(covey_unpack(NULL, COVEY_INT32, &number, 1, 1), COVEY_EINVAL);
    CU_ASSERT_EQUAL(covey_unpack(msg, COVEY_INT32, NULL, 1, 1), COVEY_EINVAL);
    CU_ASSERT_EQUAL(covey_unpack(msg, COVEY_INT32, &number, 2, 0), COVEY_EINVAL);
    CU_ASSERT_EQUAL(covey_unpack(msg, COVEY_INT32, &number, 1, 0), COVEY_OK);
    covey_msg_free(msg);
    covey_msg_free(NULL);
}

static void types_have_names_and_sizes(void)
{
    static const size_t sizes[] = {0, 1, 2, 4, 8, 1, 2, 4, 8, 4, 8, 8, 16, 1, 1, 1, 0};
    for (int type = 0; type < (int)(sizeof sizes / sizeof sizes[0]); type++)
        CU_ASSERT_EQUAL(covey_type_size(type), sizes[type]);
    CU_ASSERT_STRING_EQUAL(covey_type_name(COVEY_COMPLEX_DOUBLE), "complex_double");
    CU_ASSERT_STRING_EQUAL(covey_type_name(0), "unknown");
    CU_ASSERT_STRING_EQUAL(covey_type_name(-7), "unknown");
}

static void every_error_has_a_text(void)
{
    for (int error = COVEY_EADDHOST; error <= 0; error++)
        CU_ASSERT_STRING_NOT_EQUAL(covey_strerror(error), "unknown error");
    CU_ASSERT_STRING_EQUAL(covey_strerror(1), "unknown error");
    CU_ASSERT_STRING_EQUAL(covey_strerror(COVEY_EADDHOST - 1), "unknown error");
    CU_ASSERT_STRING_EQUAL(covey_strerror(-2147483647 - 1), "unknown error");
}

/* Sizes are refused before any byte is looked at: base need not be that long. */
static void sizes_end_at_two_to_the_forty(void)
{
    uint8_t byte = 0;
    if (SIZE_MAX <= UINT32_MAX) {
        covey_test_skip("sizes here have 32 bits");
        return;
    }
    covey_msg_t *msg = covey_msg_new();
    const size_t most = (size_t)COVEY_MESSAGE_BYTES_MAX - ITEM_HEADER_BYTES;
    CU_ASSERT_EQUAL(covey_pack(msg, COVEY_BYTES, &byte, most + 1, 1), COVEY_ETOOBIG);
    CU_ASSERT_EQUAL(covey_pack(msg, COVEY_DOUBLE, &byte, SIZE_MAX, 1), COVEY_ETOOBIG);
    CU_ASSERT_EQUAL(covey_pack_inplace(msg, COVEY_BYTES, &byte, SIZE_MAX), COVEY_ETOOBIG);
    CU_ASSERT_EQUAL(covey_pack_inplace(msg, COVEY_BYTES, &byte, most), COVEY_OK);
    CU_ASSERT_EQUAL(covey_pack(msg, COVEY_BYTES, &byte, 0, 1), COVEY_ETOOBIG);
    CU_ASSERT_EQUAL(covey_pack_inplace(msg, COVEY_INT8, &byte, 1), COVEY_ETOOBIG);
    covey_msg_t *around = covey_msg_new();
    CU_ASSERT_EQUAL(covey_pack_msg(around, msg), COVEY_ETOOBIG);
    CU_ASSERT_PTR_NOT_NULL(strstr(covey_error_text(), "2^40"));
    struct covey_info info;
    covey_msg_info(msg, &info);
    CU_ASSERT_EQUAL(info.bytes, COVEY_MESSAGE_BYTES_MAX);
    covey_msg_free(around);
    covey_msg_free(msg);
}

/* On a machine of 32 bits counts and sizes of messages exceed what it can address. */
static void sizes_beyond_memory_are_refused(void)
{
    uint8_t byte = 0;
    covey_msg_t *msg = covey_msg_new();
    const int beyond = SIZE_MAX > UINT32_MAX ? COVEY_ETOOBIG : COVEY_ENOMEM;
    for (size_t count = SIZE_MAX; count > SIZE_MAX / 8; count -= SIZE_MAX / 16) {
        CU_ASSERT_EQUAL(covey_pack(msg, COVEY_COMPLEX_DOUBLE, &byte, count, 1), beyond);
        CU_ASSERT_EQUAL(covey_pack_inplace(msg, COVEY_DOUBLE, &byte, count), beyond);
    }
    CU_ASSERT_PTR_NULL(message_receive((uint64_t)SIZE_MAX, representation_native()));
    if (SIZE_MAX <= UINT32_MAX)
        CU_ASSERT_PTR_NULL(message_receive(COVEY_MESSAGE_BYTES_MAX, representation_native()));
    CU_ASSERT_EQUAL(msg->size, 0);
    covey_msg_free(msg);
}

/* ---- reading again, views, in place ---- */

static void rewind_reads_again_and_reset_empties(void)
{
    const uint16_t numbers[] = {10, 20, 30};
    uint16_t got[3] = {0};
    covey_msg_t *msg = covey_msg_new();
    covey_pack_uint16(msg, numbers, 3, 1);
    for (int round = 0; round < 3; round++) {
        CU_ASSERT_EQUAL(covey_unpack_uint16(msg, got, 2, 1), COVEY_OK);
        covey_msg_rewind(msg);
    }
    CU_ASSERT_EQUAL(covey_unpack_uint16(msg, got, 3, 1), COVEY_OK);
    CU_ASSERT(memcmp(got, numbers, sizeof got) == 0);
    covey_msg_reset(msg);
    CU_ASSERT_EQUAL(covey_unpack_uint16(msg, got, 1, 1), COVEY_EEND);
    covey_pack_uint16(msg, numbers + 1, 1, 1);
    CU_ASSERT_EQUAL(covey_unpack_uint16(msg, got, 1, 1), COVEY_OK);
    CU_ASSERT_EQUAL(got[0], 20);
    covey_msg_free(msg);
}

static void views_are_aligned(void)
{
    struct array from;
    const void *view;
    size_t count;
    covey_msg_t *msg = covey_msg_new();
    array_fill(&from, 4);
    for (int type = COVEY_INT8; type <= COVEY_MESSAGE; type++)
        for (size_t n = 0; n < 4; n++)
            covey_pack(msg, type, from.bytes, n, 1);
    for (int type = COVEY_INT8; type <= COVEY_MESSAGE; type++) {
        for (size_t n = 0; n < 4; n++) {
            CU_ASSERT_EQUAL(covey_unpack_view(msg, type, &view, &count), COVEY_OK);
            CU_ASSERT(count == n && (uintptr_t)view % 8 == 0);
            CU_ASSERT(memcmp(view, from.bytes, n * covey_type_size(type)) == 0);
        }
    }
    CU_ASSERT_EQUAL(covey_unpack_view(msg, COVEY_INT8, &view, &count), COVEY_EEND);
    covey_msg_free(msg);
}

static bool gathers_foreign(const covey_msg_t *msg, const void *base, size_t size)
{
    struct iovec iov[16];
    int n = message_gather(msg, 0, SIZE_MAX, iov, 16);
    for (int i = 0; i < n; i++) {
        if (iov[i].iov_base == base && iov[i].iov_len == size)
            return true;
    }
    return false;
}

static void an_array_in_place_is_not_copied(void)
{
    int32_t numbers[] = {1, 2, 3}, got[3];
    char text[8];
    covey_msg_t *msg = covey_msg_new();
    CU_ASSERT_EQUAL(covey_pack_string(msg, "before"), COVEY_OK);
    CU_ASSERT_EQUAL(covey_pack_inplace(msg, COVEY_INT32, numbers, 3), COVEY_OK);
    CU_ASSERT_EQUAL(covey_pack_inplace(msg, COVEY_INT32, numbers, 0), COVEY_OK);
    CU_ASSERT_EQUAL(covey_pack_string(msg, "after"), COVEY_OK);
    CU_ASSERT(gathers_foreign(msg, numbers, sizeof numbers));
    numbers[1] = 77; /* what counts is what stands there when it is read */
    int type = 0;
    size_t count = 0;
    CU_ASSERT_EQUAL(covey_peek(msg, &type, &count), COVEY_OK);
    CU_ASSERT(type == COVEY_STRING && count == 6);
    CU_ASSERT_EQUAL(covey_unpack_string(msg, text, sizeof text), COVEY_OK);
    CU_ASSERT_EQUAL(covey_unpack_int32(msg, got, 3, 1), COVEY_OK);
    CU_ASSERT(got[0] == 1 && got[1] == 77 && got[2] == 3);
    CU_ASSERT_EQUAL(covey_unpack_int32(msg, NULL, 0, 1), COVEY_OK);
    CU_ASSERT_EQUAL(covey_unpack_string(msg, text, sizeof text), COVEY_OK);
    CU_ASSERT_STRING_EQUAL(text, "after");
    covey_msg_free(msg);
}

static covey_msg_t *mixed_message(const struct array *a)
{
    covey_msg_t *msg = covey_msg_new();
    for (int type = COVEY_INT8; type <= COVEY_COMPLEX_DOUBLE; type++) {
        covey_pack(msg, type, a->bytes, (size_t)type, 1);
        covey_pack_inplace(msg, type, a->bytes, (size_t)type + 1);
    }
    covey_pack_string(msg, "a string");
    return msg;
}

/* A message gives the same bytes however it is built, and from every offset. */
static void gathering_gives_any_piece(void)
{
    struct array a;
    array_fill(&a, 9);
    covey_msg_t *msg = mixed_message(&a);
    size_t size = (size_t)msg->size;
    uint8_t *whole = malloc(size), *piece = malloc(size);
    CU_ASSERT_FATAL(whole != NULL && piece != NULL);
    CU_ASSERT_EQUAL(message_copy(msg, 0, whole, size), size);
    for (size_t offset = 0; offset <= size; offset++) {
        size_t want = (offset * 7) % 100;
        size_t there = size - offset < want ? size - offset : want;
        CU_ASSERT_EQUAL(message_copy(msg, offset, piece, want), there);
        CU_ASSERT(memcmp(piece, whole + offset, there) == 0);
    }
    const void *view;
    size_t count;
    CU_ASSERT_EQUAL(covey_unpack_view(msg, COVEY_INT8, &view, &count), COVEY_OK);
    CU_ASSERT_EQUAL(message_copy(msg, 0, piece, size), size);
    CU_ASSERT(memcmp(piece, whole, size) == 0);
    free(piece);
    free(whole);
    covey_msg_free(msg);
}

/* ---- strings, nested messages, notices ---- */

static void strings_need_room_for_their_nul(void)
{
    char text[16] = "old";
    covey_msg_t *msg = covey_msg_new();
    covey_pack_string(msg, "hello");
    covey_pack_string(msg, "");
    CU_ASSERT_EQUAL(covey_unpack_string(msg, text, 5), COVEY_ETRUNC);
    CU_ASSERT_EQUAL(covey_unpack_string(msg, text, 0), COVEY_ETRUNC);
    CU_ASSERT_EQUAL(covey_unpack_string(msg, NULL, 100), COVEY_ETRUNC);
    CU_ASSERT_STRING_EQUAL(text, "old");
    CU_ASSERT_EQUAL(covey_unpack_string(msg, text, 6), COVEY_OK);
    CU_ASSERT_STRING_EQUAL(text, "hello");
    CU_ASSERT_EQUAL(covey_unpack_string(msg, text, 1), COVEY_OK);
    CU_ASSERT_STRING_EQUAL(text, "");
    CU_ASSERT_EQUAL(covey_unpack_string(msg, text, 1), COVEY_EEND);
    covey_msg_free(msg);
}

static void messages_nest(void)
{
    const double reals[] = {1.5, -2.5};
    double got[2];
    char text[8];
    covey_msg_t *inner = covey_msg_new(), *middle = covey_msg_new(), *outer = covey_msg_new();
    covey_msg_t *out = NULL, *deep = NULL;
    covey_pack_inplace(inner, COVEY_DOUBLE, reals, 2);
    covey_pack_string(middle, "around");
    CU_ASSERT_EQUAL(covey_pack_msg(middle, inner), COVEY_OK);
    CU_ASSERT_EQUAL(covey_pack_msg(outer, middle), COVEY_OK);
    covey_msg_free(inner);
    covey_msg_free(middle);
    CU_ASSERT_EQUAL(covey_unpack_msg(outer, &out), COVEY_OK);
    CU_ASSERT_EQUAL(covey_unpack_msg(out, &deep), COVEY_ETYPE);
    CU_ASSERT_EQUAL(covey_unpack_string(out, text, sizeof text), COVEY_OK);
    CU_ASSERT_EQUAL(covey_unpack_msg(out, &deep), COVEY_OK);
    covey_msg_free(outer);
    covey_msg_free(out);
    CU_ASSERT_EQUAL(covey_unpack_double(deep, got, 2, 1), COVEY_OK);
    CU_ASSERT(got[0] == 1.5 && got[1] == -2.5);
    CU_ASSERT_EQUAL(covey_unpack_msg(deep, &out), COVEY_EEND);
    covey_msg_free(deep);
}

static void an_empty_message_nests(void)
{
    covey_msg_t *inner = covey_msg_new(), *outer = covey_msg_new(), *out = NULL;
    CU_ASSERT_EQUAL(covey_pack_msg(outer, inner), COVEY_OK);
    CU_ASSERT_EQUAL(covey_unpack_msg(outer, &out), COVEY_OK);
    CU_ASSERT_EQUAL(covey_unpack_int8(out, NULL, 0, 1), COVEY_EEND);
    covey_msg_free(out);
    covey_msg_free(inner);
    covey_msg_free(outer);
}

static void output_and_notices_are_read(void)
{
    const int32_t stream = 2, fields[] = {3, 0x40001, 1, -9, 7};
    struct covey_notice notice = {0};
    const char *text = NULL;
    size_t bytes = 0;
    int number = 0;
    covey_msg_t *msg = covey_msg_new();
    covey_pack_int32(msg, &stream, 1, 1);
    covey_pack_bytes(msg, "line\n", 5);
    covey_pack_int32(msg, fields, 5, 1);
    CU_ASSERT_EQUAL(covey_unpack_output(msg, &number, &text, &bytes), COVEY_OK);
    CU_ASSERT(number == 2 && bytes == 5 && memcmp(text, "line\n", 5) == 0);
    CU_ASSERT_EQUAL(covey_unpack_output(msg, &number, &text, &bytes), COVEY_ETYPE);
    covey_msg_rewind(msg);
    CU_ASSERT_EQUAL(covey_unpack_notice(msg, &notice), COVEY_ETYPE);
    covey_unpack_output(msg, &number, &text, &bytes);
    CU_ASSERT_EQUAL(covey_unpack_notice(msg, &notice), COVEY_OK);
    CU_ASSERT_EQUAL(covey_unpack_notice(msg, &notice), COVEY_EEND);
    covey_msg_free(msg);
}

/* ---- damage ---- */

/* Looks at every byte, so that a sanitizer does. */
static void look(const void *bytes, size_t size)
{
    static volatile uint8_t sum;
    const uint8_t *at = bytes;
    for (size_t i = 0; i < size; i++)
        sum = (uint8_t)(sum + at[i]);
}

/* Everything a program can ask of a message, until it says that there is no more; returns how many
 * items were read. */
static int read_everything(covey_msg_t *msg)
{
    int type, items = 0;
    size_t count;
    for (int asked = 0; asked < 1000 && covey_peek(msg, &type, &count) == COVEY_OK; asked++) {
        const void *view;
        covey_msg_t *nested = NULL;
        if (type == COVEY_MESSAGE && covey_unpack_msg(msg, &nested) == COVEY_OK) {
            items += 1 + read_everything(nested);
            covey_msg_free(nested);
        } else if (covey_unpack_view(msg, type, &view, &count) == COVEY_OK) {
            look(view, count * covey_type_size(type));
            items++;
        }
    }
    return items;
}

/* A received message out of these bytes. */
static covey_msg_t *receive(const uint8_t *bytes, size_t size, uint8_t representation)
{
    covey_msg_t *msg = message_receive(size, representation);
    CU_ASSERT_PTR_NOT_NULL_FATAL(msg);
    if (size > 0)
        memcpy(message_bytes(msg), bytes, size);
    return msg;
}

static size_t sample_bytes(uint8_t *bytes, size_t room)
{
    static const struct array a = {{0}};
    covey_msg_t *nested = mixed_message(&a), *msg = mixed_message(&a);
    covey_pack_msg(msg, nested);
    size_t size = message_copy(msg, 0, bytes, room);
    CU_ASSERT_FATAL(size == msg->size);
    covey_msg_free(nested);
    covey_msg_free(msg);
    return size;
}

static void damaged_messages_do_no_harm(void)
{
    static uint8_t bytes[16384];
    size_t size = sample_bytes(bytes, sizeof bytes);
    for (size_t at = 0; at < size; at++) {
        for (int bit = 0; bit < 9; bit++) {
            uint8_t good = bytes[at];
            bytes[at] = (uint8_t)(bit == 8 ? ~good : good ^ (1 << bit));
            covey_msg_t *msg =
                receive(bytes, size, bit % 2 ? REPRESENTATION_LITTLE : REPRESENTATION_BIG);
            read_everything(msg);
            covey_msg_free(msg);
            bytes[at] = good;
        }
    }
}

static void messages_cut_short_do_no_harm(void)
{
    static uint8_t bytes[16384];
    size_t size = sample_bytes(bytes, sizeof bytes);
    for (size_t cut = 0; cut <= size; cut++) {
        for (int r = REPRESENTATION_LITTLE; r <= REPRESENTATION_BIG; r++) {
            covey_msg_t *msg = receive(bytes, cut, (uint8_t)r);
            read_everything(msg);
            /* packing onto what is damaged does no harm either */
            covey_pack_inplace(msg, COVEY_BYTES, bytes, 3);
            covey_msg_rewind(msg);
            read_everything(msg);
            covey_msg_free(msg);
        }
    }
}

static void damage_is_named(void)
{
    uint8_t header[ITEM_HEADER_BYTES];
    int32_t got;
    int type;
    size_t count;
    item_header_encode(header, COVEY_INT32, 1); /* whose element is not there */
    covey_msg_t *msg = receive(header, sizeof header, representation_native());
    CU_ASSERT_EQUAL(covey_unpack_int32(msg, &got, 1, 1), COVEY_EPROTO);
    CU_ASSERT_PTR_NOT_NULL(strstr(covey_error_text(), "damaged at byte 0"));
    CU_ASSERT_EQUAL(covey_peek(msg, &type, &count), COVEY_EPROTO);
    covey_msg_free(msg);
    uint8_t nested[ITEM_HEADER_BYTES + 8] = {0};
    item_header_encode(nested, COVEY_MESSAGE, 8);
    nested[ITEM_HEADER_BYTES] = 3;
    msg = receive(nested, sizeof nested, representation_native());
    covey_msg_t *inner = NULL;
    CU_ASSERT_EQUAL(covey_unpack_msg(msg, &inner), COVEY_EPROTO);
    CU_ASSERT_PTR_NOT_NULL(strstr(covey_error_text(), "representation"));
    covey_msg_free(msg);
}

/* ---- the other representation ---- */

struct foreign {
    uint8_t bytes[4096];
    struct cursor c;
};

static uint8_t other_representation(void)
{
    return REPRESENTATION_LITTLE + REPRESENTATION_BIG - representation_native();
}

/* The bytes of a number as a machine of the other representation has them. */
static void foreign_number(struct foreign *f, uint64_t bits, size_t width)
{
    bool big = other_representation() == REPRESENTATION_BIG;
    for (size_t i = 0; i < width; i++)
        cursor_put_u8(&f->c, (uint8_t)(bits >> 8 * (big ? width - 1 - i : i)));
}

static void foreign_item(struct foreign *f, int type, uint64_t count)
{
    uint8_t header[ITEM_HEADER_BYTES];
    item_header_encode(header, type, count);
    cursor_put_bytes(&f->c, header, sizeof header);
}

static void foreign_pad(struct foreign *f)
{
    while ((f->c.at - f->bytes) % 8 != 0)
        cursor_put_u8(&f->c, 0);
}

static uint32_t float_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static uint64_t double_bits(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Three elements of every number type, counting up from type * 10, as a machine of the other
 * representation packs them; a complex one is followed by its negative as the imaginary part. */
static void foreign_numbers(struct foreign *f, int type)
{
    size_t width = covey_type_size(type);
    foreign_item(f, type, 3);
    for (int i = 0; i < 3; i++) {
        int value = type * 10 + i;
        if (type == COVEY_FLOAT || type == COVEY_COMPLEX_FLOAT)
            foreign_number(f, float_bits((float)value), 4);
        else if (type == COVEY_DOUBLE || type == COVEY_COMPLEX_DOUBLE)
            foreign_number(f, double_bits(value), 8);
        else
            foreign_number(f, (uint64_t)value, width);
        if (type == COVEY_COMPLEX_FLOAT)
            foreign_number(f, float_bits((float)-value), 4);
        else if (type == COVEY_COMPLEX_DOUBLE)
            foreign_number(f, double_bits(-value), 8);
    }
    foreign_pad(f);
}

static covey_msg_t *foreign_message(void)
{
    struct foreign f;
    f.c = cursor_writer(f.bytes, sizeof f.bytes);
    for (int type = COVEY_INT8; type <= COVEY_COMPLEX_DOUBLE; type++)
        foreign_numbers(&f, type);
    foreign_item(&f, COVEY_STRING, 5);
    cursor_put_bytes(&f.c, "hello", 5);
    foreign_pad(&f);
    CU_ASSERT_FATAL(cursor_ok(&f.c));
    return receive(f.bytes, (size_t)(f.c.at - f.bytes), other_representation());
}

/* The i-th element of an array in native representation, its real part if it is complex. */
static double element(const void *base, int type, size_t i)
{
#define AT(ctype, scale) ((const ctype *)base)[i * (scale)]
    switch (type) {
    case COVEY_INT8:
        return AT(int8_t, 1);
    case COVEY_INT16:
        return AT(int16_t, 1);
    case COVEY_INT32:
        return AT(int32_t, 1);
    case COVEY_INT64:
        return (double)AT(int64_t, 1);
    case COVEY_UINT8:
        return AT(uint8_t, 1);
    case COVEY_UINT16:
        return AT(uint16_t, 1);
    case COVEY_UINT32:
        return AT(uint32_t, 1);
    case COVEY_UINT64:
        return (double)AT(uint64_t, 1);
    case COVEY_FLOAT:
        return AT(float, 1);
    case COVEY_DOUBLE:
        return AT(double, 1);
    case COVEY_COMPLEX_FLOAT:
        return AT(float, 2) == -((const float *)base)[2 * i + 1] ? AT(float, 2) : -1;
    default:
        return AT(double, 2) == -((const double *)base)[2 * i + 1] ? AT(double, 2) : -1;
    }
#undef AT
}

static bool numbers_right(const void *base, int type, size_t first, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (element(base, type, i) != (double)(type * 10) + (double)(first + i))
            return false;
    }
    return true;
}

static void a_foreign_message_is_read(void)
{
    struct array a;
    char text[8];
    covey_msg_t *msg = foreign_message();
    for (int type = COVEY_INT8; type <= COVEY_COMPLEX_DOUBLE; type++) {
        CU_ASSERT_EQUAL(covey_unpack(msg, type, a.bytes, 3, 1), COVEY_OK);
        CU_ASSERT(numbers_right(a.bytes, type, 0, 3));
    }
    CU_ASSERT_EQUAL(covey_unpack_string(msg, text, sizeof text), COVEY_OK);
    CU_ASSERT_STRING_EQUAL(text, "hello");
    covey_msg_free(msg);
}

static void a_foreign_message_is_read_in_parts_and_strides(void)
{
    struct array a;
    covey_msg_t *msg = foreign_message();
    for (int type = COVEY_INT8; type <= COVEY_COMPLEX_DOUBLE; type++) {
        size_t width = covey_type_size(type);
        CU_ASSERT_EQUAL(covey_unpack(msg, type, a.bytes, 1, 1), COVEY_OK);
        CU_ASSERT(numbers_right(a.bytes, type, 0, 1));
        CU_ASSERT_EQUAL(covey_unpack(msg, type, a.bytes + width, 2, -1), COVEY_OK);
        CU_ASSERT(numbers_right(a.bytes + width, type, 1, 1));
        CU_ASSERT(numbers_right(a.bytes, type, 2, 1));
    }
    covey_msg_free(msg);
}

/* Views, copies and views again of the same items, in every order of two. */
static void a_foreign_message_is_converted_once(void)
{
    struct array a;
    const void *view;
    size_t count;
    for (int order = 0; order < 4; order++) {
        covey_msg_t *msg = foreign_message();
        for (int round = 0; round < 3; round++) {
            bool views = (order >> (round % 2) & 1) != 0;
            for (int type = COVEY_INT8; type <= COVEY_COMPLEX_DOUBLE; type++) {
                view = a.bytes;
                int error = views ? covey_unpack_view(msg, type, &view, &count)
                                  : covey_unpack(msg, type, a.bytes, 3, 1);
                CU_ASSERT(error == COVEY_OK && numbers_right(view, type, 0, 3));
            }
            covey_msg_rewind(msg);
        }
        covey_msg_free(msg);
    }
}

static void a_foreign_message_is_peeked_nested_and_packed_on(void)
{
    const int16_t native = 0x1234;
    struct array a;
    int16_t got = 0;
    int type = 0;
    size_t count = 0;
    covey_msg_t *outer = covey_msg_new(), *inner = NULL, *msg = foreign_message();
    CU_ASSERT_EQUAL(covey_peek(msg, &type, &count), COVEY_OK);
    CU_ASSERT(type == COVEY_INT8 && count == 3);
    CU_ASSERT_EQUAL(covey_pack_msg(outer, msg), COVEY_OK); /* passed on unread */
    CU_ASSERT_EQUAL(covey_pack_int16(msg, &native, 1, 1), COVEY_OK);
    CU_ASSERT_EQUAL(covey_unpack_msg(outer, &inner), COVEY_OK);
    for (type = COVEY_INT8; type <= COVEY_COMPLEX_DOUBLE; type++) {
        CU_ASSERT_EQUAL(covey_unpack(inner, type, a.bytes, 3, 1), COVEY_OK);
        CU_ASSERT(numbers_right(a.bytes, type, 0, 3));
        CU_ASSERT_EQUAL(covey_unpack(msg, type, a.bytes, 3, 1), COVEY_OK);
        CU_ASSERT(numbers_right(a.bytes, type, 0, 3));
    }
    CU_ASSERT_EQUAL(covey_unpack(msg, COVEY_STRING, a.bytes, 5, 1), COVEY_OK);
    CU_ASSERT_EQUAL(covey_unpack_int16(msg, &got, 1, 1), COVEY_OK);
    CU_ASSERT_EQUAL(got, 0x1234);
    covey_msg_free(inner);
    covey_msg_free(outer);
    covey_msg_free(msg);
}

/* Two numbers of each type of more than one byte, and the bytes of a big-endian sender. */
static const struct {
    int type;
    size_t parts; /* the numbers in it, both elements together */
    const void *native;
    const char *big;
} known[] = {
    {COVEY_INT16, 2, (int16_t[]){-2, 258}, "\xff\xfe\x01\x02"},
    {COVEY_INT32, 2, (int32_t[]){-2, 0x01020304}, "\xff\xff\xff\xfe\1\2\3\4"},
    {COVEY_INT64, 2, (int64_t[]){INT64_MIN, 0x0102030405060708},
     "\x80\0\0\0\0\0\0\0\1\2\3\4\5\6\7\x8"},
    {COVEY_UINT16, 2, (uint16_t[]){0xfeff, 1}, "\xfe\xff\0\1"},
    {COVEY_UINT32, 2, (uint32_t[]){0xfeff0000, 1}, "\xfe\xff\0\0\0\0\0\1"},
    {COVEY_UINT64, 2, (uint64_t[]){0xfeff000000000000, 1}, "\xfe\xff\0\0\0\0\0\0\0\0\0\0\0\0\0\1"},
    {COVEY_FLOAT, 2, (float[]){1.5f, -2.25f}, "\x3f\xc0\0\0\xc0\x10\0\0"},
    {COVEY_DOUBLE, 2, (double[]){1.5, -2.25}, "\x3f\xf8\0\0\0\0\0\0\xc0\2\0\0\0\0\0\0"},
    {COVEY_COMPLEX_FLOAT, 4, (float[]){1.5f, -2.25f, 0, 2},
     "\x3f\xc0\0\0\xc0\x10\0\0\0\0\0\0\x40\0\0\0"},
    {COVEY_COMPLEX_DOUBLE, 4, (double[]){1.5, -2.25, 0, 2},
     "\x3f\xf8\0\0\0\0\0\0\xc0\2\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x40\0\0\0\0\0\0\0"},
};
#define KNOWN (sizeof known / sizeof known[0])

/* The packed item; returns its size. The header is the same on all machines. */
static size_t known_item(size_t k, uint8_t representation, uint8_t bytes[64])
{
    size_t size = 2 * covey_type_size(known[k].type), width = size / known[k].parts;
    memset(bytes, 0, 64);
    bytes[0] = (uint8_t)known[k].type;
    bytes[15] = 2;
    for (size_t i = 0; i < size; i++) {
        size_t from =
            representation == REPRESENTATION_BIG ? i : i - i % width + width - 1 - i % width;
        bytes[16 + i] = (uint8_t)known[k].big[from];
    }
    return 16 + (size + 7) / 8 * 8;
}

static void the_bytes_of_either_kind_of_sender_are_read(void)
{
    for (size_t k = 0; k < KNOWN; k++) {
        for (int r = REPRESENTATION_LITTLE; r <= REPRESENTATION_BIG; r++) {
            uint8_t bytes[64];
            struct array a;
            const void *view = NULL;
            size_t count = 0, size = known_item(k, (uint8_t)r, bytes);
            covey_msg_t *msg = receive(bytes, size, (uint8_t)r);
            CU_ASSERT_EQUAL(covey_unpack_view(msg, known[k].type, &view, &count), COVEY_OK);
            CU_ASSERT_FATAL(count == 2 && view == message_bytes(msg) + 16); /* not copied */
            size_t data = 2 * covey_type_size(known[k].type);
            CU_ASSERT(memcmp(view, known[k].native, data) == 0);
            covey_msg_rewind(msg);
            CU_ASSERT_EQUAL(covey_unpack(msg, known[k].type, a.bytes, 2, 1), COVEY_OK);
            CU_ASSERT(memcmp(a.bytes, known[k].native, data) == 0);
            covey_msg_free(msg);
        }
    }
}

static void a_sender_packs_the_bytes_of_its_own_kind(void)
{
    for (size_t k = 0; k < KNOWN; k++) {
        uint8_t expected[64], packed[64];
        size_t size = known_item(k, representation_native(), expected);
        covey_msg_t *msg = covey_msg_new();
        CU_ASSERT_EQUAL(covey_pack(msg, known[k].type, known[k].native, 2, 1), COVEY_OK);
        CU_ASSERT(message_copy(msg, 0, packed, sizeof packed) == size);
        CU_ASSERT(memcmp(packed, expected, size) == 0);
        covey_msg_free(msg);
    }
}

/* ---- memory ---- */

/* Packs a message until memory fails; *items: how many it holds, *size: of these. */
static int pack_until_failure(covey_msg_t *msg, const covey_msg_t *nested, int *items,
                              uint64_t *size)
{
    static const struct array a = {{0}};
    int error = COVEY_OK;
    for (*items = 0; error == COVEY_OK && *items < 25; *items += error == COVEY_OK) {
        int type = COVEY_INT8 + *items / 2;
        *size = msg->size;
        if (*items == 24)
            error = covey_pack_msg(msg, nested);
        else if (*items % 2 == 0)
            error = covey_pack(msg, type, a.bytes, (size_t)type, 1);
        else
            error = covey_pack_inplace(msg, type, a.bytes, (size_t)type + 1);
    }
    return error;
}

/* A message built and read while the k-th allocation and all later fail; true when none did. No
 * assertion while they fail: CUnit could not keep what it has to say. */
static bool use_with_failing_memory(unsigned k)
{
    int items = 0;
    uint64_t size = 0;
    covey_msg_t *msg = covey_msg_new(), *nested = covey_msg_new();
    memory.failed = 0;
    memory.countdown = k;
    int error = pack_until_failure(msg, nested, &items, &size);
    read_everything(msg);
    covey_msg_t *more = covey_msg_new();
    covey_msg_t *received = message_receive(100, other_representation());
    memory.countdown = 0;
    CU_ASSERT(error == COVEY_OK || (error == COVEY_ENOMEM && msg->size == size));
    CU_ASSERT((more != NULL && received != NULL) || memory.failed > 0);
    /* what was packed is whole, and is read when there is memory again */
    covey_msg_rewind(msg);
    CU_ASSERT_EQUAL(read_everything(msg), items);
    covey_msg_free(received);
    covey_msg_free(more);
    covey_msg_free(nested);
    covey_msg_free(msg);
    return memory.failed == 0;
}

static void allocations_that_fail_change_nothing(void)
{
    unsigned k = 1;
    if (!MEMORY_CAN_FAIL) {
        covey_test_skip("a sanitizer owns malloc in this build");
        return;
    }
    while (k < 200 && !use_with_failing_memory(k))
        k++;
    CU_ASSERT(k > 10 && k < 200);
}

int main(void)
{
    static const struct test_case cases[] = {
        {"every type comes back with every stride", every_type_comes_back_with_every_stride},
        {"a strided unpack leaves the gaps alone", a_strided_unpack_leaves_the_gaps_alone},
        {"items come in order and in parts", items_come_in_order_and_in_parts},
        {"a part may be followed by a view and by packing",
         a_part_may_be_followed_by_a_view_and_by_packing},
        {"a wrong type is named with both counts", a_wrong_type_is_named_with_both_counts},
        {"bad arguments are refused", bad_arguments_are_refused},
        {"types have names and sizes", types_have_names_and_sizes},
        {"every error has a text", every_error_has_a_text},
        {"sizes end at 2^40", sizes_end_at_two_to_the_forty},
        {"sizes beyond memory are refused", sizes_beyond_memory_are_refused},
        {"the text of an error is one printable line", the_text_of_an_error_is_one_printable_line},
        {"rewind reads again and reset empties", rewind_reads_again_and_reset_empties},
        {"views are aligned", views_are_aligned},
        {"an array in place is not copied", an_array_in_place_is_not_copied},
        {"gathering gives any piece", gathering_gives_any_piece},
        {"strings need room for their NUL", strings_need_room_for_their_nul},
        {"messages nest", messages_nest},
        {"an empty message nests", an_empty_message_nests},
        {"output and notices are read", output_and_notices_are_read},
        {"damaged messages do no harm", damaged_messages_do_no_harm},
        {"messages cut short do no harm", messages_cut_short_do_no_harm},
        {"damage is named", damage_is_named},
        {"a foreign message is read", a_foreign_message_is_read},
        {"a foreign message is read in parts and strides",
         a_foreign_message_is_read_in_parts_and_strides},
        {"a foreign message is converted once", a_foreign_message_is_converted_once},
        {"a foreign message is peeked, nested and packed on",
         a_foreign_message_is_peeked_nested_and_packed_on},
        {"the bytes of either kind of sender are read",
         the_bytes_of_either_kind_of_sender_are_read},
        {"a sender packs the bytes of its own kind", a_sender_packs_the_bytes_of_its_own_kind},
        {"allocations that fail change nothing", allocations_that_fail_change_nothing},
    };
    return covey_test_main("message", cases, sizeof cases / sizeof cases[0]);
}
