/*
 * call.h - what every public call begins and ends with.
 */
#ifndef COVEY_LIB_DRIVE_CALL_H
#define COVEY_LIB_DRIVE_CALL_H

#include <stdbool.h>
#include <stdint.h>

struct covey;

/* Takes the lock; the moment goes to call_end(), which adds the time to communication, less what
 * call_idle() booked as idle meanwhile. */
struct call {
    uint64_t start_us, idle_us;
    bool sampled;
    const char *name; /* in a trace */
    uint64_t begun;   /* in a trace; 0: it is in none */
    bool told;        /* in a trace: the record of its message is its own */
};
struct call call_begin_as(struct covey *vm, const char *name);
#define call_begin(vm) call_begin_as(vm, __func__)
int call_end(struct covey *vm, const struct call *call, int result);
/* The same of a call that takes a microsecond or less, as a rule: to look at the clock would be a
 * good part of that, so some of these calls are timed, and count for the others. `waited`: what it
 * did was waiting for a message. */
void call_begin_short(struct covey *vm, struct call *call, const char *name);
int call_end_short(struct covey *vm, const struct call *call, bool waited);
/* It will take longer: from here on it is as after call_begin(). */
void call_go_on(struct covey *vm, struct call *call, bool waited);
/* wait_until() whose time is idle time. */
int call_idle(struct covey *vm, bool (*done)(void *context), void *context, uint64_t deadline_us);

#endif
