/*
 * giving.c - offering the processor to others while a task waits: see giving.h.
 */
#include "lib/member/giving.h"
#include "lib/member/spread.h"
#include "lib/msg/clock.h"

#include <sched.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Tasks that wait for each other, or copy a large array for each other, pass it on sooner. Who
 * computes keeps it until a tick of the kernel, 1 to 4 ms, at which its slice of 1.4 ms or more is
 * over. */
#define KEPT_NS 1500000
#define CALLS 4        /* whose least time is that of a system call */
#define SWITCH_NS 1500 /* the least that another task takes, beside two system calls */
/* Waits: one slice may be a daemon's, who gives it back for long, or that of a task that touches
 * new memory, which does so once. */
#define PAUSE_MIN 4
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

bool giving_learn(struct giving *giving, uint64_t ns)
{
    if (ns <= KEPT_NS)
        return false;
    unsigned pause = giving->pause * 2;
    giving->pause = pause < PAUSE_MIN ? PAUSE_MIN : pause > PAUSE_MAX ? PAUSE_MAX : pause;
    giving->left = giving->pause;
    return true;
}

static uint64_t system_call_ns(void)
{
    uint64_t least_ns = UINT64_MAX;
    for (int i = 0; i < CALLS; i++) {
        uint64_t before_ns = clock_ns();
        syscall(SYS_getppid);
        uint64_t ns = clock_ns() - before_ns;
        least_ns = ns < least_ns ? ns : least_ns;
    }
    return least_ns;
}

/* Measured once: each thread that finds it unknown comes to much the same. */
bool giving_wanted(uint64_t ns)
{
    static _Atomic uint64_t wanted_ns;
    uint64_t from_ns = atomic_load_explicit(&wanted_ns, memory_order_relaxed);
    if (from_ns == 0) {
        from_ns = 2 * system_call_ns() + SWITCH_NS;
        atomic_store_explicit(&wanted_ns, from_ns, memory_order_relaxed);
    }
    return ns > from_ns;
}

uint64_t giving_offer(void)
{
    uint64_t before_ns = clock_ns();
    sched_yield();
    uint64_t ns = clock_ns() - before_ns;
    spread_offered(giving_wanted(ns));
    return ns;
}
