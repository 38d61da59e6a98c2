/* links: proto/wire/frame.c proto/wire/cursor.c */
/*
 * frame_test.c - frame and message headers, and the table of kinds.
 */
#include "proto/wire/frame.h"
#include "tests/unit/runner.h"

#include <CUnit/CUnit.h>
#include <string.h>

static const struct frame sample = {.length = FRAME_PAYLOAD_MAX,
                                    .kind = FRAME_DATA,
                                    .flags = FRAME_FIRST | FRAME_LAST,
                                    .source = 0x3fffffff,
                                    .destination = 0x40001};

static void header_is_what_the_grammar_says(void)
{
    const uint8_t expected[FRAME_HEADER_BYTES] = {0x00, 0x01, 0x04, 0x00, 1, 3, 0, 0,
                                                  0x3f, 0xff, 0xff, 0xff, 0, 4, 0, 1};
    uint8_t bytes[FRAME_HEADER_BYTES];
    frame_encode(&sample, bytes);
    CU_ASSERT(memcmp(bytes, expected, sizeof bytes) == 0);
}

static void header_comes_back(void)
{
    uint8_t bytes[FRAME_HEADER_BYTES];
    struct frame back;
    frame_encode(&sample, bytes);
    CU_ASSERT_PTR_NULL(frame_decode(bytes, &back));
    CU_ASSERT(back.length == sample.length && back.kind == sample.kind);
    CU_ASSERT(back.flags == sample.flags && back.source == sample.source);
    CU_ASSERT(back.destination == sample.destination);
}

/* Each rung of the ladder: one byte of a good header is made bad; nothing is set. */
static void bad_headers_are_refused_by_name(void)
{
    static const struct {
        int at;
        uint8_t value;
        const char *why;
    } rungs[] = {
        {1, 2, "FRAME_PAYLOAD_MAX"}, {4, 0, "kind"},        {4, 255, "kind"},
        {5, 0x20, "flags"},          {6, 1, "reserved"},    {7, 1, "reserved"},
        {8, 0x40, "30 bits"},        {12, 0x80, "30 bits"},
    };
    for (size_t i = 0; i < sizeof rungs / sizeof rungs[0]; i++) {
        uint8_t bytes[FRAME_HEADER_BYTES];
        struct frame back = {.kind = 77};
        frame_encode(&sample, bytes);
        bytes[rungs[i].at] = rungs[i].value;
        const char *why = frame_decode(bytes, &back);
        CU_ASSERT_PTR_NOT_NULL_FATAL(why);
        CU_ASSERT_PTR_NOT_NULL(strstr(why, rungs[i].why));
        CU_ASSERT_EQUAL(back.kind, 77);
    }
}

static void every_kind_has_a_name_a_sender_and_passes(void)
{
    static const uint8_t kinds[] = {
#define NUMBER(number, name, party) number,
        FRAME_KINDS(NUMBER)
#undef NUMBER
    };
    for (size_t i = 0; i < sizeof kinds; i++) {
        uint8_t bytes[FRAME_HEADER_BYTES];
        struct frame frame = {.kind = kinds[i]}, back;
        frame_encode(&frame, bytes);
        CU_ASSERT_PTR_NOT_NULL(frame_kind_name(kinds[i]));
        CU_ASSERT(frame_kind_party(kinds[i]) >= TASK_TO_TASK &&
                  frame_kind_party(kinds[i]) <= ANY_TO_DAEMON);
        CU_ASSERT_PTR_NULL(frame_decode(bytes, &back));
        for (size_t j = 0; j < i; j++)
            CU_ASSERT_NOT_EQUAL(kinds[i], kinds[j]);
    }
    CU_ASSERT_PTR_NULL(frame_kind_name(-1));
    CU_ASSERT_PTR_NULL(frame_kind_name(1000));
    CU_ASSERT_EQUAL(frame_kind_party(0), 0);
}

static void message_header_comes_back_and_refuses(void)
{
    const struct message_header header = {.sequence = 1ull << 40,
                                          .size = 1ull << 40,
                                          .tag = -5,
                                          .context = 9,
                                          .representation = REPRESENTATION_BIG,
                                          .stamp = 0x81020304050607u};
    uint8_t bytes[FRAME_MESSAGE_BYTES];
    struct message_header back;
    message_header_encode(&header, bytes);
    CU_ASSERT_PTR_NULL(message_header_decode(bytes, sizeof bytes, &back));
    CU_ASSERT(back.sequence == header.sequence && back.size == header.size);
    CU_ASSERT(back.stamp == header.stamp && message_stamp_get(bytes) == header.stamp);
    CU_ASSERT(back.tag == -5 && back.context == 9 && back.representation == REPRESENTATION_BIG);
    CU_ASSERT_PTR_NOT_NULL(message_header_decode(bytes, sizeof bytes - 1, &back));
    bytes[15] = 1; /* size 2^40 + 1 */
    CU_ASSERT_PTR_NOT_NULL(message_header_decode(bytes, sizeof bytes, &back));
    bytes[15] = 0;
    bytes[24] = 3;
    CU_ASSERT_PTR_NOT_NULL(message_header_decode(bytes, sizeof bytes, &back));
    bytes[24] = REPRESENTATION_BIG;
    message_stamp_put(bytes, 5);
    CU_ASSERT_PTR_NULL(message_header_decode(bytes, sizeof bytes, &back));
    CU_ASSERT(back.stamp == 5 && back.representation == REPRESENTATION_BIG);
}

/* The first bit tells it from a frame; every rung of the ladder. */
static void brief_header_comes_back_and_refuses(void)
{
    const struct brief brief = {.type = 7,
                                .representation = REPRESENTATION_BIG,
                                .padding = 5,
                                .size = 0x1234,
                                .sequence = 0xfedcba98,
                                .tag = -2,
                                .context = 0x89abcdef};
    const uint8_t expected[FRAME_HEADER_BYTES] = {0x8d, 7,    0x12, 0x34, 0xfe, 0xdc, 0xba, 0x98,
                                                  0xff, 0xff, 0xff, 0xfe, 0x89, 0xab, 0xcd, 0xef};
    uint8_t bytes[FRAME_HEADER_BYTES];
    struct brief back = {0};
    brief_encode(&brief, bytes);
    CU_ASSERT(memcmp(bytes, expected, sizeof bytes) == 0);
    CU_ASSERT(brief_is(bytes));
    CU_ASSERT_PTR_NULL(brief_decode(bytes, &back));
    CU_ASSERT(back.type == 7 && back.representation == REPRESENTATION_BIG && back.padding == 5);
    CU_ASSERT(back.size == 0x1234 && back.sequence == 0xfedcba98 && back.tag == -2);
    CU_ASSERT_EQUAL(back.context, 0x89abcdef);
    frame_encode(&sample, bytes);
    CU_ASSERT(!brief_is(bytes));
    CU_ASSERT_PTR_NOT_NULL(brief_decode(bytes, &back)); /* not marked */
    brief_encode(&brief, bytes);
    bytes[0] |= 0x10;
    CU_ASSERT_PTR_NOT_NULL(brief_decode(bytes, &back));
    brief_encode(&brief, bytes);
    bytes[2] = bytes[3] = 0xff; /* more than BRIEF_SIZE_MAX */
    CU_ASSERT_PTR_NOT_NULL(brief_decode(bytes, &back));
    bytes[2] = 0, bytes[3] = 4; /* less than its padding */
    CU_ASSERT_PTR_NOT_NULL(brief_decode(bytes, &back));
}

static void brief_headers_may_have_a_stamp(void)
{
    const struct brief brief = {.type = 3, .representation = REPRESENTATION_BIG, .size = 8};
    uint8_t bytes[BRIEF_STAMPED_BYTES] = {0}, plain[FRAME_HEADER_BYTES];
    uint64_t words[BRIEF_STAMPED_WORDS], stamp;
    struct brief back;
    brief_encode(&brief, bytes);
    memcpy(plain, bytes, sizeof plain);
    CU_ASSERT(!brief_is_stamped(bytes));
    brief_stamp_put(bytes, 0x123456789abcde);
    CU_ASSERT(brief_is(bytes) && brief_is_stamped(bytes));
    CU_ASSERT_PTR_NOT_NULL(brief_decode(bytes, &back)); /* not of a stream */
    brief_to_words(&brief, 0x123456789abcde, words);
    CU_ASSERT(memcmp(words, bytes, sizeof words) == 0);
    CU_ASSERT_PTR_NULL(brief_of_words(words, &back, &stamp));
    CU_ASSERT(stamp == 0x123456789abcde && back.type == 3 && back.size == 8 &&
              back.representation == REPRESENTATION_BIG);
    words[2] = 0;
    CU_ASSERT_PTR_NOT_NULL(brief_of_words(words, &back, &stamp));
    CU_ASSERT_EQUAL(brief_stamp_take(bytes), 0x123456789abcde);
    memcpy(words, bytes, sizeof words);
    CU_ASSERT_PTR_NOT_NULL(brief_of_words(words, &back, &stamp)); /* no mark of a stamp */
    CU_ASSERT(!brief_is_stamped(bytes) && memcmp(bytes, plain, sizeof plain) == 0);
    CU_ASSERT_PTR_NULL(brief_decode(bytes, &back));
}

static void tids_have_twelve_bits_host_and_eighteen_local(void)
{
    CU_ASSERT_EQUAL(tid_make(1, 1), 0x40001);
    CU_ASSERT_EQUAL(tid_host(tid_make(HOST_INDEX_MAX, TID_LOCAL_MAX)), HOST_INDEX_MAX);
    CU_ASSERT_EQUAL(tid_local(tid_make(HOST_INDEX_MAX, TID_LOCAL_MAX)), TID_LOCAL_MAX);
    CU_ASSERT(tid_make(HOST_INDEX_MAX, TID_LOCAL_MAX) <= 0x3fffffffu);
}

int main(void)
{
    static const struct test_case cases[] = {
        {"header is what the grammar says", header_is_what_the_grammar_says},
        {"header comes back", header_comes_back},
        {"bad headers are refused by name", bad_headers_are_refused_by_name},
        {"every kind has a name, a sender and passes", every_kind_has_a_name_a_sender_and_passes},
        {"message header comes back and refuses", message_header_comes_back_and_refuses},
        {"brief header comes back and refuses", brief_header_comes_back_and_refuses},
        {"brief headers may have a stamp", brief_headers_may_have_a_stamp},
        {"tids have 12 bits host and 18 local", tids_have_twelve_bits_host_and_eighteen_local},
    };
    return covey_test_main("frame", cases, sizeof cases / sizeof cases[0]);
}
