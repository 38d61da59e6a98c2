/* links: proto/class/passcode.c proto/class/passcode_words.c */
/*
 * passcode_test.c - codes of classes: made, printed, and read as people type them.
 */
#include "proto/class/passcode.h"

#include <CUnit/CUnit.h>
#include <ctype.h>
#include <string.h>

#include "tests/unit/runner.h"

static void words_are_short_and_all_different(void)
{
    for (int i = 0; i < PASSCODE_WORDS; i++) {
        const char *word = passcode_words[i];
        CU_ASSERT_PTR_NOT_NULL_FATAL(word);
        CU_ASSERT(strlen(word) >= 3 && strlen(word) <= 8);
        for (const char *at = word; *at != '\0'; at++)
            CU_ASSERT(isupper((unsigned char)*at));
        CU_ASSERT(i == 0 || strcmp(passcode_words[i - 1], word) < 0);
    }
}

static void every_code_of_a_label_is_made_once(void)
{
    static uint8_t seen[PASSCODE_WORDS][PASSCODE_NUMBERS];
    unsigned count = PASSCODE_WORDS / PASSCODE_LABELS * PASSCODE_NUMBERS, twice = 0, other = 0;
    for (unsigned i = 0; i < count; i++) {
        struct passcode code = passcode_make(17, i);
        CU_ASSERT_FATAL(code.word < PASSCODE_WORDS && code.number < PASSCODE_NUMBERS);
        twice += seen[code.word][code.number]++ != 0;
        other += passcode_label(&code) != 17;
    }
    CU_ASSERT_EQUAL(twice, 0);
    CU_ASSERT_EQUAL(other, 0);
    struct passcode code = passcode_make(PASSCODE_LABELS - 1, UINT64_MAX);
    CU_ASSERT(code.word < PASSCODE_WORDS && code.number < PASSCODE_NUMBERS);
}

static void what_is_printed_is_read(void)
{
    for (unsigned i = 0; i < PASSCODE_WORDS; i++) {
        struct passcode code = {.word = (uint16_t)i, .number = (uint16_t)(i * 19)}, got = {0};
        char text[PASSCODE_TEXT_MAX];
        passcode_print(&code, text);
        CU_ASSERT_EQUAL(passcode_parse(text, &got), PASSCODE_GOOD);
        CU_ASSERT(got.word == code.word && got.number == code.number);
    }
}

static void people_type_it_in_many_ways(void)
{
    static const char *const ways[] = {"MAPLE-0042", "maple-0042",   "Maple 0042",
                                       "maple0042",  " MAPLE-0042 ", "maple - 0042\n"};
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        struct passcode code = {0};
        CU_ASSERT_EQUAL(passcode_parse(ways[i], &code), PASSCODE_GOOD);
        CU_ASSERT_STRING_EQUAL(passcode_words[code.word], "MAPLE");
        CU_ASSERT_EQUAL(code.number, 42);
    }
}

static void what_is_no_code_is_refused(void)
{
    static const char *const bad[] = {"",
                                      "MAPLE",
                                      "MAPLE-",
                                      "MAPLE-123",
                                      "MAPLE-12345",
                                      "1234",
                                      "-1234",
                                      "MAPLE-12a4",
                                      "MAPLE_1234",
                                      "MAPLE-1234x",
                                      "MA PLE-1234",
                                      "MAPLE--12",
                                      "MAPLEMAPLEMAPLEMAPLE-1234"};
    struct passcode code = {.word = 7, .number = 7};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        CU_ASSERT_EQUAL(passcode_parse(bad[i], &code), PASSCODE_NO_SHAPE);
    CU_ASSERT_EQUAL(passcode_parse("MAPEL-1234", &code), PASSCODE_NO_WORD);
    CU_ASSERT(code.word == 7 && code.number == 7);
}

int main(void)
{
    static const struct test_case cases[] = {
        {"words are short and all different", words_are_short_and_all_different},
        {"every code of a label is made once", every_code_of_a_label_is_made_once},
        {"what is printed is read", what_is_printed_is_read},
        {"people type it in many ways", people_type_it_in_many_ways},
        {"what is no code is refused", what_is_no_code_is_refused},
    };
    return covey_test_main("passcode", cases, sizeof cases / sizeof cases[0]);
}
