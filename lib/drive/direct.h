/*
 * direct.h - raw Ethernet between two tasks.
 */
#ifndef COVEY_LIB_DRIVE_DIRECT_H
#define COVEY_LIB_DRIVE_DIRECT_H

#include <stdbool.h>
#include <stdint.h>

struct covey;
struct frame;

/* What a link of the other task's would have sent in a raw frame. */
void direct_on_detour(struct covey *vm, const struct frame *frame, const uint8_t *payload);
/* Around a sleep that frames must end. False: they cannot, there is no memory. */
bool direct_sleep(struct covey *vm);
void direct_wake(struct covey *vm);
/* The links will be looked at again and again. */
void direct_look(struct covey *vm);

#endif
