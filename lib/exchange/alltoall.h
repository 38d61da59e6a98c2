/*
 * alltoall.h - a block of every member for every member: what the calls are given, and the
 * algorithms without a schedule (collective_alltoall.c).
 */
#ifndef COVEY_LIB_ALLTOALL_H
#define COVEY_LIB_ALLTOALL_H

#include "lib/collective/collective.h"

/* Equal blocks of both (alltoall), or uneven ones of both (alltoallv), of one type. */
struct alltoall {
    struct vector send, recv;
    bool blocking; /* the call returns when it is over */
};

int alltoall_check(const covey_team_t *team, const char *name, const struct alltoall *a);
/* Before any algorithm: where blocks are, and those that are sent out of the way of those that
 * come. False: no memory. */
bool alltoall_begin(struct collective *c, struct alltoall *a);

void alltoall_linear(struct collective *c, const struct alltoall *a);
void alltoall_pairwise(struct collective *c, const struct alltoall *a);
void alltoall_own_block(struct collective *c, const struct alltoall *a);
void alltoall_scheduled(struct collective *c, const struct alltoall *a); /* alltoall_scheduled.c */
void alltoall_bruck(struct collective *c, const struct alltoall *a);     /* equal blocks */
void alltoall_hosts(struct collective *c,
                    const struct alltoall *a); /* likewise: alltoall_hosts.c */
/* Uneven blocks, the longest first, or what suits their sizes: exchange_vector.c. */
void alltoall_longest(struct collective *c, const struct alltoall *a);
void alltoall_adaptive(struct collective *c, const struct alltoall *a);

#endif
