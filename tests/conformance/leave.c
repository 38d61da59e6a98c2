/* links: libcovey */
/*
 * leave.c - tasks that end without covey_leave(), and what finds the library has left before it;
 * and a daemon that takes nobody in.
 *
 *   leave handler     a handler of exit() that was registered before the library's uses what the
 *                     program had of it
 *   leave thread      a thread is inside the library when the program exits
 *   leave fork        a forked child leaves and exits with what is its parent's
 *   leave deaf DIR    joins where a daemon stands still; DIR is the runtime directory
 */
#include <covey.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE_S 60
#define CALLERS 8 /* more than the fake daemon's socket has room for */

enum { TAG_NEVER = 1, TAG_OWN = 2 };

static covey_t *vm, *copy;
static covey_req_t *never;
static covey_team_t *team;
static pthread_t sleeper;
static int sleeper_error;
static _Thread_local int is_sleeper;
static atomic_int asleep, library_asleep; /* the sleeper in the library, and the library's thread */

static void check(const char *name, int good)
{
    printf("%s %s%s%s\n", good ? "ok" : "not ok", name, good ? "" : ": ",
           good ? "" : covey_error_text());
    fflush(stdout);
}

/* The one that the library calls. */
int epoll_pwait2(int epoll, struct epoll_event *events, int most, const struct timespec *time,
                 const sigset_t *signals)
{
    (void)signals;
    atomic_store(is_sleeper ? &asleep : &library_asleep, 1);
    return (int)syscall(SYS_epoll_pwait2, epoll, events, most, time, NULL, (size_t)8);
}

static void await_sleep(const atomic_int *sleeps)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    while (atomic_load(sleeps) == 0)
        nanosleep(&pause, NULL);
}

static void join(void)
{
    int error = covey_join(&vm, NULL);
    copy = vm;
    check("the program joins", error == COVEY_OK);
    if (error != COVEY_OK)
        exit(1);
}

/* ---- a handler ---- */

static int send_to_self(void)
{
    const int32_t number = 1;
    return covey_send_array(vm, covey_mytid(vm), TAG_OWN, COVEY_INT32, &number, 1);
}

static void handler(void)
{
    covey_msg_t *msg = NULL;
    struct covey_host *hosts = NULL;
    covey_t *again = NULL;
    check("a handler still knows who the task was", covey_mytid(vm) > 0 && *covey_myhost(vm) != 0);
    check("it can send nothing", send_to_self() == COVEY_EDAEMON);
    check("and is told why", strstr(covey_error_text(), "exits") != NULL);
    check("it waits for nothing",
          covey_recv(vm, COVEY_ANY_TASK, TAG_NEVER, COVEY_FOREVER, &msg) == COVEY_EDAEMON);
    check("it can ask nothing", covey_hosts(vm, &hosts) == COVEY_EDAEMON);
    check("a request has failed", covey_test(never) == COVEY_EDAEMON);
    covey_req_free(&never);
    check("a team is broken", covey_barrier(team) < 0);
    covey_team_free(&team);
    check("its messages have a descriptor", covey_fd(vm) >= 0);
    covey_leave(&vm);
    covey_leave(&copy);
    check("it can leave, and again by a copy of the handle", vm == NULL && copy == NULL);
    check("it can join again", covey_join(&again, NULL) == COVEY_OK);
}

static void with_handler(void)
{
    if (atexit(handler) != 0)
        exit(1);
    join();
    covey_tid_t own = covey_mytid(vm);
    check("a request waits, a team is there",
          covey_irecv(vm, COVEY_ANY_TASK, TAG_NEVER, &never) == COVEY_OK &&
              covey_team_create(vm, &own, 1, COVEY_FOREVER, &team) == COVEY_OK);
}

/* ---- a thread ---- */

static void *sleep_for_ever(void *context)
{
    covey_msg_t *msg = NULL;
    (void)context;
    is_sleeper = 1;
    sleeper_error = covey_recv(vm, COVEY_ANY_TASK, TAG_NEVER, COVEY_FOREVER, &msg);
    covey_leave(&copy);
    return NULL;
}

static void await_sleeper(void)
{
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += PATIENCE_S;
    int joined = pthread_timedjoin_np(sleeper, NULL, &end) == 0;
    check("a thread that was in the library comes out of it, and leaves",
          joined && sleeper_error == COVEY_EDAEMON && copy == NULL);
}

static void with_thread(void)
{
    if (atexit(await_sleeper) != 0)
        exit(1);
    join();
    check("a thread begins to wait", pthread_create(&sleeper, NULL, sleep_for_ever, NULL) == 0);
    await_sleep(&asleep);
}

/* ---- a forked child ---- */

/* The library's thread sleeps, or a sanitizer's child would have a lock of it that nobody opens. */
static void with_child(void)
{
    int status = -1;
    struct covey_host *hosts = NULL;
    join();
    await_sleep(&library_asleep);
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        covey_leave(&vm);
        exit(vm != NULL); /* with the handlers that it has of its parent */
    }
    check("a forked child leaves and exits",
          waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    check("its parent is a task as before", covey_hosts(vm, &hosts) == 1);
    covey_free(hosts);
    covey_leave(&vm);
}

/* ---- a daemon that stands still ---- */

/* A socket with as many callers as it has room for, whom nobody takes in. */
static int stand_still(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof address) != 0 || listen(fd, 0) != 0)
        return 0;
    for (int i = 0; i < CALLERS; i++) {
        int caller = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (connect(caller, (struct sockaddr *)&address, sizeof address) != 0)
            return errno == EAGAIN;
    }
    return 0;
}

static void *join_deaf(void *options)
{
    covey_t *joined = NULL;
    int error = covey_join(&joined, options);
    check("joining ends in time where a daemon stands still",
          error == COVEY_ETIMEOUT && strstr(covey_error_text(), "stands still") != NULL);
    return NULL;
}

static void with_deaf(const char *runtime)
{
    char path[100];
    pthread_t thread;
    struct covey_options by_path = {.socket = path}, by_name = {.vm = "deaf"};
    snprintf(path, sizeof path, "%s/covey", runtime);
    mkdir(path, 0700);
    snprintf(path, sizeof path, "%s/covey/deaf", runtime);
    mkdir(path, 0700);
    snprintf(path, sizeof path, "%s/covey/deaf/h0.sock", runtime);
    check("a daemon stands still", stand_still(path));
    check("two join", pthread_create(&thread, NULL, join_deaf, &by_path) == 0);
    join_deaf(&by_name);
    pthread_join(thread, NULL);
    unlink(path);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    if (strcmp(how, "handler") == 0)
        with_handler();
    else if (strcmp(how, "thread") == 0)
        with_thread();
    else if (strcmp(how, "fork") == 0)
        with_child();
    else if (strcmp(how, "deaf") == 0 && argc > 2)
        with_deaf(argv[2]);
    else
        return 2;
    return 0;
}
