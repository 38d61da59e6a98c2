/* links: tools/vm/log_source.c */
/* tool_logs_test.c - lines out of logs: whole however they come, with a time and a level. */
#include <CUnit/CUnit.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/unit/runner.h"
#include "tools/vm/log_source.h"

/* A log that comes in pieces of so many bytes. */
struct feed {
    const char *text;
    size_t size, at, piece;
    int result; /* where it ends: 0 or an error */
};

static int feed_read(void *context, char *bytes, size_t size)
{
    struct feed *f = context;
    size_t n = f->size - f->at < f->piece ? f->size - f->at : f->piece;
    n = n < size ? n : size;
    memcpy(bytes, f->text + f->at, n);
    f->at += n;
    return n > 0 ? (int)n : f->result;
}

static struct log_source *begin(struct feed *f, const char *text, size_t piece)
{
    struct log_source *s = calloc(1, sizeof *s);
    CU_ASSERT_PTR_NOT_NULL_FATAL(s);
    *f = (struct feed){.text = text, .size = strlen(text), .piece = piece};
    s->read = feed_read;
    s->context = f;
    return s;
}

#define T1 "2026-11-22 18:40:01.123 "
#define T2 "2026-11-22 18:40:02.000 "

static void expect_line(struct log_source *s, const char *said, enum log_level level)
{
    CU_ASSERT_EQUAL_FATAL(log_source_next(s, true), 1);
    CU_ASSERT_STRING_EQUAL(s->line.said, said);
    CU_ASSERT_EQUAL(s->line.level, level);
    s->has_line = false;
}

static void lines_are_whole(void)
{
    static const char text[] = T1 "one\n" T2 "error: two\nassertion\n" T2 "debug: three\n\nlast";
    for (size_t piece = 1; piece < sizeof text; piece++) {
        struct feed f;
        struct log_source *s = begin(&f, text, piece);
        expect_line(s, "one", LOG_LEVEL_INFO);
        expect_line(s, "error: two", LOG_LEVEL_ERROR);
        int64_t at_us = s->line.at_us;
        expect_line(s, "assertion", LOG_LEVEL_ERROR);
        CU_ASSERT_EQUAL(s->line.at_us, at_us); /* of the line before */
        expect_line(s, "debug: three", LOG_LEVEL_DEBUG);
        expect_line(s, "", LOG_LEVEL_ERROR);
        expect_line(s, "last", LOG_LEVEL_ERROR);
        CU_ASSERT_EQUAL(log_source_next(s, true), 0);
        free(s);
    }
}

/* Who follows waits for the end of a line; an error is passed on. */
static void half_a_line_waits(void)
{
    struct feed f;
    struct log_source *s = begin(&f, T1 "half", 100);
    CU_ASSERT_EQUAL(log_source_next(s, false), 0);
    f.text = " and half\n";
    f.size = strlen(f.text);
    f.at = 0;
    CU_ASSERT_EQUAL(log_source_next(s, false), 1);
    CU_ASSERT_STRING_EQUAL(s->line.said, "half and half");
    CU_ASSERT_EQUAL(log_source_next(s, false), 1); /* it was not taken */
    s->has_line = false;
    f.result = -3;
    CU_ASSERT_EQUAL(log_source_next(s, false), -3);
    free(s);
}

static void a_line_without_end_is_cut(void)
{
    static char text[3 * LOG_SOURCE_BYTES + 1];
    struct feed f;
    memset(text, 'x', sizeof text - 1);
    struct log_source *s = begin(&f, text, 1000);
    size_t lines = 0, bytes = 0;
    for (; log_source_next(s, true) == 1; lines++, s->has_line = false)
        bytes += strlen(s->line.text);
    CU_ASSERT(lines == 3 && bytes == sizeof text - 1);
    free(s);
}

static void times_are_shifted(void)
{
    struct feed f;
    struct log_source *s = begin(&f, T1 "one\n", 100);
    s->ahead_us = -3600000000;
    CU_ASSERT_EQUAL_FATAL(log_source_next(s, true), 1);
    struct tm tm = {.tm_year = 126, .tm_mon = 10, .tm_mday = 22, .tm_hour = 17, .tm_min = 40};
    CU_ASSERT_EQUAL(s->line.at_us, ((int64_t)timegm(&tm) + 1) * 1000000 + 123000);
    free(s);
}

static void times_that_are_none(void)
{
    int64_t at_us;
    CU_ASSERT_TRUE(log_time_parse(T1, &at_us));
    CU_ASSERT_FALSE(log_time_parse("", &at_us));
    CU_ASSERT_FALSE(log_time_parse("2026-11-22 18:40:01.123", &at_us));
    CU_ASSERT_FALSE(log_time_parse("2026-11-22T18:40:01.123 ", &at_us));
    CU_ASSERT_FALSE(log_time_parse("+026-11-22 18:40:01.123 ", &at_us));
    CU_ASSERT_TRUE(log_time_parse("9999-99-99 99:99:99.999 ", &at_us)); /* odd, and harmless */
}

static void since(void)
{
    const int64_t now_us = 1795372801000000;
    int64_t at_us;
    CU_ASSERT(log_since_parse("90s", now_us, &at_us) && at_us == now_us - 90000000);
    CU_ASSERT(log_since_parse("2h", now_us, &at_us) && at_us == now_us - 7200000000);
    CU_ASSERT(log_since_parse("3d", now_us, &at_us));
    CU_ASSERT(log_since_parse("2026-11-22 18:40", now_us, &at_us));
    struct tm tm;
    time_t at = (time_t)(at_us / 1000000);
    localtime_r(&at, &tm);
    CU_ASSERT(tm.tm_hour == 18 && tm.tm_min == 40 && tm.tm_mday == 22 && tm.tm_sec == 0);
    CU_ASSERT(log_since_parse("18:40:05", now_us, &at_us));
    at = (time_t)(at_us / 1000000);
    localtime_r(&at, &tm);
    CU_ASSERT(tm.tm_hour == 18 && tm.tm_sec == 5);
    static const char *const bad[] = {"", "x", "10", "10x", "-5m", "2026-11-22x", "5m ", "25:00"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        CU_ASSERT_FALSE(log_since_parse(bad[i], now_us, &at_us));
}

static void levels(void)
{
    CU_ASSERT_EQUAL(log_level_of_name("error"), LOG_LEVEL_ERROR);
    CU_ASSERT_EQUAL(log_level_of_name("debug"), LOG_LEVEL_DEBUG);
    CU_ASSERT_EQUAL(log_level_of_name("warning"), -1);
}

static const struct test_case cases[] = {
    {"lines are whole", lines_are_whole},
    {"half a line waits", half_a_line_waits},
    {"a line without end is cut", a_line_without_end_is_cut},
    {"times are shifted", times_are_shifted},
    {"times that are none", times_that_are_none},
    {"since", since},
    {"levels", levels},
};

int main(void)
{
    return covey_test_main("tool_logs", cases, sizeof cases / sizeof cases[0]);
}
