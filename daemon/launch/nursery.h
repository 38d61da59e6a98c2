/*
 * nursery.h - a process that starts the daemons of virtual hosts by a fork alone. The first daemon
 * of a --local VM has one beside it, made before it has anything of its own: no state, no key. A
 * daemon that is born there needs no shell, no exec and no loading of libraries, and shares the
 * pages of these with all others: half the processor time of a start, and a third of a small
 * daemon's memory.
 *
 * All that are born stay in one session until they have joined. The kernel shares processors out to
 * sessions (its autogroups): so the coordinator gets its part beside hundreds that start.
 */
#ifndef COVEY_DAEMON_NURSERY_H
#define COVEY_DAEMON_NURSERY_H

#include <stdbool.h>
#include <sys/types.h>

#define NURSERY_NONE (-1)

/* Forks. In the caller, returns false, and *ask is where it asks (closed on exec), or NURSERY_NONE
 * if there is none: daemons are then started as programs. In each process that is born, returns
 * true: standard input and output are what nursery_start() was given, no other descriptor is open,
 * and `cwd` holds the working directory that was asked for, or "". */
bool nursery_open(int *ask, char *cwd, size_t cwd_size);

/* Has a daemon born with these as its standard input, and output and error. False: the nursery is
 * gone, or busy. */
bool nursery_start(int ask, const char *cwd, int in, int out);

#endif
