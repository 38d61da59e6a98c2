/*
 * bag_share.c - large items for fast hosts: which of the ready items a member gets, by how large
 * they are and how fast it was so far, and of which lease somebody else gets a copy.
 *
 * Size stands for work: an item costs its bytes and BAG_ITEM_COST, and a member's speed is what it
 * has done of late over the time that it took. One that did nothing yet is weighed by the monitor
 * (Schmidt & Sunderam, section 4.4: the data sub-block level): it told what it has of a processor,
 * the speed of its host times the free share; others that told so, too, say what that is worth.
 * Until anybody did anything weights alone are compared. Within a priority the largest items are
 * given first, so that what is left at the end is small (the rule of the longest processing time);
 * but to a member only those that it ends by the time by which all can be over, which is what is
 * open over all speeds together, and at least the largest item on the fastest. Items whose costs
 * are within a factor of two are alike, and go in the order of their numbers.
 */
#include "proto/bag/bag.h"

#include <assert.h>

#define PACE_KEPT 0.875  /* of what was done before, with each item */
#define SLOW_KEPT 0.9375 /* of how slow the slowest was */

uint64_t bag_cost(size_t size)
{
    return size + BAG_ITEM_COST;
}

static unsigned class_of(const struct bag *bag, size_t size)
{
    unsigned number = 0;
    if (bag->params.in_order)
        return 0; /* otherwise results would wait for the small ones among them */
    for (uint64_t cost = bag_cost(size) / BAG_ITEM_COST; cost > 1; cost /= 2)
        number++;
    return number < BAG_CLASSES ? number : BAG_CLASSES - 1;
}

bool bag_share_add(struct bag *bag, const struct bag_rank *rank, size_t size)
{
    unsigned number = class_of(bag, size);
    assert(number < BAG_CLASSES);
    if (number >= bag->queues.classes)
        bag->queues.classes = number + 1;
    return bag_queue_add(&bag->queues.ready[number], rank->priority, rank->number);
}

/* ---- speeds ---- */

void bag_share_note(struct bag_lease *lease, uint64_t now_us)
{
    struct bag_pace *p = &lease->member->served.pace;
    uint64_t since_us = lease->since_us > p->since_us ? lease->since_us : p->since_us;
    p->cost = p->cost * PACE_KEPT + (double)bag_cost(lease->item->size);
    p->us = p->us * PACE_KEPT + (double)(now_us - since_us);
    double slow = (double)(now_us - since_us) / (double)bag_cost(lease->item->size);
    p->slow = slow > p->slow * SLOW_KEPT ? slow : p->slow * SLOW_KEPT;
    p->since_us = now_us;
}

static double speed_known(const struct bag_member *m)
{
    return m->served.pace.us > 0 ? m->served.pace.cost / m->served.pace.us : 0;
}

/* What a weight is worth: of those whose speed is known; where nobody's is, one as much as another.
 */
static void gauge_weights(struct bag *bag)
{
    double speed = 0, weight = 0;
    bool any = false;
    for (const struct bag_member *m = bag->members; m != NULL; m = m->next) {
        any = any || speed_known(m) > 0;
        if (speed_known(m) <= 0 || m->served.weight == 0)
            continue;
        speed += speed_known(m);
        weight += m->served.weight;
    }
    bag->speeds.weight = weight > 0 ? speed / weight : any ? 0 : 1;
}

/* What it did, else what it is weighed; 0: neither is known. */
static double speed_expected(const struct bag *bag, const struct bag_member *m)
{
    double speed = speed_known(m);
    return speed > 0 ? speed : m->served.weight * bag->speeds.weight;
}

void bag_share_gauge(struct bag *bag)
{
    unsigned members = 0, known = 0;
    bag->speeds.all = bag->speeds.most = bag->speeds.slow = 0;
    gauge_weights(bag);
    for (const struct bag_member *m = bag->members; m != NULL; m = m->next) {
        double speed = speed_expected(bag, m);
        members += m->served.hold > 0 || m->served.held > 0;
        known += speed > 0;
        bag->speeds.all += speed;
        bag->speeds.most = speed > bag->speeds.most ? speed : bag->speeds.most;
        if (m->served.pace.slow > bag->speeds.slow)
            bag->speeds.slow = m->served.pace.slow;
    }
    bag->speeds.mean = known > 0 ? bag->speeds.all / known : 0;
    if (members > known)
        bag->speeds.all += (members - known) * bag->speeds.mean;
}

/* One of which nothing is known is taken to be like the others; 0: nor is of these. */
static double speed_of(const struct bag *bag, const struct bag_member *m)
{
    double speed = speed_expected(bag, m);
    return speed > 0 ? speed : bag->speeds.mean;
}

/* ---- which item ---- */

/* The first that is ready, which stays there; others are taken out. */
static struct bag_item *first_ready(struct bag *bag, struct bag_queue *queue)
{
    struct bag_rank first;
    while (bag_queue_first(queue, &first)) {
        struct bag_item *item = bag_find(bag, first.number);
        if (item != NULL && item->state == BAG_IS_READY && item->deaths == 0)
            return item;
        bag_queue_take(queue, &first);
        if (item == NULL)
            continue;
        item->queued = false;
        if (item->state == BAG_IS_READY) /* it became a suspect meanwhile */
            item->queued = bag_queue_add(&bag->queues.suspects, item->priority, item->number);
    }
    return NULL;
}

/* By when all can be over, in us from now. */
static double end_us(const struct bag *bag, const struct bag_item *largest)
{
    double all_us = (double)bag->open_cost / bag->speeds.all;
    double largest_us = (double)bag_cost(largest->size) / bag->speeds.most;
    return all_us > largest_us ? all_us : largest_us;
}

static bool item_fits(const struct bag *bag, const struct bag_member *m,
                      const struct bag_item *item, const struct bag_item *largest)
{
    double speed = speed_expected(bag, m);
    double cost = (double)(m->served.held_cost + bag_cost(item->size));
    return speed > 0 && cost / speed <= end_us(bag, largest);
}

bool bag_share_in_time(const struct bag *bag, const struct bag_member *m,
                       const struct bag_item *item, uint64_t now_us)
{
    double cost = (double)(m->served.held_cost + bag_cost(item->size));
    double slow = m->served.pace.slow > 0 ? m->served.pace.slow : bag->speeds.slow;
    if (m->served.end_us == 0)
        return true;
    if (now_us >= m->served.end_us)
        return false;
    return slow > 0 ? cost * slow <= (double)(m->served.end_us - now_us) : m->served.held == 0;
}

struct bag_item *bag_share_next(struct bag *bag, const struct bag_member *m, uint64_t now_us)
{
    struct bag_item *firsts[BAG_CLASSES];
    const struct bag_item *largest = NULL;
    size_t count = 0, chosen;
    struct bag_rank rank;
    for (unsigned i = bag->queues.classes; i-- > 0;) { /* the largest first */
        struct bag_item *item = first_ready(bag, &bag->queues.ready[i]);
        if (item == NULL || (count > 0 && item->priority < firsts[0]->priority))
            continue;
        if (count > 0 && item->priority > firsts[0]->priority)
            count = 0;
        firsts[count++] = item;
    }
    if (count == 0)
        return NULL;
    largest = firsts[0];
    for (chosen = 0; chosen + 1 < count; chosen++)
        if (item_fits(bag, m, firsts[chosen], largest) &&
            bag_share_in_time(bag, m, firsts[chosen], now_us))
            break;
    if (!bag_share_in_time(bag, m, firsts[chosen], now_us))
        return NULL; /* nor is there a smaller one */
    bag_queue_take(&bag->queues.ready[class_of(bag, firsts[chosen]->size)], &rank);
    assert(rank.number == firsts[chosen]->number);
    firsts[chosen]->queued = false;
    return firsts[chosen];
}

/* ---- which lease ---- */

static bool may_copy(const struct bag_member *m, const struct bag_lease *lease)
{
    const struct bag_item *item = lease->item;
    return lease->member != m && item->copies < BAG_COPIES_MAX && item->deaths == 0;
}

/* The one of a member's that would end last. */
static struct bag_lease *last_of(const struct bag_member *m, const struct bag_member *holder,
                                 double *cost)
{
    struct bag_lease *last = NULL;
    double sum = 0;
    for (struct bag_lease *lease = holder->served.leases; lease != NULL; lease = lease->later) {
        sum += (double)bag_cost(lease->item->size);
        if (may_copy(m, lease)) {
            last = lease;
            *cost = sum;
        }
    }
    return last;
}

struct bag_lease *bag_share_last(struct bag *bag, const struct bag_member *m, uint64_t until_us)
{
    struct bag_lease *last = NULL;
    double last_us = 0, cost = 0;
    for (const struct bag_member *holder = bag->members; holder != NULL; holder = holder->next) {
        double speed = speed_of(bag, holder);
        struct bag_lease *lease = last_of(m, holder, &cost);
        if (lease == NULL || lease->since_us > until_us || speed <= 0)
            continue;
        double us = (double)holder->served.pace.since_us + cost / speed;
        if (last == NULL || us > last_us) {
            last = lease;
            last_us = us;
        }
    }
    return last;
}
