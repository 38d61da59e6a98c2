/*
 * ready.h - who started this daemon and waits to hear whether it has joined the VM: the process in
 * the foreground, or the launcher.
 */
#ifndef COVEY_DAEMON_READY_H
#define COVEY_DAEMON_READY_H

#include "daemon/root/daemon.h"

/* Looks now and then whether anybody still waits at ready_fd: a daemon whose launcher is gone
 * before it has joined ends, for the VM that wanted it may be gone, too. 0 or -ENOMEM. */
int ready_watch(struct daemon *d);

/* Tells one line, "ok INDEX" or a reason; only the first call says anything. */
__attribute__((format(printf, 2, 3))) void ready_tell(struct daemon *d, const char *format, ...);

void ready_close(struct daemon *d);

#endif
