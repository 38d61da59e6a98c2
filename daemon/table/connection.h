/*
 * connection.h - the stream between a task and its daemon: frames in and out, and when to stop
 * reading it.
 */
#ifndef COVEY_DAEMON_CONNECTION_H
#define COVEY_DAEMON_CONNECTION_H

#include "daemon/base/daemon.h"
#include "daemon/table/task.h"
#include "lib/link/stream.h"

/* Gives the task its stream, which it then owns, and makes the ledger that goes with it, whose
 * descriptor is the caller's. 0 or -ENOMEM (then there is no descriptor, and the stream is still
 * the caller's). */
int connection_attach(struct task *task, struct stream *stream, int *ledger_fd);

/* Queues what waited for the task, behind the answer to its enrolment. Call connection_read() next:
 * frames may lie in the stream already. */
void connection_welcome(struct task *task);

/* Queues a frame for the task; before it has enrolled the frame waits. False: the task has left,
 * or memory is exhausted (it then loses its connection, never a single frame), or there are no
 * descriptors for a link's frame. */
bool connection_put(struct task *task, const struct frame *frame, const uint8_t *payload,
                    const int *fds, int nfds);

/* Bytes queued for the task, and descriptors. */
size_t connection_queued(const struct task *task);
unsigned connection_queued_fds(const struct task *task);

/* Whether so many descriptors wait for the task, or for all tasks, that no link is to be opened
 * that brings more. */
bool connection_fds_full(const struct task *task);

/* Reads and routes frames. The task may be destroyed by it. */
void connection_read(struct task *task);

/* Reads what a process that has ended left behind, and closes. */
void connection_drain(struct task *task);

void connection_close(struct task *task);

/* The task is disconnected next: a frame was lost by which it would be misled. */
void connection_break(struct task *task, const char *why);

/* Writes to every task that frames were queued for. */
void connection_flush_all(struct daemon *d);

/* Does not read the task again until what waits for that host, or for that task here, is little. It
 * may be the task itself: one that asks and does not read the answers is not read, either. */
void connection_hold(struct task *task, enum blocked_by by, uint32_t whom);

/* Reads again the tasks that need no longer be held back, and disconnects those that lost a frame.
 * Whether there were any. */
bool connection_resume_all(struct daemon *d);

/* A task may have so many requests to the daemon of another host without an answer. */
#define CONNECTION_ASKED_MAX 32

/* A task is held back while the queue that it sends to is longer than this; see budget.h. */
#define CONNECTION_QUEUE_MAX ((size_t)64 * 1024 * 1024)

#endif
