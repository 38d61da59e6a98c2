/*
 * connection.c - the way out to a task: frames are queued for it, before it has enrolled in memory,
 * then in its stream, and leave at the end of the round. A frame is never lost alone: a task for
 * which one cannot be queued loses its connection. What a task sends is read in
 * daemon/post/intake.c.
 */
#include "daemon/table/connection.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "lib/link/ledger.h"
#include "proto/wire/stamp.h"

#define FDS_WAITING_MAX 1024 /* descriptors that wait for one task */

/* ---- out ---- */

void connection_count(struct task *task)
{
    unsigned fds = connection_queued_fds(task);
    size_t bytes = connection_queued(task);
    assert(task->daemon->tasks->fds >= task->way.counted_fds);
    assert(task->daemon->budget.tasks >= task->way.counted_bytes);
    task->daemon->tasks->fds += fds - task->way.counted_fds;
    task->daemon->budget.tasks += bytes - task->way.counted_bytes;
    task->way.counted_fds = fds;
    task->way.counted_bytes = bytes;
}

void connection_flush(struct task *task)
{
    if (task->way.stream == NULL)
        return;
    int left = stream_flush(task->way.stream);
    int events = (task->way.blocked.any ? 0 : LOOP_READ) | (left == 1 ? LOOP_WRITE : 0);
    if (left == STREAM_LATER)
        loop_timer_start(task->daemon->tasks->later, STREAM_LATER_US);
    loop_fd_set(task->way.watch, events);
    connection_count(task);
}

void connection_flush_all(struct daemon *d)
{
    for (struct task *task; (task = d->tasks->first_dirty) != NULL;) {
        assert(task->way.dirty);
        d->tasks->first_dirty = task->way.next_dirty;
        task->way.dirty = false;
        connection_flush(task);
    }
}

void connection_mark(struct task *task)
{
    struct tasks *tasks = task->daemon->tasks;
    if (task->way.dirty)
        return;
    task->way.dirty = true;
    task->way.next_dirty = tasks->first_dirty;
    tasks->first_dirty = task;
}

void connection_mark_all(void *daemon)
{
    struct daemon *d = daemon;
    for (struct task *task = d->tasks->first; task != NULL; task = task->next) {
        if (connection_queued_fds(task) > 0)
            connection_mark(task);
    }
}

static int pending_fds(struct pending *pending, const int *fds, int nfds)
{
    for (; pending->nfds < nfds; pending->nfds++) {
        int fd = fcntl(fds[pending->nfds], F_DUPFD_CLOEXEC, 0);
        if (fd < 0)
            return -errno;
        pending->fds[pending->nfds] = fd;
    }
    return 0;
}

static bool pending_put(struct task *task, const struct frame *frame, const uint8_t *payload,
                        const int *fds, int nfds)
{
    struct pending *pending = malloc(sizeof *pending + frame->length);
    if (pending == NULL)
        return false;
    *pending = (struct pending){.frame = *frame};
    if (frame->length > 0)
        memcpy(pending->payload, payload, frame->length);
    if (pending_fds(pending, fds, nfds) != 0) {
        files_close(pending->fds, pending->nfds);
        free(pending);
        return false;
    }
    assert(!task->enrolled && *task->way.pending_end == NULL);
    *task->way.pending_end = pending;
    task->way.pending_end = &pending->next;
    task->way.pending_bytes += frame->length + FRAME_HEADER_BYTES;
    task->way.pending_fds += (unsigned)nfds;
    connection_count(task);
    task->way.queued_ever += frame->length + FRAME_HEADER_BYTES;
    return true;
}

void connection_break(struct task *task, const char *why)
{
    struct daemon *d = task->daemon;
    log_line(&d->log, LOG_ERROR, "t%x: connection lost: %s", task->tid, why);
    task->way.broken = d->tasks->held = true;
    loop_wake(d->loop);
}

/* This daemon is one of those that send on this host: what passes it on the way to a task gets a
 * stamp of its own, which is later than that of its sender. So those of one stream follow each
 * other. Whether the frame begins a message, whose header then is put there with that stamp. */
static bool message_stamp(struct task *task, const struct frame *frame, const uint8_t *payload,
                          uint8_t header[FRAME_MESSAGE_BYTES])
{
    struct daemon *d = task->daemon;
    if (frame->kind != FRAME_DATA || (frame->flags & FRAME_FIRST) == 0 ||
        frame->length < FRAME_MESSAGE_BYTES)
        return false;
    memcpy(header, payload, FRAME_MESSAGE_BYTES);
    if (tid_host(frame->source) == daemon_host(d))
        d->tasks->stamp = stamp_later(d->tasks->stamp, message_stamp_get(header));
    if (!d->tasks->stamp_stays)
        d->tasks->stamp = stamp_next(d->tasks->stamp, loop_now_us());
    message_stamp_put(header, d->tasks->stamp);
    return true;
}

/* A large frame goes on from where it lies. */
static int frame_put(struct task *task, const struct frame *frame, const uint8_t *payload)
{
    uint8_t header[FRAME_MESSAGE_BYTES];
    size_t head = message_stamp(task, frame, payload, header) ? sizeof header : 0;
    union {
        const uint8_t *from;
        void *base;
    } rest = {.from = head > 0 ? payload + head : payload};
    const struct iovec pieces[] = {{header, head}, {rest.base, frame->length - head}};
    return stream_put_pieces(task->way.stream, frame, pieces, 2);
}

void connection_announce(struct task *task, const struct frame *frame)
{
    if (task->way.stream != NULL && !task->end.reaped)
        ledger_set_queued(task->way.ledger,
                          stream_put_bytes(task->way.stream) + FRAME_HEADER_BYTES + frame->length);
}

bool connection_put(struct task *task, const struct frame *frame, const uint8_t *payload,
                    const int *fds, int nfds)
{
    struct daemon *d = task->daemon;
    if (task->end.reaped && task->way.stream != NULL)
        return true; /* what it sent is still read, see connection_drain(); it reads nothing */
    if (task->way.stream == NULL)
        return !task->enrolled && pending_put(task, frame, payload, fds, nfds);
    int error = nfds > 0 ? stream_put(task->way.stream, frame, payload, fds, nfds)
                         : frame_put(task, frame, payload);
    if (error == -EMFILE)
        return false; /* a link that is refused by name: introduction.c */
    if (error != 0) {
        connection_break(task, strerror(-error));
        return false;
    }
    ledger_set_queued(task->way.ledger, stream_put_bytes(task->way.stream));
    task->way.queued_ever += frame->length + FRAME_HEADER_BYTES;
    d->counters.frames_to_tasks++;
    d->counters.bytes_to_tasks += frame->length;
    connection_mark(task);
    connection_count(task);
    return true;
}

size_t connection_queued(const struct task *task)
{
    return task->way.stream != NULL ? stream_queued(task->way.stream) : task->way.pending_bytes;
}

unsigned connection_queued_fds(const struct task *task)
{
    return task->way.stream != NULL ? stream_queued_fds(task->way.stream) : task->way.pending_fds;
}

bool connection_fds_full(const struct task *task)
{
    const struct daemon *d = task->daemon;
    return connection_queued_fds(task) > FDS_WAITING_MAX ||
           d->tasks->fds > (unsigned)d->files.limit / 4;
}

/* ---- the end ---- */

void connection_close(struct task *task)
{
    loop_fd_remove(&task->way.watch);
    stream_destroy(task->way.stream);
    task->way.stream = NULL;
    ledger_close(task->way.ledger);
    task->way.ledger = NULL;
    task->way.blocked.any = false;
    connection_count(task);
}

void connection_hold(struct task *task, enum blocked_by by, uint32_t whom)
{
    assert(by >= BLOCKED_BY_HOST && by <= BLOCKED_BY_ANSWERS);
    task->way.blocked = (struct blocked){.any = true, .by = by, .whom = whom};
    task->daemon->tasks->held = true;
}
