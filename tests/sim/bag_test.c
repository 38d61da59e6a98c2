/* links: proto/bag/bag.c proto/bag/bag_answer.c proto/bag/bag_backup.c proto/bag/bag_copy.c proto/bag/bag_holder.c proto/bag/bag_lease.c proto/bag/bag_parts.c proto/state/bag_place.c proto/bag/bag_queue.c proto/bag/bag_save.c proto/bag/bag_file.c proto/bag/bag_share.c proto/bag/bag_user.c proto/bag/bag_wire.c proto/wire/names.c proto/wire/cursor.c */
/*
 * bag_test.c - bags under faults: the holder, its backups, the tasks that put, work and collect,
 * and the VM that agrees on who holds the bag (proto/state/bag_place.c itself), under one virtual
 * clock and one seed. What goes from one end to another arrives in order, after a random time, and
 * not at all when an end dies. Hosts die, tasks die, workers hang, requests come twice, some items
 * kill who takes them.
 *
 * At every step: no result is delivered twice, none is wrong, what the holder counts is what it
 * has. In the end: each item has its one result, or is set aside if it kills. 300 seeds; SOAK=1:
 * 10,000. SEED=n replays one.
 *
 * A second story has the bag saved in the midst of it, and loaded into another VM, up to three
 * times, under the same faults: who saves or loads dies, or gives up, the holder dies while the bag
 * is frozen or ends. Before it is saved those who collect leave, or die. Each result is delivered
 * once in all these VMs together. 1500 seeds; SOAK=1: 20,000.
 */
#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/bag/bag_file.h"
#include "proto/bag/bag_user.h"
#include "proto/state/bag_place.h"
#include "proto/state/state_engine.h"
#include "proto/wire/error.h"
#include "tests/unit/runner.h"

enum {
    HOSTS = 6, /* the first one, of those who put and collect, does not die */
    TASKS = 400,
    WORKERS = 6,
    ITEMS_MAX = 60,
    GOT_MAX = 4 * ITEMS_MAX,
    EVENTS_MAX = 4096,
    WIRES = 512,
    ITEM_BYTES_MAX = 20000, /* of several classes of sizes */
    DETECT_US = 20000,
    DEATHS_MAX = 30, /* of workers at an item that kills none: by chance */
    SURE_US = 1000000,
    LEAVE_US = 300000, /* who collects leaves within that time, or is ended */
    NO_BAG = 255,      /* of FOUND */
    END_US = 120000000
};

enum what {
    REQUEST,
    ANSWER,
    LOG,
    LOG_ACK,
    COMMAND,
    NOTICE,
    FIND,
    FOUND,
    HOST_LOST,
    TASK_LOST,
    WAKE
};

/* Of TASK_LOST: the end is the task's own, or that of its host, which is not known yet or is. */
enum whose { NOT_YET, OF_TASK, OF_HOST };

struct arrival {
    enum what what;
    uint64_t at_us, order;
    uint32_t from, to; /* tids or hosts */
    uint8_t *bytes;
    size_t size;
    uint8_t kind;
};

enum role { NONE, PUTTER, WORKER, COLLECTOR, SAVER, LOADER };

struct task {
    enum role role;
    uint32_t tid;
    bool alive, finding, said_close;
    struct bag_user user;
    struct bag_thing *item; /* it works on */
    uint64_t done_us, wake_us;
    bool hangs;
    uint32_t next, last;                     /* putter: items; */
    uint32_t got[GOT_MAX], got_count;        /* collector: results, */
    uint64_t confirmed_us[GOT_MAX];          /* and when it asked for the next ones */
    enum fate { ENDS, GIVES_UP, DIES } fate; /* saver: when it has what is left */
    bool begun, said_last;                   /* saver, loader: it froze the bag; said its last */
    bool left;                               /* collector: all know that it is there no more */
};

struct host {
    bool alive;
    struct bag_place place;
    struct bag_holder *holder;
    struct bag_copy copy;
    uint64_t due_us;
    bool ending; /* it has asked for the end of the bag */
};

/* What one life leaves to the next, in another VM. */
struct keeping {
    bool on;
    int saves_left;         /* so many times it is saved from now on */
    uint64_t leave_us;      /* those who collect leave then; UINT64_MAX: not before its end */
    bool leaving, said_end; /* they do; it was told to end */
    bool mixed;             /* what one had who died may come behind what others got */
    bool lost;              /* this life is over: the bag was not loaded whole */
    struct bag_parcel rest; /* the file */
    struct bag_file file;   /* and what is in it */
    uint64_t saves, thaws, losses;
};

static struct world {
    uint64_t seed, now_us, order;
    struct arrival events[EVENTS_MAX];
    size_t event_count;
    uint64_t wires[WIRES]; /* when the last thing on it arrives */
    struct host hosts[HOSTS + 1];
    struct task tasks[TASKS];
    uint32_t task_count;
    uint32_t items, killers;
    uint32_t delivered[ITEMS_MAX], again[ITEMS_MAX];
    bool kills[ITEMS_MAX];
    void *places;
    bool in_order;
    int64_t last_number;
    uint64_t steps, takeovers;
    bool failed;
    struct keeping keep;
} w;

static void fail(const char *why, uint64_t number)
{
    if (!w.failed)
        printf("seed %llu, %llu us: %s (%llu)\n", (unsigned long long)w.seed,
               (unsigned long long)w.now_us, why, (unsigned long long)number);
    w.failed = true;
}

/* ---- chance ---- */

static uint64_t random_state;

static uint64_t chance(uint64_t below)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return below == 0 ? 0 : random_state % below;
}

/* ---- what is under way ---- */

static uint64_t *wire(uint32_t from, uint32_t to)
{
    return &w.wires[(from * 31 + to * 17 + (from >> TID_LOCAL_BITS) * 7) % WIRES];
}

static void later(enum what what, uint8_t kind, uint32_t from, uint32_t to, const void *bytes,
                  size_t size, uint64_t after_us)
{
    uint64_t at_us = w.now_us + after_us, *last_us = wire(from, to);
    if (w.event_count == EVENTS_MAX) {
        fail("too much under way", w.event_count);
        return;
    }
    if (at_us < *last_us)
        at_us = *last_us;
    *last_us = at_us;
    struct arrival e = {
        .what = what, .kind = kind, .at_us = at_us, .order = w.order++, .from = from, .to = to};
    e.size = size;
    e.bytes = malloc(size + 1);
    if (size > 0)
        memcpy(e.bytes, bytes, size);
    w.events[w.event_count++] = e;
}

static void soon(enum what what, uint8_t kind, uint32_t from, uint32_t to, const void *bytes,
                 size_t size)
{
    later(what, kind, from, to, bytes, size, 50 + chance(2000));
}

static struct arrival next_event(void)
{
    size_t best = 0;
    for (size_t i = 1; i < w.event_count; i++) {
        const struct arrival *a = &w.events[i], *b = &w.events[best];
        if (a->at_us < b->at_us || (a->at_us == b->at_us && a->order < b->order))
            best = i;
    }
    struct arrival e = w.events[best];
    w.events[best] = w.events[--w.event_count];
    return e;
}

static struct task *task_of(uint32_t tid)
{
    return &w.tasks[tid_local(tid) - 1];
}

static void command(uint32_t host, uint8_t kind, const void *body, size_t size)
{
    soon(COMMAND, kind, tid_make(host, 0), 0, body, size);
}

/* ---- what the engine of the agreed state asks for ---- */

void state_notice(struct state *state, uint32_t task, uint32_t about, const uint8_t *body,
                  size_t size)
{
    (void)state, (void)about;
    if (w.hosts[tid_host(task)].alive)
        soon(NOTICE, 0, 0, task, body, size);
}

void state_answer(struct state *state, const struct state_request *to, int32_t status,
                  const uint8_t *body, size_t size)
{
    (void)state, (void)to, (void)status, (void)body, (void)size;
}

uint64_t state_fence(struct state *state)
{
    (void)state;
    return 77;
}

bool state_reaches_host(const struct state *state, uint32_t host)
{
    (void)state;
    return w.hosts[host].alive;
}

void state_exhausted(struct state *state)
{
    (void)state;
    fail("no memory", 0);
}

static bool agreed_place(struct bag_place *place)
{
    uint8_t bytes[256];
    struct cursor c = cursor_writer(bytes, sizeof bytes);
    bag_engine.save(w.places, &c);
    c = cursor_reader(bytes, (size_t)(c.at - bytes));
    if (cursor_get_u32(&c) == 0)
        return false;
    bag_place_get(&c, place);
    return cursor_ok(&c);
}

/* ---- a host ---- */

static uint32_t host_index(const struct host *h)
{
    return (uint32_t)(h - w.hosts);
}

static void on_answer(void *context, uint32_t task, struct bag_parcel *whole)
{
    soon(ANSWER, 0, tid_make(host_index(context), 0), task, whole->bytes, whole->used);
}

static void on_log(void *context, const uint32_t *hosts, size_t count, struct bag_parcel *whole)
{
    for (size_t i = 0; i < count; i++)
        soon(LOG, 0, tid_make(host_index(context), 0), tid_make(hosts[i], 0), whole->bytes,
             whole->used);
}

static void on_propose(void *context, const uint32_t *hosts, size_t count)
{
    uint8_t body[32];
    struct cursor c = cursor_writer(body, sizeof body);
    cursor_put_u64(&c, 77);
    cursor_put_u8(&c, (uint8_t)count);
    for (size_t i = 0; i < count; i++)
        cursor_put_u32(&c, hosts[i]);
    command(host_index(context), COMMAND_BAG_BACKUPS, body, (size_t)(c.at - body));
}

static void on_watch(void *context, uint32_t task)
{
    struct host *h = context;
    uint32_t to = tid_make(host_index(h), 0);
    if (task_of(task)->alive)
        return;
    if (w.hosts[tid_host(task)].alive)
        soon(TASK_LOST, OF_TASK, task, to, NULL, 0);
    else
        later(TASK_LOST, OF_HOST, task, to, NULL, 0, DETECT_US + chance(30000));
}

static const struct bag_holder_owner owner_calls = {
    .answer = on_answer, .log = on_log, .propose = on_propose, .watch = on_watch};

static void hold(struct host *h)
{
    struct bag_holder_owner owner = owner_calls;
    owner.context = h;
    struct bag *bag = bag_copy_give_up(&h->copy);
    if (bag == NULL && h->place.epoch == 1)
        bag = bag_create(&h->place.params);
    if (bag == NULL) {
        fail("a host without a copy holds the bag", host_index(h));
        return;
    }
    w.takeovers += h->place.epoch > 1;
    h->holder =
        bag_holder_create(77, h->place.epoch, bag, h->place.backups, h->place.count, &owner);
}

static void on_notice(struct host *h, const struct arrival *e)
{
    struct bag_place p;
    struct cursor c = cursor_reader(e->bytes, e->size);
    bag_place_get(&c, &p);
    if (p.epoch < h->place.epoch)
        return;
    h->place = p;
    if (p.holder == 0 && h->holder != NULL) { /* it has ended */
        bag_holder_dismiss(h->holder);
        bag_holder_destroy(h->holder);
        h->holder = NULL;
    }
    if (p.holder != host_index(h))
        return;
    if (h->holder == NULL)
        hold(h);
    else
        bag_holder_agreed(h->holder, p.backups, p.count);
}

static void on_log_in(struct host *h, const struct arrival *e)
{
    struct bag_log ack;
    uint8_t bytes[BAG_LOG_BYTES];
    struct cursor c = cursor_writer(bytes, sizeof bytes);
    bool old = h->place.epoch > 0 && h->place.holder != tid_host(e->from);
    if (h->holder != NULL || old ||
        !bag_copy_take(&h->copy, tid_host(e->from), e->bytes, e->size, &ack))
        return;
    bag_log_put(&c, &ack);
    soon(LOG_ACK, 0, e->to, e->from, bytes, sizeof bytes);
}

static void backups_seek(struct host *h)
{
    for (uint32_t i = 1; i <= HOSTS; i++) {
        uint32_t host = (host_index(h) + i - 1) % HOSTS + 1;
        if (w.hosts[host].alive && host != host_index(h) &&
            bag_holder_backups(h->holder) < BAG_BACKUPS_MAX)
            bag_holder_copy_to(h->holder, host);
    }
}

/* ---- what must be true of a bag at all times ---- */

static void bag_check(const struct bag *bag)
{
    size_t ready = 0, leased = 0, ended = 0, given = 0, lists = bag->results.count;
    uint64_t cost = 0;
    for (uint64_t n = bag->base; n < bag->next; n++) {
        const struct bag_item *item = bag_find(bag, n);
        if (item == NULL)
            continue;
        ready += item->state == BAG_IS_READY;
        leased += item->state == BAG_IS_LEASED;
        ended += item->state >= BAG_IS_DONE;
        cost += item->state < BAG_IS_DONE ? bag_cost(item->size) : 0;
        given += item->given;
        if ((item->state == BAG_IS_LEASED) != (item->leases != NULL))
            fail("leased and nobody has it, or the other way round", n);
        if (item->state == BAG_IS_READY && bag->holds && !item->queued)
            fail("ready and nobody will get it", n);
        if (item->copies > BAG_COPIES_MAX)
            fail("given too often", n);
    }
    for (const struct bag_member *m = bag->members; m != NULL; m = m->next)
        lists += m->given.count;
    if (cost != bag->open_cost)
        fail("what is open costs another sum", cost);
    if (ready != bag->ready_count || leased != bag->leased_count || ended != lists || given > ended)
        fail("its counts are not what it has", ready);
}

static void host_step(struct host *h)
{
    if (h->holder == NULL)
        return;
    backups_seek(h);
    h->due_us = bag_holder_step(h->holder, w.now_us);
    bag_check(bag_holder_bag(h->holder));
    if (bag_holder_is_over(h->holder) && !h->ending) {
        uint8_t body[8];
        struct cursor c = cursor_writer(body, sizeof body);
        cursor_put_u64(&c, 77);
        command(host_index(h), COMMAND_BAG_REMOVE, body, sizeof body);
        h->ending = true;
    }
}

/* ---- a task ---- */

static void on_send(void *context, uint32_t host, const uint8_t *bytes, size_t size)
{
    const struct task *t = context;
    soon(REQUEST, 0, t->tid, tid_make(host, 0), bytes, size);
    if (chance(10) == 0)
        soon(REQUEST, 0, t->tid, tid_make(host, 0), bytes, size);
}

static struct task *task_add(enum role role, uint32_t host)
{
    struct task *t = &w.tasks[w.task_count < TASKS ? w.task_count++ : 0];
    if (w.task_count == TASKS)
        fail("too many tasks", w.task_count);
    *t = (struct task){.role = role, .tid = tid_make(host, w.task_count), .alive = true};
    t->user.context = t;
    t->user.send = on_send;
    t->user.handle = 1;
    return t;
}

static uint32_t living_host(void)
{
    uint32_t host;
    do
        host = (uint32_t)chance(HOSTS) + 1;
    while (!w.hosts[host].alive);
    return host;
}

static void collectors_come(void)
{
    w.keep.leave_us = w.keep.saves_left > 0 ? w.now_us + 2000 + chance(40000) : UINT64_MAX;
    w.keep.leaving = false;
    task_add(COLLECTOR, 1);
    if (!w.in_order)
        task_add(COLLECTOR, 1);
}

static void task_end(struct task *t)
{
    if (!t->alive)
        return;
    t->alive = false;
    for (uint32_t i = 0; i < t->got_count; i++)
        if (w.now_us < t->confirmed_us[i] + SURE_US)
            w.again[t->got[i]]++; /* the bag may not know that it took it */
    for (uint32_t i = 1; i <= HOSTS; i++)
        if (w.hosts[i].alive)
            soon(TASK_LOST, w.hosts[tid_host(t->tid)].alive ? OF_TASK : NOT_YET, t->tid,
                 tid_make(i, 0), NULL, 0);
    bag_user_fini(&t->user);
    if (t->role == WORKER && w.task_count < TASKS)
        task_add(WORKER, living_host());
    w.keep.mixed |= t->role == COLLECTOR && !t->left;
    if (t->role == COLLECTOR && w.keep.on && !w.keep.leaving)
        task_add(COLLECTOR, 1);
    if (t->role == SAVER) {
        w.keep.thaws++;
        collectors_come();
    }
    w.keep.lost |= t->role == LOADER;
}

static void put_some(struct task *t)
{
    for (uint64_t i = chance(5); i > 0 && t->next < t->last; i--) {
        uint8_t bytes[ITEM_BYTES_MAX] = {0};
        struct cursor c = cursor_writer(bytes, sizeof bytes);
        cursor_put_u32(&c, t->next++);
        bag_user_put(&t->user, w.in_order ? 0 : (int32_t)chance(3), bytes,
                     4 + (size_t)chance(sizeof bytes - 4));
    }
    t->wake_us = t->next < t->last ? w.now_us + chance(20000) : UINT64_MAX;
}

/* The last of those who put closes, when all that the others put is safe. */
static void close_if_last(struct task *t)
{
    for (uint32_t i = 0; i < w.task_count; i++) {
        const struct task *other = &w.tasks[i];
        if (other->role == PUTTER && (other->next < other->last || !bag_user_settled(&other->user)))
            return;
    }
    if (!t->said_close)
        bag_user_say(&t->user, BAG_CLOSE);
    t->said_close = true;
}

static uint32_t item_of(const struct bag_thing *thing)
{
    struct cursor c = cursor_reader(thing->bytes, thing->size);
    return cursor_get_u32(&c);
}

static void work_begin(struct task *t)
{
    bag_user_hunger(&t->user, 1);
    t->item = bag_user_begin(&t->user, w.now_us);
    if (t->item == NULL)
        return;
    uint32_t item = item_of(t->item);
    t->hangs = chance(40) == 0;
    t->done_us = w.now_us + (t->hangs ? 3000000 : chance(8) == 0 ? chance(60000) : chance(3000));
    if (item >= w.items)
        fail("an item that nobody put", item);
    else if (w.kills[item])
        task_end(t);
}

static void work_end(struct task *t)
{
    uint8_t bytes[4];
    struct cursor c = cursor_writer(bytes, sizeof bytes);
    cursor_put_u32(&c, item_of(t->item) * 2 + 1);
    if (chance(30) == 0)
        bag_user_return(&t->user, t->item);
    else
        bag_user_done(&t->user, t->item, bytes, sizeof bytes, w.now_us);
    t->item = NULL;
}

static void work(struct task *t)
{
    if (t->item != NULL && w.now_us >= t->done_us)
        work_end(t);
    if (t->item == NULL)
        work_begin(t);
    t->wake_us = t->alive && t->item != NULL ? t->done_us : UINT64_MAX;
}

static void order_check(const struct bag_thing *r)
{
    if (w.in_order && !w.keep.mixed && (int64_t)r->number <= w.last_number)
        fail("a result out of order", r->number);
    w.last_number = (int64_t)r->number;
}

static void delivered(struct task *t, const struct bag_thing *r)
{
    struct cursor c = cursor_reader(r->bytes, r->size);
    uint32_t value = cursor_get_u32(&c), item = r->flag == BAG_SET_ASIDE ? value : value / 2;
    bool whole = r->flag == BAG_SET_ASIDE ? r->size >= 4 : r->size == 4;
    if (!whole || item >= w.items || (r->flag != BAG_SET_ASIDE && value % 2 == 0)) {
        fail("a wrong result", value);
        return;
    }
    if (w.kills[item] != (r->flag == BAG_SET_ASIDE))
        fail("set aside and innocent, or the other way round", item);
    if (++w.delivered[item] > 1 + w.again[item])
        fail("a result twice", item);
    order_check(r);
    t->confirmed_us[t->got_count] = END_US;
    t->got[t->got_count++] = item;
}

/* Whether those who are to have the bag know that it is attached. */
static bool is_member(const struct task *t)
{
    struct bag_place p;
    if (!agreed_place(&p) || w.hosts[p.holder].holder == NULL ||
        bag_member_find(bag_holder_bag(w.hosts[p.holder].holder), t->tid, 1) != NULL)
        return true;
    for (size_t i = 0; i < p.count; i++) {
        const struct bag *copy = w.hosts[p.backups[i]].copy.bag;
        if (copy == NULL || bag_member_find(copy, t->tid, 1) != NULL)
            return true;
    }
    return false;
}

/* A program that collects ends in order, and the next one is begun when all know that; or it is
 * killed. */
static void leave(struct task *t)
{
    bool late = w.now_us >= w.keep.leave_us + LEAVE_US;
    t->wake_us = w.now_us + 1000;
    t->left = t->said_last && !is_member(t);
    if (t->left)
        t->got_count = 0;
    else if (!late && chance(40) != 0) {
        bag_user_confirm(&t->user);
        if (!t->said_last)
            bag_user_say(&t->user, BAG_BYE);
        t->said_last = true;
        return;
    }
    task_end(t);
}

static void saver_say(struct task *t, uint8_t kind, uint8_t flag)
{
    t->user.urgent = true;
    bag_user_record(&t->user, &(struct bag_record){.kind = kind, .flag = flag});
}

static void save(struct task *t)
{
    struct bag_user *u = &t->user;
    t->wake_us = UINT64_MAX;
    if (!t->begun) {
        w.keep.said_end = false;
        saver_say(t, BAG_FREEZE, BAG_FREEZE_SAVE);
    }
    t->begun = true;
    if (!u->rest.come || (t->said_last && t->fate != GIVES_UP))
        return;
    if (t->done_us == 0) { /* writing the file takes its time */
        bag_parcel_fini(&w.keep.rest);
        w.keep.rest = u->rest.records;
        u->rest.records = (struct bag_parcel){.used = 0};
        t->done_us = w.now_us + chance(5000);
        t->fate = chance(4) == 0 ? DIES : chance(6) == 0 ? GIVES_UP : ENDS;
        if (!bag_file_records(w.keep.rest.bytes, w.keep.rest.used, &w.keep.file))
            fail("what is left makes no bag", w.keep.rest.used);
    }
    t->wake_us = t->done_us;
    if (w.now_us < t->done_us)
        return;
    t->wake_us = UINT64_MAX;
    if (t->fate == DIES || (t->said_last && bag_user_settled(u)))
        task_end(t);
    else if (!t->said_last)
        saver_say(t, t->fate == ENDS ? BAG_END : BAG_THAW, 0);
    t->said_last = true;
    w.keep.said_end = t->fate == ENDS;
}

/* The bag is there, but for those who are to use it: workers wait already. */
static void load_end(struct task *t)
{
    struct task *putter = task_add(PUTTER, 1);
    putter->next = (uint32_t)w.keep.file.counters.put;
    putter->last = w.items;
    putter->said_close = w.keep.file.closed;
    collectors_come();
    t->role = NONE;
    bag_user_say(&t->user, BAG_BYE);
}

static void load(struct task *t)
{
    struct cursor c = cursor_reader(w.keep.file.records, w.keep.file.size);
    t->wake_us = UINT64_MAX;
    if (!t->begun) {
        saver_say(t, BAG_FREEZE, BAG_FREEZE_LOAD);
        for (struct bag_record r; cursor_left(&c) > 0;) {
            bag_record_get(&c, &r);
            bag_user_record(&t->user, &r);
        }
        saver_say(t, BAG_THAW, 0);
    }
    t->begun = true;
    if (bag_user_settled(&t->user))
        load_end(t);
}

static void collect(struct task *t)
{
    const struct bag_thing *r;
    if (w.keep.leaving) {
        leave(t);
        return;
    }
    t->wake_us = w.now_us + 1 + chance(2000);
    if (chance(3) == 0)
        return; /* it is busy */
    bag_user_confirm(&t->user);
    for (uint32_t i = t->got_count; i > 0 && t->confirmed_us[i - 1] == END_US; i--)
        t->confirmed_us[i - 1] = w.now_us;
    bag_user_collect(&t->user, 4);
    for (uint64_t n = 1 + chance(3); n > 0 && (r = bag_user_result(&t->user)) != NULL; n--)
        delivered(t, r);
    t->wake_us = t->user.results.first != NULL || t->user.unconfirmed.first != NULL
                     ? w.now_us + 1 + chance(2000)
                     : UINT64_MAX;
}

static void task_act(struct task *t)
{
    if (t->role == PUTTER && w.now_us >= t->wake_us)
        put_some(t);
    if (t->role == PUTTER)
        close_if_last(t);
    if (t->role == WORKER)
        work(t);
    if (t->role == COLLECTOR)
        collect(t);
    if (t->role == SAVER)
        save(t);
    if (t->role == LOADER)
        load(t);
    else if (t->role == NONE)
        t->wake_us = UINT64_MAX;
}

/* Who uses a bag that has ended is told so: it is in the file. */
static bool has_ended(const struct task *t)
{
    struct bag_place p;
    return t->user.error == ERROR_ENOENT && !agreed_place(&p);
}

static void task_step(struct task *t)
{
    if (t->alive && t->user.error == 0)
        task_act(t);
    if (!t->alive)
        return;
    if (has_ended(t)) {
        t->wake_us = UINT64_MAX;
        return;
    }
    if (t->user.error != 0)
        fail("a call failed", (uint64_t)-t->user.error);
    uint64_t due_us = bag_user_step(&t->user, w.now_us);
    if (bag_user_seeks(&t->user, w.now_us) && !t->finding) {
        t->finding = true;
        soon(FIND, 0, t->tid, 0, NULL, 0);
    }
    if (due_us < t->wake_us && !t->finding)
        t->wake_us = due_us > w.now_us ? due_us : w.now_us + 1;
}

/* ---- deaths ---- */

/* Whether somebody who has all of it would be left. */
static bool may_die(uint32_t host)
{
    struct bag_place p;
    size_t left = 0;
    if (host == 1 || !w.hosts[host].alive || !agreed_place(&p))
        return false;
    left += p.holder != host && w.hosts[p.holder].alive;
    for (size_t i = 0; i < p.count; i++)
        left += p.backups[i] != host && w.hosts[p.backups[i]].alive;
    return left > 0;
}

/* What it sent to some did not leave it any more. */
static void cut_off(uint32_t host)
{
    uint64_t salt = chance(1 << 20);
    for (size_t i = 0; i < w.event_count; i++) {
        struct arrival *e = &w.events[i];
        bool lost = ((e->to * UINT64_C(2654435761) ^ salt) >> 7) % 2 == 0;
        if (e->what > LOG_ACK || tid_host(e->from) != host || e->to == 0 || !lost)
            continue;
        free(e->bytes);
        w.events[i--] = w.events[--w.event_count];
    }
}

static void host_end(uint32_t host)
{
    cut_off(host);
    struct host *h = &w.hosts[host];
    h->alive = false;
    for (uint32_t i = 0; i < w.task_count; i++)
        if (tid_host(w.tasks[i].tid) == host)
            task_end(&w.tasks[i]);
    bag_holder_destroy(h->holder);
    bag_destroy(h->copy.bag);
    h->holder = NULL;
    h->copy.bag = NULL;
    for (uint32_t i = 0; i <= HOSTS; i++)
        later(HOST_LOST, 0, host << 1, tid_make(i, 0), NULL, 0, DETECT_US + chance(30000));
}

static void host_lost_at(struct host *h, uint32_t host)
{
    if (h->holder != NULL)
        bag_holder_host_gone(h->holder, host);
    for (uint32_t i = 0; i < w.task_count; i++) {
        struct task *t = &w.tasks[i];
        if (t->alive && tid_host(t->tid) == host_index(h) && t->user.tie.holder == host)
            bag_user_lost(&t->user, w.now_us);
        if (t->alive)
            task_step(t);
    }
}

static void host_lost(const struct arrival *e)
{
    uint32_t host = e->from >> 1;
    if (e->to == 0)
        bag_engine.gone(w.places, &(struct state_gone){.host = host});
    else
        host_lost_at(&w.hosts[tid_host(e->to)], host);
}

static void misfortune(void)
{
    if (chance(400) == 0) {
        uint32_t host = (uint32_t)chance(HOSTS) + 1;
        struct bag_place p;
        if (chance(2) == 0 && agreed_place(&p))
            host = p.holder; /* whoever it is, more often than others */
        if (host != 0 && may_die(host))
            host_end(host);
    }
    if (chance(150) == 0) {
        struct task *t = &w.tasks[chance(w.task_count)];
        bool spare = t->role == WORKER || t->role == SAVER || t->role == LOADER ||
                     (t->role == COLLECTOR && (w.keep.on || t != &w.tasks[2]));
        if (t->alive && spare && w.task_count < TASKS / 2 && chance(4) == 0)
            task_end(t);
    }
}

/* ---- events ---- */

static bool receives(const struct arrival *e)
{
    uint32_t to = e->to;
    return to == 0 || (w.hosts[tid_host(to)].alive && (tid_local(to) == 0 || task_of(to)->alive));
}

static void refuse(const struct arrival *e)
{
    uint8_t bytes[BAG_ANSWER_BYTES];
    struct cursor c = cursor_writer(bytes, sizeof bytes);
    bag_answer_put(&c, &(struct bag_answer){.bag = 77, .handle = 1, .flags = BAG_REFUSED});
    soon(ANSWER, 0, e->to, e->from, bytes, sizeof bytes);
}

static void on_request(struct host *h, const struct arrival *e)
{
    const char *refused;
    if (h->holder == NULL) {
        refuse(e);
        return;
    }
    refused = bag_holder_request(h->holder, e->from, e->bytes, e->size, w.now_us);
    if (refused != NULL)
        fail(refused, 0);
}

static void at_host(struct host *h, const struct arrival *e)
{
    struct bag_log ack;
    struct cursor c = cursor_reader(e->bytes, e->size);
    switch (e->what) {
    case REQUEST:
        on_request(h, e);
        break;
    case LOG:
        on_log_in(h, e);
        break;
    case LOG_ACK:
        bag_log_get(&c, &ack);
        if (h->holder != NULL)
            bag_holder_log_ack(h->holder, tid_host(e->from), &ack);
        break;
    case NOTICE:
        on_notice(h, e);
        break;
    case TASK_LOST:
        if (h->holder != NULL && e->kind != NOT_YET)
            bag_holder_task_gone(h->holder, e->from, e->kind == OF_TASK);
        break;
    default:
        break;
    }
    host_step(h);
}

static void at_task(struct task *t, const struct arrival *e)
{
    if (e->what == ANSWER) {
        const char *refused =
            bag_user_answer(&t->user, tid_host(e->from), e->bytes, e->size, w.now_us);
        if (refused != NULL)
            fail(refused, 0);
    } else if (e->what == FOUND) {
        t->finding = false;
        if (e->kind == NO_BAG)
            t->user.error = ERROR_ENOENT;
        else
            bag_user_found(&t->user, 77, e->kind, w.now_us);
    }
    task_step(t);
}

static void at_vm(const struct arrival *e)
{
    struct bag_place p = {.holder = 0};
    struct cursor c = cursor_reader(e->bytes, e->size);
    if (e->what == COMMAND && w.hosts[tid_host(e->from)].alive)
        bag_engine.apply(w.places,
                         &(struct state_request){.kind = e->kind, .host = tid_host(e->from)}, &c);
    if (e->what == FIND) {
        bool there = agreed_place(&p);
        soon(FOUND, there ? (uint8_t)p.holder : NO_BAG, 0, e->from, NULL, 0);
    }
}

static void dispatch(const struct arrival *e)
{
    if (e->what == HOST_LOST)
        host_lost(e);
    else if (e->to == 0)
        at_vm(e);
    else if (tid_local(e->to) == 0)
        at_host(&w.hosts[tid_host(e->to)], e);
    else
        at_task(task_of(e->to), e);
}

/* ---- a life ---- */

static void hosts_begin(void)
{
    for (uint32_t i = 1; i <= HOSTS; i++)
        w.hosts[i].alive = true;
    w.places = bag_engine.create(NULL);
}

static void workers_begin(void)
{
    for (int i = 0; i < WORKERS; i++)
        task_add(WORKER, living_host());
}

static void begin(uint64_t seed)
{
    memset(&w, 0, sizeof w);
    w.seed = seed;
    random_state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    w.items = 10 + (uint32_t)chance(ITEMS_MAX - 10);
    w.in_order = chance(3) == 0;
    w.last_number = -1;
    w.keep.leave_us = UINT64_MAX;
    for (uint64_t i = chance(3); i > 0; i--)
        w.kills[chance(w.items)] = true;
    hosts_begin();
    struct task *a = task_add(PUTTER, 1), *b = task_add(PUTTER, 1);
    a->last = b->next = w.items / 3;
    b->last = w.items;
    task_add(COLLECTOR, 1);
    if (!w.in_order)
        task_add(COLLECTOR, 1);
    workers_begin();
}

static void bag_make(void)
{
    uint8_t body[BAG_PARAMS_BYTES_MAX];
    struct cursor c = cursor_writer(body, sizeof body);
    const struct bag_params params = {.lease_us = 500000,
                                      .deaths_max = DEATHS_MAX,
                                      .in_order = w.in_order,
                                      .keep = true,
                                      .copies = 2,
                                      .name = "b"};
    bag_params_put(&c, &params);
    c = cursor_reader(body, (size_t)(c.at - body));
    bag_engine.apply(
        w.places, &(struct state_request){.kind = COMMAND_BAG_CREATE, .task = tid_make(2, 9)}, &c);
}

static bool is_over(void)
{
    for (uint32_t i = 0; i < w.items; i++)
        if (w.delivered[i] < 1 + w.again[i] && w.delivered[i] == 0)
            return false;
    for (uint32_t i = 0; i < w.task_count && w.keep.on; i++)
        if (w.tasks[i].alive && w.tasks[i].role == COLLECTOR &&
            (w.tasks[i].user.flags & BAG_DRAINED) != 0)
            return w.keep.saves_left == 0;
    if (w.keep.on)
        return false;
    return (w.tasks[2].user.flags & BAG_DRAINED) != 0;
}

/* Those who collect leave; when none is left, the bag is saved. */
static void saver_due(void)
{
    struct bag_place p;
    bool any = false;
    if (w.now_us < w.keep.leave_us || !agreed_place(&p))
        return;
    for (uint32_t i = 0; i < w.task_count; i++) {
        struct task *t = &w.tasks[i];
        any |= t->alive && (t->role == COLLECTOR || t->role == SAVER || t->role == LOADER);
        if (t->role == COLLECTOR && !w.keep.leaving)
            t->wake_us = w.now_us;
    }
    w.keep.leaving = true;
    if (!any)
        task_add(SAVER, living_host());
}

static void wake_all(void)
{
    saver_due();

    for (uint32_t i = 0; i < w.task_count; i++)
        if (w.tasks[i].alive && w.now_us >= w.tasks[i].wake_us)
            task_step(&w.tasks[i]);
    for (uint32_t i = 1; i <= HOSTS; i++)
        if (w.hosts[i].alive && w.now_us >= w.hosts[i].due_us)
            host_step(&w.hosts[i]);
}

static uint64_t next_due(void)
{
    uint64_t due_us = w.keep.leaving ? UINT64_MAX : w.keep.leave_us;
    for (uint32_t i = 0; i < w.task_count; i++)
        if (w.tasks[i].alive && w.tasks[i].wake_us < due_us)
            due_us = w.tasks[i].wake_us;
    for (uint32_t i = 1; i <= HOSTS; i++)
        if (w.hosts[i].alive && w.hosts[i].holder != NULL && w.hosts[i].due_us < due_us)
            due_us = w.hosts[i].due_us;
    for (size_t i = 0; i < w.event_count; i++)
        if (w.events[i].at_us < due_us)
            due_us = w.events[i].at_us;
    return due_us;
}

static void step(void)
{
    uint64_t due_us = next_due();
    if (due_us == UINT64_MAX) {
        fail("nothing goes on any more", w.steps);
        return;
    }
    w.now_us = due_us > w.now_us ? due_us : w.now_us;
    wake_all();
    while (w.event_count > 0) {
        struct arrival e = next_event();
        if (e.at_us > w.now_us) {
            w.events[w.event_count++] = e;
            break;
        }
        if (receives(&e))
            dispatch(&e);
        free(e.bytes);
        misfortune();
    }
    w.steps++;
}

static void end(void)
{
    while (w.event_count > 0)
        free(w.events[--w.event_count].bytes);
    for (uint32_t i = 1; i <= HOSTS; i++) {
        bag_holder_destroy(w.hosts[i].holder);
        bag_destroy(w.hosts[i].copy.bag);
    }
    for (uint32_t i = 0; i < w.task_count; i++)
        if (w.tasks[i].alive)
            bag_user_fini(&w.tasks[i].user);
    bag_engine.destroy(w.places);
}

/* What must be so when nothing is left to do. */
static void end_checked(void)
{
    for (uint32_t i = 0; i < w.items && !w.failed; i++)
        if (w.delivered[i] == 0)
            fail("a result is missing", i);
    if (!w.failed && !is_over())
        fail("the bag is not drained", 0);
    end();
}

static uint64_t live(uint64_t seed)
{
    begin(seed);
    bag_make();
    while (!w.failed && !is_over() && w.now_us < END_US)
        step();
    end_checked();
    CU_ASSERT_FALSE(w.failed);
    return w.takeovers;
}

/* ---- lives in several VMs, one after the other ---- */

static void keeping_begin(uint64_t seed)
{
    begin(seed);
    end();
    w.task_count = 0;
    memset(w.tasks, 0, sizeof w.tasks);
    w.keep = (struct keeping){.on = true, .saves_left = 1 + (int)chance(3)};
    hosts_begin();
    task_add(PUTTER, 1)->last = w.items;
    collectors_come();
}

/* Another VM, in which somebody loads the file. */
static void life_next(void)
{
    static struct world before;
    end();
    before = w;
    memset(&w, 0, sizeof w);
    w.seed = before.seed;
    w.now_us = before.now_us;
    w.order = before.order;
    w.steps = before.steps;
    w.takeovers = before.takeovers;
    w.items = before.items;
    w.in_order = before.in_order;
    w.last_number = before.last_number;
    memcpy(w.kills, before.kills, sizeof w.kills);
    memcpy(w.delivered, before.delivered, sizeof w.delivered);
    memcpy(w.again, before.again, sizeof w.again);
    w.keep = before.keep;
    w.keep.leave_us = UINT64_MAX;
    w.keep.leaving = w.keep.said_end = w.keep.lost = false;
    hosts_begin();
    task_add(LOADER, living_host());
}

static void live_again(void)
{
    struct bag_place p;
    bag_make();
    workers_begin();
    while (!w.failed && !is_over() && !w.keep.lost && w.now_us < END_US &&
           (agreed_place(&p) || !w.keep.said_end))
        step();
    if (!w.keep.lost && !agreed_place(&p)) {
        w.keep.saves++;
        w.keep.saves_left--;
    }
    w.keep.losses += w.keep.lost;
}

static void live_through_files(uint64_t seed, uint64_t sums[3])
{
    struct bag_place p;
    keeping_begin(seed);
    live_again();
    while (!w.failed && w.now_us < END_US && (w.keep.lost || !agreed_place(&p))) {
        life_next();
        live_again();
    }
    end_checked();
    bag_parcel_fini(&w.keep.rest);
    CU_ASSERT_FALSE(w.failed);
    sums[0] += w.keep.saves;
    sums[1] += w.keep.thaws;
    sums[2] += w.keep.losses;
}

static void through_files(void)
{
    const char *seed = getenv("SEED");
    uint64_t sums[3] = {0}, seeds = getenv("SOAK") != NULL ? 20000 : 1500;
    if (seed != NULL) {
        live_through_files(strtoull(seed, NULL, 10), sums);
        return;
    }
    for (uint64_t i = 1; i <= seeds && !w.failed; i++)
        live_through_files(i, sums);
    printf("%llu seeds: %llu times saved, %llu times it went on, %llu times who loaded died\n",
           (unsigned long long)seeds, (unsigned long long)sums[0], (unsigned long long)sums[1],
           (unsigned long long)sums[2]);
    CU_ASSERT(w.failed || (sums[0] > seeds && sums[1] > seeds / 10 && sums[2] > seeds / 100));
}

static void each_result_once(void)
{
    const char *seed = getenv("SEED");
    uint64_t takeovers = 0, seeds = getenv("SOAK") != NULL ? 10000 : 300;
    if (seed != NULL) {
        live(strtoull(seed, NULL, 10));
        return;
    }
    for (uint64_t i = 1; i <= seeds && !w.failed; i++)
        takeovers += live(i);
    printf("%llu seeds, %llu times another host took over\n", (unsigned long long)seeds,
           (unsigned long long)takeovers);
    CU_ASSERT(takeovers > seeds / 10);
}

int main(void)
{
    static const struct test_case cases[] = {
        {"each item has one result, whoever dies", each_result_once},
        {"a bag that goes through files: each result once", through_files}};
    return covey_test_main("bag", cases, sizeof cases / sizeof cases[0]);
}
