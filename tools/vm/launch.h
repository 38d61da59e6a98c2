/* Starting the first daemon of a VM: finding coveyd and running it, or having systemd run it. */
#ifndef COVEY_TOOLS_LAUNCH_H
#define COVEY_TOOLS_LAUNCH_H

#include <stddef.h>
#include <sys/types.h>

/* Finds coveyd: $COVEYD, or beside this program, in ../sbin or ../libexec from there; a result
 * without a slash is to be looked up in PATH. */
void launch_find(char *path, size_t size);

/* Starts `coveyd ARGV...` (argv[0] is set here) with the variables of env, a list of "NAME=value"
 * ended by NULL, or NULL, added to the environment, in a process group of its own, so that Ctrl-C
 * does not reach it, with no signal blocked and standard input from /dev/null.
 * Reports a failure as `what` and returns -1. */
pid_t launch_daemon(const char *what, char **argv, const char *const *env);

/* The same by systemd, which keeps the daemon: starts `systemctl --user start covey@VM`, whose
 * daemon gets argv[1...] from a file that is written here. service.c */
pid_t launch_service(const char *what, const char *vm_name, char **argv);

/* It did not start: what it got is taken away, and what an earlier start gave is back. */
void launch_service_drop(const char *vm_name);

/* Has systemd start it from now on whenever it starts for this user; TOOL_OK or TOOL_FAILED. */
int launch_service_keep(const char *what, const char *vm_name);

/* Waits for coveyd to go into the background. Returns its exit status, 128 + a signal. */
int launch_wait(pid_t pid);

#endif
