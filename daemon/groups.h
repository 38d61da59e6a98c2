/*
 * groups.h - the requests about groups: the engine (proto/group.h) in the coordinator's daemon.
 */
#ifndef COVEY_DAEMON_GROUPS_H
#define COVEY_DAEMON_GROUPS_H

#include "daemon/route.h"

route_handler groups_on_join;
route_handler groups_on_leave;
route_handler groups_on_members;
route_handler groups_on_barrier;
route_handler groups_on_cancel;

struct group_table *groups_create(struct daemon *d); /* NULL: no memory */

void groups_task_gone(struct daemon *d, uint32_t tid);
void groups_host_gone(struct daemon *d, uint32_t host);

#endif
