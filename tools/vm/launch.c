/*
 * launch.c - starts the first daemon of a VM: finds coveyd (where COVEYD says, or near this
 * program), runs it with the environment that is asked for, and waits for its end.
 */
#include "tools/vm/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/base/child.h"
#include "tools/base/tool.h"

/* The folder this program lies in, with a slash at the end. */
static bool own_folder(char *path, size_t size)
{
    ssize_t length = readlink("/proc/self/exe", path, size - 1);
    if (length <= 0)
        return false;
    path[length] = '\0';
    char *slash = strrchr(path, '/');
    if (!slash)
        return false;
    slash[1] = '\0';
    return true;
}

void launch_find(char *path, size_t size)
{
    static const char *const places[] = {"coveyd", "../sbin/coveyd", "../libexec/coveyd",
                                         "../libexec/covey/coveyd"};
    char folder[PATH_MAX];
    const char *chosen = getenv("COVEYD");
    if (chosen && *chosen) {
        snprintf(path, size, "%s", chosen);
        return;
    }
    bool known = own_folder(folder, sizeof folder);
    for (size_t i = 0; known && i < sizeof places / sizeof *places; i++) {
        snprintf(path, size, "%s%s", folder, places[i]);
        if (access(path, X_OK) == 0)
            return;
    }
    snprintf(path, size, "coveyd");
}

static int spawn_daemon(pid_t *pid, char **argv, char **env)
{
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    return child_spawn(pid, &files, argv, env);
}

static size_t count_variables(const char *const *list)
{
    size_t count = 0;
    while (list && list[count])
        count++;
    return count;
}

static bool is_set(const char *variable, const char *const *env)
{
    size_t name = strcspn(variable, "=") + 1;
    for (; env && *env; env++) {
        if (strncmp(*env, variable, name) == 0)
            return true;
    }
    return false;
}

/* The environment with the variables of env in place of its own; NULL: memory is exhausted. */
static char **merge_env(const char *const *env)
{
    size_t own = count_variables((const char *const *)environ), more = count_variables(env),
           used = 0;
    char **merged = calloc(own + more + 1, sizeof *merged);
    for (size_t i = 0; merged && i < own; i++) {
        if (!is_set(environ[i], env))
            merged[used++] = environ[i];
    }
    for (size_t i = 0; merged && i < more; i++)
        merged[used++] = (char *)env[i];
    return merged;
}

pid_t launch_daemon(const char *what, char **argv, const char *const *env)
{
    char path[PATH_MAX + 32];
    pid_t pid;
    launch_find(path, sizeof path);
    argv[0] = path;
    char **merged = merge_env(env);
    int error = merged ? spawn_daemon(&pid, argv, merged) : ENOMEM;
    free(merged);
    argv[0] = NULL;
    if (error == 0)
        return pid;
    tool_error(what, "cannot run %s: %s; set COVEYD to the path of coveyd", path, strerror(error));
    return -1;
}

int launch_wait(pid_t pid)
{
    int status;
    while (waitpid(pid, &status, 0) < 0) {
        if (errno != EINTR)
            return 127;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
