/*
 * topology.h - the topology file that covey.conf names, for the VM that this daemon starts.
 */
#ifndef COVEY_DAEMON_TOPOLOGY_H
#define COVEY_DAEMON_TOPOLOGY_H

#include "daemon/base/daemon.h"

/* Reads the file and checks it; none is named: nothing. 0, or -1 and FILE:LINE:COLUMN and why. The
 * text is d->topology. */
int topology_read(struct daemon *d, struct failure *why);

/* Makes it the VM's, once this daemon has bootstrapped it. */
void topology_propose(struct daemon *d);

#endif
