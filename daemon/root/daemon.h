/*
 * daemon.h - coveyd as main() sees it: made, run and ended. The essay stands in daemon.c.
 */
#ifndef COVEY_DAEMON_DAEMON_H
#define COVEY_DAEMON_DAEMON_H

#include "daemon/base/daemon.h"

/* Prepares a daemon: files, sockets, engines. NULL and *why on failure. `ready_fd` gets one line,
 * "ok INDEX" or the reason, when it is known whether the daemon has joined; it is then closed. */
struct daemon *daemon_create(const struct options *options, const struct conf *conf,
                             const struct control_bootstrap *invitation, int ready_fd,
                             struct failure *why);

/* Runs until the daemon ends; returns its exit status. */
int daemon_run(struct daemon *d);
void daemon_destroy(struct daemon *d); /* NULL is fine */

#endif
