/*
 * examine.h - `coveyd --examine`: what a doctor wants to know of this machine, as lines on standard
 * output. The essay stands in examine.c.
 */
#ifndef COVEY_DAEMON_EXAMINE_H
#define COVEY_DAEMON_EXAMINE_H

#include "daemon/base/conf.h"
#include "daemon/base/options.h"

/* Examines and prints, then serves or reaches as the operands say. `bad_conf` is why covey.conf
 * could not be read, or NULL. Returns 0, or -1 with *why when an operand makes no sense. */
int examine(const struct options *options, const struct conf *conf, const struct failure *bad_conf,
            struct failure *why);

/* ---- for the files examine_*.c ---- */

/* One finding: a code for programs, what to do, and what was found, in one line. */
__attribute__((format(printf, 3, 4))) void examine_finding(const char *code, const char *remedy,
                                                           const char *format, ...);

void examine_limits(const struct conf *conf); /* files, processes, memory, processor time */
void examine_runtime(void);                   /* directories, sockets and logs */

/* Interfaces and addresses; with `local` none of them matters. */
void examine_network(const struct conf *conf, bool local);

/* Looks up this machine's own name and the `count` names, all at once, with one deadline. */
void examine_names(char *const *names, int count);

#endif
