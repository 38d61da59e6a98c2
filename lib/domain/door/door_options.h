/*
 * door_options.h - the options of a call: those of all calls, and the rest, which is the library's.
 */
#ifndef COVEY_LIB_DOMAIN_DOOR_DOOR_OPTIONS_H
#define COVEY_LIB_DOMAIN_DOOR_DOOR_OPTIONS_H

#include "lib/domain/door/door.h"

struct door_options {
    int hosts, tasks; /* -1: chosen */
    int retry;
    double keep_s, limit_s; /* limit_s 0: none */
    int explain;
    char rest[DOOR_OPTION_BYTES];
};

/* Reads the text (NULL: none), and then COVEY_DOOR over it. Errors: EINVAL. */
int door_options_read(const char *text, struct door_options *options);

#endif
