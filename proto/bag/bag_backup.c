/*
 * bag_backup.c - the holder's log, and the hosts that have copies. A change is applied and written
 * to the log at once; the log goes to the backups once a round. A new backup first gets a copy of
 * all; when it has that, it is proposed, and from then on it is waited for.
 */
#include "proto/bag/bag_held.h"

#include <assert.h>

#define PROPOSE_AGAIN_US 300000u

/* ---- the log ---- */

enum bag_verdict bag_backup_change(struct bag_holder *h, const struct bag_record *r)
{
    enum bag_verdict verdict = bag_apply(h->bag, r);
    if (verdict != BAG_OK)
        return verdict;
    if (h->backup_count > 0) {
        /* Where each log to the backups begins with a head, which is written last. */
        if (h->log.used == 0)
            bag_parcel_room(&h->log, BAG_LOG_BYTES);
        bag_parcel_add(&h->log, r);
    }
    h->position++;
    return BAG_OK;
}

static void head_write(const struct bag_holder *h, struct bag_parcel *p, uint8_t flags,
                       uint64_t position)
{
    assert(p->used >= BAG_LOG_BYTES && !p->failed);
    struct cursor c = cursor_writer(p->bytes, BAG_LOG_BYTES);
    bag_log_put(&c, &(struct bag_log){
                        .bag = h->id, .epoch = h->term, .flags = flags, .position = position});
}

/* A whole copy, up to here. A backup for which there is no memory gets it the next time. */
static void backup_begin(struct bag_holder *h, struct bag_backup *b)
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
    h->owner.log(h->owner.context, &b->host, 1, &h->out);
    bag_parcel_fini(&h->out);
    b->begun = true;
    b->begin = h->position;
}

void bag_backup_send(struct bag_holder *h)
{
    bool whole = h->log.used > 0 && !h->log.failed;
    uint32_t hosts[BAG_BACKUPS_MAX];
    size_t count = 0;
    assert(h->sent <= h->position);
    if (whole)
        head_write(h, &h->log, 0, h->sent);
    for (size_t i = 0; i < h->backup_count; i++) {
        struct bag_backup *b = &h->backups[i];
        if (b->begun && h->log.failed)
            b->begun = false; /* it missed something */
        if (!b->begun)
            backup_begin(h, b);
        else if (whole)
            hosts[count++] = b->host;
    }
    if (count > 0)
        h->owner.log(h->owner.context, hosts, count, &h->log);
    h->sent = h->position;
    if (h->log.capacity > BAG_PARCEL_KEPT)
        bag_parcel_fini(&h->log);
    h->log.used = 0;
    h->log.failed = false;
}

bool bag_backup_full(const struct bag_holder *h)
{
    for (size_t i = 0; i < h->backup_count; i++)
        if (h->backups[i].full)
            return true;
    return false;
}

uint64_t bag_backup_safe(const struct bag_holder *h)
{
    uint64_t position = h->position;
    for (size_t i = 0; i < h->backup_count; i++) {
        const struct bag_backup *b = &h->backups[i];
        if ((b->agreed || b->proposed) && b->acked < position)
            position = b->acked;
    }
    return position;
}

/* ---- who has copies ---- */

void bag_backup_add(struct bag_holder *h, uint32_t host, bool agreed)
{
    if (h->backup_count < BAG_BACKUPS_MAX)
        h->backups[h->backup_count++] = (struct bag_backup){.host = host, .agreed = agreed};
}

static struct bag_backup *backup_find(const struct bag_holder *h, uint32_t host)
{
    for (size_t i = 0; i < h->backup_count; i++)
        if (h->backups[i].host == host)
            return (struct bag_backup *)&h->backups[i];
    return NULL;
}

static void backup_drop(struct bag_holder *h, struct bag_backup *b)
{
    assert(h->backup_count > 0 && b < h->backups + h->backup_count);
    *b = h->backups[--h->backup_count];
    if (h->backup_count == 0)
        h->log.used = 0;
}

void bag_holder_log_ack(struct bag_holder *h, uint32_t host, const struct bag_log *ack)
{
    struct bag_backup *b = backup_find(h, host);
    if (b == NULL || !b->begun)
        return;
    b->full = (ack->flags & BAG_LOG_FULL) != 0;
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
        bag_backup_add(h, host, false);
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
        struct bag_backup *b = &h->backups[i];
        bool agreed = is_among(b->host, hosts, count);
        if (b->agreed && !agreed)
            backup_drop(h, &h->backups[i--]);
        else
            b->agreed = agreed;
    }
}

static bool is_ready(const struct bag_backup *b)
{
    return b->agreed || (b->begun && b->acked >= b->begin);
}

/* Those that have all are proposed; what was refused is proposed again after a while. */
uint64_t bag_backup_propose(struct bag_holder *h, uint64_t now_us)
{
    uint32_t hosts[BAG_BACKUPS_MAX];
    size_t count = 0, fresh = 0;
    for (size_t i = 0; i < h->backup_count; i++) {
        struct bag_backup *b = &h->backups[i];
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

void bag_backup_gone(struct bag_holder *h, uint32_t host)
{
    struct bag_backup *b = backup_find(h, host);
    if (b != NULL && !b->agreed)
        backup_drop(h, b); /* of one that is agreed the VM says so */
}
