/*
 * turn.h - bulk messages from several others are taken one after the other.
 */
#ifndef COVEY_LIB_ENGINE_TURN_H
#define COVEY_LIB_ENGINE_TURN_H

#include <stdint.h>

struct arrival;
struct covey;

void turn_begin(struct covey *vm, struct arrival *a, uint64_t sequence);
void turn_moved(struct covey *vm, struct arrival *a); /* bytes of it came */
void turn_end(struct covey *vm, struct arrival *a);   /* it is whole, or will not come */
void turn_check(struct covey *vm, uint64_t now_us);
void turn_free_all(struct covey *vm);

#endif
