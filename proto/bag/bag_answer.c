/*
 * bag_answer.c - what attachments are given and told: items at once, results and what is safe as
 * far as all backups have what that rests on.
 */
#include "proto/bag/bag_held.h"

#include <assert.h>

#define GIVEN_BYTES_MAX ((size_t)8 << 20) /* results that lie with one member, beyond one */

void bag_answer_refuse(const struct bag_holder *h, uint32_t task, uint32_t handle, int32_t error)
{
    struct bag_parcel whole = {.bytes = NULL};
    struct cursor c = bag_parcel_room(&whole, BAG_ANSWER_BYTES);
    bag_answer_put(
        &c,
        &(struct bag_answer){
            .bag = h->id, .handle = handle, .term = h->term, .error = error, .flags = BAG_REFUSED});
    if (!whole.failed)
        h->owner.answer(h->owner.context, task, &whole);
    bag_parcel_fini(&whole);
}

void bag_answer_drop(void *context, struct bag_member *m, const struct bag_item *item)
{
    (void)context;
    if (m->served.items.used == 0)
        bag_parcel_room(&m->served.items, BAG_ANSWER_BYTES);
    bag_parcel_add(
        &m->served.items,
        &(struct bag_record){.kind = BAG_DROP, .number = item->number, .term = item->term});
}

/* ---- giving ---- */

/* At most `share` items to one member; whether it got any. */
static bool give_some(struct bag_holder *h, struct bag_member *m, size_t share, uint64_t now_us)
{
    struct bag_item *item = NULL;
    size_t given = 0;
    while (m->served.here && given < share && (item = bag_take(h->bag, m, now_us)) != NULL) {
        if (m->served.items.used == 0)
            bag_parcel_room(&m->served.items, BAG_ANSWER_BYTES);
        bag_parcel_add(&m->served.items, &(struct bag_record){.kind = BAG_ITEM,
                                                              .number = item->number,
                                                              .term = item->term,
                                                              .priority = item->priority,
                                                              .flag = item->deaths,
                                                              .bytes = item->bytes,
                                                              .size = item->size});
        given++;
    }
    return given > 0;
}

void bag_answer_give(struct bag_holder *h, uint64_t now_us)
{
    struct bag *bag = h->bag;
    size_t count = 0;
    for (const struct bag_member *m = bag->members; m != NULL; m = m->next)
        count += m->served.here && m->served.held < m->served.hold;
    size_t mouths = count;
    bag_share_gauge(bag);
    /* who has nothing comes first: behind an item that a member has begun another one waits for its
     * end */
    for (struct bag_member *m = bag->members; m != NULL; m = m->next)
        if (m->served.here && m->served.held == 0)
            give_some(h, m, 1, now_us);
    for (bool any = mouths > 0; any;) {
        size_t share = bag->ready_count / (2 * mouths);
        any = false;
        for (struct bag_member *m = bag->members; m != NULL; m = m->next)
            any |= give_some(h, m, share > 0 ? share : 1, now_us);
    }
}

void bag_answer_results(struct bag_holder *h, struct bag_member *m)
{
    struct bag_item *item;
    while (m->served.here && m->given.count < m->served.want &&
           (m->given.count == 0 || m->given.bytes < GIVEN_BYTES_MAX) &&
           (item = bag_next_result(h->bag)) != NULL) {
        if (bag_backup_change(h, &(struct bag_record){.kind = BAG_GIVE,
                                                      .number = item->number,
                                                      .task = m->task,
                                                      .handle = m->handle}) != BAG_OK)
            return;
        item->given_at = h->position;
        if (m->served.unsent == NULL)
            m->served.unsent = item;
    }
}

/* ---- telling ---- */

/* What is safe moves on; whether it is more than before. */
static bool acked_advance(struct bag_member *m, uint64_t position)
{
    uint64_t before = m->served.acked;
    for (int i = 0; i < 2; i++) {
        if (m->served.marks[0].position <= position && m->served.marks[0].number > m->served.acked)
            m->served.acked = m->served.marks[0].number;
        if (m->served.marks[0].position <= position)
            m->served.marks[0] = m->served.marks[1];
    }
    return m->served.acked > before;
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
                                 .flags = (uint8_t)(flags | (m->served.welcome ? BAG_WELCOME : 0)),
                                 .error = m->served.error,
                                 .acked = m->served.acked,
                                 .first = first};
    assert(m->served.items.used >= BAG_ANSWER_BYTES);
    struct cursor c = cursor_writer(m->served.items.bytes, BAG_ANSWER_BYTES);
    bag_answer_put(&c, &a);
    h->owner.answer(h->owner.context, m->task, &m->served.items);
    if (m->served.items.capacity > BAG_PARCEL_KEPT)
        bag_parcel_fini(&m->served.items);
    m->served.items.used = 0;
    m->served.welcome = m->served.complains = false;
    m->served.error = 0;
    m->served.told = flags & (uint8_t)~BAG_SAVED;
}

void bag_answer_tell(struct bag_holder *h, struct bag_member *m, uint64_t position)
{
    uint8_t flags = flags_now(h, position);
    uint64_t first = m->served.sent + 1;
    bool news = acked_advance(m, position) || m->served.items.used > 0 || m->served.welcome ||
                m->served.complains || flags != m->served.told;
    bool results = m->served.unsent != NULL && m->served.unsent->given_at <= position;
    bool saves = bag_is_frozen_by(h->bag, m) && h->bag->frozen.how == BAG_FREEZE_SAVE &&
                 !m->served.saved && h->frozen_at <= position;
    if (!m->served.here || (!news && !results && !saves))
        return;
    if (m->served.items.used == 0)
        bag_parcel_room(&m->served.items, BAG_ANSWER_BYTES);
    if (saves) {
        bag_save_rest(h->bag, &m->served.items);
        m->served.saved = true;
        flags |= BAG_SAVED;
    }
    while (m->served.unsent != NULL && m->served.unsent->given_at <= position) {
        const struct bag_item *item = m->served.unsent;
        struct bag_record r = {.kind = BAG_RESULT,
                               .number = item->number,
                               .task = item->worker,
                               .flag = item->state == BAG_IS_ASIDE ? BAG_SET_ASIDE : 0,
                               .bytes = item->bytes,
                               .size = item->size};
        bag_parcel_add(&m->served.items, &r);
        m->served.unsent = item->next;
        m->served.sent++;
    }
    if (!m->served.items.failed) {
        answer_send(h, m, flags, first);
        return;
    }
    m->served.here = false; /* it missed something: it is told to begin anew, when it asks again */
    bag_parcel_fini(&m->served.items);
    bag_answer_refuse(h, m->task, m->handle, 0);
}
