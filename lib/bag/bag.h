/*
 * bag.h - what the files of the library share about bags: bag.c (the calls), bag_link.c (the way to
 * the daemon that holds a bag), bag_info.c.
 */
#ifndef COVEY_LIB_BAG_H
#define COVEY_LIB_BAG_H

#include "lib/engine/task.h"
#include "proto/bag/bag_user.h"

struct covey_bag {
    struct covey *vm;
    struct covey_bag *next; /* of vm->bags */
    char name[CONTROL_NAME_MAX + 1];
    struct bag_user user;
    struct request *find; /* where is it? */
    uint64_t find_us;     /* asked then */
    uint64_t missing_us;  /* since then nobody knows it; 0: it is known */
    bool known;           /* it was found once */
};

/* Does what is due for all: asks where a bag is, sends what is to be sent. */
void bag_step(struct covey_bag *bag);

/* Asks a daemon how it stands with a bag; fills *info but for its name. */
int bag_look(struct covey *vm, uint64_t id, uint32_t holder, struct covey_bag_info *info);

#endif
