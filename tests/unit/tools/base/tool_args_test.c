/* links: tools/base/args.c tools/base/words.c tools/base/tid.c */
#include <CUnit/CUnit.h>
#include <stdio.h>

#include "tests/unit/runner.h"
#include "tools/base/args.h"
#include "tools/base/tid.h"
#include "tools/base/words.h"

static const struct args_option options[] = {{"json", 'j', NULL, "as JSON"},
                                             {"tasks", 'n', "N", "how many"},
                                             {"address", 1000, "ADDRESS", "of a host"},
                                             {NULL, 0, NULL, NULL}};

static struct args args_of(char **argv)
{
    struct args args;
    int argc = 0;
    while (argv[argc])
        argc++;
    args_init(&args, options, argc, argv);
    return args;
}

#define ARGS(...) args_of((char *[]){"command", __VA_ARGS__, NULL})

static void expect(struct args *args, int key, const char *value)
{
    CU_ASSERT_EQUAL(args_next(args), key);
    if (value)
        CU_ASSERT_STRING_EQUAL(args->value, value);
}

static void test_options_and_operands_mix(void)
{
    struct args args =
        ARGS("h1", "--json", "-n", "4", "h2", "-n5", "--tasks=6", "--address", "::1");
    expect(&args, ARGS_OPERAND, "h1");
    expect(&args, 'j', NULL);
    expect(&args, 'n', "4");
    expect(&args, ARGS_OPERAND, "h2");
    expect(&args, 'n', "5");
    expect(&args, 'n', "6");
    expect(&args, 1000, "::1");
    expect(&args, ARGS_END, NULL);
    expect(&args, ARGS_END, NULL);
}

static void test_double_dash_ends_options(void)
{
    struct args args = ARGS("-j", "--", "--json", "-n");
    expect(&args, 'j', NULL);
    expect(&args, ARGS_OPERAND, "--json");
    expect(&args, ARGS_OPERAND, "-n");
    expect(&args, ARGS_END, NULL);
}

static void test_single_dash_and_empty_words_are_operands(void)
{
    struct args args = ARGS("-", "");
    expect(&args, ARGS_OPERAND, "-");
    expect(&args, ARGS_OPERAND, "");
    struct args ended = ARGS("--");
    expect(&ended, ARGS_END, NULL);
}

static void expect_refusal(struct args args, const char *error)
{
    CU_ASSERT_EQUAL(args_next(&args), ARGS_BAD);
    CU_ASSERT_STRING_EQUAL(args.error, error);
}

static void test_refusals_name_the_word(void)
{
    expect_refusal(ARGS("--jsn"), "--jsn: unknown option");
    expect_refusal(ARGS("--jsonx=1"), "--jsonx: unknown option");
    expect_refusal(ARGS("-x"), "-x: unknown option");
    expect_refusal(ARGS("--json=yes"), "--json: takes no value");
    expect_refusal(ARGS("-jn"), "-jn: takes no value");
    expect_refusal(ARGS("--tasks"), "--tasks needs a value (N)");
}

static void test_number_takes_the_whole_text(void)
{
    long n = 7;
    CU_ASSERT_TRUE(args_number("12", 1, 12, &n));
    CU_ASSERT_EQUAL(n, 12);
    const char *const bad[] = {"", "x", "1x", "0", "13", "-1", "99999999999999999999"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CU_ASSERT_FALSE(args_number(bad[i], 1, 12, &n));
    CU_ASSERT_EQUAL(n, 12);
}

static void test_size_takes_units(void)
{
    int64_t size = 7;
    CU_ASSERT_TRUE(args_size("64K", 65536, &size));
    CU_ASSERT_EQUAL(size, 65536);
    CU_ASSERT_TRUE(args_size("8589934591G", INT64_MAX, &size));
    CU_ASSERT_EQUAL(size, (int64_t)8589934591 << 30);
    const char *const bad[] = {"",    "K",   "0",    "-1K", "1k",
                               "1KB", "65K", "1.5K", "1T",  "99999999999999G"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CU_ASSERT_FALSE(args_size(bad[i], 65536, &size));
    CU_ASSERT_FALSE(args_size("99999999999999G", INT64_MAX, &size));
    CU_ASSERT_EQUAL(size, (int64_t)8589934591 << 30);
}

static void test_real_takes_no_nan(void)
{
    double number = 7;
    CU_ASSERT_TRUE(args_real("-2.5e1", -25, 25, &number));
    CU_ASSERT_EQUAL(number, -25);
    const char *const bad[] = {"", "x", "1x", "26", "nan", "inf", "1 2"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CU_ASSERT_FALSE(args_real(bad[i], -25, 25, &number));
    CU_ASSERT_EQUAL(number, -25);
}

static void expect_words(const char *line, const char *joined)
{
    struct words words;
    const char *why;
    char text[256] = "";
    size_t used = 0;
    CU_ASSERT_EQUAL_FATAL(words_split(&words, line, &why), 0);
    for (int i = 0; i < words.count; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s|", words.list[i]);
    CU_ASSERT_STRING_EQUAL(text, joined);
    CU_ASSERT_PTR_NULL(words.list[words.count]);
    words_free(&words);
}

static void test_words(void)
{
    expect_words("", "");
    expect_words("  # only a comment", "");
    expect_words("run -n 4\thostname\n", "run|-n|4|hostname|");
    expect_words("a#b # c", "a#b|");
    expect_words("sh -c 'echo \"a  b\"'", "sh|-c|echo \"a  b\"|");
    expect_words("\"a \\\"b\\\\\" x\\ y '' z\\", "a \"b\\|x y||z\\|");
    expect_words("t=\"ip netns\"' exec'", "t=ip netns exec|");
}

static void test_open_quote_is_refused(void)
{
    struct words words;
    const char *why = NULL;
    CU_ASSERT_EQUAL(words_split(&words, "a 'b", &why), -1);
    CU_ASSERT_STRING_EQUAL(why, "a quote is not closed");
    CU_ASSERT_EQUAL(words_split(&words, "\"b\\", &why), -1);
    CU_ASSERT_PTR_NULL(words.list);
}

static void test_tid_is_read_as_it_is_printed(void)
{
    char text[TID_TEXT_BYTES];
    CU_ASSERT_STRING_EQUAL(tid_format(0x40001, text), "t40001");
    CU_ASSERT_EQUAL(tid_parse("t40001"), 0x40001);
    CU_ASSERT_EQUAL(tid_parse("0x40001"), 0x40001);
    CU_ASSERT_EQUAL(tid_parse("262145"), 0x40001);
    CU_ASSERT_EQUAL(tid_parse(tid_format(INT32_MAX, text)), INT32_MAX);
}

static void test_tid_refuses_what_is_none(void)
{
    const char *const bad[] = {"",          "t",          "0",      "t0",    "t-1",
                               "-1",        "12a",        "t4000g", "t0x12", "0x0x1",
                               "t80000000", "4294967297", "0x",     " 1",    "t 1"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CU_ASSERT_EQUAL(tid_parse(bad[i]), 0);
}

int main(void)
{
    static const struct test_case cases[] = {
        {"options and operands may be mixed", test_options_and_operands_mix},
        {"-- ends the options", test_double_dash_ends_options},
        {"a single dash and an empty word are operands",
         test_single_dash_and_empty_words_are_operands},
        {"a refusal names the word", test_refusals_name_the_word},
        {"a number is the whole text and within its bounds", test_number_takes_the_whole_text},
        {"a size has a unit, and does not overflow", test_size_takes_units},
        {"a number with a fraction is within its bounds", test_real_takes_no_nan},
        {"a line is split into words", test_words},
        {"a quote that is not closed is refused", test_open_quote_is_refused},
        {"a tid is read as it is printed", test_tid_is_read_as_it_is_printed},
        {"what is no tid is refused", test_tid_refuses_what_is_none},
    };
    return covey_test_main("tool_args", cases, sizeof cases / sizeof cases[0]);
}
