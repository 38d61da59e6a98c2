/* links:  */
/*
 * pry.c - what another user of the host tries on a daemon or task: to trace it, read its memory,
 * environment and descriptors, stop it.
 *
 *   pry PID [SOCKET]      prints what succeeded, a line each; the exit status is 1 then
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

static int succeeded;

static void report(const char *what, long result)
{
    if (result < 0)
        return;
    printf("%s\n", what);
    succeeded = 1;
}

static void try_files(const char *pid)
{
    static const char *const names[] = {"environ", "mem",   "maps",   "fd",        "cwd",
                                        "root",    "exe",   "fdinfo", "map_files", "io",
                                        "auxv",    "stack", "syscall"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char path[64], byte;
        snprintf(path, sizeof path, "/proc/%s/%s", pid, names[i]);
        int fd = open(path, O_RDONLY);
        report(path, fd < 0 ? -1 : read(fd, &byte, 1) < 0 && errno != EISDIR ? -1 : 0);
    }
    for (int number = 0; number < 64; number++) {
        char path[64];
        snprintf(path, sizeof path, "/proc/%s/fd/%d", pid, number);
        report(path, open(path, O_RDONLY | O_NONBLOCK));
    }
}

static void try_memory(pid_t pid)
{
    char byte;
    struct iovec local = {&byte, 1}, remote = {(void *)(uintptr_t)0x400000, 1};
    report("ptrace", ptrace(PTRACE_SEIZE, pid, NULL, NULL));
    report("process_vm_readv", process_vm_readv(pid, &local, 1, &remote, 1, 0));
    report("kill", kill(pid, 0));
    int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    for (int fd = 0; pidfd >= 0 && fd < 64; fd++)
        report("pidfd_getfd", syscall(SYS_pidfd_getfd, pidfd, fd, 0));
}

/* A connection counts when the daemon answers on it. */
static void try_socket(const char *path)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    char byte;
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    snprintf(a.sun_path, sizeof a.sun_path, "%s", path);
    if (connect(fd, (struct sockaddr *)&a, sizeof a) == 0)
        report("the socket answers", read(fd, &byte, 1) > 0 ? 0 : -1);
    close(fd);
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    try_files(argv[1]);
    try_memory((pid_t)atoi(argv[1]));
    if (argc > 2)
        try_socket(argv[2]);
    return succeeded;
}
