/*
 * collective_algorithm.h - algorithms that others are made of: each adds its steps to a collective,
 * over a circle of members. A root is a place in the circle. Fences stand between the rounds of
 * one; whoever puts one behind another adds the fence between them.
 */
#ifndef COVEY_LIB_COLLECTIVE_ALGORITHM_H
#define COVEY_LIB_COLLECTIVE_ALGORITHM_H

#include "lib/collective/collective.h"

/* Those of a team on the own host, and the first of each host, in the order of ranks. Places are
 * -1 for who is not among them. */
struct host_circles {
    struct circle local; /* its first is place 0 */
    struct circle leads; /* rank -1: the caller is not one */
    int root_place;      /* of the root's host among the leads */
};
/* The root, when it is not the first of its host, takes its place as a lead. False: no memory. */
bool host_circles(struct collective *c, int root, struct host_circles *circles);
/* All members, those of a host in a row: the root's host first, then the others in the order of
 * their first ranks, and within each the ranks from the root on. *root becomes the root's place. In
 * a team on one host, or with one member a host, it is the circle of ranks. False: no memory. */
bool circle_by_host(struct collective *c, int *root, struct circle *on);

void bcast_binomial(struct collective *c, const struct circle *on, int root, const struct array *a);
void bcast_cast(struct collective *c, const struct circle *on, int root, const struct array *a);
/* From the lead of the caller's host to the others there: the second step of a collective between
 * hosts. */
void host_bcast(struct collective *c, const struct host_circles *circles, const struct array *a);
/* Arrays as large as `own` of the members of the host to or from its lead, of which `all` is: there
 * they stand by place. In circles whose root is rank 0; the first and the second step of a
 * collective between hosts. */
void host_collect(struct collective *c, const struct host_circles *circles, const struct array *own,
                  void *all);
void host_deal(struct collective *c, const struct host_circles *circles, const struct array *own,
               const void *all);
/* All members by host, in the order of leads, and within each in the order of ranks. first[i] is
 * where those of lead i begin; first[hosts] is the number of members. */
struct host_order {
    int *ranks, *first;
};
/* False: no memory. */
bool host_order(struct collective *c, const struct host_circles *circles, struct host_order *order);

/* Blocks are by rank in the team. */
void allgather_ring(struct collective *c, const struct circle *on, const struct vector *v);
/* Each casts its block to all others; no more are under way at once than receivers bear. Waits for
 * an answer about the way, so not for functions that a step calls. */
void allgather_cast(struct collective *c, const struct circle *on, const struct vector *v);
/* Of all members, by the algorithm of the table, but as a part of another call: by messages alone.
 * `send` is the own block. */
void allgather_build(struct collective *c, const void *send, const struct vector *v);

/* A reduction: each brings `own`; acc is where the result comes about, temp as large. */
struct reduction {
    int op, type;
    size_t count;
    const void *own;
    uint8_t *acc, *temp;
};
/* Part of the arrays of a reduction. */
struct range {
    size_t first, count;
};
/* Sends that range of acc; receives it into temp and then, behind a fence, reduces it into acc: on
 * the left (`lower`: it comes from lower ranks) or on the right. */
int reduction_send(struct collective *c, const struct reduction *r, int rank, struct range range);
void reduction_receive(struct collective *c, const struct reduction *r, int rank,
                       struct range range);
void reduction_fold(struct collective *c, const struct reduction *r, struct range range,
                    bool lower);

/* The lead has the result of its host in acc: the first step of a reduction between hosts. */
void host_reduce(struct collective *c, const struct host_circles *circles,
                 const struct reduction *r);
/* The result is in acc of the root. Keeps the order of places for root 0. */
void reduce_binomial(struct collective *c, const struct circle *on, int root,
                     const struct reduction *r);
/* Of all members: each host's arrays are cast to all, and each computes what it wants, in acc the
 * whole or in `result` its own part of equal or unequal ones. Keep the order of ranks where that
 * counts. They wait as allgather_cast() does. */
void allreduce_cast(struct collective *c, const struct reduction *r);
void reduce_scatter_cast(struct collective *c, const struct reduction *r,
                         const struct vector *parts, void *result);

#endif
