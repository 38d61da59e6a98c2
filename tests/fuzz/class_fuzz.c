/* links: proto/class/?*.c proto/wire/cursor.c */
/*
 * What a class and a student's machine read of each other before either is proved, and the
 * datagrams of both: whatever comes, nobody is let in, no try is taken twice, and neither end says
 * more than its few frames.
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
    struct guest *guest = guest_create(door, 0);
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
    char text[64] = "";
    struct passcode code;
    memcpy(text, data + 1, size - 1 < sizeof text ? size - 1 : sizeof text - 1);
    if (passcode_parse(text, &code) == PASSCODE_GOOD)
        REQUIRE(code.word < PASSCODE_WORDS && code.number < PASSCODE_NUMBERS);
    return 0;
}
