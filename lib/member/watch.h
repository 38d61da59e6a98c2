/*
 * watch.h - the descriptors that whoever polls looks at, and what wakes whoever sleeps.
 */
#ifndef COVEY_LIB_MEMBER_WATCH_H
#define COVEY_LIB_MEMBER_WATCH_H

#include <stdint.h>

struct covey;

/* What epoll reports on: a descriptor and who cares. */
struct watch {
    void (*ready)(struct covey *vm, struct watch *watch, uint32_t events);
    int fd;
    uint32_t events;
};

/* Something that a thread may wait for came about: whoever waits looks again, also who polls. */
void wait_changed(struct covey *vm);
/* Registers, changes (by watch->events) or ends interest in a descriptor. */
int watch_add(struct covey *vm, struct watch *watch);
void watch_change(struct covey *vm, struct watch *watch, uint32_t events);
void watch_remove(struct covey *vm, struct watch *watch);
void watch_pause(struct covey *vm, struct watch *watch); /* until watch_add() */
/* An eventfd that wakes who sleeps each time it is rung, and does nothing else. What it belongs to
 * may be freed once its watch has ended: who polls may hear of it later, but touches nothing of it.
 */
int watch_bell(struct covey *vm, int fd);
void watch_bell_end(struct covey *vm, int fd);
/* Asks for deadlines to be looked at then, at the latest. */
void wait_check_at(struct covey *vm, uint64_t at_us);
void wait_ring(struct covey *vm); /* ends the sleep of whoever polls */

#endif
