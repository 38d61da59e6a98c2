/*
 * version.h - which coveyd this is, and which other can be of the same VM.
 */
#ifndef COVEY_DAEMON_VERSION_H
#define COVEY_DAEMON_VERSION_H

#include <stdbool.h>

/* "0.1.0 (protocol 3)"; after "coveyd " it is what --version says. */
extern const char version_short[];

/* Whether that is what some coveyd, of this or of another version, says to --version. */
bool version_is_one(const char *said);

/* Whether that coveyd speaks as this one does: the same protocol, and the same version up to
 * its last number. */
bool version_fits(const char *said);

#endif
