/*
 * launcher.h - the command line by which a launcher starts a daemon on another host.
 */
#ifndef COVEY_DAEMON_LAUNCHER_H
#define COVEY_DAEMON_LAUNCHER_H

#include "daemon/daemon.h"

#define LAUNCHER_LINE_MAX 16384

/* Writes the line for /bin/sh. Returns false when it is too long. */
bool launcher_line(const struct daemon *d, const struct control_host_spec *spec,
                   char line[LAUNCHER_LINE_MAX]);

/* The same for any `command`, a shell line for the host of a completed spec (launchspec.h). */
bool launcher_wrap(const struct control_host_spec *spec, const char *command,
                   char line[LAUNCHER_LINE_MAX]);

#endif
