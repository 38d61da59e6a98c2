/* links: libcovey */
/*
 * tasker.c - a task that starts the others of its host: what it is ordered, what spawners see of
 * it, and that nothing is lost when it dies.
 *
 *   tasker          the judge: spawns the others on its own host
 *   tasker take     takes over: starts what it is ordered, and tells ends
 *   tasker mute     the same, and tells nothing
 *   tasker sit      takes over, and starts nothing
 *   tasker serve    a task: tells the judge whose child its process is, and waits for its end
 */
#include <covey.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATIENCE_US (30 * (int64_t)1000000)
#define TASKS 3
#define MANY 64 /* take more than one round of the daemon's loop to start */
#define STATUS 5

enum { TAG_READY = 1, TAG_CHILD = 2, TAG_END = 3, TAG_GONE = 4, TAG_ORDER = 5 };

static int passed, failed;

static void check(const char *name, int good)
{
    printf("%s %s%s%s\n", good ? "ok" : "not ok", name, good ? "" : ": ",
           good ? "" : covey_error_text());
    *(good ? &passed : &failed) += 1;
}

static int send_number(covey_t *vm, covey_tid_t to, int tag, int32_t number)
{
    covey_msg_t *msg = covey_msg_new();
    int error = covey_pack_int32(msg, &number, 1, 1);
    if (error == COVEY_OK)
        error = covey_send(vm, to, tag, msg);
    covey_msg_free(msg);
    return error;
}

/* -1: it does not come, or is none. */
static int32_t recv_number(covey_t *vm, covey_tid_t from, int tag)
{
    covey_msg_t *msg = NULL;
    int32_t number = -1;
    if (covey_recv(vm, from, tag, PATIENCE_US, &msg) == COVEY_OK)
        covey_unpack_int32(msg, &number, 1, 1);
    covey_msg_free(msg);
    return number;
}

/* ---- taskers and tasks ----------------------------------------------------------------------- */

static pid_t start(const struct covey_start_order *order)
{
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    for (const char *const *variable = order->env; *variable != NULL; variable++)
        putenv((char *)(uintptr_t)*variable);
    if (chdir(order->cwd) == 0)
        execv(order->program, (char *const *)(uintptr_t)order->argv);
    _exit(127);
}

/* One after the other. */
static void obey(covey_t *vm, const struct covey_start_order *order, int mute)
{
    int status = 0;
    pid_t pid = start(order);
    if (!mute)
        covey_order_started(vm, order->tid, pid);
    waitpid(pid, &status, 0);
    if (!mute)
        covey_order_ended(vm, order->tid,
                          WIFSIGNALED(status) ? COVEY_EXIT_SIGNAL : COVEY_EXIT_STATUS,
                          WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
}

static int take_over(covey_t *vm, const char *how)
{
    covey_msg_t *msg = NULL;
    struct covey_start_order *order = NULL;
    int error = covey_tasker(vm, TAG_ORDER);
    send_number(vm, covey_parent(vm), TAG_READY, error);
    if (error != COVEY_OK)
        return 1;
    if (strcmp(how, "sit") == 0)
        pause();
    while (covey_recv(vm, COVEY_ANY_TASK, TAG_ORDER, COVEY_FOREVER, &msg) == COVEY_OK) {
        if (covey_unpack_order(msg, &order) == COVEY_OK)
            obey(vm, order, strcmp(how, "mute") == 0);
        covey_free(order);
        covey_msg_free(msg);
        order = NULL;
    }
    return 0;
}

static int serve(covey_t *vm)
{
    send_number(vm, covey_parent(vm), TAG_CHILD, getppid());
    return recv_number(vm, covey_parent(vm), TAG_END) == 0 ? STATUS : 1;
}

/* ---- the judge ------------------------------------------------------------------------------- */

struct judge {
    covey_t *vm;
    const char *program;
};

static int spawn(const struct judge *j, const char *what, int n, covey_tid_t *tids)
{
    const char *argv[] = {j->program, what, NULL};
    const struct covey_spawn spawn = {.argv = argv,
                                      .hosts = (const char *const[]){covey_myhost(j->vm), NULL},
                                      .where = COVEY_WHERE_HOSTS};
    int started = covey_spawn(j->vm, &spawn, n, tids);
    if (started > 0)
        covey_notify(j->vm, COVEY_NOTIFY_TASK_EXIT, TAG_GONE, tids, (size_t)started);
    return started;
}

static int32_t pid_of(const struct judge *j, covey_tid_t tid)
{
    struct covey_task *tasks = NULL;
    int32_t pid = -1;
    int count = covey_tasks(j->vm, 0, &tasks);
    for (int i = 0; i < count; i++)
        pid = tasks[i].tid == tid ? tasks[i].pid : pid;
    covey_free(tasks);
    return pid;
}

static struct covey_notice next_end(const struct judge *j)
{
    covey_msg_t *msg = NULL;
    struct covey_notice notice = {0};
    if (covey_recv(j->vm, COVEY_ANY_TASK, TAG_GONE, PATIENCE_US, &msg) == COVEY_OK)
        covey_unpack_notice(msg, &notice);
    covey_msg_free(msg);
    return notice;
}

/* That of the task; those that come before it are of others that nobody asks about. */
static struct covey_notice end_of(const struct judge *j, covey_tid_t tid)
{
    struct covey_notice notice;
    do
        notice = next_end(j);
    while (notice.tid != tid && notice.tid != 0);
    return notice;
}

static int ended(const struct judge *j, covey_tid_t tid, int kind, int value)
{
    struct covey_notice n = end_of(j, tid);
    if (n.exit_kind != kind || n.value != value)
        printf("t%x: kind %d value %d\n", (unsigned)tid, (int)n.exit_kind, (int)n.value);
    return n.exit_kind == kind && n.value == value;
}

static covey_tid_t tasker(const struct judge *j, const char *how, int error)
{
    covey_tid_t tid = 0;
    int good = spawn(j, how, 1, &tid) == 1 && recv_number(j->vm, tid, TAG_READY) == error;
    check(error == COVEY_OK ? "a task takes over" : "a second one is refused", good);
    return tid;
}

/* Whether so many tasks are children of that process. */
static int children_of(const struct judge *j, const covey_tid_t *tids, int n, int32_t pid)
{
    int good = 0;
    for (int i = 0; i < n; i++)
        good += recv_number(j->vm, tids[i], TAG_CHILD) == pid;
    return good == n;
}

static void end(const struct judge *j, covey_tid_t tid)
{
    covey_signal(j->vm, tid, SIGKILL);
    ended(j, tid, COVEY_EXIT_SIGNAL, SIGKILL);
}

/* It starts them one after the other. */
static void by_tasker(const struct judge *j)
{
    covey_tid_t tids[TASKS], first = tasker(j, "take", COVEY_OK);
    int good = spawn(j, "serve", TASKS, tids) == TASKS;
    check("tasks have their tids before they are started", good);
    int32_t own = pid_of(j, first);
    for (int i = 0; i < TASKS && good; i++) {
        good = children_of(j, &tids[i], 1, own) && send_number(j->vm, tids[i], TAG_END, 0) == 0 &&
               ended(j, tids[i], COVEY_EXIT_STATUS, STATUS);
    }
    check("they are its children, and end as it says", good);
    const char *missing[] = {"/no/such/program", NULL}, *brief[] = {"false", NULL};
    struct covey_spawn what = {.argv = missing, .where = COVEY_WHERE_ANY};
    covey_tid_t tid = 0;
    check("a program that is not there is an error",
          covey_spawn(j->vm, &what, 1, &tid) == 0 && tid == COVEY_ENOENT);
    what.argv = brief;
    check("one that does not join is started, too",
          covey_spawn(j->vm, &what, 1, &tid) == 1 &&
              covey_notify(j->vm, COVEY_NOTIFY_TASK_EXIT, TAG_GONE, &tid, 1) == COVEY_OK &&
              ended(j, tid, COVEY_EXIT_STATUS, 1));
    tasker(j, "sit", COVEY_EEXIST);
    check("who has not taken over gives nothing back", covey_tasker(j->vm, -1) == COVEY_OK);
    good = spawn(j, "serve", 1, &tid) == 1 && children_of(j, &tid, 1, own);
    end(j, first);
    check("a task that was started outlives it",
          good && send_number(j->vm, tid, TAG_END, 0) == COVEY_OK &&
              ended(j, tid, COVEY_EXIT_UNKNOWN, 0));
}

static void by_mute(const struct judge *j)
{
    covey_tid_t tid, mute = tasker(j, "mute", COVEY_OK);
    int good = spawn(j, "serve", 1, &tid) == 1 && children_of(j, &tid, 1, pid_of(j, mute)) &&
               pid_of(j, tid) > 0 && send_number(j->vm, tid, TAG_END, 0) == COVEY_OK;
    check("the end of which it tells nothing is seen",
          good && ended(j, tid, COVEY_EXIT_UNKNOWN, 0));
    end(j, mute);
}

static void by_daemon(const struct judge *j)
{
    covey_tid_t tids[MANY + 1], idle = tasker(j, "sit", COVEY_OK);
    int good = spawn(j, "serve", MANY + 1, tids) == MANY + 1;
    check("what it does not start can be ended",
          good && covey_kill(j->vm, tids[MANY]) == 0 &&
              ended(j, tids[MANY], COVEY_EXIT_SIGNAL, SIGKILL));
    end(j, idle);
    check("what it had not started when it died the daemon starts",
          good && children_of(j, tids, MANY, getppid()));
    for (int i = 0; i < MANY && good; i++)
        good = send_number(j->vm, tids[i], TAG_END, 0) == COVEY_OK &&
               ended(j, tids[i], COVEY_EXIT_STATUS, STATUS);
    check("and knows how they end", good);
    good = spawn(j, "serve", 1, tids) == 1 && children_of(j, tids, 1, getppid());
    check("the daemon starts tasks again", good);
    covey_kill(j->vm, tids[0]);
}

int main(int argc, char **argv)
{
    covey_t *vm;
    int status = 1;
    if (covey_join(&vm, NULL) < 0) {
        fprintf(stderr, "tasker: %s\n", covey_error_text());
        return 1;
    }
    if (argc > 1) {
        status = strcmp(argv[1], "serve") == 0 ? serve(vm) : take_over(vm, argv[1]);
    } else {
        struct judge j = {vm, argv[0]};
        by_tasker(&j);
        by_mute(&j);
        by_daemon(&j);
        printf("%d passed, %d failed, 0 skipped\n", passed, failed);
        status = failed != 0;
    }
    covey_leave(&vm);
    return status;
}
