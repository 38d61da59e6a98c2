/*
 * door_limit.h - an end to what workers may take: a worker that is stopped (SIGSTOP) is no lost one
 * for the VM, and would be waited for.
 */
#ifndef COVEY_LIB_DOMAIN_DOOR_DOOR_LIMIT_H
#define COVEY_LIB_DOMAIN_DOOR_DOOR_LIMIT_H

#include "lib/domain/door/door_crew.h"

#include <pthread.h>

struct door_limit {
    const struct door_crew *crew;
    int tasks; /* the first of the crew, the caller among them */
    int is_running, is_over, is_reached;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t over;
};

/* From now on the crew has crew->limit_us; then its first workers are killed, so that whatever the
 * caller waits for ends with an error. 0: there is no limit. The crew stays as it is until
 * door_limit_end(). Errors: ENOMEM. */
int door_limit_begin(struct door_limit *limit, const struct door_crew *crew, int tasks);

/* Ends that. Returns `error`, or ETIMEOUT where the limit was the cause of it. */
int door_limit_end(struct door_limit *limit, int error);

#endif
