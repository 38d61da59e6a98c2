/*
 * overseer.h - who starts workers and kills them, and sees that each end is reported.
 *
 * The overseer is a task of the VM whose daemon is never killed. It keeps a crew of workers: each
 * has a tid, a pid on this machine and a host. What it kills must be reported by a notice of the
 * right kind; who is not killed must answer pings.
 */
#ifndef COVEY_TESTS_CHAOS_OVERSEER_H
#define COVEY_TESTS_CHAOS_OVERSEER_H

#include <covey.h>
#include <stdbool.h>
#include <sys/types.h>

#include "tests/chaos/dice.h"

#define CREW_MAX 64
#define HOSTS_MAX 16

struct mate {
    covey_tid_t tid;
    pid_t pid;
    bool ended;              /* its notice came */
    int killed_kind;         /* enum covey_exit_kind that the notice must have; 0: not killed */
    int64_t killed_us, pong; /* when; the number of the last ping answered */
};

struct overseer {
    covey_t *vm;
    const char *program;
    struct dice dice;
    struct mate crew[CREW_MAX];
    int count;
    int host_gone[HOSTS_MAX * 256 + 1]; /* by index: notices of lost hosts */
    int dying;                          /* index of the host whose daemon is being killed */
    int64_t pings;
    int64_t checked;                   /* messages that workers which answered had checked */
    int64_t kills, spawns, slowest_us; /* the slowest notice */
    int failures;
};

int64_t overseer_now_us(void);

int overseer_begin(struct overseer *o, const char *program, uint64_t seed);

/* Prints what should not be, and counts it. */
__attribute__((format(printf, 2, 3))) void overseer_fail(struct overseer *o, const char *format,
                                                         ...);

/* Starts n workers on those hosts in turn (NULL: anywhere); who could not be started is left out.
 * Returns how many. */
int overseer_hire(struct overseer *o, const char *const *hosts, int n);

/* Tells all who all are. */
void overseer_introduce(struct overseer *o);

/* SIGKILL, sometimes after a time of SIGSTOP in which others send on. */
void overseer_kill(struct overseer *o, struct mate *mate);

/* Its host is being killed: it is to be reported as lost with it. */
void overseer_give_up(struct mate *mate);

/* Takes what comes for that time. */
void overseer_attend(struct overseer *o, int64_t timeout_us);

/* Waits until each that was killed is reported, or fails after a minute. */
void overseer_await_ends(struct overseer *o);

/* Every living worker answers within a minute. */
void overseer_ping(struct overseer *o);

/* Forgets those that ended. */
void overseer_bury(struct overseer *o);

/* Ends all workers. */
void overseer_dismiss(struct overseer *o);

/* Not yet ended nor killed. */
bool overseer_lives(const struct mate *mate);

#endif
