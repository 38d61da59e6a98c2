/*
 * log_source.c - lines of logs. Whatever is in a log, a line comes out of it: one that has no time
 * is of a library or of a failed assertion, and belongs to the line before.
 */
#include "tools/vm/log_source.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char *const level_names[] = {"error", "info", "debug"};

int log_level_of_name(const char *name)
{
    for (int i = LOG_LEVEL_ERROR; i <= LOG_LEVEL_DEBUG; i++)
        if (strcmp(name, level_names[i]) == 0)
            return i;
    return -1;
}

/* ---- times ---- */

static bool has_form(const char *text, const char *form)
{
    for (; *form; text++, form++) {
        if (*form == 'd' ? !isdigit((unsigned char)*text) : *text != *form)
            return false;
    }
    return true;
}

bool log_time_parse(const char *text, int64_t *at_us)
{
    struct tm tm = {0};
    int ms;
    if (!has_form(text, "dddd-dd-dd dd:dd:dd.ddd ") ||
        sscanf(text, "%4d-%2d-%2d %2d:%2d:%2d.%3d", &tm.tm_year, &tm.tm_mon, &tm.tm_mday,
               &tm.tm_hour, &tm.tm_min, &tm.tm_sec, &ms) != 7)
        return false;
    tm.tm_year -= 1900;
    tm.tm_mon--;
    *at_us = (int64_t)timegm(&tm) * 1000000 + (int64_t)ms * 1000;
    return true;
}

/* "10m" */
static bool parse_ago(const char *text, int64_t *ago_us)
{
    static const struct {
        char unit;
        int64_t seconds;
    } units[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}};
    char *end;
    if (!isdigit((unsigned char)*text))
        return false;
    long number = strtol(text, &end, 10);
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (end[0] == units[i].unit && end[1] == '\0' && number < 1000000) {
            *ago_us = number * units[i].seconds * 1000000;
            return true;
        }
    }
    return false;
}

bool log_since_parse(const char *text, int64_t now_us, int64_t *at_us)
{
    static const char *const forms[] = {"%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%d",
                                        "%H:%M:%S", "%H:%M"};
    time_t now = (time_t)(now_us / 1000000);
    int64_t ago_us;
    if (parse_ago(text, &ago_us)) {
        *at_us = now_us - ago_us;
        return true;
    }
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        struct tm tm;
        localtime_r(&now, &tm); /* the day, where the form has none */
        tm.tm_hour = tm.tm_min = tm.tm_sec = 0;
        const char *end = strptime(text, forms[i], &tm);
        if (!end || *end)
            continue;
        tm.tm_isdst = -1;
        *at_us = (int64_t)mktime(&tm) * 1000000;
        return true;
    }
    return false;
}

/* ---- lines ---- */

static void parse_line(struct log_source *source, const char *text)
{
    struct log_line *line = &source->line;
    int64_t at_us;
    line->text = line->said = text;
    line->level = LOG_LEVEL_ERROR;
    if (!log_time_parse(text, &at_us))
        return;
    line->at_us = at_us + source->ahead_us;
    line->said = text + LOG_TIME_BYTES;
    line->level = strncmp(line->said, "error: ", 7) == 0   ? LOG_LEVEL_ERROR
                  : strncmp(line->said, "debug: ", 7) == 0 ? LOG_LEVEL_DEBUG
                                                           : LOG_LEVEL_INFO;
}

/* What came becomes the next line if it has an end, or is longer than any line. */
static bool cut_line(struct log_source *source, bool end)
{
    char *at = source->bytes + source->from;
    size_t size = source->used - source->from;
    char *stop = size > 0 ? memchr(at, '\n', size) : NULL;
    if (!stop && (size == 0 || (!end && size < LOG_SOURCE_BYTES)))
        return false;
    size_t length = stop ? (size_t)(stop - at) : size;
    source->from += length + (stop != NULL);
    at[length] = '\0';
    parse_line(source, at);
    source->has_line = true;
    return true;
}

int log_source_next(struct log_source *source, bool end)
{
    if (source->has_line || cut_line(source, false))
        return 1;
    for (;;) {
        memmove(source->bytes, source->bytes + source->from, source->used - source->from);
        source->used -= source->from;
        source->from = 0;
        int n = source->read(source->context, source->bytes + source->used,
                             LOG_SOURCE_BYTES - source->used);
        if (n <= 0)
            return n < 0 ? n : cut_line(source, end);
        source->used += (size_t)n;
        if (cut_line(source, false))
            return 1;
    }
}
