/*
 * process.h - starting a process, with the exact reason when it cannot be started.
 */
#ifndef COVEY_DAEMON_PROCESS_H
#define COVEY_DAEMON_PROCESS_H

#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "daemon/base/failure.h"

/* A growing list of strings that it owns, ended by NULL. */
struct strings {
    char **items;
    size_t count, capacity;
};
/* Appends a copy of size bytes. For environments, strings_set() replaces the "NAME=value" of the
 * same name, and strings_unique() keeps the last one of each name. 0 or -ENOMEM. */
int strings_add(struct strings *list, const char *bytes, size_t size);
int strings_set(struct strings *list, const char *bytes, size_t size);
int strings_unique(struct strings *list);
void strings_free(struct strings *list);

struct process {
    const char *program; /* as the user gave it; without a slash it is looked up in $PATH */
    char *const *argv, *const *env;
    const char *cwd;            /* NULL or "": stay */
    const struct rlimit *files; /* limit on descriptors; NULL: ours */
    bool tethered;              /* killed when the daemon dies */
    bool stays;                 /* in our session, unless that has a terminal */
    int in, out, err;           /* become descriptors 0, 1 and 2; in < 0: /dev/null */
};

/* Where a program lies, in path[PATH_MAX]. 0 or an enum covey_error, with *why, as process_start()
 * would give it. */
int process_find(const char *program, char *path, struct failure *why);

/* Starts it as the leader of a process group, and of a session unless it stays in ours; signals are
 * as at login. Returns its pid, or a negative enum covey_error: ENOENT (no such program or
 * directory), EEXEC (it is there but cannot be executed), ERESOURCE; *why names it. */
pid_t process_start(const struct process *process, struct failure *why);

#endif
