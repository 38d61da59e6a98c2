/*
 * door_limit.c - a thread that sleeps until the work is over or the limit is reached. Calls of
 * libcovey in which the caller may be have no common limit: what ends all of them is that the
 * workers are no more.
 */
#include "lib/domain/door/door_limit.h"

#include "lib/domain/base/error.h"

#include <signal.h>
#include <time.h>

static void set_deadline(struct timespec *at, int64_t limit_us)
{
    clock_gettime(CLOCK_MONOTONIC, at);
    at->tv_sec += (time_t)(limit_us / 1000000);
    at->tv_nsec += (long)(limit_us % 1000000) * 1000;
    at->tv_sec += at->tv_nsec / 1000000000;
    at->tv_nsec %= 1000000000;
}

static void *watch(void *context)
{
    struct door_limit *limit = context;
    struct timespec deadline;
    int failed = 0;
    set_deadline(&deadline, limit->crew->limit_us);
    pthread_mutex_lock(&limit->lock);
    while (!limit->is_over && failed == 0)
        failed = pthread_cond_timedwait(&limit->over, &limit->lock, &deadline);
    limit->is_reached = !limit->is_over;
    pthread_mutex_unlock(&limit->lock);
    for (int i = 1; limit->is_reached && i < limit->tasks; i++)
        covey_signal(limit->crew->vm, limit->crew->tids[i], SIGKILL);
    return NULL;
}

/* No signal of the program is handled in it. */
static int start(struct door_limit *limit)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(&limit->thread, NULL, watch, limit);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failed;
}

int door_limit_begin(struct door_limit *limit, const struct door_crew *crew, int tasks)
{
    pthread_condattr_t monotonic;
    *limit = (struct door_limit){.crew = crew, .tasks = tasks};
    if (crew->limit_us <= 0)
        return 0;
    pthread_mutex_init(&limit->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&limit->over, &monotonic);
    pthread_condattr_destroy(&monotonic);
    limit->is_running = start(limit) == 0;
    if (limit->is_running)
        return 0;
    pthread_cond_destroy(&limit->over);
    pthread_mutex_destroy(&limit->lock);
    return domain_fail(COVEY_ENOMEM, "no thread can be started that watches the limit");
}

int door_limit_end(struct door_limit *limit, int error)
{
    if (!limit->is_running)
        return error;
    pthread_mutex_lock(&limit->lock);
    limit->is_over = 1;
    pthread_cond_signal(&limit->over);
    pthread_mutex_unlock(&limit->lock);
    pthread_join(limit->thread, NULL);
    pthread_cond_destroy(&limit->over);
    pthread_mutex_destroy(&limit->lock);
    limit->is_running = 0;
    if (error >= 0 || !limit->is_reached)
        return error;
    return domain_fail(COVEY_ETIMEOUT, "the workers did not end within the limit of %g s",
                       1e-6 * (double)limit->crew->limit_us);
}
