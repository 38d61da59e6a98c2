/*
 * service.c - the first daemon of a VM as a service that systemd runs for the user: the unit is
 * covey@VM.service, from share/systemd/covey@.service, and what coveyd is called with lies in
 * ~/.config/covey/VM.service, which the unit reads. So systemd starts the same daemon again when
 * the user logs in, or when the machine starts and he may linger.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/base/child.h"
#include "tools/base/tool.h"
#include "tools/vm/launch.h"

#define UNIT_BYTES 256 /* as systemd has it */
#define BESIDE_BYTES (PATH_MAX + 8)
#define NAME_CHARACTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789:_.-"
#define WORD_SPECIAL " \t\n\"'\\$%"

/* systemctl --user VERB [UNIT]; what it prints is for the user unless it is `quiet`. */
static int run_systemctl(pid_t *pid, const char *verb, const char *unit, bool quiet)
{
    const char *argv[] = {"systemctl", "--user", verb, unit, NULL};
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    for (int fd = STDOUT_FILENO; quiet && fd <= STDERR_FILENO; fd++)
        posix_spawn_file_actions_addopen(&files, fd, "/dev/null", O_WRONLY, 0);
    return child_spawn(pid, &files, (char *const *)argv, environ);
}

/* Whether a systemd runs for this user, or else why there is no service. */
static bool is_there(const char *what)
{
    pid_t pid;
    int error = run_systemctl(&pid, "show-environment", NULL, true);
    if (error == ENOENT)
        tool_error(what, "--service: this machine has no systemctl; start without --service");
    else if (error != 0)
        tool_error(what, "--service: systemctl cannot be run: %s", strerror(error));
    else if (launch_wait(pid) != 0)
        tool_error(what, "--service: no systemd answers systemctl --user here: log in as this user "
                         "(with ssh or machinectl, not su), or start without --service");
    else
        return true;
    return false;
}

static bool name_unit(const char *what, const char *vm_name, char unit[UNIT_BYTES])
{
    bool fits = strspn(vm_name, NAME_CHARACTERS) == strlen(vm_name) &&
                snprintf(unit, UNIT_BYTES, "covey@%s.service", vm_name) < UNIT_BYTES;
    if (!fits)
        tool_error(what, "--service: VM %s: a service has letters, digits and :_.- in its name",
                   vm_name);
    return fits;
}

/* ~/.config/covey/NAME with its folders */
static bool name_file(const char *vm_name, char *path, size_t size)
{
    const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    bool own = config && config[0] == '/';
    if (!own && !(home && home[0] == '/')) {
        errno = ENOENT;
        return false;
    }
    int length = snprintf(path, size, "%s%s/covey/%s.service", own ? config : home,
                          own ? "" : "/.config", vm_name);
    if (length >= (int)size) {
        errno = ENAMETOOLONG;
        return false;
    }
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        bool made = mkdir(path, 0700) == 0 || errno == EEXIST;
        *slash = '/';
        if (!made)
            return false;
    }
    return true;
}

static void name_beside(const char *path, const char *ending, char beside[BESIDE_BYTES])
{
    snprintf(beside, BESIDE_BYTES, "%s%s", path, ending);
}

/* The file of an earlier start is kept until systemd has started the daemon with the new one. */
static bool put_in_place(const char *fresh, const char *path)
{
    char old[BESIDE_BYTES];
    name_beside(path, ".old", old);
    unlink(old);
    return (rename(path, old) == 0 || errno == ENOENT) && rename(fresh, path) == 0;
}

/* What follows argv[0] "--vm" NAME, which the unit has. */
static bool write_words(const char *what, const char *vm_name, char *const *words)
{
    char path[PATH_MAX], fresh[BESIDE_BYTES];
    for (char *const *word = words; *word; word++) {
        if (strpbrk(*word, WORD_SPECIAL) || !**word)
            return tool_error(what, "--service: '%s': may have no blank, quote, \\, $ or %%",
                              *word),
                   false;
    }
    FILE *file = NULL;
    if (name_file(vm_name, path, sizeof path)) {
        name_beside(path, ".new", fresh);
        file = fopen(fresh, "we");
    }
    if (!file)
        return tool_error(what, "--service: the options cannot be kept: %s", strerror(errno)),
               false;
    fputs("# written by covey start --service; read by covey@.service\nCOVEYD_OPTIONS=", file);
    for (char *const *word = words; *word; word++)
        fprintf(file, "%s%s", word > words ? " " : "", *word);
    putc('\n', file);
    bool lost = ferror(file);
    if (fclose(file) == 0 && !lost && put_in_place(fresh, path))
        return true;
    tool_error(what, "--service: %s cannot be written: %s", path, strerror(errno));
    unlink(fresh);
    return false;
}

pid_t launch_service(const char *what, const char *vm_name, char **argv)
{
    char unit[UNIT_BYTES];
    const struct covey_options options = {.vm = vm_name, .role = COVEY_ROLE_CONSOLE};
    covey_t *vm = NULL;
    pid_t pid;
    if (covey_join(&vm, &options) == 0) {
        covey_leave(&vm);
        tool_error(what, "--service: VM %s runs here already; end it with: covey --vm %s halt",
                   vm_name, vm_name);
        return -1;
    }
    if (!name_unit(what, vm_name, unit) || !is_there(what) || !write_words(what, vm_name, &argv[3]))
        return -1;
    int error = run_systemctl(&pid, "start", unit, false);
    if (error == 0)
        return pid;
    launch_service_drop(vm_name);
    tool_error(what, "--service: systemctl cannot be run: %s", strerror(error));
    return -1;
}

void launch_service_drop(const char *vm_name)
{
    char path[PATH_MAX], old[BESIDE_BYTES];
    if (!name_file(vm_name, path, sizeof path))
        return;
    name_beside(path, ".old", old);
    if (rename(old, path) != 0)
        unlink(path);
}

static void forget_old(const char *vm_name)
{
    char path[PATH_MAX], old[BESIDE_BYTES];
    if (name_file(vm_name, path, sizeof path)) {
        name_beside(path, ".old", old);
        unlink(old);
    }
}

int launch_service_keep(const char *what, const char *vm_name)
{
    char unit[UNIT_BYTES];
    pid_t pid;
    if (!name_unit(what, vm_name, unit))
        return TOOL_FAILED;
    forget_old(vm_name);
    int error = run_systemctl(&pid, "enable", unit, false);
    if (error == 0 && launch_wait(pid) == 0)
        return TOOL_OK;
    return tool_error(what,
                      "--service: systemd runs it, but will not start it again: "
                      "systemctl --user enable %s failed",
                      unit);
}
