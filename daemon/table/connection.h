/*
 * connection.h - the stream between a task and its daemon: frames for the task, and when to stop
 * reading those from it (daemon/post/intake.h).
 */
#ifndef COVEY_DAEMON_CONNECTION_H
#define COVEY_DAEMON_CONNECTION_H

#include "daemon/base/daemon.h"
#include "daemon/table/task.h"
#include "lib/link/stream.h"

/* The task's ledger says that the frame is queued, which connection_put() does next: so nothing
 * that is sent because of the frame begins there before it, whoever gets the frame first. */
void connection_announce(struct task *task, const struct frame *frame);
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

void connection_close(struct task *task);

/* The task is disconnected next: a frame was lost by which it would be misled. */
void connection_break(struct task *task, const char *why);

/* Writes what is queued; to every task that frames were queued for. */
void connection_flush(struct task *task);
void connection_flush_all(struct daemon *d);

/* The task is one of the latter, for it may be watched for something else now. */
void connection_mark(struct task *task);
void connection_mark_all(void *daemon); /* those for which descriptors wait: see STREAM_LATER */

/* What waits for the task has changed: the sums of all tasks change with it. */
void connection_count(struct task *task);

/* Does not read the task again until what waits for that host, or for that task here, is little. It
 * may be the task itself: one that asks and does not read the answers is not read, either. */
void connection_hold(struct task *task, enum blocked_by by, uint32_t whom);

/* A task may have so many requests to the daemon of another host without an answer. */
#define CONNECTION_ASKED_MAX 32

/* A task is held back while the queue that it sends to is longer than this; see budget.h. */
#define CONNECTION_QUEUE_MAX ((size_t)64 * 1024 * 1024)

#endif
