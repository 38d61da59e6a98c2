/*
 * living.h - the plans of one kind that this process has: a later one may have to agree with them.
 */
#ifndef COVEY_LIB_DOMAIN_BASE_LIVING_H
#define COVEY_LIB_DOMAIN_BASE_LIVING_H

#include <covey.h>
#include <pthread.h>

/* What a plan has in it. */
struct living {
    struct living *older;
};

struct living_list {
    pthread_mutex_t lock;
    struct living *youngest;
};

#define LIVING_NONE                                                                                \
    {                                                                                              \
        .lock = PTHREAD_MUTEX_INITIALIZER                                                          \
    }

void living_add(struct living_list *list, struct living *plan);
/* One that was never added is fine. */
void living_remove(struct living_list *list, struct living *plan);

/* From the youngest on, until `is` returns 1: returns that, or 0. `is` may copy what it sees, and
 * keeps no pointer: plans are freed by other threads. */
int living_find(struct living_list *list, int (*is)(const struct living *plan, void *context),
                void *context);

/* Whether two teams have the same members in the same order. */
int living_has_members(const covey_team_t *a, const covey_team_t *b);

#endif
