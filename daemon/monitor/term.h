/*
 * term.h - the time of this host: when it is over, if that is known.
 */
#ifndef COVEY_DAEMON_TERM_H
#define COVEY_DAEMON_TERM_H

#include "daemon/base/daemon.h"
#include "proto/model/figure.h"

/* Sets what is left of it, and whether tasks are withheld from this host. */
void term_figures(const struct daemon *d, uint64_t now_us, struct figures *figures);

#endif
