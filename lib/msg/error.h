/*
 * error.h - errors of the library: a code for programs and one line for people, kept a thread.
 */
#ifndef COVEY_LIB_ERROR_H
#define COVEY_LIB_ERROR_H

#include "lib/covey.h"

/* Records the line and returns `code`, to be used as `return error_set(COVEY_EINVAL, "...")`. */
int error_set(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Records the fixed text of a code as the line and returns the code. */
int error_code(int code);

#endif
