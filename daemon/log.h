/*
 * log.h - the daemon's log: lines with the time, to a file or to standard error.
 */
#ifndef COVEY_DAEMON_LOG_H
#define COVEY_DAEMON_LOG_H

enum log_level { LOG_ERROR = 0, LOG_INFO = 1, LOG_DEBUG = 2 };

struct log {
    int fd;    /* < 0: lines are dropped */
    int level; /* lines above it are dropped */
};

/* Appends to the file at `path`, made with mode 0600; NULL: standard error. Returns 0 or -errno. */
int log_open(struct log *log, const char *path, int level);
void log_close(struct log *log);

/* One line; the newline is added, and control characters in it are shown as '?'. */
__attribute__((format(printf, 3, 4))) void log_line(const struct log *log, int level,
                                                    const char *format, ...);

/* The level of a name ("info"), -1 for an unknown one, and its name. */
int log_level_parse(const char *name);
const char *log_level_name(int level);

#endif
