/* links: proto/class/?*.c proto/wire/cursor.c tests/unit/proto/class/pair.c */
/*
 * recording_test.c - what somebody has who recorded a join: he knows the label, so the code is one
 * of 80,000, and compares each with what was said, in every way that needs no secret of the two.
 * None stands out. That his comparison is a good one is shown by giving him what he lacks: with the
 * scalar of the student the same list has exactly one code that fits, the right one.
 * slow: 80,000 codes are compared, with some operations on the curve each.
 */
#include "tests/unit/proto/class/pair.h"

#include <CUnit/CUnit.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "tests/unit/runner.h"

/* Where things lie in what each side says: frames of a size, a kind and fields. */
enum {
    HELLO_NONCE = 2 + 1 + 1,
    SHARE_NONCE = 2 + 1 + 2,
    SHARE_POINT = SHARE_NONCE + CLASS_NONCE_BYTES,
    STUDENT_TAG = SHARE_POINT + CPACE_POINT_BYTES + 2 + 1,
    REPLY_POINT = HELLO_NONCE + CLASS_NONCE_BYTES + 2 + 1,
    TEACHER_TAG = REPLY_POINT + CPACE_POINT_BYTES + 2 + 1
};

struct recording {
    uint8_t session[2 * CLASS_NONCE_BYTES];
    struct cpace_said said;
    uint8_t student_tag[CPACE_TAG_BYTES], teacher_tag[CPACE_TAG_BYTES];
    size_t student_size, teacher_size;
    unsigned label;
};

static struct cpace_text text(const char *at)
{
    return (struct cpace_text){at, strlen(at)};
}

/* Somebody joins with that code, which is then the class's; the seed is the student's. */
static struct recording record(struct passcode *code, const uint8_t seed[CHANCE_SEED_BYTES])
{
    const uint8_t door_seed[CHANCE_SEED_BYTES] = "recorded";
    struct recording r = {
        .said = {.initiator_data = text(CLASS_STUDENT), .responder_data = text(CLASS_TEACHER)}};
    struct door *door = door_create(door_seed, "vm", "host");
    static struct pair pair;
    CU_ASSERT_PTR_NOT_NULL_FATAL(door);
    door_open(door, 1000);
    *code = door_status(door).code;
    CU_ASSERT_FATAL(pair_begin(&pair, door, code, 0));
    knock_begin(&pair.knock, code, seed);
    pair_run(&pair, 0);
    CU_ASSERT_EQUAL_FATAL(pair.student, KNOCK_WELCOME);
    memcpy(r.session, pair.teacher_said + HELLO_NONCE, CLASS_NONCE_BYTES);
    memcpy(r.session + CLASS_NONCE_BYTES, pair.student_said + SHARE_NONCE, CLASS_NONCE_BYTES);
    memcpy(r.said.initiator, pair.student_said + SHARE_POINT, CPACE_POINT_BYTES);
    memcpy(r.said.responder, pair.teacher_said + REPLY_POINT, CPACE_POINT_BYTES);
    memcpy(r.student_tag, pair.student_said + STUDENT_TAG, CPACE_TAG_BYTES);
    memcpy(r.teacher_tag, pair.teacher_said + TEACHER_TAG, CPACE_TAG_BYTES);
    r.student_size = pair.student_size;
    r.teacher_size = pair.teacher_size;
    r.label = pair.student_said[SHARE_NONCE - 1];
    pair_end(&pair);
    door_destroy(door);
    return r;
}

static struct cpace_text session_of(const struct recording *r)
{
    return (struct cpace_text){r->session, sizeof r->session};
}

static void generator_of(const struct recording *r, const struct passcode *code,
                         uint8_t g[CPACE_POINT_BYTES])
{
    char password[PASSCODE_TEXT_MAX];
    passcode_print(code, password);
    cpace_generator(g, text(password), text(CLASS_CHANNEL), session_of(r));
}

/* Whether the tags are those of a key that is made of this point. */
static bool point_fits(const struct recording *r, const uint8_t point[CPACE_POINT_BYTES])
{
    static const uint8_t one[CPACE_SCALAR_BYTES] = {1}; /* once the point is the point */
    uint8_t key[CPACE_KEY_BYTES], tag[CPACE_TAG_BYTES];
    if (!cpace_key(key, one, point, session_of(r), &r->said))
        return false;
    cpace_tag(tag, key, session_of(r), r->said.initiator, r->said.initiator_data);
    if (memcmp(tag, r->student_tag, sizeof tag) == 0)
        return true;
    cpace_tag(tag, key, session_of(r), r->said.responder, r->said.responder_data);
    return memcmp(tag, r->teacher_tag, sizeof tag) == 0;
}

/* What he can make of his guess alone, or `thorough` of what he has heard and of it. */
static bool guess_fits(const struct recording *r, const uint8_t g[CPACE_POINT_BYTES], bool thorough)
{
    uint8_t points[4][CPACE_POINT_BYTES];
    bool fits = point_fits(r, g);
    crypto_core_ristretto255_add(points[0], g, r->said.initiator);
    crypto_core_ristretto255_add(points[1], g, r->said.responder);
    crypto_core_ristretto255_sub(points[2], r->said.initiator, g);
    crypto_core_ristretto255_sub(points[3], r->said.responder, g);
    for (int i = 0; i < 4 && thorough; i++)
        fits = fits || point_fits(r, points[i]);
    return fits;
}

static void no_guess_stands_out(void)
{
    const uint8_t seed[CHANCE_SEED_BYTES] = "student";
    struct passcode code;
    struct recording r = record(&code, seed);
    uint8_t g[CPACE_POINT_BYTES], sum[CPACE_POINT_BYTES];
    unsigned explained = 0, fit = 0, met = 0;
    CU_ASSERT_EQUAL(r.label, passcode_label(&code));
    for (unsigned i = 0; i < PAIR_GUESSES; i++) {
        struct passcode guess = pair_guess(r.label, i);
        met += memcmp(&guess, &code, sizeof code) == 0;
        generator_of(&r, &guess, g);
        /* The group is of prime order: of each of its points but the neutral one any share is a
         * multiple, and so any code explains the shares. */
        explained +=
            crypto_core_ristretto255_is_valid_point(g) == 1 && !sodium_is_zero(g, sizeof g);
        fit += guess_fits(&r, g, guess.word == code.word);
    }
    crypto_core_ristretto255_add(sum, r.said.initiator, r.said.responder);
    const uint8_t *const heard[] = {sum, r.said.initiator, r.said.responder};
    for (size_t i = 0; i < sizeof heard / sizeof heard[0]; i++)
        fit += point_fits(&r, heard[i]);
    CU_ASSERT_EQUAL(met, 1);
    CU_ASSERT_EQUAL(explained, PAIR_GUESSES);
    CU_ASSERT_EQUAL(fit, 0);
    printf("(%u codes compared, %u fit) ", PAIR_GUESSES, fit);
}

/* The scalar of the student, as knock.c makes it of its seed. */
static void scalar_of(const uint8_t seed[CHANCE_SEED_BYTES], uint8_t scalar[CPACE_SCALAR_BYTES])
{
    struct chance chance;
    uint8_t nonce[CLASS_NONCE_BYTES], random[CPACE_RANDOM_BYTES];
    memcpy(chance.seed, seed, sizeof chance.seed);
    chance_roll(&chance, nonce, sizeof nonce);
    chance_roll(&chance, random, sizeof random);
    cpace_scalar(scalar, random);
}

static void with_a_secret_one_code_stands_out(void)
{
    const uint8_t seed[CHANCE_SEED_BYTES] = "student";
    struct passcode code, found = {0};
    struct recording r = record(&code, seed);
    uint8_t scalar[CPACE_SCALAR_BYTES], g[CPACE_POINT_BYTES], share[CPACE_POINT_BYTES];
    unsigned fit = 0;
    scalar_of(seed, scalar);
    for (unsigned i = 0; i < PASSCODE_NUMBERS; i++) {
        struct passcode guess = {.word = code.word, .number = (uint16_t)i};
        generator_of(&r, &guess, g);
        cpace_share(share, scalar, g);
        if (memcmp(share, r.said.initiator, sizeof share) == 0) {
            fit++;
            found = guess;
        }
    }
    CU_ASSERT_EQUAL(fit, 1);
    CU_ASSERT_EQUAL(found.number, code.number);
    uint8_t point[CPACE_POINT_BYTES];
    CU_ASSERT_EQUAL(crypto_scalarmult_ristretto255(point, scalar, r.said.responder), 0);
    CU_ASSERT(point_fits(&r, point));
}

/* Two joins with one code have nothing in common but their form. */
static void joins_are_all_alike_and_all_different(void)
{
    const uint8_t seed_a[CHANCE_SEED_BYTES] = "student a", seed_b[CHANCE_SEED_BYTES] = "student b";
    struct passcode code;
    struct recording a = record(&code, seed_a), b = record(&code, seed_b);
    CU_ASSERT_EQUAL(a.student_size, b.student_size);
    CU_ASSERT_EQUAL(a.teacher_size, b.teacher_size);
    CU_ASSERT(memcmp(a.said.initiator, b.said.initiator, CPACE_POINT_BYTES) != 0);
    CU_ASSERT(memcmp(a.said.responder, b.said.responder, CPACE_POINT_BYTES) != 0);
    CU_ASSERT(memcmp(a.student_tag, b.student_tag, CPACE_TAG_BYTES) != 0);
    CU_ASSERT(memcmp(a.teacher_tag, b.teacher_tag, CPACE_TAG_BYTES) != 0);
    CU_ASSERT(memcmp(a.student_tag, a.teacher_tag, CPACE_TAG_BYTES) != 0);
}

int main(void)
{
    static const struct test_case cases[] = {
        {"of all codes none stands out", no_guess_stands_out},
        {"with a secret one code stands out", with_a_secret_one_code_stands_out},
        {"joins are all alike and all different", joins_are_all_alike_and_all_different},
    };
    return sodium_init() < 0 ? 1
                             : covey_test_main("recording", cases, sizeof cases / sizeof cases[0]);
}
