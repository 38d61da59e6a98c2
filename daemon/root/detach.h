/*
 * detach.h - going to the background.
 */
#ifndef COVEY_DAEMON_DETACH_H
#define COVEY_DAEMON_DETACH_H

#include <stdbool.h>

#include "daemon/base/failure.h"

/* Splits off the daemon: a new session without a terminal, standard files on /dev/null. Returns in
 * two processes: 0 in the daemon, where *ready is to get one line (see daemon_create()); 1 in the
 * one in the foreground, where *ready is to be read with detach_wait(). -1 and *why on failure. One
 * that `stays` is in the session of who called it. */
int detach(int *ready, bool stays, struct failure *why);

/* Waits for the line. Returns 0 when it is "ok ...", which is printed when `print` is set;
 * otherwise -1 with the line as the reason. With `print` it does not outwait whoever reads that. */
int detach_wait(int ready, bool print, struct failure *why);

#endif
