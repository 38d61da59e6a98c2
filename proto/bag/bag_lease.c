/*
 * bag_lease.c - who has leased what: at the holder alone.
 *
 * A lease hangs in three lists: of its item (at most BAG_COPIES_MAX), of its member, and of all in
 * the order of their age, which is also that in which they run out.
 */
#include "proto/bag/bag.h"
#include "proto/wire/list.h"

#include <assert.h>
#include <stdlib.h>

#define MEAN_SHARE 8 /* of a new time in the mean of late */

/* ---- queues ---- */

/* An item that was leased, or that nobody gave yet, can be given. */
static bool enqueue(struct bag *bag, struct bag_item *item)
{
    const struct bag_rank rank = {item->priority, item->number};
    if (!item->queued)
        item->queued = item->deaths > 0
                           ? bag_queue_add(&bag->queues.suspects, rank.priority, rank.number)
                           : bag_share_add(bag, &rank, item->size);
    return item->queued;
}

bool bag_hold(struct bag *bag)
{
    bag->holds = true;
    for (uint64_t number = bag->base; number < bag->next; number++) {
        struct bag_item *item = bag_find(bag, number);
        if (item != NULL && item->state == BAG_IS_READY && !enqueue(bag, item))
            return false;
    }
    return true;
}

static struct bag_item *suspect_next(struct bag *bag)
{
    struct bag_rank first;
    while (bag_queue_take(&bag->queues.suspects, &first)) {
        struct bag_item *item = bag_find(bag, first.number);
        if (item == NULL)
            continue;
        item->queued = false;
        if (item->state == BAG_IS_READY)
            return item;
    }
    return NULL;
}

/* ---- leases ---- */

static void lease_end(struct bag *bag, struct bag_lease *lease)
{
    UNLINK(lease->item->leases, lease, of_item);
    assert(lease->item->copies > 0);
    lease->item->copies--;
    UNLINK_BOTH(bag->oldest, bag->newest, lease, next, previous);
    struct bag_member *m = lease->member;
    UNLINK_BOTH(m->served.leases, m->served.youngest, lease, later, earlier);
    assert(m->served.held > 0 && m->served.held_bytes >= lease->item->size);
    assert(m->served.held_cost >= bag_cost(lease->item->size));
    m->served.held--;
    m->served.held_bytes -= lease->item->size;
    m->served.held_cost -= bag_cost(lease->item->size);
    if (m->served.held == 0)
        m->served.alone = false;
    free(lease);
}

static void link_all(struct bag *bag, struct bag_lease *lease)
{
    struct bag_member *m = lease->member;
    assert(lease->item->copies < BAG_COPIES_MAX);
    lease->of_item = lease->item->leases;
    lease->item->leases = lease;
    lease->item->copies++;
    LINK_AFTER(bag->newest, bag->oldest, bag->newest, lease, next, previous);
    LINK_AFTER(m->served.youngest, m->served.leases, m->served.youngest, lease, later, earlier);
    m->served.held++;
    m->served.held_bytes += lease->item->size;
    m->served.held_cost += bag_cost(lease->item->size);
}

static bool lease_add(struct bag *bag, struct bag_member *m, struct bag_item *item, uint64_t now_us)
{
    struct bag_lease *lease = calloc(1, sizeof *lease);
    if (lease == NULL)
        return false;
    *lease = (struct bag_lease){.item = item, .member = m, .since_us = now_us};
    link_all(bag, lease);
    assert(item->state == BAG_IS_READY || item->state == BAG_IS_LEASED);
    if (item->state == BAG_IS_READY) {
        assert(bag->ready_count > 0);
        bag->ready_count--;
        bag->leased_count++;
        item->state = BAG_IS_LEASED;
    }
    bag->counters.leased++;
    return true;
}

static struct bag_lease *lease_of(const struct bag_member *m, const struct bag_item *item)
{
    struct bag_lease *lease = item->leases;
    while (lease != NULL && lease->member != m)
        lease = lease->of_item;
    return lease;
}

/* The item is nobody's any more. */
static void make_ready(struct bag *bag, struct bag_item *item)
{
    if (item->state != BAG_IS_LEASED || item->leases != NULL)
        return;
    assert(bag->leased_count > 0);
    item->state = BAG_IS_READY;
    bag->leased_count--;
    bag->ready_count++;
    bag->counters.retried++;
    enqueue(bag, item);
}

void bag_reopen(struct bag *bag, struct bag_item *item)
{
    make_ready(bag, item);
}

/* ---- taking ---- */

static struct bag_item *lease_out(struct bag *bag, struct bag_member *m, struct bag_item *item,
                                  uint64_t now_us)
{
    if (item == NULL || lease_add(bag, m, item, now_us))
        return item;
    enqueue(bag, item);
    return NULL;
}

/* A suspect is given to who has nothing else; somebody must come to have nothing. */
static struct bag_item *take_suspect(struct bag *bag, struct bag_member *m, uint64_t now_us)
{
    if (m->served.held > 0) {
        if (!m->served.draining && bag->draining < bag->queues.suspects.count) {
            m->served.draining = true;
            bag->draining++;
        }
        return NULL;
    }
    struct bag_item *item = suspect_next(bag);
    if (item != NULL && !bag_share_in_time(bag, m, item, now_us)) {
        enqueue(bag, item);
        item = NULL;
    }
    item = lease_out(bag, m, item, now_us);
    assert(!m->served.draining || bag->draining > 0);
    if (m->served.draining)
        bag->draining--;
    m->served.draining = false;
    m->served.alone = item != NULL;
    return item;
}

/* So long an item is out before somebody else gets it, too. */
static uint64_t patience_us(const struct bag *bag)
{
    uint64_t long_us = BAG_STRAGGLER_TIMES * bag->mean_us;
    if (bag->closed)
        return 0;
    return long_us > BAG_STRAGGLER_US ? long_us : BAG_STRAGGLER_US;
}

uint64_t bag_straggler_us(const struct bag *bag)
{
    const struct bag_lease *lease = bag->params.single ? NULL : bag->oldest;
    while (lease != NULL && (lease->item->copies >= BAG_COPIES_MAX || lease->item->deaths > 0))
        lease =
            lease->next; /* nobody gets it: those behind it are given when their time has come */
    return lease == NULL ? UINT64_MAX : lease->since_us + patience_us(bag);
}

/* What has been out longest, of what may be given twice. A suspect is nobody's second. */
static struct bag_lease *oldest_lease(const struct bag *bag, const struct bag_member *m,
                                      uint64_t until_us)
{
    struct bag_lease *lease = bag->oldest;
    for (; lease != NULL && lease->since_us <= until_us; lease = lease->next)
        if (lease->item->copies < BAG_COPIES_MAX && lease->item->deaths == 0 && lease->member != m)
            return lease;
    return NULL;
}

/* Nothing else is left: what would be done last, or where that is not known has been out longest.
 */
static struct bag_item *take_copy(struct bag *bag, struct bag_member *m, uint64_t now_us)
{
    uint64_t patience = patience_us(bag);
    if (bag->params.single || now_us < patience || oldest_lease(bag, m, now_us - patience) == NULL)
        return NULL;
    struct bag_lease *lease = bag_share_last(bag, m, now_us - patience);
    if (lease == NULL)
        lease = oldest_lease(bag, m, now_us - patience);
    struct bag_item *item = lease->item;
    if (!bag_share_in_time(bag, m, item, now_us) || !lease_add(bag, m, item, now_us))
        return NULL;
    bag->counters.duplicated++;
    return item;
}

struct bag_item *bag_take(struct bag *bag, struct bag_member *m, uint64_t now_us)
{
    struct bag_item *item = NULL;
    assert(bag->holds);
    bool full = m->served.held_bytes >= BAG_HELD_BYTES_MAX && m->served.held >= BAG_HELD_LEAST;
    if (m->served.held >= m->served.hold || m->served.alone || full)
        return NULL;
    if (bag->queues.suspects.count > 0 || m->served.draining)
        item = take_suspect(bag, m, now_us);
    if (item == NULL && !m->served.draining)
        item = lease_out(bag, m, bag_share_next(bag, m, now_us), now_us);
    if (item == NULL && m->served.held == 0)
        item = take_copy(bag, m, now_us);
    return item;
}

void bag_claim(struct bag *bag, struct bag_member *m, struct bag_item *item, uint64_t now_us)
{
    bool open = item->state == BAG_IS_READY || item->state == BAG_IS_LEASED;
    if (open && lease_of(m, item) == NULL && item->copies < BAG_COPIES_MAX)
        lease_add(bag, m, item, now_us);
}

void bag_return(struct bag *bag, struct bag_member *m, struct bag_item *item)
{
    struct bag_lease *lease = lease_of(m, item);
    if (lease == NULL)
        return;
    lease_end(bag, lease);
    make_ready(bag, item);
}

/* ---- ends ---- */

void bag_release(struct bag *bag, struct bag_item *item, const struct bag_member *winner,
                 bag_other_fn *other, void *context, uint64_t now_us)
{
    while (item->leases != NULL) {
        struct bag_member *member = item->leases->member;
        if (member == winner) {
            const struct bag_lease *lease = item->leases;
            uint64_t took_us = now_us - lease->since_us;
            bag->mean_us += took_us / MEAN_SHARE;
            bag->mean_us -= bag->mean_us / MEAN_SHARE;
            bag_share_note(item->leases, now_us);
        }
        lease_end(bag, item->leases);
        if (member != winner)
            other(context, member, item);
    }
}

void bag_abandon(struct bag *bag, struct bag_member *m, bag_death_fn *death, void *context)
{
    while (m->served.leases != NULL) {
        struct bag_item *item = m->served.leases->item;
        lease_end(bag, m->served.leases);
        death(context, item);
        make_ready(bag, item);
    }
}

uint64_t bag_expire(struct bag *bag, uint64_t now_us)
{
    uint64_t lease_us = bag->params.lease_us;
    if (lease_us == 0)
        return UINT64_MAX;
    while (bag->oldest != NULL && now_us - bag->oldest->since_us >= lease_us) {
        struct bag_item *item = bag->oldest->item;
        lease_end(bag, bag->oldest);
        bag->counters.expired++;
        make_ready(bag, item);
    }
    return bag->oldest == NULL ? UINT64_MAX : bag->oldest->since_us + lease_us;
}
