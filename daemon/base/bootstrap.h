/*
 * bootstrap.h - the line by which a new host learns its VM, as one line of hex digits.
 */
#ifndef COVEY_DAEMON_BOOTSTRAP_H
#define COVEY_DAEMON_BOOTSTRAP_H

#include <stdio.h>

#include "daemon/base/failure.h"
#include "proto/wire/control.h"

#define BOOTSTRAP_BYTES_MAX 4000 /* the line fits the smallest pipe there is */
#define BOOTSTRAP_LINE_MAX (2 * BOOTSTRAP_BYTES_MAX + 2)

/* Writes the line, with newline and NUL, into line[BOOTSTRAP_LINE_MAX]. Returns its length or -1.
 * It holds the VM key: wipe it after use. */
int bootstrap_print(const struct control_bootstrap *bootstrap, char *line);

/* Reads one line. Returns 0, or -1 with the reason. */
int bootstrap_read(struct control_bootstrap *bootstrap, FILE *in, struct failure *why);

/* Whether a name may be that of a VM or host: letters, digits and ._-@, not - or . first. */
bool bootstrap_name_ok(const char *name);

#endif
