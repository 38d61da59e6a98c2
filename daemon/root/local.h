/*
 * local.h - the Unix socket on which processes call: accepting them and enrolling tasks.
 */
#ifndef COVEY_DAEMON_LOCAL_H
#define COVEY_DAEMON_LOCAL_H

#include "daemon/root/daemon.h"

/* Starts to accept calls on d->runtime.listener. 0 or -ENOMEM. */
int local_open(struct daemon *d);

/* Disconnects those that have not enrolled and accepts no more. NULL is fine. */
void local_close(struct local *local);

#endif
