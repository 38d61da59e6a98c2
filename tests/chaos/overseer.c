#include "tests/chaos/overseer.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/chaos/worker.h"

#define TAG_EXIT 1000
#define TAG_GONE 1001
#define PATIENCE_US (60 * 1000000)

int64_t overseer_now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

int overseer_begin(struct overseer *o, const char *program, uint64_t seed)
{
    *o = (struct overseer){.program = program, .dice = {seed}};
    if (covey_join(&o->vm, NULL) != 0 ||
        covey_notify(o->vm, COVEY_NOTIFY_HOST_GONE, TAG_GONE, NULL, 0) != 0) {
        fprintf(stderr, "chaos: %s\n", covey_error_text());
        return -1;
    }
    return 0;
}

void overseer_fail(struct overseer *o, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    fputs("FAILURE: ", stdout);
    vprintf(format, list);
    va_end(list);
    putchar('\n');
    fflush(stdout);
    o->failures++;
}

bool overseer_lives(const struct mate *mate)
{
    return !mate->ended && mate->killed_kind == 0;
}

/* ---- hiring ---- */

static pid_t pid_of(struct overseer *o, covey_tid_t tid)
{
    struct covey_task *tasks = NULL;
    pid_t pid = 0;
    int count = covey_tasks(o->vm, covey_tid_host(tid), &tasks);
    for (int i = 0; i < count; i++)
        if (tasks[i].tid == tid)
            pid = tasks[i].pid;
    covey_free(tasks);
    return pid;
}

static void engage(struct overseer *o, covey_tid_t tid)
{
    o->crew[o->count++] = (struct mate){.tid = tid, .pid = pid_of(o, tid)};
    o->spawns++;
    if (covey_notify(o->vm, COVEY_NOTIFY_TASK_EXIT, TAG_EXIT, &tid, 1) != 0)
        overseer_fail(o, "notify of t%x: %s", (unsigned)tid, covey_error_text());
}

int overseer_hire(struct overseer *o, const char *const *hosts, int n)
{
    char seed[32];
    covey_tid_t tids[CREW_MAX];
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)dice_next(&o->dice));
    const char *const argv[] = {o->program, "--worker", seed, NULL};
    struct covey_spawn what = {.argv = argv,
                               .hosts = hosts,
                               .where = hosts == NULL ? COVEY_WHERE_ANY : COVEY_WHERE_HOSTS,
                               .output = COVEY_OUTPUT_SELF,
                               .tether = 1};
    if (n > CREW_MAX - o->count)
        n = CREW_MAX - o->count;
    int started = covey_spawn(o->vm, &what, n, tids);
    for (int i = 0; i < n && started >= 0; i++)
        if (tids[i] > 0)
            engage(o, tids[i]);
    return started;
}

void overseer_introduce(struct overseer *o)
{
    int32_t tids[CREW_MAX];
    size_t count = 0;
    covey_msg_t *msg = covey_msg_new();
    for (int i = 0; i < o->count; i++)
        if (overseer_lives(&o->crew[i]))
            tids[count++] = o->crew[i].tid;
    if (msg != NULL && count > 0 && covey_pack_int32(msg, tids, count, 1) == 0)
        covey_mcast(o->vm, tids, count, WORKER_ROSTER, msg); /* some may be dead already */
    covey_msg_free(msg);
}

/* ---- what comes ---- */

static struct mate *mate_of(struct overseer *o, covey_tid_t tid)
{
    for (int i = 0; i < o->count; i++)
        if (o->crew[i].tid == tid)
            return &o->crew[i];
    return NULL;
}

static void take_exit(struct overseer *o, const struct covey_notice *notice)
{
    struct mate *mate = mate_of(o, notice->tid);
    if (mate == NULL || mate->ended) {
        overseer_fail(o, "a notice for t%x, which is not expected", (unsigned)notice->tid);
        return;
    }
    if (notice->host == o->dying)
        overseer_give_up(mate);
    mate->ended = true;
    int64_t took_us = overseer_now_us() - mate->killed_us;
    if (mate->killed_kind == 0)
        overseer_fail(o, "t%x ended by itself: kind %d value %d", (unsigned)notice->tid,
                      notice->exit_kind, notice->value);
    else if (notice->exit_kind != mate->killed_kind)
        overseer_fail(o, "the end of t%x is of kind %d, not %d", (unsigned)notice->tid,
                      notice->exit_kind, mate->killed_kind);
    else if (took_us > o->slowest_us)
        o->slowest_us = took_us;
}

static void take_notice(struct overseer *o, covey_msg_t *msg)
{
    struct covey_notice notice;
    if (covey_unpack_notice(msg, &notice) != 0)
        overseer_fail(o, "a notice that cannot be read: %s", covey_error_text());
    else if (notice.event == COVEY_NOTIFY_TASK_EXIT)
        take_exit(o, &notice);
    else
        o->host_gone[notice.host]++;
}

static void take_pong(struct overseer *o, covey_msg_t *msg, covey_tid_t from)
{
    int64_t numbers[2];
    struct mate *mate = mate_of(o, from);
    if (mate == NULL || covey_unpack_int64(msg, numbers, 2, 1) != 0)
        return;
    mate->pong = numbers[0];
    o->checked += numbers[1];
}

static void take_output(struct overseer *o, covey_msg_t *msg)
{
    int stream;
    const char *text;
    size_t bytes;
    if (covey_unpack_output(msg, &stream, &text, &bytes) == 0)
        overseer_fail(o, "a worker says: %.*s", (int)bytes, text);
}

static bool take_one(struct overseer *o, int64_t timeout_us)
{
    covey_msg_t *msg;
    struct covey_info info;
    if (covey_recv(o->vm, COVEY_ANY_TASK, COVEY_ANY_TAG, timeout_us, &msg) != 0)
        return false;
    covey_msg_info(msg, &info);
    if (info.tag == COVEY_TAG_OUTPUT)
        take_output(o, msg);
    else if (info.tag == WORKER_PONG)
        take_pong(o, msg, info.source);
    else
        take_notice(o, msg);
    covey_msg_free(msg);
    return true;
}

void overseer_attend(struct overseer *o, int64_t timeout_us)
{
    int64_t end_us = overseer_now_us() + timeout_us;
    for (int64_t left_us = timeout_us; left_us > 0; left_us = end_us - overseer_now_us())
        take_one(o, left_us);
}

/* ---- killing ---- */

void overseer_give_up(struct mate *mate)
{
    if (!overseer_lives(mate))
        return;
    mate->killed_kind = COVEY_EXIT_HOST;
    mate->killed_us = overseer_now_us();
}

void overseer_kill(struct overseer *o, struct mate *mate)
{
    mate->killed_kind = COVEY_EXIT_SIGNAL;
    if (dice_chance(&o->dice, 25)) {
        kill(mate->pid, SIGSTOP);
        overseer_attend(o, 1 + dice_below(&o->dice, 30000));
    }
    mate->killed_us = overseer_now_us();
    if (mate->pid <= 0 || kill(mate->pid, SIGKILL) != 0)
        overseer_fail(o, "t%x (pid %d) cannot be killed", (unsigned)mate->tid, (int)mate->pid);
    o->kills++;
}

static int unreported(const struct overseer *o)
{
    int count = 0;
    for (int i = 0; i < o->count; i++)
        count += o->crew[i].killed_kind != 0 && !o->crew[i].ended;
    return count;
}

void overseer_await_ends(struct overseer *o)
{
    int64_t end_us = overseer_now_us() + PATIENCE_US;
    while (unreported(o) > 0 && overseer_now_us() < end_us)
        take_one(o, 100000);
    for (int i = 0; i < o->count; i++)
        if (o->crew[i].killed_kind != 0 && !o->crew[i].ended)
            overseer_fail(o, "the end of t%x (pid %d) is not reported", (unsigned)o->crew[i].tid,
                          (int)o->crew[i].pid);
    overseer_bury(o);
}

void overseer_bury(struct overseer *o)
{
    int kept = 0;
    for (int i = 0; i < o->count; i++)
        if (!o->crew[i].ended)
            o->crew[kept++] = o->crew[i];
    o->count = kept;
}

static int silent(const struct overseer *o)
{
    int count = 0;
    for (int i = 0; i < o->count; i++)
        count += overseer_lives(&o->crew[i]) && o->crew[i].pong != o->pings;
    return count;
}

void overseer_ping(struct overseer *o)
{
    int64_t end_us = overseer_now_us() + PATIENCE_US;
    o->pings++;
    for (int i = 0; i < o->count; i++)
        if (overseer_lives(&o->crew[i]) &&
            covey_send_array(o->vm, o->crew[i].tid, WORKER_PING, COVEY_INT64, &o->pings, 1) != 0)
            overseer_fail(o, "ping of t%x: %s", (unsigned)o->crew[i].tid, covey_error_text());
    while (silent(o) > 0 && overseer_now_us() < end_us)
        take_one(o, 100000);
    for (int i = 0; i < o->count; i++)
        if (overseer_lives(&o->crew[i]) && o->crew[i].pong != o->pings)
            overseer_fail(o, "t%x (pid %d) does not answer", (unsigned)o->crew[i].tid,
                          (int)o->crew[i].pid);
}

void overseer_dismiss(struct overseer *o)
{
    for (int i = 0; i < o->count; i++)
        if (overseer_lives(&o->crew[i]))
            overseer_kill(o, &o->crew[i]);
    overseer_await_ends(o);
}
