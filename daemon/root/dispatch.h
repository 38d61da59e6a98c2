/*
 * dispatch.h - the table of the kinds of frames that a daemon takes itself.
 */
#ifndef COVEY_DAEMON_DISPATCH_H
#define COVEY_DAEMON_DISPATCH_H

#include "daemon/base/daemon.h"

/* Makes d->takers out of what the parts take. */
void dispatch_make(struct daemon *d);

#endif
