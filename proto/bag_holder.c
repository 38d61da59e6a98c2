/*
 * bag_holder.c - the holder of a bag: what attachments want, and what they are told. The other side
 * of the log is bag_copy.c.
 *
 * One round: requests are read as they come, and each change is applied and written to the log at
 * once; bag_holder_step() then gives out items and results, sends the log to the backups, and says
 * to each attachment what it may hear by now. So a round costs one log a backup and one answer an
 * attachment, however many items it moved.
 */
#include "proto/bag_holder.h"

#include <stdlib.h>
#include <string.h>

#include "proto/frame.h"

#define GIVEN_BYTES_MAX ((size_t)8 << 20) /* results that lie with one member, beyond one */
#define PROPOSE_AGAIN_US 300000u
#define FIRST_POSITION 1   /* of the log: a backup that has nothing has less */
#define ANSWER_ENOMEM (-2) /* the numbers are those of enum covey_error */
#define ANSWER_EDENIED (-13)
#define ANSWER_ENOENT (-14)

struct backup {
    uint32_t host;
    bool agreed, proposed;
    bool begun;            /* a copy was sent, */
    uint64_t begin, acked; /* at that position; and it has all up to this one */
};

struct bag_holder {
    uint64_t id;
    uint32_t term;
    struct bag *bag;
    struct bag_holder_owner owner;
    struct backup backups[BAG_BACKUPS_MAX];
    size_t backup_count;
    uint64_t position; /* records in the log so far */
    uint64_t sent;     /* to the backups */
    struct bag_parcel log, out;
    bool complete, drained; /* and from where on in the log */
    uint64_t complete_at, drained_at;
    uint64_t propose_at_us;
    bool joined; /* somebody was attached once */
    bool over;   /* somebody said so */
};

/* ---- create and destroy ---- */

static void backup_add(struct bag_holder *h, uint32_t host, bool agreed)
{
    if (h->backup_count < BAG_BACKUPS_MAX)
        h->backups[h->backup_count++] = (struct backup){.host = host, .agreed = agreed};
}

/* What the holder before told it, the other backups may not have: they must first. */
static void inherit(struct bag_holder *h, struct bag_member *m)
{
    h->joined = true;
    for (struct bag_item *item = m->given.first; item != NULL; item = item->next)
        item->given_at = FIRST_POSITION;
    h->owner.watch(h->owner.context, m->task);
}

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
    h->position = h->sent = FIRST_POSITION;
    for (size_t i = 0; i < count; i++)
        backup_add(h, backups[i], true);
    for (struct bag_member *m = bag->members; m != NULL; m = m->next)
        inherit(h, m);
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

uint32_t bag_holder_term(const struct bag_holder *h)
{
    return h->term;
}

bool bag_holder_is_over(const struct bag_holder *h)
{
    return h->over || (h->joined && h->bag->members == NULL && !h->bag->params.keep);
}

/* ---- the log ---- */

/* Where each log to the backups begins with a head, which is written last. */
static void log_begin(struct bag_holder *h)
{
    if (h->log.used == 0)
        bag_parcel_room(&h->log, BAG_LOG_BYTES);
}

/* Applies a record and writes it down. */
static enum bag_verdict change(struct bag_holder *h, const struct bag_record *r)
{
    enum bag_verdict verdict = bag_apply(h->bag, r);
    if (verdict != BAG_OK)
        return verdict;
    if (h->backup_count > 0) {
        log_begin(h);
        bag_parcel_add(&h->log, r);
    }
    h->position++;
    return BAG_OK;
}

static void head_write(const struct bag_holder *h, struct bag_parcel *p, uint8_t flags,
                       uint64_t position)
{
    struct cursor c = cursor_writer(p->bytes, BAG_LOG_BYTES);
    bag_log_put(&c, &(struct bag_log){
                        .bag = h->id, .epoch = h->term, .flags = flags, .position = position});
}

/* A whole copy, up to here. A backup for which there is no memory gets it the next time. */
static void backup_begin(struct bag_holder *h, struct backup *b)
{
    uint64_t records = 0;
    h->out.used = 0;
    h->out.failed = false;
    bag_parcel_room(&h->out, BAG_LOG_BYTES);
    struct cursor c = cursor_counter();
    bag_params_put(&c, &h->bag->params);
    c = bag_parcel_room(&h->out, c.counted);
    bag_params_put(&c, &h->bag->params);
    bag_save(h->bag, &h->out, &records);
    if (h->out.failed)
        return;
    head_write(h, &h->out, BAG_LOG_BEGIN, h->position);
    h->owner.log(h->owner.context, b->host, h->out.bytes, h->out.used);
    b->begun = true;
    b->begin = h->position;
}

static void log_send(struct bag_holder *h)
{
    bool whole = h->log.used > 0 && !h->log.failed;
    if (whole)
        head_write(h, &h->log, 0, h->sent);
    for (size_t i = 0; i < h->backup_count; i++) {
        struct backup *b = &h->backups[i];
        if (b->begun && h->log.failed)
            b->begun = false; /* it missed something */
        if (!b->begun)
            backup_begin(h, b);
        else if (whole)
            h->owner.log(h->owner.context, b->host, h->log.bytes, h->log.used);
    }
    h->sent = h->position;
    h->log.used = 0;
    h->log.failed = false;
}

/* Up to here nothing can be lost. */
static uint64_t safe(const struct bag_holder *h)
{
    uint64_t position = h->position;
    for (size_t i = 0; i < h->backup_count; i++) {
        const struct backup *b = &h->backups[i];
        if ((b->agreed || b->proposed) && b->acked < position)
            position = b->acked;
    }
    return position;
}

/* ---- backups ---- */

static struct backup *backup_find(const struct bag_holder *h, uint32_t host)
{
    for (size_t i = 0; i < h->backup_count; i++)
        if (h->backups[i].host == host)
            return (struct backup *)&h->backups[i];
    return NULL;
}

static void backup_drop(struct bag_holder *h, struct backup *b)
{
    *b = h->backups[--h->backup_count];
    if (h->backup_count == 0)
        h->log.used = 0;
}

void bag_holder_log_ack(struct bag_holder *h, uint32_t host, const struct bag_log *ack)
{
    struct backup *b = backup_find(h, host);
    if (b == NULL || !b->begun)
        return;
    if (ack->flags & BAG_LOG_REFUSED) {
        b->begun = false;
        b->acked = 0;
        return;
    }
    if (ack->epoch != h->term || ack->position > h->position)
        return;
    if (ack->position >= b->begin && ack->position > b->acked)
        b->acked = ack->position;
}

void bag_holder_copy_to(struct bag_holder *h, uint32_t host)
{
    if (backup_find(h, host) == NULL)
        backup_add(h, host, false);
}

size_t bag_holder_backups(const struct bag_holder *h)
{
    return h->backup_count;
}

bool bag_holder_has_backup(const struct bag_holder *h, uint32_t host)
{
    return backup_find(h, host) != NULL;
}

static bool is_among(uint32_t host, const uint32_t *hosts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (hosts[i] == host)
            return true;
    return false;
}

void bag_holder_agreed(struct bag_holder *h, const uint32_t *hosts, size_t count)
{
    for (size_t i = 0; i < h->backup_count; i++) {
        struct backup *b = &h->backups[i];
        bool agreed = is_among(b->host, hosts, count);
        if (b->agreed && !agreed)
            backup_drop(h, &h->backups[i--]);
        else
            b->agreed = agreed;
    }
}

static bool is_ready(const struct backup *b)
{
    return b->agreed || (b->begun && b->acked >= b->begin);
}

/* Those that have all are proposed; what was refused is proposed again after a while. */
static uint64_t propose(struct bag_holder *h, uint64_t now_us)
{
    uint32_t hosts[BAG_BACKUPS_MAX];
    size_t count = 0, fresh = 0;
    for (size_t i = 0; i < h->backup_count; i++) {
        struct backup *b = &h->backups[i];
        if (!is_ready(b))
            continue;
        fresh += !b->agreed;
        b->proposed = true;
        hosts[count++] = b->host;
    }
    if (fresh == 0)
        return UINT64_MAX;
    if (now_us >= h->propose_at_us) {
        h->propose_at_us = now_us + PROPOSE_AGAIN_US;
        h->owner.propose(h->owner.context, hosts, count);
    }
    return h->propose_at_us;
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
    change(h, &(struct bag_record){.kind = BAG_DEATH, .number = number, .flag = deaths});
    if (deaths >= h->bag->params.deaths_max && item->leases == NULL)
        change(h, &(struct bag_record){.kind = BAG_ASIDE, .number = number});
}

static void member_end(struct bag_holder *h, struct bag_member *m, bool died)
{
    const struct bag_record gone = {.kind = BAG_GONE, .task = m->task, .handle = m->handle};
    bag_abandon(h->bag, m, died ? on_death : on_return, h);
    change(h, &gone);
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
    struct backup *b = backup_find(h, host);
    for (struct bag_member *m = h->bag->members, *next; m != NULL; m = next) {
        next = m->next;
        if (tid_host(m->task) == host)
            member_end(h, m, false);
    }
    if (b != NULL && !b->agreed)
        backup_drop(h, b); /* of one that is agreed the VM says so */
}

/* ---- records of an attachment ---- */

static void drop_tell(void *context, struct bag_member *m, const struct bag_item *item)
{
    (void)context;
    if (m->items.used == 0)
        bag_parcel_room(&m->items, BAG_ANSWER_BYTES);
    bag_parcel_add(&m->items, &(struct bag_record){
                                  .kind = BAG_DROP, .number = item->number, .term = item->term});
}

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
        return change(h, &r);
    m->error = ANSWER_EDENIED;
    m->complains = true;
    return BAG_OK;
}

static enum bag_verdict on_done(struct bag_holder *h, struct bag_member *m, struct bag_record r,
                                uint64_t now_us)
{
    struct bag_item *item = item_meant(h, &r);
    if (item == NULL)
        return BAG_OK; /* another's result came first */
    r.task = m->task;
    r.handle = 0;
    bag_release(h->bag, item, m, drop_tell, h, now_us);
    enum bag_verdict verdict = change(h, &r);
    if (verdict != BAG_OK)
        bag_reopen(h->bag, item);
    return verdict;
}

static enum bag_verdict on_record(struct bag_holder *h, struct bag_member *m,
                                  const struct bag_record *r, uint64_t now_us)
{
    struct bag_item *item;
    switch (r->kind) {
    case BAG_PUT:
        return on_put(h, m, *r);
    case BAG_DONE:
        return on_done(h, m, *r, now_us);
    case BAG_RETURN:
        item = item_meant(h, r);
        if (item != NULL)
            bag_return(h->bag, m, item);
        return BAG_OK;
    case BAG_CLOSE:
        return h->bag->closed ? BAG_OK : change(h, r);
    default:
        return BAG_NONSENSE;
    }
}

/* ---- requests ---- */

static void refuse(const struct bag_holder *h, uint32_t task, uint32_t handle, int32_t error)
{
    uint8_t bytes[BAG_ANSWER_BYTES];
    struct cursor c = cursor_writer(bytes, sizeof bytes);
    bag_answer_put(
        &c,
        &(struct bag_answer){
            .bag = h->id, .handle = handle, .term = h->term, .error = error, .flags = BAG_REFUSED});
    h->owner.answer(h->owner.context, task, bytes, sizeof bytes);
}

void bag_holder_dismiss(const struct bag_holder *h)
{
    for (const struct bag_member *m = h->bag->members; m != NULL; m = m->next)
        refuse(h, m->task, m->handle, ANSWER_ENOENT);
}

/* The results from there on are sent anew. */
static bool resume(struct bag_member *m, uint64_t received)
{
    if (received < m->taken || received > m->taken + m->given.count)
        return false;
    m->sent = received;
    m->unsent = m->given.first;
    for (uint64_t i = m->taken; i < received; i++)
        m->unsent = m->unsent->next;
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
            drop_tell(h, m, &(struct bag_item){.number = r.number, .term = r.term});
    }
    return cursor_ok(c);
}

/* It speaks to this holder for the first time, or again from the beginning. */
static struct bag_member *greet(struct bag_holder *h, uint32_t task, const struct bag_request *r,
                                struct cursor *c, uint64_t now_us)
{
    struct bag_member *m = bag_member_find(h->bag, task, r->handle);
    if (m == NULL) {
        change(h, &(struct bag_record){.kind = BAG_JOIN, .task = task, .handle = r->handle});
        m = bag_member_find(h->bag, task, r->handle);
        h->owner.watch(h->owner.context, task);
        h->joined = true;
    }
    if (m == NULL || !resume(m, r->received))
        return NULL;
    m->items.used = 0;
    bag_abandon(h->bag, m, on_return, h);
    m->here = m->welcome = true;
    m->marks[0] = m->marks[1] = (struct bag_mark){.position = h->position, .number = m->applied};
    return claim_all(h, m, c, now_us) ? m : NULL;
}

/* Past the results that it has taken. */
static bool take_back(struct bag_holder *h, struct bag_member *m, uint64_t taken)
{
    if (taken <= m->taken)
        return true;
    if (taken > m->sent)
        return false;
    return change(h,
                  &(struct bag_record){
                      .kind = BAG_TAKEN, .task = m->task, .handle = m->handle, .number = taken}) ==
           BAG_OK;
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
        if (r.kind == BAG_BYE || r.kind == BAG_END) {
            h->over |= r.kind == BAG_END;
            member_end(h, m, false);
            return NULL;
        }
        enum bag_verdict verdict = on_record(h, m, &r, now_us);
        if (verdict == BAG_NONSENSE)
            return "no record of an attachment";
        if (verdict == BAG_NOMEM) {
            m->error = ANSWER_ENOMEM;
            m->complains = true;
            break;
        }
        applied = number;
    }
    if (applied > m->applied)
        change(h, &(struct bag_record){
                      .kind = BAG_JOIN, .task = m->task, .handle = m->handle, .number = applied});
    m->marks[1] = (struct bag_mark){.position = h->position, .number = m->applied};
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
    struct bag_member *m = r.flags & BAG_HELLO ? greet(h, task, &r, &c, now_us)
                                               : bag_member_find(h->bag, task, r.handle);
    bool known = m != NULL && m->here && (r.term == h->term || r.flags & BAG_HELLO) &&
                 r.number <= m->applied + 1;
    if (!known) {
        refuse(h, task, r.handle, 0);
        return NULL;
    }
    if (!take_back(h, m, r.taken))
        return "it took results that it was not sent";
    m->hold = r.hold;
    m->want = r.want;
    return records_take(h, m, r.number, &c, now_us);
}

/* ---- giving ---- */

static void item_tell(struct bag_member *m, const struct bag_item *item)
{
    if (m->items.used == 0)
        bag_parcel_room(&m->items, BAG_ANSWER_BYTES);
    bag_parcel_add(&m->items, &(struct bag_record){.kind = BAG_ITEM,
                                                   .number = item->number,
                                                   .term = item->term,
                                                   .priority = item->priority,
                                                   .flag = item->deaths,
                                                   .bytes = item->bytes,
                                                   .size = item->size});
}

/* At most `share` items to one member; whether it got any. */
static bool give_some(struct bag_holder *h, struct bag_member *m, size_t share, uint64_t now_us)
{
    struct bag_item *item = NULL;
    size_t given = 0;
    while (m->here && given < share && (item = bag_take(h->bag, m, now_us)) != NULL) {
        item_tell(m, item);
        given++;
    }
    return given > 0;
}

static size_t hungry(const struct bag *bag)
{
    size_t count = 0;
    for (const struct bag_member *m = bag->members; m != NULL; m = m->next)
        count += m->here && m->held < m->hold;
    return count;
}

/* In turns, each time a part of what is left: nobody gets all because it came first. */
static void give_items(struct bag_holder *h, uint64_t now_us)
{
    struct bag *bag = h->bag;
    size_t mouths = hungry(bag);
    bag_share_gauge(bag);
    for (bool any = mouths > 0; any;) {
        size_t share = bag->ready_count / (2 * mouths);
        any = false;
        for (struct bag_member *m = bag->members; m != NULL; m = m->next)
            any |= give_some(h, m, share > 0 ? share : 1, now_us);
    }
}

static void give_results(struct bag_holder *h, struct bag_member *m)
{
    struct bag_item *item;
    while (m->here && m->given.count < m->want &&
           (m->given.count == 0 || m->given.bytes < GIVEN_BYTES_MAX) &&
           (item = bag_next_result(h->bag)) != NULL) {
        if (change(h, &(struct bag_record){.kind = BAG_GIVE,
                                           .number = item->number,
                                           .task = m->task,
                                           .handle = m->handle}) != BAG_OK)
            return;
        item->given_at = h->position;
        if (m->unsent == NULL)
            m->unsent = item;
    }
}

/* ---- answers ---- */

static void result_tell(struct bag_member *m)
{
    const struct bag_item *item = m->unsent;
    struct bag_record r = {.kind = BAG_RESULT,
                           .number = item->number,
                           .task = item->worker,
                           .flag = item->state == BAG_IS_ASIDE ? BAG_SET_ASIDE : 0,
                           .bytes = item->bytes,
                           .size = item->size};
    bag_parcel_add(&m->items, &r);
    m->unsent = item->next;
    m->sent++;
}

/* What is safe moves on; whether it is more than before. */
static bool acked_advance(struct bag_member *m, uint64_t position)
{
    uint64_t before = m->acked;
    for (int i = 0; i < 2; i++) {
        if (m->marks[0].position <= position && m->marks[0].number > m->acked)
            m->acked = m->marks[0].number;
        if (m->marks[0].position <= position)
            m->marks[0] = m->marks[1];
    }
    return m->acked > before;
}

static uint8_t flags_now(const struct bag_holder *h, uint64_t position)
{
    uint8_t flags = 0;
    if (h->complete && h->complete_at <= position)
        flags |= BAG_COMPLETE;
    if (h->drained && h->drained_at <= position)
        flags |= BAG_DRAINED;
    return flags;
}

static void answer_send(struct bag_holder *h, struct bag_member *m, uint8_t flags, uint64_t first)
{
    const struct bag_answer a = {.bag = h->id,
                                 .handle = m->handle,
                                 .term = h->term,
                                 .flags = (uint8_t)(flags | (m->welcome ? BAG_WELCOME : 0)),
                                 .error = m->error,
                                 .acked = m->acked,
                                 .first = first};
    struct cursor c = cursor_writer(m->items.bytes, BAG_ANSWER_BYTES);
    bag_answer_put(&c, &a);
    h->owner.answer(h->owner.context, m->task, m->items.bytes, m->items.used);
    m->items.used = 0;
    m->welcome = m->complains = false;
    m->error = 0;
    m->told = flags;
}

static void answer(struct bag_holder *h, struct bag_member *m, uint64_t position)
{
    uint8_t flags = flags_now(h, position);
    uint64_t first = m->sent + 1;
    bool news = acked_advance(m, position) || m->items.used > 0 || m->welcome || m->complains ||
                flags != m->told;
    bool results = m->unsent != NULL && m->unsent->given_at <= position;
    if (!m->here || (!news && !results))
        return;
    if (m->items.used == 0)
        bag_parcel_room(&m->items, BAG_ANSWER_BYTES);
    while (m->unsent != NULL && m->unsent->given_at <= position)
        result_tell(m);
    if (!m->items.failed) {
        answer_send(h, m, flags, first);
        return;
    }
    m->here = false; /* it missed something: it is told to begin anew, when it asks again */
    bag_parcel_fini(&m->items);
    refuse(h, m->task, m->handle, 0);
}

/* ---- a round ---- */

static void note_ends(struct bag_holder *h)
{
    if (bag_complete(h->bag) && !h->complete) {
        h->complete = true;
        h->complete_at = h->position;
    }
    if (bag_drained(h->bag) && !h->drained) {
        h->drained = true;
        h->drained_at = h->position;
    }
}

/* Only who has nothing waits for what others have had for long. */
static uint64_t straggler_due(const struct bag *bag, uint64_t now_us)
{
    uint64_t due_us = bag_straggler_us(bag);
    for (const struct bag_member *m = bag->members; m != NULL && due_us > now_us; m = m->next)
        if (m->here && m->held == 0 && m->hold > 0)
            return due_us;
    return UINT64_MAX;
}

uint64_t bag_holder_step(struct bag_holder *h, uint64_t now_us)
{
    uint64_t expiry_us = bag_expire(h->bag, now_us);
    give_items(h, now_us);
    for (struct bag_member *m = h->bag->members; m != NULL; m = m->next)
        give_results(h, m);
    note_ends(h);
    log_send(h);
    uint64_t propose_us = propose(h, now_us), position = safe(h);
    for (struct bag_member *m = h->bag->members; m != NULL; m = m->next)
        answer(h, m, position);
    uint64_t straggler_us = straggler_due(h->bag, now_us);
    uint64_t due_us = expiry_us < propose_us ? expiry_us : propose_us;
    return due_us < straggler_us ? due_us : straggler_us;
}
