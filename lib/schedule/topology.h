/*
 * topology.h - the public handles of topologies and schedules, shared by the files that make and
 * print them.
 */
#ifndef COVEY_LIB_TOPOLOGY_H
#define COVEY_LIB_TOPOLOGY_H

#include <stdio.h>

#include "proto/network/topology.h"
#include "proto/schedule/schedule.h"

struct covey_topology {
    struct topology tree;
};

struct covey_schedule {
    struct network network;
    struct schedule plan;
    char (*names)[TOPOLOGY_NAME_MAX + 8]; /* of ranks */
};

/* Prints into *text what `print` writes of `object`. Errors: ENOMEM. */
int topology_print_text(void (*print)(const void *object, FILE *out), const void *object,
                        char **text);

/* The forms of a schedule. */
void schedule_print_covey(const void *schedule, FILE *out);
void schedule_print_mpi(const void *schedule, FILE *out);

#endif
