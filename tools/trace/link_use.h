/*
 * link_use.h - how much of its rate each link of the network carried, by the messages of a trace.
 */
#ifndef COVEY_TOOLS_LINK_USE_H
#define COVEY_TOOLS_LINK_USE_H

#include "tools/trace/trace.h"

#define LINK_BINS 200 /* of the whole time */

/* Of a link from a to b and back. */
struct link_use {
    double bytes[2];
    float share[2][LINK_BINS]; /* of what it can carry in that time */
};

/* One for each link of trace->seen, to be freed; NULL: no memory, or no links. A message passes the
 * links between its hosts, evenly from its send until it was received. Messages of hosts that are
 * not in the network are counted. */
struct link_use *link_use_find(const struct trace *trace, size_t *outside);

#endif
