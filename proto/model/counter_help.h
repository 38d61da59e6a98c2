/*
 * counter_help.h - what the counters of a daemon count, in one line each: for `covey stats` and for
 * Prometheus. A counter is named where it is counted; here each name is explained once.
 */
#ifndef COVEY_PROTO_COUNTER_HELP_H
#define COVEY_PROTO_COUNTER_HELP_H

/* NULL: no counter of this version has that name. */
const char *counter_help(const char *name);

#endif
