/*
 * origin.c - sessions of daemons. The events that are kept have consecutive numbers, the last of
 * which is `sequence`.
 */
#include "proto/state/origin.h"
#include "proto/wire/list.h"

#include <stdlib.h>
#include <string.h>

#include "proto/wire/frame.h"

void origin_taken(struct origin *o, uint64_t sequence)
{
    while (o->first != NULL && o->first->event.sequence <= sequence) {
        struct kept_event *kept = o->first;
        o->first = kept->next;
        if (o->first == NULL)
            o->last = NULL;
        *o->kept_bytes -= EVENT_HEAD_BYTES + kept->event.size;
        free(kept);
    }
}

void origin_open(struct origin *o, uint64_t session)
{
    origin_taken(o, UINT64_MAX);
    if (o->session > o->ended)
        o->ended = o->session;
    o->session = session;
    o->applied = o->sequence = 0;
}

void origin_end(struct origin *o, uint64_t session)
{
    if (o->session != 0 && o->session <= session)
        origin_open(o, 0);
    if (session > o->ended)
        o->ended = session;
}

enum state_verdict origin_turn(const struct origin *o, const struct command *command)
{
    if (command->session <= o->ended || command->session < o->session)
        return STATE_STALE;
    if (command->session > o->session)
        return command->kind == COMMAND_OPEN && command->number == 1 ? STATE_APPLIED : STATE_AHEAD;
    if (command->number <= o->applied)
        return STATE_REPEATED;
    return command->number == o->applied + 1 ? STATE_APPLIED : STATE_AHEAD;
}

static struct event *keep(struct origin *o, const struct event *event)
{
    struct kept_event *kept = malloc(sizeof *kept + event->size);
    if (kept == NULL)
        return NULL;
    *kept = (struct kept_event){.event = *event};
    kept->event.body = (const uint8_t *)(kept + 1);
    if (event->size > 0)
        memcpy(kept + 1, event->body, event->size);
    LINK_LAST(o->first, o->last, kept, next);
    *o->kept_bytes += EVENT_HEAD_BYTES + event->size;
    return &kept->event;
}

const struct event *origin_tell(struct origin *o, const struct event *event)
{
    struct event *kept = keep(o, event);
    if (kept == NULL)
        return NULL;
    kept->host = o->host;
    kept->session = o->session;
    kept->sequence = ++o->sequence;
    kept->applied = o->applied;
    return kept;
}

void origin_save(const struct origin *o, struct cursor *c)
{
    uint32_t count = 0;
    for (const struct kept_event *kept = o->first; kept != NULL; kept = kept->next)
        count++;
    cursor_put_u32(c, o->host);
    cursor_put_u64(c, o->session);
    cursor_put_u64(c, o->ended);
    cursor_put_u64(c, o->applied);
    cursor_put_u64(c, o->sequence);
    cursor_put_u32(c, count);
    for (const struct kept_event *kept = o->first; kept != NULL; kept = kept->next) {
        cursor_put_u32(c, (uint32_t)(EVENT_HEAD_BYTES + kept->event.size));
        event_put(c, &kept->event);
    }
}

static bool event_load(struct origin *o, struct cursor *c, uint64_t sequence)
{
    struct event event;
    size_t size = cursor_get_u32(c);
    const uint8_t *bytes = cursor_get_view(c, size);
    if (bytes == NULL)
        return false;
    struct cursor inner = cursor_reader(bytes, size);
    event_get(&inner, &event);
    if (!cursor_ok(&inner) || event.session != o->session || event.sequence != sequence ||
        event.applied > o->applied || tid_host(event.task) != o->host)
        return false;
    event.host = o->host;
    return keep(o, &event) != NULL;
}

bool origin_load(struct origin *o, struct cursor *c)
{
    o->host = cursor_get_u32(c);
    o->session = cursor_get_u64(c);
    o->ended = cursor_get_u64(c);
    o->applied = cursor_get_u64(c);
    o->sequence = cursor_get_u64(c);
    uint32_t count = cursor_get_u32(c);
    if (!cursor_ok(c) || o->host == 0 || o->host > HOST_INDEX_MAX || count > o->sequence ||
        (o->session != 0 && o->session <= o->ended) ||
        (o->session == 0 && (o->applied != 0 || o->sequence != 0)))
        return false;
    for (uint32_t i = count; i > 0; i--)
        if (!event_load(o, c, o->sequence - i + 1))
            return false;
    return true;
}
