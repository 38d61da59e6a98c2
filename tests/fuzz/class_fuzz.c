/* links: proto/class/?*.c proto/wire/cursor.c */
/*
 * What a class and a student's machine read of each other before either is proved, and the
 * datagrams of both: whatever comes, nobody is let in, no try is taken twice, and neither end says
 * more than its few frames. And what each reads of the other when both know the code: a class may
 * be a stranger's who guessed it, and so may a student be.
 */
#include <sodium.h>
#include <string.h>

#include "proto/class/door.h"
#include "proto/class/knock.h"
#include "tests/fuzz/fuzz.h"

#define OUTPUT_MAX 512

/* To a class, in pieces of the size that the first byte says. */
static void feed_class(const uint8_t *data, size_t size, size_t piece)
{
    const uint8_t seed[CHANCE_SEED_BYTES] = "class";
    struct door *door = door_create(seed, "vm", "host");
    REQUIRE(door != NULL);
    door_open(door, 1000);
    struct guest *guest = guest_create(door, "192.0.2.1", 0);
    REQUIRE(guest != NULL);
    enum guest_event event = GUEST_MORE;
    while (size > 0 && event != GUEST_ENDS) {
        size_t part = size < piece ? size : piece;
        event = guest_take(guest, data, &part, 0);
        REQUIRE(event == GUEST_ENDS || part > 0 || event == GUEST_AGAIN);
        REQUIRE(event != GUEST_ENTERS && event != GUEST_ANSWERS);
        data += part;
        size -= part;
    }
    size_t said;
    guest_output(guest, &said);
    REQUIRE(said <= OUTPUT_MAX && !guest_is_in(guest));
    REQUIRE(door_status(door).wrong <= 1 && door_status(door).voided == 0);
    guest_destroy(guest);
    door_destroy(door);
}

/* To a student's machine. */
static void feed_student(const uint8_t *data, size_t size, size_t piece)
{
    const uint8_t seed[CHANCE_SEED_BYTES] = "student";
    const struct passcode code = {.word = 1, .number = 2};
    static struct knock knock;
    enum knock_event event = KNOCK_MORE;
    knock_begin(&knock, &code, seed);
    while (size > 0 && event <= KNOCK_AGAIN) {
        size_t part = size < piece ? size : piece;
        event = knock_take(&knock, data, &part);
        REQUIRE(event > KNOCK_AGAIN || part > 0 || event == KNOCK_AGAIN);
        REQUIRE(event != KNOCK_WELCOME && event != KNOCK_INVITED && event != KNOCK_DONE);
        data += part;
        size -= part;
    }
    size_t said;
    knock_output(&knock, &said);
    REQUIRE(said <= OUTPUT_MAX);
    knock_end(&knock);
}

/* Carries what both say until they have nothing more to say. */
static void carry(struct guest *guest, struct knock *knock)
{
    for (bool more = true; more;) {
        size_t size, part;
        const uint8_t *bytes = guest_output(guest, &size);
        enum knock_event event = KNOCK_AGAIN;
        more = size > 0;
        for (size_t at = 0; at < size || event == KNOCK_AGAIN; at += part) {
            part = size - at;
            event = knock_take(knock, bytes + at, &part);
        }
        guest_sent(guest, size);
        bytes = knock_output(knock, &size);
        more = more || size > 0;
        enum guest_event back = GUEST_AGAIN;
        for (size_t at = 0; at < size || back == GUEST_AGAIN; at += part) {
            part = size - at;
            back = guest_take(guest, bytes + at, &part, 0);
        }
        knock_sent(knock, size);
    }
}

/* A frame of the input: kind, size, fields. Returns how much of it that is; 0: no more. */
static size_t frame_seal(struct channel *channel, const uint8_t *data, size_t size)
{
    static uint8_t body[1 + UINT8_MAX];
    if (size < 2 || size - 2 < data[1])
        return 0;
    struct cursor c = cursor_writer(body + 1, sizeof body - 1);
    cursor_put_bytes(&c, data + 2, data[1]);
    channel_send(channel, data[0], body, &c);
    return 2 + (size_t)data[1];
}

/* Frames of a student who knows the code, to the class. */
static void feed_class_inside(struct guest *guest, struct knock *knock, const uint8_t *data,
                              size_t size)
{
    static const uint8_t sealed[] = "an invitation";
    enum guest_event event = GUEST_MORE;
    for (size_t taken; event != GUEST_ENDS && (taken = frame_seal(&knock->channel, data, size)) > 0;
         data += taken, size -= taken) {
        size_t said, part;
        const uint8_t *bytes = knock_output(knock, &said);
        event = GUEST_AGAIN;
        for (size_t at = 0; event != GUEST_ENDS && (at < said || event == GUEST_AGAIN);
             at += part) {
            part = said - at;
            event = guest_take(guest, bytes + at, &part, 0);
        }
        knock_sent(knock, said);
        if (event == GUEST_ENTERS)
            REQUIRE(strlen(guest_name(guest)) <= CLASS_NAME_MAX &&
                    guest_invite(guest, sealed, sizeof sealed));
        if (event == GUEST_ANSWERS)
            REQUIRE(strlen(guest_answer(guest)) <= CLASS_TEXT_MAX);
        event = guest_is_over(guest) ? GUEST_ENDS : event;
    }
}

/* Frames of a class that knows the code, to the student. */
static void feed_student_inside(struct knock *knock, const uint8_t *data, size_t size)
{
    static const uint8_t key[CLASS_BOX_KEY_BYTES] = "key";
    static struct channel class;
    class = (struct channel){.sealed = true, .to_send = knock->channel.to_take};
    enum knock_event event = KNOCK_MORE;
    for (size_t taken; event < KNOCK_DONE && (taken = frame_seal(&class, data, size)) > 0;
         data += taken, size -= taken) {
        event = KNOCK_AGAIN;
        for (size_t at = 0, part;
             event < KNOCK_WELCOME && (at < class.out_size || event == KNOCK_AGAIN); at += part) {
            part = class.out_size - at;
            event = knock_take(knock, class.out + at, &part);
        }
        channel_sent(&class, class.out_size);
        if (event == KNOCK_WELCOME)
            knock_enter(knock, "anna", key);
        if (event == KNOCK_INVITED) {
            REQUIRE(knock->sealed_size > 0 && knock->sealed_size <= CLASS_SEALED_MAX);
            knock_answer(knock, "ok 1");
        }
    }
    REQUIRE(strlen(knock->text) <= CLASS_TEXT_MAX && strlen(knock->vm) <= CLASS_NAME_MAX);
}

static void feed_inside(const uint8_t *data, size_t size, bool student)
{
    const uint8_t seed[CHANCE_SEED_BYTES] = "inside";
    static struct knock knock;
    struct door *door = door_create(seed, "vm", "host");
    REQUIRE(door != NULL);
    door_open(door, 1000);
    struct guest *guest = guest_create(door, "192.0.2.1", 0);
    REQUIRE(guest != NULL);
    const struct passcode code = door_status(door).code;
    knock_begin(&knock, &code, seed);
    carry(guest, &knock);
    REQUIRE(guest_is_in(guest) && knock.channel.sealed);
    if (student)
        feed_student_inside(&knock, data, size);
    else
        feed_class_inside(guest, &knock, data, size);
    knock_end(&knock);
    guest_destroy(guest);
    door_destroy(door);
}

static void feed_datagrams(const uint8_t *data, size_t size)
{
    const uint8_t seed[CHANCE_SEED_BYTES] = "class";
    struct beacon beacon;
    uint8_t bytes[BEACON_BYTES];
    struct door *door = door_create(seed, "vm", "host");
    REQUIRE(door != NULL);
    door_open(door, 1000);
    if (door_answer(door, data, size, 1, bytes))
        REQUIRE(size == BEACON_BYTES && beacon_get_answer(bytes, sizeof bytes, &beacon));
    if (beacon_get_answer(data, size, &beacon))
        REQUIRE(beacon.port != 0 && !beacon_get_question(data, size, &beacon));
    door_destroy(door);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1 || size > 4096 || sodium_init() < 0)
        return 0;
    size_t piece = data[0] + 1u;
    feed_class(data + 1, size - 1, piece);
    feed_student(data + 1, size - 1, piece);
    feed_datagrams(data + 1, size - 1);
    feed_inside(data + 1, size - 1, data[0] & 1);
    char text[64] = "";
    struct passcode code;
    memcpy(text, data + 1, size - 1 < sizeof text ? size - 1 : sizeof text - 1);
    if (passcode_parse(text, &code) == PASSCODE_GOOD)
        REQUIRE(code.word < PASSCODE_WORDS && code.number < PASSCODE_NUMBERS);
    return 0;
}
