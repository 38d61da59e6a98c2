/*
 * logs.h - the request LOG: a piece of this daemon's log, for covey logs.
 */
#ifndef COVEY_DAEMON_LOGS_H
#define COVEY_DAEMON_LOGS_H

#include "daemon/post/route.h"

route_handler logs_on_log;

#endif
