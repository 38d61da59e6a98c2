/*
 * tiles.c - tiled loops: the calls of covey.h. So far they say that they are not there.
 */
#include "lib/error.h"

static int not_there(void)
{
    return error_set(COVEY_EINVAL, "tiles: not yet in this library");
}

int covey_tile_next(const covey_tile_t *tile, struct covey_tile_row *row)
{
    (void)tile;
    (void)row;
    return 0;
}

int covey_tiles_plan(const struct covey_tiles_loop *loop, const struct covey_tiles_options *options,
                     int tasks, struct covey_tiles_plan *plan)
{
    (void)loop;
    (void)options;
    (void)tasks;
    (void)plan;
    return not_there();
}

int covey_tiles_skew(struct covey_tiles_loop *loop)
{
    (void)loop;
    return not_there();
}

int covey_tiles_create(covey_team_t *team, const struct covey_tiles_loop *loop,
                       const struct covey_tiles_options *options, covey_tiles_t **tiles)
{
    (void)team;
    (void)loop;
    (void)options;
    (void)tiles;
    return not_there();
}

int covey_tiles_run(covey_tiles_t *tiles, struct covey_tiles_timing *timing)
{
    (void)tiles;
    (void)timing;
    return not_there();
}

void covey_tiles_info(const covey_tiles_t *tiles, struct covey_tiles_plan *plan)
{
    (void)tiles;
    (void)plan;
}

const covey_tile_t *covey_tiles_part(const covey_tiles_t *tiles)
{
    (void)tiles;
    return NULL;
}

const void *covey_tiles_value(const covey_tiles_t *tiles, const int64_t *point)
{
    (void)tiles;
    (void)point;
    return NULL;
}

int covey_tiles_gather(covey_tiles_t *tiles, int root, void *values)
{
    (void)tiles;
    (void)root;
    (void)values;
    return not_there();
}

void covey_tiles_free(covey_tiles_t **tiles)
{
    (void)tiles;
}
