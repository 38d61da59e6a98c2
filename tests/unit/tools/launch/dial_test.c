/* links: tools/launch/dial.c */
#include "tools/launch/dial.h"

#include <CUnit/CUnit.h>
#include <sodium.h>
#include <string.h>

#include "tests/unit/runner.h"

#define KEY "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

static void pair_make(struct dial *leader, struct dial *guest, const char *name)
{
    memset(leader, 0, sizeof *leader);
    CU_ASSERT_TRUE(dial_key_parse(KEY "\n", leader->key));
    *guest = *leader;
    dial_begin(leader, DIAL_LEADER);
    dial_begin(guest, DIAL_GUEST);
    memcpy(guest->leader, leader->leader, sizeof guest->leader);
    strncpy(guest->name, name, sizeof guest->name);
}

static void answer_make(const struct dial *guest, uint8_t answer[DIAL_ANSWER_BYTES])
{
    memcpy(answer, guest->guest, DIAL_POINT_BYTES);
    memcpy(answer + DIAL_POINT_BYTES, guest->name, DIAL_NAME_BYTES);
    dial_proof(guest, DIAL_GUEST, answer + DIAL_POINT_BYTES + DIAL_NAME_BYTES);
}

/* Both have proved themselves. */
static void pair_agree(struct dial *leader, struct dial *guest)
{
    uint8_t answer[DIAL_ANSWER_BYTES];
    answer_make(guest, answer);
    CU_ASSERT_TRUE(dial_take_answer(leader, answer));
    CU_ASSERT_TRUE(dial_agree(leader, DIAL_LEADER));
    CU_ASSERT_TRUE(dial_agree(guest, DIAL_GUEST));
}

static bool accepted(const char *name)
{
    struct dial leader, guest;
    uint8_t answer[DIAL_ANSWER_BYTES];
    pair_make(&leader, &guest, name);
    answer_make(&guest, answer);
    return dial_take_answer(&leader, answer);
}

static void a_key_is_64_digits(void)
{
    uint8_t key[DIAL_KEY_BYTES];
    CU_ASSERT_TRUE(dial_key_parse(KEY, key));
    CU_ASSERT_TRUE(dial_key_parse(KEY "\r\n", key));
    CU_ASSERT_FALSE(dial_key_parse("", key));
    CU_ASSERT_FALSE(dial_key_parse(KEY "0", key));
    CU_ASSERT_FALSE(dial_key_parse(KEY "00", key));
    CU_ASSERT_FALSE(dial_key_parse("0011", key));
    CU_ASSERT_FALSE(dial_key_parse("x" KEY, key));
}

static void each_proves_that_it_knows_the_key(void)
{
    struct dial leader, guest;
    uint8_t answer[DIAL_ANSWER_BYTES], proof[DIAL_PROOF_BYTES];
    pair_make(&leader, &guest, "pod-1");
    answer_make(&guest, answer);
    CU_ASSERT_TRUE(dial_take_answer(&leader, answer));
    CU_ASSERT_STRING_EQUAL(leader.name, "pod-1");
    dial_proof(&leader, DIAL_LEADER, proof);
    CU_ASSERT_TRUE(dial_proved(&guest, DIAL_LEADER, proof));
    CU_ASSERT_FALSE(dial_proved(&guest, DIAL_GUEST, proof)); /* not sent back */
    leader.leader[0] ^= 1;                                   /* nor to another connection */
    CU_ASSERT_FALSE(dial_take_answer(&leader, answer));
    leader.leader[0] ^= 1;
    for (size_t i = 0; i < sizeof answer; i++) {
        answer[i] ^= 1;
        CU_ASSERT_FALSE(dial_take_answer(&leader, answer));
        answer[i] ^= 1;
    }
    leader.key[5] ^= 1;
    CU_ASSERT_FALSE(dial_take_answer(&leader, answer));
}

static void names_are_those_of_hosts(void)
{
    CU_ASSERT_TRUE(accepted("a.b_c-9"));
    CU_ASSERT_FALSE(accepted(""));
    CU_ASSERT_FALSE(accepted("-a"));
    CU_ASSERT_FALSE(accepted("a b"));
    CU_ASSERT_FALSE(accepted("a\nb"));
    CU_ASSERT_FALSE(accepted("a'b"));
    CU_ASSERT_FALSE(accepted("0123456789012345678901234567890123456789012345678901234567890123"));
}

static void texts_are_opened_once_in_their_order(void)
{
    struct dial leader, guest;
    uint8_t first[64], second[64];
    char text[64];
    pair_make(&leader, &guest, "pod-1");
    pair_agree(&leader, &guest);
    size_t size = dial_seal(&leader, DIAL_LEADER, "one", 3, first);
    CU_ASSERT_EQUAL(dial_seal(&leader, DIAL_LEADER, "two", 3, second), size);
    CU_ASSERT_EQUAL(dial_open(&guest, DIAL_LEADER, second, size, text), 0);
    CU_ASSERT_EQUAL(dial_open(&guest, DIAL_GUEST, first, size, text), 0);
    CU_ASSERT_EQUAL(dial_open(&guest, DIAL_LEADER, first, size, text), 3);
    CU_ASSERT_EQUAL(memcmp(text, "one", 3), 0);
    CU_ASSERT_EQUAL(dial_open(&guest, DIAL_LEADER, first, size, text), 0);
    second[size - 1] ^= 1;
    CU_ASSERT_EQUAL(dial_open(&guest, DIAL_LEADER, second, size, text), 0);
    second[size - 1] ^= 1;
    CU_ASSERT_EQUAL(dial_open(&guest, DIAL_LEADER, second, size, text), 3);
    CU_ASSERT_EQUAL(dial_open(&guest, DIAL_LEADER, second, 16, text), 0);
    CU_ASSERT_EQUAL(dial_seal(&guest, DIAL_GUEST, text, DIAL_TEXT_MAX + 1, first), 0);
}

/* He has all that was said, and learns the key of the file when all is over. */
static void a_recording_is_not_read_with_the_key(void)
{
    struct dial leader, guest, thief, other;
    uint8_t sealed[64];
    char text[64];
    pair_make(&leader, &guest, "pod-1");
    pair_agree(&leader, &guest);
    size_t size = dial_seal(&leader, DIAL_LEADER, "one", 3, sealed);
    pair_make(&thief, &other, "pod-1");
    memcpy(thief.leader, leader.leader, sizeof thief.leader);
    memcpy(thief.guest, leader.guest, sizeof thief.guest);
    memcpy(thief.name, leader.name, sizeof thief.name);
    struct dial again = thief;
    CU_ASSERT_EQUAL(dial_open(&again, DIAL_LEADER, sealed, size, text), 0);
    CU_ASSERT_TRUE(dial_agree(&thief, DIAL_LEADER));
    CU_ASSERT_EQUAL(dial_open(&thief, DIAL_LEADER, sealed, size, text), 0);
    CU_ASSERT_TRUE(memcmp(leader.key, thief.key, sizeof leader.key) != 0);
    CU_ASSERT_TRUE(sodium_is_zero(leader.secret, sizeof leader.secret));
    CU_ASSERT_TRUE(sodium_is_zero(guest.secret, sizeof guest.secret));
    CU_ASSERT_EQUAL(dial_open(&guest, DIAL_LEADER, sealed, size, text), 3);
}

/* Of small order: whatever the secret is, the exchange would give zeros. */
static void some_points_are_none(void)
{
    struct dial leader, guest;
    pair_make(&leader, &guest, "pod-1");
    memset(leader.guest, 0, sizeof leader.guest);
    CU_ASSERT_FALSE(dial_agree(&leader, DIAL_LEADER));
    pair_make(&leader, &guest, "pod-1");
    memset(guest.leader, 0, sizeof guest.leader);
    guest.leader[0] = 1;
    CU_ASSERT_FALSE(dial_agree(&guest, DIAL_GUEST));
}

static void the_backoff_grows_and_is_bounded(void)
{
    unsigned before = 0;
    for (unsigned tries = 0; tries < 100; tries++) {
        unsigned least = dial_backoff_ms(tries, 0);
        CU_ASSERT_TRUE(least >= before && least >= DIAL_FIRST_MS / 2);
        for (uint32_t random = 0; random < 20000; random += 77)
            CU_ASSERT_TRUE(dial_backoff_ms(tries, random) >= least &&
                           dial_backoff_ms(tries, random) <= 2 * least);
        before = least;
    }
    CU_ASSERT_EQUAL(before, DIAL_LAST_MS / 2);
}

int main(void)
{
    static const struct test_case cases[] = {
        {"a key is 64 digits", a_key_is_64_digits},
        {"each proves that it knows the key", each_proves_that_it_knows_the_key},
        {"names are those of hosts", names_are_those_of_hosts},
        {"texts are opened once, in their order", texts_are_opened_once_in_their_order},
        {"a recording is not read with the key", a_recording_is_not_read_with_the_key},
        {"some points are none", some_points_are_none},
        {"the backoff grows and is bounded", the_backoff_grows_and_is_bounded},
    };
    return covey_test_main("dial", cases, sizeof cases / sizeof cases[0]);
}
