/* links: proto/schedule/pace.c proto/exchange/exchange_pace.c proto/exchange/exchange_signal.c proto/exchange/exchange.c proto/exchange/exchange_random.c proto/exchange/exchange_colour.c proto/exchange/exchange_longest.c proto/schedule/schedule.c proto/schedule/schedule_tree.c proto/schedule/schedule_pack.c proto/schedule/schedule_sync.c proto/network/network.c proto/network/topology.c tests/unit/proto/schedule/random_tree.c -lm */
/*
 * pace_test.c - schedules carried out by simulated ranks over random trees: messages take random
 * times, hand-overs are under way for a while, some ranks begin late and some hosts run several.
 * No link ever carries more than its rate allows, every message arrives once, and it always ends.
 * The same for orders of exchanges, the longest first on equal links and colourings between ports.
 */
#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>

#include "proto/exchange/exchange_pace.h"
#include "proto/schedule/pace.h"
#include "proto/schedule/schedule_pack.h"
#include "tests/unit/proto/schedule/random_tree.h"
#include "tests/unit/runner.h"

enum event_kind { BEGINS, LEAVES, ARRIVES, TOLD };

struct event {
    uint64_t at;
    uint64_t number; /* breaks ties in the order of making */
    enum event_kind kind;
    int rank; /* where it happens; of ARRIVES: the receiver */
    int from, about;
};

struct world {
    struct topology topology;
    struct network network;
    struct schedule schedule;
    struct exchange exchange; /* with messages: in the place of the schedule's */
    struct exchange_signal *signals;
    size_t signal_count;
    struct pace_plan *plans;
    struct pace *paces;
    bool *begun;
    uint64_t random, now, made;
    struct event *heap;
    size_t count, capacity;
    uint32_t *under_way; /* by directed edge */
    uint8_t *arrived;    /* by pair */
    int path[128];
    bool blind;
    bool spoilt; /* hand-overs are ignored: does the check see it? */
    const char *failure;
};

/* ---- What happens next ------------------------------------------------------------------- */

static bool before(const struct event *a, const struct event *b)
{
    return a->at != b->at ? a->at < b->at : a->number < b->number;
}

static void push(struct world *w, struct event event)
{
    if (w->count == w->capacity) {
        w->capacity = w->capacity ? 2 * w->capacity : 64;
        w->heap = reallocarray(w->heap, w->capacity, sizeof *w->heap);
        if (!w->heap)
            abort();
    }
    event.number = w->made++;
    size_t at = w->count++;
    for (; at > 0 && before(&event, &w->heap[(at - 1) / 2]); at = (at - 1) / 2)
        w->heap[at] = w->heap[(at - 1) / 2];
    w->heap[at] = event;
}

static struct event pop(struct world *w)
{
    struct event top = w->heap[0], last = w->heap[--w->count];
    size_t at = 0;

    for (;;) {
        size_t child = 2 * at + 1;
        if (child + 1 < w->count && before(&w->heap[child + 1], &w->heap[child]))
            child++;
        if (child >= w->count || before(&last, &w->heap[child]))
            break;
        w->heap[at] = w->heap[child];
        at = child;
    }
    w->heap[at] = last;
    return top;
}

/* ---- The ranks --------------------------------------------------------------------------- */

/* Of an exchange: one message on each link, or where it does not look at links one that is not
 * short to each port. */
static bool is_full(const struct world *w, int edge, bool port)
{
    if (!w->exchange.messages)
        return w->under_way[edge] >
               schedule_pack_capacity(&w->network, edge / 2, w->schedule.slots);
    return (port || w->signal_count > 0) && w->under_way[edge] > 1;
}

static bool is_short(const struct world *w, int from, int to)
{
    const struct exchange *x = &w->exchange;

    for (size_t i = 0; i < x->count && w->signal_count == 0; i++) {
        if (x->messages[i].from == from && x->messages[i].to == to)
            return x->messages[i].bytes <= EXCHANGE_AHEAD_BYTES;
    }
    return false;
}

static void occupy(struct world *w, int from, int to, int by)
{
    int length = network_path(&w->network, from, to, w->path);
    bool few = is_short(w, from, to);

    for (int k = 0; k < length - few; k++) {
        w->under_way[w->path[k]] += (uint32_t)by;
        if (is_full(w, w->path[k], k == 0 || k == length - 1))
            w->failure = "a link has more messages than it carries";
    }
}

static void start_sends(struct world *w, int rank)
{
    for (int to; (to = pace_start(&w->paces[rank])) >= 0;) {
        occupy(w, rank, to, 1);
        uint64_t takes = 1000 + tree_below(&w->random, 1000);
        uint64_t leaves = w->blind ? tree_below(&w->random, 500) : takes;
        push(w, (struct event){.at = w->now + takes, .kind = ARRIVES, .rank = to, .from = rank});
        push(w, (struct event){.at = w->now + leaves, .kind = LEAVES, .rank = to, .from = rank});
    }
}

static void on_told(struct world *w, int rank, int about)
{
    if (!pace_on_told(&w->paces[rank], about) && !w->spoilt)
        w->failure = "a hand-over that nobody expected";
    start_sends(w, rank);
}

static void hand_over(struct world *w, int rank, int from)
{
    const struct pace_tell *tells;
    uint32_t count = pace_on_arrived(&w->paces[rank], from, &tells);

    for (uint32_t i = 0; i < count; i++) {
        uint64_t takes = tells[i].to == rank ? 0 : 1 + tree_below(&w->random, 300);
        push(w,
             (struct event){
                 .at = w->now + takes, .kind = TOLD, .rank = tells[i].to, .about = tells[i].about});
    }
}

/* A message or a hand-over for a rank that has not begun lies there until it does. */
static bool lies_there(struct world *w, struct event *event)
{
    if (event->kind == BEGINS || w->begun[event->rank])
        return false;
    event->at = w->now + 500;
    push(w, *event);
    return true;
}

static void on_arrives(struct world *w, const struct event *event)
{
    uint8_t *arrived = &w->arrived[event->from * w->schedule.ranks + event->rank];

    if ((*arrived)++)
        w->failure = "a message came twice";
    hand_over(w, event->rank, event->from);
}

static void happen(struct world *w, struct event event)
{
    w->now = event.at;
    if (event.kind == LEAVES) {
        pace_on_left(&w->paces[event.from], event.rank);
        start_sends(w, event.from);
        return;
    }
    if (event.kind == ARRIVES && event.about == 0) { /* the links are free again at once */
        occupy(w, event.from, event.rank, -1);
        event.about = 1;
    }
    if (lies_there(w, &event))
        return;
    if (event.kind == ARRIVES)
        on_arrives(w, &event);
    else if (event.kind == TOLD)
        on_told(w, event.rank, event.about);
    else
        w->begun[event.rank] = true, start_sends(w, event.rank);
}

/* ---- A run ------------------------------------------------------------------------------- */

static int make_plan(struct world *w, int rank)
{
    if (!w->exchange.messages)
        return pace_plan_create(&w->plans[rank], &w->schedule, rank, w->blind);
    return exchange_pace(&w->plans[rank], &w->exchange, w->signals, w->signal_count, rank,
                         w->blind);
}

static void begin(struct world *w)
{
    size_t ranks = (size_t)w->schedule.ranks;

    w->plans = calloc(ranks + 1, sizeof *w->plans);
    w->paces = calloc(ranks + 1, sizeof *w->paces);
    w->begun = calloc(ranks + 1, sizeof *w->begun);
    w->arrived = calloc(ranks * ranks + 1, 1);
    w->under_way = calloc(2 * (size_t)w->network.node_count, sizeof *w->under_way);
    if (!w->plans || !w->paces || !w->begun || !w->arrived || !w->under_way)
        abort();
    for (int i = 0; i < w->schedule.ranks; i++) {
        CU_ASSERT_EQUAL_FATAL(make_plan(w, i), 0);
        CU_ASSERT_EQUAL_FATAL(pace_create(&w->paces[i], &w->plans[i]), 0);
        for (uint32_t k = 0; w->spoilt && k < w->plans[i].send_count; k++)
            w->paces[i].waits[k] = 0;
        uint64_t late = tree_below(&w->random, 4) ? 0 : tree_below(&w->random, 40000);
        push(w, (struct event){.at = late, .kind = BEGINS, .rank = i});
    }
}

static void finish(struct world *w)
{
    for (int i = 0; i < w->schedule.ranks; i++) {
        pace_destroy(&w->paces[i]);
        pace_plan_destroy(&w->plans[i]);
    }
    free(w->plans);
    free(w->paces);
    free(w->begun);
    free(w->arrived);
    free(w->under_way);
    free(w->heap);
    schedule_destroy(&w->schedule);
    network_destroy(&w->network);
    topology_destroy(&w->topology);
    free(w->exchange.messages);
    free(w->signals);
}

/* Tasks on hosts as they fall, or one on each host. */
static void make_world(struct world *w, uint64_t seed)
{
    int hosts[40], count = 0;

    *w = (struct world){.random = seed + 1};
    tree_make(&w->topology, seed, 20, seed % 3 == 0 ? TREE_ANY_RATES : TREE_EQUAL);
    if (seed % 4 == 0)
        count = 1 + (int)tree_below(&w->random, 40);
    for (int i = 0; i < count; i++) {
        do
            hosts[i] = (int)tree_below(&w->random, (uint32_t)w->topology.node_count);
        while (w->topology.nodes[hosts[i]].is_switch);
    }
    CU_ASSERT_EQUAL_FATAL(network_create(&w->network, &w->topology, count ? hosts : NULL, count),
                          0);
    CU_ASSERT_EQUAL_FATAL(schedule_create(&w->schedule, &w->network, seed), 0);
}

/* Runs what was made, and ends it. */
static const char *play(struct world *w)
{
    uint64_t arrived = 0, all = w->exchange.count;

    begin(w);
    while (w->count > 0 && !w->failure)
        happen(w, pop(w));
    for (int i = 0; i < w->schedule.ranks && !w->failure; i++) {
        if (!pace_is_done(&w->paces[i]))
            w->failure = "a rank did not finish";
    }
    for (int i = 0; i < w->schedule.ranks * w->schedule.ranks; i++)
        arrived += w->arrived[i];
    if (!w->failure && w->exchange.messages && arrived != all)
        w->failure = "a message did not arrive";
    const char *failure = w->failure;
    finish(w);
    return failure;
}

static const char *run(uint64_t seed, bool blind, bool spoilt)
{
    struct world w;

    make_world(&w, seed);
    w.blind = blind;
    w.spoilt = spoilt;
    return play(&w);
}

/* ---- Exchanges --------------------------------------------------------------------------- */

static void make_exchange(struct world *w, int ranks)
{
    struct exchange *x = &w->exchange;
    uint32_t percent = 1 + tree_below(&w->random, 100);

    w->schedule.ranks = x->ranks = ranks;
    x->messages = calloc((size_t)ranks * (size_t)ranks + 1, sizeof *x->messages);
    if (!x->messages)
        abort();
    for (int i = 0; i < ranks * ranks; i++) {
        if (i / ranks != i % ranks && tree_below(&w->random, 100) < percent)
            x->messages[x->count++] =
                (struct exchange_message){.bytes = tree_below(&w->random, 100000),
                                          .from = (uint16_t)(i / ranks),
                                          .to = (uint16_t)(i % ranks)};
    }
}

/* Between ports, or with the links of a tree, all of one rate. */
static const char *run_exchange(uint64_t seed, bool blind, bool spoilt)
{
    struct world w = {.random = seed + 1, .blind = blind, .spoilt = spoilt};
    bool links = seed % 3 > 0;

    tree_make(&w.topology, seed, 20, TREE_EQUAL);
    CU_ASSERT_EQUAL_FATAL(network_create(&w.network, &w.topology, NULL, 0), 0);
    make_exchange(&w, w.network.rank_count);
    CU_ASSERT_EQUAL_FATAL(exchange_schedule(&w.exchange,
                                            seed % 2 && !links ? EXCHANGE_COLOUR : EXCHANGE_LONGEST,
                                            links ? &w.network : NULL, seed),
                          0);
    if (links)
        CU_ASSERT_EQUAL_FATAL(
            exchange_signals(&w.exchange, &w.network, &w.signals, &w.signal_count), 0);
    return play(&w);
}

static void exchanges(bool blind)
{
    uint64_t seeds = getenv("SOAK") ? 10000 : 400;

    for (uint64_t seed = 0; seed < seeds; seed++) {
        const char *failure = run_exchange(seed, blind, false);
        CU_ASSERT_PTR_NULL(failure);
        if (failure)
            printf("seed %llu: %s\n", (unsigned long long)seed, failure);
    }
}

static void exchanges_are_carried_out(void)
{
    exchanges(false);
}

static void exchanges_of_blind_senders(void)
{
    exchanges(true);
}

static void the_check_sees_contention_of_exchanges(void)
{
    int seen = 0;

    for (uint64_t seed = 0; seed < 50; seed++)
        seen += run_exchange(seed, false, true) != NULL;
    CU_ASSERT(seen > 25);
}

/* ---- Cases ------------------------------------------------------------------------------- */

static void carry_out(bool blind)
{
    uint64_t seeds = getenv("SOAK") ? 10000 : 400;

    for (uint64_t seed = 0; seed < seeds; seed++) {
        const char *failure = run(seed, blind, false);
        CU_ASSERT_PTR_NULL(failure);
        if (failure)
            printf("seed %llu: %s\n", (unsigned long long)seed, failure);
    }
}

static void schedules_are_carried_out(void)
{
    carry_out(false);
}

/* A message is taken along at once, and the sender believes that it has left. */
static void blind_senders_keep_their_order(void)
{
    carry_out(true);
}

/* Ranks that wait for nobody contend on almost every tree. */
static void the_check_sees_contention(void)
{
    int seen = 0;

    for (uint64_t seed = 0; seed < 50; seed++)
        seen += run(seed, false, true) != NULL;
    CU_ASSERT(seen > 30);
}

static void what_nobody_waits_for_is_refused(void)
{
    struct world w;
    struct pace_plan plan;
    struct pace pace;

    make_world(&w, 1);
    CU_ASSERT_EQUAL_FATAL(pace_plan_create(&plan, &w.schedule, 0, false), 0);
    CU_ASSERT_EQUAL_FATAL(pace_create(&pace, &plan), 0);
    CU_ASSERT_FALSE(pace_on_told(&pace, 0));
    CU_ASSERT_FALSE(pace_on_told(&pace, -1));
    CU_ASSERT_FALSE(pace_on_told(&pace, w.schedule.ranks));
    for (int about = 1; about < w.schedule.ranks; about++) {
        while (pace_on_told(&pace, about))
            ;
        CU_ASSERT_FALSE(pace_on_told(&pace, about));
    }
    pace_destroy(&pace);
    pace_plan_destroy(&plan);
    schedule_destroy(&w.schedule);
    network_destroy(&w.network);
    topology_destroy(&w.topology);
}

static const struct test_case cases[] = {
    {"schedules are carried out: no contention, each message once, an end",
     schedules_are_carried_out},
    {"the same where senders do not know what has left", blind_senders_keep_their_order},
    {"the check sees contention", the_check_sees_contention},
    {"exchanges are carried out: no contention, each message once, an end",
     exchanges_are_carried_out},
    {"exchanges of blind senders", exchanges_of_blind_senders},
    {"the check sees contention of exchanges", the_check_sees_contention_of_exchanges},
    {"a hand-over that nobody waits for is refused", what_nobody_waits_for_is_refused},
};

int main(void)
{
    return covey_test_main("pace", cases, sizeof cases / sizeof cases[0]);
}
