/*
 * tiling_play.c - the tiles of all tasks played against each other.
 *
 * (3) and (5) count a step of the slowest task for each time hyperplane, as if all tasks began each
 * step together. They do not: a task goes on as soon as what it needs is there. Here each tile
 * begins when the one before it at the same task is done and the faces that it needs have come; a
 * face waits for the one before it on the sender's link, and takes alpha + beta N, and as long as
 * switches store it on its way.
 *
 * In each layer tasks are visited in an order in which the first dimension runs fastest. So
 * whoever is visited finds all that it receives sent; and in the blocking schedule, where a task
 * sends along the first dimension first, a sender has by then heard of its earlier receivers.
 */
#include "proto/tiling/tiling.h"

static const struct tiling_player *behind(const struct tiling_play *p, const int32_t *place,
                                          int dim)
{
    int32_t there[TILING_DIMS_MAX];
    for (int i = 0; i < p->grid->dims; i++)
        there[i] = place[i] - (i == dim);
    return &p->players[tiling_grid_number(p->grid, there)];
}

static bool receives(const struct tiling_play *p, const int32_t *place, int dim)
{
    return dim != p->grid->along && p->face[dim].used && place[dim] > 0;
}

static bool sends(const struct tiling_play *p, const int32_t *place, int dim)
{
    return dim != p->grid->along && p->face[dim].used && place[dim] + 1 < p->grid->tasks[dim];
}

static double later(double a, double b)
{
    return a > b ? a : b;
}

static void player_overlap(const struct tiling_play *p, struct tiling_player *me,
                           const int32_t *place, int64_t layer)
{
    for (int i = 0; i < p->grid->dims; i++) {
        if (receives(p, place, i))
            me->now_s = later(me->now_s, behind(p, place, i)->given_s[i]) + p->face[i].start_s;
    }
    me->now_s += p->comp_s;
    /* Sends the faces of a tile: what a message costs the task, then its turn on the link. */
    for (int i = 0; i < p->grid->dims; i++) {
        if (!sends(p, place, i))
            continue;
        double *slot = &me->sent_s[i][layer % p->ahead];
        me->now_s = later(me->now_s, *slot) + p->face[i].start_s;
        me->link_s = later(me->link_s, me->now_s) + p->face[i].wire_s;
        *slot = me->link_s;
        me->given_s[i] = me->link_s + p->face[i].store_s + p->face[i].alpha_s;
    }
}

static bool next_place(const struct tiling_grid *g, int32_t *place)
{
    for (int i = 0; i < g->dims; i++) {
        if (++place[i] < g->tasks[i])
            return true;
        place[i] = 0;
    }
    return false;
}

static bool has_tile(const struct tiling_play *p, int task, int64_t layer)
{
    const struct tiling_column *c = &p->columns[task];
    return layer >= c->first / p->height && layer * p->height < c->end;
}

/* A sender waits until it is told that its face was received. */
static void block(const struct tiling_play *p, struct tiling_player *me, const int32_t *place)
{
    for (int i = 0; i < p->grid->dims; i++) {
        if (!receives(p, place, i))
            continue;
        struct tiling_player *sender = (struct tiling_player *)behind(p, place, i);
        const struct tiling_play_face *f = &p->face[i];
        me->now_s =
            later(me->now_s, sender->now_s + f->start_s + f->alpha_s + f->wire_s + f->store_s);
        sender->now_s = me->now_s + f->alpha_s;
    }
    me->now_s += p->comp_s;
}

static void play_layer(const struct tiling_play *p, int64_t layer, bool overlapped)
{
    int32_t place[TILING_DIMS_MAX] = {0};
    do {
        int task = tiling_grid_number(p->grid, place);
        struct tiling_player *me = &p->players[task];
        if (!has_tile(p, task, layer))
            continue;
        if (overlapped)
            player_overlap(p, me, place, layer);
        else
            block(p, me, place);
    } while (next_place(p->grid, place));
}

/* What a tile costs its task, or keeps its link, whatever the others do. */
static double tile_alone(const struct tiling_play *p, const int32_t *place, bool overlapped)
{
    double busy_s = p->comp_s, wire_s = 0;
    for (int i = 0; i < p->grid->dims; i++) {
        const struct tiling_play_face *f = &p->face[i];
        bool in = receives(p, place, i), out = sends(p, place, i);
        wire_s += out ? f->wire_s : 0;
        if (overlapped)
            busy_s += (in + out) * f->start_s;
        else if (out)
            busy_s += f->start_s + 2 * f->alpha_s + f->wire_s + f->store_s;
    }
    return later(busy_s, overlapped ? wire_s : 0);
}

double tiling_play_bound(const struct tiling_play *p, int64_t layers, bool overlapped)
{
    int32_t place[TILING_DIMS_MAX] = {0};
    double bound_s = 0;
    do {
        const struct tiling_column *c = &p->columns[tiling_grid_number(p->grid, place)];
        int64_t end = (c->end + p->height - 1) / p->height, first = c->first / p->height;
        int64_t tiles = (end < layers ? end : layers) - first - 1; /* the last may be lower */
        if (c->first < c->end && tiles > 0)
            bound_s = later(bound_s, (double)tiles * tile_alone(p, place, overlapped));
    } while (next_place(p->grid, place));
    return bound_s;
}

static double players_end(const struct tiling_play *p)
{
    double end_s = 0;
    for (int i = 0; i < tiling_grid_count(p->grid); i++)
        end_s = later(end_s, p->players[i].now_s);
    return end_s;
}

double tiling_play_run(const struct tiling_play *p, int64_t layers, bool overlapped)
{
    int64_t played = layers < p->layers_max ? layers : p->layers_max;
    struct tiling_play last = *p; /* the last layer, whose tiles may be lower */
    double half_s = 0;
    last.comp_s *= p->last_share;
    for (int i = 0; i < p->grid->dims; i++)
        last.face[i].wire_s *= p->last_share;
    for (int i = 0; i < tiling_grid_count(p->grid); i++)
        p->players[i] = (struct tiling_player){0};
    for (int64_t k = 0; k < played; k++) {
        play_layer(k + 1 == layers ? &last : p, k, overlapped);
        if (k == played / 2)
            half_s = players_end(p);
    }
    double end_s = players_end(p);
    int64_t rest = played - 1 - played / 2; /* in the second half all layers take the same */
    return rest > 0 ? end_s + (end_s - half_s) / (double)rest * (double)(layers - played) : end_s;
}
