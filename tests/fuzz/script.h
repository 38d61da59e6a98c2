/*
 * script.h - an input that is a message and what a program does with it.
 *
 *   input = representation=u8 length=u8 *step *u8 ; the rest is the packed message
 *   step  = call type count=u8
 */
#ifndef COVEY_TESTS_FUZZ_SCRIPT_H
#define COVEY_TESTS_FUZZ_SCRIPT_H

#include <stdbool.h>
#include <string.h>

#include "lib/msg/message.h"
#include "tests/fuzz/fuzz.h"

#define SCRIPT_STEPS_MAX 23

struct step {
    uint8_t call, type, count;
};

/* Reads both; false: the input is too short. The steps are the input's, the message the caller's.
 */
static inline bool script_read(const uint8_t *data, size_t size, const struct step **steps,
                               size_t *count, covey_msg_t **msg)
{
    if (size < 2)
        return false;
    uint8_t representation = data[0] % 2 ? REPRESENTATION_BIG : REPRESENTATION_LITTLE;
    size_t n = data[1] % (SCRIPT_STEPS_MAX + 1);
    data += 2;
    size -= 2;
    if (n > size / sizeof(struct step))
        n = size / sizeof(struct step);
    *steps = (const struct step *)data;
    *count = n;
    data += n * sizeof(struct step);
    size -= n * sizeof(struct step);
    *msg = message_receive(size, representation);
    REQUIRE(*msg != NULL);
    if (size > 0)
        memcpy(message_bytes(*msg), data, size);
    return true;
}

#endif
