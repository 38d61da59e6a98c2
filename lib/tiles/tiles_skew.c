/*
 * tiles_skew.c - the shape of tiles, H = diag(1 / sides) skew: from sides, of least communication,
 * or any skew that is legal (sections 2.3 and 2.4 of Koziris, Sotiropoulos & Goumas).
 */
#include "lib/msg/error.h"
#include "lib/tiles/tiles.h"

#include <math.h>

#define POINTS_MAX 1e15

static int set_skew(struct covey_tiles_loop *loop, const struct tiling_matrix *skew)
{
    for (int i = 0; i < loop->dims; i++) {
        for (int k = 0; k < loop->dims; k++) {
            if (skew->at[i][k] > INT32_MAX || skew->at[i][k] < -INT32_MAX)
                return error_set(COVEY_EINVAL, "tiles: the skew is beyond 32 bits");
        }
    }
    for (int i = 0; i < loop->dims; i++) {
        for (int k = 0; k < loop->dims; k++)
            loop->skew[i][k] = (int32_t)skew->at[i][k];
    }
    return COVEY_OK;
}

int covey_tiles_skew(struct covey_tiles_loop *loop)
{
    struct tiling_matrix skew;
    struct tiling_dependences d;
    if (loop == NULL)
        return error_set(COVEY_EINVAL, "tiles: NULL");
    int error = tiles_shape_read(loop, &d);
    if (error != COVEY_OK)
        return error;
    if (tiling_find_skew(loop->dims, &d, &skew) != 0)
        return error_set(COVEY_EINVAL,
                         "tiles: a dependence is not lexicographically positive: its loop reads "
                         "what it has not computed yet; or it reaches back too far");
    return set_skew(loop, &skew);
}

int covey_tiles_sides(struct covey_tiles_loop *loop,
                      const int64_t side[COVEY_TILES_DIMS_MAX][COVEY_TILES_DIMS_MAX],
                      struct covey_tiles_options *options)
{
    struct tiling_dependences d;
    struct tiling_matrix sides = {0};
    struct tiling tiling;
    if (loop == NULL || side == NULL || options == NULL)
        return error_set(COVEY_EINVAL, "tiles: NULL");
    int error = tiles_shape_read(loop, &d);
    if (error != COVEY_OK)
        return error;
    for (int i = 0; i < loop->dims; i++) {
        for (int k = 0; k < loop->dims; k++)
            sides.at[k][i] = side[i][k];
    }
    if (tiling_from_sides(&tiling, loop->dims, &sides) != 0)
        return error_set(COVEY_EINVAL, "tiles: the sides are dependent, or too long");
    struct tiling_verdict v = tiling_check(&tiling, &d);
    if (v.fault == TILING_NEGATIVE)
        return error_set(COVEY_EINVAL,
                         "tiles: HD >= 0 does not hold: dependence %d leads out of a tile against "
                         "side %d",
                         v.dependence + 1, v.row + 1);
    error = set_skew(loop, &tiling.row);
    for (int i = 0; i < loop->dims && error == COVEY_OK; i++)
        options->tile[i] = tiling.unit[i];
    return error;
}

/* Whole sides, as long as the dependences at least: a part may be no shorter. */
static int64_t whole_side(const struct tiling_dependences *skewed, int dim, double side)
{
    int64_t whole = llround(side);
    for (int j = 0; j < skewed->count; j++)
        whole = whole < skewed->vector[j][dim] ? skewed->vector[j][dim] : whole;
    return whole > 1 ? whole : 1;
}

static int longest_dimension(const struct covey_tiles_loop *loop)
{
    struct tiling_box box = {.first = {0}};
    for (int i = 0; i < loop->dims; i++)
        box.end[i] = loop->size[i];
    return tiling_along(loop->dims, &box);
}

int covey_tiles_shape(struct covey_tiles_loop *loop, int form, double points,
                      struct covey_tiles_options *options)
{
    struct tiling_dependences d, skewed;
    struct tiling_shape shape;
    if (loop == NULL || options == NULL || !(points >= 0 && points <= POINTS_MAX) ||
        (form != COVEY_TILES_OF_EACH && form != COVEY_TILES_OF_COLUMNS))
        return error_set(COVEY_EINVAL, "tiles: NULL, or no such shape of %g points", points);
    int error = tiles_shape_read(loop, &d);
    if (error != COVEY_OK)
        return error;
    if (options->along < 0 || options->along > loop->dims)
        return error_set(COVEY_EINVAL, "tiles: there is no dimension %d to go along",
                         (int)options->along);
    int along = options->along > 0 ? options->along - 1 : longest_dimension(loop);
    bool columns = form == COVEY_TILES_OF_COLUMNS;
    if (tiling_shape_find(loop->dims, &d, columns ? along : -1, points, &shape) != 0)
        return error_set(COVEY_EINVAL,
                         "tiles: no shape is found: the dependences do not lie to one "
                         "side, are too long, or too many");
    error = set_skew(loop, &shape.skew);
    if (error != COVEY_OK)
        return error;
    options->along = columns ? along + 1 : options->along;
    tiling_skew_dependences(loop->dims, &shape.skew, &d, &skewed);
    for (int i = 0; i < loop->dims; i++)
        options->tile[i] =
            points > 0 && !(columns && i == along) ? whole_side(&skewed, i, shape.sides[i]) : 0;
    return COVEY_OK;
}
