/* links: proto/auth/record.c proto/auth/auth.c cipher/cipher_*.c proto/auth/stream_auth.c proto/wire/cursor.c tests/sim/nonce_watch.c */
/*
 * record_test.c - the records of an encrypted stream: what an attacker on the way can do to them.
 */
#include "proto/auth/record.h"

#include <CUnit/CUnit.h>
#include <string.h>

#include "tests/sim/nonce_watch.h"
#include "tests/unit/runner.h"

#define TEXT "what the two tasks say"
#define TEXT_BYTES (sizeof TEXT - 1)

/* Both directions at both ends of one stream, and some records of the opener. */
struct stream {
    struct record_way opener_out, opener_in, accepter_out, accepter_in;
    uint8_t records[4][RECORD_BYTES(TEXT_BYTES)];
};

static struct stream stream_make(uint8_t challenge_byte)
{
    static const uint8_t key[AUTH_KEY_BYTES] = {1}, nonce[AUTH_NONCE_BYTES] = {2};
    const uint8_t challenge[AUTH_NONCE_BYTES] = {challenge_byte};
    struct stream_auth opener, accepter;
    uint8_t proof[STREAM_PROOF_BYTES];
    struct stream s = {.opener_out.number = 0};

    stream_auth_open(&opener, key, 3, 4, nonce, nonce);
    stream_auth_accept(&accepter, key, opener.hello, challenge);
    CU_ASSERT_PTR_NULL(stream_auth_prove(&opener, accepter.challenge, proof));
    CU_ASSERT_PTR_NULL(stream_auth_check(&accepter, proof));
    uint8_t key_out[AUTH_KEY_BYTES], key_in[AUTH_KEY_BYTES];
    stream_auth_keys(&opener, key_out, key_in);
    CU_ASSERT_FATAL(record_way_begin(&s.opener_out, key_out));
    CU_ASSERT_FATAL(record_way_begin(&s.opener_in, key_in));
    stream_auth_keys(&accepter, key_out, key_in);
    CU_ASSERT_FATAL(record_way_begin(&s.accepter_in, key_out));
    CU_ASSERT_FATAL(record_way_begin(&s.accepter_out, key_in));
    for (size_t i = 0; i < 4; i++) {
        memcpy(s.records[i] + RECORD_HEAD_BYTES, TEXT, TEXT_BYTES);
        record_seal(&s.opener_out, s.records[i], TEXT_BYTES);
    }
    return s;
}

static void stream_end(struct stream *s)
{
    record_way_end(&s->opener_out);
    record_way_end(&s->opener_in);
    record_way_end(&s->accepter_out);
    record_way_end(&s->accepter_in);
}

static bool opens(struct record_way *way, const uint8_t *record)
{
    uint8_t body[RECORD_BODY_MAX];
    bool ok = record_open(way, body, record);

    if (ok)
        CU_ASSERT_EQUAL(memcmp(body, TEXT, TEXT_BYTES), 0);
    return ok;
}

static void opens_in_order(void)
{
    struct stream s = stream_make(1);

    for (size_t i = 0; i < 4; i++) {
        CU_ASSERT_EQUAL(record_body_bytes(s.records[i]), TEXT_BYTES);
        CU_ASSERT_PTR_NULL(memmem(s.records[i], sizeof s.records[i], TEXT, 4));
        CU_ASSERT(opens(&s.accepter_in, s.records[i]));
    }
    stream_end(&s);
}

static void nothing_but_the_next_record_opens(void)
{
    struct stream s = stream_make(1);

    CU_ASSERT_FALSE(opens(&s.accepter_in, s.records[1])); /* one is missing */
    CU_ASSERT(opens(&s.accepter_in, s.records[0]));
    CU_ASSERT_FALSE(opens(&s.accepter_in, s.records[0])); /* twice */
    CU_ASSERT_FALSE(opens(&s.accepter_in, s.records[2])); /* out of order */
    CU_ASSERT(opens(&s.accepter_in, s.records[1]));
    stream_end(&s);
}

static void no_bit_may_turn(void)
{
    struct stream s = stream_make(1);

    for (size_t i = RECORD_HEAD_BYTES; i < sizeof s.records[0]; i++) {
        s.records[0][i] ^= 0x10;
        CU_ASSERT_FALSE(opens(&s.accepter_in, s.records[0]));
        s.records[0][i] ^= 0x10;
    }
    s.records[0][3]--; /* a shorter length: the rest would be the next record */
    CU_ASSERT_FALSE(opens(&s.accepter_in, s.records[0]));
    stream_end(&s);
}

static void reflected_and_spliced_records_do_not_open(void)
{
    struct stream s = stream_make(1), other = stream_make(2);
    uint8_t spliced[sizeof s.records[0]];

    CU_ASSERT_FALSE(opens(&s.opener_in, s.records[0]));       /* shown back */
    CU_ASSERT_FALSE(opens(&other.accepter_in, s.records[0])); /* of another stream of the pair */
    memcpy(spliced, s.records[0], sizeof spliced);
    memcpy(spliced + RECORD_HEAD_BYTES + 8, s.records[1] + RECORD_HEAD_BYTES + 8, 8);
    CU_ASSERT_FALSE(opens(&s.accepter_in, spliced));
    memcpy(spliced, s.records[1], sizeof spliced);
    memcpy(spliced + sizeof spliced - AUTH_TAG_BYTES,
           s.records[0] + sizeof spliced - AUTH_TAG_BYTES, AUTH_TAG_BYTES);
    CU_ASSERT_FALSE(opens(&s.accepter_in, spliced));
    stream_end(&s);
    stream_end(&other);
}

static void impossible_lengths_are_refused(void)
{
    static const uint8_t none[4] = {0}, most[4] = {0, 1, 4, 16}, more[4] = {0, 1, 4, 17};
    static const uint8_t all[4] = {255, 255, 255, 255};

    CU_ASSERT_EQUAL(record_body_bytes(none), 0);
    CU_ASSERT_EQUAL(record_body_bytes(most), RECORD_BODY_MAX);
    CU_ASSERT_EQUAL(record_body_bytes(more), 0);
    CU_ASSERT_EQUAL(record_body_bytes(all), 0);
}

/* Also when one key of a link serves several streams, as after a lost connection. */
static void no_nonce_comes_twice(void)
{
    nonce_watch_reset();
    for (uint8_t i = 0; i < 50; i++) {
        struct stream s = stream_make(i);
        uint8_t back[RECORD_BYTES(1)] = {0};

        record_seal(&s.accepter_out, back, 1);
        stream_end(&s);
    }
    CU_ASSERT_EQUAL(nonce_watch_seen(), 250);
    CU_ASSERT_EQUAL(nonce_watch_repeats(), 0);
}

int main(void)
{
    static const struct test_case cases[] = {
        {"opens in order", opens_in_order},
        {"nothing but the next record opens", nothing_but_the_next_record_opens},
        {"no bit may turn", no_bit_may_turn},
        {"reflected and spliced records do not open", reflected_and_spliced_records_do_not_open},
        {"impossible lengths are refused", impossible_lengths_are_refused},
        {"no nonce comes twice", no_nonce_comes_twice},
    };
    if (auth_init() != 0)
        return 77;
    return covey_test_main("record", cases, sizeof cases / sizeof cases[0]);
}
