/*
 * intake.c - what tasks send: their streams are read, and each frame goes to post.c at once. A
 * task is not read while what it sends has to wait (connection_hold()): so the sender waits, and
 * not the daemon's memory grows. A task whose stream ends has left; what that means, the parts
 * know.
 */
#include "daemon/post/intake.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "daemon/post/introduction.h"
#include "daemon/post/post.h"
#include "daemon/table/budget.h"
#include "daemon/table/connection.h"
#include "lib/link/ledger.h"
#include "lib/link/stream.h"

#define DRAIN_ROUNDS_MAX 64 /* a grandchild may hold the stream and go on writing */

/* Why reading stopped, beside what stream_read() itself returns. */
enum { READ_BLOCKED = 1, READ_LEFT = 2, READ_REFUSED = 3 };

/* ---- reading ---- */

static int on_task_frame(void *context, const struct frame *frame, const uint8_t *payload, int *fds,
                         int nfds)
{
    struct task *task = context;
    struct daemon *d = task->daemon;
    d->counters.frames_from_tasks++;
    d->counters.bytes_from_tasks += frame->length;
    int result = READ_LEFT;
    if (frame->kind != FRAME_LEAVE)
        result = post_from_task(task, frame, payload, fds, nfds) ? 0 : READ_REFUSED;
    files_close(fds, nfds);
    return result == 0 && task->way.blocked.any && !task->end.reaped ? READ_BLOCKED : result;
}

static void intake_end(struct task *task, int result)
{
    struct daemon *d = task->daemon;
    d->counters.streams_refused += result == STREAM_BROKEN || result == READ_REFUSED;
    if (result == STREAM_BROKEN)
        log_refused(&d->log, loop_now_us(), "t%x: disconnected: %s", task->tid,
                    stream_error(task->way.stream));
    else if (result == READ_REFUSED)
        log_refused(&d->log, loop_now_us(), "t%x: disconnected: it broke the protocol", task->tid);
    task->end.left = result == READ_LEFT;
    connection_close(task);
    parts_task_closed(d, task);
}

void intake_read(struct task *task)
{
    int result = stream_read(task->way.stream, on_task_frame, task);
    if (task->way.stream != NULL) /* all that was read has been passed on: other ways are open */
        ledger_set_taken(task->way.ledger, stream_done_bytes(task->way.stream),
                         task->daemon->tasks->stamp);
    if (result == READ_BLOCKED)
        connection_mark(task); /* it is no longer watched for reading */
    else if (result != 0)
        intake_end(task, result);
}

static void on_stream(void *context, int events)
{
    struct task *task = context;
    if (events & LOOP_WRITE)
        connection_flush(task);
    if (events & LOOP_READ)
        intake_read(task);
}

void intake_drain(struct task *task)
{
    task->way.blocked.any = false;
    for (int round = 0; task->way.stream != NULL && round < DRAIN_ROUNDS_MAX; round++) {
        struct pollfd readable = {.fd = stream_fd(task->way.stream), .events = POLLIN};
        if (stream_read(task->way.stream, on_task_frame, task) != 0 || poll(&readable, 1, 0) <= 0)
            break;
    }
    connection_close(task);
}

/* ---- the beginning ---- */

int intake_attach(struct task *task, struct stream *stream, int *ledger_fd)
{
    struct daemon *d = task->daemon;
    task->way.ledger = ledger_create(ledger_fd);
    if (task->way.ledger == NULL)
        return errno == EMFILE || errno == ENFILE ? -EMFILE : -ENOMEM;
    task->way.watch = loop_fd_add(d->loop, stream_fd(stream), LOOP_READ, on_stream, task);
    if (task->way.watch == NULL) {
        ledger_close(task->way.ledger);
        task->way.ledger = NULL;
        close(*ledger_fd);
        return -ENOMEM;
    }
    assert(task->way.stream == NULL && !task->enrolled);
    task->way.stream = stream;
    task->enrolled = true;
    d->counters.tasks_enrolled++;
    return 0;
}

void intake_welcome(struct task *task)
{
    assert(task->way.queued_ever >= task->way.pending_bytes);
    task->way.queued_ever -= task->way.pending_bytes; /* they are queued once more */
    while (task->way.pending != NULL) {
        struct pending *pending = task->way.pending;
        task->way.pending = pending->next;
        if (!connection_put(task, &pending->frame, pending->payload, pending->fds, pending->nfds) &&
            pending->frame.kind == FRAME_LINK_OPEN && !task->way.broken)
            introduction_refuse(task->daemon, &pending->frame, pending->payload, NO_DESCRIPTORS);
        files_close(pending->fds, pending->nfds);
        free(pending);
    }
    task->way.pending_end = &task->way.pending;
    task->way.pending_bytes = 0;
    task->way.pending_fds = 0;
    connection_count(task);
}

/* ---- tasks held back ---- */

static bool still_blocked(const struct task *task)
{
    const struct daemon *d = task->daemon;
    uint32_t whom = task->way.blocked.whom;
    const struct task *to = task_find(d->tasks, whom);
    if (!task->way.blocked.any)
        return false;
    switch (task->way.blocked.by) {
    case BLOCKED_BY_HOST:
        if (whom == daemon_host(d))
            return parts_full(d);
        return node_queued(d->node, whom) > budget_queue_max(d) / 2;
    case BLOCKED_BY_FDS:
        return to != NULL && connection_queued_fds(to) > 0 && connection_fds_full(to);
    case BLOCKED_BY_ANSWERS:
        return task->way.asked[whom] >= CONNECTION_ASKED_MAX;
    default:
        assert(task->way.blocked.by == BLOCKED_BY_TASK);
        return to != NULL && connection_queued(to) > budget_queue_max(d) / 2;
    }
}

bool intake_resume_all(struct daemon *d)
{
    bool any = false, still = false;
    if (!d->tasks->held)
        return false;
    d->tasks->held = false;
    for (struct task *task = d->tasks->first, *next; task != NULL; task = next) {
        next = task->next; /* reading a task ends no other */
        bool blocked = still_blocked(task), resume = task->way.blocked.any && !blocked;
        still |= blocked;
        any |= resume || task->way.broken;
        if (task->way.broken) {
            intake_end(task, STREAM_CLOSED);
        } else if (resume) {
            task->way.blocked.any = false;
            connection_mark(task);
            intake_read(task); /* what was read and not yet routed comes first */
        }
    }
    d->tasks->held |= still;
    return any;
}
