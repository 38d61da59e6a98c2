/*
 * start.h - programs that belong to this library.
 */
#ifndef COVEY_PVM3_START_H
#define COVEY_PVM3_START_H

#include <stddef.h>

/* Where the program of that name lies: beside this library, or, as PVM's own may be in PATH, its
 * name when it does not. */
const char *start_program(const char *name, char *path, size_t size);

/* The folder that is PVM_ROOT of this library; NULL: it lies elsewhere. */
const char *start_root(char *path, size_t size);

#endif
