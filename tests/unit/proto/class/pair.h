/*
 * pair.h - for tests: a student and a class that talk, all at once, and what each said.
 */
#ifndef COVEY_TESTS_UNIT_PROTO_CLASS_PAIR_H
#define COVEY_TESTS_UNIT_PROTO_CLASS_PAIR_H

#include "proto/class/door.h"
#include "proto/class/knock.h"

#define PAIR_SAID_MAX 4096

struct pair {
    struct knock knock;
    struct guest *guest;
    enum knock_event student; /* the last that was not MORE nor AGAIN, of each */
    enum guest_event teacher;
    uint8_t student_said[PAIR_SAID_MAX], teacher_said[PAIR_SAID_MAX];
    size_t student_size, teacher_size;
};

/* The student connects with that code. False: the class takes no more guests. */
bool pair_begin(struct pair *pair, struct door *door, const struct passcode *code, uint64_t now_ms);

/* Carries bytes to and fro until neither has any; true when something moved. */
bool pair_run(struct pair *pair, uint64_t now_ms);

void pair_end(struct pair *pair);

/* One whole try of a code; what the student learns at its end. */
enum knock_event pair_try(struct door *door, const struct passcode *code);

/* A code that is another one with the same label: how many there are, and the one at that place. */
#define PAIR_GUESSES (PASSCODE_WORDS / PASSCODE_LABELS * PASSCODE_NUMBERS)
struct passcode pair_guess(unsigned label, unsigned at);

#endif
