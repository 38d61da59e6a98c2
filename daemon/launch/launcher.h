/*
 * launcher.h - the command line by which a launcher starts a daemon on another host.
 */
#ifndef COVEY_DAEMON_LAUNCHER_H
#define COVEY_DAEMON_LAUNCHER_H

#include "daemon/base/options.h"
#include "proto/wire/control.h"

#define LAUNCHER_LINE_MAX 16384

/* What the ssh launcher's shell over there says: it expects launcher_script() now; the path of
 * coveyd, then what that says to --version; or what was tried in vain; or that systemd would end a
 * daemon with the session. */
#define LAUNCHER_READY "covey: ready"
#define LAUNCHER_FOUND "covey: found "
#define LAUNCHER_SAYS "covey: says "
#define LAUNCHER_NONE "covey: none: "
#define LAUNCHER_SESSION "covey: session"

/* Writes the line for /bin/sh. `program` is where coveyd is here, and `options` are those that it
 * runs with. Returns false when the line is too long. */
bool launcher_line(const char *program, const struct options *options,
                   const struct control_host_spec *spec, char line[LAUNCHER_LINE_MAX]);

/* The same for any `command`, a shell line for the host of a completed spec (launchspec.h). */
bool launcher_wrap(const struct control_host_spec *spec, const char *command,
                   char line[LAUNCHER_LINE_MAX]);

/* Quotes the words, ended by NULL, as one line for a shell. */
bool launcher_words(char *const *words, char line[LAUNCHER_LINE_MAX]);

/* For ssh: writes the line, with its newline, for the shell over there. False: it is too long. */
bool launcher_script(const char *program, const struct options *options,
                     const struct control_host_spec *spec, char line[LAUNCHER_LINE_MAX]);

#endif
