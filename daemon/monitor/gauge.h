/*
 * gauge.h - the speeds of this host: measured once, when the daemon has joined (not of virtual
 * hosts, which are all alike), and again on the request MEASURE.
 */
#ifndef COVEY_DAEMON_GAUGE_H
#define COVEY_DAEMON_GAUGE_H

#include "proto/model/figure.h"

struct gauge;

/* Sets what was measured. */
void gauge_figures(const struct gauge *gauge, uint64_t now_us, struct figures *figures);

#endif
