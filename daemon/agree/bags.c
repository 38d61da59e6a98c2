/*
 * Bags. The engines are proto/bag/bag_holder.c and proto/bag/bag_copy.c, one of either for each bag
 * that this host has a part in; which part is agreed on by all (proto/state/bag_place.c) and told
 * here by notices. What lies here between:
 *
 *   task --BAG--> the holder's daemon --BAG_LOG--> its backups
 *   task <--BAG_ANSWER-- it          <--BAG_LOG_ACK-- they
 *
 *   nothing --a log begins--> copy --notice--> holder
 *      ^                        |                 |
 *      +---- notice: no part in it, or the bag is no more
 *
 * The holder sees to it that there are backups while there are hosts. A copy counts when the VM has
 * agreed that it does; one whose holder dies before is forgotten.
 *
 * What the VM had agreed on may be lost, most of its voters having died at once. Then who holds a
 * bag says so again (BAG_ADOPT), and after a while whoever has a copy of one.
 */
#include "daemon/agree/bags.h"

#include <assert.h>
#include <stdlib.h>

#include "daemon/agree/services.h"
#include "daemon/post/reply.h"
#include "daemon/post/watch.h"
#include "daemon/table/budget.h"
#include "daemon/table/connection.h"
#include "lib/covey.h"
#include "proto/bag/bag_parts.h"
#include "proto/state/bag_place.h"
#include "proto/wire/grow.h"

#define PARTS_KEPT ((size_t)2 * BAG_PART_BYTES) /* bytes of what came of a sender */
#define FEED_BYTES ((size_t)4 << 20)            /* so many of a whole lie in a queue at once */
#define ADOPT_LATER_US 2000000u                 /* those that have copies wait for the holder */

struct kept {
    struct kept *next;
    struct daemon *daemon;
    uint64_t id;
    struct bag_place place;    /* as it was told last; epoch 0: never */
    struct bag_holder *holder; /* NULL: this is no more than a copy */
    struct bag_copy copy;
    bool dirty, ending, told; /* that it is full */
    size_t counted;           /* in budget.bags */
    uint64_t due_us, adopt_us;
    uint32_t *watched; /* tasks whose end is to be told, not yet asked for */
    size_t watched_count, watched_capacity;
};

struct bags {
    struct kept *first;
    struct bag_incoming *incoming;
    struct bag_outgoing outgoing;
    bool full; /* those who have the bags that are copied here were told so */
};

static void kept_free(struct kept *k)
{
    bag_holder_destroy(k->holder);
    bag_destroy(k->copy.bag);
    free(k->watched);
    free(k);
}

static void bags_destroy(struct daemon *d)
{
    struct bags *bags = d->own.bags;
    while (bags->first != NULL) {
        struct kept *k = bags->first;
        bags->first = k->next;
        kept_free(k);
    }
    bag_incoming_fini(&bags->incoming);
    bag_outgoing_fini(&bags->outgoing);
}

bool bags_any(const struct daemon *d)
{
    return d->own.bags->first != NULL;
}

static struct kept *kept_find(const struct daemon *d, uint64_t id)
{
    struct kept *k = d->own.bags->first;
    while (k != NULL && k->id != id)
        k = k->next;
    return k;
}

static struct kept *kept_add(struct daemon *d, uint64_t id)
{
    struct kept *k = calloc(1, sizeof *k);
    if (k == NULL)
        return NULL;
    *k = (struct kept){.next = d->own.bags->first, .daemon = d, .id = id, .adopt_us = UINT64_MAX};
    d->own.bags->first = k;
    return k;
}

/* What it takes has changed. */
static void kept_count(struct kept *k)
{
    size_t bytes = sizeof *k + (k->holder != NULL ? bag_holder_memory(k->holder) : 0) +
                   (k->copy.bag != NULL ? bag_memory(k->copy.bag) : 0);
    k->daemon->budget.bags += bytes - k->counted;
    k->counted = bytes;
}

static void kept_drop(struct daemon *d, struct kept *k)
{
    assert(d->budget.bags >= k->counted);
    d->budget.bags -= k->counted;
    struct kept **at = &d->own.bags->first;
    while (*at != k) {
        assert(*at != NULL);
        at = &(*at)->next;
    }
    *at = k->next;
    kept_free(k);
}

/* It is to be looked at in this round. */
static void touch(struct kept *k)
{
    k->dirty = true;
    part_want(k->daemon, PART_bags);
    loop_wake(k->daemon->loop);
}

/* ---- parts ---- */

/* Bytes that lie in the queue for a task or host. */
static size_t queued_for(const struct daemon *d, uint32_t tid)
{
    const struct task *task = task_find(d->tasks, tid);
    if (tid_host(tid) != daemon_host(d))
        return node_queued(d->node, tid_host(tid));
    return task != NULL ? connection_queued(task) : 0;
}

static void part_send(struct daemon *d, uint8_t kind, uint32_t to, const uint8_t *part, size_t size)
{
    const struct frame frame = {
        .kind = kind, .source = daemon_tid(d), .destination = to, .length = (uint32_t)size};
    post_send(d, &frame, part);
}

static bool part_fits(void *context, uint8_t kind, uint32_t to, const uint8_t *part, size_t size)
{
    struct daemon *d = context;
    if (queued_for(d, to) > FEED_BYTES)
        return false;
    part_send(d, kind, to, part, size);
    return true;
}

/* Sends a whole to each of them; a large one in the rounds to come, so that the daemon is heard of
 * meanwhile. */
static void whole_send(struct daemon *d, uint8_t kind, const uint32_t *to, size_t count,
                       struct bag_parcel *whole)
{
    uint8_t part[BAG_PART_HEAD_BYTES + BAG_PART_BYTES];
    struct bag_outgoing *out = &d->own.bags->outgoing;
    bool later = whole->used > FEED_BYTES;
    for (size_t i = 0; i < count && !later; i++)
        later = bag_outgoing_to(out, to[i]) > 0;
    if (later && bag_outgoing_add(out, kind, to, count, whole)) {
        d->budget.outgoing = out->bytes;
        part_want(d, PART_bags);
        loop_wake(d->loop);
        return;
    }
    for (size_t i = 0; i < count; i++)
        for (size_t at = 0; at < whole->used;) {
            size_t size = bag_part_put(part, whole->bytes, whole->used, &at);
            part_send(d, kind, to[i], part, size);
        }
}

/* What was sent may have left by the next round; what was not waits for a queue, whose going down
 * makes a round. */
static void wholes_go_on(struct daemon *d)
{
    struct bag_outgoing *out = &d->own.bags->outgoing;
    if (out->first == NULL)
        return;
    bool sent = bag_outgoing_send(out, part_fits, d);
    d->budget.outgoing = out->bytes;
    if (out->first == NULL)
        return;
    part_want(d, PART_bags);
    if (sent)
        loop_wake(d->loop);
}

/* ---- what a holder asks for ---- */

static void on_holder_answer(void *context, uint32_t task, struct bag_parcel *whole)
{
    const struct kept *k = context;
    whole_send(k->daemon, FRAME_BAG_ANSWER, &task, 1, whole);
}

static void on_log_out(void *context, const uint32_t *hosts, size_t count, struct bag_parcel *whole)
{
    const struct kept *k = context;
    uint32_t to[BAG_BACKUPS_MAX];
    assert(count <= BAG_BACKUPS_MAX);
    for (size_t i = 0; i < count; i++)
        to[i] = tid_make(hosts[i], 0);
    whole_send(k->daemon, FRAME_BAG_LOG, to, count, whole);
}

static void bags_propose(struct daemon *d, uint8_t kind, const uint8_t *body,
                         const struct cursor *c)
{
    services_propose(d,
                     &(struct command){.kind = kind, .body = body, .size = (size_t)(c->at - body)});
}

static void on_backups(void *context, const uint32_t *hosts, size_t count)
{
    const struct kept *k = context;
    uint8_t body[9 + 4 * BAG_BACKUPS_MAX];
    struct cursor c = cursor_writer(body, sizeof body);
    cursor_put_u64(&c, k->id);
    cursor_put_u8(&c, (uint8_t)count);
    for (size_t i = 0; i < count; i++)
        cursor_put_u32(&c, hosts[i]);
    bags_propose(k->daemon, COMMAND_BAG_BACKUPS, body, &c);
}

/* Its end may be told at once, so it is asked for outside of the engine. */
static void on_watch(void *context, uint32_t task)
{
    struct kept *k = context;
    if (GROW(k->watched, k->watched_capacity, k->watched_count + 1, 8))
        k->watched[k->watched_count++] = task;
}

static const struct bag_holder_owner owner_calls = {
    .answer = on_holder_answer, .log = on_log_out, .propose = on_backups, .watch = on_watch};

/* ---- who has which part ---- */

static void remove_propose(struct daemon *d, uint64_t id)
{
    uint8_t body[8];
    struct cursor c = cursor_writer(body, sizeof body);
    cursor_put_u64(&c, id);
    bags_propose(d, COMMAND_BAG_REMOVE, body, &c);
}

/* The copy, or an empty bag that is new, becomes the bag. */
static void holder_begin(struct daemon *d, struct kept *k)
{
    const struct bag_place *p = &k->place;
    struct bag_holder_owner owner = owner_calls;
    struct bag *bag = bag_copy_give_up(&k->copy);
    owner.context = k;
    if (bag == NULL && p->epoch == 1)
        bag = bag_create(&p->params);
    if (bag != NULL)
        k->holder = bag_holder_create(k->id, p->epoch, bag, p->backups, p->count, &owner);
    if (k->holder == NULL) {
        log_line(&d->log, LOG_ERROR, "bag %s is lost: no copy or no memory here", p->params.name);
        remove_propose(d, k->id);
        return;
    }
    log_line(&d->log, LOG_INFO, "bag %s is held here from epoch %u on", p->params.name, p->epoch);
}

static void log_ack_send(struct daemon *d, uint32_t host, const struct bag_log *ack)
{
    uint8_t bytes[BAG_LOG_BYTES];
    struct cursor c = cursor_writer(bytes, sizeof bytes);
    bag_log_put(&c, ack);
    post_send_payload(d, FRAME_BAG_LOG_ACK, tid_make(host, 0), bytes, &c);
}

static bool is_backup(const struct bag_place *p, uint32_t host)
{
    for (size_t i = 0; i < p->count; i++)
        if (p->backups[i] == host)
            return true;
    return false;
}

static void place_take(struct daemon *d, const struct bag_place *p)
{
    struct kept *k = kept_find(d, p->bag);
    bool part = p->holder != 0 && (p->holder == daemon_host(d) || is_backup(p, daemon_host(d)));
    if (k != NULL && p->epoch < k->place.epoch)
        return;
    if (k == NULL && part)
        k = kept_add(d, p->bag);
    if (k == NULL)
        return;
    k->place = *p;
    k->adopt_us = UINT64_MAX;
    touch(k);
    if (p->holder == 0 && k->holder != NULL)
        bag_holder_dismiss(k->holder);
    if (!part) {
        kept_drop(d, k);
        return;
    }
    if (p->holder == daemon_host(d)) {
        if (k->holder == NULL)
            holder_begin(d, k);
        else
            bag_holder_agreed(k->holder, k->place.backups, k->place.count);
    } else {
        bag_holder_destroy(k->holder);
        k->holder = NULL;
        if (k->copy.bag == NULL || k->copy.holder != k->place.holder)
            log_ack_send(d, k->place.holder,
                         &(struct bag_log){.bag = k->id, .flags = BAG_LOG_REFUSED});
    }
    kept_count(k);
}

void bags_on_notice(struct daemon *d, const struct event *event)
{
    struct bag_place p;
    struct cursor c = cursor_reader(event->body, event->size);
    bag_place_get(&c, &p);
    if (event->request == NOTICE_BAG && cursor_done(&c))
        place_take(d, &p);
}

static void adopt_propose(struct kept *k)
{
    uint8_t body[12 + BAG_PARAMS_BYTES_MAX];
    struct cursor c = cursor_writer(body, sizeof body);
    cursor_put_u64(&c, k->id);
    cursor_put_u32(&c, k->place.epoch);
    bag_params_put(&c, &k->place.params);
    k->adopt_us = UINT64_MAX;
    bags_propose(k->daemon, COMMAND_BAG_ADOPT, body, &c);
}

void bags_state_lost(struct daemon *d)
{
    for (struct kept *k = d->own.bags->first; k != NULL; k = k->next) {
        if (k->holder != NULL)
            adopt_propose(k);
        else if (k->place.epoch > 0 && k->copy.bag != NULL)
            k->adopt_us = loop_now_us() + ADOPT_LATER_US;
        touch(k);
    }
}

/* ---- room ---- */

/* More must not be put into bags of which there is a copy here. */
static bool is_full(const struct daemon *d)
{
    return budget_for_puts(d) == 0;
}

static void holder_allow(struct daemon *d, struct kept *k)
{
    bag_holder_allow(k->holder, budget_for_puts(d), budget_for_results(d));
    bool waits = bag_holder_waits(k->holder);
    if (waits && !k->told)
        log_line(&d->log, LOG_ERROR,
                 "bag %s: results wait until others are taken: `memory' in covey.conf of %s allows "
                 "no more",
                 k->place.params.name, d->self.name);
    k->told = waits;
}

/* ---- frames ---- */

static void request_refuse(struct daemon *d, uint32_t task, const struct bag_request *r,
                           int32_t error)
{
    struct bag_parcel whole = {.bytes = NULL};
    struct cursor c = bag_parcel_room(&whole, BAG_ANSWER_BYTES);
    bag_answer_put(&c,
                   &(struct bag_answer){
                       .bag = r->bag, .handle = r->handle, .error = error, .flags = BAG_REFUSED});
    if (!whole.failed)
        whole_send(d, FRAME_BAG_ANSWER, &task, 1, &whole);
    bag_parcel_fini(&whole);
}

/* Answers to that task wait, more than it reads: it is to ask again later. */
static bool way_is_full(const struct daemon *d, uint32_t tid)
{
    return queued_for(d, tid) + bag_outgoing_to(&d->own.bags->outgoing, tid) > CONNECTION_QUEUE_MAX;
}

static bool is_of_task(uint32_t source, uint32_t tid)
{
    return source == tid;
}

static void incoming_drop(struct daemon *d, bool (*is)(uint32_t source, uint32_t value),
                          uint32_t value)
{
    bag_incoming_drop(&d->own.bags->incoming, is, value);
    d->budget.incoming = bag_incoming_all(d->own.bags->incoming);
}

/* The next part of what a sender sends, as bag_incoming_take(). */
static const struct bag_parcel *parts_take(struct daemon *d, uint32_t source,
                                           struct cursor *payload, const char **refused)
{
    size_t before = bag_incoming_bytes(d->own.bags->incoming, source);
    const struct bag_parcel *whole =
        bag_incoming_take(&d->own.bags->incoming, source, payload, refused);
    d->budget.incoming += bag_incoming_bytes(d->own.bags->incoming, source) - before;
    return whole;
}

/* The whole of that sender was read; memory is kept for a small one alone. */
static void parts_forget(struct daemon *d, uint32_t source)
{
    if (bag_incoming_bytes(d->own.bags->incoming, source) > PARTS_KEPT)
        incoming_drop(d, is_of_task, source);
}

/* A large request is not taken when such ones fill their share: it is to come again, or to be
 * smaller. Whether there is room for the part. */
static bool request_fits(struct daemon *d, uint32_t source, const struct cursor *payload)
{
    struct bag_request r;
    struct cursor c = bag_incoming_head(d->own.bags->incoming, source);
    bool first = cursor_left(payload) > 0 && (payload->at[0] & BAG_PART_FIRST) != 0;
    size_t size = (first ? 0 : cursor_left(&c)) + cursor_left(payload);
    size_t most = budget_for_requests(d);
    size_t others = d->budget.incoming - bag_incoming_bytes(d->own.bags->incoming, source);
    if (size <= PARTS_KEPT || size + others <= most)
        return true;
    bag_request_get(&c, &r);
    if (cursor_ok(&c))
        request_refuse(d, source, &r, size > most ? COVEY_ERESOURCE : 0);
    incoming_drop(d, is_of_task, source);
    return false;
}

static const char *request_take(struct daemon *d, uint32_t source, const struct bag_parcel *whole)
{
    struct bag_request r;
    struct cursor c = cursor_reader(whole->bytes, whole->used);
    bag_request_get(&c, &r);
    if (!cursor_ok(&c))
        return "bad payload";
    struct kept *k = kept_find(d, r.bag);
    if (k == NULL || k->holder == NULL || way_is_full(d, source)) {
        request_refuse(d, source, &r, 0);
        return NULL;
    }
    touch(k);
    holder_allow(d, k);
    const char *refused =
        bag_holder_request(k->holder, source, whole->bytes, whole->used, loop_now_us());
    kept_count(k);
    return refused;
}

static const char *bags_on_request(struct daemon *d, uint32_t source, struct cursor *payload)
{
    const char *refused = NULL;
    const struct bag_parcel *whole = NULL;
    if (request_fits(d, source, payload))
        whole = parts_take(d, source, payload, &refused);
    if (whole == NULL)
        return refused;
    refused = request_take(d, source, whole);
    parts_forget(d, source);
    return refused;
}

static const char *log_take(struct daemon *d, uint32_t source, const struct bag_parcel *whole)
{
    struct bag_log log, ack;
    struct cursor c = cursor_reader(whole->bytes, whole->used);
    bag_log_get(&c, &log);
    if (!cursor_ok(&c))
        return "bad payload";
    services_enter(d); /* a copy that begins needs a session, by which its host's end is known */
    struct kept *k = kept_find(d, log.bag);
    if (k == NULL)
        k = kept_add(d, log.bag);
    if (k == NULL || k->holder != NULL)
        return k == NULL ? "memory is exhausted" : NULL; /* of one that holds it no more */
    if (k->place.epoch > 0 && k->place.holder != tid_host(source))
        return NULL;
    bool taken = bag_copy_take(&k->copy, tid_host(source), whole->bytes, whole->used, &ack);
    kept_count(k);
    if (taken) {
        ack.flags |= is_full(d) ? BAG_LOG_FULL : 0;
        log_ack_send(d, tid_host(source), &ack);
    }
    return NULL;
}

static const char *bags_on_log(struct daemon *d, uint32_t source, struct cursor *payload)
{
    const char *refused;
    const struct bag_parcel *whole = parts_take(d, source, payload, &refused);
    if (whole == NULL)
        return refused;
    refused = log_take(d, source, whole);
    parts_forget(d, source);
    return refused;
}

static const char *bags_on_log_ack(struct daemon *d, uint32_t source, struct cursor *payload)
{
    struct bag_log ack;
    bag_log_get(payload, &ack);
    if (!cursor_done(payload))
        return "bad payload";
    struct kept *k = kept_find(d, ack.bag);
    if (k != NULL && k->holder != NULL) {
        bag_holder_log_ack(k->holder, tid_host(source), &ack);
        touch(k);
    }
    return NULL;
}

static const char *bags_on_look(struct daemon *d, uint32_t source, struct cursor *payload)
{
    uint32_t request = cursor_get_u32(payload);
    uint64_t id = cursor_get_u64(payload);
    if (!cursor_done(payload))
        return "bad payload";
    const struct kept *k = kept_find(d, id);
    if (k == NULL || k->holder == NULL) {
        reply_error(d, source, request, COVEY_ENOENT, "the bag is not held there");
        return NULL;
    }
    const struct bag *bag = bag_holder_bag(k->holder);
    size_t members = 0;
    for (const struct bag_member *m = bag->members; m != NULL; m = m->next)
        members++;
    struct reply reply;
    reply_begin(&reply, d, source, request);
    struct cursor c = reply_room(&reply, BAG_LOOK_BYTES);
    const struct bag_counters *n = &bag->counters;
    const uint64_t values[] = {bag->ready_count, bag->leased_count, bag->results.count, n->put,
                               n->done,          n->given,          n->set_aside,       n->leased,
                               n->retried,       n->duplicated,     n->expired,         members,
                               bag->bytes,       bag->closed};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        cursor_put_u64(&c, values[i]);
    reply_add(&reply, &c);
    reply_send(&reply, 0);
    return NULL;
}

/* ---- ends ---- */

static bool is_of_host(uint32_t source, uint32_t host)
{
    return tid_host(source) == host;
}

static void bags_task_gone(struct daemon *d, const struct control_gone *gone,
                           const struct task *own)
{
    (void)own;
    bool in_order = gone->kind == COVEY_EXIT_STATUS && gone->value == 0;
    bool died = !in_order && gone->kind != COVEY_EXIT_HOST;
    incoming_drop(d, is_of_task, gone->tid);
    for (struct kept *k = d->own.bags->first; k != NULL; k = k->next) {
        if (k->holder == NULL)
            continue;
        bag_holder_task_gone(k->holder, gone->tid, died);
        touch(k);
    }
}

static void bags_host_gone(struct daemon *d, uint32_t host)
{
    incoming_drop(d, is_of_host, host);
    for (struct kept *k = d->own.bags->first, *next; k != NULL; k = next) {
        next = k->next;
        if (k->holder != NULL)
            bag_holder_host_gone(k->holder, host);
        touch(k);
        if (k->holder == NULL && k->place.epoch == 0 && k->copy.holder == host)
            kept_drop(d, k); /* a copy of which the VM knows nothing */
    }
}

static void bags_host_event(struct daemon *d, const struct host *host, int event)
{
    if (event == NODE_HOST_GONE)
        bags_host_gone(d, host->index);
    for (struct kept *k = d->own.bags->first; k != NULL && event == NODE_HOST_ADDED; k = k->next)
        touch(k); /* it can have a copy */
}

/* ---- a round ---- */

/* The next host behind this one, in the order of their numbers, that can have a copy; 0: none. */
static uint32_t next_backup(const struct daemon *d, const struct bag_holder *holder)
{
    uint32_t self = daemon_host(d), best = 0, best_distance = UINT32_MAX;
    const struct host *host;
    for (size_t i = 0; (host = node_host_at(d->node, i)) != NULL; i++) {
        uint32_t distance = (host->index - self) & HOST_INDEX_MAX;
        bool fit = host->state == HOST_UP && host->index != self &&
                   !bag_holder_has_backup(holder, host->index);
        if (fit && distance < best_distance) {
            best_distance = distance;
            best = host->index;
        }
    }
    return best;
}

static void watches_ask(struct daemon *d, struct kept *k)
{
    while (k->watched_count > 0) {
        uint32_t task = k->watched[--k->watched_count];
        if (tid_host(task) != daemon_host(d))
            watch_start(d, task);
        else if (task_find(d->tasks, task) == NULL)
            bag_holder_task_gone(k->holder, task, true);
    }
}

static uint64_t kept_settle(struct daemon *d, struct kept *k, uint64_t now_us)
{
    bool due =
        k->dirty || now_us >= k->due_us || (k->holder != NULL && bag_holder_waits(k->holder));
    k->dirty = false;
    if (now_us >= k->adopt_us)
        adopt_propose(k);
    if (k->holder == NULL)
        return k->adopt_us;
    if (due) {
        uint32_t host;
        watches_ask(d, k);
        while (bag_holder_backups(k->holder) < k->place.params.copies &&
               (host = next_backup(d, k->holder)) != 0)
            bag_holder_copy_to(k->holder, host);
        holder_allow(d, k);
        k->due_us = bag_holder_step(k->holder, now_us);
        if (bag_holder_is_over(k->holder) && !k->ending) {
            k->ending = true;
            remove_propose(d, k->id);
        }
        kept_count(k);
    }
    return k->due_us < k->adopt_us ? k->due_us : k->adopt_us;
}

/* Says what is to be said. A holder whose results wait for room is stepped in each round. */
static uint64_t bags_settle(struct daemon *d, uint64_t now_us)
{
    uint64_t due_us = UINT64_MAX;
    wholes_go_on(d);
    for (struct kept *k = d->own.bags->first; k != NULL; k = k->next) {
        uint64_t at_us = kept_settle(d, k, now_us);
        due_us = at_us < due_us ? at_us : due_us;
        if (k->holder != NULL && bag_holder_waits(k->holder))
            part_want(d, PART_bags);
    }
    /* Who has a bag that is copied here hears whether there is room for more. */
    if (d->own.bags->full != is_full(d)) {
        d->own.bags->full = !d->own.bags->full;
        for (struct kept *k = d->own.bags->first; k != NULL; k = k->next)
            if (k->copy.bag != NULL)
                log_ack_send(d, k->copy.holder,
                             &(struct bag_log){.bag = k->id,
                                               .epoch = k->copy.term,
                                               .flags = d->own.bags->full ? BAG_LOG_FULL : 0,
                                               .position = k->copy.position});
    }
    return due_us;
}

const struct part bags_part = {
    .name = "bags",
    .kinds = (const struct part_kind[]){{FRAME_BAG, bags_on_request, false},
                                        {FRAME_BAG_LOG, bags_on_log, false},
                                        {FRAME_BAG_LOG_ACK, bags_on_log_ack, false},
                                        {FRAME_BAG_LOOK, bags_on_look, true},
                                        {0}},
    .state_bytes = sizeof(struct bags),
    .destroy = bags_destroy,
    .settle = bags_settle,
    .task_gone = bags_task_gone,
    .host_event = bags_host_event};
