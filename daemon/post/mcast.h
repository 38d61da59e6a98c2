/* Messages for several tasks of this host that came as one. */
#ifndef COVEY_DAEMON_MCAST_H
#define COVEY_DAEMON_MCAST_H

#include "daemon/root/daemon.h"

/* MCAST, from a task: a data frame to each receiver. One that is not there is
 * reported as for any data frame. */
const char *mcast_on_mcast(struct daemon *d, uint32_t source, struct cursor *payload);

#endif
