/*
 * tiles_gather.c - all values of a tiled loop at one member, in the order of the untiled loop.
 */
#include "lib/msg/error.h"
#include "lib/tiles/tiles.h"

#include <stdlib.h>
#include <string.h>

/* Puts the values of a part, as they were packed, where the untiled loop has them. */
static void place_part(const struct covey_tiles *t, const struct covey_tile *part,
                       const uint8_t *packed, uint8_t *values)
{
    const struct tiling_space *space = &t->shape.space;
    size_t width = t->shape.value_bytes;
    int64_t stride[TILING_DIMS_MAX], size = 1;
    struct covey_tile_row row = {0};
    for (int i = space->dims - 1; i >= 0; i--) {
        stride[i] = size;
        size *= space->size[i];
    }
    while (covey_tile_next(part, &row)) {
        int64_t at = 0, step = 0;
        for (int i = 0; i < space->dims; i++) {
            at += row.point[i] * stride[i];
            step += row.step[i] * stride[i];
        }
        for (int64_t i = 0; i < row.count; i++, at += step, packed += width)
            memcpy(values + (size_t)at * width, packed, width);
    }
}

/* The part of any rank, for its rows alone. */
static void part_of(const struct covey_tiles *t, int rank, struct tiles_store *none,
                    struct covey_tile *part)
{
    int32_t place[TILING_DIMS_MAX];
    *none = (struct tiles_store){.shape = &t->shape};
    part->store = none;
    tiling_grid_place(&t->shape.grid, rank, place);
    tiling_grid_part(&t->shape.grid, place, &part->box);
}

static int take_from(struct covey_tiles *t, int rank, uint8_t *values)
{
    struct tiles_store none;
    struct covey_tile part;
    struct tiles_message m = {NULL};
    part_of(t, rank, &none, &part);
    size_t count = tiles_store_count(&none, &part.box), came = 0;
    uint8_t *packed = malloc(count > 0 ? count * t->shape.value_bytes : 1);
    if (packed == NULL)
        return error_code(COVEY_ENOMEM);
    const struct tiles_array a = {
        .rank = rank, .type = t->shape.type, .base = packed, .count = count * t->shape.width};
    int error = tiles_receive(&t->talk, &a, &m);
    if (error == COVEY_OK)
        error = tiles_await(&t->talk, &m, &came);
    tiles_abandon(&t->talk, &m);
    if (error == COVEY_OK && came != count * t->shape.width)
        error = error_set(COVEY_EPROTO, "tiles: member %d sent %zu elements, not %zu", rank, came,
                          count * t->shape.width);
    if (error == COVEY_OK)
        place_part(t, &part, packed, values);
    free(packed);
    return error;
}

/* To the root, or (rank < 0) to where they belong. */
static int give_to(struct covey_tiles *t, int rank, uint8_t *values)
{
    struct tiles_message m = {NULL};
    uint8_t *packed = malloc(t->points > 0 ? (size_t)t->points * t->shape.value_bytes : 1);
    if (packed == NULL)
        return error_code(COVEY_ENOMEM);
    size_t count = t->working ? tiles_store_pack(&t->store, &t->part.box, packed) : 0;
    const struct tiles_array a = {
        .rank = rank, .type = t->shape.type, .base = packed, .count = count * t->shape.width};
    int error = COVEY_OK;
    if (rank < 0 && t->working)
        place_part(t, &t->part, packed, values);
    else if (rank >= 0)
        error = tiles_send(&t->talk, &a, &m);
    if (error == COVEY_OK)
        error = tiles_await(&t->talk, &m, NULL);
    tiles_abandon(&t->talk, &m);
    free(packed);
    return error;
}

int covey_tiles_gather(covey_tiles_t *tiles, int root, void *values)
{
    if (tiles == NULL || root < 0 || root >= covey_team_size(tiles->team) ||
        (root == covey_team_rank(tiles->team) && values == NULL))
        return error_set(COVEY_EINVAL, "tiles: NULL, or no rank %d", root);
    int error = tiles_talk_begin(&tiles->talk, tiles->team);
    if (error != COVEY_OK)
        return error;
    int tasks = tiling_grid_count(&tiles->shape.grid), rank = covey_team_rank(tiles->team);
    if (rank != root && rank < tasks)
        error = give_to(tiles, root, NULL);
    for (int i = 0; rank == root && i < tasks && error == COVEY_OK; i++)
        error = i == rank ? give_to(tiles, -1, values) : take_from(tiles, i, values);
    return error != COVEY_OK ? tiles_talk_fail(&tiles->talk, error) : error;
}
