/*
 * hosts.h - the hosts that a run uses.
 */
#ifndef APPS_HOSTS_H
#define APPS_HOSTS_H

#include "apps/options.h"
#include "covey.h"

struct host_list {
    const char **names;
    int count;
    struct covey_host *all; /* what the names point into */
};

/* Chooses the hosts: those that the options name; with the shm route the caller's own; otherwise
 * all that are up. Returns 0, or -1 after saying what is wrong. */
int hosts_choose(covey_t *vm, const struct app_options *options, struct host_list *list);

void hosts_free(struct host_list *list);

/* The host name of each rank, given the index of its host. Ends with NULL. Free the array, not the
 * names. NULL: out of memory. */
const char **hosts_by_rank(const struct host_list *list, const int *of, int ranks);

#endif
