/*
 * tiles.c - tiled loops of a team: making them, and what they hold. See tiles.h for the files of
 * this module.
 *
 * All members give the same loop and options, which is checked; then each finds by itself which
 * part is whose, and nobody tells anybody. Rank n of the team has the n-th place of the grid; those
 * beyond have nothing to compute, but take part in what all do.
 */
#include "lib/tiles/tiles.h"
#include "lib/msg/error.h"
#include "lib/onesided/onesided.h"

#include <stdlib.h>
#include <string.h>

/* ---- all members give the same --------------------------------------------------------------- */

static void mix(uint64_t *hash, int64_t value)
{
    *hash = (*hash ^ (uint64_t)value) * 0x100000001b3u;
    *hash ^= *hash >> 29;
}

static void mix_loop(uint64_t *hash, const struct covey_tiles_loop *loop)
{
    mix(hash, loop->dims);
    mix(hash, loop->dependences);
    mix(hash, loop->type);
    mix(hash, loop->width);
    for (int i = 0; i < loop->dims; i++) {
        mix(hash, loop->size[i]);
        for (int k = 0; k < loop->dims; k++)
            mix(hash, loop->skew[i][k]);
        for (int j = 0; j < loop->dependences; j++)
            mix(hash, loop->dependence[j][i]);
    }
}

static void mix_options(uint64_t *hash, const struct covey_tiles_options *options, int dims)
{
    const struct covey_tiles_costs *c = &options->costs;
    const double costs[] = {c->point_s, c->alpha_s, c->beta_s, c->start_s, c->drag_s, c->store_s};
    mix(hash, options->schedule);
    mix(hash, options->along);
    mix(hash, options->ahead);
    mix(hash, options->faces);
    for (int i = 0; i < dims; i++) {
        mix(hash, options->grid[i]);
        mix(hash, options->tile[i]);
    }
    int64_t bits[sizeof costs / sizeof costs[0]];
    memcpy(bits, costs, sizeof bits);
    for (size_t i = 0; i < sizeof bits / sizeof bits[0]; i++)
        mix(hash, bits[i]);
}

/* A member whose arguments are no good tells so by an error of its own. */
static int tiles_agree(struct covey_team *team, int error, const struct covey_tiles_loop *loop,
                       const struct covey_tiles_options *options)
{
    uint64_t hash = 0xcbf29ce484222325u;
    if (error == COVEY_OK) {
        mix_loop(&hash, loop);
        mix_options(&hash, options, loop->dims);
    }
    const uint64_t mine[] = {hash, ~hash, error != COVEY_OK};
    uint64_t all[3];
    char why[160];
    strncpy(why, covey_error_text(), sizeof why - 1);
    why[sizeof why - 1] = '\0';
    int failed = covey_allreduce(team, COVEY_OP_MAX, COVEY_UINT64, mine, all, 3);
    if (error != COVEY_OK)
        return error_set(error, "%s", why);
    if (failed != COVEY_OK)
        return failed;
    if (all[2] != 0)
        return error_set(COVEY_EINVAL, "tiles: another member could not");
    if (all[0] != ~all[1])
        return error_set(COVEY_EINVAL, "tiles: the members gave different loops or options");
    return COVEY_OK;
}

/* ---- making ---------------------------------------------------------------------------------- */

static int make_store(struct covey_tiles *t)
{
    struct tiling_box halo;
    int rank = covey_team_rank(t->team);
    t->store.shape = &t->shape;
    t->part.store = &t->store; /* its box is empty so far */
    if (rank >= tiling_grid_count(&t->shape.grid))
        return COVEY_OK;
    tiling_grid_place(&t->shape.grid, rank, t->place);
    if (!tiles_shape_halo(&t->shape, t->place, &halo))
        return COVEY_OK;
    int error = tiles_store_create(&t->store, &t->shape, &halo);
    if (error != COVEY_OK)
        return error;
    t->working = true;
    tiling_grid_part(&t->shape.grid, t->place, &t->part.box);
    tiles_store_border(&t->store, &t->part.box, &t->loop);
    int along = t->shape.grid.along;
    t->part.box.first[along] = halo.first[along] + t->shape.reach[along];
    t->part.box.end[along] = halo.end[along];
    t->points = (int64_t)tiles_store_count(&t->store, &t->part.box);
    return COVEY_OK;
}

/* Needs the height of tiles. */
static int make_channels(struct covey_tiles *t)
{
    int along = t->shape.grid.along, error = COVEY_OK;
    int64_t origin = t->shape.grid.box.first[along], z = t->shape.tile[along];
    if (!t->working)
        return COVEY_OK;
    t->first_k = (t->part.box.first[along] - origin) / z;
    t->end_k = (t->part.box.end[along] - origin + z - 1) / z;
    for (int i = 0; i < t->shape.space.dims && error == COVEY_OK; i++) {
        error = tiles_channel_open(t, &t->in[i], i, -1);
        if (error == COVEY_OK)
            error = tiles_channel_open(t, &t->out[i], i, 1);
    }
    return error;
}

/* Without costs no height can be chosen. */
static bool needs_costs(const struct covey_tiles *t, const struct covey_tiles_options *options)
{
    const struct covey_tiles_costs *c = &options->costs;
    bool messages = tiling_grid_count(&t->shape.grid) > 1 && c->alpha_s == 0;
    return options->tile[t->shape.grid.along] == 0 && (c->point_s == 0 || messages);
}

/* The first member chooses the height for all: they need not round alike. */
static int tiles_plan(struct covey_tiles *t, const struct covey_tiles_options *options,
                      const struct covey_tiles_costs *costs)
{
    int64_t *height = &t->shape.tile[t->shape.grid.along];
    int first = covey_team_rank(t->team) == 0, given = *height > 0, error = COVEY_OK;
    if (given || first)
        error = tiles_plan_make(&t->shape, options, costs, &t->plan);
    if (given)
        return error;
    int failed = covey_bcast(t->team, 0, COVEY_INT64, height, 1);
    if (first || failed != COVEY_OK)
        return error != COVEY_OK ? error : failed;
    return *height > 0 ? tiles_plan_make(&t->shape, options, costs, &t->plan)
                       : error_code(COVEY_ENOMEM); /* of the first one */
}

static int tiles_finish(struct covey_tiles *t, const struct covey_tiles_options *options)
{
    struct covey_tiles_costs costs = options->costs;
    bool puts = options->faces != COVEY_TILES_MESSAGES && tiling_grid_count(&t->shape.grid) > 1;
    int error = needs_costs(t, options) ? tiles_measure(t, puts, &costs) : COVEY_OK;
    if (error == COVEY_OK)
        error = tiles_plan(t, options, &costs);
    if (puts) /* none waits for a member that has failed */
        error = tiles_agree(t->team, error, &t->loop, options);
    if (puts && error == COVEY_OK)
        error = tiles_window_create(t->team, tiles_channel_memory(t), &t->memory);
    return error != COVEY_OK ? error : make_channels(t);
}

int covey_tiles_create(covey_team_t *team, const struct covey_tiles_loop *loop,
                       const struct covey_tiles_options *options, covey_tiles_t **tiles)
{
    const struct covey_tiles_options defaults = {0};
    if (team == NULL || tiles == NULL)
        return error_set(COVEY_EINVAL, "tiles: NULL");
    options = options != NULL ? options : &defaults;
    struct covey_tiles *t = calloc(1, sizeof *t);
    int error = t == NULL ? error_code(COVEY_ENOMEM)
                : loop == NULL || loop->compute == NULL
                    ? error_set(COVEY_EINVAL, "tiles: NULL")
                    : tiles_shape_make(&t->shape, loop, options, covey_team_size(team));
    error = tiles_agree(team, error, loop, options);
    if (error == COVEY_OK) {
        t->team = team;
        t->loop = *loop;
        t->ahead = options->ahead;
        error = tiles_agree(team, make_store(t), loop, options);
    }
    if (error == COVEY_OK)
        error = tiles_agree(team, tiles_finish(t, options), loop, options);
    if (error != COVEY_OK) {
        covey_tiles_free(&t);
        return error;
    }
    *tiles = t;
    return COVEY_OK;
}

void covey_tiles_free(covey_tiles_t **tiles)
{
    if (tiles == NULL || *tiles == NULL)
        return;
    for (int i = 0; i < TILING_DIMS_MAX; i++) {
        tiles_channel_close(&(*tiles)->in[i]);
        tiles_channel_close(&(*tiles)->out[i]);
    }
    window_discard(&(*tiles)->memory);
    tiles_store_destroy(&(*tiles)->store);
    free(*tiles);
    *tiles = NULL;
}

/* ---- asking ---------------------------------------------------------------------------------- */

void covey_tiles_info(const covey_tiles_t *tiles, struct covey_tiles_plan *plan)
{
    *plan = tiles->plan;
}

/* The part of one that has none is empty. */
const covey_tile_t *covey_tiles_part(const covey_tiles_t *tiles)
{
    return &tiles->part;
}

const void *covey_tiles_value(const covey_tiles_t *tiles, const int64_t *point)
{
    const struct tiling_space *space = &tiles->shape.space;
    int64_t p[TILING_DIMS_MAX];
    for (int i = 0; i < space->dims; i++) {
        if (point[i] < 0 || point[i] >= space->size[i])
            return NULL;
    }
    for (int i = 0; i < space->dims; i++) {
        p[i] = 0;
        for (int k = 0; k < space->dims; k++)
            p[i] += space->skew.at[i][k] * point[k];
        if (p[i] < tiles->part.box.first[i] || p[i] >= tiles->part.box.end[i])
            return NULL;
    }
    return tiles->working ? tiles_store_at(&tiles->store, p) : NULL;
}
