#include "daemon/table/connection.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/post/link.h"
#include "daemon/post/route.h"
#include "daemon/table/budget.h"
#include "lib/link/ledger.h"
#include "proto/wire/stamp.h"

#define FDS_WAITING_MAX 1024 /* descriptors that wait for one task */
#define DRAIN_ROUNDS_MAX 64  /* a grandchild may hold the stream and go on writing */

/* Why reading stopped, beside what stream_read() itself returns. */
enum { READ_BLOCKED = 1, READ_LEFT = 2, READ_REFUSED = 3 };

static void fds_close(const int *fds, int nfds)
{
    for (int i = 0; i < nfds; i++)
        close(fds[i]);
}

/* ---- out ---- */

static void connection_watch(struct task *task, bool writable)
{
    int events = (task->blocked.any ? 0 : LOOP_READ) | (writable ? LOOP_WRITE : 0);
    loop_fd_set(task->stream_watch, events);
}

/* What waits for the task has changed. */
static void connection_count(struct task *task)
{
    unsigned fds = connection_queued_fds(task);
    size_t bytes = connection_queued(task);
    task->daemon->tasks->fds += fds - task->counted_fds;
    task->daemon->budget.tasks += bytes - task->counted_bytes;
    task->counted_fds = fds;
    task->counted_bytes = bytes;
}

static void connection_flush(struct task *task)
{
    if (task->stream == NULL)
        return;
    connection_watch(task, stream_flush(task->stream) == 1);
    connection_count(task);
}

void connection_flush_all(struct daemon *d)
{
    for (struct task *task; (task = d->tasks->first_dirty) != NULL;) {
        d->tasks->first_dirty = task->next_dirty;
        task->dirty = false;
        connection_flush(task);
    }
}

static void connection_mark(struct task *task)
{
    struct tasks *tasks = task->daemon->tasks;
    if (task->dirty)
        return;
    task->dirty = true;
    task->next_dirty = tasks->first_dirty;
    tasks->first_dirty = task;
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
        fds_close(pending->fds, pending->nfds);
        free(pending);
        return false;
    }
    *task->pending_end = pending;
    task->pending_end = &pending->next;
    task->pending_bytes += frame->length + FRAME_HEADER_BYTES;
    task->pending_fds += (unsigned)nfds;
    connection_count(task);
    task->queued_ever += frame->length + FRAME_HEADER_BYTES;
    return true;
}

static void pending_move(struct task *task)
{
    task->queued_ever -= task->pending_bytes; /* they are queued once more */
    while (task->pending != NULL) {
        struct pending *pending = task->pending;
        task->pending = pending->next;
        if (!connection_put(task, &pending->frame, pending->payload, pending->fds, pending->nfds) &&
            pending->frame.kind == FRAME_LINK_OPEN && !task->broken)
            link_refuse(task->daemon, &pending->frame, pending->payload, NO_DESCRIPTORS);
        fds_close(pending->fds, pending->nfds);
        free(pending);
    }
    task->pending_end = &task->pending;
    task->pending_bytes = 0;
    task->pending_fds = 0;
    connection_count(task);
}

void connection_break(struct task *task, const char *why)
{
    struct daemon *d = task->daemon;
    log_line(&d->log, LOG_ERROR, "t%x: connection lost: %s", task->tid, why);
    task->broken = d->tasks->held = true;
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
    } rest = {.from = payload + head};
    const struct iovec pieces[] = {{header, head}, {rest.base, frame->length - head}};
    return stream_put_pieces(task->stream, frame, pieces, 2);
}

bool connection_put(struct task *task, const struct frame *frame, const uint8_t *payload,
                    const int *fds, int nfds)
{
    struct daemon *d = task->daemon;
    if (task->reaped && task->stream != NULL)
        return true; /* what it sent is still read, see connection_drain(); it reads nothing */
    if (task->stream == NULL)
        return !task->enrolled && pending_put(task, frame, payload, fds, nfds);
    int error = nfds > 0 ? stream_put(task->stream, frame, payload, fds, nfds)
                         : frame_put(task, frame, payload);
    if (error == -EMFILE)
        return false; /* a link that is refused by name: link.c */
    if (error != 0) {
        connection_break(task, strerror(-error));
        return false;
    }
    ledger_set_queued(task->ledger, stream_put_bytes(task->stream));
    task->queued_ever += frame->length + FRAME_HEADER_BYTES;
    d->counters.frames_to_tasks++;
    d->counters.bytes_to_tasks += frame->length;
    connection_mark(task);
    connection_count(task);
    return true;
}

size_t connection_queued(const struct task *task)
{
    return task->stream != NULL ? stream_queued(task->stream) : task->pending_bytes;
}

unsigned connection_queued_fds(const struct task *task)
{
    return task->stream != NULL ? stream_queued_fds(task->stream) : task->pending_fds;
}

bool connection_fds_full(const struct task *task)
{
    const struct daemon *d = task->daemon;
    return connection_queued_fds(task) > FDS_WAITING_MAX ||
           d->tasks->fds > (unsigned)d->files.limit / 4;
}

/* ---- in ---- */

static int on_frame(void *context, const struct frame *frame, const uint8_t *payload, int *fds,
                    int nfds)
{
    struct task *task = context;
    struct daemon *d = task->daemon;
    d->counters.frames_from_tasks++;
    d->counters.bytes_from_tasks += frame->length;
    int result = READ_LEFT;
    if (frame->kind != FRAME_LEAVE)
        result = route_from_task(task, frame, payload, fds, nfds) ? 0 : READ_REFUSED;
    fds_close(fds, nfds);
    return result == 0 && task->blocked.any && !task->reaped ? READ_BLOCKED : result;
}

/* All that was read has been passed on: the task may take other ways for what follows. */
static void connection_settle(struct task *task)
{
    if (task->stream != NULL)
        ledger_set_taken(task->ledger, stream_done_bytes(task->stream), task->daemon->tasks->stamp);
}

static void connection_end(struct task *task, int result)
{
    struct daemon *d = task->daemon;
    d->counters.streams_refused += result == STREAM_BROKEN || result == READ_REFUSED;
    if (result == STREAM_BROKEN)
        log_refused(&d->log, loop_now_us(), "t%x: disconnected: %s", task->tid,
                    stream_error(task->stream));
    else if (result == READ_REFUSED)
        log_refused(&d->log, loop_now_us(), "t%x: disconnected: it broke the protocol", task->tid);
    task->left = result == READ_LEFT;
    connection_close(task);
    parts_task_closed(d, task);
}

void connection_read(struct task *task)
{
    int result = stream_read(task->stream, on_frame, task);
    connection_settle(task);
    if (result == READ_BLOCKED)
        connection_mark(task); /* it is no longer watched for reading */
    else if (result != 0)
        connection_end(task, result);
}

static void on_stream(void *context, int events)
{
    struct task *task = context;
    if (events & LOOP_WRITE)
        connection_flush(task);
    if (events & LOOP_READ)
        connection_read(task);
}

void connection_drain(struct task *task)
{
    task->blocked.any = false;
    for (int round = 0; task->stream != NULL && round < DRAIN_ROUNDS_MAX; round++) {
        struct pollfd readable = {.fd = stream_fd(task->stream), .events = POLLIN};
        if (stream_read(task->stream, on_frame, task) != 0 || poll(&readable, 1, 0) <= 0)
            break;
    }
    connection_close(task);
}

/* ---- begin and end ---- */

int connection_attach(struct task *task, struct stream *stream, int *ledger_fd)
{
    struct daemon *d = task->daemon;
    task->ledger = ledger_create(ledger_fd);
    if (task->ledger == NULL)
        return -ENOMEM;
    task->stream_watch = loop_fd_add(d->loop, stream_fd(stream), LOOP_READ, on_stream, task);
    if (task->stream_watch == NULL) {
        ledger_close(task->ledger);
        task->ledger = NULL;
        close(*ledger_fd);
        return -ENOMEM;
    }
    task->stream = stream;
    task->enrolled = true;
    d->counters.tasks_enrolled++;
    return 0;
}

void connection_welcome(struct task *task)
{
    pending_move(task);
}

void connection_close(struct task *task)
{
    loop_fd_remove(&task->stream_watch);
    stream_destroy(task->stream);
    task->stream = NULL;
    ledger_close(task->ledger);
    task->ledger = NULL;
    task->blocked.any = false;
    connection_count(task);
}

/* ---- tasks held back ---- */

void connection_hold(struct task *task, enum blocked_by by, uint32_t whom)
{
    task->blocked = (struct blocked){.any = true, .by = by, .whom = whom};
    task->daemon->tasks->held = true;
}

static bool still_blocked(const struct task *task)
{
    const struct daemon *d = task->daemon;
    uint32_t whom = task->blocked.whom;
    const struct task *to = task_find(d->tasks, whom);
    if (!task->blocked.any)
        return false;
    switch (task->blocked.by) {
    case BLOCKED_BY_HOST:
        if (whom == daemon_host(d))
            return parts_full(d);
        return node_queued(d->node, whom) > budget_queue_max(d) / 2;
    case BLOCKED_BY_FDS:
        return to != NULL && connection_queued_fds(to) > 0 && connection_fds_full(to);
    case BLOCKED_BY_ANSWERS:
        return task->asked[whom] >= CONNECTION_ASKED_MAX;
    default:
        return to != NULL && connection_queued(to) > budget_queue_max(d) / 2;
    }
}

static void connection_resume(struct task *task)
{
    task->blocked.any = false;
    connection_mark(task);
    connection_read(task); /* what was read and not yet routed comes first */
}

bool connection_resume_all(struct daemon *d)
{
    bool any = false, still = false;
    if (!d->tasks->held)
        return false;
    d->tasks->held = false;
    for (struct task *task = d->tasks->first, *next; task != NULL; task = next) {
        next = task->next; /* reading a task ends no other */
        bool blocked = still_blocked(task), resume = task->blocked.any && !blocked;
        still |= blocked;
        any |= resume || task->broken;
        if (task->broken)
            connection_end(task, STREAM_CLOSED);
        else if (resume)
            connection_resume(task);
    }
    d->tasks->held |= still;
    return any;
}
