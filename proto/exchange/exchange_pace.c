/*
 * exchange_pace.c - an exchange's order in the terms of pace.h.
 *
 * A sender has as many lanes as it had messages under way at a time when the order was made. With
 * one lane it needs no signals between its own messages, but where links are the limit it must keep
 * their order: the second of two that take one link waits for nobody else.
 *
 * Between ports, a message does not wait for the last few bytes of others: where messages are short
 * a hand-over takes longer than they do, and a switch has room for as much.
 */
#include "proto/exchange/exchange_pace.h"

#include <stdlib.h>
#include <string.h>

struct making {
    const struct exchange *x;
    struct schedule_message *messages;
    struct schedule_sync *syncs;
    size_t sync_count;
    uint32_t *lanes;
    /* Numbers of messages, one more; 0: none. */
    uint32_t *last; /* by rank: what it received last; then the first of those it has under way */
    uint32_t *next; /* by message: the one before it; then the next one under way */
};

static int making_create(struct making *m, const struct exchange *x, size_t signal_count)
{
    size_t ranks = (size_t)x->ranks;

    *m = (struct making){.x = x};
    m->messages = calloc(x->count + 1, sizeof *m->messages);
    m->syncs = calloc(x->count + signal_count + 1, sizeof *m->syncs);
    m->lanes = calloc(ranks + 1, sizeof *m->lanes);
    m->last = calloc(ranks + 1, sizeof *m->last);
    m->next = calloc(x->count + 1, sizeof *m->next);
    return m->messages != NULL && m->syncs != NULL && m->lanes != NULL && m->last != NULL &&
                   m->next != NULL
               ? 0
               : -1;
}

static void making_destroy(struct making *m)
{
    free(m->messages);
    free(m->syncs);
    free(m->lanes);
    free(m->last);
    free(m->next);
}

/* The last one before the message, to the same receiver, that is not among the few bytes that may
 * be under way with it; one more, 0: none. */
static uint32_t awaited(const struct making *m, uint32_t message)
{
    uint64_t ahead = 0;
    uint32_t at = m->last[m->x->messages[message].to];

    while (at > 0 && (ahead += m->x->messages[at - 1].bytes) <= EXCHANGE_AHEAD_BYTES)
        at = m->next[at - 1];
    return at;
}

/* How many messages of its sender are under way when this one starts, itself among them. */
static uint32_t making_start(struct making *m, uint32_t message)
{
    const struct exchange_message *all = m->x->messages;
    uint32_t *at = &m->last[all[message].from], count = 1;

    while (*at > 0) {
        bool over = all[*at - 1].end <= all[message].start;
        count += !over;
        if (over)
            *at = m->next[*at - 1];
        else
            at = &m->next[*at - 1];
    }
    *at = message + 1;
    return count;
}

static void list_all(struct making *m, const struct exchange_signal *signals, size_t count)
{
    for (size_t i = 0; i < m->x->count; i++)
        m->messages[i] =
            (struct schedule_message){.from = m->x->messages[i].from, .to = m->x->messages[i].to};
    if (count == 0) {
        for (uint32_t i = 0; i < m->x->count; i++) {
            uint32_t *last = &m->last[m->x->messages[i].to], before = awaited(m, i);
            if (before > 0)
                m->syncs[m->sync_count++] = (struct schedule_sync){before - 1, i};
            m->next[i] = *last;
            *last = i + 1;
        }
    }
    bool links = count > 0;
    memset(m->last, 0, (size_t)m->x->ranks * sizeof *m->last);
    for (uint32_t i = 0; i < m->x->count; i++) {
        uint32_t *lanes = &m->lanes[m->x->messages[i].from];
        uint32_t here = links ? making_start(m, i) : 1;
        *lanes = here > *lanes ? here : *lanes;
    }
    if (count > 0) {
        const struct exchange_message *all = m->x->messages;

        for (size_t i = 0; i < count; i++) {
            uint16_t from = all[signals[i].after].from;
            if (from != all[signals[i].before].from || m->lanes[from] > 1)
                m->syncs[m->sync_count++] =
                    (struct schedule_sync){signals[i].before, signals[i].after};
        }
    }
}

int exchange_pace(struct pace_plan *plan, const struct exchange *exchange,
                  const struct exchange_signal *signals, size_t signal_count, int rank, bool blind)
{
    struct making m;
    int failed = making_create(&m, exchange, signal_count);

    *plan = (struct pace_plan){0};
    if (!failed) {
        list_all(&m, signals, signal_count);
        const struct pace_order order = {.ranks = exchange->ranks,
                                         .loose = signal_count == 0,
                                         .blind = blind,
                                         .lanes = m.lanes,
                                         .message_count = exchange->count,
                                         .sync_count = m.sync_count,
                                         .messages = m.messages,
                                         .syncs = m.syncs};
        failed = pace_plan_of(plan, &order, rank);
    }
    making_destroy(&m);
    return failed;
}
