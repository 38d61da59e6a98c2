/*
 * stats.h - the request STATS: every counter of this daemon.
 */
#ifndef COVEY_DAEMON_STATS_H
#define COVEY_DAEMON_STATS_H

#include "daemon/route.h"

route_handler stats_on_stats;

#endif
