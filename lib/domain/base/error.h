/*
 * error.h - failing with a code and one line of text.
 */
#ifndef COVEY_LIB_DOMAIN_BASE_ERROR_H
#define COVEY_LIB_DOMAIN_BASE_ERROR_H

#include "lib/domain/covey_domain/base.h"

/* Sets the text of covey_domain_error_text() and returns the error. */
int domain_fail(int error, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same for an error of libcovey, whose own text follows `what` and a colon. */
int domain_fail_of(int error, const char *what);

/* A member that cannot go on ends the running calls of all others on the team, which is broken
 * then: without it they would wait for its messages. Returns the error, and keeps the text. */
int domain_break(covey_team_t *team, int error);

#endif
