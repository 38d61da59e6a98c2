/*
 * child.h - starting a program beside the console: in a process group of its own, so that a Ctrl-C
 * at the terminal is the console's alone to pass on, with no signal blocked and SIGPIPE as usual.
 */
#ifndef COVEY_TOOLS_CHILD_H
#define COVEY_TOOLS_CHILD_H

#include <spawn.h>
#include <sys/types.h>

/* Looks up argv[0] in PATH and starts it with what `files` does to its descriptors, which it then
 * destroys. 0, or an errno. */
int child_spawn(pid_t *pid, posix_spawn_file_actions_t *files, char *const *argv, char *const *env);

#endif
