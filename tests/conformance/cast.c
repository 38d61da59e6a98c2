/* links: libcovey */
/*
 * cast.c - messages in total order: every member of a group sends many at once, and all receive all
 * of them in one order.
 *
 *   cast HOST...    spawns a member on each host, and is one itself
 *   cast member N [asked]   is what it spawns: N members in all; one is asked what it got
 *   cast storm SENDER HOST...    a task on one host casts to one on each of the others until its
 *                                daemon is killed in the middle: all have received the same
 *   cast kill N SENDER HOST...   N times, and the task itself is killed, not its daemon; one of
 *                                those that receive is on its host
 *   cast sender WHOM, cast receiver   are what those two spawn
 *   cast sets HOST...            casts to every set of two or more of tasks on those hosts, faster
 *                                than the network carries it
 *   cast counter N               is what that spawns: waits for N messages
 */
#include <covey.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROUNDS = 40, MEMBERS_MAX = 16, TAG_ORDER = 1, TAG_DIGEST = 2, PADDING_MAX = 3000 };
enum {
    TAG_ONCE = 7,
    TAG_WHO = 3,
    TAG_STORM = 4,
    STORM_BYTES = 200000,
    STORM_WARM = 20,
    TAG_ASIDE = 6
};
enum { KILL_US_LEAST = 5000, KILL_US_MORE = 40000 };
enum { TAG_SETS = 5, SETS_ROUNDS = 40 };
#define DIGEST_START UINT64_C(14695981039346656037)
#define DIGEST_PRIME UINT64_C(1099511628211)

static int passed, failed;

static void check(const char *name, int good)
{
    printf("%s %s%s%s\n", good ? "ok" : "not ok", name, good ? "" : ": ",
           good ? "" : covey_error_text());
    *(good ? &passed : &failed) += 1;
}

static int send_one(covey_group_t *group, int32_t number)
{
    static const uint8_t padding[PADDING_MAX];
    covey_msg_t *msg = covey_msg_new();
    int error = msg == NULL ? COVEY_ENOMEM : covey_pack_int32(msg, &number, 1, 1);
    if (error == 0)
        error = covey_pack_bytes(msg, padding, (size_t)(number * 977 % PADDING_MAX));
    if (error == 0)
        error = covey_group_cast(group, COVEY_ORDER_TOTAL, TAG_ORDER, msg);
    covey_msg_free(msg);
    return error;
}

/* What came in which order, as one number; 0: a sender's messages were out of order, or lost. */
static uint64_t receive_all(covey_t *vm, covey_group_t *group, int members)
{
    int32_t next[MEMBERS_MAX] = {0};
    uint64_t digest = DIGEST_START;
    for (int i = 0; i < members * ROUNDS; i++) {
        covey_msg_t *msg;
        struct covey_info info;
        int32_t number = -1;
        if (covey_recv(vm, COVEY_ANY_TASK, TAG_ORDER, 30000000, &msg) != 0)
            return 0;
        covey_msg_info(msg, &info);
        covey_unpack_int32(msg, &number, 1, 1);
        covey_msg_free(msg);
        int instance = covey_group_instance_of(group, info.source);
        if (instance < 0 || instance >= MEMBERS_MAX || number != next[instance]++)
            return 0;
        digest = (digest ^ (uint64_t)(instance * ROUNDS + number)) * DIGEST_PRIME;
    }
    return digest;
}

static uint64_t take_part(covey_t *vm, covey_group_t *group, int members)
{
    if (covey_group_barrier(group, members, 30000000) != 0)
        return 0;
    for (int32_t i = 0; i < ROUNDS; i++) {
        if (send_one(group, i) != 0)
            return 0;
    }
    uint64_t digest = receive_all(vm, group, members);
    covey_group_barrier(group, members, 30000000);
    return digest;
}

/* How many come, of two that are sent. */
static void count_for_parent(covey_t *vm)
{
    covey_msg_t *msg;
    int32_t count = 0;
    while (count < 2 && covey_recv(vm, covey_parent(vm), TAG_ONCE, 30000000, &msg) == COVEY_OK) {
        count++;
        covey_msg_free(msg);
    }
    if (covey_recv(vm, covey_parent(vm), TAG_ONCE, COVEY_POLL, &msg) == COVEY_OK)
        count++;
    covey_send_array(vm, covey_parent(vm), TAG_ONCE, COVEY_INT32, &count, 1);
}

static int member(covey_t *vm, int members, bool asked)
{
    covey_group_t *group;
    if (covey_group_join(vm, "cast", &group) < 0)
        return 1;
    uint64_t digest = take_part(vm, group, members);
    int error = covey_send_array(vm, covey_parent(vm), TAG_DIGEST, COVEY_UINT64, &digest, 1);
    if (error == 0 && asked)
        count_for_parent(vm);
    return error != 0;
}

static void check_arguments(covey_group_t *group)
{
    static const uint8_t large[COVEY_TOTAL_BYTES_MAX];
    covey_msg_t *msg = covey_msg_new();
    covey_pack_bytes(msg, large, sizeof large);
    check("too large a message is refused",
          covey_group_cast(group, COVEY_ORDER_TOTAL, TAG_ORDER, msg) == COVEY_ETOOBIG);
    covey_msg_reset(msg);
    check("an unknown order is refused",
          covey_group_cast(group, 7, TAG_ORDER, msg) == COVEY_EINVAL);
    check("a bad tag is refused",
          covey_group_cast(group, COVEY_ORDER_TOTAL, -1, msg) == COVEY_EINVAL);
    covey_msg_free(msg);
}

/* The caller is skipped, and who is named twice gets one: the receiver's next is another. */
static void check_receivers(covey_t *vm, covey_tid_t other)
{
    static covey_tid_t many[COVEY_CAST_TASKS_MAX + 1];
    const covey_tid_t twice[] = {other, covey_mytid(vm), other}, bad[] = {other, 0};
    covey_msg_t *msg = covey_msg_new();
    int32_t number = 7;
    covey_pack_int32(msg, &number, 1, 1);
    check("more tasks than a cast can name are refused",
          covey_cast(vm, many, COVEY_CAST_TASKS_MAX + 1, COVEY_ORDER_FIFO, TAG_ONCE, msg) ==
              COVEY_ERESOURCE);
    check("a bad tid is refused in total order",
          covey_cast(vm, bad, 2, COVEY_ORDER_TOTAL, TAG_ONCE, msg) == COVEY_EINVAL);
    check("a cast to nobody is nothing",
          covey_cast(vm, many, 0, COVEY_ORDER_FIFO, TAG_ONCE, msg) == COVEY_OK);
    check("a task may be named twice",
          covey_cast(vm, twice, 3, COVEY_ORDER_FIFO, TAG_ONCE, msg) == COVEY_OK &&
              covey_cast(vm, twice, 3, COVEY_ORDER_TOTAL, TAG_ONCE, msg) == COVEY_OK);
    covey_msg_free(msg);
    check("the caller gets its own in total order",
          covey_recv(vm, covey_mytid(vm), TAG_ONCE, 30000000, &msg) == COVEY_OK);
    covey_msg_free(msg);
    number = 0;
    check("the other got each once", covey_recv_array(vm, other, TAG_ONCE, 30000000, COVEY_INT32,
                                                      &number, 1, NULL, NULL) == COVEY_OK &&
                                         number == 2);
}

static void lead(covey_t *vm, const char *program, char **hosts, int count)
{
    char text[16];
    covey_tid_t tids[MEMBERS_MAX];
    covey_group_t *group;
    snprintf(text, sizeof text, "%d", count + 1);
    const char *argv[] = {program, "member", text, "asked", NULL};
    for (int i = 0; i < count; i++) {
        struct covey_spawn what = {.argv = argv,
                                   .where = COVEY_WHERE_HOSTS,
                                   .hosts = (const char *const[]){hosts[i], NULL}};
        if (covey_spawn(vm, &what, 1, &tids[i]) != 1)
            check("a member starts", 0);
        argv[3] = NULL; /* the first alone */
    }
    if (covey_group_join(vm, "cast", &group) < 0) {
        check("the group is joined", 0);
        return;
    }
    check_arguments(group);
    uint64_t digest = take_part(vm, group, count + 1);
    check("all messages came, each sender's in order", digest != 0);
    for (int i = 0; i < count; i++) {
        uint64_t other = 0;
        int error = covey_recv_array(vm, tids[i], TAG_DIGEST, 30000000, COVEY_UINT64, &other, 1,
                                     NULL, NULL);
        check("a member received them in the same order", error == 0 && other == digest);
    }
    check_receivers(vm, tids[0]);
}

/* ---- the storm ---- */

/* In the middle of whatever this task is sending then. */
static void kill_soon(pid_t whom)
{
    srand((unsigned)getpid());
    useconds_t after_us = KILL_US_LEAST + (useconds_t)(rand() % KILL_US_MORE);
    if (fork() == 0) {
        usleep(after_us);
        kill(whom, SIGKILL);
        _exit(0);
    }
}

/* Long ones, short ones, and some in between. */
static size_t storm_bytes(int32_t number)
{
    return (size_t)(STORM_BYTES >> number * 7 % 12);
}

static int cast_number(covey_t *vm, const covey_tid_t *tids, size_t count, int32_t number)
{
    static uint8_t bytes[STORM_BYTES];
    covey_msg_t *msg = covey_msg_new();
    memset(bytes, number, sizeof bytes);
    covey_pack_int32(msg, &number, 1, 1);
    covey_pack_inplace(msg, COVEY_BYTES, bytes, storm_bytes(number));
    int error = covey_cast(vm, tids, count, COVEY_ORDER_FIFO, TAG_STORM, msg);
    covey_msg_free(msg);
    return error;
}

/* From the first one on; what one receiver is sent besides may be lost when the others are not. */
static int sender(covey_t *vm, const char *whom)
{
    covey_tid_t tids[MEMBERS_MAX];
    size_t count;
    int error = covey_recv_array(vm, covey_parent(vm), TAG_WHO, COVEY_FOREVER, COVEY_INT32, tids,
                                 MEMBERS_MAX, &count, NULL);
    for (int32_t i = 0; error == 0; i++) {
        error = cast_number(vm, tids, count, i);
        if (error == 0 && i % 3 == 0)
            covey_send_array(vm, tids[i % (int)count], TAG_ASIDE, COVEY_INT32, &i, 1);
        if (i == STORM_WARM)
            kill_soon(strcmp(whom, "task") == 0 ? getpid() : getppid());
    }
    return 0;
}

/* How many messages came, -1 if one was wrong. */
static int64_t receive_storm(covey_t *vm, covey_tid_t from)
{
    covey_msg_t *msg;
    for (int64_t count = 0;; count++) {
        int32_t number = -1;
        const void *view;
        size_t size = 0;
        int error = covey_recv(vm, from, TAG_STORM, COVEY_FOREVER, &msg);
        if (error == COVEY_EHOSTFAIL || error == COVEY_ENOTASK)
            return count;
        if (error != 0 || covey_unpack_int32(msg, &number, 1, 1) != 0 || number != count ||
            covey_unpack_view(msg, COVEY_BYTES, &view, &size) != 0 || size != storm_bytes(number) ||
            ((const uint8_t *)view)[size - 1] != (uint8_t)number)
            return -1;
        covey_msg_free(msg);
    }
}

static int receiver(covey_t *vm)
{
    covey_tid_t from;
    if (covey_recv_array(vm, covey_parent(vm), TAG_WHO, COVEY_FOREVER, COVEY_INT32, &from, 1, NULL,
                         NULL) != 0)
        return 1;
    int64_t count = receive_storm(vm, from);
    return covey_send_array(vm, covey_parent(vm), TAG_DIGEST, COVEY_INT64, &count, 1) != 0;
}

static covey_tid_t spawn_on(covey_t *vm, const char *const *argv, const char *host)
{
    covey_tid_t tid = 0;
    struct covey_spawn spawn = {
        .argv = argv, .where = COVEY_WHERE_HOSTS, .hosts = (const char *const[]){host, NULL}};
    if (covey_spawn(vm, &spawn, 1, &tid) != 1)
        check("a task of the storm starts", 0);
    return tid;
}

/* A sender on the first host that kills `whom`, receivers on all from `at` on: whether all of them
 * received the same. */
static bool storm_once(covey_t *vm, const char *program, char **hosts, int at, const char *whom)
{
    const char *sends[] = {program, "sender", whom, NULL},
               *receives[] = {program, "receiver", NULL};
    covey_tid_t tids[MEMBERS_MAX], from = spawn_on(vm, sends, hosts[0]);
    int64_t first = -1, got;
    int count = at;
    bool same = true;
    for (; hosts[count] != NULL; count++) {
        tids[count] = spawn_on(vm, receives, hosts[count]);
        covey_send_array(vm, tids[count], TAG_WHO, COVEY_INT32, &from, 1);
    }
    covey_send_array(vm, from, TAG_WHO, COVEY_INT32, tids + at, (size_t)(count - at));
    for (int i = at; i < count; i++) {
        int error =
            covey_recv_array(vm, tids[i], TAG_DIGEST, 250000000, COVEY_INT64, &got, 1, NULL, NULL);
        first = i == at ? got : first;
        same = same && error == 0 && got == first && got > 0;
        printf("%s received %lld messages\n", hosts[i], (long long)got);
    }
    return same;
}

static void storm(covey_t *vm, const char *program, char **hosts)
{
    check("when a daemon dies, all survivors have received the same",
          storm_once(vm, program, hosts, 1, "daemon"));
}

static void kills(covey_t *vm, const char *program, int rounds, char **hosts)
{
    bool same = true;
    for (int i = 0; i < rounds && same; i++)
        same = storm_once(vm, program, hosts, 0, "task");
    check("whenever a task dies, all have received the same of it", same);
}

/* ---- sets ---- */

/* Numbers that grow, as many as it was told. */
static int counter(covey_t *vm, int expected)
{
    int32_t last = -1, number, count = 0;
    while (count < expected &&
           covey_recv_array(vm, covey_parent(vm), TAG_SETS, 20000000, COVEY_INT32, &number, 1, NULL,
                            NULL) == 0 &&
           number > last) {
        last = number;
        count++;
    }
    return covey_send_array(vm, covey_parent(vm), TAG_DIGEST, COVEY_INT32, &count, 1) != 0;
}

static int cast_to_set(covey_t *vm, const covey_tid_t *tids, int count, unsigned set,
                       int32_t number)
{
    covey_tid_t to[MEMBERS_MAX];
    size_t n = 0;
    for (int i = 0; i < count; i++)
        if ((set >> i & 1) != 0)
            to[n++] = tids[i];
    covey_msg_t *msg = n < 2 ? NULL : covey_msg_new();
    int error = msg == NULL ? 0 : covey_pack_int32(msg, &number, 1, 1);
    if (msg != NULL && error == 0)
        error = covey_cast(vm, to, n, COVEY_ORDER_FIFO, TAG_SETS, msg);
    covey_msg_free(msg);
    return error;
}

static void sets(covey_t *vm, const char *program, char **hosts, int count)
{
    covey_tid_t tids[MEMBERS_MAX] = {0};
    int32_t expected = SETS_ROUNDS * ((1 << (count - 1)) - 1), number = 0, got, error = 0;
    char text[16];
    covey_set_route(vm, COVEY_ANY_TASK, COVEY_ROUTE_ETHER);
    snprintf(text, sizeof text, "%d", (int)expected);
    for (int i = 0; i < count; i++) {
        const char *argv[] = {program, "counter", text, NULL};
        struct covey_spawn spawn = {.argv = argv,
                                    .where = COVEY_WHERE_HOSTS,
                                    .hosts = (const char *const[]){hosts[i], NULL}};
        check("a counter starts", covey_spawn(vm, &spawn, 1, &tids[i]) == 1);
    }
    for (int round = 0; round < SETS_ROUNDS; round++) {
        for (unsigned set = 1; set < 1u << count && error == 0; set++)
            error = cast_to_set(vm, tids, count, set, number++);
    }
    check("casts to all sets leave", error == 0);
    for (int i = 0; i < count; i++) {
        got = -1;
        covey_recv_array(vm, tids[i], TAG_DIGEST, 30000000, COVEY_INT32, &got, 1, NULL, NULL);
        check("all that was cast to a set it is in arrives, in order", got == expected);
    }
}

int main(int argc, char **argv)
{
    covey_t *vm;
    if (argc < 2 || argc > MEMBERS_MAX || covey_join(&vm, NULL) < 0) {
        fprintf(stderr, "cast HOST...: %s\n", covey_error_text());
        return 2;
    }
    int status = 0;
    if (strcmp(argv[1], "member") == 0)
        status = member(vm, argc > 2 ? atoi(argv[2]) : 0, argc > 3);
    else if (strcmp(argv[1], "sender") == 0)
        status = sender(vm, argc > 2 ? argv[2] : "daemon");
    else if (strcmp(argv[1], "receiver") == 0)
        status = receiver(vm);
    else if (strcmp(argv[1], "counter") == 0)
        status = counter(vm, argc > 2 ? atoi(argv[2]) : 0);
    else if (strcmp(argv[1], "sets") == 0)
        sets(vm, argv[0], argv + 2, argc - 2);
    else if (strcmp(argv[1], "storm") == 0)
        storm(vm, argv[0], argv + 2);
    else if (strcmp(argv[1], "kill") == 0 && argc > 3)
        kills(vm, argv[0], atoi(argv[2]), argv + 3);
    else
        lead(vm, argv[0], argv + 1, argc - 1);
    covey_leave(&vm);
    return status != 0 || failed > 0;
}
