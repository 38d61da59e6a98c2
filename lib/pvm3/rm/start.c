/*
 * start.c - pvm_start_pvmd(): beginning a virtual machine, by the program pvmd beside this library.
 */
#include "lib/pvm3/rm/start.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pvm3.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/pvm3/core/calls.h"
#include "lib/pvm3/core/error.h"
#include "lib/pvm3/core/vm.h"

/* The path of something beside this library; false: it is not there. */
static bool beside(const char *name, char *path, size_t size)
{
    Dl_info self;
    const char *slash = NULL;
    if (dladdr((void *)start_program, &self) != 0 && self.dli_fname != NULL)
        slash = strrchr(self.dli_fname, '/');
    int folder = slash == NULL ? 0 : (int)(slash - self.dli_fname);
    int length = slash == NULL ? 0 : snprintf(path, size, "%.*s/%s", folder, self.dli_fname, name);
    return length > 0 && (size_t)length < size && access(path, X_OK) == 0;
}

const char *start_program(const char *name, char *path, size_t size)
{
    return beside(name, path, size) ? path : name;
}

/* As it was installed, or as it was built. */
const char *start_root(char *path, size_t size)
{
    char found[PATH_MAX];
    if (!beside("../conf", found, sizeof found) && !beside("conf", found, sizeof found))
        return NULL;
    found[strlen(found) - strlen("conf")] = '\0';
    return size >= PATH_MAX ? realpath(found, path) : NULL;
}

/* What pvmd says of hosts that join is for people who start it themselves. */
static int daemon_spawn(char **arguments, pid_t *pid)
{
    char path[PATH_MAX];
    posix_spawn_file_actions_t actions;
    const char *program = start_program("pvmd", path, sizeof path);
    if (posix_spawn_file_actions_init(&actions) != 0)
        return ENOMEM;
    int error = posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    if (error == 0)
        error = posix_spawnp(pid, program, &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0)
        error_note("pvm_start_pvmd(): %s: %s", program, strerror(error));
    return error;
}

static int pvmd_run(char **arguments)
{
    pid_t pid;
    int status = 0;
    if (daemon_spawn(arguments, &pid) != 0)
        return PvmCantStart;
    while (waitpid(pid, &status, 0) < 0) {
        if (errno != EINTR)
            return PvmSysErr;
    }
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? PvmOk : PvmCantStart;
}

static int pvmd_start(int count, char **arguments)
{
    static char name[] = "pvmd";
    char **all = calloc((size_t)count + 2, sizeof *all);
    if (all == NULL)
        return PvmNoMem;
    all[0] = name;
    for (int i = 0; i < count; i++)
        all[i + 1] = arguments[i];
    int error = pvmd_run(all);
    free(all);
    return error;
}

/* The hosts of a host file are there when pvmd has ended, so there is nothing to wait for. That
 * some are not there, which it has said, does not matter when the virtual machine is. */
int call_start_pvmd(int count, char **arguments, int wait)
{
    (void)wait;
    if (count < 0 || (count > 0 && arguments == NULL))
        return lpvmerr("pvm_start_pvmd", PvmBadParam);
    if (vm_find() != NULL)
        return lpvmerr("pvm_start_pvmd", PvmDupHost);
    int error = pvmd_start(count, arguments);
    if (error == PvmCantStart && vm_find() != NULL)
        error = PvmOk;
    if (error == PvmOk && vm_enter() == NULL)
        error = PvmSysErr;
    return error_reported("pvm_start_pvmd", error);
}
