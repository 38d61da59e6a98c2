/*
 * planner.c - one lock, which outlives all threads. Nobody who has it waits for another member.
 */
#include "lib/domain/base/planner.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void domain_planner_lock(void)
{
    pthread_mutex_lock(&lock);
}

void domain_planner_unlock(void)
{
    pthread_mutex_unlock(&lock);
}
