/*
 * watch.h - who is told when a task ends, and when a host comes or goes.
 */
#ifndef COVEY_DAEMON_WATCH_H
#define COVEY_DAEMON_WATCH_H

#include "daemon/post/post.h"

/* Adds one who is told of the end of a task of this host. 0, or -1: memory is exhausted. */
int watch_for(struct task *task, uint32_t watcher);

/* Makes this daemon learn of the end of a task of any host. */
void watch_start(struct daemon *d, uint32_t tid);

/* Tells all watchers that the task ended (its end.kind and end.value), and the parts. */
void watch_announce(struct task *task);

/* Answers `to` that there is no task `tid` here (any more). */
void watch_answer(struct daemon *d, uint32_t to, uint32_t tid);
void watch_send_gone(struct daemon *d, uint32_t to, const struct control_gone *gone);

/* A host came, is in doubt or went: tells the tasks here and the parts. */
void watch_host_event(struct daemon *d, const struct host *host, int event);

#endif
