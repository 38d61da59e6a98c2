/*
 * files.h - descriptors, of which there is a limit. The last few below it are a reserve: for
 * descriptors on their way between tasks, and for saying to a task that there are none left.
 */
#ifndef COVEY_DAEMON_FILES_H
#define COVEY_DAEMON_FILES_H

#include <stdbool.h>
#include <sys/resource.h>

#include "daemon/base/failure.h"

struct files {
    struct rlimit tasks; /* what tasks get: the limit as it was */
    int limit;           /* ours */
};

/* Raises the limit as far as it goes. -1 and *why when it is too low to work with. */
int files_init(struct files *files, struct failure *why);

/* Whether a descriptor that was just made lies in the reserve: the lowest free number is taken, so
 * about that many are in use. */
bool files_short(const struct files *files, int fd);

/* Closes so many of them. */
void files_close(const int *fds, int count);

#endif
