/*
 * parts.h - gives a membership its parts, and takes them down.
 */
#ifndef COVEY_LIB_ROOT_PARTS_H
#define COVEY_LIB_ROOT_PARTS_H

#include <stdbool.h>

struct covey;

bool parts_create(struct covey *vm); /* false: no memory; parts_destroy() frees what is there */
void parts_destroy(struct covey *vm);

#endif
