/* links: proto/auth/stream_auth.c proto/auth/auth.c cipher/cipher*.c proto/wire/cursor.c */
/*
 * stream_auth_test.c - the challenge-response at the start of a stream, and who must fail in it.
 */
#include <CUnit/CUnit.h>
#include <string.h>

#include "proto/auth/auth.h"
#include "proto/wire/frame.h"
#include "tests/unit/runner.h"

static const uint8_t KEY[AUTH_KEY_BYTES] = {7};
static const uint8_t OTHER_KEY[AUTH_KEY_BYTES] = {8};
static const uint8_t NONCE[AUTH_NONCE_BYTES] = {1, 2, 3};
static const uint8_t OPENER_CHALLENGE[AUTH_NONCE_BYTES] = {4};
static const uint8_t ACCEPTER_CHALLENGE[AUTH_NONCE_BYTES] = {5};

static void both_know_the_key(void)
{
    struct stream_auth opener, accepter;
    uint32_t from = 0, to = 0;
    uint8_t nonce[AUTH_NONCE_BYTES], proof[STREAM_PROOF_BYTES];

    stream_auth_open(&opener, KEY, 0x40001, 0x80002, NONCE, OPENER_CHALLENGE);
    CU_ASSERT_PTR_NULL(stream_auth_hello(opener.hello, &from, &to, nonce));
    CU_ASSERT_EQUAL(from, 0x40001);
    CU_ASSERT_EQUAL(to, 0x80002);
    CU_ASSERT_EQUAL(memcmp(nonce, NONCE, sizeof nonce), 0);
    stream_auth_accept(&accepter, KEY, opener.hello, ACCEPTER_CHALLENGE);
    CU_ASSERT_PTR_NULL(stream_auth_prove(&opener, accepter.challenge, proof));
    CU_ASSERT_PTR_NULL(stream_auth_check(&accepter, proof));
}

static void accepter_without_the_key(void)
{
    struct stream_auth opener, accepter;
    uint8_t proof[STREAM_PROOF_BYTES];

    stream_auth_open(&opener, KEY, 1, 2, NONCE, OPENER_CHALLENGE);
    stream_auth_accept(&accepter, OTHER_KEY, opener.hello, ACCEPTER_CHALLENGE);
    CU_ASSERT_PTR_NOT_NULL(stream_auth_prove(&opener, accepter.challenge, proof));
}

static void opener_without_the_key(void)
{
    struct stream_auth opener, accepter, thief;
    uint8_t proof[STREAM_PROOF_BYTES];

    stream_auth_open(&opener, KEY, 1, 2, NONCE, OPENER_CHALLENGE);
    stream_auth_accept(&accepter, KEY, opener.hello, ACCEPTER_CHALLENGE);
    /* it answers with the right transcript, but under its own key */
    stream_auth_open(&thief, OTHER_KEY, 1, 2, NONCE, OPENER_CHALLENGE);
    memcpy(thief.hello, opener.hello, sizeof thief.hello);
    CU_ASSERT_PTR_NOT_NULL(stream_auth_prove(&thief, accepter.challenge, proof));
    memset(proof, 0, sizeof proof);
    CU_ASSERT_PTR_NOT_NULL(stream_auth_check(&accepter, proof));
}

/* Someone without the key answers an opener's challenge by letting an opener answer it: he opens a
 * stream back to it with the same challenge and shows it what it says as accepter. */
static void reflected_challenge(void)
{
    struct stream_auth victim, reflection;
    uint8_t proof[STREAM_PROOF_BYTES], own[STREAM_PROOF_BYTES];

    stream_auth_open(&victim, KEY, 1, 2, NONCE, OPENER_CHALLENGE);
    /* the victim accepts a stream of its own HELLO with the roles exchanged */
    stream_auth_open(&reflection, OTHER_KEY, 2, 1, NONCE, OPENER_CHALLENGE);
    stream_auth_accept(&reflection, KEY, reflection.hello, ACCEPTER_CHALLENGE);
    CU_ASSERT_PTR_NOT_NULL(stream_auth_prove(&victim, reflection.challenge, proof));
    /* nor does the MAC that an accepter shows do as an opener's proof */
    stream_auth_accept(&reflection, KEY, victim.hello, ACCEPTER_CHALLENGE);
    memcpy(own, reflection.challenge + STREAM_CHALLENGE_BYTES - AUTH_TAG_BYTES, sizeof own);
    CU_ASSERT_PTR_NOT_NULL(stream_auth_check(&reflection, own));
}

/* A proof of one stream is worth nothing in the next, which has another challenge. */
static void replayed_proof(void)
{
    struct stream_auth opener, first, second;
    uint8_t proof[STREAM_PROOF_BYTES];
    const uint8_t fresh[AUTH_NONCE_BYTES] = {6};

    stream_auth_open(&opener, KEY, 1, 2, NONCE, OPENER_CHALLENGE);
    stream_auth_accept(&first, KEY, opener.hello, ACCEPTER_CHALLENGE);
    CU_ASSERT_PTR_NULL(stream_auth_prove(&opener, first.challenge, proof));
    stream_auth_accept(&second, KEY, opener.hello, fresh);
    CU_ASSERT_PTR_NOT_NULL(stream_auth_check(&second, proof));
}

static void other_version_is_named(void)
{
    struct stream_auth s;
    uint32_t from = 99, to = 99;
    uint8_t nonce[AUTH_NONCE_BYTES];

    stream_auth_open(&s, KEY, 1, 2, NONCE, OPENER_CHALLENGE);
    s.hello[4] = STREAM_VERSION - 1;
    CU_ASSERT_STRING_EQUAL(stream_auth_hello(s.hello, &from, &to, nonce),
                           "version 3, this is version 4");
    CU_ASSERT_EQUAL(from, 99);
    s.hello[4] = STREAM_VERSION;
    s.hello[5] = 1;
    CU_ASSERT_PTR_NOT_NULL(stream_auth_hello(s.hello, &from, &to, nonce));
    s.hello[0] = 'X';
    CU_ASSERT_STRING_EQUAL(stream_auth_hello(s.hello, &from, &to, nonce), "not a Covey stream");
}

/* Every single bit of the transcript counts. */
static void every_bit_counts(void)
{
    for (size_t bit = 0; bit < (size_t)STREAM_CHALLENGE_BYTES * 8; bit++) {
        struct stream_auth opener, accepter;
        uint8_t proof[STREAM_PROOF_BYTES];

        stream_auth_open(&opener, KEY, 1, 2, NONCE, OPENER_CHALLENGE);
        stream_auth_accept(&accepter, KEY, opener.hello, ACCEPTER_CHALLENGE);
        accepter.challenge[bit / 8] ^= (uint8_t)(1 << bit % 8);
        CU_ASSERT_PTR_NOT_NULL(stream_auth_prove(&opener, accepter.challenge, proof));
    }
}

static const struct test_case CASES[] = {
    {"both know the key", both_know_the_key},
    {"accepter without the key", accepter_without_the_key},
    {"opener without the key", opener_without_the_key},
    {"reflected challenge", reflected_challenge},
    {"replayed proof", replayed_proof},
    {"other version is named", other_version_is_named},
    {"every bit counts", every_bit_counts},
};

int main(void)
{
    return covey_test_main("stream_auth", CASES, sizeof CASES / sizeof CASES[0]);
}
