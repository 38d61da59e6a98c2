/*
 * failure.h - one line of text for people: built where an error is decided, prefixed on the way
 * up, shown or logged once.
 */
#ifndef COVEY_DAEMON_FAILURE_H
#define COVEY_DAEMON_FAILURE_H

struct failure {
    char text[512];
};

/* Sets the text and returns -1, so that callers can `return failure_set(...)`. */
__attribute__((format(printf, 2, 3))) int failure_set(struct failure *f, const char *format, ...);
int failure_memory(struct failure *f); /* that there is none left; -1, too */

#endif
