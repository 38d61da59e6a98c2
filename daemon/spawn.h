/*
 * spawn.h - the request SPAWN: starting tasks as children of this daemon.
 */
#ifndef COVEY_DAEMON_SPAWN_H
#define COVEY_DAEMON_SPAWN_H

#include "daemon/route.h"

route_handler spawn_on_spawn;

#endif
