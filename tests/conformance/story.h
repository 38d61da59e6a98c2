/*
 * story.h - a program whose tasks are the members of one group: the first one spawns the others,
 * all take part, and the first one prints how much all of them have checked. One member ends in the
 * middle, as part of the story.
 */
#ifndef COVEY_TESTS_CONFORMANCE_STORY_H
#define COVEY_TESTS_CONFORMANCE_STORY_H

#include <covey.h>

#define STORY_MEMBERS_MAX 32
#define STORY_PATIENCE_US (60 * (int64_t)1000000)

struct story {
    const char *group;
    int members_max;                 /* up to STORY_MEMBERS_MAX */
    void (*tell)(covey_team_t *all); /* what every member does */
};

/* What main() returns of a program that is called by its user as PROGRAM MEMBERS [ARG], and spawned
 * as PROGRAM member MEMBERS [ARG]. */
int story_main(int argc, char **argv, const struct story *story);

/* The first 1, 2, ... of all members but one are a team, *part, and tell; the others have NULL
 * there and wait. */
void story_parts(covey_team_t *all, covey_team_t **part, void (*tell)(void));

/* Counts a check of this member, and names one that failed. */
void check(const char *name, int good);
int story_failed(void); /* how many did */

#endif
