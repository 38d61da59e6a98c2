/*
 * child.c - starts a program in a process group of its own: Ctrl-C at the terminal then reaches
 * the console alone, which decides what to pass on.
 */
#include "tools/base/child.h"

#include <signal.h>

int child_spawn(pid_t *pid, posix_spawn_file_actions_t *files, char *const *argv, char *const *env)
{
    posix_spawnattr_t attributes;
    sigset_t none;
    sigset_t defaults;
    sigemptyset(&none);
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
                                              POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    int error = posix_spawnp(pid, argv[0], files, &attributes, argv, env);
    posix_spawn_file_actions_destroy(files);
    posix_spawnattr_destroy(&attributes);
    return error;
}
