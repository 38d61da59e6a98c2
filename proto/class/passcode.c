/*
 * passcode.c - the code of a class as a number of a word and four digits, printed and read.
 */
#include "proto/class/passcode.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define FAMILY (PASSCODE_WORDS / PASSCODE_LABELS)
#define DIGITS 4

struct passcode passcode_make(unsigned label, uint64_t random)
{
    /* What a remainder of 64 bits prefers is beyond measure. */
    uint64_t at = random % ((uint64_t)FAMILY * PASSCODE_NUMBERS);
    return (struct passcode){
        .word = (uint16_t)(at / PASSCODE_NUMBERS * PASSCODE_LABELS + label % PASSCODE_LABELS),
        .number = (uint16_t)(at % PASSCODE_NUMBERS)};
}

unsigned passcode_label(const struct passcode *code)
{
    return code->word % PASSCODE_LABELS;
}

void passcode_print(const struct passcode *code, char text[PASSCODE_TEXT_MAX])
{
    snprintf(text, PASSCODE_TEXT_MAX, "%s-%04u", passcode_words[code->word % PASSCODE_WORDS],
             code->number % PASSCODE_NUMBERS);
}

/* Its place in the list, or -1. */
static int word_find(const char *word)
{
    for (int i = 0; i < PASSCODE_WORDS; i++)
        if (strcasecmp(word, passcode_words[i]) == 0)
            return i;
    return -1;
}

enum passcode_fault passcode_parse(const char *text, struct passcode *code)
{
    char word[PASSCODE_TEXT_MAX];
    size_t letters = 0;
    unsigned number = 0;
    while (isspace((unsigned char)*text))
        text++;
    for (; isalpha((unsigned char)text[letters]); letters++)
        if (letters + 1 == sizeof word)
            return PASSCODE_NO_SHAPE;
    snprintf(word, sizeof word, "%.*s", (int)letters, text);
    text += letters;
    while (*text == '-' || *text == ' ')
        text++;
    for (int i = 0; i < DIGITS; i++, text++) {
        if (!isdigit((unsigned char)*text))
            return PASSCODE_NO_SHAPE;
        number = 10 * number + (unsigned)(*text - '0');
    }
    while (isspace((unsigned char)*text))
        text++;
    if (letters == 0 || *text != '\0')
        return PASSCODE_NO_SHAPE;
    int at = word_find(word);
    if (at < 0)
        return PASSCODE_NO_WORD;
    *code = (struct passcode){.word = (uint16_t)at, .number = (uint16_t)number};
    return PASSCODE_GOOD;
}
