/*
 * identity.h - which virtual machine and host a daemon is.
 */
#ifndef COVEY_DAEMON_IDENTITY_H
#define COVEY_DAEMON_IDENTITY_H

#include "daemon/base/daemon.h"

/* Sets the names, the key and what an invitation says over covey.conf; -1: *why says what cannot
 * be. */
int identity_take(struct daemon *d, struct failure *why);

/* Fills in what the other hosts learn of this one, its addresses too: the UDP socket is open. */
int identity_describe(struct daemon *d, struct host *self, struct failure *why);

#endif
