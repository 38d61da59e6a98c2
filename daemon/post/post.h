/*
 * post.h - where a frame goes: to this daemon, to a task here, or to another host.
 */
#ifndef COVEY_DAEMON_POST_H
#define COVEY_DAEMON_POST_H

#include "daemon/base/daemon.h"
#include "daemon/table/task.h"

/* A frame that a task of this host sent; fds stay the caller's. False: the task broke the protocol
 * and is to be disconnected. May hold the task back (connection_hold). */
bool post_from_task(struct task *task, const struct frame *frame, const uint8_t *payload,
                    const int *fds, int nfds);

/* A frame that came from another host. */
void post_from_host(struct daemon *d, uint32_t host, const struct frame *frame,
                    const uint8_t *payload);

/* None of the requests to that host is answered any more. */
void post_host_gone(struct daemon *d, uint32_t host);

/* A frame of this daemon's own, to a task or a daemon anywhere. */
void post_send(struct daemon *d, const struct frame *frame, const uint8_t *payload);

/* Sends the first c->at - bytes of a payload that was written into bytes. */
void post_send_payload(struct daemon *d, uint8_t kind, uint32_t to, const uint8_t *bytes,
                       const struct cursor *c);

#endif
