/*
 * living.c - a list under a lock.
 */
#include "lib/domain/base/living.h"

void living_add(struct living_list *list, struct living *plan)
{
    pthread_mutex_lock(&list->lock);
    plan->older = list->youngest;
    list->youngest = plan;
    pthread_mutex_unlock(&list->lock);
}

void living_remove(struct living_list *list, struct living *plan)
{
    pthread_mutex_lock(&list->lock);
    struct living **at = &list->youngest;
    while (*at != NULL && *at != plan)
        at = &(*at)->older;
    if (*at != NULL)
        *at = plan->older;
    pthread_mutex_unlock(&list->lock);
}

int living_find(struct living_list *list, int (*is)(const struct living *plan, void *context),
                void *context)
{
    int found = 0;
    pthread_mutex_lock(&list->lock);
    for (const struct living *p = list->youngest; p != NULL && !found; p = p->older)
        found = is(p, context);
    pthread_mutex_unlock(&list->lock);
    return found;
}

int living_has_members(const covey_team_t *a, const covey_team_t *b)
{
    if (covey_team_size(a) != covey_team_size(b))
        return 0;
    for (int i = 0; i < covey_team_size(a); i++)
        if (covey_team_tid(a, i) != covey_team_tid(b, i))
            return 0;
    return 1;
}
