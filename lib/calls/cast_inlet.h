/*
 * cast_inlet.h - messages that were cast, coming in.
 */
#ifndef COVEY_LIB_CALLS_CAST_INLET_H
#define COVEY_LIB_CALLS_CAST_INLET_H

#include <stdint.h>

struct covey;
struct frame;

void cast_inlet_on_data(struct covey *vm, const struct frame *frame, const uint8_t *payload);

#endif
