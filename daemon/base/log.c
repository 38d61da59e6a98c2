/*
 * log.c - each line is one write, so that lines of several writers do not mix. A full disk does not
 * stop the daemon: lines are then counted, and the number is told when there is room. What
 * strangers cause is written at most so often (log_refused()), for a log must not fill a disk.
 */
#include "daemon/base/log.h"
#include "proto/wire/format.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define LINE_BYTES 1024

static const char *const level_names[] = {"error", "info", "debug"};

int log_open(struct log *log, const char *path, int level)
{
    *log = (struct log){.level = level};
    log->fd = path == NULL ? STDERR_FILENO
                           : open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    return log->fd < 0 ? -errno : 0;
}

void log_close(struct log *log)
{
    if (log->fd > STDERR_FILENO)
        close(log->fd);
    log->fd = -1;
}

ssize_t log_read(const struct log *log, int64_t from, void *bytes, size_t size, uint64_t *at)
{
    struct stat st;
    if (log->fd <= STDERR_FILENO)
        return -ENOTSUP;
    if (fstat(log->fd, &st) != 0)
        return -errno;
    int64_t end = st.st_size, place = from >= 0 ? from : from < -end ? 0 : end + from;
    *at = (uint64_t)(place < end ? place : end);
    ssize_t n = pread(log->fd, bytes, size, (off_t)*at);
    return n < 0 ? -errno : n;
}

static size_t log_stamp(char *text, size_t size)
{
    struct timespec now;
    struct tm local;
    clock_gettime(CLOCK_REALTIME, &now);
    localtime_r(&now.tv_sec, &local);
    size_t used = strftime(text, size, "%Y-%m-%d %H:%M:%S", &local);
    return used + (size_t)snprintf(text + used, size - used, ".%03ld ", now.tv_nsec / 1000000);
}

/* What is logged may come from a peer: it must not forge lines or drive a terminal. */
static void log_clean(char *text)
{
    for (; *text != '\0'; text++)
        if ((unsigned char)*text < ' ' || *text == 127)
            *text = '?';
}

/* A line of which the disk took but a part is lost, and its rest ends the line. */
static bool log_write(struct log *log, char *text, size_t size)
{
    text[size] = '\n';
    ssize_t n = write(log->fd, text, size + 1);
    if (n == (ssize_t)size + 1)
        return true;
    log->lost++;
    log->lost_error = n < 0 ? errno : ENOSPC;
    return false; /* a full disk must not stop the daemon */
}

static void log_tell_lost(struct log *log)
{
    char text[LINE_BYTES] = "\n"; /* the last line may have been torn */
    size_t used = 1 + log_stamp(text + 1, sizeof text - 1);
    unsigned lost = log->lost;
    int n = snprintf(text + used, sizeof text - used, "%u lines could not be written: %s", lost,
                     strerror(log->lost_error));
    if (log_write(log, text, used + (size_t)n))
        log->lost = 0;
    else
        log->lost = lost;
}

void log_line(struct log *log, int level, const char *format, ...)
{
    if (log->fd < 0 || level > log->level)
        return;
    if (log->lost > 0)
        log_tell_lost(log);
    char text[LINE_BYTES];
    size_t used = log_stamp(text, sizeof text);
    if (level != LOG_INFO)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s: ", log_level_name(level));
    FORMAT(text + used, sizeof text - used - 1, format);
    log_clean(text + used);
    log_write(log, text, strlen(text));
}

static bool burst_over(struct log *log, uint64_t now_us)
{
    if (now_us >= log->burst_us + LOG_BURST_US || log->burst_us == 0) {
        log->burst_us = now_us;
        log->burst_lines = 0;
    }
    return log->burst_lines >= LOG_BURST_LINES;
}

void log_refused(struct log *log, uint64_t now_us, const char *format, ...)
{
    char text[1024];
    if (burst_over(log, now_us)) {
        log->left_out++;
        return;
    }
    FORMAT(text, sizeof text, format);
    if (log->left_out > 0)
        log_line(log, LOG_ERROR, "%llu refusals were not logged",
                 (unsigned long long)log->left_out);
    log->left_out = 0;
    log->burst_lines++;
    log_line(log, LOG_ERROR, "%s", text);
}

int log_level_parse(const char *name)
{
    for (int level = LOG_ERROR; level <= LOG_DEBUG; level++)
        if (strcmp(name, level_names[level]) == 0)
            return level;
    return -1;
}

const char *log_level_name(int level)
{
    return level >= LOG_ERROR && level <= LOG_DEBUG ? level_names[level] : "unknown";
}
