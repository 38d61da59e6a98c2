/*
 * bag_user.c - a task's side of a bag; see bag_user.h.
 */
#include "proto/bag/bag_user.h"
#include "proto/wire/error.h"
#include "proto/wire/list.h"

#include <stdlib.h>
#include <string.h>

#define REQUEST_BYTES 32768  /* of records that are sent though others are under way */
#define GREETING_US 2000000u /* then the holder is looked for again */
#define PAUSE_FIRST_US 10000u
#define PAUSE_MAX_US 400000u
#define AHEAD_US 4000u /* of work lies here beside the item that is done */
#define AHEAD_MAX 256
#define LONG_US 20000u /* of work, beside which the way of a small item counts for nothing */
#define LARGE_BYTES 65536
#define MEAN_SHARE 8

struct bag_queued {
    struct bag_queued *next;
    size_t size;
    uint8_t bytes[];
};

/* ---- lists ---- */

static void things_add(struct bag_things *list, struct bag_thing *thing)
{
    LINK_AFTER(list->last, list->first, list->last, thing, next, previous);
    list->count++;
}

static void things_remove(struct bag_things *list, struct bag_thing *thing)
{
    UNLINK_BOTH(list->first, list->last, thing, next, previous);
    list->count--;
}

static struct bag_thing *things_take(struct bag_things *list)
{
    struct bag_thing *thing = list->first;
    if (thing != NULL)
        things_remove(list, thing);
    return thing;
}

static struct bag_thing *things_find(const struct bag_things *list, uint64_t number)
{
    struct bag_thing *thing = list->first;
    while (thing != NULL && thing->number != number)
        thing = thing->next;
    return thing;
}

static void things_clear(struct bag_things *list)
{
    while (list->first != NULL)
        free(things_take(list));
}

static void queued_drop(struct bag_user *u)
{
    struct bag_queued *first = u->queue.first;
    u->queue.first = first->next;
    if (u->queue.first == NULL)
        u->queue.last = NULL;
    if (u->queue.unsent == first)
        u->queue.unsent = first->next;
    u->queue.queued_bytes -= first->size;
    free(first);
}

void bag_user_fini(struct bag_user *u)
{
    while (u->queue.first != NULL)
        queued_drop(u);
    things_clear(&u->fresh);
    things_clear(&u->begun);
    things_clear(&u->results);
    things_clear(&u->unconfirmed);
    bag_parcel_fini(&u->out);
    bag_parcel_fini(&u->rest.records);
}

/* ---- finding the holder ---- */

bool bag_user_seeks(const struct bag_user *u, uint64_t now_us)
{
    return u->tie.state == BAG_SEEKING && u->error == 0 && now_us >= u->tie.seek_us;
}

static void seek(struct bag_user *u, uint64_t now_us)
{
    u->tie.state = BAG_SEEKING;
    u->tie.pause_us = u->tie.pause_us == 0 ? PAUSE_FIRST_US : 2 * u->tie.pause_us;
    if (u->tie.pause_us > PAUSE_MAX_US)
        u->tie.pause_us = PAUSE_MAX_US;
    u->tie.seek_us = now_us + u->tie.pause_us;
}

void bag_user_lost(struct bag_user *u, uint64_t now_us)
{
    if (u->tie.state != BAG_SEEKING)
        seek(u, now_us);
}

void bag_user_found(struct bag_user *u, uint64_t bag, uint32_t host, uint64_t now_us)
{
    if (u->tie.state != BAG_SEEKING)
        return;
    if (host == 0) {
        seek(u, now_us);
        return;
    }
    u->bag = bag;
    u->tie.holder = host;
    u->tie.state = BAG_GREETING;
    u->tie.asked_us = now_us;
    u->queue.unsent = u->queue.first;
    u->queue.unsent_bytes = u->queue.queued_bytes;
    u->queue.sent = u->queue.acked;
    u->urgent = true;
}

/* ---- records ---- */

static bool record_add(struct bag_user *u, const struct bag_record *record)
{
    size_t size = BAG_RECORD_BYTES + record->size;
    struct bag_queued *q = malloc(sizeof *q + size);
    if (q == NULL)
        return false;
    q->next = NULL;
    q->size = size;
    struct cursor c = cursor_writer(q->bytes, size);
    bag_record_put(&c, record);
    *(u->queue.last != NULL ? &u->queue.last->next : &u->queue.first) = q;
    u->queue.last = q;
    if (u->queue.unsent == NULL)
        u->queue.unsent = q;
    u->queue.queued_bytes += size;
    u->queue.unsent_bytes += size;
    u->queue.number++;
    return true;
}

bool bag_user_put(struct bag_user *u, int32_t priority, const void *bytes, size_t size)
{
    return record_add(u, &(struct bag_record){
                             .kind = BAG_PUT, .priority = priority, .bytes = bytes, .size = size});
}

bool bag_user_say(struct bag_user *u, uint8_t kind)
{
    u->urgent = true;
    return record_add(u, &(struct bag_record){.kind = kind});
}

bool bag_user_record(struct bag_user *u, const struct bag_record *record)
{
    return record_add(u, record);
}

bool bag_user_settled(const struct bag_user *u)
{
    return u->queue.acked == u->queue.number;
}

/* ---- items ---- */

void bag_user_hunger(struct bag_user *u, uint32_t more)
{
    uint32_t begun = (uint32_t)u->begun.count;
    if (u->pace.mean_us == 0)
        u->pace.ahead = 1; /* nothing was done yet */
    uint32_t ahead = more > u->pace.ahead + 1 ? more : u->pace.ahead + 1;
    u->hold = more == 0 ? 0 : begun + ahead;
    if (more == 0)
        while (u->fresh.first != NULL && bag_user_return(u, u->fresh.first)) {
        }
    if (u->fresh.first == NULL && u->hold != u->told_hold)
        u->urgent = true;
}

void bag_user_ends(struct bag_user *u, uint64_t end_us)
{
    u->pace.end_us = end_us;
    u->urgent = true;
}

struct bag_thing *bag_user_begin(struct bag_user *u, uint64_t now_us)
{
    if (u->pace.end_us != 0 && now_us + u->pace.mean_us >= u->pace.end_us)
        while (u->fresh.first != NULL && bag_user_return(u, u->fresh.first)) {
        }
    struct bag_thing *item = things_take(&u->fresh);
    if (item == NULL)
        return NULL;
    item->since_us = now_us;
    things_add(&u->begun, item);
    return item;
}

struct bag_thing *bag_user_begun(const struct bag_user *u, const void *bytes)
{
    struct bag_thing *thing = u->begun.first;
    while (thing != NULL && thing->bytes != bytes)
        thing = thing->next;
    return thing;
}

bool bag_user_done(struct bag_user *u, struct bag_thing *item, const void *bytes, size_t size,
                   uint64_t now_us)
{
    uint64_t took_us = now_us - item->since_us;
    if (!record_add(u, &(struct bag_record){.kind = BAG_DONE,
                                            .number = item->number,
                                            .term = item->term,
                                            .bytes = bytes,
                                            .size = size}))
        return false;
    u->pace.mean_us = u->pace.mean_us == 0
                          ? took_us + 1
                          : u->pace.mean_us - u->pace.mean_us / MEAN_SHARE + took_us / MEAN_SHARE;
    /* As many as are done in a moment, soon: but twice as many as before at most. Behind an item
     * that takes long a small one is fetched quickly when its turn comes, and until then others may
     * have it. */
    uint64_t fitting = u->pace.mean_us == 0 ? AHEAD_MAX : AHEAD_US / u->pace.mean_us;
    uint64_t least = u->pace.mean_us > LONG_US && item->size < LARGE_BYTES ? 0 : 1;
    uint64_t most = u->pace.ahead == 0 ? 1 : 2 * (uint64_t)u->pace.ahead;
    fitting = fitting > most ? most : fitting < least ? least : fitting;
    u->pace.ahead = fitting > AHEAD_MAX ? AHEAD_MAX : (uint32_t)fitting;
    things_remove(&u->begun, item);
    free(item);
    return true;
}

bool bag_user_return(struct bag_user *u, struct bag_thing *item)
{
    if (!record_add(u, &(struct bag_record){
                           .kind = BAG_RETURN, .number = item->number, .term = item->term}))
        return false;
    things_remove(things_find(&u->fresh, item->number) == item ? &u->fresh : &u->begun, item);
    free(item);
    u->urgent = true;
    return true;
}

/* ---- results ---- */

struct bag_thing *bag_user_result(struct bag_user *u)
{
    struct bag_thing *result = things_take(&u->results);
    if (result != NULL)
        things_add(&u->unconfirmed, result);
    return result;
}

void bag_user_confirm(struct bag_user *u)
{
    u->taken += u->unconfirmed.count;
    things_clear(&u->unconfirmed);
    if (u->taken - u->told_taken >= u->want / 2 + 1)
        u->urgent = true;
}

void bag_user_collect(struct bag_user *u, uint32_t want)
{
    u->want = want;
    if (u->results.first == NULL && (u->want != u->told_want || u->taken != u->told_taken))
        u->urgent = true;
}

/* ---- answers ---- */

static struct bag_thing *thing_make(const struct bag_record *r)
{
    struct bag_thing *thing = malloc(sizeof *thing + r->size);
    if (thing == NULL)
        return NULL;
    *thing = (struct bag_thing){.number = r->number,
                                .term = r->term,
                                .priority = r->priority,
                                .flag = r->flag,
                                .task = r->task,
                                .size = r->size};
    if (r->size > 0)
        memcpy(thing->bytes, r->bytes, r->size);
    return thing;
}

/* Whether the item is here already: it was given again. */
static bool is_held(const struct bag_user *u, const struct bag_record *r)
{
    const struct bag_thing *begun = things_find(&u->begun, r->number);
    return (begun != NULL && begun->term == r->term) || things_find(&u->fresh, r->number) != NULL;
}

static bool on_item(struct bag_user *u, const struct bag_record *r)
{
    if (r->number <= u->newest && is_held(u, r))
        return true;
    struct bag_thing *item = thing_make(r);
    if (item == NULL)
        return false;
    if (r->number > u->newest)
        u->newest = r->number;
    things_add(&u->fresh, item);
    return u->hold > 0 || bag_user_return(u, item);
}

/* Another's result came first: if it was not begun it need not be. */
static void on_drop(struct bag_user *u, const struct bag_record *r)
{
    struct bag_thing *item = things_find(&u->fresh, r->number);
    if (item == NULL || item->term != r->term)
        return;
    things_remove(&u->fresh, item);
    free(item);
}

static bool on_result(struct bag_user *u, const struct bag_record *r, uint64_t number)
{
    if (number != u->received + 1)
        return true; /* it came before */
    struct bag_thing *result = thing_make(r);
    if (result == NULL)
        return false;
    things_add(&u->results, result);
    u->received++;
    return true;
}

static bool on_record(struct bag_user *u, const struct bag_record *r, uint64_t *result)
{
    switch (r->kind) {
    case BAG_ITEM:
        return on_item(u, r);
    case BAG_RESULT:
        return on_result(u, r, (*result)++);
    case BAG_DROP:
        on_drop(u, r);
        return true;
    default:
        return true;
    }
}

const char *bag_user_answer(struct bag_user *u, uint32_t host, const uint8_t *bytes, size_t size,
                            uint64_t now_us)
{
    struct cursor c = cursor_reader(bytes, size);
    struct bag_answer a;
    bag_answer_get(&c, &a);
    if (!cursor_ok(&c))
        return "no answer";
    if (host != u->tie.holder || a.bag != u->bag || u->tie.state == BAG_SEEKING)
        return NULL;
    if (a.flags & BAG_REFUSED) {
        u->error = a.error;
        seek(u, now_us);
        return NULL;
    }
    if (a.flags & BAG_WELCOME) {
        u->tie.term = a.term;
        u->tie.state = BAG_OPEN;
        u->tie.pause_us = 0;
        if (a.acked > u->queue.sent)
            u->error = ERROR_EPROTO;
    }
    if (u->tie.state != BAG_OPEN || a.term != u->tie.term)
        return NULL;
    if (a.error != 0)
        u->error = a.error;
    /* Those that are safe. */
    uint64_t acked = a.acked;
    for (; u->queue.acked < acked && u->queue.first != NULL && u->queue.acked < u->queue.sent;
         u->queue.acked++)
        queued_drop(u);
    u->flags |= a.flags & (BAG_COMPLETE | BAG_DRAINED);
    uint64_t first = a.first;
    u->rest.records.used = a.flags & BAG_SAVED ? 0 : u->rest.records.used;
    for (struct bag_record r; cursor_left(&c) > 0;) {
        bag_record_get(&c, &r);
        if (!cursor_ok(&c))
            return "a record makes no sense";
        if (a.flags & BAG_SAVED)
            bag_parcel_add(&u->rest.records, &r);
        if (!on_record(u, &r, &first)) {
            seek(u, now_us); /* no memory: it is sent again when this begins anew */
            return NULL;
        }
    }
    if (a.flags & BAG_SAVED && u->rest.records.failed)
        u->error = ERROR_ENOMEM;
    u->rest.come |= (a.flags & BAG_SAVED) != 0;
    return NULL;
}

/* ---- requests ---- */

static void held_put(struct cursor *c, const struct bag_things *list)
{
    for (const struct bag_thing *t = list->first; t != NULL; t = t->next) {
        cursor_put_u64(c, t->number);
        cursor_put_u32(c, t->term);
    }
}

static void head_put(struct bag_user *u, bool hello, uint64_t now_us)
{
    uint8_t left = u->pace.end_us != 0 ? BAG_LEFT : 0;
    uint64_t left_ms = u->pace.end_us > now_us ? (u->pace.end_us - now_us) / 1000 : 0;
    struct cursor c = bag_parcel_room(&u->out, left ? BAG_REQUEST_BYTES_MAX : BAG_REQUEST_BYTES);
    bag_request_put(&c, &(struct bag_request){.bag = u->bag,
                                              .handle = u->handle,
                                              .term = hello ? 0 : u->tie.term,
                                              .flags = (hello ? BAG_HELLO : 0) | left,
                                              .weight = u->weight,
                                              .hold = u->hold,
                                              .want = u->want,
                                              .number = u->queue.sent + 1,
                                              .taken = u->taken,
                                              .received = u->received,
                                              .left_ms = left_ms < UINT32_MAX ? (uint32_t)left_ms
                                                                              : UINT32_MAX});
}

static void records_put(struct bag_user *u)
{
    for (struct bag_queued *q = u->queue.unsent; q != NULL; q = q->next) {
        struct cursor c = bag_parcel_room(&u->out, q->size);
        cursor_put_bytes(&c, q->bytes, q->size);
        u->queue.sent++;
    }
    u->queue.unsent = NULL;
    u->queue.unsent_bytes = 0;
}

static void request_send(struct bag_user *u, bool hello, uint64_t now_us)
{
    const uint64_t sent = u->queue.sent;
    struct bag_queued *unsent = u->queue.unsent;
    const size_t unsent_bytes = u->queue.unsent_bytes;
    u->out.used = 0;
    u->out.failed = false;
    head_put(u, hello, now_us);
    if (hello) {
        size_t count = u->begun.count + u->fresh.count;
        struct cursor c = bag_parcel_room(&u->out, 4 + count * BAG_HELD_BYTES);
        cursor_put_u32(&c, (uint32_t)count);
        held_put(&c, &u->begun);
        held_put(&c, &u->fresh);
    }
    records_put(u);
    if (u->out.failed) { /* no memory: later */
        u->queue.sent = sent;
        u->queue.unsent = unsent;
        u->queue.unsent_bytes = unsent_bytes;
        return;
    }
    u->told_hold = u->hold;
    u->told_want = u->want;
    u->told_taken = u->taken;
    u->urgent = false;
    u->send(u->context, u->tie.holder, u->out.bytes, u->out.used);
}

static bool is_due(const struct bag_user *u)
{
    bool waits = u->queue.unsent != NULL &&
                 (u->queue.sent == u->queue.acked || u->queue.unsent_bytes >= REQUEST_BYTES);
    return u->urgent || waits;
}

uint64_t bag_user_step(struct bag_user *u, uint64_t now_us)
{
    if (u->error != 0)
        return UINT64_MAX;
    if (u->tie.state == BAG_GREETING && u->urgent)
        request_send(u, true, now_us);
    else if (u->tie.state == BAG_OPEN && is_due(u))
        request_send(u, false, now_us);
    if (u->tie.state == BAG_GREETING && now_us >= u->tie.asked_us + GREETING_US)
        seek(u, now_us);
    if (u->tie.state == BAG_SEEKING)
        return u->tie.seek_us;
    return u->tie.state == BAG_GREETING ? u->tie.asked_us + GREETING_US : UINT64_MAX;
}
