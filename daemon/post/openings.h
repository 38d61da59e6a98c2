/*
 * openings.h - the LINK_OPENs for raw Ethernet that wait until it is known whether the other host
 * is on the same segment.
 */
#ifndef COVEY_DAEMON_OPENINGS_H
#define COVEY_DAEMON_OPENINGS_H

#include "daemon/base/daemon.h"

/* A LINK_OPEN for raw Ethernet leaves its opener. Returns NULL when it may go on or waits here
 * (*waits), or why the route cannot work. */
const char *openings_depart(struct daemon *d, const struct frame *open, const uint8_t *payload,
                            bool *waits);

#endif
