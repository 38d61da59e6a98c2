/*
 * A ring of tasks, for covey calibrate: each sends messages to the next two, takes those of the two
 * before it, and computes meanwhile, as a program does that overlaps both. Two things are seen: how
 * long messages take while all hosts compute and send at once, so that streams meet on links, and
 * how much of the computing is left beside them. Computing is counted in passes, not in processor
 * time: what the kernel does for messages is charged to whoever runs just then.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "tools/bench/clock.h"
#include "tools/bench/party.h"

enum { TAG_RING = 13, DEPTH = 2, FIGURES = 3, WARM_ROUNDS = 2, ROUNDS_MIN = 2, ROUNDS_MAX = 400 };

#define ALONE_NS 600000000u
#define RING_NS 1500000000u
#define STEPS 4000 /* of a pass: some microseconds */
#define NICENESS 5 /* the demos' kernels step back behind messages, too */

/* One task's part: slot i is for messages to the task i + 1 places on, and from that so far back.
 */
struct ring {
    struct party *party;
    covey_tid_t next[DEPTH], before[DEPTH];
    size_t bytes;
    int64_t count;                     /* messages of each slot, each way */
    int64_t sent[DEPTH], taken[DEPTH]; /* begun so far */
    int open;                          /* requests that are not complete */
    covey_req_t *out[DEPTH], *in[DEPTH];
    char *room[DEPTH]; /* for what comes */
    uint64_t came_ns[DEPTH];
    double times, squares; /* sums of what the messages that came took */
    double passes, seconds;
};

static void pass(struct ring *r)
{
    volatile double end;
    double x = r->passes;
    for (int i = 0; i < STEPS; i++)
        x = x * 0.999 + 0.5;
    end = x;
    (void)end;
    r->passes++;
}

/* ---- Messages ---- */

static int begin_out(struct ring *r, int at)
{
    if (r->sent[at] == r->count)
        return 0;
    r->sent[at]++;
    r->open++;
    return covey_isend_array(r->party->vm, r->next[at], TAG_RING + at, COVEY_BYTES,
                             r->party->wire.bytes, r->bytes, &r->out[at]);
}

static int begin_in(struct ring *r, int at)
{
    if (r->taken[at] == r->count)
        return 0;
    r->taken[at]++;
    r->open++;
    return covey_irecv_array(r->party->vm, r->before[at], TAG_RING + at, COVEY_BYTES, r->room[at],
                             r->bytes, &r->in[at]);
}

static int take_in(struct ring *r, int at)
{
    uint64_t now_ns = clock_ns();
    double seconds = (double)(now_ns - r->came_ns[at]) / 1e9;
    r->came_ns[at] = now_ns;
    r->times += seconds;
    r->squares += seconds * seconds;
    return begin_in(r, at);
}

/* What is complete makes place for the next one. */
static int look(struct ring *r, covey_req_t **req, int at, int (*begin)(struct ring *r, int at))
{
    int complete = *req ? covey_test(*req) : 0;
    if (complete <= 0)
        return complete;
    covey_req_free(req);
    r->open--;
    return begin(r, at);
}

static int begin_all(struct ring *r)
{
    int error = 0;
    for (int i = 0; i < DEPTH && error >= 0; i++) {
        error = begin_in(r, i);
        if (error >= 0)
            error = begin_out(r, i);
    }
    return error;
}

/* Computes until all messages have gone both ways, or without any for ALONE_NS. */
static int go_round(struct ring *r)
{
    uint64_t start_ns = clock_ns();
    for (int i = 0; i < DEPTH; i++)
        r->came_ns[i] = start_ns;
    int error = begin_all(r);
    while (error >= 0 && (r->open > 0 || (r->count == 0 && clock_ns() - start_ns < ALONE_NS))) {
        pass(r);
        for (int i = 0; i < DEPTH && error >= 0; i++) {
            error = look(r, &r->in[i], i, take_in);
            if (error >= 0)
                error = look(r, &r->out[i], i, begin_out);
        }
    }
    r->seconds = (double)(clock_ns() - start_ns) / 1e9;
    return error < 0 ? party_fail_vm(r->party, "the ring", error) : 0;
}

static int make_room(struct ring *r)
{
    bool good = true;
    for (int i = 0; i < DEPTH; i++) {
        r->room[i] = malloc(r->bytes + 1);
        good &= r->room[i] != NULL;
    }
    return good ? 0 : party_fail(r->party, "the ring", "memory is exhausted");
}

static void end(struct ring *r)
{
    for (int i = 0; i < DEPTH; i++) {
        covey_req_free(&r->out[i]);
        covey_req_free(&r->in[i]);
        free(r->room[i]);
    }
}

static int find_neighbours(struct ring *r, const char *text)
{
    int tids[2 * DEPTH], error = 0;
    if (sscanf(text, "%d %d %d %d", &tids[0], &tids[1], &tids[2], &tids[3]) != 2 * DEPTH)
        return party_fail(r->party, "the ring", "names no neighbours");
    for (int i = 0; i < DEPTH && error >= 0; i++) {
        r->next[i] = tids[2 * i];
        r->before[i] = tids[2 * i + 1];
        error = covey_set_route(r->party->vm, r->next[i], r->party->plan.route);
    }
    return error < 0 ? party_fail_vm(r->party, "the ring", error) : 0;
}

/* The standard deviation of what messages took, as a share of the mean. */
static double spread_of(const struct ring *r)
{
    double n = (double)(DEPTH * r->count), mean = n > 0 ? r->times / n : 0;
    double variance = n > 0 ? r->squares / n - mean * mean : 0;
    return mean > 0 && variance > 0 ? sqrt(variance) / mean : 0;
}

/* Takes part in `count` rounds; figures: the passes in a second, the seconds, the spread. */
static int take_part(struct party *party, const struct order *order, double figures[FIGURES])
{
    struct ring r = {.party = party, .bytes = (size_t)order->bytes, .count = order->count};
    if (find_neighbours(&r, order->text) != 0)
        return -1;
    setpriority(PRIO_PROCESS, 0, NICENESS); /* of this thread, not the library's */
    int failed = make_room(&r) || go_round(&r);
    figures[0] = r.seconds > 0 ? r.passes / r.seconds : 0;
    figures[1] = r.seconds;
    figures[2] = spread_of(&r);
    end(&r);
    return failed;
}

int ring_serve(struct party *party, covey_tid_t lead, const struct order *order)
{
    double figures[FIGURES];
    if (take_part(party, order, figures) != 0)
        return -1;
    int error = covey_send_array(party->vm, lead, ORDER_ANSWER_TAG, COVEY_DOUBLE, figures, FIGURES);
    return error ? party_fail_vm(party, "answering", error) : 0;
}

/* ---- The one that leads ---- */

/* The task at that place of the ring; the leader is at 0. */
static covey_tid_t at(const struct party *party, int place)
{
    int tasks = party->plan.peer_count + 1;
    place = (place + tasks) % tasks;
    return place == 0 ? covey_mytid(party->vm) : party->plan.peers[place - 1];
}

/* With two tasks both slots are for the same pair. */
static struct order order_for(const struct party *party, int place, int64_t count)
{
    int far = party->plan.peer_count > 1 ? 2 : 1;
    struct order order = {.what = ORDER_RING, .bytes = party->plan.sizes[0], .count = count};
    snprintf(order.text, sizeof order.text, "%d %d %d %d", (int)at(party, place + 1),
             (int)at(party, place - 1), (int)at(party, place + far), (int)at(party, place - far));
    return order;
}

/* What all did: passes of each in a second; seconds that the leader needed; the mean spread. */
struct lap {
    double speeds[BENCH_TASKS_MAX + 1];
    double seconds, spread;
};

/* Has all go so many rounds. */
static int run(struct party *party, int64_t count, struct lap *lap)
{
    double figures[FIGURES];
    int error = 0;
    for (int i = 1; i <= party->plan.peer_count && error == 0; i++) {
        struct order order = order_for(party, i, count);
        error = order_send(party->vm, at(party, i), &order);
    }
    if (error)
        return party_fail_vm(party, "a peer", error);
    struct order own = order_for(party, 0, count);
    if (take_part(party, &own, figures) != 0)
        return -1;
    lap->speeds[0] = figures[0];
    lap->seconds = figures[1];
    lap->spread = figures[2] / (party->plan.peer_count + 1);
    for (int i = 1; i <= party->plan.peer_count && error == 0; i++) {
        error = covey_recv_array(party->vm, at(party, i), ORDER_ANSWER_TAG, COVEY_FOREVER,
                                 COVEY_DOUBLE, figures, FIGURES, NULL, NULL);
        lap->speeds[i] = figures[0];
        lap->spread += figures[2] / (party->plan.peer_count + 1);
    }
    return error ? party_fail_vm(party, "a peer", error) : 0;
}

/* Rounds that take RING_NS, from a first look that also opens the streams. */
static int count_rounds(struct party *party, struct lap *lap, int64_t *count)
{
    if (run(party, WARM_ROUNDS, lap) != 0)
        return -1;
    double rounds = RING_NS / 1e9 / (lap->seconds / WARM_ROUNDS + 1e-6);
    *count = rounds < ROUNDS_MIN ? ROUNDS_MIN : rounds > ROUNDS_MAX ? ROUNDS_MAX : (int64_t)rounds;
    return 0;
}

static double left_of(const struct lap *alone, const struct lap *beside, int tasks)
{
    double sum = 0;
    for (int i = 0; i < tasks; i++)
        sum += alone->speeds[i] > 0 ? beside->speeds[i] / alone->speeds[i] : 1;
    return sum / tasks;
}

static int measure(struct party *party, struct lap *alone, struct lap *beside)
{
    int64_t count;
    if (run(party, 0, alone) != 0 || count_rounds(party, beside, &count) != 0 ||
        run(party, count, beside) != 0)
        return -1;
    double us = beside->seconds * 1e6 / (double)(DEPTH * count);
    struct bench_row row = {.bytes = party->plan.sizes[0], .series_count = 1};
    row.series[0] = (struct bench_series){.name = "covey", .us = &us, .rounds = 1};
    row.series[0].left = left_of(alone, beside, party->plan.peer_count + 1);
    row.series[0].spread = beside->spread;
    return party_send_row(party, &row);
}

int ring_measure(struct party *party)
{
    struct lap *laps = calloc(2, sizeof *laps);
    int failed = laps ? measure(party, &laps[0], &laps[1])
                      : party_fail(party, "the ring", "memory is exhausted");
    free(laps);
    return failed ? -1 : party_tell_all(party, &(const struct order){.what = ORDER_END});
}
