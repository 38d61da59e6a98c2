/* links: libcovey */
/*
 * talk.c - what the members of a run say to each other by rank, and the calls that wait for several
 * things: what they promise, and what they refuse.
 *
 *   talk         one of the tasks of a run (covey run -n N, N >= 3); the last one dies in the story
 *   talk alone   a task that was started by hand
 *
 * Each case is a function that all members run. The first member prints a line a case; whoever
 * finds a mistake prints a line of its own.
 */
#include <covey.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATIENCE_US ((int64_t)250000000)
#define SHORT_US ((int64_t)100000)
#define BULK ((size_t)24 << 20) /* bytes: more than is kept for a task that does not receive */

enum { TAG = 1, TAG_OTHER = 2, TAG_NOTICE = 3, TAG_GO = 4 };

static covey_t *vm;
static covey_team_t *world;
static int rank, size, failures;

static void expect(int good, const char *what, int line)
{
    if (good)
        return;
    failures++;
    printf("not ok rank %d line %d: %s (%s)\n", rank, line, what, covey_error_text());
    fflush(stdout);
}

#define EXPECT(condition) expect(condition, #condition, __LINE__)
#define SAYS(text) EXPECT(strstr(covey_error_text(), text) != NULL)

static int left(void)
{
    return (rank + size - 1) % size;
}

static int right(void)
{
    return (rank + 1) % size;
}

static covey_msg_t *number(int32_t value)
{
    covey_msg_t *msg = covey_msg_new();
    covey_pack_int32(msg, &value, 1, 1);
    return msg;
}

static int32_t number_of(covey_msg_t *msg)
{
    int32_t value = -1;
    if (msg != NULL)
        covey_unpack_int32(msg, &value, 1, 1);
    covey_msg_free(msg);
    return value;
}

static int put(covey_team_t *team, int to, int tag, int32_t value)
{
    return covey_team_send_array(team, to, tag, COVEY_INT32, &value, 1);
}

/* By tid, as if there were no team. */
static int send_task(covey_tid_t tid, int32_t value)
{
    return covey_send_array(vm, tid, TAG_GO, COVEY_INT32, &value, 1);
}

static int32_t number_of_task(covey_tid_t tid)
{
    covey_msg_t *msg = NULL;
    covey_recv(vm, tid, TAG_GO, PATIENCE_US, &msg);
    return number_of(msg);
}

/* ---- the cases ---- */

static void the_world_is_in_the_order_of_the_spawn(void)
{
    covey_tid_t *tids = NULL;
    int n = covey_siblings(vm, &tids);
    EXPECT(n == size);
    for (int i = 0; i < n && i < size; i++)
        EXPECT(covey_team_tid(world, i) == tids[i] && covey_team_rank_of(world, tids[i]) == i);
    EXPECT(covey_team_tid(world, rank) == covey_mytid(vm));
    EXPECT(covey_team_rank_of(world, covey_parent(vm)) == COVEY_ENOTASK);
    covey_free(tids);
    EXPECT(covey_team_world(NULL, &world) == COVEY_EINVAL);
    EXPECT(covey_team_world(vm, NULL) == COVEY_EINVAL);
    covey_team_t *again = NULL;
    EXPECT(covey_team_world(vm, &again) == 0 && covey_team_rank(again) == rank);
    covey_team_free(&again);
}

/* One tag on all ways, and each message comes the way that it was sent. */
static void ways_are_apart(void)
{
    covey_team_t *other = NULL;
    covey_req_t *any = NULL;
    covey_msg_t *msg = NULL;
    int32_t value = 10 + rank, got = 0;
    EXPECT(covey_team_split(world, 0, -rank, &other) == 0); /* all of them, from the last one on */
    EXPECT(covey_irecv(vm, COVEY_ANY_TASK, COVEY_ANY_TAG, &any) == 0);
    EXPECT(put(other, size - 1 - right(), TAG, 300 + rank) == 0);
    EXPECT(put(world, right(), TAG, 200 + rank) == 0);
    EXPECT(covey_barrier(world) == 0);
    EXPECT(covey_test(any) == 0); /* neither is for it, nor what the barrier sent */
    EXPECT(covey_probe(vm, COVEY_ANY_TASK, TAG, COVEY_POLL, NULL) == COVEY_ETIMEOUT);
    EXPECT(covey_barrier(world) == 0);
    EXPECT(covey_send_array(vm, covey_team_tid(world, right()), TAG, COVEY_INT32, &value, 1) == 0);
    EXPECT(covey_wait(any, PATIENCE_US) == 0);
    EXPECT(covey_req_result(any, NULL, &msg, NULL) == 0 && number_of(msg) == 10 + left());
    covey_req_free(&any);
    EXPECT(covey_team_recv(other, COVEY_ANY_RANK, COVEY_ANY_TAG, PATIENCE_US, &msg) ==
           size - 1 - left());
    EXPECT(number_of(msg) == 300 + left());
    EXPECT(covey_team_recv_array(world, COVEY_ANY_RANK, COVEY_ANY_TAG, PATIENCE_US, COVEY_INT32,
                                 &got, 1, NULL) == left());
    EXPECT(got == 200 + left());
    EXPECT(covey_team_probe(world, COVEY_ANY_RANK, COVEY_ANY_TAG, COVEY_POLL, NULL) ==
           COVEY_ETIMEOUT);
    covey_team_free(&other);
}

/* The first member gets all of all, from anybody and in each sender's order. */
static void any_rank_tells_whose_it_is(void)
{
    enum { EACH = 50 };
    int32_t next[64] = {0};
    for (int i = 0; rank != 0 && i < EACH; i++)
        EXPECT(put(world, 0, TAG, rank * 1000 + i) == 0);
    for (int i = 0; rank == 0 && i < EACH * (size - 1); i++) {
        covey_msg_t *msg = NULL;
        struct covey_info info = {0};
        int found = covey_team_probe(world, COVEY_ANY_RANK, TAG, PATIENCE_US, &info);
        EXPECT(found > 0 && info.source == covey_team_tid(world, found) && info.tag == TAG);
        int from = covey_team_recv(world, found, TAG, PATIENCE_US, &msg);
        EXPECT(from == found && number_of(msg) == from * 1000 + next[from]);
        next[from]++;
    }
}

static void a_member_sends_to_itself(void)
{
    covey_msg_t *msg = number(7), *got = NULL;
    EXPECT(covey_team_send(world, rank, TAG, msg) == 0);
    EXPECT(covey_probe(vm, covey_mytid(vm), TAG, COVEY_POLL, NULL) == COVEY_ETIMEOUT);
    EXPECT(covey_team_recv(world, rank, TAG, PATIENCE_US, &got) == rank && number_of(got) == 7);
    EXPECT(covey_team_sendrecv(world, rank, rank, TAG, PATIENCE_US, msg, &got) == 0);
    EXPECT(number_of(got) == 7);
    covey_msg_free(msg);
}

static void requests_by_rank(void)
{
    covey_req_t *reqs[4] = {NULL};
    covey_msg_t *msg = number(rank), *got = NULL;
    struct covey_info info = {0};
    int32_t out = 100 + rank, in = -1;
    size_t count = 0;
    EXPECT(covey_team_irecv(world, COVEY_ANY_RANK, TAG, &reqs[0]) == 0);
    EXPECT(covey_team_irecv_array(world, left(), TAG_OTHER, COVEY_INT32, &in, 1, &reqs[1]) == 0);
    EXPECT(covey_team_isend(world, right(), TAG, &msg, &reqs[2]) == 0 && msg == NULL);
    EXPECT(covey_team_isend_array(world, right(), TAG_OTHER, COVEY_INT32, &out, 1, &reqs[3]) == 0);
    EXPECT(covey_wait_all(reqs, 4, PATIENCE_US) == 0);
    EXPECT(covey_req_result(reqs[0], &info, &got, NULL) == 0 && number_of(got) == left());
    EXPECT(covey_team_rank_of(world, info.source) == left());
    EXPECT(covey_req_result(reqs[1], NULL, NULL, &count) == 0 && count == 1 && in == 100 + left());
    for (int i = 0; i < 4; i++)
        covey_req_free(&reqs[i]);
}

static void all_send_much_and_receive_at_once(void)
{
    uint8_t *out = malloc(BULK), *in = malloc(BULK);
    size_t count = 0;
    memset(out, rank + 1, BULK);
    EXPECT(covey_team_sendrecv_array(world, right(), left(), TAG, PATIENCE_US, COVEY_UINT8, out,
                                     BULK, in, BULK, &count) == 0);
    EXPECT(count == BULK && in[0] == left() + 1 && in[BULK - 1] == left() + 1);
    EXPECT(covey_sendrecv_array(vm, covey_team_tid(world, left()), COVEY_ANY_TASK, TAG, PATIENCE_US,
                                COVEY_UINT8, out, 1 << 20, in, BULK, &count) == 0);
    EXPECT(count == 1 << 20 && in[count - 1] == right() + 1);
    free(out);
    free(in);
}

/* At the ends of a line there is nobody. */
static void a_line_has_ends(void)
{
    int before = rank == 0 ? COVEY_NO_RANK : rank - 1;
    int after = rank == size - 1 ? COVEY_NO_RANK : rank + 1;
    covey_msg_t *msg = number(rank), *got = msg;
    EXPECT(covey_team_sendrecv(world, after, before, TAG, PATIENCE_US, msg, &got) == 0);
    EXPECT(rank == 0 ? got == NULL : number_of(got) == rank - 1);
    size_t count = 9;
    EXPECT(covey_team_sendrecv_array(world, COVEY_NO_RANK, COVEY_NO_RANK, TAG, 0, COVEY_INT8, NULL,
                                     0, NULL, 0, &count) == 0 &&
           count == 0);
    got = msg;
    EXPECT(covey_sendrecv(vm, COVEY_NO_TASK, COVEY_NO_TASK, TAG, 0, NULL, &got) == 0 &&
           got == NULL);
    covey_msg_free(msg);
}

/* What was sent all the same comes later, whole, also what was under way when the time ran out. */
static void a_time_runs_out(void)
{
    covey_msg_t *msg = number(5), *got = NULL;
    uint8_t *bytes = calloc(1, BULK), *in = malloc(BULK);
    size_t count = 0;
    bytes[BULK - 1] = 9;
    EXPECT(covey_team_recv(world, COVEY_ANY_RANK, TAG, COVEY_POLL, &got) == COVEY_ETIMEOUT);
    EXPECT(covey_team_recv(world, right(), TAG, SHORT_US, &got) == COVEY_ETIMEOUT && got == NULL);
    EXPECT(covey_barrier(world) == 0);
    EXPECT(covey_team_sendrecv(world, right(), left(), TAG_OTHER, COVEY_POLL, msg, &got) <= 0);
    covey_msg_free(got);
    EXPECT(covey_barrier(world) == 0);
    while (covey_team_recv(world, COVEY_ANY_RANK, TAG_OTHER, SHORT_US, &got) >= 0)
        EXPECT(number_of(got) == 5);
    if (rank == 0) {
        EXPECT(covey_team_sendrecv_array(world, 1, 1, TAG, SHORT_US, COVEY_UINT8, bytes, BULK, in,
                                         BULK, NULL) == COVEY_ETIMEOUT);
        memset(bytes, 1, BULK);
        EXPECT(put(world, 1, TAG_GO, 0) == 0);
    } else if (rank == 1) {
        EXPECT(covey_team_recv(world, 0, TAG_GO, PATIENCE_US, &got) == 0 && number_of(got) == 0);
        if (covey_team_recv_array(world, 0, TAG, 1000000, COVEY_UINT8, in, BULK, &count) == 0)
            EXPECT(count == BULK && in[BULK - 1] == 9);
    }
    covey_msg_free(msg);
    free(bytes);
    free(in);
}

static void what_is_refused(void)
{
    covey_msg_t *msg = number(1), *got = NULL;
    covey_req_t *req = NULL;
    int32_t value = 1;
    EXPECT(covey_team_send(NULL, 0, TAG, msg) == COVEY_EINVAL);
    EXPECT(covey_team_send(world, size, TAG, msg) == COVEY_EINVAL);
    SAYS("there is no rank");
    EXPECT(covey_team_send(world, COVEY_ANY_RANK, TAG, msg) == COVEY_EINVAL);
    EXPECT(covey_team_send(world, COVEY_NO_RANK, TAG, msg) == COVEY_EINVAL);
    EXPECT(covey_team_send(world, 0, -1, msg) == COVEY_EINVAL);
    EXPECT(covey_team_send(world, 0, COVEY_TAG_MAX + 1, msg) == COVEY_EINVAL);
    EXPECT(covey_team_send(world, 0, TAG, NULL) == COVEY_EINVAL);
    EXPECT(covey_team_send_array(world, 0, TAG, 99, &value, 1) == COVEY_EINVAL);
    EXPECT(covey_team_send_array(world, 0, TAG, COVEY_INT32, NULL, 1) == COVEY_EINVAL);
    EXPECT(covey_team_recv(NULL, 0, TAG, 0, &got) == COVEY_EINVAL);
    EXPECT(covey_team_recv(world, size, TAG, 0, &got) == COVEY_EINVAL);
    EXPECT(covey_team_recv(world, COVEY_NO_RANK, TAG, 0, &got) == COVEY_EINVAL);
    EXPECT(covey_team_recv(world, 0, -2, 0, &got) == COVEY_EINVAL);
    EXPECT(covey_team_recv(world, 0, TAG, 0, NULL) == COVEY_EINVAL);
    EXPECT(covey_team_recv_array(world, 0, TAG, 0, 99, &value, 1, NULL) == COVEY_EINVAL);
    EXPECT(covey_team_probe(world, -7, TAG, 0, NULL) == COVEY_EINVAL);
    EXPECT(covey_team_isend(world, 0, TAG, NULL, &req) == COVEY_EINVAL);
    EXPECT(covey_team_isend(world, size, TAG, &msg, &req) == COVEY_EINVAL && msg != NULL);
    EXPECT(covey_team_isend_array(world, 0, TAG, COVEY_INT32, &value, 1, NULL) == COVEY_EINVAL);
    EXPECT(covey_team_irecv(world, 0, TAG, NULL) == COVEY_EINVAL);
    EXPECT(covey_team_irecv_array(world, -9, TAG, COVEY_INT32, &value, 1, &req) == COVEY_EINVAL);
    EXPECT(covey_sendrecv(NULL, 1, 1, TAG, 0, msg, &got) == COVEY_EINVAL);
    EXPECT(covey_sendrecv(vm, covey_mytid(vm), covey_mytid(vm), TAG, 0, NULL, &got) ==
           COVEY_EINVAL);
    EXPECT(covey_sendrecv(vm, covey_mytid(vm), covey_mytid(vm), TAG, 0, msg, NULL) == COVEY_EINVAL);
    EXPECT(covey_sendrecv(vm, covey_mytid(vm), covey_mytid(vm), COVEY_ANY_TAG, 0, msg, &got) ==
           COVEY_EINVAL);
    EXPECT(covey_sendrecv(vm, COVEY_ANY_TASK, covey_mytid(vm), TAG, 0, msg, &got) == COVEY_EINVAL);
    EXPECT(covey_sendrecv_array(vm, covey_mytid(vm), covey_mytid(vm), TAG, 0, COVEY_INT32, NULL, 1,
                                &value, 1, NULL) == COVEY_EINVAL);
    EXPECT(covey_team_sendrecv(NULL, 0, 0, TAG, 0, msg, &got) == COVEY_EINVAL);
    EXPECT(covey_team_sendrecv(world, COVEY_ANY_RANK, 0, TAG, 0, msg, &got) == COVEY_EINVAL);
    EXPECT(covey_team_sendrecv(world, 0, size, TAG, 0, msg, &got) == COVEY_EINVAL);
    EXPECT(got == NULL && req == NULL);
    /* a message of another type stays */
    EXPECT(covey_team_send(world, rank, TAG, msg) == 0);
    uint8_t byte = 0;
    EXPECT(covey_team_recv_array(world, rank, TAG, 0, COVEY_UINT8, &byte, 1, NULL) == COVEY_ETYPE);
    EXPECT(covey_team_recv(world, rank, TAG, 0, &got) == rank && number_of(got) == 1);
    /* nothing of what was refused came */
    EXPECT(covey_team_probe(world, rank, COVEY_ANY_TAG, COVEY_POLL, NULL) == COVEY_ETIMEOUT);
    EXPECT(covey_probe(vm, covey_mytid(vm), COVEY_ANY_TAG, COVEY_POLL, NULL) == COVEY_ETIMEOUT);
    covey_msg_free(msg);
}

static void waiting_for_all(void)
{
    covey_req_t *reqs[3] = {NULL}, *mixed[2];
    covey_t *second = NULL;
    int32_t in[3];
    EXPECT(covey_wait_all(NULL, 0, 0) == 0 && covey_wait_all(reqs, 3, 0) == 0);
    EXPECT(covey_wait_all(NULL, 1, 0) == COVEY_EINVAL);
    for (int i = 0; i < 3; i += 2)
        EXPECT(covey_team_irecv_array(world, rank, i, COVEY_INT32, &in[i], 1, &reqs[i]) == 0);
    EXPECT(put(world, rank, 0, 4) == 0);
    EXPECT(covey_wait_all(reqs, 3, SHORT_US) == COVEY_ETIMEOUT);
    SAYS("request 2 of 3");
    EXPECT(covey_test(reqs[0]) == 1 && covey_test(reqs[2]) == 0);
    EXPECT(covey_cancel(reqs[2]) == 1);
    EXPECT(covey_wait_all(reqs, 3, PATIENCE_US) == COVEY_ECANCELED);
    SAYS("request 2 of 3: ");
    EXPECT(covey_test(reqs[0]) == 1 && covey_test(reqs[2]) == COVEY_ECANCELED && in[0] == 4);
    EXPECT(covey_join(&second, NULL) == 0);
    mixed[0] = reqs[0];
    EXPECT(covey_irecv(second, COVEY_ANY_TASK, TAG, &mixed[1]) == 0);
    EXPECT(covey_wait_all(mixed, 2, 0) == COVEY_EINVAL);
    SAYS("of another covey_join()");
    struct covey_notice notice;
    EXPECT(covey_wait_notice(vm, &mixed[1], 1, TAG_NOTICE, 0, &notice) == COVEY_EINVAL);
    covey_team_t *none = NULL;
    EXPECT(covey_team_world(second, &none) == COVEY_ENOGROUP && none == NULL);
    covey_req_free(&mixed[1]);
    covey_leave(&second);
    covey_req_free(&reqs[0]);
    covey_req_free(&reqs[2]);
}

/* A child sends a result and ends: the result is told before the end. */
static void results_and_notices(void)
{
    char to[16];
    const char *argv[] = {"/proc/self/exe", "child", to, NULL};
    struct covey_spawn what = {.argv = argv};
    struct covey_notice notice = {0};
    covey_req_t *reqs[2] = {NULL};
    covey_tid_t child = 0;
    char path[256] = "";
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    argv[0] = n > 0 ? path : argv[0];
    snprintf(to, sizeof to, "%d", TAG_OTHER);
    EXPECT(covey_wait_notice(vm, NULL, 0, TAG_NOTICE, SHORT_US, &notice) == COVEY_ETIMEOUT);
    EXPECT(covey_wait_notice(NULL, NULL, 0, TAG_NOTICE, 0, &notice) == COVEY_EINVAL);
    EXPECT(covey_wait_notice(vm, NULL, 1, TAG_NOTICE, 0, &notice) == COVEY_EINVAL);
    EXPECT(covey_wait_notice(vm, NULL, 0, -1, 0, &notice) == COVEY_EINVAL);
    EXPECT(covey_wait_notice(vm, NULL, 0, TAG_NOTICE, 0, NULL) == COVEY_EINVAL);
    EXPECT(covey_spawn(vm, &what, 1, &child) == 1);
    EXPECT(covey_notify(vm, COVEY_NOTIFY_TASK_EXIT, TAG_NOTICE, &child, 1) == 0);
    EXPECT(covey_irecv(vm, child, TAG_OTHER, &reqs[1]) == 0);
    EXPECT(covey_probe(vm, COVEY_ANY_TASK, TAG_NOTICE, PATIENCE_US, NULL) ==
           0); /* both are there */
    EXPECT(covey_wait_notice(vm, reqs, 2, TAG_NOTICE, PATIENCE_US, &notice) == 1);
    covey_req_free(&reqs[1]);
    EXPECT(covey_wait_notice(vm, reqs, 2, TAG_NOTICE, PATIENCE_US, &notice) == 2);
    EXPECT(notice.event == COVEY_NOTIFY_TASK_EXIT && notice.tid == child && notice.value == 0);
    EXPECT(notice.exit_kind == COVEY_EXIT_STATUS ||
           notice.exit_kind == COVEY_EXIT_UNKNOWN); /* a sanitizer looks for leaks first */
    EXPECT(covey_wait_notice(vm, reqs, 2, TAG_NOTICE, COVEY_POLL, &notice) == COVEY_ETIMEOUT);
    covey_msg_t *msg = covey_msg_new(), *got = NULL;
    covey_pack_string(msg, "no notice");
    EXPECT(covey_send(vm, covey_mytid(vm), TAG_NOTICE, msg) == 0);
    EXPECT(covey_wait_notice(vm, NULL, 0, TAG_NOTICE, PATIENCE_US, &notice) == COVEY_ETYPE);
    SAYS("is no notice");
    char text[16] = "";
    EXPECT(covey_recv(vm, COVEY_ANY_TASK, TAG_NOTICE, 0, &got) == 0 &&
           covey_unpack_string(got, text, sizeof text) == 0 && strcmp(text, "no notice") == 0);
    covey_msg_free(msg);
    covey_msg_free(got);
}

static void names_of_tids(void)
{
    char name[COVEY_TID_NAME_BYTES], expected[COVEY_TID_NAME_BYTES], few[4];
    struct covey_host *hosts = NULL;
    int n = covey_hosts(vm, &hosts);
    for (int i = 0; i < size; i++) {
        covey_tid_t tid = covey_team_tid(world, i);
        const char *host = "?";
        for (int k = 0; k < n; k++)
            host = hosts[k].index == covey_tid_host(tid) ? hosts[k].name : host;
        snprintf(expected, sizeof expected, "t%x on %.63s", (unsigned)tid, host);
        EXPECT(covey_tid_name(vm, tid, name, sizeof name) == name && strcmp(name, expected) == 0);
    }
    covey_free(hosts);
    covey_tid_t tid = covey_mytid(vm);
    snprintf(expected, sizeof expected, "t%x on host %d", (unsigned)tid, covey_tid_host(tid));
    EXPECT(strcmp(covey_tid_name(NULL, tid, name, sizeof name), expected) == 0);
    EXPECT(strcmp(covey_tid_name(vm, (covey_tid_t)(4000 << 18 | 1), name, sizeof name),
                  "t3e800001 on host 4000") == 0);
    EXPECT(strcmp(covey_tid_name(vm, COVEY_ANY_TASK, name, sizeof name), "any task") == 0);
    EXPECT(strcmp(covey_tid_name(vm, COVEY_NO_TASK, name, sizeof name), "no task") == 0);
    EXPECT(strstr(covey_tid_name(vm, COVEY_ENOENT, name, sizeof name), "no task") != NULL);
    EXPECT(strstr(covey_tid_name(vm, (covey_tid_t)(covey_tid_host(tid) << 18), name, sizeof name),
                  "the daemon of ") == name);
    EXPECT(strlen(covey_tid_name(vm, tid, few, sizeof few)) == 3);
    EXPECT(strcmp(covey_tid_name(vm, tid, NULL, 7), "") == 0);
    EXPECT(covey_team_send(world, size, TAG, NULL) == COVEY_EINVAL); /* its text stays */
    covey_tid_name(vm, covey_team_tid(world, right()), name, sizeof name);
    SAYS("there is no rank");
}

/* Also while a large message comes in; and who sent it is none the worse. */
static void freeing_ends_what_is_under_way(void)
{
    covey_team_t *part = NULL;
    covey_req_t *reqs[2] = {NULL}, *send = NULL;
    uint8_t *bytes = calloc(1, BULK);
    covey_msg_t *got = NULL;
    EXPECT(covey_team_split(world, 0, rank, &part) == 0);
    if (rank == 1) {
        EXPECT(covey_team_irecv_array(part, 0, TAG, COVEY_UINT8, bytes, BULK, &reqs[0]) == 0);
        EXPECT(covey_team_irecv(part, COVEY_ANY_RANK, TAG_OTHER, &reqs[1]) == 0);
        EXPECT(put(world, 0, TAG_GO, 1) == 0);
    }
    if (rank == 0) {
        EXPECT(covey_team_recv(world, 1, TAG_GO, PATIENCE_US, &got) == 1 && number_of(got) == 1);
        EXPECT(covey_team_isend_array(part, 1, TAG, COVEY_UINT8, bytes, BULK, &send) == 0);
        EXPECT(put(world, 1, TAG_GO, 2) == 0); /* behind it */
    }
    if (rank == 1) {
        covey_team_free(&part);
        EXPECT(part == NULL);
        for (int i = 0; i < 2; i++) {
            int error = covey_wait(reqs[i], 0);
            EXPECT(error == COVEY_ECANCELED || (i == 0 && error == 0)); /* it was as fast */
            if (error != 0)
                SAYS("the team was freed");
            covey_req_free(&reqs[i]);
        }
        EXPECT(covey_team_recv(world, 0, TAG_GO, PATIENCE_US, &got) == 0 && number_of(got) == 2);
    }
    if (rank == 0)
        EXPECT(covey_wait(send, PATIENCE_US) == 0);
    covey_req_free(&send);
    EXPECT(covey_barrier(world) == 0);
    if (rank == 2)
        EXPECT(put(part, 1, TAG, 1) == 0); /* for nobody */
    EXPECT(covey_barrier(world) == 0);
    covey_team_free(&part);
    free(bytes);
}

/* Those but the last one wait for each other, without the team. */
static void survivors_meet(void)
{
    for (int i = 1; rank == 0 && i < size - 1; i++)
        EXPECT(number_of_task(covey_team_tid(world, i)) == 8);
    for (int i = 1; rank == 0 && i < size - 1; i++)
        EXPECT(send_task(covey_team_tid(world, i), 9) == 0);
    if (rank > 0)
        EXPECT(send_task(covey_team_tid(world, 0), 8) == 0 &&
               number_of_task(covey_team_tid(world, 0)) == 9);
}

/* The last member dies. Those who need it are told; the others go on, until a collective breaks the
 * team. */
static void a_member_dies(void)
{
    covey_msg_t *msg = number(1), *got = NULL;
    covey_req_t *req = NULL;
    int last = size - 1;
    if (rank == last) {
        EXPECT(put(world, 0, TAG, 77) == 0);
        raise(SIGKILL);
    }
    if (rank == 0)
        EXPECT(covey_team_recv(world, last, TAG, PATIENCE_US, &got) == last &&
               number_of(got) == 77);
    int error = covey_team_recv(world, last, TAG, PATIENCE_US, &got);
    EXPECT(error == COVEY_ENOTASK);
    EXPECT(covey_team_send(world, last, TAG, msg) == COVEY_ENOTASK);
    EXPECT(covey_team_sendrecv(world, last, last, TAG, PATIENCE_US, msg, &got) == COVEY_ENOTASK);
    /* who is left is heard */
    if (rank == 0) {
        EXPECT(put(world, 1, TAG, 5) == 0);
        EXPECT(covey_team_recv(world, COVEY_ANY_RANK, TAG, PATIENCE_US, &got) == 1 &&
               number_of(got) == 6);
    } else if (rank == 1) {
        EXPECT(covey_team_recv(world, 0, TAG, PATIENCE_US, &got) == 0 && number_of(got) == 5);
        EXPECT(put(world, 0, TAG, 6) == 0);
    }
    EXPECT(covey_team_irecv(world, COVEY_ANY_RANK, TAG_OTHER, &req) == 0);
    survivors_meet();
    EXPECT(covey_barrier(world) < 0);
    error = covey_wait(req, 0);
    EXPECT(error == COVEY_ENOTASK || error == COVEY_ECANCELED);
    covey_req_free(&req);
    EXPECT(covey_team_send(world, 0, TAG, msg) == error);
    SAYS("team: ");
    EXPECT(covey_team_recv(world, COVEY_ANY_RANK, TAG, PATIENCE_US, &got) == error);
    EXPECT(covey_team_irecv(world, 0, TAG, &req) == error && req == NULL);
    EXPECT(covey_team_sendrecv(world, 0, 0, TAG, PATIENCE_US, msg, &got) == error);
    EXPECT(covey_team_world(vm, &world) == COVEY_ENOTASK);
    covey_msg_free(msg);
}

/* ---- */

#define CASE(name)                                                                                 \
    {                                                                                              \
#name, name                                                                                \
    }

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {CASE(the_world_is_in_the_order_of_the_spawn),
             CASE(ways_are_apart),
             CASE(any_rank_tells_whose_it_is),
             CASE(a_member_sends_to_itself),
             CASE(requests_by_rank),
             CASE(all_send_much_and_receive_at_once),
             CASE(a_line_has_ends),
             CASE(a_time_runs_out),
             CASE(what_is_refused),
             CASE(waiting_for_all),
             CASE(results_and_notices),
             CASE(names_of_tids),
             CASE(freeing_ends_what_is_under_way),
             CASE(a_member_dies)};

static int alone(void)
{
    covey_team_t *team = NULL;
    rank = -1;
    EXPECT(covey_team_world(vm, &team) == COVEY_ENOGROUP && team == NULL);
    SAYS("belongs to no run");
    printf("%s a task that was started by hand is in no run\n", failures == 0 ? "ok" : "not ok");
    return failures > 0;
}

static int child(const char *tag)
{
    int32_t result = 1;
    covey_send_array(vm, covey_parent(vm), atoi(tag), COVEY_INT32, &result, 1);
    return 0;
}

int main(int argc, char **argv)
{
    if (covey_join(&vm, NULL) < 0) {
        printf("not ok cannot join: %s\n", covey_error_text());
        return 1;
    }
    if (argc > 1)
        return strcmp(argv[1], "alone") == 0 ? alone() : child(argv[2]);
    if (covey_team_world(vm, &world) < 0) {
        printf("not ok no team of the run: %s\n", covey_error_text());
        return 1;
    }
    rank = covey_team_rank(world);
    size = covey_team_size(world);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int32_t mine = failures, all = failures;
        cases[i].run();
        mine = failures - mine;
        if (i + 1 < sizeof cases / sizeof cases[0])
            covey_allreduce(world, COVEY_OP_SUM, COVEY_INT32, &mine, &all, 1);
        else
            all = mine;
        if (rank == 0 && all == 0)
            printf("ok %s\n", cases[i].name);
        fflush(stdout);
    }
    covey_team_free(&world);
    covey_leave(&vm);
    return failures > 0;
}
