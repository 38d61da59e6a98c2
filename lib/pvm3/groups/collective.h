/*
 * collective.h - what calls have in common that all members of a group make.
 */
#ifndef COVEY_PVM3_GROUPS_COLLECTIVE_H
#define COVEY_PVM3_GROUPS_COLLECTIVE_H

#include "lib/pvm3/groups/membership.h"

#include <stddef.h>

/* A collective call of this task. Its messages have a context of their own, and no function of
 * pvm_recvf() chooses among them. */
struct collective {
    struct members members;
    int own;  /* position in members */
    int root; /* position in members */
    int count, type, tag;
    size_t bytes; /* of an array */
    int context;  /* of the program */
    int (*match)(int bufid, int tid, int tag);
};

/* What the array of a call is. */
struct portion {
    int count, type, tag;
};

/* Returns 0, or an error; then there is nothing to end. */
int collective_begin(struct collective *c, const char *group, int root,
                     const struct portion *portion);
void collective_end(struct collective *c);

/* An array to or from the member at a position. Return 0 or an error. */
int collective_send(const struct collective *c, int to, const void *base);
int collective_receive(const struct collective *c, int from, void *base);

/* Prints an error as PVM's library does, and returns it. */
int collective_error(const char *call, int error);

#endif
