/*
 * exchange_random.c - RS_N and RS_NL of Wang & Ranka.
 *
 * COM is compressed to a list for each sender, in random order, without which low ranks would be
 * everybody's first. Each phase begins at a random sender and lets every one in turn take the first
 * entry of its list whose receiver is still free; what was taken is replaced by the last of the
 * list. With a network the whole path must be free, too (Figure 4), and an entry whose reverse
 * still waits is preferred: both go in this phase if the reverse can.
 */
#include <stdbool.h>
#include <stdlib.h>

#include "proto/exchange/exchange_part.h"

#define NONE UINT32_MAX

struct drawing {
    struct exchange *x;
    const struct network *network; /* NULL: RS_N */
    struct exchange_rows rows;     /* what is left of a row stands at its begin */
    uint32_t *left;                /* by rank: entries of its row */
    uint32_t *sends, *receives;    /* by rank: the phase + 1 in which it last did */
    uint32_t *waiting;             /* by pair: message + 1, or 0; with a network */
    uint32_t *used, *used_phase;   /* by edge: messages, and the phase + 1 they are in */
    uint32_t *capacity;            /* by edge */
    int *path;
    uint32_t phase;
    uint64_t random;
};

static uint64_t next_random(struct drawing *d)
{
    d->random ^= d->random << 13;
    d->random ^= d->random >> 7;
    d->random ^= d->random << 17;
    return d->random;
}

static uint32_t random_below(struct drawing *d, uint32_t limit)
{
    return (uint32_t)((next_random(d) >> 32) * limit >> 32);
}

/* ---- Links ------------------------------------------------------------------------------- */

static bool path_is_free(struct drawing *d, const struct exchange_message *m)
{
    if (d->network == NULL)
        return true;
    int length = network_path(d->network, m->from, m->to, d->path);
    for (int k = 0; k < length; k++) {
        int e = d->path[k];
        if (d->used_phase[e] == d->phase + 1 && d->used[e] >= d->capacity[e])
            return false;
    }
    return true;
}

/* ---- A phase ----------------------------------------------------------------------------- */

static bool message_can_go(struct drawing *d, const struct exchange_message *m)
{
    return d->sends[m->from] != d->phase + 1 && d->receives[m->to] != d->phase + 1 &&
           path_is_free(d, m);
}

static void drawing_take(struct drawing *d, uint16_t from, uint32_t at)
{
    uint32_t *row = d->rows.list + d->rows.first[from], message = row[at];
    struct exchange_message *m = &d->x->messages[message];

    m->phase = d->phase;
    if (d->network != NULL) {
        int length = network_path(d->network, m->from, m->to, d->path);
        for (int k = 0; k < length; k++) {
            int e = d->path[k];
            d->used[e] = d->used_phase[e] == d->phase + 1 ? d->used[e] + 1 : 1;
            d->used_phase[e] = d->phase + 1;
        }
    }
    d->sends[from] = d->receives[m->to] = d->phase + 1;
    if (d->network != NULL)
        d->waiting[(size_t)from * (size_t)d->x->ranks + m->to] = 0;
    row[at] = row[--d->left[from]];
}

/* The message back, if it waits and can go in this phase as well. */
static uint32_t reverse_of(struct drawing *d, const struct exchange_message *m)
{
    uint32_t back =
        d->network != NULL ? d->waiting[(size_t)m->to * (size_t)d->x->ranks + m->from] : 0;
    return back > 0 && message_can_go(d, &d->x->messages[back - 1]) ? back - 1 : NONE;
}

/* Which entry of the row goes now: the first that can, with a network one that can both ways. */
static uint32_t drawing_choose(struct drawing *d, uint16_t from, uint32_t *back)
{
    const uint32_t *row = d->rows.list + d->rows.first[from];
    uint32_t chosen = NONE;

    *back = NONE;
    for (uint32_t at = 0; at < d->left[from]; at++) {
        const struct exchange_message *m = &d->x->messages[row[at]];
        if (!message_can_go(d, m))
            continue;
        chosen = chosen == NONE ? at : chosen;
        if (d->network == NULL)
            break;
        *back = reverse_of(d, m);
        if (*back != NONE)
            return at;
    }
    return chosen;
}

static void drawing_take_back(struct drawing *d, uint32_t back)
{
    uint16_t from = d->x->messages[back].from;
    const uint32_t *row = d->rows.list + d->rows.first[from];
    uint32_t at = 0;

    while (row[at] != back)
        at++;
    drawing_take(d, from, at);
}

/* Returns how many messages it took. */
static size_t draw_phase(struct drawing *d)
{
    uint32_t ranks = (uint32_t)d->x->ranks, start = random_below(d, ranks), back;
    size_t taken = 0;

    for (uint32_t i = 0; i < ranks; i++) {
        uint16_t from = (uint16_t)((start + i) % ranks);
        uint32_t at = drawing_choose(d, from, &back);
        if (at == NONE)
            continue;
        drawing_take(d, from, at);
        taken++;
        if (back != NONE) {
            drawing_take_back(d, back);
            taken++;
        }
    }
    return taken;
}

/* ---- The whole --------------------------------------------------------------------------- */

static int prepare_links(struct drawing *d)
{
    size_t edges = 2 * (size_t)d->network->node_count, ranks = (size_t)d->x->ranks;
    uint64_t slowest = network_slowest(d->network);

    d->used = calloc(edges, sizeof *d->used);
    d->used_phase = calloc(edges, sizeof *d->used_phase);
    d->capacity = calloc(edges, sizeof *d->capacity);
    d->path = calloc((size_t)d->network->path_max + 1, sizeof *d->path);
    d->waiting = calloc(ranks * ranks + 1, sizeof *d->waiting);
    if (d->used == NULL || d->used_phase == NULL || d->capacity == NULL || d->path == NULL ||
        d->waiting == NULL)
        return -1;
    for (size_t e = 0; e < edges; e++)
        d->capacity[e] = (uint32_t)(network_rate(d->network, e) / slowest);
    for (uint32_t i = 0; i < d->x->count; i++)
        d->waiting[d->x->messages[i].from * ranks + d->x->messages[i].to] = i + 1;
    return 0;
}

static int drawing_prepare(struct drawing *d)
{
    size_t ranks = (size_t)d->x->ranks + 1;

    d->left = calloc(ranks, sizeof *d->left);
    d->sends = calloc(ranks, sizeof *d->sends);
    d->receives = calloc(ranks, sizeof *d->receives);
    if (exchange_rows_create(&d->rows, d->x, 0) < 0 || d->left == NULL || d->sends == NULL ||
        d->receives == NULL)
        return -1;
    for (int r = 0; r < d->x->ranks; r++) {
        uint32_t *row = d->rows.list + d->rows.first[r];
        d->left[r] = (uint32_t)(d->rows.first[r + 1] - d->rows.first[r]);
        for (uint32_t i = d->left[r]; i > 1; i--) {
            uint32_t k = random_below(d, i), held = row[i - 1];
            row[i - 1] = row[k];
            row[k] = held;
        }
    }
    return d->network != NULL ? prepare_links(d) : 0;
}

static void drawing_finish(struct drawing *d)
{
    exchange_rows_destroy(&d->rows);
    free(d->left);
    free(d->sends);
    free(d->receives);
    free(d->waiting);
    free(d->used);
    free(d->used_phase);
    free(d->capacity);
    free(d->path);
}

int exchange_random_fill(struct exchange *x, const struct network *network, uint64_t seed)
{
    struct drawing d = {.x = x, .network = network, .random = seed * 2 + 1};
    int failed = drawing_prepare(&d);

    for (size_t left = x->count; !failed && left > 0; d.phase++)
        left -= draw_phase(&d);
    x->phases = d.phase;
    drawing_finish(&d);
    return failed;
}
