/*
 * giving.c - offering the processor to others while a task waits: see giving.h.
 */
#include "lib/member/giving.h"
#include "lib/msg/clock.h"

#include <sched.h>

#define KEPT_US 500 /* tasks that wait for each other pass it on sooner */
#define PAUSE_MIN                                                                                  \
    16 /* waits: one slice may be a daemon's or another task's, who give it back for long */
#define PAUSE_MAX 4096
#define FORGETS 64 /* waits: the pause grows where a slice is lost in fewer, and else shrinks */

bool giving_may(struct giving *giving)
{
    if (giving->left > 0) {
        giving->left--;
        return false;
    }
    giving->pause -= (giving->pause + FORGETS - 1) / FORGETS;
    return true;
}

void giving_learn(struct giving *giving, uint64_t us)
{
    if (us <= KEPT_US)
        return;
    unsigned pause = giving->pause * 2;
    giving->pause = pause < PAUSE_MIN ? PAUSE_MIN : pause > PAUSE_MAX ? PAUSE_MAX : pause;
    giving->left = giving->pause;
}

uint64_t giving_yield(struct giving *giving)
{
    uint64_t before_us = clock_us();
    sched_yield();
    uint64_t us = clock_us() - before_us;
    giving_learn(giving, us);
    return us;
}
