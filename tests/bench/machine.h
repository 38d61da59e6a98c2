/*
 * machine.h - what the loads need of a virtual machine, so that the same loads run on Covey and on
 * PVM: covey_load.c and pvm_load.c each implement it, and nothing else differs.
 *
 * Calls that cannot do what they are asked print one line that says why and end the process: a
 * benchmark with an error has no figure.
 */
#ifndef TESTS_BENCH_MACHINE_H
#define TESTS_BENCH_MACHINE_H

#include <stddef.h>

struct machine;

/* Enrols the process; every message goes the way that is named "ROUTE/PACKING" from now on. */
struct machine *machine_join(const char *way);
void machine_leave(struct machine *m);

/* The names that ways are made of, for the text of a misuse. */
extern const char machine_ways[];

/* The task that started this one; 0 for none. */
int machine_parent(struct machine *m);

/* Starts n tasks on `host`, or over all hosts in turn when it is NULL, and sets their tids. */
void machine_spawn(struct machine *m, const char *const *argv, const char *host, int n, int *tids);

/* Waits until all of these tasks have ended. */
void machine_wait_ends(struct machine *m, const int *tids, int n);

/* Packs `size` bytes and sends them. */
void machine_send(struct machine *m, int to, int tag, const void *bytes, size_t size);
void machine_mcast(struct machine *m, const int *to, int n, int tag, const void *bytes,
                   size_t size);

/* Receives exactly `size` bytes with that tag, from any task when `from` is -1. */
void machine_recv(struct machine *m, int from, int tag, void *bytes, size_t size);

/* Joins the group, and waits for n members of it. */
void machine_group_join(struct machine *m, const char *name);
void machine_barrier(struct machine *m, const char *name, int n);

#endif
