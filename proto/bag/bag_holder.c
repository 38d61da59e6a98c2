/*
 * bag_holder.c - the holder of a bag: what attachments want, and what they are told. The other side
 * of the log is bag_copy.c.
 *
 * One round: requests are read as they come, and each change is applied and written to the log at
 * once; bag_holder_step() then gives out items and results, sends the log to the backups, and says
 * to each attachment what it may hear by now. So a round costs one log a backup and one answer an
 * attachment, however many items it moved.
 */
#include "proto/bag/bag_held.h"

#include <stdlib.h>

#include "proto/wire/frame.h"

/* ---- create and destroy ---- */

struct bag_holder *bag_holder_create(uint64_t id, uint32_t term, struct bag *bag,
                                     const uint32_t *backups, size_t count,
                                     const struct bag_holder_owner *owner)
{
    struct bag_holder *h = calloc(1, sizeof *h);
    if (h == NULL || !bag_hold(bag)) {
        bag_destroy(bag);
        free(h);
        return NULL;
    }
    h->id = id;
    h->term = term;
    h->bag = bag;
    h->owner = *owner;
    h->position = h->sent = h->frozen_at = BAG_FIRST_POSITION;
    h->room_for_puts = h->room_for_results = SIZE_MAX;
    for (size_t i = 0; i < count; i++)
        bag_backup_add(h, backups[i], true);
    for (struct bag_member *m = bag->members; m != NULL; m = m->next) {
        /* What the holder before told it, the other backups may not have: they must first. */
        h->joined = true;
        for (struct bag_item *item = m->given.first; item != NULL; item = item->next)
            item->given_at = BAG_FIRST_POSITION;
        h->owner.watch(h->owner.context, m->task);
    }
    return h;
}

void bag_holder_destroy(struct bag_holder *h)
{
    if (h == NULL)
        return;
    bag_destroy(h->bag);
    bag_parcel_fini(&h->log);
    bag_parcel_fini(&h->out);
    free(h);
}

const struct bag *bag_holder_bag(const struct bag_holder *h)
{
    return h->bag;
}

bool bag_holder_is_over(const struct bag_holder *h)
{
    return h->over || (h->joined && h->bag->members == NULL && !h->bag->params.keep);
}

/* ---- room ---- */

void bag_holder_allow(struct bag_holder *h, size_t puts, size_t results)
{
    h->room_for_puts = bag_backup_full(h) ? 0 : puts;
    h->room_for_results = results;
}

size_t bag_holder_memory(const struct bag_holder *h)
{
    return sizeof *h + bag_memory(h->bag) + h->log.capacity + h->out.capacity;
}

bool bag_holder_waits(const struct bag_holder *h)
{
    return h->waits;
}

/* Whether the bag may grow by so much; it then counts as done. */
static bool room_take(size_t *room, size_t bytes)
{
    if (bytes > *room)
        return false;
    if (*room != SIZE_MAX)
        *room -= bytes;
    return true;
}

/* ---- what ends ---- */

static void on_return(void *context, struct bag_item *item)
{
    (void)context, (void)item;
}

static void on_death(void *context, struct bag_item *item)
{
    struct bag_holder *h = context;
    uint64_t number = item->number;
    uint8_t deaths = item->deaths < UINT8_MAX ? (uint8_t)(item->deaths + 1) : UINT8_MAX;
    bag_backup_change(h, &(struct bag_record){.kind = BAG_DEATH, .number = number, .flag = deaths});
    if (deaths >= h->bag->params.deaths_max && item->leases == NULL)
        bag_backup_change(h, &(struct bag_record){.kind = BAG_ASIDE, .number = number});
}

static void member_end(struct bag_holder *h, struct bag_member *m, bool died)
{
    const struct bag_record gone = {.kind = BAG_GONE, .task = m->task, .handle = m->handle};
    h->over |= bag_is_frozen_by(h->bag, m) && h->bag->frozen.how == BAG_FREEZE_LOAD;
    bag_abandon(h->bag, m, died ? on_death : on_return, h);
    bag_backup_change(h, &gone);
}

void bag_holder_task_gone(struct bag_holder *h, uint32_t task, bool died)
{
    for (struct bag_member *m = h->bag->members, *next; m != NULL; m = next) {
        next = m->next;
        if (m->task == task)
            member_end(h, m, died);
    }
}

void bag_holder_host_gone(struct bag_holder *h, uint32_t host)
{
    for (struct bag_member *m = h->bag->members, *next; m != NULL; m = next) {
        next = m->next;
        if (tid_host(m->task) == host)
            member_end(h, m, false);
    }
    bag_backup_gone(h, host);
}

/* ---- records of an attachment ---- */

/* The open item that is meant; NULL: it has a result, or was of a term that is over. */
static struct bag_item *item_meant(const struct bag_holder *h, const struct bag_record *r)
{
    struct bag_item *item = bag_find(h->bag, r->number);
    bool open = item != NULL && (item->state == BAG_IS_READY || item->state == BAG_IS_LEASED);
    return open && item->term == r->term ? item : NULL;
}

static enum bag_verdict on_put(struct bag_holder *h, struct bag_member *m, struct bag_record r)
{
    r.number = h->bag->next;
    r.term = h->term;
    if (!h->bag->closed)
        return room_take(&h->room_for_puts, bag_item_memory(r.size)) ? bag_backup_change(h, &r)
                                                                     : BAG_FULL;
    m->served.error = ERROR_EDENIED;
    m->served.complains = true;
    return BAG_OK;
}

static enum bag_verdict on_item_done(struct bag_holder *h, struct bag_member *m,
                                     struct bag_record r, uint64_t now_us)
{
    struct bag_item *item = item_meant(h, &r);
    if (item == NULL)
        return BAG_OK; /* another's result came first */
    size_t more = r.size > item->size ? r.size - item->size : 0;
    if (!room_take(&h->room_for_results, more)) {
        m->served.lacks = more;
        h->waits = true;
        return BAG_FULL;
    }
    r.task = m->task;
    r.handle = 0;
    bag_release(h->bag, item, m, bag_answer_drop, h, now_us);
    enum bag_verdict verdict = bag_backup_change(h, &r);
    if (verdict != BAG_OK)
        bag_reopen(h->bag, item);
    return verdict;
}

/* What was left of a bag is put into this one, which was empty. Workers know items by this term. */
static enum bag_verdict on_load(struct bag_holder *h, const struct bag_record *r)
{
    struct bag_record own = {.kind = r->kind,
                             .flag = r->flag,
                             .priority = r->priority,
                             .number = r->number,
                             .term = h->term,
                             .bytes = r->bytes,
                             .size = r->size};
    switch (r->kind) {
    case BAG_PUT:
        return room_take(&h->room_for_puts, bag_item_memory(r->size)) ? bag_backup_change(h, &own)
                                                                      : BAG_FULL;
    case BAG_DONE:
        return room_take(&h->room_for_puts, r->size) ? bag_backup_change(h, &own) : BAG_FULL;
    case BAG_DEATH:
    case BAG_ASIDE:
    case BAG_COUNT:
    case BAG_CLOSE:
        return bag_backup_change(h, &own);
    default:
        return BAG_NONSENSE;
    }
}

static enum bag_verdict on_freeze(struct bag_holder *h, const struct bag_member *m,
                                  const struct bag_record *r)
{
    if (r->kind == BAG_FREEZE && r->flag == BAG_FREEZE_LOAD && h->bag->next > 0)
        return BAG_NONSENSE; /* it is not empty */
    enum bag_verdict verdict = bag_backup_change(
        h, &(struct bag_record){
               .kind = r->kind, .flag = r->flag, .task = m->task, .handle = m->handle});
    h->frozen_at = h->position;
    return verdict;
}

static enum bag_verdict on_record(struct bag_holder *h, struct bag_member *m,
                                  const struct bag_record *r, uint64_t now_us)
{
    struct bag_item *item;
    if (r->kind == BAG_FREEZE || r->kind == BAG_THAW)
        return on_freeze(h, m, r);
    if (h->bag->frozen.how == BAG_FREEZE_LOAD)
        return on_load(h, r);
    switch (r->kind) {
    case BAG_PUT:
        return on_put(h, m, *r);
    case BAG_DONE:
        return on_item_done(h, m, *r, now_us);
    case BAG_RETURN:
        item = item_meant(h, r);
        if (item != NULL)
            bag_return(h->bag, m, item);
        return BAG_OK;
    case BAG_CLOSE:
        return h->bag->closed ? BAG_OK : bag_backup_change(h, r);
    default:
        return BAG_NONSENSE;
    }
}

/* ---- requests ---- */

void bag_holder_dismiss(const struct bag_holder *h)
{
    for (const struct bag_member *m = h->bag->members; m != NULL; m = m->next)
        bag_answer_refuse(h, m->task, m->handle, ERROR_ENOENT);
}

/* The results from there on are sent anew. */
static bool resume(struct bag_member *m, uint64_t received)
{
    if (received < m->taken || received > m->taken + m->given.count)
        return false;
    m->served.sent = received;
    m->served.unsent = m->given.first;
    for (uint64_t i = m->taken; i < received; i++)
        m->served.unsent = m->served.unsent->next;
    return true;
}

static bool claim_all(struct bag_holder *h, struct bag_member *m, struct cursor *c, uint64_t now_us)
{
    uint32_t count = cursor_get_u32(c);
    if (count > cursor_left(c) / BAG_HELD_BYTES)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        struct bag_record r = {.number = cursor_get_u64(c)};
        r.term = cursor_get_u32(c);
        struct bag_item *item = item_meant(h, &r);
        if (item != NULL)
            bag_claim(h->bag, m, item, now_us);
        else
            bag_answer_drop(h, m, &(struct bag_item){.number = r.number, .term = r.term});
    }
    return cursor_ok(c);
}

/* It speaks to this holder for the first time, or again from the beginning. */
static struct bag_member *greet(struct bag_holder *h, uint32_t task, const struct bag_request *r,
                                struct cursor *c, uint64_t now_us)
{
    struct bag_member *m = bag_member_find(h->bag, task, r->handle);
    if (m == NULL && h->room_for_results == 0 && h->bag->member_count >= BAG_MEMBERS_SURE) {
        bag_answer_refuse(h, task, r->handle, ERROR_ERESOURCE);
        return NULL;
    }
    if (m == NULL) {
        bag_backup_change(
            h, &(struct bag_record){.kind = BAG_JOIN, .task = task, .handle = r->handle});
        m = bag_member_find(h->bag, task, r->handle);
        h->owner.watch(h->owner.context, task);
        h->joined = true;
    }
    if (m == NULL || !resume(m, r->received))
        return NULL;
    m->served.items.used = 0;
    m->served.lacks = 0;
    m->served.saved = false;
    bag_abandon(h->bag, m, on_return, h);
    m->served.here = m->served.welcome = true;
    m->served.marks[0] = m->served.marks[1] =
        (struct bag_mark){.position = h->position, .number = m->applied};
    return claim_all(h, m, c, now_us) ? m : NULL;
}

/* Past the results that it has taken. It may greet twice before it hears the first answer: then it
 * has results of that answer, which the second greeting had sent anew. */
static bool results_take_back(struct bag_holder *h, struct bag_member *m, uint64_t taken)
{
    if (taken <= m->taken)
        return true;
    if (taken > m->taken + m->given.count)
        return false;
    for (; m->served.sent < taken; m->served.sent++)
        m->served.unsent = m->served.unsent->next;
    return bag_backup_change(h, &(struct bag_record){.kind = BAG_TAKEN,
                                                     .task = m->task,
                                                     .handle = m->handle,
                                                     .number = taken}) == BAG_OK;
}

/* What of its records is new; the member is gone when it said so. */
static const char *records_take(struct bag_holder *h, struct bag_member *m, uint64_t number,
                                struct cursor *c, uint64_t now_us)
{
    uint64_t applied = m->applied;
    for (struct bag_record r; cursor_left(c) > 0; number++) {
        bag_record_get(c, &r);
        if (!cursor_ok(c))
            return "a record makes no sense";
        if (number <= applied)
            continue;
        h->over |= r.kind == BAG_END;
        if (r.kind == BAG_END && bag_is_frozen_by(h->bag, m))
            break; /* it stays frozen to its end, whoever holds it, and the end is told */
        if (r.kind == BAG_BYE || r.kind == BAG_END) {
            member_end(h, m, false);
            return NULL;
        }
        enum bag_verdict verdict = on_record(h, m, &r, now_us);
        bool loads = h->bag->frozen.how == BAG_FREEZE_LOAD || r.kind == BAG_FREEZE;
        if (verdict == BAG_NONSENSE && !loads)
            return "no record of an attachment";
        if (verdict == BAG_FULL && r.kind == BAG_DONE)
            break; /* it waits: room_tell() */
        if (verdict != BAG_OK) {
            m->served.error = verdict == BAG_FULL       ? ERROR_ERESOURCE
                              : verdict == BAG_NONSENSE ? ERROR_EINVAL
                                                        : ERROR_ENOMEM;
            m->served.complains = true;
            break;
        }
        applied = number;
    }
    if (applied > m->applied)
        bag_backup_change(
            h, &(struct bag_record){
                   .kind = BAG_JOIN, .task = m->task, .handle = m->handle, .number = applied});
    m->served.marks[1] = (struct bag_mark){.position = h->position, .number = m->applied};
    return NULL;
}

const char *bag_holder_request(struct bag_holder *h, uint32_t task, const uint8_t *bytes,
                               size_t size, uint64_t now_us)
{
    struct cursor c = cursor_reader(bytes, size);
    struct bag_request r;
    bag_request_get(&c, &r);
    if (!cursor_ok(&c))
        return "no request";
    struct bag_member *m = bag_member_find(h->bag, task, r.handle);
    bool frozen = h->bag->frozen.how != 0 && (m == NULL || !bag_is_frozen_by(h->bag, m));
    if (frozen && m != NULL)
        m->served.here = false;
    if (frozen)
        m = NULL; /* it is to come again later */
    else if (r.flags & BAG_HELLO)
        m = greet(h, task, &r, &c, now_us);
    bool known = m != NULL && m->served.here && (r.term == h->term || r.flags & BAG_HELLO) &&
                 r.number <= m->applied + 1;
    if (!known) {
        bag_answer_refuse(h, task, r.handle, 0);
        return NULL;
    }
    if (!results_take_back(h, m, r.taken))
        return "it took results that it was not sent";
    m->served.hold = r.hold;
    m->served.want = r.want;
    m->served.weight = r.weight;
    m->served.end_us = r.flags & BAG_LEFT ? now_us + r.left_ms * UINT64_C(1000) : 0;
    return records_take(h, m, r.number, &c, now_us);
}

/* ---- a round ---- */

/* Only who has nothing waits for what others have had for long. */
static uint64_t straggler_due(const struct bag *bag, uint64_t now_us)
{
    uint64_t due_us = bag_straggler_us(bag);
    for (const struct bag_member *m = bag->members; m != NULL && due_us > now_us; m = m->next)
        if (m->served.here && m->served.held == 0 && m->served.hold > 0)
            return due_us;
    return UINT64_MAX;
}

uint64_t bag_holder_step(struct bag_holder *h, uint64_t now_us)
{
    uint64_t expiry_us = bag_expire(h->bag, now_us);
    /* Who waited for room that is there now begins anew, and sends again what was not taken. */
    if (h->waits) {
        h->waits = false;
        for (struct bag_member *m = h->bag->members; m != NULL; m = m->next) {
            h->waits |= m->served.lacks > h->room_for_results;
            if (m->served.lacks == 0 || m->served.lacks > h->room_for_results)
                continue;
            m->served.lacks = 0;
            m->served.here = false;
            bag_answer_refuse(h, m->task, m->handle, 0);
        }
    }
    bool gives = h->bag->frozen.how == 0 && !h->over; /* that it has may be in a file */
    if (gives)
        bag_answer_give(h, now_us);
    for (struct bag_member *m = h->bag->members; gives && m != NULL; m = m->next)
        bag_answer_results(h, m);
    if (bag_complete(h->bag) && !h->complete) {
        h->complete = true;
        h->complete_at = h->position;
    }
    if (bag_drained(h->bag) && !h->drained) {
        h->drained = true;
        h->drained_at = h->position;
    }
    bag_backup_send(h);
    uint64_t propose_us = bag_backup_propose(h, now_us), position = bag_backup_safe(h);
    for (struct bag_member *m = h->bag->members; m != NULL; m = m->next)
        bag_answer_tell(h, m, position);
    uint64_t straggler_us = straggler_due(h->bag, now_us);
    uint64_t due_us = expiry_us < propose_us ? expiry_us : propose_us;
    return due_us < straggler_us ? due_us : straggler_us;
}
