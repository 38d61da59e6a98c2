#include "daemon/root/ready.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "daemon/table/ending.h"

#define LOOK_US 500000u

/* The other end of a pipe or a socket is closed; a file or a terminal has none. */
static bool nobody_reads(int fd)
{
    struct pollfd end = {.fd = fd};
    return poll(&end, 1, 0) > 0 && (end.revents & (POLLERR | POLLHUP)) != 0;
}

static void on_look(void *context)
{
    struct daemon *d = context;
    loop_timer_start(d->ready_look, LOOK_US);
    if (nobody_reads(d->ready_fd))
        ending_begin(d, ENDING_FAILED, "its launcher ended before this host had joined");
}

int ready_watch(struct daemon *d)
{
    if (d->ready_fd < 0)
        return 0;
    d->ready_look = loop_timer_add(d->loop, on_look, d);
    if (d->ready_look == NULL)
        return -ENOMEM;
    loop_timer_start(d->ready_look, LOOK_US);
    return 0;
}

void ready_close(struct daemon *d)
{
    loop_timer_remove(&d->ready_look);
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
