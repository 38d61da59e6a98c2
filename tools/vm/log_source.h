/*
 * The log of one host, read line by line, and several of them as one: each line begins with the
 * time of its host, which becomes the time here.
 */
#ifndef COVEY_TOOLS_LOG_SOURCE_H
#define COVEY_TOOLS_LOG_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG };

/* The number of "error", "info" or "debug"; -1: of another word. */
int log_level_of_name(const char *name);

struct log_line {
    const char *text; /* the whole line, without its end; as long as the next one is not taken */
    const char *said; /* what stands behind the time */
    int64_t at_us; /* since 1970, by the clock here; of a line without a time, of the one before */
    enum log_level level;
};

/* Brings the next bytes; 0: there are no more yet; < 0: they cannot be read, and it was said why.
 */
typedef int log_read_fn(void *context, char *bytes, size_t size);

enum { LOG_SOURCE_BYTES = 65536 };

struct log_source {
    log_read_fn *read;
    void *context;
    int64_t ahead_us; /* what must be added to its times, read as UTC */
    struct log_line line;
    bool has_line;
    size_t from, used; /* in bytes */
    char bytes[LOG_SOURCE_BYTES + 1];
};

/* Sees to it that `line` is the next one, if has_line was false. Returns 1, 0: there is no whole
 * line yet, < 0 as read(). `end`: what remains without an end of line is a line, too. */
int log_source_next(struct log_source *source, bool end);

/* "2026-11-22 18:40:01.123 " as microseconds since 1970, as if it were UTC; false: that is no such
 * time. */
bool log_time_parse(const char *text, int64_t *at_us);
#define LOG_TIME_BYTES 24

/* "90s", "10m", "2h", "3d": so long before now; or "2026-11-22 18:40:01", or less of it, here.
 * False: it is neither. */
bool log_since_parse(const char *text, int64_t now_us, int64_t *at_us);

#endif
