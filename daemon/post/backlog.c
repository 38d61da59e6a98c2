/*
 * Accounting begins when the queue is long, and needs no list of who sent what: a record counts
 * its sender's bytes in two generations. When all that was queued at the beginning of the younger
 * one has been written, the older one has left the queue. Who keeps to his credit has at most a
 * window of bytes in each, a fraction of BACKLOG_BYTES_MAX.
 */
#include "daemon/post/backlog.h"

#include <stdlib.h>

#include "daemon/post/watch.h"
#include "daemon/table/connection.h"
#include "lib/covey.h"
#include "proto/wire/grow.h"

#define BACKLOG_BYTES_MAX ((uint64_t)32 * CREDIT_INITIAL_BYTES)
#define BACKLOGS_FIRST 8

static struct backlog *backlog_find(const struct backlogs *all, uint32_t source)
{
    for (size_t i = 0; i < all->count; i++)
        if (all->items[i].source == source)
            return &all->items[i];
    return NULL;
}

static struct backlog *backlog_get(struct backlogs *all, uint32_t source)
{
    struct backlog *b = backlog_find(all, source);
    if (b != NULL)
        return b;
    if (!GROW(all->items, all->capacity, all->count + 1, BACKLOGS_FIRST))
        return NULL;
    all->items[all->count] = (struct backlog){.source = source};
    return &all->items[all->count++];
}

static bool backlog_count(struct task *to, const struct frame *frame, size_t queued)
{
    struct backlog *b = backlog_get(&to->way.backlogs, frame->source);
    if (b == NULL)
        return false; /* no memory: not for more of this queue either */
    if (to->way.queued_ever - queued >= b->mark) {
        b->older = b->younger;
        b->younger = 0;
        b->mark = to->way.queued_ever;
    }
    b->younger += frame->length + FRAME_HEADER_BYTES;
    if (b->older + b->younger <= BACKLOG_BYTES_MAX)
        return true;
    struct daemon *d = to->daemon;
    uint32_t source = b->source;
    b->cut = true;
    log_line(&d->log, LOG_ERROR,
             "t%x sends to t%x beyond its credit: what it sends there is dropped", source, to->tid);
    watch_send_gone(d, to->tid, &(struct control_gone){.tid = source, .kind = COVEY_EXIT_UNKNOWN});
    watch_send_gone(d, source, &(struct control_gone){.tid = to->tid, .kind = COVEY_EXIT_UNKNOWN});
    return false;
}

bool backlog_admit(struct task *to, const struct frame *frame)
{
    size_t queued = connection_queued(to);
    const struct backlog *b = backlog_find(&to->way.backlogs, frame->source);
    if (b != NULL && b->cut)
        return false;
    if (queued > BACKLOG_BYTES_MAX)
        return backlog_count(to, frame, queued);
    if (to->way.backlogs.count > 0) {
        /* The queue is short again: only those who were cut off are remembered. */
        struct backlogs *all = &to->way.backlogs;
        size_t kept = 0;
        for (size_t i = 0; i < all->count; i++)
            if (all->items[i].cut)
                all->items[kept++] = all->items[i];
        all->count = kept;
    }
    return true;
}
