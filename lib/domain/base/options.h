/*
 * options.h - the text by which a program, or its user, forces an algorithm:
 *
 *   options = [ option *( "," option ) ]
 *   option  = KEY "=" VALUE / VALUE          ; without a key: a value of the first one
 *
 * The environment variable of the library has the same form, and each option in it counts instead
 * of the program's.
 */
#ifndef COVEY_LIB_DOMAIN_BASE_OPTIONS_H
#define COVEY_LIB_DOMAIN_BASE_OPTIONS_H

#include "lib/domain/covey_domain/base.h"

#define DOMAIN_CHOSEN (-1) /* the value of an option that nobody gave */
#define DOMAIN_OPTION_TEXT 32

/* One option: what is allowed, and what was given. */
struct domain_option {
    const char *key;
    const char *const
        *names;    /* the values that it may have, NULL behind the last; NULL: any text */
    int32_t value; /* place among the names; DOMAIN_CHOSEN: not given */
    char text[DOMAIN_OPTION_TEXT]; /* of an option without names; "" when not given */
};

/* Sets the value of each option from the text (NULL: none) and from the environment variable.
 * Errors: EINVAL, and the text names what is allowed. */
int domain_options_read(const char *text, const char *variable, struct domain_option *options,
                        int n);

/* The same at all members of a team, which then have the values of rank 0: the environment may
 * differ from host to host. A collective call. Errors: EINVAL at all members when a member's text
 * is wrong; those of all collective calls. */
int domain_options_agree(covey_team_t *team, const char *text, const char *variable,
                         struct domain_option *options, int n);

#endif
