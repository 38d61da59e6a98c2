/*
 * others.h - by how much what others run on the hosts of a team slows its members: pure, out of
 * what the monitors say.
 */
#ifndef COVEY_LIB_DOMAIN_BASE_OTHERS_H
#define COVEY_LIB_DOMAIN_BASE_OTHERS_H

#include "lib/domain/covey_domain/base.h"

/* The hosts of the VM: all arrays have n elements. */
struct others_view {
    const struct covey_host *hosts;
    const struct covey_host_stat *stats;
    const int *members; /* of the team, on each host */
    const double *used; /* processors that they used in the time that its monitor tells of */
    int n, root;        /* the host of rank 0 */
    double *loads;      /* set: how many times longer a member computes there */
};

/* Sets the processors and all loads of a place; all stays where no monitor of a host with members
 * answered. The load of a host of which nothing is known is 1. */
void others_look(const struct others_view *view, struct covey_domain_place *place);

#endif
