/*
 * membership.h - the groups of this task, and who is in a group.
 */
#ifndef COVEY_PVM3_GROUPS_MEMBERSHIP_H
#define COVEY_PVM3_GROUPS_MEMBERSHIP_H

#include "lib/covey.h"

/* Who is in a group, by instance. */
struct members {
    struct covey_member *list;
    int count;
    int frozen; /* the list is the group's */
};

/* Asks for the members, unless the group is frozen. Returns 0, PvmNullGroup, PvmNoGroup or another
 * error; then there is nothing to free. */
int members_get(const char *group, struct members *members);
void members_free(struct members *members);

/* The tid of an instance, or PvmNoInst. */
int members_tid(const struct members *members, int instance);

/* The context that collective calls send in. */
int group_context(void);

#endif
