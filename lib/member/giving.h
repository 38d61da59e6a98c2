/*
 * giving.h - offering the processor to others while a task waits, unless they keep it for long.
 *
 * Where those who want the processor are tasks that wait for each other, sched_yield() passes it
 * round in microseconds. Where somebody computes, it comes back after a slice of milliseconds, and
 * whoever sleeps is better off: the kernel wakes a sleeper at once. So a task that lost a slice
 * sleeps through its next few waits, and twice as many each time that happens soon again.
 */
#ifndef COVEY_LIB_MEMBER_GIVING_H
#define COVEY_LIB_MEMBER_GIVING_H

#include <stdbool.h>
#include <stdint.h>

/* All 0 at first. */
struct giving {
    unsigned left;  /* waits that are slept through from now on, */
    unsigned pause; /* and as many as that were the last time */
};

/* Once a wait: whether it may offer the processor. */
bool giving_may(struct giving *giving);
/* Offers it, and learns; returns for how many microseconds others had it. */
uint64_t giving_yield(struct giving *giving);
/* Learns from an offer that took so long. */
void giving_learn(struct giving *giving, uint64_t us);

#endif
