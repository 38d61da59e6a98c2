/* links: libcovey-domain */
/*
 * door.c - calls of covey_door(3), sorts and systems in turn, while workers or hosts are killed.
 *
 *   door tasks SEED KILLS    workers, at random instants: of the start, of the way there, of the
 *                            work and of the way back. A call fails in words or, with retry, goes
 *                            well; what it would change is right, or as it was
 *   door hosts SEED          hosts, by the suite, which kills daemons: says "call N" before each
 *                            call on four hosts with retry, until two hosts are left
 *
 * Prints "ok ..." or "not ok ...". That no worker is left is the suite's to see.
 */
#include <covey.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/domain/covey_domain.h"
#include "tests/chaos/dice.h"

enum { NUMBERS = 400000, MOST_KILLS_A_CALL = 3, SURVEY_US = 300000 };

static double *made, *sorted, *numbers;

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int by_double(const void *a, const void *b)
{
    const double *left = a, *right = b;
    return *left < *right ? -1 : *left > *right;
}

static void make_numbers(uint64_t seed)
{
    struct dice dice = {seed};
    made = malloc(NUMBERS * sizeof *made);
    sorted = malloc(NUMBERS * sizeof *sorted);
    numbers = malloc(NUMBERS * sizeof *numbers);
    for (int i = 0; i < NUMBERS; i++)
        sorted[i] = made[i] = (double)dice_below(&dice, 1000003) / 7;
    qsort(sorted, NUMBERS, sizeof *sorted, by_double);
}

static int call_sort(covey_t *vm, const char *options, struct covey_door_report *report)
{
    memcpy(numbers, made, NUMBERS * sizeof *made);
    int error = covey_sort_array(vm, COVEY_DOUBLE, numbers, NUMBERS, options, report);
    const double *wanted = error == 0 ? sorted : made;
    return memcmp(numbers, wanted, NUMBERS * sizeof *wanted) != 0 ? 1 : error;
}

#if __has_include(<lapacke.h>)
enum { EQUATIONS = 400 };

/* With a strong diagonal; every unknown is 1. */
static int call_solve(covey_t *vm, const char *options, struct covey_door_report *report)
{
    static double a[EQUATIONS * EQUATIONS], sums[EQUATIONS], b[EQUATIONS];
    int is_good = 1;
    for (int j = 0; sums[0] == 0 && j < EQUATIONS; j++)
        for (int i = 0; i < EQUATIONS; i++)
            a[i + j * EQUATIONS] = i == j ? EQUATIONS : made[i + j * EQUATIONS] / 1e6;
    for (int i = 0; i < EQUATIONS; i++) {
        sums[i] = 0;
        for (int j = 0; j < EQUATIONS; j++)
            sums[i] += a[i + j * EQUATIONS];
    }
    memcpy(b, sums, sizeof b);
    int error = covey_solve(vm, EQUATIONS, 1, a, EQUATIONS, b, EQUATIONS, options, report);
    for (int i = 0; i < EQUATIONS; i++)
        is_good &= error == 0 ? b[i] > 1 - 1e-6 && b[i] < 1 + 1e-6 : b[i] == sums[i];
    return is_good ? error : 1;
}
#else
#define call_solve call_sort
#endif

/* One call, a sort or a system in turn. Returns its error; 1: the array is neither what it should
 * be nor as it was. */
static int call(covey_t *vm, const char *options, struct covey_door_report *report)
{
    static int calls;
    return ++calls % 2 != 0 ? call_sort(vm, options, report) : call_solve(vm, options, report);
}

/* ---- workers that are killed ---- */

struct killer {
    covey_t *vm;
    struct dice dice;
    double least_s; /* what a call takes that nobody disturbs */
    int most;       /* kills of this call */
    int killed;
    volatile int ends;
};

static int kill_one(struct killer *k)
{
    struct covey_host *hosts = NULL;
    struct covey_task *tasks = NULL;
    covey_tid_t found[64];
    int count = 0, workers = 0;
    if (covey_survey(k->vm, SURVEY_US, &hosts, &tasks, &count) < 0)
        return 0;
    for (int i = 0; i < count && workers < 64; i++)
        if (strstr(tasks[i].command, "covey-domain-worker") != NULL)
            found[workers++] = tasks[i].tid;
    covey_free(hosts);
    covey_free(tasks);
    if (workers == 0)
        return 0;
    return covey_signal(k->vm, found[dice_below(&k->dice, (uint32_t)workers)], SIGKILL) == 0;
}

static void *kill_some(void *context)
{
    struct killer *k = context;
    k->killed = 0;
    while (!k->ends && k->killed < k->most) {
        usleep(dice_below(&k->dice, (uint32_t)(1.5e6 * k->least_s) + 1));
        if (!k->ends)
            k->killed += kill_one(k);
    }
    return NULL;
}

static int bad(const char *what, const struct covey_door_report *report)
{
    printf("not ok %s: %s (%d attempts, %d tasks)\n", what, covey_domain_error_text(),
           (int)report->attempts, (int)report->tasks);
    return 1;
}

/* Adds to *kills those that were made, and to *failures whether the call failed. */
static int call_and_kill(struct killer *k, int *kills, int *failures)
{
    struct covey_door_report report;
    pthread_t thread;
    int retries = dice_chance(&k->dice, 50);
    k->most = retries ? 1 + (int)dice_below(&k->dice, MOST_KILLS_A_CALL) : 1;
    k->ends = 0;
    if (pthread_create(&thread, NULL, kill_some, k) != 0)
        return bad("a thread", &report);
    int error = call(k->vm, retries ? "tasks=4,retry=20" : "tasks=4", &report);
    k->ends = 1;
    pthread_join(thread, NULL);
    *kills += k->killed;
    *failures += error < 0 || report.attempts > 1;
    if (error > 0)
        return bad("the array is neither what it should be nor as it was", &report);
    if (error < 0 && (retries || k->killed == 0))
        return bad(retries ? "a call with retry failed" : "a call failed that nobody disturbed",
                   &report);
    if (error < 0 && (strncmp(covey_domain_error_text(), "covey_s", 7) != 0 ||
                      strchr(covey_domain_error_text(), '\n') != NULL))
        return bad("the error is no line of text", &report);
    return 0;
}

static int kill_tasks(covey_t *vm, uint64_t seed, int wanted)
{
    struct covey_door_report report;
    struct killer killer = {.vm = vm, .dice = {seed}};
    int kills = 0, failures = 0, calls = 0;
    for (int i = 0; i < 3; i++) {
        double begin = now_s();
        if (call(vm, "tasks=4", &report) != 0)
            return bad("a call that nobody disturbs", &report);
        killer.least_s = now_s() - begin;
    }
    for (; kills < wanted; calls++)
        if (call_and_kill(&killer, &kills, &failures) != 0)
            return 1;
    if (call(vm, "tasks=4,retry=5,keep=60", &report) != 0)
        return bad("the last call", &report);
    printf("ok %d workers were killed in %d calls, of which %d failed or started again\n", kills,
           calls, failures);
    return failures == 0;
}

/* ---- hosts that are lost ---- */

/* Until a call was on two hosts alone. */
static int lose_hosts(covey_t *vm)
{
    struct covey_door_report report = {0};
    int again = 0, calls = 0;
    while (report.hosts != 2) {
        printf("call %d\n", calls++);
        fflush(stdout);
        if (call(vm, "hosts=4,tasks=6,retry=20", &report) != 0)
            return bad("a call with retry", &report);
        again += report.attempts > 1;
    }
    printf("ok %d calls, of which %d started again; the last one had 2 hosts\n", calls, again);
    return again == 0;
}

int main(int argc, char **argv)
{
    covey_t *vm = NULL;
    if (argc < 3 || covey_join(&vm, NULL) < 0) {
        printf("not ok door: %s\n", covey_error_text());
        return 2;
    }
    uint64_t seed = strtoull(argv[2], NULL, 10);
    make_numbers(seed);
    int status = argc > 3 ? kill_tasks(vm, seed, atoi(argv[3])) : lose_hosts(vm);
    covey_leave(&vm);
    free(made), free(sorted), free(numbers);
    return status;
}
