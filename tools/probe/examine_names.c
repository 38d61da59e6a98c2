/*
 * Names that lead back to the machine that asks, such as that of Debian's line "127.0.1.1 name" in
 * /etc/hosts. A look-up can hang as long as it likes: each is a process of its own, with a
 * deadline.
 */
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/base/clock.h"
#include "tools/probe/examine.h"

#define LOOKUP_MS 3000
#define ANSWER_BYTES 64

struct lookup {
    const char *name;
    pid_t pid;
    int answer; /* the first loopback address it has, or an end */
};

static void lookup_begin(struct lookup *l, const char *name)
{
    int ends[2];
    *l = (struct lookup){.name = name, .answer = -1};
    if (name[0] == '\0' || pipe(ends) != 0)
        return;
    fflush(stdout);
    l->pid = fork();
    if (l->pid == 0) {
        /* In the child. */
        struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *list = NULL;
        char text[ANSWER_BYTES];
        int error = getaddrinfo(name, NULL, &hints, &list);
        for (const struct addrinfo *a = list; error == 0 && a != NULL; a = a->ai_next)
            if (getnameinfo(a->ai_addr, a->ai_addrlen, text, sizeof text, NULL, 0,
                            NI_NUMERICHOST) == 0 &&
                (strncmp(text, "127.", 4) == 0 || strcmp(text, "::1") == 0) &&
                write(ends[1], text, strlen(text)) >= 0)
                break;
        _exit(0);
    }
    close(ends[1]);
    l->answer = ends[0];
}

static void lookup_end(struct lookup *l, int64_t deadline_ms, bool own)
{
    char address[ANSWER_BYTES + 1] = "";
    struct pollfd fd = {.fd = l->answer, .events = POLLIN};
    int64_t left = deadline_ms - clock_ms();
    if (l->answer < 0)
        return;
    if (l->pid > 0 && poll(&fd, 1, left > 0 ? (int)left : 0) <= 0) {
        kill(l->pid, SIGKILL);
        examine_finding("name-resolution", "correct /etc/resolv.conf and /etc/nsswitch.conf",
                        "looking up %s takes longer than %d s", l->name, LOOKUP_MS / 1000);
    } else if (l->pid > 0 && read(l->answer, address, ANSWER_BYTES) > 0) {
        if (address[0] != '\0') {
            if (own)
                examine_finding(
                    "name-resolution", "give the name the address of its interface in /etc/hosts",
                    "this machine's own name %s is %s: who looks it up here gets no address "
                    "that others can reach",
                    l->name, address);
            else
                examine_finding("name-resolution",
                                "correct /etc/hosts here, or set hostname= in the host file",
                                "host %s is %s here: its launcher would call this machine itself",
                                l->name, address);
        }
    }
    if (l->pid > 0)
        waitpid(l->pid, NULL, 0);
    close(l->answer);
}

void examine_names(char *const *names, int count)
{
    char own[256] = "";
    struct lookup *lookups = calloc((size_t)count + 1, sizeof *lookups);
    if (lookups == NULL)
        return;
    int64_t deadline = clock_ms() + LOOKUP_MS;
    gethostname(own, sizeof own - 1);
    lookup_begin(&lookups[count], strcmp(own, "localhost") == 0 ? "" : own);
    for (int i = 0; i < count; i++)
        lookup_begin(&lookups[i], strcmp(names[i], own) == 0 ? "" : names[i]);
    lookup_end(&lookups[count], deadline, true);
    for (int i = 0; i < count; i++)
        lookup_end(&lookups[i], deadline, false);
    free(lookups);
}
