/*
 * examine.h - what covey-probe looks at on this machine, for the files that do it. The essay stands
 * in covey_probe.c.
 */
#ifndef COVEY_PROBE_EXAMINE_H
#define COVEY_PROBE_EXAMINE_H

#include "daemon/base/conf.h"

/* One finding: a code for programs, what to do, and what was found, in one line. */
__attribute__((format(printf, 3, 4))) void examine_finding(const char *code, const char *remedy,
                                                           const char *format, ...);

void examine_limits(const struct conf *conf); /* files, processes, memory, processor time */
void examine_runtime(void);                   /* directories, sockets and logs */

/* Interfaces and addresses; with `local` none of them matters. `raw`: coveyd may open raw sockets.
 */
void examine_network(const struct conf *conf, bool local, bool raw);

/* Looks up this machine's own name and the `count` names, all at once, with one deadline. */
void examine_names(char *const *names, int count);

#endif
