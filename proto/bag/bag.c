/*
 * bag.c - the lasting half of a bag: what is in it, changed record by record. Files:
 *   bag.h          what a bag is, and what holds of it
 *   bag_wire.c     requests, answers, logs and their records as bytes
 *   bag_save.c     a bag as records; bag_file.c: in a file
 *   bag_queue.c    items by priority; bag_lease.c: who has leased what; bag_share.c: who gets which
 *   bag_holder.c   the daemon that holds a bag, with bag_backup.c and bag_answer.c: bag_held.h
 *   bag_user.c     a task that uses it
 *   bag_place.c    which daemon holds which bag: agreed on by the VM (state_engine.h)
 *
 * Items stand in a ring by their numbers: the lowest is done with first, more or less, and then the
 * ring moves on.
 */
#include "proto/bag/bag.h"
#include "proto/wire/list.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define RING_FIRST 64
#define ALLOCATION_BYTES 32 /* that a small one takes beside what it is for */

struct bag *bag_create(const struct bag_params *params)
{
    struct bag *bag = calloc(1, sizeof *bag);
    if (bag != NULL)
        bag->params = *params;
    return bag;
}

static void item_free(struct bag *bag, struct bag_item *item)
{
    assert(bag->item_count > 0 && bag->bytes >= item->size);
    bag->bytes -= item->size;
    bag->item_count--;
    free(item->bytes);
    free(item);
}

size_t bag_item_memory(size_t size)
{
    return size + sizeof(struct bag_item) + ALLOCATION_BYTES;
}

size_t bag_memory(const struct bag *bag)
{
    return sizeof *bag + bag->bytes + bag->item_count * bag_item_memory(0) +
           bag->capacity * sizeof *bag->ring +
           bag->leased_count * BAG_COPIES_MAX * sizeof(struct bag_lease) +
           bag->member_count * (sizeof(struct bag_member) + ALLOCATION_BYTES);
}

void bag_destroy(struct bag *bag)
{
    if (bag == NULL)
        return;
    while (bag->oldest != NULL) {
        struct bag_lease *lease = bag->oldest;
        bag->oldest = lease->next;
        free(lease);
    }
    for (size_t i = 0; bag->item_count > 0; i++)
        if (bag->ring[i] != NULL)
            item_free(bag, bag->ring[i]);
    while (bag->members != NULL) {
        struct bag_member *member = bag->members;
        bag->members = member->next;
        bag_parcel_fini(&member->served.items);
        free(member);
    }
    for (size_t i = 0; i < BAG_CLASSES; i++)
        bag_queue_fini(&bag->queues.ready[i]);
    bag_queue_fini(&bag->queues.suspects);
    free(bag->ring);
    free(bag);
}

/* ---- the ring ---- */

static struct bag_item **slot(const struct bag *bag, uint64_t number)
{
    assert(bag->capacity > 0);
    return &bag->ring[number & (bag->capacity - 1)];
}

struct bag_item *bag_find(const struct bag *bag, uint64_t number)
{
    if (number < bag->base || number >= bag->next || number - bag->base >= bag->capacity)
        return NULL;
    return *slot(bag, number);
}

/* Room for an item of that number. In a copy, which learns of what is there, it may be far on. */
static bool ring_reserve(struct bag *bag, uint64_t number)
{
    if (number - bag->base >= BAG_SPAN_MAX)
        return false;
    size_t capacity = bag->capacity == 0 ? RING_FIRST : bag->capacity;
    while (number - bag->base >= capacity)
        capacity *= 2;
    if (capacity == bag->capacity)
        return true;
    struct bag_item **ring = calloc(capacity, sizeof(struct bag_item *));
    if (ring == NULL)
        return false;
    for (size_t i = 0; i < bag->capacity; i++)
        if (bag->ring[i] != NULL)
            ring[bag->ring[i]->number & (capacity - 1)] = bag->ring[i];
    free(bag->ring);
    bag->ring = ring;
    bag->capacity = capacity;
    return true;
}

/* ---- lists of results ---- */

static void results_add(struct bag_results *list, struct bag_item *item)
{
    LINK_AFTER(list->last, list->first, list->last, item, next, previous);
    list->count++;
    list->bytes += item->size;
}

static void results_remove(struct bag_results *list, struct bag_item *item)
{
    UNLINK_BOTH(list->first, list->last, item, next, previous);
    item->next = item->previous = NULL;
    assert(list->count > 0 && list->bytes >= item->size);
    list->count--;
    list->bytes -= item->size;
}

/* ---- members ---- */

struct bag_member *bag_member_find(const struct bag *bag, uint32_t task, uint32_t handle)
{
    struct bag_member *member = bag->members;
    while (member != NULL && (member->task != task || member->handle != handle))
        member = member->next;
    return member;
}

static struct bag_member *member_get(struct bag *bag, uint32_t task, uint32_t handle)
{
    struct bag_member *member = bag_member_find(bag, task, handle);
    if (member != NULL)
        return member;
    member = calloc(1, sizeof *member);
    if (member == NULL)
        return NULL;
    member->task = task;
    member->handle = handle;
    member->next = bag->members;
    bag->members = member;
    bag->member_count++;
    return member;
}

/* What it was given and did not take goes to others, first. */
static void results_give_back(struct bag *bag, struct bag_member *member)
{
    while (member->given.last != NULL) {
        struct bag_item *item = member->given.last;
        results_remove(&member->given, item);
        struct bag_results *list = &bag->results;
        LINK_AFTER(NULL, list->first, list->last, item, next, previous);
        list->count++;
        list->bytes += item->size;
        item->given = false;
        if (item->number < bag->next_given)
            bag->next_given = item->number;
    }
}

static enum bag_verdict member_remove(struct bag *bag, const struct bag_record *r)
{
    struct bag_member **at = &bag->members;
    while (*at != NULL && ((*at)->task != r->task || (*at)->handle != r->handle))
        at = &(*at)->next;
    struct bag_member *member = *at;
    if (member == NULL || member->served.leases != NULL)
        return BAG_NONSENSE;
    *at = member->next;
    assert(bag->member_count > 0 && member->served.held == 0);
    bag->member_count--;
    results_give_back(bag, member);
    assert(!member->served.draining || bag->draining > 0);
    if (member->served.draining)
        bag->draining--;
    if (bag_is_frozen_by(bag, member))
        bag->frozen = (struct bag_frozen){0};
    bag_parcel_fini(&member->served.items);
    free(member);
    return BAG_OK;
}

bool bag_is_frozen_by(const struct bag *bag, const struct bag_member *member)
{
    const struct bag_frozen *f = &bag->frozen;
    return f->how != 0 && f->task == member->task && f->handle == member->handle;
}

/* What is put into a bag for the second time goes into an empty one. */
static enum bag_verdict freeze(struct bag *bag, const struct bag_record *r)
{
    const struct bag_member *member = bag_member_find(bag, r->task, r->handle);
    bool known = r->flag == BAG_FREEZE_SAVE || r->flag == BAG_FREEZE_LOAD;
    if (member == NULL || bag->frozen.how != 0 || !known)
        return BAG_NONSENSE;
    bag->frozen = (struct bag_frozen){r->flag, r->task, r->handle};
    return BAG_OK;
}

static enum bag_verdict thaw(struct bag *bag, const struct bag_record *r)
{
    const struct bag_member *member = bag_member_find(bag, r->task, r->handle);
    if (member == NULL || !bag_is_frozen_by(bag, member))
        return BAG_NONSENSE;
    bag->frozen = (struct bag_frozen){0};
    return BAG_OK;
}

/* Of a copy: before the results that it was given and did not take. */
static enum bag_verdict taken_set(struct bag_member *member, const struct bag_record *r)
{
    struct cursor c = cursor_reader(r->bytes, r->size);
    uint64_t taken = cursor_get_u64(&c);
    if (!cursor_done(&c) || member->given.count > 0)
        return BAG_NONSENSE;
    member->taken = taken;
    return BAG_OK;
}

static enum bag_verdict member_join(struct bag *bag, const struct bag_record *r)
{
    struct bag_member *member = member_get(bag, r->task, r->handle);
    if (member == NULL)
        return BAG_NOMEM;
    if (r->number < member->applied)
        return BAG_NONSENSE;
    member->applied = r->number;
    return r->size > 0 ? taken_set(member, r) : BAG_OK;
}

/* ---- items ---- */

static bool bytes_set(struct bag *bag, struct bag_item *item, const struct bag_record *r)
{
    uint8_t *bytes = r->size == 0 ? NULL : malloc(r->size);
    if (r->size > 0 && bytes == NULL)
        return false;
    if (r->size > 0)
        memcpy(bytes, r->bytes, r->size);
    free(item->bytes);
    bag->bytes += r->size - item->size;
    item->bytes = bytes;
    item->size = r->size;
    return true;
}

static enum bag_verdict item_make(struct bag *bag, const struct bag_record *r)
{
    struct bag_item *item = calloc(1, sizeof *item);
    const struct bag_rank rank = {r->priority, r->number};
    if (item == NULL)
        return BAG_NOMEM;
    bag->item_count++;
    if (!bytes_set(bag, item, r) || (bag->holds && !bag_share_add(bag, &rank, r->size))) {
        item_free(bag, item);
        return BAG_NOMEM;
    }
    item->number = r->number;
    item->term = r->term;
    item->priority = r->priority;
    item->state = BAG_IS_READY;
    item->queued = bag->holds;
    *slot(bag, r->number) = item;
    return BAG_OK;
}

static enum bag_verdict item_put(struct bag *bag, const struct bag_record *r)
{
    if (bag->closed || r->number < bag->next || r->number == UINT64_MAX)
        return BAG_NONSENSE;
    if (bag->base == bag->next)
        bag->base = bag->next = r->number; /* nothing is left of those before */
    if (!ring_reserve(bag, r->number))
        return BAG_NOMEM;
    enum bag_verdict verdict = item_make(bag, r);
    if (verdict != BAG_OK)
        return verdict;
    bag->next = r->number + 1;
    assert(bag->base < bag->next && bag->next - bag->base <= bag->capacity);
    bag->counters.put++;
    bag->ready_count++;
    bag->open_cost += bag_cost(r->size);
    return BAG_OK;
}

static void item_end(struct bag *bag, struct bag_item *item, uint8_t state)
{
    assert(item->leases == NULL && item->copies == 0);
    assert((item->state == BAG_IS_READY ? bag->ready_count : bag->leased_count) > 0);
    if (item->state == BAG_IS_READY)
        bag->ready_count--;
    else
        bag->leased_count--;
    item->state = state;
    results_add(&bag->results, item);
}

static bool is_open(const struct bag_item *item)
{
    return item != NULL && (item->state == BAG_IS_READY || item->state == BAG_IS_LEASED);
}

static enum bag_verdict item_done(struct bag *bag, const struct bag_record *r)
{
    struct bag_item *item = bag_find(bag, r->number);
    if (!is_open(item) || item->leases != NULL)
        return BAG_NONSENSE;
    uint64_t cost = bag_cost(item->size);
    if (!bytes_set(bag, item, r))
        return BAG_NOMEM;
    assert(bag->open_cost >= cost);
    bag->open_cost -= cost;
    item->worker = r->task;
    item_end(bag, item, BAG_IS_DONE);
    bag->counters.done++;
    return BAG_OK;
}

static enum bag_verdict item_aside(struct bag *bag, const struct bag_record *r)
{
    struct bag_item *item = bag_find(bag, r->number);
    if (!is_open(item) || item->leases != NULL)
        return BAG_NONSENSE;
    assert(bag->open_cost >= bag_cost(item->size));
    bag->open_cost -= bag_cost(item->size);
    item_end(bag, item, BAG_IS_ASIDE);
    bag->counters.set_aside++;
    return BAG_OK;
}

static enum bag_verdict item_death(struct bag *bag, const struct bag_record *r)
{
    struct bag_item *item = bag_find(bag, r->number);
    if (!is_open(item))
        return BAG_NONSENSE;
    item->deaths = r->flag;
    return BAG_OK;
}

/* ---- results ---- */

struct bag_item *bag_next_result(const struct bag *bag)
{
    if (!bag->params.in_order)
        return bag->results.first;
    struct bag_item *item = bag_find(bag, bag->next_given);
    return item == NULL || is_open(item) ? NULL : item;
}

/* Past those that were given, or taken, before others of lower numbers came back. */
static void next_given_advance(struct bag *bag)
{
    while (bag->next_given < bag->next) {
        const struct bag_item *item = bag_find(bag, bag->next_given);
        if (item != NULL && !item->given)
            return;
        bag->next_given++;
    }
}

static enum bag_verdict result_give(struct bag *bag, const struct bag_record *r)
{
    struct bag_item *item = bag_find(bag, r->number);
    struct bag_member *member = bag_member_find(bag, r->task, r->handle);
    if (item == NULL || is_open(item) || item->given || member == NULL)
        return BAG_NONSENSE;
    results_remove(&bag->results, item);
    results_add(&member->given, item);
    item->given = true;
    next_given_advance(bag);
    return BAG_OK;
}

static enum bag_verdict result_taken(struct bag *bag, const struct bag_record *r)
{
    struct bag_member *member = bag_member_find(bag, r->task, r->handle);
    if (member == NULL || r->number > member->taken + member->given.count)
        return BAG_NONSENSE;
    for (; member->taken < r->number; member->taken++) {
        struct bag_item *item = member->given.first;
        assert(item != NULL && item->given);
        results_remove(&member->given, item);
        *slot(bag, item->number) = NULL;
        item_free(bag, item);
        while (bag->base < bag->next && *slot(bag, bag->base) == NULL)
            bag->base++;
        bag->counters.given++;
    }
    return BAG_OK;
}

bool bag_complete(const struct bag *bag)
{
    assert(bag->ready_count + bag->leased_count + bag->results.count <= bag->item_count);
    return bag->closed && bag->ready_count + bag->leased_count == 0;
}

bool bag_drained(const struct bag *bag)
{
    return bag_complete(bag) && bag->base == bag->next;
}

/* ---- records ---- */

static enum bag_verdict counts_set(struct bag *bag, const struct bag_record *r)
{
    static const uint8_t none[1];
    struct cursor c = cursor_reader(r->size > 0 ? r->bytes : none, r->size);
    struct bag_counters *n = &bag->counters;
    bag->next_given = cursor_get_u64(&c);
    n->put = cursor_get_u64(&c);
    n->done = cursor_get_u64(&c);
    n->given = cursor_get_u64(&c);
    n->set_aside = cursor_get_u64(&c);
    if (!cursor_done(&c) || r->number < bag->next)
        return BAG_NONSENSE;
    if (bag->base == bag->next)
        bag->base = r->number;
    if (r->number > bag->base && !ring_reserve(bag, r->number - 1))
        return BAG_NOMEM;
    bag->next = r->number;
    return BAG_OK;
}

enum bag_verdict bag_apply(struct bag *bag, const struct bag_record *r)
{
    switch (r->kind) {
    case BAG_PUT:
        return item_put(bag, r);
    case BAG_DONE:
        return item_done(bag, r);
    case BAG_ASIDE:
        return item_aside(bag, r);
    case BAG_DEATH:
        return item_death(bag, r);
    case BAG_GIVE:
        return result_give(bag, r);
    case BAG_TAKEN:
        return result_taken(bag, r);
    case BAG_JOIN:
        return member_join(bag, r);
    case BAG_GONE:
        return member_remove(bag, r);
    case BAG_COUNT:
        return counts_set(bag, r);
    case BAG_CLOSE:
        bag->closed = true;
        return BAG_OK;
    case BAG_FREEZE:
        return freeze(bag, r);
    case BAG_THAW:
        return thaw(bag, r);
    default:
        return BAG_NONSENSE;
    }
}
