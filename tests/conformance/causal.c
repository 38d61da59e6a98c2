/* links: libcovey */
/*
 * causal.c - order among the tasks of one host: what was sent before something else was sent is
 * received before it, whoever sends and whatever way each takes.
 *
 *   causal [--route ROUTE] WAY TRIOS ROUNDS   spawns trios of tasks: the first one sends to the
 *                         judge and then to the second one, which then sends to the judge; WAY says
 *                         how: send, isend, mcast, or change, which takes another route each time;
 *                         end: the second one ends in place of sending, of which the judge is told
 *   causal [--route ROUTE] monitor TEAMS HOPS   tasks pass tokens on at random and tell a monitor,
 *                         before each, that they send it, and, after, that they have got it
 *   causal task           is what it spawns
 */
#include <covey.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TAG_BEGIN = 1, TAG_FIRST, TAG_GO, TAG_SECOND, TAG_ACK, TAG_RESULT, TAG_TOKEN, TAG_END };
enum way { SEND, ISEND, MCAST, CHANGE, END, MONITOR, WAYS };
enum role { FIRST, SECOND, JUDGE };

#define TRIO 3
#define MEMBERS 5 /* of a team with a monitor, which is the last one */
#define TOKENS 2  /* that each member starts with */
#define AHEAD 16  /* rounds, of tasks that do not wait for each other */
#define ELEMENTS_MAX (700 * 1024)

static const char *const way_names[WAYS] = {"send", "isend", "mcast", "change", "end", "monitor"};
static const size_t sizes[] = {1,   1,    25,   1,     1000,  16000, 1,   17000, 1,
                               300, 1000, 1025, 40000, 70000, 1,     100, 130000};
#define SIZES (sizeof sizes / sizeof sizes[0])
#define LARGE_EVERY 100    /* one message of so many is larger than a ring */
#define ORDERED_MAX 130000 /* of a multicast by udp: one of more than 512 KiB has no such order */

struct job {
    int32_t way, number, rounds, rank;
    int32_t tids[MEMBERS];
};

static int32_t *room; /* of a message */

static size_t size_of(int32_t number)
{
    return number % LARGE_EVERY == 2 ? ELEMENTS_MAX : sizes[(size_t)number % SIZES];
}

static int put(covey_t *vm, covey_tid_t tid, int tag, int32_t number, size_t elements)
{
    room[0] = number;
    return covey_send_array(vm, tid, tag, COVEY_INT32, room, elements);
}

/* The first number of the next message. */
static int32_t take(covey_t *vm, covey_tid_t tid, int tag, struct covey_info *info)
{
    if (covey_recv_array(vm, tid, tag, COVEY_FOREVER, COVEY_INT32, room, ELEMENTS_MAX, NULL, info) <
        0) {
        fprintf(stderr, "causal: %s\n", covey_error_text());
        exit(1);
    }
    return room[0];
}

/* ---- trios ---- */

static void put_request(covey_t *vm, covey_tid_t tid, int tag, int32_t number, size_t elements)
{
    covey_req_t *req;
    room[0] = number;
    if (covey_isend_array(vm, tid, tag, COVEY_INT32, room, elements, &req) == 0) {
        covey_wait(req, COVEY_FOREVER);
        covey_req_free(&req);
    }
}

static void put_both(covey_t *vm, const struct job *job, int32_t r, size_t elements)
{
    covey_msg_t *msg = covey_msg_new();
    const covey_tid_t both[] = {job->tids[r % 2 == 0 ? SECOND : JUDGE],
                                job->tids[r % 2 == 0 ? JUDGE : SECOND]};
    bool limited = covey_route(vm, both[0]) == COVEY_ROUTE_UDP && elements > ORDERED_MAX;
    room[0] = r;
    covey_pack_int32(msg, room, limited ? ORDERED_MAX : elements, 1);
    covey_mcast(vm, both, 2, TAG_FIRST, msg);
    covey_msg_free(msg);
}

static void first(covey_t *vm, const struct job *job)
{
    static const int routes[] = {COVEY_ROUTE_UDP, COVEY_ROUTE_AUTO, COVEY_ROUTE_TCP,
                                 COVEY_ROUTE_SHM};
    for (int32_t r = 0; r < job->rounds; r++) {
        size_t elements = size_of(r + job->number);
        if (job->way == CHANGE)
            covey_set_route(vm, job->tids[JUDGE], routes[(r + job->number) % 4]);
        if (job->way == CHANGE)
            covey_set_route(vm, job->tids[SECOND], routes[(r / 3 + job->number) % 4]);
        if (job->way == MCAST) {
            put_both(vm, job, r, elements);
        } else if (job->way == ISEND) {
            put_request(vm, job->tids[JUDGE], TAG_FIRST, r, elements);
            put_request(vm, job->tids[SECOND], TAG_GO, r, 1);
        } else {
            put(vm, job->tids[JUDGE], TAG_FIRST, r, elements);
            put(vm, job->tids[SECOND], TAG_GO, r, 1);
        }
        if (job->number % 2 == 0 || r % AHEAD == AHEAD - 1)
            take(vm, job->tids[JUDGE], TAG_ACK, NULL);
    }
}

static void second(covey_t *vm, const struct job *job)
{
    static const int routes[] = {COVEY_ROUTE_SHM, COVEY_ROUTE_UDP, COVEY_ROUTE_TCP};
    for (int32_t r = 0; r < job->rounds; r++) {
        take(vm, job->tids[FIRST], job->way == MCAST ? TAG_FIRST : TAG_GO, NULL);
        if (job->way == CHANGE)
            covey_set_route(vm, job->tids[JUDGE], routes[(r / 2 + job->number) % 3]);
        put(vm, job->tids[JUDGE], TAG_SECOND, r, r % 7 == 0 ? 5000 : 1);
    }
}

static void judge(covey_t *vm, const struct job *job)
{
    int32_t wrong = 0, last = -1;
    for (int32_t i = 0; i < 2 * job->rounds; i++) {
        struct covey_info info;
        int32_t r = take(vm, COVEY_ANY_TASK, COVEY_ANY_TAG, &info);
        if (info.tag == TAG_FIRST) {
            last = r;
            continue;
        }
        wrong += last < r;
        if (job->number % 2 == 0 || r % AHEAD == AHEAD - 1)
            put(vm, job->tids[FIRST], TAG_ACK, r, 1);
    }
    put(vm, covey_parent(vm), TAG_RESULT, wrong, 1);
}

/* ---- the end of a task ---- */

/* The judge looks only when both may be there. */
static void judge_end(covey_t *vm, const struct job *job)
{
    covey_tid_t watched = job->tids[SECOND];
    int32_t tags[2] = {0};
    int error = covey_notify(vm, COVEY_NOTIFY_TASK_EXIT, TAG_END, &watched, 1);
    put(vm, job->tids[FIRST], TAG_ACK, 0, 1);
    usleep(20000);
    for (int i = 0; i < 2 && error >= 0; i++) {
        covey_msg_t *msg;
        struct covey_info info;
        error = covey_recv(vm, COVEY_ANY_TASK, COVEY_ANY_TAG, 250000000, &msg);
        if (error < 0)
            break;
        covey_msg_info(msg, &info);
        tags[i] = info.tag;
        covey_msg_free(msg);
    }
    put(vm, covey_parent(vm), TAG_RESULT, tags[0] != TAG_FIRST || tags[1] != TAG_END, 1);
}

static void play_end(covey_t *vm, const struct job *job)
{
    if (job->rank == JUDGE) {
        judge_end(vm, job);
    } else if (job->rank == FIRST) {
        take(vm, job->tids[JUDGE], TAG_ACK, NULL);
        put(vm, job->tids[JUDGE], TAG_FIRST, 1, size_of(job->number));
        put(vm, job->tids[SECOND], TAG_GO, 1, 1);
    } else {
        take(vm, job->tids[FIRST], TAG_GO, NULL);
    }
}

/* ---- a monitor, as of Lamport ---- */

/* A token is the rest of its way, and who passed it on as which of its tokens. */
static void pass(covey_t *vm, const struct job *job, int32_t hops, int32_t *passed,
                 unsigned *random)
{
    *random = *random * 1103515245u + 12345u;
    int32_t to = (int32_t)(*random >> 16) % (MEMBERS - 1);
    const int32_t token[] = {hops, job->rank, *passed};
    const int32_t event[] = {1, job->rank, *passed};
    (*passed)++;
    covey_send_array(vm, job->tids[MEMBERS - 1], TAG_FIRST, COVEY_INT32, event, 3);
    covey_send_array(vm, job->tids[to], TAG_TOKEN, COVEY_INT32, token, 3);
}

static void member(covey_t *vm, const struct job *job)
{
    int32_t passed = 0;
    unsigned random = (unsigned)(job->rank + job->number * MEMBERS);
    for (int i = 0; i < TOKENS; i++)
        pass(vm, job, job->rounds, &passed, &random);
    for (;;) {
        struct covey_info info;
        take(vm, COVEY_ANY_TASK, COVEY_ANY_TAG, &info);
        if (info.tag == TAG_END)
            return;
        const int32_t event[] = {0, room[1], room[2]};
        int32_t hops = room[0];
        covey_send_array(vm, job->tids[MEMBERS - 1], TAG_FIRST, COVEY_INT32, event, 3);
        if (hops > 1)
            pass(vm, job, hops - 1, &passed, &random);
    }
}

/* What was got must have been sent. */
static void monitor(covey_t *vm, const struct job *job)
{
    int32_t wrong = 0, known[MEMBERS] = {0};
    for (int32_t got = 0; got < job->rounds * TOKENS * (MEMBERS - 1);) {
        take(vm, COVEY_ANY_TASK, TAG_FIRST, NULL);
        if (room[0] == 1) {
            known[room[1]] = room[2] + 1;
            continue;
        }
        got++;
        wrong += room[2] >= known[room[1]];
    }
    for (int i = 0; i < MEMBERS - 1; i++)
        put(vm, job->tids[i], TAG_END, 0, 1);
    put(vm, covey_parent(vm), TAG_RESULT, wrong, 1);
}

/* ---- all ---- */

static int task(covey_t *vm)
{
    static void (*const roles[])(covey_t *, const struct job *) = {first, second, judge};
    struct job job;
    take(vm, covey_parent(vm), TAG_BEGIN, NULL);
    memcpy(&job, room, sizeof job);
    if (job.way == END)
        play_end(vm, &job);
    else if (job.way != MONITOR)
        roles[job.rank](vm, &job);
    else
        (job.rank == MEMBERS - 1 ? monitor : member)(vm, &job);
    return 0;
}

static int32_t crew(covey_t *vm, const struct covey_spawn *what, struct job *job)
{
    int n = job->way == MONITOR ? MEMBERS : TRIO;
    covey_tid_t tids[MEMBERS];
    if (covey_spawn(vm, what, n, tids) != n)
        return -1;
    for (int i = 0; i < n; i++)
        job->tids[i] = tids[i];
    for (job->rank = 0; job->rank < n; job->rank++)
        covey_send_array(vm, tids[job->rank], TAG_BEGIN, COVEY_INT32, job,
                         sizeof *job / sizeof(int32_t));
    return take(vm, tids[n - 1], TAG_RESULT, NULL);
}

static int lead(covey_t *vm, const char *program, const char *way, int crews, int rounds)
{
    const struct covey_spawn what = {.argv = (const char *const[]){program, "task", NULL},
                                     .hosts = (const char *const[]){covey_myhost(vm), NULL},
                                     .tether = 1};
    struct job job = {.rounds = rounds};
    int32_t wrong = 0;
    while (job.way < WAYS && strcmp(way, way_names[job.way]) != 0)
        job.way++;
    for (; job.number < crews; job.number++) {
        int32_t found = job.way < WAYS ? crew(vm, &what, &job) : -1;
        if (found < 0) {
            printf("not ok %s: %s\n", way, covey_error_text());
            return 1;
        }
        wrong += found;
    }
    printf("%s %s: %d out of order, of %d\n", wrong == 0 ? "ok" : "not ok", way, wrong,
           crews * rounds * (job.way == MONITOR ? TOKENS * (MEMBERS - 1) : 1));
    return wrong != 0;
}

int main(int argc, char **argv)
{
    covey_t *vm;
    int at = argc > 2 && strcmp(argv[1], "--route") == 0 ? 3 : 1;
    room = calloc(ELEMENTS_MAX, sizeof *room);
    if (room == NULL || covey_join(&vm, NULL) < 0 || (argc != at + 3 && argc != 2)) {
        fprintf(stderr, "usage: causal [--route ROUTE] WAY CREWS ROUNDS\n");
        return 1;
    }
    if (at == 3)
        covey_set_route(vm, COVEY_ANY_TASK, covey_route_parse(argv[2]));
    int status =
        argc == 2 ? task(vm) : lead(vm, argv[0], argv[at], atoi(argv[at + 1]), atoi(argv[at + 2]));
    covey_leave(&vm);
    free(room);
    return status;
}
