/*
 * helper.h - the programs that stand beside coveyd, such as covey-probe: in a folder with it where
 * they are built, in libexec/covey where they are installed. They do what needs neither the VM's
 * key nor its state.
 */
#ifndef COVEY_DAEMON_HELPER_H
#define COVEY_DAEMON_HELPER_H

#include <limits.h>
#include <stdbool.h>

#include "daemon/base/failure.h"

enum { HELPER_PATH_BYTES = PATH_MAX + 64 };

/* For coveyd: where the program of that name is. Returns 0, or -1 with *why. */
int helper_find(const char *name, char path[HELPER_PATH_BYTES], struct failure *why);

/* For the main() of such a program: answers --help and --version where one of them is the first
 * argument. `usage` is the whole text. Returns whether it did. */
bool helper_answer(int argc, char **argv, const char *usage);

#endif
