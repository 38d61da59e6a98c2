/*
 * launch.h - the request ADD_HOSTS: starting daemons on other hosts through a launcher.
 */
#ifndef COVEY_DAEMON_LAUNCH_H
#define COVEY_DAEMON_LAUNCH_H

#include "daemon/post/route.h"

route_handler launch_on_add_hosts;

/* Begins launches that were asked for, and ends those whose host has joined. */
void launch_settle(struct daemon *d);
/* Gives up what a task, or the tasks of a host, asked for: it is gone. */
void launch_task_gone(struct daemon *d, uint32_t tid);
void launch_host_gone(struct daemon *d, uint32_t host);

void launch_fini(struct daemon *d);

#endif
