/*
 * launch.h - the request ADD_HOSTS: starting daemons on other hosts through a launcher.
 */
#ifndef COVEY_DAEMON_LAUNCH_H
#define COVEY_DAEMON_LAUNCH_H

#include "daemon/route.h"

route_handler launch_on_add_hosts;

/* Begins launches that were asked for, and ends those whose host has joined. */
void launch_settle(struct daemon *d);
void launch_fini(struct daemon *d);

#endif
