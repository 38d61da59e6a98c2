/*
 * parts.h - the table of the daemon's parts.
 */
#ifndef COVEY_DAEMON_PARTS_H
#define COVEY_DAEMON_PARTS_H

#include "daemon/base/part.h"

extern const struct part *const daemon_parts[PARTS];

#endif
