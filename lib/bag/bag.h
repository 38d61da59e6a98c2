/*
 * bag.h - what the files of the library share about bags: bag.c (the calls), bag_link.c (the way to
 * the daemon that holds a bag), bag_info.c.
 */
#ifndef COVEY_LIB_BAG_H
#define COVEY_LIB_BAG_H

#include "lib/member/vm.h"
#include "proto/bag/bag_user.h"
#include "proto/wire/frame.h"

/* What a task has of bags. */
struct bags {
    struct covey_bag *first;
    struct bag_incoming *incoming; /* answers about them */
    uint32_t handles;
};

static inline struct bags *bags_of(const struct covey *vm)
{
    return vm->part[PART_BAGS];
}

struct covey_bag {
    struct covey *vm;
    struct covey_bag *next; /* of the task */
    char name[CONTROL_NAME_MAX + 1];
    struct bag_user user;
    struct request *find; /* where is it? */
    uint64_t find_us;     /* asked then */
    uint64_t missing_us;  /* since then nobody knows it; 0: it is known */
    bool known;           /* it was found once */
    bool weighed;         /* what this task has of a processor was asked */
};

/* Waits until done(bag), or until the bag has failed; `what` says what did not come in time. */
int bag_await(struct covey_bag *bag, bool (*done)(void *), uint64_t deadline_us, const char *what);
/* Waits until more records can be queued. */
int bag_make_room(struct covey_bag *bag);

/* Does what is due for all: asks where a bag is, sends what is to be sent. */
void bag_step(struct covey_bag *bag);

/* What this task has of a processor now, in thousandths of an ordinary one; 0: not known. Asks the
 * own daemon, which answers at once. */
uint16_t bag_weigh(struct covey *vm);

/* Something that bags may wait for came, or is due. */
void bag_settle(struct covey *vm);
void bag_on_answer(struct covey *vm, const struct frame *frame, const uint8_t *payload);
void bag_check(struct covey *vm, uint64_t now_us);
void bag_on_host_event(struct covey *vm, const struct control_host_event *event);
void bag_leave_all(struct covey *vm); /* says goodbye, and does not wait */
void bag_free_all(struct covey *vm);

#endif
