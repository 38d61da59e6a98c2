/*
 * passcode.h - the code of a class, which a teacher shows and students type: a word and four
 * digits, MAPLE-4821. There are 512 words, in 64 families of eight: the *label*.
 *
 * The label goes over the network in the open: by it a student's machine finds the right one of
 * several classes, a code with another word costs no other class one of its tries, and a code that
 * is void is not tried at the one that has replaced it. All of the code is the password of the
 * exchange (cpace.h). Who knows the label has to guess one of 8 x 10,000 codes, and has three tries
 * at each (door.h).
 */
#ifndef COVEY_PROTO_PASSCODE_H
#define COVEY_PROTO_PASSCODE_H

#include <stdbool.h>
#include <stdint.h>

#define PASSCODE_WORDS 512
#define PASSCODE_NUMBERS 10000
#define PASSCODE_LABELS 64
#define PASSCODE_TEXT_MAX 16

struct passcode {
    uint16_t word;   /* < PASSCODE_WORDS */
    uint16_t number; /* < PASSCODE_NUMBERS */
};

extern const char *const passcode_words[PASSCODE_WORDS];

/* Any code of a label, by 64 random bits; the same for the same ones. */
struct passcode passcode_make(unsigned label, uint64_t random);

unsigned passcode_label(const struct passcode *code);

/* As it is shown, and as it is the password. */
void passcode_print(const struct passcode *code, char text[PASSCODE_TEXT_MAX]);

enum passcode_fault {
    PASSCODE_GOOD,
    PASSCODE_NO_SHAPE, /* not a word and four digits */
    PASSCODE_NO_WORD   /* the word is none of ours */
};

/* Reads what people type: in small letters, with a blank or nothing in the place of the dash. The
 * code is set only when it is good. */
enum passcode_fault passcode_parse(const char *text, struct passcode *code);

#endif
