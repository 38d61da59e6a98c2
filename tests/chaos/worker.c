#include "tests/chaos/worker.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/chaos/dice.h"

#define ROSTER_MAX 64
#define SMALL_BYTES 2000
#define LARGE_BYTES (400 * 1024)
#define HUGE_BYTES (3 * 1024 * 1024)
#define GROUP "chaos"

/* What passed between this worker and another. */
struct pair {
    covey_tid_t tid;
    int64_t sent, received;
};

struct worker {
    covey_t *vm;
    const char *program;
    struct dice dice;
    covey_tid_t roster[ROSTER_MAX];
    int count;
    struct pair *pairs;
    size_t pairs_count, pairs_capacity;
    covey_group_t *group;
    int64_t checked;
    int born; /* children started so far */
    uint8_t *bytes;
};

static void bad(struct worker *w, const char *what, covey_tid_t tid, int error)
{
    fprintf(stderr, WORKER_BAD "t%x: %s t%x: %s (%s)\n", (unsigned)covey_mytid(w->vm), what,
            (unsigned)tid, covey_strerror(error), covey_error_text());
}

static struct pair *pair_of(struct worker *w, covey_tid_t tid)
{
    for (size_t i = 0; i < w->pairs_count; i++)
        if (w->pairs[i].tid == tid)
            return &w->pairs[i];
    if (w->pairs_count == w->pairs_capacity) {
        w->pairs_capacity = w->pairs_capacity * 2 + 16;
        w->pairs = realloc(w->pairs, w->pairs_capacity * sizeof *w->pairs);
    }
    if (w->pairs == NULL)
        exit(3);
    w->pairs[w->pairs_count] = (struct pair){.tid = tid};
    return &w->pairs[w->pairs_count++];
}

static uint8_t pattern(int64_t number, size_t i)
{
    return (uint8_t)((size_t)number * 31 + i * 7 + (i >> 9));
}

/* ---- what comes ---- */

/* Also of a sender that was killed: what arrives is the beginning of what it sent. */
static void check_number(struct worker *w, struct pair *pair, int64_t number)
{
    if (number != pair->received)
        fprintf(stderr, WORKER_BAD "t%x: number %lld of t%x, not %lld\n",
                (unsigned)covey_mytid(w->vm), (long long)number, (unsigned)pair->tid,
                (long long)pair->received);
    pair->received = number + 1;
}

static void check_data(struct worker *w, covey_msg_t *msg, covey_tid_t from)
{
    int64_t number = -1;
    const void *view = NULL;
    size_t count = 0;
    struct pair *pair = pair_of(w, from);
    if (covey_unpack_int64(msg, &number, 1, 1) != 0 ||
        covey_unpack_view(msg, COVEY_UINT8, &view, &count) != 0)
        bad(w, "a message that cannot be read, from", from, COVEY_ETYPE);
    else
        check_number(w, pair, number);
    const uint8_t *bytes = view;
    for (size_t i = 0; i < count; i += 1 + i / 64)
        if (bytes[i] != pattern(number, i)) {
            bad(w, "damaged bytes from", from, 0);
            break;
        }
    w->checked++;
}

static void take_roster(struct worker *w, covey_msg_t *msg, const struct covey_info *info)
{
    int count = (int)((info->bytes - 16) / 4);
    w->count = count < ROSTER_MAX ? count : ROSTER_MAX;
    if (covey_unpack_int32(msg, w->roster, (size_t)w->count, 1) == 0)
        return;
    count--; /* padded to eight bytes */
    w->count = count < ROSTER_MAX ? count : ROSTER_MAX;
    if (covey_unpack_int32(msg, w->roster, (size_t)w->count, 1) != 0)
        bad(w, "a roster that cannot be read, from", info->source, COVEY_ETYPE);
}

static void answer_ping(struct worker *w, covey_msg_t *msg)
{
    int64_t numbers[2] = {0, w->checked};
    covey_unpack_int64(msg, numbers, 1, 1);
    covey_send_array(w->vm, covey_parent(w->vm), WORKER_PONG, COVEY_INT64, numbers, 2);
}

static void take(struct worker *w, covey_msg_t *msg)
{
    struct covey_info info;
    covey_msg_info(msg, &info);
    if (info.tag == WORKER_DATA)
        check_data(w, msg, info.source);
    else if (info.tag == WORKER_ROSTER)
        take_roster(w, msg, &info);
    else if (info.tag == WORKER_PING)
        answer_ping(w, msg);
    covey_msg_free(msg); /* notices are only for waking up */
}

/* Takes all there is, waiting so long for the first. */
static void receive(struct worker *w, int64_t timeout_us)
{
    for (;;) {
        covey_msg_t *msg = NULL;
        int error = covey_recv(w->vm, COVEY_ANY_TASK, COVEY_ANY_TAG, timeout_us, &msg);
        if (error == COVEY_EDAEMON)
            exit(0);
        if (error != 0 && error != COVEY_ETIMEOUT)
            bad(w, "receive", 0, error);
        if (error != 0)
            return;
        take(w, msg);
        timeout_us = COVEY_POLL;
    }
}

/* ---- what is done ---- */

static covey_tid_t other(struct worker *w)
{
    if (w->count == 0)
        return 0;
    covey_tid_t tid = w->roster[dice_below(&w->dice, (uint32_t)w->count)];
    return tid == covey_mytid(w->vm) ? 0 : tid;
}

static size_t some_size(struct worker *w)
{
    uint32_t kind = dice_below(&w->dice, 100);
    if (kind < 60)
        return dice_below(&w->dice, SMALL_BYTES);
    return dice_below(&w->dice, kind < 97 ? LARGE_BYTES : HUGE_BYTES);
}

static bool is_end(int error)
{
    return error == COVEY_ENOTASK || error == COVEY_EHOSTFAIL;
}

static void send_data(struct worker *w)
{
    covey_tid_t tid = other(w);
    covey_msg_t *msg = tid == 0 ? NULL : covey_msg_new();
    if (msg == NULL)
        return;
    struct pair *pair = pair_of(w, tid);
    size_t size = some_size(w);
    for (size_t i = 0; i < size; i++)
        w->bytes[i] = pattern(pair->sent, i);
    int error = covey_pack_int64(msg, &pair->sent, 1, 1);
    if (error == 0)
        error = covey_pack_inplace(msg, COVEY_UINT8, w->bytes, size);
    if (error == 0)
        error = covey_send(w->vm, tid, WORKER_DATA, msg);
    if (error == COVEY_EDAEMON)
        exit(0);
    if (error == 0)
        pair->sent++;
    else if (!is_end(error))
        bad(w, "send to", tid, error);
    covey_msg_free(msg);
}

static void change_route(struct worker *w)
{
    static const int routes[] = {COVEY_ROUTE_AUTO, COVEY_ROUTE_UDP, COVEY_ROUTE_TCP,
                                 COVEY_ROUTE_SHM};
    covey_tid_t tid = other(w);
    bool same = tid != 0 && covey_tid_host(tid) == covey_tid_host(covey_mytid(w->vm));
    int route = routes[dice_below(&w->dice, same ? 4 : 3)];
    if (tid != 0 && covey_set_route(w->vm, tid, route) != 0)
        bad(w, "set route to", tid, COVEY_EROUTE);
}

static void meet(struct worker *w)
{
    if (w->group == NULL && covey_group_join(w->vm, GROUP, &w->group) < 0)
        return;
    int count = 2 + (int)dice_below(&w->dice, 3);
    covey_group_barrier(w->group, count, 1000 + dice_below(&w->dice, 20000));
    if (dice_chance(&w->dice, 20))
        covey_group_leave(&w->group);
}

/* A task that enrols and ends, or a process that just ends. */
static void bear(struct worker *w)
{
    const char *const child[] = {w->program, "--child", NULL};
    const char *const other_program[] = {"/bin/true", NULL};
    struct covey_spawn what = {.argv = dice_chance(&w->dice, 50) ? child : other_program,
                               .output = COVEY_OUTPUT_DISCARD,
                               .tether = 1};
    covey_tid_t tid;
    int started = covey_spawn(w->vm, &what, 1, &tid);
    if (started == 1)
        covey_notify(w->vm, COVEY_NOTIFY_TASK_EXIT, 9, &tid, 1);
    else if (started == 0 && !is_end(tid) && tid != COVEY_ERESOURCE)
        bad(w, "spawn", 0, tid);
    w->born++;
}

static void act(struct worker *w)
{
    uint32_t kind = dice_below(&w->dice, 100);
    if (kind < 80)
        send_data(w);
    else if (kind < 88)
        change_route(w);
    else if (kind < 94)
        meet(w);
    else if (kind < 97)
        bear(w);
    else
        usleep(dice_below(&w->dice, 30000)); /* deaf: others' messages pile up */
}

int worker_main(covey_t *vm, const char *program, uint64_t seed)
{
    struct worker w = {.vm = vm, .program = program, .dice = {seed}, .bytes = malloc(HUGE_BYTES)};
    if (w.bytes == NULL)
        return 3;
    while (w.count == 0)
        receive(&w, COVEY_FOREVER);
    for (;;) {
        receive(&w, dice_below(&w.dice, 2000));
        act(&w);
    }
}
