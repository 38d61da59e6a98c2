/*
 * term.h - the time of this host: when it is over, if that is known.
 */
#ifndef COVEY_DAEMON_TERM_H
#define COVEY_DAEMON_TERM_H

#include "proto/model/figure.h"

struct term;

void term_figures(const struct term *term, uint64_t now_us, struct figures *figures);

#endif
