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
    int members;
    int (*take_part)(covey_group_t *group, int members); /* 0, or -1 */
    int *checked, *failed;                               /* the program's counts */
};

/* `argv` is what the others are spawned with. Returns how many checks failed, -1: it broke off. */
int story_lead(covey_t *vm, const struct story *story, const char *const *argv);

/* Another member; tells the first one its counts. Returns 0, or a covey error. */
int story_serve(covey_t *vm, const struct story *story);

#endif
