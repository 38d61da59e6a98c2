/*
 * inlet.c - standard input on its way to a task; see inlet.h.
 *
 * A thread reads when the task has taken what came before. Standard input may be the terminal of a
 * shell that has us in the background: then what is typed is not for us, and reading would stop all
 * of this process (SIGTTIN). The thread blocks that signal, and waits until we are in front.
 */
#include "tools/run/inlet.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define INLET_BYTES 32768
#define LOOK_MS 200 /* how often to look whether we are in front; nothing tells */

struct inlet {
    covey_t *vm;
    covey_tid_t tid;
    int stop; /* readable: enough */
    pthread_t thread;
};

/* What is no terminal, or not ours, has no front. */
static bool in_front(void)
{
    pid_t front = tcgetpgrp(STDIN_FILENO);
    return front < 0 || front == getpgrp();
}

/* Waits until there may be something to read; false: it is to stop. */
static bool await_input(const struct inlet *inlet)
{
    struct pollfd fds[2] = {{.fd = inlet->stop, .events = POLLIN},
                            {.fd = STDIN_FILENO, .events = POLLIN}};
    while (!(fds[0].revents & POLLIN)) {
        bool front = in_front();
        if (front && fds[1].revents)
            return true;
        if (poll(fds, front ? 2 : 1, front ? -1 : LOOK_MS) < 0 && errno != EINTR)
            return false;
        if (!front)
            fds[1].revents = 0;
    }
    return false;
}

static void *pass_input(void *argument)
{
    struct inlet *inlet = argument;
    char bytes[INLET_BYTES];
    while (await_input(inlet)) {
        ssize_t n = read(STDIN_FILENO, bytes, sizeof bytes);
        bool later = n < 0 && (errno == EINTR || errno == EAGAIN || (errno == EIO && !in_front()));
        if (later)
            continue;
        if (covey_input(inlet->vm, inlet->tid, bytes, n > 0 ? (size_t)n : 0) < 0 || n <= 0)
            break;
    }
    return NULL;
}

struct inlet *inlet_start(covey_t *vm, covey_tid_t tid)
{
    sigset_t all, before;
    struct inlet *inlet = calloc(1, sizeof *inlet);
    if (inlet)
        *inlet = (struct inlet){.vm = vm, .tid = tid, .stop = eventfd(0, EFD_CLOEXEC)};
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started =
        inlet && inlet->stop >= 0 && pthread_create(&inlet->thread, NULL, pass_input, inlet) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (started)
        return inlet;
    if (inlet && inlet->stop >= 0)
        close(inlet->stop);
    free(inlet);
    covey_input(vm, tid, NULL, 0);
    return NULL;
}

void inlet_stop(struct inlet **inlet)
{
    struct inlet *stopped = *inlet;
    const uint64_t one = 1;
    if (!stopped)
        return;
    *inlet = NULL;
    ssize_t n = write(stopped->stop, &one, sizeof one);
    (void)n; /* of an eventfd that nobody has written to */
    pthread_join(stopped->thread, NULL);
    close(stopped->stop);
    free(stopped);
}
