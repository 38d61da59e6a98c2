/*
 * hosts.h - the requests about the hosts of the VM: HOSTS, REMOVE_HOSTS and HALT.
 */
#ifndef COVEY_DAEMON_HOSTS_H
#define COVEY_DAEMON_HOSTS_H

#include "daemon/post/route.h"

route_handler hosts_on_hosts;
route_handler hosts_on_remove;
route_handler hosts_on_halt;

/* Answers a request that only the coordinator can carry out, naming it; false when this is the
 * coordinator. */
bool hosts_not_coordinator(struct daemon *d, uint32_t source, uint32_t request);

/* Carries out what was asked and answers what is finished. The engine must not be called back from
 * inside itself, so these requests wait until all events of the round were handled. */
void hosts_settle(struct daemon *d);
void hosts_fini(struct daemon *d);

/* The living host of that name, NULL: none. */
const struct host *hosts_find(const struct daemon *d, const char *name);

#endif
