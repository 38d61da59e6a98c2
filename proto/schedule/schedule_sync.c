/*
 * schedule_sync.c - the synchronisations of a schedule, without redundant ones.
 *
 * The paper compares all pairs of messages, which are 10^11 for 512 hosts. It is enough to order
 * consecutive messages on each directed edge: the rest follows. An edge that carries w messages in
 * some phase has w lanes; the message at position j follows the one at position j - w, so that no
 * more than w are ever under way. Messages in a lane of a sender's first edge are a chain: the
 * sender itself keeps its order, and no synchronisation is needed.
 *
 * What other orders imply is found with vector clocks over these chains: the clock of a message
 * says how far in each chain the messages reach that must precede it. A predecessor u of a message
 * is redundant when the clock of another predecessor includes u. Only clocks of the last messages
 * in some lane are kept.
 */
#include "proto/schedule/schedule_sync.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "proto/wire/grow.h"

#define NONE UINT32_MAX

struct edge {
    uint32_t width; /* lanes */
    uint32_t lane;  /* the next one to use */
    uint32_t first; /* of its lanes, in the array of all */
    uint32_t phase; /* while counting: the last one that used it, */
    uint32_t used;  /* and how many messages that had here */
};

struct event {
    uint32_t chain;
    uint16_t number; /* in its chain, from 1 */
    uint32_t clock;  /* where it is, while some lane ends with the message */
    uint32_t users;  /* lanes that do */
};

struct ordering {
    const struct network *network;
    struct schedule *schedule;
    struct edge *edges;
    uint32_t *last; /* of each lane: its last message, or NONE */
    uint32_t lane_count;
    struct event *events; /* by message */
    uint32_t *chain_first;
    uint16_t *chain_length;
    uint32_t chain_count;
    uint16_t *clocks; /* lane_count + 1 of chain_count each */
    uint32_t *free_clocks;
    uint32_t free_count;
    int *path; /* of the message at hand */
    int path_length;
    uint32_t *preds; /* of the message at hand, rising */
    int pred_count;
    size_t capacity; /* of syncs */
};

/* ---- Lanes ------------------------------------------------------------------------------- */

static void take_path(struct ordering *o, size_t message)
{
    const struct schedule_message *m = &o->schedule->messages[message];
    o->path_length = network_path(o->network, m->from, m->to, o->path);
}

static int make_lanes(struct ordering *o)
{
    for (int i = 0; i < 2 * o->network->node_count; i++) {
        o->edges[i].first = o->lane_count;
        o->lane_count += o->edges[i].width;
    }
    o->last = malloc(sizeof *o->last * (o->lane_count + 1));
    if (o->last == NULL)
        return -1;
    memset(o->last, 0xff, sizeof *o->last * (o->lane_count + 1));
    return 0;
}

static int make_chains(struct ordering *o)
{
    int ranks = o->network->rank_count;

    for (int i = 0; i < ranks; i++) {
        o->chain_first[i] = o->chain_count;
        o->chain_count += o->edges[NETWORK_UP(o->network->leaf[i])].width;
    }
    o->chain_length = calloc(o->chain_count + 1, sizeof *o->chain_length);
    return o->chain_length != NULL ? 0 : -1;
}

static int make_clocks(struct ordering *o)
{
    size_t count = (size_t)o->lane_count + 1;

    o->clocks = malloc(sizeof *o->clocks * count * (o->chain_count + 1));
    o->free_clocks = malloc(sizeof *o->free_clocks * count);
    if (o->clocks == NULL || o->free_clocks == NULL)
        return -1;
    while (o->free_count < count) {
        o->free_clocks[o->free_count] = o->free_count;
        o->free_count++;
    }
    return 0;
}

/* ---- Clocks ------------------------------------------------------------------------------ */

static uint16_t *clock_of(const struct ordering *o, uint32_t message)
{
    return o->clocks + (size_t)o->events[message].clock * o->chain_count;
}

static void merge_clock(uint16_t *restrict into, const uint16_t *restrict from, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        into[i] = into[i] > from[i] ? into[i] : from[i];
}

static void add_pred(struct ordering *o, uint32_t message)
{
    int at = o->pred_count;

    for (int i = 0; i < o->pred_count; i++) {
        if (o->preds[i] == message)
            return;
    }
    for (; at > 0 && o->preds[at - 1] > message; at--)
        o->preds[at] = o->preds[at - 1];
    o->preds[at] = message;
    o->pred_count++;
}

/* A predecessor that precedes another one. */
static bool is_redundant(const struct ordering *o, int pred)
{
    const struct event *event = &o->events[o->preds[pred]];

    for (int i = 0; i < o->pred_count; i++) {
        if (i != pred && clock_of(o, o->preds[i])[event->chain] >= event->number)
            return true;
    }
    return false;
}

static void start_event(struct ordering *o, uint32_t message)
{
    struct event *event = &o->events[message];
    uint16_t from = o->schedule->messages[message].from;

    event->chain = o->chain_first[from] + o->edges[o->path[0]].lane;
    event->number = ++o->chain_length[event->chain];
    event->users = (uint32_t)o->path_length;
    event->clock = o->free_clocks[--o->free_count];
    memset(clock_of(o, message), 0, sizeof(uint16_t) * o->chain_count);
}

/* Puts the message at the end of its lanes; what was there is not needed any more. */
static void advance_lanes(struct ordering *o, uint32_t message)
{
    for (int k = 0; k < o->path_length; k++) {
        struct edge *e = &o->edges[o->path[k]];
        uint32_t *last = &o->last[e->first + e->lane];
        if (*last != NONE && --o->events[*last].users == 0)
            o->free_clocks[o->free_count++] = o->events[*last].clock;
        *last = message;
        e->lane = e->lane + 1 == e->width ? 0 : e->lane + 1;
    }
}

/* ---- Synchronisations -------------------------------------------------------------------- */

static int order(struct ordering *o, uint32_t message)
{
    struct schedule *s = o->schedule;

    take_path(o, message);
    /* The last messages of the lanes that the message will take. */
    o->pred_count = 0;
    for (int k = 0; k < o->path_length; k++) {
        const struct edge *e = &o->edges[o->path[k]];
        uint32_t last = o->last[e->first + e->lane];
        if (last != NONE)
            add_pred(o, last);
    }
    start_event(o, message);
    struct event *event = &o->events[message];
    for (int i = 0; i < o->pred_count; i++) {
        if (is_redundant(o, i))
            continue;
        merge_clock(clock_of(o, message), clock_of(o, o->preds[i]), o->chain_count);
        if (o->events[o->preds[i]].chain == event->chain)
            continue;
        if (!GROW(s->syncs, o->capacity, s->sync_count + 1, 1024))
            return -1;
        s->syncs[s->sync_count++] = (struct schedule_sync){o->preds[i], message};
    }
    clock_of(o, message)[event->chain] = event->number;
    advance_lanes(o, message);
    return 0;
}

static int ordering_prepare(struct ordering *o)
{
    size_t edges = 2 * (size_t)o->network->node_count, path = (size_t)o->network->path_max + 1;

    o->edges = calloc(edges, sizeof *o->edges);
    o->path = calloc(path, sizeof *o->path);
    o->preds = calloc(path, sizeof *o->preds);
    o->events = calloc(o->schedule->message_count + 1, sizeof *o->events);
    o->chain_first = calloc((size_t)o->network->rank_count + 1, sizeof *o->chain_first);
    if (o->edges == NULL || o->path == NULL || o->preds == NULL || o->events == NULL ||
        o->chain_first == NULL)
        return -1;
    for (size_t i = 0; i < o->schedule->message_count; i++) {
        take_path(o, i);
        for (int k = 0; k < o->path_length; k++) {
            struct edge *e = &o->edges[o->path[k]];
            uint32_t phase = o->schedule->messages[i].phase;
            e->used = e->used > 0 && e->phase == phase ? e->used + 1 : 1;
            e->phase = phase;
            e->width = e->used > e->width ? e->used : e->width;
        }
    }
    return make_lanes(o) < 0 || make_chains(o) < 0 || make_clocks(o) < 0 ? -1 : 0;
}

static void ordering_finish(struct ordering *o)
{
    free(o->edges);
    free(o->last);
    free(o->events);
    free(o->chain_first);
    free(o->chain_length);
    free(o->clocks);
    free(o->free_clocks);
    free(o->path);
    free(o->preds);
}

int schedule_sync_fill(struct schedule *schedule, const struct network *network)
{
    struct ordering o = {.network = network, .schedule = schedule};
    int failed = ordering_prepare(&o);

    schedule->sync_count = 0;
    for (uint32_t i = 0; !failed && i < schedule->message_count; i++)
        failed = order(&o, i);
    ordering_finish(&o);
    return failed;
}
