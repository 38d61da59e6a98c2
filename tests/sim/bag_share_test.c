/* links: proto/bag/bag.c proto/bag/bag_lease.c proto/bag/bag_queue.c proto/bag/bag_save.c proto/bag/bag_share.c proto/bag/bag_wire.c proto/wire/cursor.c */
/*
 * bag_share_test.c - large items for fast hosts: workers of unequal speeds empty bags of unequal
 * items in virtual time, once with items by size and once in their order (a bag whose results come
 * in order gives them so), and the ends are compared with the sum of all work over all speeds. Each
 * worker holds one item beside the one that it does. 60 bags of each kind; SOAK=1: 5,000.
 */
#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>

#include "proto/bag/bag.h"
#include "tests/unit/runner.h"

enum { WORKERS = 8, ITEMS = 64, ITEMS_FEW = 24, HOLD = 2 };

struct worker {
    struct bag_member *member;
    struct bag_item *items[HOLD]; /* the one at hand first */
    size_t held;
    double speed; /* bytes a microsecond */
    uint64_t end_us;
};

struct world {
    struct bag *bag;
    struct worker workers[WORKERS];
    uint64_t now_us, random;
    double work, speed;
    size_t bytes_max;
    uint8_t *zeros;
};

static double chance(struct world *w)
{
    w->random = w->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(w->random >> 11) / 9007199254740992.0;
}

static uint64_t takes_us(const struct worker *worker, const struct bag_item *item)
{
    return (uint64_t)((double)item->size / worker->speed) + 1;
}

static void item_add(struct worker *worker, struct bag_item *item, uint64_t now_us)
{
    if (worker->held == 0)
        worker->end_us = now_us + takes_us(worker, item);
    worker->items[worker->held++] = item;
}

static void item_drop(struct worker *worker, size_t at, uint64_t now_us)
{
    if (at == 0)
        worker->items[0] = worker->items[1];
    worker->held--;
    if (at == 0 && worker->held > 0)
        worker->end_us = now_us + takes_us(worker, worker->items[0]);
}

/* Somebody else was first: what was begun is finished for nobody, what was not is dropped. */
static void on_other(void *context, struct bag_member *member, const struct bag_item *item)
{
    struct world *w = context;
    for (size_t i = 0; i < WORKERS; i++)
        for (size_t k = 1; k < w->workers[i].held; k++)
            if (w->workers[i].member == member && w->workers[i].items[k] == item)
                item_drop(&w->workers[i], k, w->now_us);
}

static void give(struct world *w)
{
    bool any = true;
    bag_share_gauge(w->bag);
    while (any) {
        any = false;
        for (size_t i = 0; i < WORKERS; i++) {
            struct worker *worker = &w->workers[i];
            struct bag_item *item =
                worker->held < HOLD ? bag_take(w->bag, worker->member, w->now_us) : NULL;
            if (item != NULL)
                item_add(worker, item, w->now_us);
            any |= item != NULL;
        }
    }
}

static void finish_one(struct world *w, struct worker *worker)
{
    struct bag_item *item = worker->items[0];
    w->now_us = worker->end_us;
    item_drop(worker, 0, w->now_us);
    if (item->state != BAG_IS_LEASED)
        return;
    bag_release(w->bag, item, worker->member, on_other, w, w->now_us);
    CU_ASSERT_EQUAL(
        bag_apply(w->bag, &(struct bag_record){.kind = BAG_DONE, .number = item->number}), BAG_OK);
}

static struct worker *next_to_finish(struct world *w)
{
    struct worker *next = NULL;
    for (size_t i = 0; i < WORKERS; i++) {
        struct worker *worker = &w->workers[i];
        if (worker->held > 0 && (next == NULL || worker->end_us < next->end_us))
            next = worker;
    }
    return next;
}

static void put_items(struct world *w, uint64_t items, double spread)
{
    for (uint64_t i = 0; i < items; i++) {
        double share = 1 / (1 + spread * chance(w) * chance(w));
        size_t size = (size_t)((double)w->bytes_max * share);
        const struct bag_record r = {.kind = BAG_PUT, .number = i, .bytes = w->zeros, .size = size};
        CU_ASSERT_EQUAL(bag_apply(w->bag, &r), BAG_OK);
        w->work += (double)size;
    }
    bag_apply(w->bag, &(struct bag_record){.kind = BAG_CLOSE});
}

enum how { IN_TURN, BY_SIZE, WEIGHED };

/* The time until the last result over that of the ideal. */
static double run(uint64_t seed, enum how how, uint64_t items, double spread, double slowest)
{
    bool by_size = how != IN_TURN;
    const struct bag_params params = {.deaths_max = 3, .in_order = !by_size, .name = "b"};
    struct world w = {.random = seed, .bytes_max = 1 << 17, .bag = bag_create(&params)};
    w.zeros = calloc(w.bytes_max, 1);
    CU_ASSERT_FATAL(w.bag != NULL && w.zeros != NULL && bag_hold(w.bag));
    for (uint32_t i = 0; i < WORKERS; i++) {
        bag_apply(w.bag, &(struct bag_record){.kind = BAG_JOIN, .task = i + 1});
        w.workers[i].member = bag_member_find(w.bag, i + 1, 0);
        w.workers[i].member->served.hold = HOLD;
        w.workers[i].speed = 1 / (1 + (slowest - 1) * chance(&w));
        w.speed += w.workers[i].speed;
        double seen = w.workers[i].speed * (0.8 + 0.4 * chance(&w)); /* as a monitor sees it */
        w.workers[i].member->served.weight = how == WEIGHED ? (uint16_t)(1000 * seen) : 0;
    }
    put_items(&w, items, spread);
    for (give(&w); !bag_complete(w.bag); give(&w))
        finish_one(&w, next_to_finish(&w));
    double over = (double)w.now_us / (w.work / w.speed);
    bag_destroy(w.bag);
    free(w.zeros);
    return over;
}

static void compare(const char *what, double spread, double slowest, double least_gain)
{
    uint64_t bags = getenv("SOAK") != NULL ? 5000 : 60;
    double by_size = 0, in_turn = 0;
    for (uint64_t seed = 1; seed <= bags; seed++) {
        by_size += run(seed, BY_SIZE, ITEMS, spread, slowest) / (double)bags;
        in_turn += run(seed, IN_TURN, ITEMS, spread, slowest) / (double)bags;
    }
    printf("%s: %.1f %% over the ideal, in turn %.1f %%\n", what, 100 * (by_size - 1),
           100 * (in_turn - 1));
    CU_ASSERT(by_size <= in_turn - least_gain);
}

static void equal_hosts_unequal_items(void)
{
    compare("equal hosts, items of 1 to 40", 40, 1, 0.1);
}

static void unequal_hosts_equal_items(void)
{
    compare("hosts of 1 to 8, equal items", 0, 8, -0.01);
}

static void unequal_hosts_and_items(void)
{
    compare("hosts of 1 to 8, items of 1 to 40", 40, 8, 0.1);
    compare("hosts of 1 to 3, items of 1 to 8", 8, 3, 0.02);
}

/* Newcomers that the monitor has weighed, beside those of which nothing is known: where there are
 * few items a worker much is decided before anybody has done one. */
static void newcomers_are_weighed(void)
{
    uint64_t bags = getenv("SOAK") != NULL ? 5000 : 60;
    double weighed = 0, unknown = 0;
    for (uint64_t seed = 1; seed <= bags; seed++) {
        weighed += run(seed, WEIGHED, ITEMS_FEW, 40, 8) / (double)bags;
        unknown += run(seed, BY_SIZE, ITEMS_FEW, 40, 8) / (double)bags;
    }
    printf("hosts of 1 to 8, 24 items of 1 to 40: %.1f %% over the ideal, not weighed %.1f %%\n",
           100 * (weighed - 1), 100 * (unknown - 1));
    CU_ASSERT(weighed <= unknown - 0.2);
}

/* Two newcomers beside one that is known: of the large item and the small one each gets its own. */
static void a_weight_is_worth_what_others_do(void)
{
    static const struct bag_params params = {.deaths_max = 3, .name = "b"};
    struct bag *bag = bag_create(&params);
    struct bag_member *members[3];
    uint8_t *zeros = calloc(1 << 17, 1);
    CU_ASSERT_FATAL(bag != NULL && zeros != NULL && bag_hold(bag));
    for (uint32_t i = 0; i < 3; i++) {
        bag_apply(bag, &(struct bag_record){.kind = BAG_JOIN, .task = i + 1});
        members[i] = bag_member_find(bag, i + 1, 0);
        members[i]->served.hold = 1;
    }
    members[0]->served.pace = (struct bag_pace){.cost = 1e6, .us = 1e6};
    members[0]->served.weight = 1000;
    members[1]->served.weight = 100;
    members[2]->served.weight = 2000;
    for (uint64_t i = 0; i < 2; i++)
        bag_apply(
            bag, &(struct bag_record){
                     .kind = BAG_PUT, .number = i, .bytes = zeros, .size = i == 0 ? 1 << 17 : 100});
    bag_share_gauge(bag);
    CU_ASSERT_DOUBLE_EQUAL(bag->speeds.all, 1 + 0.1 + 2, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(bag->speeds.most, 2, 1e-9);
    const struct bag_item *small = bag_take(bag, members[1], 1),
                          *large = bag_take(bag, members[2], 1);
    CU_ASSERT(small != NULL && small->number == 1);
    CU_ASSERT(large != NULL && large->number == 0);
    bag_destroy(bag);
    free(zeros);
}

int main(void)
{
    static const struct test_case cases[] = {
        {"equal hosts, unequal items", equal_hosts_unequal_items},
        {"unequal hosts, equal items", unequal_hosts_equal_items},
        {"unequal hosts and items", unequal_hosts_and_items},
        {"newcomers are weighed", newcomers_are_weighed},
        {"a weight is worth what others do", a_weight_is_worth_what_others_do}};
    return covey_test_main("bag_share", cases, sizeof cases / sizeof cases[0]);
}
