/*
 * Packet sockets of tasks: see daemon/link/raw_socket.c for what they receive, and who may have
 * them.
 */
#include "daemon/post/direct.h"

#include "daemon/link/segment.h"
#include "daemon/table/task.h"

int direct_open(struct daemon *d, const struct task *task)
{
    struct failure why;
    int fd = segment_socket(d, task->tid, &why);
    if (fd < 0)
        log_refused(&d->log, loop_now_us(), "no packet socket for t%x: %s", task->tid, why.text);
    return fd;
}
