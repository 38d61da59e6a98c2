/*
 * The part of whoever waits at ready_fd: it is told once whether this host has joined, or why it
 * has not. Until then the daemon looks now and then whether anybody still waits: one whose launcher
 * is gone before it has joined ends, for the VM that wanted it may be gone, too.
 */
#include "daemon/root/ready.h"

#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "daemon/table/ending.h"

#define LOOK_US 500000u

struct ready {
    struct loop_timer *look;
};

/* The other end of a pipe or a socket is closed; a file or a terminal has none. */
static bool nobody_reads(int fd)
{
    struct pollfd end = {.fd = fd};
    return poll(&end, 1, 0) > 0 && (end.revents & (POLLERR | POLLHUP)) != 0;
}

static void on_look(void *context)
{
    struct daemon *d = context;
    loop_timer_start(d->own.ready->look, LOOK_US);
    if (nobody_reads(d->ready_fd))
        ending_begin(d, ENDING_FAILED, "its launcher ended before this host had joined");
}

static int ready_create(struct daemon *d, struct failure *why)
{
    d->own.ready->look = loop_timer_add(d->loop, on_look, d);
    if (d->own.ready->look == NULL)
        return failure_memory(why);
    if (d->ready_fd >= 0)
        loop_timer_start(d->own.ready->look, LOOK_US);
    return 0;
}

static void ready_close(struct daemon *d)
{
    if (d->own.ready != NULL)
        loop_timer_remove(&d->own.ready->look);
    if (d->ready_fd >= 0)
        close(d->ready_fd);
    d->ready_fd = -1;
}

void ready_tell(struct daemon *d, const char *format, ...)
{
    if (d->ready_fd < 0)
        return;
    va_list list;
    va_start(list, format);
    vdprintf(d->ready_fd, format, list);
    va_end(list);
    if (write(d->ready_fd, "\n", 1) < 0)
        log_line(&d->log, LOG_DEBUG, "nobody waits for this daemon to be ready");
    ready_close(d);
}

static void ready_joined(struct daemon *d)
{
    if (d->options->born)
        setsid(); /* from now on it has a part of the processors of its own */
    ready_tell(d, "ok %u", daemon_host(d));
}

static void ready_ending(struct daemon *d, enum part_ending event, const char *text)
{
    if (event == PART_ENDING_BEGINS)
        ready_tell(d, "%s", text);
}

const struct part ready_part = {.name = "ready",
                                .state_bytes = sizeof(struct ready),
                                .create = ready_create,
                                .destroy = ready_close,
                                .joined = ready_joined,
                                .ending = ready_ending};
