/* links: tools/launch/dial.c */
/*
 * What the leader of covey-dial reads of anybody, and what both read once they have proved
 * themselves: keys of files, answers and sealed texts. Who has not the key is never taken in; with
 * the key, what was said is opened, and nothing else is.
 */
#include <sodium.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"
#include "tools/launch/dial.h"

/* Both ends of a connection, as far as the answer. */
static void begin(struct dial *leader, struct dial *guest)
{
    *leader = (struct dial){.key = "the key of the file"};
    *guest = (struct dial){.key = "the key of the file", .name = "guest"};
    dial_begin(leader, DIAL_LEADER);
    dial_begin(guest, DIAL_GUEST);
    memcpy(guest->leader, leader->leader, sizeof guest->leader);
}

static void answer_make(const struct dial *guest, uint8_t answer[DIAL_ANSWER_BYTES])
{
    memcpy(answer, guest->guest, DIAL_POINT_BYTES);
    memcpy(answer + DIAL_POINT_BYTES, guest->name, DIAL_NAME_BYTES);
    dial_proof(guest, DIAL_GUEST, answer + DIAL_POINT_BYTES + DIAL_NAME_BYTES);
}

static void try_key(const uint8_t *data, size_t size)
{
    char text[2 * DIAL_KEY_BYTES + 8] = "";
    uint8_t key[DIAL_KEY_BYTES];
    memcpy(text, data, size < sizeof text - 1 ? size : sizeof text - 1);
    if (dial_key_parse(text, key))
        REQUIRE(strspn(text, "0123456789abcdefABCDEF") == sizeof key * 2);
}

/* Anybody's; and one whose name is the input, of somebody who has the key. */
static void try_answer(const uint8_t *data, size_t size)
{
    struct dial leader, guest;
    uint8_t answer[DIAL_ANSWER_BYTES] = {0};
    begin(&leader, &guest);
    memcpy(answer, data, size < sizeof answer ? size : sizeof answer);
    REQUIRE(!dial_take_answer(&leader, answer));
    memset(guest.name, 0, sizeof guest.name);
    memcpy(guest.name, data, size < sizeof guest.name ? size : sizeof guest.name);
    answer_make(&guest, answer);
    if (dial_take_answer(&leader, answer)) {
        size_t length = strnlen(leader.name, sizeof leader.name);
        REQUIRE(length > 0 && length < sizeof leader.name && leader.name[0] != '-');
        REQUIRE(strpbrk(leader.name, " \t\n'\"$`\\{}/;&|<>()*?[]#~=%!") == NULL);
    }
}

/* A text of anybody, and what was said, with one bit changed. */
static void try_text(const uint8_t *data, size_t size)
{
    static uint8_t sealed[DIAL_SEALED_MAX], text[DIAL_TEXT_MAX + 1];
    struct dial leader, guest;
    uint8_t answer[DIAL_ANSWER_BYTES];
    begin(&leader, &guest);
    answer_make(&guest, answer);
    REQUIRE(dial_take_answer(&leader, answer));
    REQUIRE(dial_agree(&leader, DIAL_LEADER) && dial_agree(&guest, DIAL_GUEST));
    REQUIRE(dial_open(&leader, DIAL_GUEST, data, size, text) == 0);
    size_t whole = dial_seal(&guest, DIAL_GUEST, data, size, sealed);
    REQUIRE((whole == 0) == (size == 0 || size > DIAL_TEXT_MAX));
    if (whole == 0)
        return;
    sealed[data[0] % whole] ^= 1;
    REQUIRE(dial_open(&leader, DIAL_GUEST, sealed, whole, text) == 0);
    sealed[data[0] % whole] ^= 1;
    REQUIRE(dial_open(&leader, DIAL_GUEST, sealed, whole, text) == size);
    REQUIRE(memcmp(text, data, size) == 0);
    REQUIRE(dial_open(&leader, DIAL_GUEST, sealed, whole, text) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (sodium_init() < 0)
        return 0;
    try_key(data, size);
    try_answer(data, size);
    try_text(data, size);
    return 0;
}
