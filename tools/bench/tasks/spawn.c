/*
 * Starting tasks. In each round covey-bench is started so many times in three ways: by vfork and
 * exec from here, by the VM, and by the VM as a program that joins it and says so.
 */
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/bench/tasks/clock.h"
#include "tools/bench/tasks/party.h"

enum { TAG_HELLO = 20, TAG_ENDED = 21, NAMES_MAX = 64 };

/* Microseconds a task of one round. */
struct figures {
    double start, run, join;
    double raw_start, raw_run;
};

struct crowd {
    struct party *party;
    char hosts[BENCH_HOSTS_BYTES];
    const char *names[NAMES_MAX + 1];
    covey_tid_t tids[BENCH_TASKS_MAX];
    pid_t pids[BENCH_TASKS_MAX];
    int n;
};

static double us_each(const struct crowd *crowd, uint64_t start_ns)
{
    return (double)(clock_ns() - start_ns) / 1e3 / crowd->n;
}

/* ---- by vfork and exec ---- */

static int raw_wait(struct crowd *crowd, int started)
{
    int failed = 0;
    for (int i = 0; i < started; i++) {
        int status;
        while (waitpid(crowd->pids[i], &status, 0) < 0 && errno == EINTR)
            ;
        failed |= status;
    }
    return failed ? party_fail(crowd->party, crowd->party->program, "did not run") : 0;
}

static int raw_round(struct crowd *crowd, struct figures *figures)
{
    char *argv[] = {(char *)crowd->party->program, (char *)"exit", NULL};
    int error = 0, started = 0;
    uint64_t start_ns = clock_ns();
    while (started < crowd->n && error == 0) {
        error = posix_spawn(&crowd->pids[started], argv[0], NULL, NULL, argv, environ);
        started += error == 0;
    }
    figures->raw_start = us_each(crowd, start_ns);
    int failed = raw_wait(crowd, started);
    figures->raw_run = us_each(crowd, start_ns);
    return error ? party_fail(crowd->party, argv[0], strerror(error)) : failed;
}

/* ---- by the virtual machine ---- */

static int start_crowd(struct crowd *crowd, const char *mode)
{
    const struct covey_spawn what = {.argv =
                                         (const char *const[]){crowd->party->program, mode, NULL},
                                     .hosts = crowd->names,
                                     .cwd = "/",
                                     .where = COVEY_WHERE_HOSTS,
                                     .output = COVEY_OUTPUT_DISCARD,
                                     .tether = 1};
    int started = covey_spawn(crowd->party->vm, &what, crowd->n, crowd->tids);
    if (started == crowd->n)
        return 0;
    return party_fail_vm(crowd->party, "spawn", started < 0 ? started : COVEY_ERESOURCE);
}

/* Takes a message with that tag for each task. */
static int take_from_each(struct crowd *crowd, int tag)
{
    for (int i = 0; i < crowd->n; i++) {
        covey_msg_t *msg;
        int error = covey_recv(crowd->party->vm, COVEY_ANY_TASK, tag, COVEY_FOREVER, &msg);
        if (error)
            return party_fail_vm(crowd->party, "waiting for tasks", error);
        covey_msg_free(msg);
    }
    return 0;
}

static int take_ends(struct crowd *crowd)
{
    int error = covey_notify(crowd->party->vm, COVEY_NOTIFY_TASK_EXIT, TAG_ENDED, crowd->tids,
                             (size_t)crowd->n);
    return error ? party_fail_vm(crowd->party, "notify", error) : take_from_each(crowd, TAG_ENDED);
}

static int covey_round(struct crowd *crowd, struct figures *figures)
{
    uint64_t start_ns = clock_ns();
    if (start_crowd(crowd, "exit") != 0)
        return -1;
    figures->start = us_each(crowd, start_ns);
    if (take_ends(crowd) != 0)
        return -1;
    figures->run = us_each(crowd, start_ns);
    start_ns = clock_ns();
    if (start_crowd(crowd, "hello") != 0 || take_from_each(crowd, TAG_HELLO) != 0)
        return -1;
    figures->join = us_each(crowd, start_ns);
    return take_ends(crowd);
}

int spawn_hello(struct party *party)
{
    return covey_send_array(party->vm, party->console, TAG_HELLO, COVEY_INT32, NULL, 0) ? 1 : 0;
}

/* ---- rows ---- */

/* A row of samples that lie in figures at those offsets; without a raw one where that is 0. */
static int send_row(struct crowd *crowd, const char *label, const struct figures *figures,
                    size_t covey, size_t raw)
{
    int rounds = crowd->party->plan.rounds;
    const size_t offsets[] = {covey, raw};
    struct bench_row row = {.series_count = 0};
    int failed = 0;
    snprintf(row.label, sizeof row.label, "%s", label);
    for (int k = 0; k < (raw ? 2 : 1) && !failed; k++) {
        struct bench_series *series =
            party_add_series(crowd->party, &row, k == 0 ? "covey" : "vfork+exec");
        for (int i = 0; i < rounds && series; i++)
            memcpy(&series->us[i], (const char *)&figures[i] + offsets[k], sizeof(double));
        failed = !series;
    }
    failed = failed || party_send_row(crowd->party, &row);
    bench_row_free(&row);
    return failed;
}

static int send_rows(struct crowd *crowd, const struct figures *figures)
{
    return send_row(crowd, "start", figures, offsetof(struct figures, start),
                    offsetof(struct figures, raw_start)) ||
           send_row(crowd, "run", figures, offsetof(struct figures, run),
                    offsetof(struct figures, raw_run)) ||
           send_row(crowd, "join", figures, offsetof(struct figures, join),
                    offsetof(struct figures, raw_run));
}

static void set_names(struct crowd *crowd)
{
    char *rest = crowd->hosts;
    int count = 0;
    snprintf(crowd->hosts, sizeof crowd->hosts, "%s", crowd->party->plan.hosts);
    for (char *name; count < NAMES_MAX && (name = strsep(&rest, ","));) {
        if (*name)
            crowd->names[count++] = name;
    }
    if (count == 0)
        crowd->names[0] = covey_myhost(crowd->party->vm);
}

/* The first round warms up. */
static int measure_spawn(struct crowd *crowd, struct figures *figures)
{
    int failed = 0;
    for (int i = -1; i < crowd->party->plan.rounds && !failed; i++) {
        struct figures *round = &figures[i < 0 ? 0 : i];
        failed = raw_round(crowd, round) || covey_round(crowd, round);
    }
    return failed ? failed : send_rows(crowd, figures);
}

int spawn_measure(struct party *party)
{
    struct crowd *crowd = calloc(1, sizeof *crowd);
    struct figures *figures = calloc((size_t)party->plan.rounds, sizeof *figures);
    int failed = -1;
    if (crowd && figures) {
        crowd->party = party;
        crowd->n = party->plan.tasks;
        set_names(crowd);
        failed = measure_spawn(crowd, figures);
    } else {
        party_fail(party, "measuring", "memory is exhausted");
    }
    free(figures);
    free(crowd);
    return failed;
}
