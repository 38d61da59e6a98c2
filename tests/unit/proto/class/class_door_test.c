/* links: proto/class/?*.c proto/wire/cursor.c tests/unit/proto/class/pair.c */
/*
 * class_door_test.c - a class and its students, engine to engine: the right code gets in, wrong
 * ones do not and are counted, nobody gains by leaving, hurrying, replaying or reflecting.
 */
#include "tests/unit/proto/class/pair.h"

#include <CUnit/CUnit.h>
#include <sodium.h>
#include <string.h>

#include "proto/wire/frame.h"
#include "tests/unit/runner.h"

#define HOUR_MS 3600000u

static const uint8_t key[CLASS_BOX_KEY_BYTES] = "a public key";

static struct door *door_make(const char *seed_text)
{
    uint8_t seed[CHANCE_SEED_BYTES] = {0};
    memcpy(seed, seed_text, strlen(seed_text));
    struct door *door = door_create(seed, "physics", "desk");
    CU_ASSERT_PTR_NOT_NULL_FATAL(door);
    door_open(door, HOUR_MS);
    return door;
}

static struct passcode code_of(const struct door *door)
{
    return door_status(door).code;
}

/* Another code with the same label. */
static struct passcode wrong_code(const struct door *door)
{
    struct passcode code = code_of(door);
    code.number = (uint16_t)((code.number + 1) % PASSCODE_NUMBERS);
    return code;
}

static enum knock_event try_wrong(struct door *door)
{
    struct passcode code = wrong_code(door);
    return pair_try(door, &code);
}

static bool is_open(const struct door *door)
{
    return door_status(door).state == DOOR_OPEN;
}

/* ---- the right code -------------------------------------------------------------------------- */

static void right_code_gets_in(void)
{
    struct door *door = door_make("right");
    struct passcode code = code_of(door);
    struct pair pair;
    CU_ASSERT_FATAL(pair_begin(&pair, door, &code, 0));
    pair_run(&pair, 0);
    CU_ASSERT_EQUAL(pair.student, KNOCK_WELCOME);
    CU_ASSERT_EQUAL(pair.knock.protocol, WIRE_VERSION);
    CU_ASSERT_STRING_EQUAL(pair.knock.vm, "physics");
    CU_ASSERT_STRING_EQUAL(pair.knock.host, "desk");
    CU_ASSERT(guest_is_in(pair.guest));

    pair.student = KNOCK_MORE;
    knock_enter(&pair.knock, "anna", key);
    pair_run(&pair, 0);
    CU_ASSERT_EQUAL(pair.teacher, GUEST_ENTERS);
    CU_ASSERT_STRING_EQUAL(guest_name(pair.guest), "anna");
    CU_ASSERT_EQUAL(memcmp(guest_key(pair.guest), key, sizeof key), 0);

    uint8_t sealed[CLASS_SEALED_MAX - 2];
    memset(sealed, 7, sizeof sealed);
    CU_ASSERT_FALSE(guest_invite(pair.guest, sealed, 0));
    CU_ASSERT_FALSE(guest_invite(pair.guest, sealed, CLASS_SEALED_MAX));
    CU_ASSERT(guest_invite(pair.guest, sealed, sizeof sealed));
    CU_ASSERT_FALSE(guest_invite(pair.guest, sealed, sizeof sealed)); /* once */
    pair_run(&pair, 0);
    CU_ASSERT_EQUAL(pair.student, KNOCK_INVITED);
    CU_ASSERT_EQUAL_FATAL(pair.knock.sealed_size, sizeof sealed);
    CU_ASSERT_EQUAL(memcmp(pair.knock.sealed, sealed, sizeof sealed), 0);

    pair.student = KNOCK_MORE;
    knock_answer(&pair.knock, "ok 5");
    pair_run(&pair, 0);
    CU_ASSERT_EQUAL(pair.teacher, GUEST_ANSWERS);
    CU_ASSERT_STRING_EQUAL(guest_answer(pair.guest), "ok 5");
    guest_done(pair.guest, 0, "anna");
    CU_ASSERT(guest_is_over(pair.guest));
    pair_run(&pair, 0);
    CU_ASSERT_EQUAL(pair.student, KNOCK_DONE);
    CU_ASSERT_EQUAL(pair.knock.error, 0);
    CU_ASSERT_STRING_EQUAL(pair.knock.text, "anna");
    pair_end(&pair);
    CU_ASSERT_EQUAL(door_status(door).wrong, 0);
    CU_ASSERT_EQUAL(door_status(door).guests, 0);
    door_destroy(door);
}

/* Many of them, one after the other and side by side, take no try away. */
static void a_whole_class_gets_in(void)
{
    enum { STUDENTS = 40 };
    static struct pair pairs[STUDENTS];
    struct door *door = door_make("whole");
    struct passcode code = code_of(door);
    for (int i = 0; i < STUDENTS; i++)
        CU_ASSERT_FATAL(pair_begin(&pairs[i], door, &code, 0));
    for (int i = 0; i < STUDENTS; i++) {
        pair_run(&pairs[i], 0);
        CU_ASSERT_EQUAL(pairs[i].student, KNOCK_WELCOME);
    }
    for (int i = 0; i < STUDENTS; i++)
        pair_end(&pairs[i]);
    CU_ASSERT_EQUAL(door_status(door).wrong, 0);
    door_destroy(door);
}

/* ---- wrong codes ----------------------------------------------------------------------------- */

static void three_wrong_codes_void_it(void)
{
    struct door *door = door_make("three");
    struct passcode first = code_of(door);
    CU_ASSERT_EQUAL(try_wrong(door), KNOCK_REFUSED);
    CU_ASSERT_EQUAL(try_wrong(door), KNOCK_REFUSED);
    CU_ASSERT_EQUAL(door_status(door).wrong, 2);
    CU_ASSERT_EQUAL(pair_try(door, &first), KNOCK_WELCOME); /* gives none back, takes none */
    CU_ASSERT_EQUAL(door_status(door).wrong, 2);
    CU_ASSERT_EQUAL(try_wrong(door), KNOCK_REFUSED);
    struct passcode second = code_of(door);
    CU_ASSERT_EQUAL(door_status(door).voided, 1);
    CU_ASSERT_EQUAL(door_status(door).wrong, 0);
    CU_ASSERT_NOT_EQUAL(passcode_label(&first), passcode_label(&second));

    /* the old one takes no try of the new one, and is told apart from a wrong one */
    struct pair pair;
    CU_ASSERT_FATAL(pair_begin(&pair, door, &first, 0));
    pair_run(&pair, 0);
    CU_ASSERT_EQUAL(pair.student, KNOCK_REFUSED);
    CU_ASSERT_EQUAL(pair.knock.refusal, CLASS_NO_SUCH_CODE);
    pair_end(&pair);
    CU_ASSERT_EQUAL(door_status(door).wrong, 0);
    CU_ASSERT_EQUAL(pair_try(door, &second), KNOCK_WELCOME);
    door_destroy(door);
}

static void ten_void_codes_close_the_door(void)
{
    struct door *door = door_make("ten");
    uint64_t labels = 0;
    for (int i = 0; i < DOOR_VOID_MAX; i++) {
        struct passcode code = code_of(door);
        CU_ASSERT(is_open(door));
        CU_ASSERT_EQUAL(labels >> passcode_label(&code) & 1, 0);
        labels |= UINT64_C(1) << passcode_label(&code);
        for (int k = 0; k < DOOR_WRONG_MAX; k++)
            CU_ASSERT_EQUAL(try_wrong(door), KNOCK_REFUSED);
    }
    struct passcode last = code_of(door);
    CU_ASSERT_EQUAL(door_status(door).state, DOOR_TRIED);
    CU_ASSERT_EQUAL(pair_try(door, &last), KNOCK_REFUSED);
    door_open(door, HOUR_MS);
    struct passcode code = code_of(door);
    CU_ASSERT_NOT_EQUAL(passcode_label(&code), passcode_label(&last));
    CU_ASSERT_EQUAL(pair_try(door, &code), KNOCK_WELCOME);
    door_destroy(door);
}

/* As somebody would who has a list: no code twice, always with the label that counts now. */
static void ten_thousand_wrong_codes_do_not_get_in(void)
{
    struct door *door = door_make("list");
    unsigned in = 0, counted = 0;
    for (unsigned i = 0; i < 10000; i++) {
        struct passcode code = code_of(door), guess = pair_guess(passcode_label(&code), i);
        if (memcmp(&guess, &code, sizeof code) == 0)
            continue;
        struct door_status before = door_status(door);
        in += pair_try(door, &guess) != KNOCK_REFUSED;
        struct door_status after = door_status(door);
        counted += after.wrong != before.wrong || after.voided != before.voided;
    }
    CU_ASSERT_EQUAL(in, 0);
    CU_ASSERT_EQUAL(counted, DOOR_WRONG_MAX * DOOR_VOID_MAX);
    CU_ASSERT_EQUAL(door_status(door).state, DOOR_TRIED);
    door_destroy(door);
}

/* That it is not the limit alone which keeps them out: here the teacher opens it again and again,
 * and each of 10,000 is compared. */
static void ten_thousand_wrong_codes_are_each_found_wrong(void)
{
    struct door *door = door_make("each");
    unsigned in = 0, found = 0;
    for (unsigned i = 0; i < 10000; i++) {
        if (!is_open(door))
            door_open(door, HOUR_MS);
        struct passcode code = code_of(door), guess = pair_guess(passcode_label(&code), i * 7);
        if (memcmp(&guess, &code, sizeof code) == 0)
            guess.number = (uint16_t)((guess.number + 1) % PASSCODE_NUMBERS);
        struct pair pair;
        CU_ASSERT_FATAL(pair_begin(&pair, door, &guess, 0));
        pair_run(&pair, 0);
        in += guest_is_in(pair.guest);
        found += pair.student == KNOCK_REFUSED && pair.knock.refusal == CLASS_WRONG_CODE;
        pair_end(&pair);
    }
    CU_ASSERT_EQUAL(in, 0);
    CU_ASSERT_EQUAL(found, 10000);
    door_destroy(door);
}

/* Two classes on one network, with one label, even: a student of one is none of the other's. */
static void two_classes_do_not_mix(void)
{
    struct door *a = door_make("class a"), *b = door_make("class b");
    struct passcode code_a = code_of(a), code_b = code_of(b);
    for (int i = 0; i < 1000 && passcode_label(&code_b) != passcode_label(&code_a); i++) {
        door_open(b, HOUR_MS);
        code_b = code_of(b);
    }
    CU_ASSERT_EQUAL_FATAL(passcode_label(&code_a), passcode_label(&code_b));
    CU_ASSERT_EQUAL(pair_try(a, &code_a), KNOCK_WELCOME);
    CU_ASSERT_EQUAL(pair_try(b, &code_a), KNOCK_REFUSED);
    CU_ASSERT_EQUAL(pair_try(b, &code_b), KNOCK_WELCOME);
    door_open(b, HOUR_MS);
    CU_ASSERT_EQUAL(pair_try(b, &code_a), KNOCK_REFUSED);
    CU_ASSERT_EQUAL(door_status(b).wrong, 0); /* another label: no try of b's */
    door_destroy(a);
    door_destroy(b);
}

/* Labels of others are not taken, unless all are. */
static void labels_of_others_are_avoided(void)
{
    struct door *door = door_make("others");
    door_avoid(door, ~(UINT64_C(1) << 5 | UINT64_C(1) << 9));
    for (int i = 0; i < 20; i++) {
        door_open(door, HOUR_MS);
        struct passcode code = code_of(door);
        CU_ASSERT(passcode_label(&code) == 5 || passcode_label(&code) == 9);
    }
    door_avoid(door, ~UINT64_C(0));
    door_open(door, HOUR_MS);
    CU_ASSERT(is_open(door));
    door_destroy(door);
}

/* A label that another class has chosen at the same time is given up, and no other with it. */
static void a_label_can_be_given_up(void)
{
    struct door *door = door_make("given up");
    door_avoid(door, ~(UINT64_C(1) << 5 | UINT64_C(1) << 9));
    door_open(door, HOUR_MS);
    struct passcode before = code_of(door);
    door_relabel(door);
    struct passcode code = code_of(door);
    CU_ASSERT(is_open(door));
    CU_ASSERT_EQUAL(door_status(door).voided, 0);
    CU_ASSERT(memcmp(&code, &before, sizeof code) != 0);
    door_avoid(door, ~(UINT64_C(1) << 5));
    door_relabel(door);
    code = code_of(door);
    CU_ASSERT_EQUAL(passcode_label(&code), 5);
    for (int i = 0; i < 1000; i++) /* whoever wants it */
        door_relabel(door);
    CU_ASSERT(is_open(door));
    door_close(door);
    door_relabel(door);
    CU_ASSERT_EQUAL(door_status(door).state, DOOR_CLOSED);
    door_destroy(door);
}

/* ---- who does not keep to it ----------------------------------------------------------------- */

/* Carries what the class says to the student, or back, once. */
static size_t carry_to_student(struct pair *pair)
{
    size_t size, at = 0;
    const uint8_t *bytes = guest_output(pair->guest, &size);
    enum knock_event event = KNOCK_AGAIN;
    while (at < size || event == KNOCK_AGAIN) {
        size_t part = size - at;
        event = knock_take(&pair->knock, bytes + at, &part);
        at += part;
    }
    guest_sent(pair->guest, size);
    return size;
}

static enum guest_event feed_guest(struct guest *guest, const uint8_t *bytes, size_t size)
{
    enum guest_event event = GUEST_AGAIN;
    for (size_t at = 0; at < size || event == GUEST_AGAIN;) {
        size_t part = size - at;
        event = guest_take(guest, bytes + at, &part, 0);
        at += part;
        if (event > GUEST_AGAIN)
            break;
    }
    return event;
}

/* Who goes away before he proves anything has learnt nothing: a point that any code explains. */
static void leaving_early_tells_nothing_and_costs_nothing(void)
{
    struct door *door = door_make("early");
    struct passcode code = wrong_code(door);
    for (int i = 0; i < 10; i++) {
        struct pair pair;
        size_t size;
        CU_ASSERT_FATAL(pair_begin(&pair, door, &code, 0));
        carry_to_student(&pair);
        const uint8_t *share = knock_output(&pair.knock, &size);
        CU_ASSERT_EQUAL(feed_guest(pair.guest, share, size), GUEST_MORE);
        guest_output(pair.guest, &size);
        CU_ASSERT_EQUAL(size, 2 + 1 + CPACE_POINT_BYTES); /* REPLY, and no proof */
        pair_end(&pair);
    }
    CU_ASSERT_EQUAL(door_status(door).wrong, 0);
    door_destroy(door);
}

/* The proof is the guess: who sends it and does not wait for the answer has made one. */
static void a_guess_counts_when_its_author_has_gone(void)
{
    struct door *door = door_make("gone");
    struct passcode code = wrong_code(door);
    struct pair pair;
    size_t size;
    CU_ASSERT_FATAL(pair_begin(&pair, door, &code, 0));
    carry_to_student(&pair);
    const uint8_t *bytes = knock_output(&pair.knock, &size);
    feed_guest(pair.guest, bytes, size);
    knock_sent(&pair.knock, size);
    carry_to_student(&pair);
    bytes = knock_output(&pair.knock, &size);
    feed_guest(pair.guest, bytes, size);
    pair_end(&pair);
    CU_ASSERT_EQUAL(door_status(door).wrong, 1);
    door_destroy(door);
}

/* A hundred side by side have three guesses, not a hundred. */
static void hurrying_gains_no_guess(void)
{
    enum { MANY = 100 };
    static struct pair pairs[MANY];
    struct door *door = door_make("hurry");
    struct passcode code = code_of(door);
    unsigned wrong = 0;
    size_t size;
    for (unsigned i = 0; i < MANY; i++) {
        struct passcode guess = pair_guess(passcode_label(&code), 5000 + i);
        CU_ASSERT_FATAL(memcmp(&guess, &code, sizeof code) != 0);
        CU_ASSERT_FATAL(pair_begin(&pairs[i], door, &guess, 0));
        carry_to_student(&pairs[i]);
        const uint8_t *bytes = knock_output(&pairs[i].knock, &size);
        CU_ASSERT_EQUAL(feed_guest(pairs[i].guest, bytes, size), GUEST_MORE);
        knock_sent(&pairs[i].knock, size);
        carry_to_student(&pairs[i]);
    }
    for (unsigned i = 0; i < MANY; i++) {
        pair_run(&pairs[i], 0);
        CU_ASSERT_EQUAL(pairs[i].student, KNOCK_REFUSED);
        wrong += pairs[i].knock.refusal == CLASS_WRONG_CODE;
        pair_end(&pairs[i]);
    }
    CU_ASSERT_EQUAL(wrong, DOOR_WRONG_MAX);
    CU_ASSERT_EQUAL(door_status(door).voided, 1);
    door_destroy(door);
}

/* What a student said who got in, said once more by somebody else. */
static void a_recording_played_again_does_not_get_in(void)
{
    struct door *door = door_make("again");
    struct passcode code = code_of(door);
    struct pair pair;
    CU_ASSERT_FATAL(pair_begin(&pair, door, &code, 0));
    pair_run(&pair, 0);
    CU_ASSERT_EQUAL(pair.student, KNOCK_WELCOME);
    struct guest *guest = guest_create(door, "192.0.2.1", 0);
    CU_ASSERT_PTR_NOT_NULL_FATAL(guest);
    CU_ASSERT_EQUAL(feed_guest(guest, pair.student_said, pair.student_size), GUEST_ENDS);
    CU_ASSERT_FALSE(guest_is_in(guest));
    CU_ASSERT_EQUAL(door_status(door).wrong, 1);
    guest_destroy(guest);
    pair_end(&pair);
    door_destroy(door);
}

/* One who plays the class without the code, and sends back what the student says. */
static void a_mirror_is_no_class(void)
{
    struct passcode code = {.word = 3, .number = 1234};
    const uint8_t seed[CHANCE_SEED_BYTES] = "mirror";
    uint8_t frame[CHANNEL_OPEN_MAX + 2] = {0, 18, CHANNEL_HELLO, CLASS_VERSION};
    struct knock knock;
    size_t part = 20, size;
    knock_begin(&knock, &code, seed);
    CU_ASSERT_EQUAL(knock_take(&knock, frame, &part), KNOCK_AGAIN);
    const uint8_t *share = knock_output(&knock, &size);
    CU_ASSERT_EQUAL_FATAL(size, 2 + 1 + 2 + CLASS_NONCE_BYTES + CPACE_POINT_BYTES);
    uint8_t reply[2 + 1 + CPACE_POINT_BYTES] = {0, 33, CHANNEL_REPLY};
    memcpy(reply + 3, share + size - CPACE_POINT_BYTES, CPACE_POINT_BYTES);
    knock_sent(&knock, size);
    part = sizeof reply;
    CU_ASSERT_EQUAL(knock_take(&knock, reply, &part), KNOCK_AGAIN);
    const uint8_t *proof = knock_output(&knock, &size);
    part = size;
    CU_ASSERT_EQUAL(knock_take(&knock, proof, &part), KNOCK_UNPROVED);
    knock_end(&knock);
}

/* Each bit of what either says up to the proofs, turned by somebody in between: nobody is let in
 * who would not be otherwise, and neither takes the other for proved. */
static void nothing_can_be_altered_on_the_way(void)
{
    struct door *door = door_make("between");
    static struct pair pair;
    unsigned in = 0;
    for (size_t bit = 0; bit < 8 * (2 + 1 + 2 + 16 + 32 + 2 + 1 + 64); bit += 5) {
        if (!is_open(door) || door_status(door).voided > 5)
            door_open(door, HOUR_MS);
        struct passcode code = code_of(door);
        size_t size, at = 0;
        CU_ASSERT_FATAL(pair_begin(&pair, door, &code, 0));
        for (int i = 0; i < 3; i++) {
            uint8_t bytes[256];
            carry_to_student(&pair);
            const uint8_t *said = knock_output(&pair.knock, &size);
            memcpy(bytes, said, size);
            knock_sent(&pair.knock, size);
            if (bit / 8 >= at && bit / 8 < at + size)
                bytes[bit / 8 - at] ^= (uint8_t)(1u << bit % 8);
            at += size;
            if (size > 0)
                feed_guest(pair.guest, bytes, size);
        }
        in += guest_is_in(pair.guest);
        pair_end(&pair);
    }
    CU_ASSERT_EQUAL(in, 0);
    door_destroy(door);
}

static void sealed_frames_cannot_be_altered(void)
{
    struct door *door = door_make("sealed");
    struct passcode code = code_of(door);
    for (int where = 0; where < 2; where++) {
        struct pair pair;
        size_t size;
        CU_ASSERT_FATAL(pair_begin(&pair, door, &code, 0));
        pair_run(&pair, 0);
        knock_enter(&pair.knock, "anna", key);
        uint8_t bytes[512];
        const uint8_t *said = knock_output(&pair.knock, &size);
        memcpy(bytes, said, size);
        bytes[where == 0 ? 5 : size - 1] ^= 1;
        CU_ASSERT_EQUAL(feed_guest(pair.guest, bytes, size), GUEST_ENDS);
        pair_end(&pair);
    }
    door_destroy(door);
}

/* ---- limits ---------------------------------------------------------------------------------- */

static void guests_are_bounded(void)
{
    static struct guest *guests[DOOR_GUESTS_MAX];
    struct door *door = door_make("bounded");
    struct passcode code = code_of(door);
    struct pair pair;
    for (int i = 0; i < DOOR_GUESTS_MAX; i++)
        CU_ASSERT_PTR_NOT_NULL_FATAL(guests[i] = guest_create(door, "192.0.2.1", (uint64_t)i));
    /* the oldest that has proved nothing goes, and its place is there when it was disconnected */
    CU_ASSERT_FATAL(pair_begin(&pair, door, &code, 500));
    CU_ASSERT(guest_is_over(guests[0]));
    CU_ASSERT_FALSE(guest_is_over(guests[1]));
    pair_run(&pair, 500);
    CU_ASSERT_EQUAL(pair.student, KNOCK_WELCOME);
    pair_end(&pair);
    for (int i = 0; i < DOOR_GUESTS_MAX; i++)
        guest_destroy(guests[i]);
    CU_ASSERT_EQUAL(door_status(door).guests, 0);
    door_destroy(door);
}

/* Somebody connects as often as he can: his own connections go, and not the students'. */
static void a_crowd_takes_places_from_itself(void)
{
    static struct guest *guests[2 * DOOR_GUESTS_MAX];
    struct door *door = door_make("crowd");
    struct guest *student = guest_create(door, "192.0.2.2", 0);
    CU_ASSERT_PTR_NOT_NULL_FATAL(student);
    for (int i = 0; i < 2 * DOOR_GUESTS_MAX; i++) {
        guests[i] = guest_create(door, "192.0.2.1", 0);
        CU_ASSERT_PTR_NOT_NULL_FATAL(guests[i]);
        for (int k = 0; k < i; k++)
            if (guests[k] != NULL && guest_is_over(guests[k])) {
                guest_destroy(guests[k]);
                guests[k] = NULL;
            }
    }
    CU_ASSERT_FALSE(guest_is_over(student));
    CU_ASSERT_FALSE(guest_is_over(guests[2 * DOOR_GUESTS_MAX - 1]));
    CU_ASSERT_EQUAL(door_status(door).guests, DOOR_GUESTS_MAX);
    for (int i = 0; i < 2 * DOOR_GUESTS_MAX; i++)
        guest_destroy(guests[i]);
    guest_destroy(student);
    door_destroy(door);
}

static void who_is_late_goes(void)
{
    struct door *door = door_make("late");
    struct guest *guest = guest_create(door, "192.0.2.1", 1000);
    CU_ASSERT_PTR_NOT_NULL_FATAL(guest);
    CU_ASSERT_EQUAL(door_settle(door, 1000), 1000 + DOOR_PROOF_MS);
    CU_ASSERT_FALSE(guest_is_over(guest));
    CU_ASSERT_EQUAL(door_settle(door, 1000 + DOOR_PROOF_MS), HOUR_MS);
    CU_ASSERT(guest_is_over(guest));
    guest_destroy(guest);

    struct passcode code = code_of(door);
    struct pair pair;
    CU_ASSERT_FATAL(pair_begin(&pair, door, &code, 20000));
    pair_run(&pair, 20000);
    door_settle(door, 20000 + DOOR_PROOF_MS);
    CU_ASSERT_FALSE(guest_is_over(pair.guest));
    door_settle(door, 20000 + DOOR_ANSWER_MS);
    CU_ASSERT(guest_is_over(pair.guest));
    pair_end(&pair);
    door_destroy(door);
}

static void the_door_closes_in_time(void)
{
    struct door *door = door_make("time");
    struct passcode code = code_of(door);
    CU_ASSERT_EQUAL(door_settle(door, 0), HOUR_MS);
    CU_ASSERT(is_open(door));
    CU_ASSERT_EQUAL(door_settle(door, HOUR_MS), UINT64_MAX);
    CU_ASSERT_EQUAL(door_status(door).state, DOOR_TIMEOUT);
    CU_ASSERT_EQUAL(pair_try(door, &code), KNOCK_REFUSED);
    door_open(door, 2 * HOUR_MS);
    CU_ASSERT_EQUAL(pair_try(door, &code), KNOCK_REFUSED);
    code = code_of(door);
    CU_ASSERT_EQUAL(pair_try(door, &code), KNOCK_WELCOME);
    door_close(door);
    CU_ASSERT_EQUAL(pair_try(door, &code), KNOCK_REFUSED);
    door_destroy(door);
}

/* ---- questions ------------------------------------------------------------------------------- */

static void questions_are_answered_by_label(void)
{
    struct door *door = door_make("question");
    struct passcode code = code_of(door);
    uint8_t question[BEACON_BYTES], answer[BEACON_BYTES];
    struct beacon beacon = {.version = CLASS_VERSION,
                            .label = (uint8_t)passcode_label(&code),
                            .nonce = {1, 2, 3}},
                  got;
    beacon_put_question(question, &beacon);
    CU_ASSERT(door_answer(door, question, sizeof question, 4711, answer));
    CU_ASSERT(beacon_get_answer(answer, sizeof answer, &got));
    CU_ASSERT_EQUAL(got.port, 4711);
    CU_ASSERT_EQUAL(got.label, beacon.label);
    CU_ASSERT_EQUAL(memcmp(got.nonce, beacon.nonce, sizeof got.nonce), 0);
    CU_ASSERT_FALSE(beacon_get_question(answer, sizeof answer, &got));
    CU_ASSERT_FALSE(beacon_get_answer(question, sizeof question, &got));
    CU_ASSERT_FALSE(door_answer(door, question, sizeof question - 1, 4711, answer));
    CU_ASSERT_FALSE(door_answer(door, answer, sizeof answer, 4711, answer));
    beacon.label++;
    beacon_put_question(question, &beacon);
    CU_ASSERT_FALSE(door_answer(door, question, sizeof question, 4711, answer));
    beacon.label = BEACON_ANY_LABEL;
    beacon_put_question(question, &beacon);
    CU_ASSERT(door_answer(door, question, sizeof question, 4711, answer));
    CU_ASSERT(beacon_get_answer(answer, sizeof answer, &got));
    CU_ASSERT_EQUAL(got.label, passcode_label(&code));
    CU_ASSERT(door_is_own(door, &got));
    got.id[0] ^= 1;
    CU_ASSERT_FALSE(door_is_own(door, &got));
    door_close(door);
    beacon_put_question(question, &beacon);
    CU_ASSERT_FALSE(door_answer(door, question, sizeof question, 4711, answer));
    door_destroy(door);
}

int main(void)
{
    static const struct test_case cases[] = {
        {"the right code gets in", right_code_gets_in},
        {"a whole class gets in", a_whole_class_gets_in},
        {"three wrong codes void it", three_wrong_codes_void_it},
        {"ten void codes close the door", ten_void_codes_close_the_door},
        {"10,000 wrong codes do not get in", ten_thousand_wrong_codes_do_not_get_in},
        {"10,000 wrong codes are each found wrong", ten_thousand_wrong_codes_are_each_found_wrong},
        {"two classes do not mix", two_classes_do_not_mix},
        {"labels of others are avoided", labels_of_others_are_avoided},
        {"a label can be given up", a_label_can_be_given_up},
        {"leaving early tells and costs nothing", leaving_early_tells_nothing_and_costs_nothing},
        {"a guess counts when its author has gone", a_guess_counts_when_its_author_has_gone},
        {"hurrying gains no guess", hurrying_gains_no_guess},
        {"a recording played again does not get in", a_recording_played_again_does_not_get_in},
        {"a mirror is no class", a_mirror_is_no_class},
        {"nothing can be altered on the way", nothing_can_be_altered_on_the_way},
        {"sealed frames cannot be altered", sealed_frames_cannot_be_altered},
        {"guests are bounded", guests_are_bounded},
        {"a crowd takes places from itself", a_crowd_takes_places_from_itself},
        {"who is late goes", who_is_late_goes},
        {"the door closes in time", the_door_closes_in_time},
        {"questions are answered by label", questions_are_answered_by_label},
    };
    return sodium_init() < 0 ? 1
                             : covey_test_main("class_door", cases, sizeof cases / sizeof cases[0]);
}
