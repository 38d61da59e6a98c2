/*
 * A ring of tasks, for covey calibrate: each sends messages to the next two, takes those of the two
 * before it, and computes meanwhile, as a program does that overlaps both. Two things are seen: how
 * long messages take while all hosts compute and send at once, so that streams meet on links, and
 * how much of the computing is left beside them. Computing is counted in passes, not in processor
 * time: what the kernel does for messages is charged to whoever runs just then.
 *
 * Messages come unevenly, and who has all of his leaves the network to the others. So what is
 * counted is what had come to all when the first stream ended: of messages of which the rest was
 * still to come, the part by the time that they took.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "tools/bench/tasks/clock.h"
#include "tools/bench/tasks/party.h"

enum {
    TAG_RING = 13,
    DEPTH = 2,
    FIGURES = 3,
    WARM_ROUNDS = 2,
    FEW = 16,
    ROUNDS_MIN = 2,
    ROUNDS_MAX = 20000
};

#define ALONE_NS 600000000u
#define RING_NS 1500000000u
#define STEPS 4000 /* of a pass: some microseconds */
#define LOOKS 16   /* at requests in the time of a message: looking is no work of messages ... */
#define LOOK_NS_MAX 1000000u /* ... and a program that computes looks seldom */
#define NICENESS 5           /* the demos' kernels step back behind messages, too */

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
    uint64_t look_ns, looked_ns; /* so long between two looks; the last one */
    uint64_t start_ns;
    double times, squares; /* sums of what the messages that came took */
    double passes, seconds;
    double *came_s; /* when each came: `count` of one slot after those of another */
    int64_t came[DEPTH];
};

static void compute_pass(struct ring *r)
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
    r->came_s[at * r->count + r->came[at]++] = (double)(now_ns - r->start_ns) / 1e9;
    r->look_ns = (uint64_t)(seconds * 1e9) / LOOKS;
    r->look_ns = r->look_ns > LOOK_NS_MAX ? LOOK_NS_MAX : r->look_ns;
    r->times += seconds;
    r->squares += seconds * seconds;
    return begin_in(r, at);
}

/* What is complete makes place for the next one. */
static int look_at(struct ring *r, covey_req_t **req, int at, int (*begin)(struct ring *r, int at))
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

static int look_at_all(struct ring *r)
{
    int error = 0;
    uint64_t now_ns = clock_ns();
    if (now_ns - r->looked_ns < r->look_ns)
        return 0;
    r->looked_ns = now_ns;
    for (int i = 0; i < DEPTH && error >= 0; i++) {
        error = look_at(r, &r->in[i], i, take_in);
        if (error >= 0)
            error = look_at(r, &r->out[i], i, begin_out);
    }
    return error;
}

/* Computes until all messages have gone both ways, or without any for ALONE_NS. */
static int go_round(struct ring *r)
{
    r->start_ns = clock_ns();
    for (int i = 0; i < DEPTH; i++)
        r->came_ns[i] = r->start_ns;
    int error = begin_all(r);
    while (error >= 0 && (r->open > 0 || (r->count == 0 && clock_ns() - r->start_ns < ALONE_NS))) {
        compute_pass(r);
        error = look_at_all(r);
    }
    r->seconds = (double)(clock_ns() - r->start_ns) / 1e9;
    return error < 0 ? party_fail_vm(r->party, "the ring", error) : 0;
}

static int make_ring_room(struct ring *r)
{
    bool good = true;
    for (int i = 0; i < DEPTH; i++) {
        r->room[i] = malloc(r->bytes + 1);
        good &= r->room[i] != NULL;
    }
    return good ? 0 : party_fail(r->party, "the ring", "memory is exhausted");
}

static void end_ring(struct ring *r)
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
static double ring_spread(const struct ring *r)
{
    double n = (double)(DEPTH * r->count), mean = n > 0 ? r->times / n : 0;
    double variance = n > 0 ? r->squares / n - mean * mean : 0;
    return mean > 0 && variance > 0 ? sqrt(variance) / mean : 0;
}

/* An answer's figures: the passes in a second, the seconds, the spread; then when what came. */
static size_t figures_of(int64_t count)
{
    return FIGURES + DEPTH * (size_t)count;
}

/* Takes part in `count` rounds. */
static int take_part_in_ring(struct party *party, const struct order *order, double *figures)
{
    struct ring r = {.party = party,
                     .bytes = (size_t)order->bytes,
                     .count = order->count,
                     .came_s = figures + FIGURES};
    if (find_neighbours(&r, order->text) != 0)
        return -1;
    setpriority(PRIO_PROCESS, 0, NICENESS); /* of this thread, not the library's */
    int failed = make_ring_room(&r) || go_round(&r);
    figures[0] = r.seconds > 0 ? r.passes / r.seconds : 0;
    figures[1] = r.seconds;
    figures[2] = ring_spread(&r);
    end_ring(&r);
    return failed;
}

int ring_serve(struct party *party, covey_tid_t lead, const struct order *order)
{
    size_t size = figures_of(order->count);
    double *figures = order->count <= ROUNDS_MAX ? calloc(size, sizeof *figures) : NULL;
    if (!figures)
        return party_fail(party, "the ring", "memory is exhausted");
    int failed = take_part_in_ring(party, order, figures), error = 0;
    if (!failed)
        error = covey_send_array(party->vm, lead, ORDER_ANSWER_TAG, COVEY_DOUBLE, figures, size);
    free(figures);
    return error ? party_fail_vm(party, "answering", error) : failed;
}

/* ---- The one that leads ---- */

/* With two tasks both slots are for the same pair. */
static struct order order_for(const struct party *party, int place, int64_t count)
{
    int far = party->plan.peer_count > 1 ? 2 : 1;
    struct order order = {.what = ORDER_RING, .bytes = party->plan.sizes[0], .count = count};
    snprintf(order.text, sizeof order.text, "%d %d %d %d", (int)party_task(party, place + 1),
             (int)party_task(party, place - 1), (int)party_task(party, place + far),
             (int)party_task(party, place - far));
    return order;
}

/* What all did: figures_of(count) of each. */
struct lap {
    int64_t count;
    double *figures;
};

static const double *figures_at(const struct lap *lap, int place)
{
    return lap->figures + (size_t)place * figures_of(lap->count);
}

static int tell_ring(struct party *party, int64_t count)
{
    int error = 0;
    for (int i = 1; i <= party->plan.peer_count && error == 0; i++) {
        struct order order = order_for(party, i, count);
        error = order_send(party->vm, party_task(party, i), &order);
    }
    return error ? party_fail_vm(party, "a peer", error) : 0;
}

/* Has all go so many rounds. The caller frees lap->figures. */
static int run_lap(struct party *party, int64_t count, struct lap *lap)
{
    size_t size = figures_of(count);
    int error = 0;
    *lap = (struct lap){count, calloc((size_t)(party->plan.peer_count + 1) * size, sizeof(double))};
    if (!lap->figures)
        return party_fail(party, "the ring", "memory is exhausted");
    struct order own = order_for(party, 0, count);
    if (tell_ring(party, count) != 0 || take_part_in_ring(party, &own, lap->figures) != 0)
        return -1;
    for (int i = 1; i <= party->plan.peer_count && error == 0; i++)
        error = covey_recv_array(party->vm, party_task(party, i), ORDER_ANSWER_TAG, COVEY_FOREVER,
                                 COVEY_DOUBLE, lap->figures + (size_t)i * size, size, NULL, NULL);
    return error ? party_fail_vm(party, "a peer", error) : 0;
}

/* Rounds that take RING_NS, from looks at a few, of which the first one also opens the streams, and
 * at more and more as long as they are few beside those. */
static int count_rounds(struct party *party, int64_t *count)
{
    int failed = 0;
    double rounds = 0;
    for (int64_t few = WARM_ROUNDS; few <= ROUNDS_MAX; few *= FEW) {
        struct lap lap;
        failed = run_lap(party, few, &lap);
        rounds = failed ? 0 : RING_NS / 1e9 / (lap.figures[1] / (double)few + 1e-6);
        free(lap.figures);
        if (failed || rounds <= (double)(few * FEW))
            break;
    }
    *count = rounds < ROUNDS_MIN ? ROUNDS_MIN : rounds > ROUNDS_MAX ? ROUNDS_MAX : (int64_t)rounds;
    return failed;
}

static double computing_left(const struct lap *alone, const struct lap *beside, int tasks)
{
    double sum = 0;
    for (int i = 0; i < tasks; i++) {
        double speed = figures_at(alone, i)[0];
        sum += speed > 0 ? figures_at(beside, i)[0] / speed : 1;
    }
    return sum / tasks;
}

static double mean_spread(const struct lap *lap, int tasks)
{
    double sum = 0;
    for (int i = 0; i < tasks; i++)
        sum += figures_at(lap, i)[2];
    return sum / tasks;
}

/* Messages of one slot that had come by then. */
static double came_by(const double *came_s, int64_t count, double then_s)
{
    double before_s = 0;
    for (int64_t i = 0; i < count; i++) {
        if (came_s[i] > then_s)
            return (double)i + (then_s - before_s) / (came_s[i] - before_s);
        before_s = came_s[i];
    }
    return (double)count;
}

/* The time in which a task gets a message, as long as all streams go. */
static double message_s(const struct lap *lap, int tasks)
{
    double first_s = INFINITY, messages = 0;
    for (int i = 0; i < DEPTH * tasks; i++) {
        const double *came_s = figures_at(lap, i / DEPTH) + FIGURES + i % DEPTH * lap->count;
        first_s = came_s[lap->count - 1] < first_s ? came_s[lap->count - 1] : first_s;
    }
    for (int i = 0; i < DEPTH * tasks; i++)
        messages += came_by(figures_at(lap, i / DEPTH) + FIGURES + i % DEPTH * lap->count,
                            lap->count, first_s);
    return first_s * tasks / messages;
}

static int measure_ring(struct party *party, struct lap *alone, struct lap *beside)
{
    int64_t count;
    int tasks = party->plan.peer_count + 1;
    if (run_lap(party, 0, alone) != 0 || count_rounds(party, &count) != 0 ||
        run_lap(party, count, beside) != 0)
        return -1;
    double us = message_s(beside, tasks) * 1e6;
    struct bench_row row = {.bytes = party->plan.sizes[0], .series_count = 1};
    row.series[0] = (struct bench_series){.name = "covey", .us = &us, .rounds = 1};
    row.series[0].left = computing_left(alone, beside, tasks);
    row.series[0].spread = mean_spread(beside, tasks);
    return party_send_row(party, &row);
}

int ring_measure(struct party *party)
{
    struct lap alone = {.figures = NULL}, beside = {.figures = NULL};
    int failed = measure_ring(party, &alone, &beside);
    free(alone.figures);
    free(beside.figures);
    return failed ? -1 : party_tell_all(party, &(const struct order){.what = ORDER_END});
}
