/*
 * detach.c - the daemon leaves its terminal by two forks: the first makes a session, the second
 * ends up in it without leading it, so that no terminal can become its own. Who started it reads
 * one line from a pipe, and so learns of a failure that comes after the forks.
 */
#include "daemon/root/detach.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int detach(int *ready, bool stays, struct failure *why)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return failure_set(why, "cannot go to the background: %s", strerror(errno));
    pid_t pid = fork();
    if (pid < 0)
        return failure_set(why, "cannot go to the background: %s", strerror(errno));
    if (pid > 0) {
        close(ends[1]);
        waitpid(pid, NULL, 0); /* it only forks again, so that the daemon leads no session */
        *ready = ends[0];
        return 1;
    }
    close(ends[0]);
    if (!stays)
        setsid();
    if (fork() != 0)
        _exit(0);
    int null = open("/dev/null", O_RDWR);
    for (int fd = 0; null >= 0 && fd <= 2; fd++)
        dup2(null, fd);
    if (null > 2)
        close(null);
    *ready = ends[1];
    return 0;
}

/* Whether the line comes before the reader of standard output goes: a terminal has none. */
static bool line_wanted(int ready)
{
    struct pollfd ends[] = {{.fd = ready, .events = POLLIN}, {.fd = STDOUT_FILENO}};
    while (poll(ends, 2, -1) < 0 && errno == EINTR)
        ;
    return ends[0].revents != 0;
}

int detach_wait(int ready, bool print, struct failure *why)
{
    if (print && !line_wanted(ready))
        return failure_set(why, "the launcher ended");
    FILE *in = fdopen(ready, "r");
    char line[sizeof why->text] = "";
    if (in == NULL || fgets(line, sizeof line, in) == NULL)
        return failure_set(why, "the daemon ended unexpectedly");
    fclose(in);
    line[strcspn(line, "\n")] = '\0';
    if (strncmp(line, "ok ", 3) != 0)
        return failure_set(why, "%s", line);
    if (print && (puts(line) < 0 || fflush(stdout) != 0))
        return failure_set(why, "cannot write to standard output: %s", strerror(errno));
    return 0;
}
