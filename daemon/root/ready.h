/*
 * ready.h - who started this daemon and waits to hear whether it has joined the VM: the process in
 * the foreground, or the launcher.
 */
#ifndef COVEY_DAEMON_READY_H
#define COVEY_DAEMON_READY_H

#include "daemon/base/daemon.h"

/* Tells one line, "ok INDEX" or a reason; only the first call says anything. */
__attribute__((format(printf, 2, 3))) void ready_tell(struct daemon *d, const char *format, ...);

#endif
