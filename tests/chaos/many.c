/* links: tests/chaos/census.c libcovey */
/*
 * many.c - a lot of everything, one after the other and at once.
 *
 *   many spawns N    N spawns in a row: programs that end, tasks that enrol, and failures
 *   many hosts N     N times a host is added and removed
 *   many crowd N     N tasks at once on one host: each enrols, talks to its neighbour and to its
 *                    parent, and meets the others at a barrier
 *
 * $COVEY_SOCKET says which daemon it calls. Prints what every daemon holds after a tenth, and at
 * the end: no more.
 */
#include <covey.h>

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/chaos/census.h"

#define TAG_EXIT 1
#define TAG_HELLO 2
#define TAG_ROSTER 3
#define TAG_NEIGHBOUR 4
#define GROUP "crowd"
#define GROWTH_KIB                                                                                 \
    4096 /* so much free memory coveyd keeps, and hosts leave a log of what is agreed */
#define GROWTH_TASK_KIB 2 /* the caller remembers who ended, and its allocator keeps some */
#define SETTLE_TRIES 200
#define PATIENCE_US ((int64_t)60 * 1000000)

struct many {
    covey_t *vm;
    const char *program;
    struct census daemon, self; /* as they were */
    pid_t pid;                  /* of the daemon */
    long tasks;                 /* started */
    int failures;
};

__attribute__((format(printf, 2, 3))) static void fail(struct many *m, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    fputs("FAILURE: ", stdout);
    vprintf(format, list);
    va_end(list);
    putchar('\n');
    m->failures++;
}

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* ---- what is held ---- */

static void show(const char *when, const struct many *m)
{
    char text[160];
    struct census census;
    if (!census_take(m->pid, &census))
        return;
    census_print(&census, text);
    printf("daemon %s: %s\n", when, text);
    census_take(getpid(), &census);
    census_print(&census, text);
    printf("caller %s: %s\n", when, text);
}

static bool more(const struct census *was, const struct census *is, long growth_kib)
{
    return is->descriptors > was->descriptors || is->children > was->children ||
           is->rings > was->rings || (CENSUS_MEMORY && is->rss_kib > was->rss_kib + growth_kib);
}

static void remember(struct many *m)
{
    show("soon", m);
    census_take(m->pid, &m->daemon);
    census_take(getpid(), &m->self);
}

static void compare(struct many *m)
{
    struct census daemon = {0}, self = {0};
    bool daemon_more = true, self_more = true;
    for (int i = 0; i < SETTLE_TRIES && (daemon_more || self_more); i++) {
        if (i > 0)
            usleep(50000);
        census_take(m->pid, &daemon);
        census_take(getpid(), &self);
        daemon_more = more(&m->daemon, &daemon, GROWTH_KIB);
        self_more = more(&m->self, &self, GROWTH_KIB + m->tasks * GROWTH_TASK_KIB);
    }
    show("at the end", m);
    if (daemon_more)
        fail(m, "the daemon holds more than before");
    if (self_more)
        fail(m, "the caller holds more than before");
}

/* ---- spawns ---- */

static bool await_exit(struct many *m, covey_tid_t tid, int status)
{
    covey_msg_t *msg;
    struct covey_notice notice = {0};
    int error = covey_recv(m->vm, COVEY_ANY_TASK, TAG_EXIT, PATIENCE_US, &msg);
    if (error != 0) {
        fail(m, "the end of t%x is not told: %s", (unsigned)tid, covey_error_text());
        return false;
    }
    covey_unpack_notice(msg, &notice);
    covey_msg_free(msg);
    if (notice.tid == tid && notice.exit_kind == COVEY_EXIT_STATUS && notice.value == status)
        return true;
    fail(m, "t%x: notice for t%x of kind %d value %d", (unsigned)tid, (unsigned)notice.tid,
         notice.exit_kind, notice.value);
    return false;
}

/* The i-th spawn, of one of four kinds. */
static bool spawn_one(struct many *m, int i)
{
    static const int expected[] = {0, 0, COVEY_ENOENT, COVEY_ENOENT};
    const char *const enrols[] = {m->program, "--child", NULL};
    const char *const ends[] = {"/bin/true", NULL};
    const char *const missing[] = {"/no/such/program", NULL};
    const char *const *const commands[] = {enrols, ends, missing, ends};
    int kind = i % 4;
    struct covey_spawn what = {.argv = commands[kind],
                               .cwd = kind == 3 ? "/no/such/directory" : "/",
                               .output = COVEY_OUTPUT_SELF};
    covey_tid_t tid = 0;
    covey_spawn(m->vm, &what, 1, &tid);
    if (expected[kind] != 0 && tid == expected[kind])
        return true;
    if (tid <= 0 || expected[kind] != 0) {
        fail(m, "spawn %d: %s", i, covey_error_text());
        return false;
    }
    m->tasks++;
    covey_notify(m->vm, COVEY_NOTIFY_TASK_EXIT, TAG_EXIT, &tid, 1);
    return await_exit(m, tid, 0);
}

static void spawns_story(struct many *m, int n)
{
    int64_t begin_ms = now_ms();
    for (int i = 0; i < n; i++) {
        if (i == n / 10)
            remember(m);
        if (!spawn_one(m, i))
            return;
    }
    printf("%d spawns in %lld ms\n", n, (long long)(now_ms() - begin_ms));
    compare(m);
}

/* ---- hosts ---- */

static bool come_and_go(struct many *m, int i)
{
    struct covey_host_spec spec = {.name = "guest", .launcher = COVEY_LAUNCH_LOCAL};
    struct covey_host_result result;
    if (covey_add_hosts(m->vm, &spec, 1, &result) != 1) {
        fail(m, "add %d: %s", i, result.error != 0 ? result.text : covey_error_text());
        return false;
    }
    if (covey_remove_hosts(m->vm, &spec.name, 1, &result) != 1) {
        fail(m, "remove %d: %s", i, result.error != 0 ? result.text : covey_error_text());
        return false;
    }
    return true;
}

static void hosts_story(struct many *m, int n)
{
    int64_t begin_ms = now_ms();
    for (int i = 0; i < n; i++) {
        if (i == n / 10)
            remember(m);
        if (!come_and_go(m, i))
            return;
    }
    printf("%d times a host added and removed in %lld ms\n", n, (long long)(now_ms() - begin_ms));
    compare(m);
}

/* ---- a crowd ---- */

static int complain(const char *what)
{
    fprintf(stderr, "%s: %s\n", what, covey_error_text());
    return 1;
}

/* Every member gets the roster, sends to the next one in it and hears of the one before. */
static int talk(covey_t *vm, covey_tid_t *tids, int n)
{
    size_t count;
    int32_t number = covey_mytid(vm), heard = 0;
    if (covey_send_array(vm, covey_parent(vm), TAG_HELLO, COVEY_INT32, &number, 1) != 0)
        return complain("hello");
    if (covey_recv_array(vm, covey_parent(vm), TAG_ROSTER, PATIENCE_US, COVEY_INT32, tids,
                         (size_t)n, &count, NULL) != 0)
        return complain("roster");
    int self = 0;
    while (self < n - 1 && tids[self] != number)
        self++;
    if (covey_send_array(vm, tids[(self + 1) % n], TAG_NEIGHBOUR, COVEY_INT32, &number, 1) != 0)
        return complain("send to the neighbour");
    if (covey_recv_array(vm, COVEY_ANY_TASK, TAG_NEIGHBOUR, PATIENCE_US, COVEY_INT32, &heard, 1,
                         NULL, NULL) != 0)
        return complain("receive from the neighbour");
    if (heard != tids[(self + n - 1) % n])
        return complain("a wrong neighbour");
    return 0;
}

static int member_main(int n)
{
    covey_t *vm;
    covey_group_t *group;
    covey_tid_t *tids = calloc((size_t)n, sizeof *tids);
    if (tids == NULL || covey_join(&vm, NULL) != 0)
        return complain("join");
    if (talk(vm, tids, n) != 0)
        return 1;
    if (covey_group_join(vm, GROUP, &group) < 0)
        return complain("group");
    if (covey_group_barrier(group, n, PATIENCE_US) != 0)
        return complain("barrier");
    covey_leave(&vm);
    free(tids);
    return 0;
}

static bool greet(struct many *m, const covey_tid_t *tids, int n)
{
    for (int i = 0; i < n; i++) {
        int32_t from;
        if (covey_recv_array(m->vm, COVEY_ANY_TASK, TAG_HELLO, PATIENCE_US, COVEY_INT32, &from, 1,
                             NULL, NULL) != 0) {
            fail(m, "member %d does not speak: %s", i, covey_error_text());
            return false;
        }
    }
    for (int i = 0; i < n; i++)
        if (covey_send_array(m->vm, tids[i], TAG_ROSTER, COVEY_INT32, tids, (size_t)n) != 0) {
            fail(m, "roster to t%x: %s", (unsigned)tids[i], covey_error_text());
            return false;
        }
    return true;
}

static void print_output(struct many *m)
{
    covey_msg_t *msg;
    while (covey_recv(m->vm, COVEY_ANY_TASK, COVEY_TAG_OUTPUT, COVEY_POLL, &msg) == 0) {
        int stream;
        const char *text;
        size_t bytes;
        if (covey_unpack_output(msg, &stream, &text, &bytes) == 0)
            printf("a member says: %.*s", (int)bytes, text);
        covey_msg_free(msg);
    }
}

static void await_crowd(struct many *m, int n)
{
    for (int i = 0; i < n; i++) {
        covey_msg_t *msg;
        struct covey_notice notice = {0};
        if (covey_recv(m->vm, COVEY_ANY_TASK, TAG_EXIT, PATIENCE_US, &msg) != 0) {
            fail(m, "%d of %d members ended: %s", i, n, covey_error_text());
            return;
        }
        covey_unpack_notice(msg, &notice);
        covey_msg_free(msg);
        if (notice.exit_kind != COVEY_EXIT_STATUS || notice.value != 0)
            fail(m, "t%x ended with kind %d value %d", (unsigned)notice.tid, notice.exit_kind,
                 notice.value);
    }
}

static void crowd(struct many *m, covey_tid_t *tids, int n)
{
    char number[16];
    snprintf(number, sizeof number, "%d", n);
    const char *const argv[] = {m->program, "--member", number, NULL};
    struct covey_spawn what = {.argv = argv, .output = COVEY_OUTPUT_SELF, .tether = 1};
    int started = covey_spawn(m->vm, &what, n, tids);
    if (started != n) {
        fail(m, "%d of %d members started: %s", started, n, covey_error_text());
        return;
    }
    m->tasks += n;
    covey_notify(m->vm, COVEY_NOTIFY_TASK_EXIT, TAG_EXIT, tids, (size_t)n);
    if (greet(m, tids, n))
        await_crowd(m, n);
    print_output(m);
}

static void crowd_story(struct many *m, int n)
{
    covey_tid_t *tids = calloc((size_t)n, sizeof *tids);
    int64_t begin_ms = now_ms();
    for (int round = 0; round < 3 && m->failures == 0; round++) {
        if (round == 1)
            remember(m);
        crowd(m, tids, n);
    }
    printf("3 times %d tasks in %lld ms\n", n, (long long)(now_ms() - begin_ms));
    compare(m);
    free(tids);
}

/* ---- main ---- */

static int child_main(void)
{
    covey_t *vm;
    if (covey_join(&vm, NULL) != 0)
        return complain("join");
    covey_leave(&vm);
    return 0;
}

static int story(struct many *m, const char *name, int n)
{
    if (covey_join(&m->vm, NULL) != 0)
        return complain("many");
    m->pid = census_daemon(covey_myhost(m->vm));
    if (strcmp(name, "spawns") == 0)
        spawns_story(m, n);
    else if (strcmp(name, "hosts") == 0)
        hosts_story(m, n);
    else
        crowd_story(m, n);
    covey_leave(&m->vm);
    return m->failures == 0 ? 0 : 1;
}

int main(int argc, char **argv)
{
    char program[512] = "";
    if (readlink("/proc/self/exe", program, sizeof program - 1) < 0)
        return 1;
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc == 2 && strcmp(argv[1], "--child") == 0)
        return child_main();
    if (argc != 3) {
        fprintf(stderr, "usage: many spawns N | hosts N | crowd N\n");
        return 2;
    }
    if (strcmp(argv[1], "--member") == 0)
        return member_main(atoi(argv[2]));
    struct many m = {.program = program};
    return story(&m, argv[1], atoi(argv[2]));
}
