/*
 * options.h - the command line of coveyd.
 */
#ifndef COVEY_DAEMON_OPTIONS_H
#define COVEY_DAEMON_OPTIONS_H

#include <stdbool.h>

#include "daemon/base/failure.h"

struct options {
    const char *vm, *host, *config, *cwd, *fault, *slow, *fail_timeout; /* NULL: not given */
    const char *address, *bind, *interface, *port, *speed;
    bool join, local, loopback, foreground, attached, verbose, encrypt, withhold;
    const char *guest; /* the ticket by which it joins */
    /* no options, but what main.c made: */
    bool born;   /* in the nursery (launch/nursery.h) */
    int nursery; /* where more are asked for; -1: nowhere */
};

enum { OPTIONS_GO = 0, OPTIONS_DONE = 1, OPTIONS_BAD = -1 };

/* Reads argv. OPTIONS_DONE: --help or --version was asked for and answered. OPTIONS_BAD: *why says
 * what is wrong. */
int options_parse(struct options *options, int argc, char **argv, struct failure *why);

#endif
