/* links: libcovey */
/*
 * threads.c - threads of one handle: links that end while one looks, times that one sets while
 * another sleeps, threads that only wait, and a progress thread that is late.
 *
 *   threads BOARD                 the judge; BOARD is an empty file that tasks share
 *   threads brief BOARD           a task: sends one message by tcp, and ends at once
 *   threads idle BOARD            a task that takes no part: it is stopped
 *   threads slow BOARD            a task that receives what is cast to it when told to
 *   threads teams BOARD           a task: calls of two teams with the judge, by a thread each
 *   threads large BOARD           a task: sends small messages when told to, then a large one
 *
 * The library's own thread is made late here: this program's epoll_pwait2() is the one that the
 * library calls. What the kernel gave that thread is held back until the program has looked some
 * times (STALE); or the thread is woken so late that nothing is there any more, and sleeps on as it
 * does in the kernel (MISSED).
 */
#include <covey.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE_S 40
#define PATIENCE_US (PATIENCE_S * (int64_t)1000000)
#define ROUNDS 12
#define TASKS 8
#define LOOKS 3      /* of the program, for which the library's thread is held back */
#define HELD_MS 1000 /* at most: the program may not look any more */
#define LARGE (8 << 20)
#define TEAM_CALLS 2000
#define CASTS 400
#define CAST_BYTES 8000

enum {
    TAG_BRIEF = 1,
    TAG_GONE = 2,
    TAG_NEVER = 3,
    TAG_CAST = 4,
    TAG_SMALL = 5,
    TAG_LARGE = 6,
    TAG_BEGIN = 7
};

struct board {
    atomic_int cast, small, large, done; /* what is to be sent or received, and that it was */
};

static struct board *board;
static const char *board_path, *program;
static int passed, failed;

static void check(const char *name, int good)
{
    printf("%s %s%s%s\n", good ? "ok" : "not ok", name, good ? "" : ": ",
           good ? "" : covey_error_text());
    fflush(stdout);
    *(good ? &passed : &failed) += 1;
}

static void pause_us(long us)
{
    const struct timespec time = {.tv_nsec = us * 1000};
    nanosleep(&time, NULL);
}

/* Whether the number becomes at least so large. */
static int becomes(const atomic_int *number, int least)
{
    const time_t end = time(NULL) + PATIENCE_S;
    while (atomic_load(number) < least && time(NULL) < end)
        pause_us(200);
    return atomic_load(number) >= least;
}

/* ---- a late thread --------------------------------------------------------------------------- */

enum late { IN_TIME, STALE, MISSED };

static _Thread_local int of_program; /* this thread is none of the library's */
static atomic_int late, looks;
static atomic_int own_asleep, library_asleep; /* threads that sleep for news, of each kind */

static void hold_back(void)
{
    int until = atomic_load(&looks) + LOOKS;
    for (int ms = 0; ms < HELD_MS && atomic_load(&late) != IN_TIME; ms++) {
        if (atomic_load(&looks) >= until)
            return;
        pause_us(1000);
    }
}

static int ask_kernel(int epoll, struct epoll_event *events, int most, const struct timespec *time)
{
    return (int)syscall(SYS_epoll_pwait2, epoll, events, most, time, NULL, (size_t)8);
}

int epoll_pwait2(int epoll, struct epoll_event *events, int most, const struct timespec *time,
                 const sigset_t *signals)
{
    (void)signals;
    atomic_int *asleep = of_program ? &own_asleep : &library_asleep;
    atomic_fetch_add(asleep, 1);
    int count = ask_kernel(epoll, events, most, time);
    while (!of_program && count > 0 && atomic_load(&late) != IN_TIME) {
        hold_back();
        if (atomic_load(&late) == STALE)
            break;
        count = epoll_wait(epoll, events, most, 0);
        if (count != 0)
            break;
        count = ask_kernel(epoll, events, most, time);
    }
    atomic_fetch_sub(asleep, 1);
    return count;
}

/* ---- tasks ----------------------------------------------------------------------------------- */

static int brief(covey_t *vm)
{
    const int32_t number = 7;
    covey_set_route(vm, covey_parent(vm), COVEY_ROUTE_TCP);
    int error = covey_send_array(vm, covey_parent(vm), TAG_BRIEF, COVEY_INT32, &number, 1);
    _exit(error != COVEY_OK);
}

static int slow(covey_t *vm)
{
    covey_msg_t *msg = NULL;
    int error = becomes(&board->cast, 1) ? COVEY_OK : COVEY_ETIMEOUT;
    for (int i = 0; i < CASTS && error == COVEY_OK; i++) {
        error = covey_recv(vm, covey_parent(vm), TAG_CAST, PATIENCE_US, &msg);
        covey_msg_free(msg);
        msg = NULL;
    }
    return error;
}

static int small(covey_t *vm)
{
    const int32_t number = 7;
    return covey_send_array(vm, covey_parent(vm), TAG_SMALL, COVEY_INT32, &number, 1);
}

/* The first message makes the link, long before the others. */
static int large(covey_t *vm)
{
    covey_msg_t *msg = NULL;
    uint8_t *bytes = calloc(1, LARGE);
    int error = bytes == NULL ? COVEY_ENOMEM : small(vm);
    if (error == COVEY_OK)
        error = covey_recv(vm, covey_parent(vm), TAG_BEGIN, COVEY_FOREVER, &msg);
    if (error == COVEY_OK && becomes(&board->small, 1))
        error = small(vm);
    if (error == COVEY_OK && becomes(&board->large, 1))
        error = covey_send_array(vm, covey_parent(vm), TAG_LARGE, COVEY_BYTES, bytes, LARGE);
    covey_msg_free(msg);
    free(bytes);
    atomic_store(&board->done, error == COVEY_OK);
    return error;
}

/* ---- calls of a team, in threads: each waits for memory that the other task writes ---- */

struct member {
    covey_team_t *team;
    unsigned seed;
    int good;
};

static void *member_main(void *context)
{
    struct member *m = context;
    for (int64_t i = 0; i < TEAM_CALLS && m->good; i++) {
        int64_t sum = 0;
        pause_us(rand_r(&m->seed) % 300);
        m->good = covey_allreduce(m->team, COVEY_OP_SUM, COVEY_INT64, &i, &sum, 1) == COVEY_OK &&
                  sum == 2 * i;
    }
    return NULL;
}

static int teams(covey_t *vm, const covey_tid_t tids[2])
{
    struct member members[2] = {{.seed = 1 + (unsigned)covey_mytid(vm), .good = 1},
                                {.seed = 2 + (unsigned)covey_mytid(vm), .good = 1}};
    pthread_t threads[2];
    int good = 1;
    for (int i = 0; i < 2 && good; i++)
        good = covey_team_create(vm, tids, 2, PATIENCE_US, &members[i].team) == COVEY_OK &&
               covey_team_set_timeout(members[i].team, PATIENCE_US) == COVEY_OK;
    for (int i = 0; i < 2 && good; i++)
        good = pthread_create(&threads[i], NULL, member_main, &members[i]) == 0;
    for (int i = 0; i < 2 && good; i++)
        good = pthread_join(threads[i], NULL) == 0 && members[i].good;
    for (int i = 0; i < 2; i++)
        covey_team_free(&members[i].team);
    return good;
}

static int take_part(covey_t *vm, const char *how)
{
    int error = COVEY_OK;
    if (strcmp(how, "brief") == 0)
        error = brief(vm);
    else if (strcmp(how, "slow") == 0)
        error = slow(vm);
    else if (strcmp(how, "large") == 0)
        error = large(vm);
    else if (strcmp(how, "teams") == 0)
        return !teams(vm, (covey_tid_t[]){covey_parent(vm), covey_mytid(vm)});
    else
        pause();
    return error != COVEY_OK;
}

/* ---- the judge ------------------------------------------------------------------------------- */

static int spawn(covey_t *vm, const char *how, int n, covey_tid_t *tids)
{
    const struct covey_spawn what = {.argv = (const char *[]){program, how, board_path, NULL},
                                     .where = COVEY_WHERE_ANY,
                                     .tether = 1};
    return covey_spawn(vm, &what, n, tids) == n;
}

/* A thread of the program that is in the library until it gets a message from the task itself. */
struct waiter {
    covey_t *vm;
    pthread_t thread;
    int error;
};

static void *wait_for_message(void *context)
{
    struct waiter *w = context;
    covey_msg_t *msg = NULL;
    of_program = 1;
    w->error = covey_recv(w->vm, COVEY_ANY_TASK, TAG_NEVER, COVEY_FOREVER, &msg);
    covey_msg_free(msg);
    return NULL;
}

/* Returns when the thread sleeps there. */
static int waiter_begin(struct waiter *w, covey_t *vm)
{
    int asleep = atomic_load(&own_asleep);
    *w = (struct waiter){.vm = vm, .error = COVEY_ETIMEOUT};
    return pthread_create(&w->thread, NULL, wait_for_message, w) == 0 &&
           becomes(&own_asleep, asleep + 1);
}

static int joined(pthread_t thread)
{
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += PATIENCE_S;
    return pthread_timedjoin_np(thread, NULL, &end) == 0;
}

static int waiter_end(struct waiter *w)
{
    const int32_t number = 1;
    return covey_send_array(w->vm, covey_mytid(w->vm), TAG_NEVER, COVEY_INT32, &number, 1) ==
               COVEY_OK &&
           joined(w->thread) && w->error == COVEY_OK;
}

/* What a program does that looks after its messages now and then. */
static void look(covey_t *vm, covey_req_t *never, int by_descriptor)
{
    if (by_descriptor)
        covey_fd(vm);
    else
        covey_test(never);
    atomic_fetch_add(&looks, 1);
    pause_us(1500);
}

static int came(covey_t *vm, int tag)
{
    covey_msg_t *msg = NULL;
    if (covey_recv(vm, COVEY_ANY_TASK, tag, COVEY_POLL, &msg) != COVEY_OK)
        return 0;
    covey_msg_free(msg);
    return 1;
}

/* They send, and end; their links end while the library's thread still has news of them. */
static int round_of_brief(covey_t *vm, covey_req_t *never, int by_descriptor)
{
    covey_tid_t tids[TASKS];
    const time_t end = time(NULL) + PATIENCE_S;
    int messages = 0, ends = 0;
    if (!spawn(vm, "brief", TASKS, tids) ||
        covey_notify(vm, COVEY_NOTIFY_TASK_EXIT, TAG_GONE, tids, TASKS) != COVEY_OK)
        return 0;
    while ((messages < TASKS || ends < TASKS) && time(NULL) < end) {
        for (int i = 0; i < LOOKS; i++)
            look(vm, never, by_descriptor);
        messages += came(vm, TAG_BRIEF);
        ends += came(vm, TAG_GONE);
    }
    return messages == TASKS && ends == TASKS;
}

static void links_end(covey_t *vm)
{
    covey_req_t *never = NULL;
    int good = covey_irecv(vm, COVEY_ANY_TASK, TAG_NEVER, &never) == COVEY_OK;
    atomic_store(&late, STALE);
    for (int i = 0; i < ROUNDS && good; i++)
        good = round_of_brief(vm, never, 0);
    check("links end while a thread looks by covey_test()", good);
    for (int i = 0; i < ROUNDS && good; i++)
        good = round_of_brief(vm, never, 1);
    check("links end while a thread looks by covey_fd()", good);
    atomic_store(&late, IN_TIME);
    covey_req_free(&never);
}

static void only_wait(covey_t *vm)
{
    struct waiter w;
    check("a thread that sleeps in the library gets what another one sends to the task",
          waiter_begin(&w, vm) && waiter_end(&w));
}

/* ---- times of one thread while another sleeps ---- */

struct sender {
    covey_t *vm;
    covey_tid_t to;
    pthread_t thread;
    int error;
};

static void *send_to(void *context)
{
    struct sender *s = context;
    const int32_t number = 1;
    of_program = 1;
    s->error = covey_send_array(s->vm, s->to, TAG_BRIEF, COVEY_INT32, &number, 1);
    return NULL;
}

static int spawn_stopped(covey_t *vm, covey_tid_t *tid)
{
    return spawn(vm, "idle", 1, tid) && covey_signal(vm, *tid, SIGSTOP) == COVEY_OK &&
           covey_set_route(vm, *tid, COVEY_ROUTE_SHM) == COVEY_OK;
}

/* One thread of each handle sleeps for ever. A link that is not answered is given up in time, both
 * where the sender waits and where it only asks. */
static void times_are_kept(covey_t *vm)
{
    covey_t *other = NULL;
    covey_req_t *req = NULL;
    covey_tid_t tids[2] = {0, 0};
    struct waiter waiters[2];
    struct sender s = {.vm = vm, .error = COVEY_OK};
    const int32_t number = 1;
    int good = covey_join(&other, NULL) == COVEY_OK && spawn_stopped(vm, &tids[0]) &&
               spawn_stopped(other, &tids[1]) && waiter_begin(&waiters[0], vm) &&
               waiter_begin(&waiters[1], other);
    s.to = tids[0];
    good = good && pthread_create(&s.thread, NULL, send_to, &s) == 0 &&
           covey_isend_array(other, tids[1], TAG_BRIEF, COVEY_INT32, &number, 1, &req) == COVEY_OK;
    check("tasks are stopped, threads sleep", good);
    if (!good)
        return;
    const time_t end = time(NULL) + PATIENCE_S;
    int state = 0;
    while ((state = covey_test(req)) == 0 && time(NULL) < end)
        pause_us(100000);
    check("a send that another thread started fails in time beside one that sleeps",
          state == COVEY_EROUTE);
    check("a send that waits fails in time beside a thread that sleeps",
          joined(s.thread) && s.error == COVEY_EROUTE);
    check("both sleepers wake up", waiter_end(&waiters[0]) && waiter_end(&waiters[1]));
    covey_req_free(&req);
    covey_kill(vm, tids[0]);
    covey_kill(other, tids[1]);
    covey_leave(&other);
}

/* ---- a thread that waits for nothing but room ---- */

struct caster {
    covey_t *vm;
    covey_tid_t to;
    pthread_t thread;
    int error;
    atomic_int cast;
};

static void *cast_all(void *context)
{
    static const uint8_t bytes[CAST_BYTES];
    struct caster *c = context;
    covey_msg_t *msg = covey_msg_new();
    of_program = 1;
    c->error = covey_pack_bytes(msg, bytes, sizeof bytes);
    for (int i = 0; i < CASTS && c->error == COVEY_OK; i++) {
        c->error = covey_cast(c->vm, &c->to, 1, COVEY_ORDER_TOTAL, TAG_CAST, msg);
        atomic_fetch_add(&c->cast, 1);
    }
    covey_msg_free(msg);
    return NULL;
}

/* Until the caster has stood still for a while: it lacks credit. */
static void await_standstill(const struct caster *c)
{
    int before = -1;
    for (int ms = 0; ms < 200 && atomic_load(&c->cast) < CASTS; ms++) {
        int now = atomic_load(&c->cast);
        ms = now == before ? ms : 0;
        before = now;
        pause_us(1000);
    }
}

static void room_is_told(covey_t *vm)
{
    struct waiter w;
    struct caster c = {.vm = vm, .error = COVEY_ETIMEOUT};
    int good = spawn(vm, "slow", 1, &c.to) && waiter_begin(&w, vm) &&
               pthread_create(&c.thread, NULL, cast_all, &c) == 0;
    if (good)
        await_standstill(&c);
    atomic_store(&board->cast, 1);
    check("a thread that waits for credit goes on beside one that sleeps",
          good && joined(c.thread) && c.error == COVEY_OK);
    check("and that one wakes up", good && waiter_end(&w));
}

/* ---- progress after a look ---- */

/* The task that sends, and its link. */
static int sender_begin(covey_t *vm, covey_tid_t *tid)
{
    int32_t number;
    return spawn(vm, "large", 1, tid) &&
           covey_recv_array(vm, *tid, TAG_SMALL, PATIENCE_US, COVEY_INT32, &number, 1, NULL,
                            NULL) == COVEY_OK;
}

/* The library's thread sleeps, the program takes what it would have been woken for, and computes.
 */
static int goes_on(covey_t *vm, covey_tid_t tid, uint8_t *bytes, covey_req_t **req)
{
    int32_t number = 1;
    int good = covey_send_array(vm, tid, TAG_BEGIN, COVEY_INT32, &number, 1) == COVEY_OK &&
               covey_irecv_array(vm, tid, TAG_LARGE, COVEY_BYTES, bytes, LARGE, req) == COVEY_OK;
    atomic_store(&late, MISSED);
    good = good && becomes(&library_asleep, 1);
    atomic_store(&board->small, 1);
    good = good && covey_recv_array(vm, tid, TAG_SMALL, PATIENCE_US, COVEY_INT32, &number, 1, NULL,
                                    NULL) == COVEY_OK;
    atomic_fetch_add(&looks, LOOKS);
    atomic_store(&board->large, 1);
    return good && becomes(&board->done, 1);
}

static void progress_after_look(covey_t *vm, covey_tid_t tid)
{
    covey_req_t *req = NULL;
    uint8_t *bytes = malloc(LARGE);
    int good = bytes != NULL && goes_on(vm, tid, bytes, &req);
    check("what comes while the task computes goes on after the task has looked", good);
    atomic_store(&late, IN_TIME);
    check("and is whole", req != NULL && covey_wait(req, PATIENCE_US) == COVEY_OK);
    covey_req_free(&req);
    free(bytes);
}

static struct board *board_open(const char *path)
{
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0 || ftruncate(fd, sizeof(struct board)) != 0)
        return NULL;
    void *shared = mmap(NULL, sizeof(struct board), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    return shared == MAP_FAILED ? NULL : shared;
}

/* Where times are still to be kept, as after a link was made, the library's thread wakes up by
 * itself: the handle for the last test is left alone for as long as the others take. */
static void threads_of_teams(covey_t *vm)
{
    covey_tid_t tids[2] = {covey_mytid(vm), 0};
    check("two threads wait for members of their teams",
          spawn(vm, "teams", 1, &tids[1]) && teams(vm, tids));
}

static int judge(covey_t **vm)
{
    covey_t *quiet = NULL;
    covey_tid_t sender = 0;
    check("a task and its link are there",
          covey_join(&quiet, NULL) == COVEY_OK && sender_begin(quiet, &sender));
    threads_of_teams(*vm);
    links_end(*vm);
    only_wait(*vm);
    room_is_told(*vm);
    times_are_kept(*vm);
    covey_leave(vm); /* and its thread */
    progress_after_look(quiet, sender);
    covey_leave(&quiet);
    return failed != 0;
}

int main(int argc, char **argv)
{
    covey_t *vm = NULL;
    int status;
    of_program = 1;
    program = argv[0];
    board_path = argc > 1 ? argv[argc - 1] : "";
    board = board_open(board_path);
    if (board == NULL || covey_join(&vm, NULL) < 0) {
        printf("not ok threads: %s\n", board == NULL ? strerror(errno) : covey_error_text());
        return 1;
    }
    status = argc > 2 ? take_part(vm, argv[1]) : judge(&vm);
    covey_leave(&vm);
    return status;
}
