/*
 * pair.c - see pair.h.
 */
#include "tests/unit/proto/class/pair.h"

#include <string.h>

static void keep(uint8_t *said, size_t *size, const uint8_t *bytes, size_t more)
{
    if (more > PAIR_SAID_MAX - *size)
        more = PAIR_SAID_MAX - *size;
    memcpy(said + *size, bytes, more);
    *size += more;
}

static bool to_student(struct pair *pair)
{
    size_t size, at = 0;
    const uint8_t *bytes = guest_output(pair->guest, &size);
    enum knock_event event = KNOCK_AGAIN;
    keep(pair->teacher_said, &pair->teacher_size, bytes, size);
    while (event <= KNOCK_AGAIN && (at < size || event == KNOCK_AGAIN)) {
        size_t part = size - at;
        event = knock_take(&pair->knock, bytes + at, &part);
        at += part;
    }
    if (event > KNOCK_AGAIN)
        pair->student = event;
    guest_sent(pair->guest, event > KNOCK_AGAIN ? at : size);
    return size > 0;
}

static bool to_teacher(struct pair *pair, uint64_t now_ms)
{
    size_t size, at = 0;
    const uint8_t *bytes = knock_output(&pair->knock, &size);
    enum guest_event event = GUEST_AGAIN;
    keep(pair->student_said, &pair->student_size, bytes, size);
    while (event <= GUEST_AGAIN && (at < size || event == GUEST_AGAIN)) {
        size_t part = size - at;
        event = guest_take(pair->guest, bytes + at, &part, now_ms);
        at += part;
    }
    if (event > GUEST_AGAIN)
        pair->teacher = event;
    knock_sent(&pair->knock, size);
    return size > 0;
}

bool pair_begin(struct pair *pair, struct door *door, const struct passcode *code, uint64_t now_ms)
{
    static struct chance chance = {.seed = "students"};
    uint8_t seed[CHANCE_SEED_BYTES];
    memset(pair, 0, sizeof *pair);
    chance_roll(&chance, seed, sizeof seed);
    knock_begin(&pair->knock, code, seed);
    pair->guest = guest_create(door, "192.0.2.1", now_ms);
    return pair->guest != NULL;
}

bool pair_run(struct pair *pair, uint64_t now_ms)
{
    bool moved = false, more = true;
    while (more) {
        more = pair->student < KNOCK_WELCOME && to_student(pair);
        more = to_teacher(pair, now_ms) || more;
        moved = moved || more;
    }
    return moved;
}

void pair_end(struct pair *pair)
{
    knock_end(&pair->knock);
    guest_destroy(pair->guest);
    pair->guest = NULL;
}

enum knock_event pair_try(struct door *door, const struct passcode *code)
{
    struct pair pair;
    if (!pair_begin(&pair, door, code, 0))
        return KNOCK_REFUSED;
    pair_run(&pair, 0);
    enum knock_event event = pair.student;
    pair_end(&pair);
    return event;
}

struct passcode pair_guess(unsigned label, unsigned at)
{
    return passcode_make(label, at);
}
