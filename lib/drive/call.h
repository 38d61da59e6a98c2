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
};
struct call call_begin(struct covey *vm);
int call_end(struct covey *vm, const struct call *call, int result);
/* wait_until() whose time is idle time. */
int call_idle(struct covey *vm, bool (*done)(void *context), void *context, uint64_t deadline_us);

#endif
