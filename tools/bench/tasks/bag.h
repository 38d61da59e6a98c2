/* A worker of the benchmark of bags. */
#ifndef COVEY_TOOLS_BENCH_BAG_H
#define COVEY_TOOLS_BENCH_BAG_H

#include "covey.h"

/* Does the items of that bag, which hold nothing, until there are no more; then sends back what its
 * parent sends, until an empty message comes. An exit status. */
int bag_work(covey_t *vm, const char *name);

#endif
