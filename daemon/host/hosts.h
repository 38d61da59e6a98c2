/*
 * hosts.h - the hosts of the VM by name, for the part of the requests HOSTS, REMOVE_HOSTS and HALT
 * (hosts_part) and others.
 */
#ifndef COVEY_DAEMON_HOSTS_H
#define COVEY_DAEMON_HOSTS_H

#include "daemon/post/post.h"

/* Answers a request that only the coordinator can carry out, naming it; false when this is the
 * coordinator. */
bool hosts_not_coordinator(struct daemon *d, uint32_t source, uint32_t request);

#endif
