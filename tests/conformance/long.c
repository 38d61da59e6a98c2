/* links: libcovey */
/*
 * long.c - long messages between tasks of one host, whichever way they are copied: order, both
 * orders of send and receive, many at once, both ends that send first, receives that do not fit,
 * end, or take any, threads, and tasks that are killed in the middle.
 *
 *   long                   one of the two tasks of a run (covey run -n 2 --host HOST)
 *   long denied            the same, where the kernel lets no task read another one's memory
 *   long victim send|recv  is spawned, and killed while it sends, or receives
 *
 * Each case is a function that both run. The first one prints a line a case; whoever finds a
 * mistake prints a line of its own.
 */
#include <covey.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PATIENCE_US ((int64_t)100000000)
#define WORDS_MAX ((size_t)2 << 20)
#define VICTIM_WORDS ((size_t)1 << 20)

enum { TAG = 1, TAG_OTHER = 2, TAG_READY = 3, MANY = 24, VICTIMS = 12 };

static covey_t *vm;
static covey_team_t *world;
static int rank, failures;
static covey_tid_t other;
static uint32_t *out, *in;

static void expect(int good, const char *what, int line)
{
    if (good)
        return;
    failures++;
    printf("not ok rank %d line %d: %s (%s)\n", rank, line, what, covey_error_text());
    fflush(stdout);
}

#define EXPECT(condition) expect(condition, #condition, __LINE__)

static const size_t sizes[] = {4095, 4096, 4097, 16385, 100001, 262144, 1310721};
#define SIZES (sizeof sizes / sizeof sizes[0])

/* The message of that number. */
static void fill(uint32_t *words, size_t n, uint32_t number)
{
    for (size_t i = 0; i < n; i++)
        words[i] = number * 2654435761u + (uint32_t)i * 40503u;
}

static int is(const uint32_t *words, size_t n, uint32_t number)
{
    for (size_t i = 0; i < n; i++)
        if (words[i] != number * 2654435761u + (uint32_t)i * 40503u)
            return 0;
    return 1;
}

static int put(int tag, size_t n, uint32_t number)
{
    fill(out, n, number);
    return covey_send_array(vm, other, tag, COVEY_UINT32, out, n);
}

static int get(covey_tid_t from, int tag, size_t n, uint32_t number)
{
    size_t count = 0;
    memset(in, 0, n * sizeof *in);
    int error =
        covey_recv_array(vm, from, tag, PATIENCE_US, COVEY_UINT32, in, WORDS_MAX, &count, NULL);
    return error == COVEY_OK && count == n && is(in, n, number);
}

static void meet(void)
{
    EXPECT(covey_barrier(world) == COVEY_OK);
}

/* ---- cases ----------------------------------------------------------------------------------- */

static void receiver_first(void)
{
    for (size_t i = 0; i < SIZES; i++) {
        covey_req_t *req = NULL;
        size_t count = 0;
        if (rank == 1)
            EXPECT(covey_irecv_array(vm, other, TAG, COVEY_UINT32, in, WORDS_MAX, &req) ==
                   COVEY_OK);
        meet();
        if (rank == 0) {
            EXPECT(put(TAG, sizes[i], (uint32_t)i) == COVEY_OK);
            continue;
        }
        EXPECT(covey_wait(req, PATIENCE_US) == COVEY_OK);
        EXPECT(covey_req_result(req, NULL, NULL, &count) == COVEY_OK);
        EXPECT(count == sizes[i] && is(in, count, (uint32_t)i));
        covey_req_free(&req);
    }
}

static void sender_first(void)
{
    for (size_t i = 0; i < SIZES; i++) {
        covey_req_t *req = NULL;
        if (rank == 0) {
            fill(out, sizes[i], (uint32_t)i);
            EXPECT(covey_isend_array(vm, other, TAG, COVEY_UINT32, out, sizes[i], &req) ==
                   COVEY_OK);
        }
        meet();
        if (rank == 1) {
            struct covey_info info = {0};
            EXPECT(covey_probe(vm, other, TAG, PATIENCE_US, &info) == COVEY_OK);
            EXPECT((size_t)info.bytes >= sizes[i] * sizeof *in);
            EXPECT(get(i % 2 == 0 ? other : COVEY_ANY_TASK, TAG, sizes[i], (uint32_t)i));
            continue;
        }
        EXPECT(covey_wait(req, PATIENCE_US) == COVEY_OK);
        covey_req_free(&req);
    }
}

/* The second of two is received first. */
static void out_of_order(void)
{
    covey_req_t *reqs[2] = {NULL, NULL};
    uint32_t little = 5;
    if (rank == 0) {
        fill(out, 300000, 1);
        EXPECT(covey_isend_array(vm, other, TAG, COVEY_UINT32, out, 300000, &reqs[0]) == COVEY_OK);
        EXPECT(covey_isend_array(vm, other, TAG_OTHER, COVEY_UINT32, &little, 1, &reqs[1]) ==
               COVEY_OK);
        EXPECT(covey_wait_all(reqs, 2, PATIENCE_US) == COVEY_OK);
        covey_req_free(&reqs[0]);
        covey_req_free(&reqs[1]);
        return;
    }
    EXPECT(covey_recv_array(vm, other, TAG_OTHER, PATIENCE_US, COVEY_UINT32, &little, 1, NULL,
                            NULL) == COVEY_OK);
    EXPECT(get(other, TAG, 300000, 1));
}

static void many_at_once(void)
{
    covey_req_t *reqs[MANY];
    const size_t room = 20000;
    if (rank == 0) {
        for (uint32_t i = 0; i < MANY; i++) {
            fill(out + i * room, room - i, i);
            EXPECT(covey_isend_array(vm, other, TAG, COVEY_UINT32, out + i * room, room - i,
                                     &reqs[i]) == COVEY_OK);
        }
    } else {
        for (uint32_t i = 0; i < MANY; i++)
            EXPECT(covey_irecv_array(vm, i % 2 == 0 ? other : COVEY_ANY_TASK, TAG, COVEY_UINT32,
                                     in + i * room, room, &reqs[i]) == COVEY_OK);
    }
    EXPECT(covey_wait_all(reqs, MANY, PATIENCE_US) == COVEY_OK);
    for (uint32_t i = 0; i < MANY; i++) {
        EXPECT(rank == 0 || is(in + i * room, room - i, i));
        covey_req_free(&reqs[i]);
    }
}

static void both_send_first(void)
{
    for (size_t i = 0; i < SIZES; i++) {
        EXPECT(put(TAG, sizes[i], (uint32_t)(i + (size_t)rank)) == COVEY_OK);
        EXPECT(get(other, TAG, sizes[i], (uint32_t)(i + 1 - (size_t)rank)));
    }
    for (uint32_t i = 0; i < 4; i++) /* several before any is received */
        EXPECT(put(TAG, 100000, i) == COVEY_OK);
    for (uint32_t i = 0; i < 4; i++)
        EXPECT(get(COVEY_ANY_TASK, TAG, 100000, i));
}

static void messages_of_items(void)
{
    const size_t n = 50000;
    double *doubles = calloc(n, sizeof *doubles);
    char text[16] = "";
    covey_msg_t *msg = NULL;
    for (int i = 0; rank == 0 && i < 2; i++) { /* copied into the message, and in place */
        msg = covey_msg_new();
        fill(out, n, 9);
        EXPECT((i == 0 ? covey_pack(msg, COVEY_UINT32, out, n, 1)
                       : covey_pack_inplace(msg, COVEY_UINT32, out, n)) == COVEY_OK);
        EXPECT(covey_pack_string(msg, "between") == COVEY_OK);
        EXPECT((i == 0 ? covey_pack(msg, COVEY_DOUBLE, doubles, n, 1)
                       : covey_pack_inplace(msg, COVEY_DOUBLE, doubles, n)) == COVEY_OK);
        EXPECT(covey_send(vm, other, TAG, msg) == COVEY_OK);
        covey_msg_free(msg);
    }
    for (int i = 0; rank == 1 && i < 2; i++) {
        EXPECT(covey_recv(vm, i == 0 ? other : COVEY_ANY_TASK, TAG, PATIENCE_US, &msg) == COVEY_OK);
        memset(in, 0, n * sizeof *in);
        EXPECT(covey_unpack(msg, COVEY_UINT32, in, n, 1) == COVEY_OK && is(in, n, 9));
        EXPECT(covey_unpack_string(msg, text, sizeof text) == COVEY_OK &&
               strcmp(text, "between") == 0);
        EXPECT(covey_unpack(msg, COVEY_DOUBLE, doubles, n, 1) == COVEY_OK);
        covey_msg_free(msg);
    }
    free(doubles);
}

/* Receives that the message does not fit, that are cancelled, or late, leave it to the next. */
static void receives_that_end(void)
{
    covey_req_t *req = NULL;
    if (rank == 0) {
        for (uint32_t i = 0; i < 4; i++)
            EXPECT(put(TAG, 200000, i) == COVEY_OK);
        return;
    }
    EXPECT(covey_recv_array(vm, other, TAG, PATIENCE_US, COVEY_UINT32, in, 10, NULL, NULL) ==
           COVEY_ETRUNC);
    EXPECT(get(other, TAG, 200000, 0));
    EXPECT(covey_recv_array(vm, other, TAG, PATIENCE_US, COVEY_DOUBLE, in, 10, NULL, NULL) ==
           COVEY_ETYPE);
    EXPECT(get(other, TAG, 200000, 1));
    EXPECT(covey_irecv_array(vm, other, TAG, COVEY_UINT32, in, WORDS_MAX, &req) == COVEY_OK);
    if (covey_cancel(req) == 1)
        EXPECT(get(other, TAG, 200000, 2));
    else
        EXPECT(covey_wait(req, PATIENCE_US) == COVEY_OK && is(in, 200000, 2));
    covey_req_free(&req);
    int error;
    do
        error = covey_recv_array(vm, other, TAG, 1, COVEY_UINT32, in, WORDS_MAX, NULL, NULL);
    while (error == COVEY_ETIMEOUT);
    EXPECT(error == COVEY_OK && is(in, 200000, 3));
}

/* Neither waits inside the library: requests progress by themselves, or by covey_test(). */
static void while_they_compute(void)
{
    covey_req_t *sent = NULL, *received = NULL;
    fill(out, WORDS_MAX, 3);
    memset(in, 0, WORDS_MAX * sizeof *in);
    EXPECT(covey_isend_array(vm, other, TAG, COVEY_UINT32, out, WORDS_MAX, &sent) == COVEY_OK);
    if (rank == 0) /* the other one begins to receive when it has waited for its send in vain */
        EXPECT(covey_irecv_array(vm, other, TAG, COVEY_UINT32, in, WORDS_MAX, &received) ==
               COVEY_OK);
    else
        while (covey_test(sent) == 0)
            continue;
    if (rank == 1)
        EXPECT(covey_irecv_array(vm, other, TAG, COVEY_UINT32, in, WORDS_MAX, &received) ==
               COVEY_OK);
    while (covey_test(received) == 0 || covey_test(sent) == 0)
        continue;
    EXPECT(covey_test(received) == 1 && covey_test(sent) == 1 && is(in, WORDS_MAX, 3));
    covey_req_free(&sent);
    covey_req_free(&received);
}

struct talker {
    pthread_t thread;
    int tag, good;
};

/* Sends and receives by turns, on a tag of its own. */
static void *talk(void *context)
{
    struct talker *t = context;
    const size_t n = 30000;
    uint32_t *mine = malloc(n * sizeof *mine), *theirs = malloc(n * sizeof *theirs);
    t->good = mine != NULL && theirs != NULL;
    for (uint32_t i = 0; t->good && i < 30; i++) {
        fill(mine, n, i + (uint32_t)t->tag);
        memset(theirs, 0, n * sizeof *theirs);
        t->good = covey_send_array(vm, other, t->tag, COVEY_UINT32, mine, n) == COVEY_OK &&
                  covey_recv_array(vm, other, t->tag, PATIENCE_US, COVEY_UINT32, theirs, n, NULL,
                                   NULL) == COVEY_OK &&
                  is(theirs, n, i + (uint32_t)t->tag);
    }
    free(mine);
    free(theirs);
    return NULL;
}

static void by_threads(void)
{
    struct talker talkers[4];
    for (int i = 0; i < 4; i++) {
        talkers[i] = (struct talker){.tag = 100 + i};
        EXPECT(pthread_create(&talkers[i].thread, NULL, talk, &talkers[i]) == 0);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(talkers[i].thread, NULL);
        EXPECT(talkers[i].good);
    }
}

/* From now on the kernel refuses all threads of this task to read another one's memory. */
static int deny(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    const struct sock_fprog filter = {sizeof code / sizeof code[0], code};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &filter) == 0;
}

static void one_may_not_read_any_more(void)
{
    if (rank == 1)
        EXPECT(deny());
    receiver_first();
    sender_first();
    many_at_once();
    both_send_first();
}

/* ---- tasks that are killed ------------------------------------------------------------------- */

static void be_victim(int sends)
{
    uint32_t ready = (uint32_t)getpid();
    covey_tid_t parent = covey_parent(vm);
    fill(out, VICTIM_WORDS, 11);
    if (covey_send_array(vm, parent, TAG_READY, COVEY_UINT32, &ready, 1) != COVEY_OK)
        return;
    int error;
    do
        error = sends ? covey_send_array(vm, parent, TAG, COVEY_UINT32, out, VICTIM_WORDS)
                      : covey_recv_array(vm, parent, TAG, PATIENCE_US, COVEY_UINT32, in,
                                         VICTIM_WORDS, NULL, NULL);
    while (error == COVEY_OK);
}

struct killer {
    pid_t pid;
    useconds_t after_us;
};

static void *kill_later(void *context)
{
    const struct killer *k = context;
    usleep(k->after_us);
    kill(k->pid, SIGKILL);
    return NULL;
}

/* What came of it came whole, and then it is told that it ended. */
static void one_is_killed(const char *program, int sends, useconds_t after_us)
{
    const char *argv[] = {program, "victim", sends ? "send" : "recv", NULL};
    const char *hosts[] = {covey_myhost(vm), NULL};
    struct covey_spawn what = {.argv = argv, .where = COVEY_WHERE_HOSTS, .hosts = hosts};
    covey_tid_t tid;
    uint32_t pid = 0;
    pthread_t thread;
    EXPECT(covey_spawn(vm, &what, 1, &tid) == 1);
    EXPECT(covey_recv_array(vm, tid, TAG_READY, PATIENCE_US, COVEY_UINT32, &pid, 1, NULL, NULL) ==
           COVEY_OK);
    struct killer killer = {(pid_t)pid, after_us};
    if (pid == 0 || pthread_create(&thread, NULL, kill_later, &killer) != 0)
        return;
    fill(out, VICTIM_WORDS, 12);
    int error;
    do {
        memset(in, 0, VICTIM_WORDS * sizeof *in);
        error = sends ? covey_recv_array(vm, tid, TAG, PATIENCE_US, COVEY_UINT32, in, VICTIM_WORDS,
                                         NULL, NULL)
                      : covey_send_array(vm, tid, TAG, COVEY_UINT32, out, VICTIM_WORDS);
        EXPECT(error != COVEY_OK || !sends || is(in, VICTIM_WORDS, 11));
    } while (error == COVEY_OK);
    EXPECT(error == COVEY_ENOTASK);
    pthread_join(thread, NULL);
}

static const char *program;

static void killed_while_it_sends(void)
{
    for (useconds_t i = 0; rank == 0 && i < VICTIMS; i++)
        one_is_killed(program, 1, 500 + i * 700);
}

static void killed_while_it_receives(void)
{
    for (useconds_t i = 0; rank == 0 && i < VICTIMS; i++)
        one_is_killed(program, 0, 500 + i * 700);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } cases[] = {
        {"the receiver first", receiver_first},
        {"the sender first", sender_first},
        {"the second is received first", out_of_order},
        {"many at once", many_at_once},
        {"both send first", both_send_first},
        {"messages of items", messages_of_items},
        {"receives that end", receives_that_end},
        {"while both compute", while_they_compute},
        {"by threads", by_threads},
        {"one may not read any more", one_may_not_read_any_more},
        {"killed while it sends", killed_while_it_sends},
        {"killed while it receives", killed_while_it_receives},
    };
    program = argv[0];
    out = malloc(WORDS_MAX * sizeof *out);
    in = malloc(WORDS_MAX * sizeof *in);
    if (argc == 2 && strcmp(argv[1], "denied") == 0 && !deny()) {
        printf("not ok seccomp: %s\n", strerror(errno));
        return 2;
    }
    int error = covey_join(&vm, NULL);
    if (error != COVEY_OK || out == NULL || in == NULL) {
        printf("join: %d: %s\n", error, covey_error_text());
        return error == COVEY_EINVAL ? 3 : 2;
    }
    if (argc > 2) {
        be_victim(strcmp(argv[2], "send") == 0);
        return 0;
    }
    if (covey_team_world(vm, &world) != COVEY_OK) {
        printf("not ok: %s\n", covey_error_text());
        return 2;
    }
    rank = covey_team_rank(world);
    other = covey_team_tid(world, 1 - rank);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int before = failures;
        cases[i].run();
        meet();
        if (rank == 0 && failures == before)
            printf("ok %s\n", cases[i].name);
        fflush(stdout);
    }
    covey_team_free(&world);
    covey_leave(&vm);
    free(out);
    free(in);
    return failures > 0;
}
