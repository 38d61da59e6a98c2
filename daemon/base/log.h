/*
 * log.h - the daemon's log: lines with the time, to a file or to standard error.
 */
#ifndef COVEY_DAEMON_LOG_H
#define COVEY_DAEMON_LOG_H

#include <stdint.h>
#include <sys/types.h>

#define LOG_BURST_LINES 10
#define LOG_BURST_US 10000000u

enum log_level { LOG_ERROR = 0, LOG_INFO = 1, LOG_DEBUG = 2 };

struct log {
    int fd;    /* < 0: lines are dropped */
    int level; /* lines above it are dropped */
    /* log_refused(): since when lines are counted, how many were written and how many left out */
    uint64_t burst_us;
    uint32_t burst_lines;
    uint64_t left_out;
    unsigned lost; /* lines that could not be written, on a full disk say: told with the next */
    int lost_error;
};

/* Appends to the file at `path`, made with mode 0600; NULL: standard error. Returns 0 or -errno. */
int log_open(struct log *log, const char *path, int level);
void log_close(struct log *log);

/* Reads what the file has from a place on, at most `size` bytes: *at is the place, which a negative
 * `from` counts from the end. Returns their number, 0 at the end, -ENOTSUP: there is no file. */
ssize_t log_read(const struct log *log, int64_t from, void *bytes, size_t size, uint64_t *at);

/* One line: the time, the level unless it is LOG_INFO, and the text. The newline is added, and
 * control characters in it are shown as '?'. */
__attribute__((format(printf, 3, 4))) void log_line(struct log *log, int level, const char *format,
                                                    ...);

/* A line of level error about what others did, who may do it as often as they like: at most
 * LOG_BURST_LINES in LOG_BURST_US; the next line that is written says how many were not. */
__attribute__((format(printf, 3, 4))) void log_refused(struct log *log, uint64_t now_us,
                                                       const char *format, ...);

/* The level of a name ("info"), -1 for an unknown one, and its name. */
int log_level_parse(const char *name);
const char *log_level_name(int level);

#endif
