/*
 * tiles_run.c - the pipeline: a task computes its tiles one after the other.
 *
 * Overlapping (section 4 of Koziris, Sotiropoulos & Goumas): while tile k is computed the faces for
 * k + 1 are received and those of k - 1 are sent. A task waits for the faces that a tile needs and
 * for no others, so that one which is late now and then is not waited for twice. Blocking (section
 * 3): it receives, computes and sends, and nothing goes on beside.
 */
#include "lib/msg/clock.h"
#include "lib/msg/error.h"
#include "lib/tiles/tiles.h"

#include <string.h>

/* ---- computing ------------------------------------------------------------------------------- */

/* Cuts the layer into tiles from `dim` on. */
/* NOLINTNEXTLINE(misc-no-recursion): as deep as there are dimensions */
static void compute_from(struct covey_tiles *t, const struct covey_tile *layer, int dim)
{
    if (dim == t->shape.space.dims) {
        if (tiling_space_meets(&t->shape.space, &layer->box)) {
            t->loop.compute(layer, t->loop.context);
            t->timing.tiles++;
        }
        return;
    }
    int64_t side = dim == t->shape.grid.along ? 0 : t->shape.tile[dim];
    int64_t end = layer->box.end[dim], step = side > 0 ? side : end - layer->box.first[dim];
    for (int64_t at = layer->box.first[dim]; at < end; at += step) {
        struct covey_tile part = *layer;
        part.box.first[dim] = at;
        part.box.end[dim] = at + step < end ? at + step : end;
        compute_from(t, &part, dim + 1);
    }
}

static void layer_compute(struct covey_tiles *t, int64_t k)
{
    struct covey_tile layer = t->part;
    tiles_shape_layer(&t->shape, k, &layer.box);
    uint64_t since_us = clock_us();
    compute_from(t, &layer, 0);
    tiles_book(&since_us, &t->timing.computation_s);
}

/* ---- schedules ------------------------------------------------------------------------------- */

typedef int channel_fn(struct covey_tiles *t, struct tiles_channel *c, int64_t k);

static int each_channel(struct covey_tiles *t, struct tiles_channel *channels, channel_fn *fn,
                        int64_t k)
{
    int error = COVEY_OK;
    for (int i = 0; i < t->shape.space.dims && error == COVEY_OK; i++)
        error = fn(t, &channels[i], k);
    return error;
}

static int expect(struct covey_tiles *t, struct tiles_channel *c, int64_t k)
{
    (void)k;
    return tiles_channel_expect(t, c);
}

static int flush(struct covey_tiles *t, struct tiles_channel *c, int64_t k)
{
    (void)k;
    return tiles_channel_flush(t, c);
}

static int steps(struct covey_tiles *t, channel_fn *take, channel_fn *give)
{
    int error = COVEY_OK;
    for (int64_t k = t->first_k; k < t->end_k && error == COVEY_OK; k++) {
        error = each_channel(t, t->in, take, k);
        if (error != COVEY_OK)
            break;
        layer_compute(t, k);
        error = each_channel(t, t->out, give, k);
    }
    return error;
}

static int overlap_run(struct covey_tiles *t)
{
    int error = each_channel(t, t->in, expect, 0);
    if (error == COVEY_OK)
        error = steps(t, tiles_channel_take, tiles_channel_give);
    return error != COVEY_OK ? error : each_channel(t, t->out, flush, 0);
}

static int tiles_run(struct covey_tiles *t)
{
    int error = t->plan.schedule == COVEY_TILES_OVERLAP
                    ? overlap_run(t)
                    : steps(t, tiles_channel_take_now, tiles_channel_give_now);
    if (error == COVEY_OK)
        return error;
    error = tiles_talk_fail(&t->talk, error);
    for (int i = 0; i < t->shape.space.dims; i++) {
        tiles_channel_abandon(t, &t->in[i]);
        tiles_channel_abandon(t, &t->out[i]);
    }
    return error;
}

int covey_tiles_run(covey_tiles_t *tiles, struct covey_tiles_timing *timing)
{
    if (tiles == NULL)
        return error_set(COVEY_EINVAL, "tiles: NULL");
    int error = covey_barrier(tiles->team);
    if (error == COVEY_OK)
        error = tiles_talk_begin(&tiles->talk, tiles->team);
    if (error != COVEY_OK)
        return error;
    for (int i = 0; i < tiles->shape.space.dims; i++)
        tiles->out[i].next = 0;
    memset(&tiles->timing, 0, sizeof tiles->timing);
    uint64_t since_us = clock_us();
    if (tiles->working)
        error = tiles_run(tiles);
    tiles_book(&since_us, &tiles->timing.total_s);
    tiles->timing.points = tiles->points;
    if (timing != NULL)
        *timing = tiles->timing;
    return error;
}
