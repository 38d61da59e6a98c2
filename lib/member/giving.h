/*
 * giving.h - offering the processor to others while a task waits, unless they keep it for long.
 *
 * Where those who want the processor are tasks that wait for each other, sched_yield() passes it
 * round in microseconds. Where somebody computes, it comes back after a slice of milliseconds, and
 * whoever sleeps is better off: the kernel wakes a sleeper at once. So a task that lost a slice
 * sleeps through its next few waits, and twice as many each time that happens soon again.
 *
 * What passing it on takes is a matter of the machine: from half a microsecond to ten, where a
 * system call goes through a hypervisor. So how long to offer it is counted in offers, of which
 * each costs this task one system call, and whether anybody wanted it is told by what a system call
 * takes here.
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
/* Offers it; returns for how many nanoseconds this task was without it, with the call itself. */
uint64_t giving_offer(void);
/* Whether an offer that took so long says that somebody else wanted the processor. */
bool giving_wanted(uint64_t ns);
/* Learns from it; true: a slice was lost, and the rest of this wait is slept through as well. */
bool giving_learn(struct giving *giving, uint64_t ns);

#endif
