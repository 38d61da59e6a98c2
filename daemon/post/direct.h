/*
 * direct.h - packet sockets of tasks, where covey.conf says [ether] direct = yes.
 */
#ifndef COVEY_DAEMON_DIRECT_H
#define COVEY_DAEMON_DIRECT_H

#include "daemon/base/daemon.h"

/* A socket for that task, which the caller passes on and closes; -1: there is none to be had, and
 * the log says why. */
int direct_open(struct daemon *d, const struct task *task);

#endif
