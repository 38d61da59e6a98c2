/*
 * interrupt.c - SIGINT and SIGTERM are awaited by a thread of their own, which calls back: a
 * command that waits in the library can then make calls in answer, which a signal handler may not.
 */
#include "tools/base/interrupt.h"

#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>

struct interrupt {
    interrupt_fn *on_signal;
    void *context;
    int count;
    int first;
    sigset_t awaited; /* SIGINT and SIGTERM unless ignored, and STOP */
    sigset_t before;  /* the caller's mask */
    pthread_t thread;
};

/* Sent to the thread itself, to end it. */
#define STOP SIGUSR1

static void *watch(void *argument)
{
    struct interrupt *interrupt = argument;
    int signal_number;
    while (sigwait(&interrupt->awaited, &signal_number) == 0 && signal_number != STOP) {
        if (interrupt->count++ == 0)
            interrupt->first = signal_number;
        interrupt->on_signal(interrupt->context, signal_number, interrupt->count);
    }
    return NULL;
}

/* What is ignored stays ignored: a shell starts what it runs in the background that way. */
static void await_signal(sigset_t *set, int signal_number)
{
    struct sigaction action;
    if (sigaction(signal_number, NULL, &action) == 0 && action.sa_handler != SIG_IGN)
        sigaddset(set, signal_number);
}

struct interrupt *interrupt_start(interrupt_fn *on_signal, void *context)
{
    struct interrupt *interrupt = calloc(1, sizeof *interrupt);
    if (!interrupt)
        return NULL;
    interrupt->on_signal = on_signal;
    interrupt->context = context;
    sigemptyset(&interrupt->awaited);
    await_signal(&interrupt->awaited, SIGINT);
    await_signal(&interrupt->awaited, SIGTERM);
    sigaddset(&interrupt->awaited, STOP);
    pthread_sigmask(SIG_BLOCK, &interrupt->awaited, &interrupt->before);
    if (pthread_create(&interrupt->thread, NULL, watch, interrupt) != 0) {
        pthread_sigmask(SIG_SETMASK, &interrupt->before, NULL);
        free(interrupt);
        return NULL;
    }
    return interrupt;
}

int interrupt_stop(struct interrupt **interrupt)
{
    struct interrupt *ended = *interrupt;
    if (!ended)
        return 0;
    *interrupt = NULL;
    pthread_kill(ended->thread, STOP);
    pthread_join(ended->thread, NULL);
    /* A signal that came after the last wait was meant for what has just ended: it must not kill
     * the console when the mask is restored. */
    const struct timespec now = {0};
    int signal_number;
    while ((signal_number = sigtimedwait(&ended->awaited, NULL, &now)) > 0) {
        if (ended->first == 0)
            ended->first = signal_number;
    }
    pthread_sigmask(SIG_SETMASK, &ended->before, NULL);
    int first = ended->first;
    free(ended);
    return first;
}
