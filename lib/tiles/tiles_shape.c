/*
 * tiles_shape.c - a loop as it is tiled: checked, skewed, divided among tasks.
 */
#include "lib/msg/error.h"
#include "lib/tiles/tiles.h"

#include <string.h>

static int check_values(const struct covey_tiles_loop *loop, int tasks)
{
    if (covey_type_size(loop->type) == 0 || loop->type == COVEY_STRING ||
        loop->type == COVEY_MESSAGE || loop->width < 0)
        return error_set(COVEY_EINVAL, "tiles: values cannot be %d elements of %s",
                         (int)loop->width, covey_type_name(loop->type));
    if (tasks < 1)
        return error_set(COVEY_EINVAL, "tiles: %d tasks", tasks);
    return COVEY_OK;
}

static int check_options(const struct covey_tiles_loop *loop,
                         const struct covey_tiles_options *options)
{
    const struct covey_tiles_costs *c = &options->costs;
    if (options->schedule != COVEY_TILES_OVERLAP && options->schedule != COVEY_TILES_BLOCK)
        return error_set(COVEY_EINVAL, "tiles: unknown schedule %d", (int)options->schedule);
    if (options->faces != COVEY_TILES_ANY_WAY && options->faces != COVEY_TILES_MESSAGES)
        return error_set(COVEY_EINVAL, "tiles: unknown way of faces %d", (int)options->faces);
    if (options->along < 0 || options->along > loop->dims)
        return error_set(COVEY_EINVAL, "tiles: there is no dimension %d to go along",
                         (int)options->along);
    if (options->ahead < 0 || options->ahead > COVEY_TILES_AHEAD_MAX)
        return error_set(COVEY_EINVAL, "tiles: %d faces ahead are not 1 .. %d", (int)options->ahead,
                         COVEY_TILES_AHEAD_MAX);
    if (!(c->point_s >= 0 && c->alpha_s >= 0 && c->beta_s >= 0 && c->start_s >= 0 &&
          c->drag_s >= 0 && c->store_s >= 0))
        return error_set(COVEY_EINVAL, "tiles: a cost is negative");
    for (int i = 0; i < loop->dims; i++) {
        if (options->grid[i] < 0 || options->tile[i] < 0)
            return error_set(COVEY_EINVAL, "tiles: grid and tile of dimension %d are negative",
                             i + 1);
    }
    return COVEY_OK;
}

int tiles_shape_read(const struct covey_tiles_loop *loop, struct tiling_dependences *d)
{
    if (loop->dims < 1 || loop->dims > COVEY_TILES_DIMS_MAX)
        return error_set(COVEY_EINVAL, "tiles: %d dimensions are not 1 .. %d", (int)loop->dims,
                         COVEY_TILES_DIMS_MAX);
    if (loop->dependences < 0 || loop->dependences > COVEY_TILES_DEPENDENCES_MAX)
        return error_set(COVEY_EINVAL, "tiles: %d dependences are not 0 .. %d",
                         (int)loop->dependences, COVEY_TILES_DEPENDENCES_MAX);
    d->count = loop->dependences;
    for (int j = 0; j < loop->dependences; j++) {
        for (int i = 0; i < loop->dims; i++)
            d->vector[j][i] = loop->dependence[j][i];
    }
    return COVEY_OK;
}

/* HD >= 0 (section 2.3), with the dependences already in the indices of H. */
static int check_dependences(const struct tiles_shape *s)
{
    for (int j = 0; j < s->d.count; j++) {
        bool any = false;
        for (int i = 0; i < s->space.dims; i++) {
            any = any || s->d.vector[j][i] != 0;
            if (s->d.vector[j][i] < 0)
                return error_set(COVEY_EINVAL,
                                 "tiles: HD >= 0 does not hold: dependence %d goes back along "
                                 "dimension %d of the tiles; another skew is needed",
                                 j + 1, i + 1);
        }
        if (!any)
            return error_set(COVEY_EINVAL, "tiles: dependence %d is of a point on itself", j + 1);
    }
    return COVEY_OK;
}

static int set_space(struct tiles_shape *s, const struct covey_tiles_loop *loop)
{
    struct tiling_matrix skew = {0};
    struct tiling_dependences d = {0};
    int error = tiles_shape_read(loop, &d);
    if (error != COVEY_OK)
        return error;
    bool any = false;
    for (int i = 0; i < loop->dims; i++) {
        for (int k = 0; k < loop->dims; k++) {
            skew.at[i][k] = loop->skew[i][k];
            any = any || loop->skew[i][k] != 0;
        }
    }
    bool skewed = any;
    if (tiling_space_init(&s->space, loop->dims, loop->size, skewed ? &skew : NULL) != 0)
        return error_set(COVEY_EINVAL,
                         "tiles: the space has a size below 1 or above 2^40, or the "
                         "determinant of the skew is 0 or beyond %d",
                         (int)TILING_DENSITY_MAX);
    tiling_skew_dependences(loop->dims, &s->space.skew, &d, &s->d);
    s->type = loop->type;
    s->width = loop->width > 0 ? (size_t)loop->width : 1;
    s->value_bytes = s->width * covey_type_size(loop->type);
    return check_dependences(s);
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int set_grid(struct tiles_shape *s, const struct covey_tiles_options *options, int tasks)
{
    struct tiling_grid *g = &s->grid;
    g->dims = s->space.dims;
    g->box = s->space.box;
    g->along = options->along > 0 ? options->along - 1 : tiling_along(g->dims, &g->box);
    for (int i = 0; i < g->dims; i++) {
        int64_t extent = g->box.end[i] - g->box.first[i];
        s->tile[i] = options->tile[i] < extent ? options->tile[i] : extent;
        g->grain[i] = s->tile[i] > 0 && i != g->along ? s->tile[i] : 1;
        g->tasks[i] = options->grid[i];
    }
    if (g->tasks[g->along] > 1)
        return error_set(COVEY_EINVAL,
                         "tiles: a grid of %d tasks along dimension %d, whose tiles "
                         "are one task's",
                         (int)g->tasks[g->along], g->along + 1);
    if (tiling_grid_choose(g, &s->d, tasks) != 0)
        return error_set(COVEY_EINVAL,
                         "tiles: no such grid on %d tasks with parts that no "
                         "dependence reaches across",
                         tasks);
    return COVEY_OK;
}

int tiles_shape_make(struct tiles_shape *shape, const struct covey_tiles_loop *loop,
                     const struct covey_tiles_options *options, int tasks)
{
    memset(shape, 0, sizeof *shape);
    int error = check_values(loop, tasks);
    if (error == COVEY_OK)
        error = set_space(shape, loop);
    if (error == COVEY_OK)
        error = check_options(loop, options);
    if (error == COVEY_OK)
        error = set_grid(shape, options, tasks);
    if (error == COVEY_OK) {
        for (int j = 0; j < shape->d.count; j++) {
            const int64_t *d = shape->d.vector[j];
            for (int i = 0; i < shape->space.dims; i++) {
                shape->reach[i] = larger(shape->reach[i], d[i]);
                for (int k = 0; k < i && d[i] > 0; k++)
                    shape->carry[i][k] = larger(shape->carry[i][k], d[k]);
            }
        }
    }
    return error;
}

/* ---- boxes ----------------------------------------------------------------------------------- */

bool tiles_shape_has(const struct tiles_shape *s, const int32_t *place, int dim, int direction)
{
    int32_t there = place[dim] + direction;
    return dim != s->grid.along && s->reach[dim] > 0 && there >= 0 && there < s->grid.tasks[dim];
}

void tiles_shape_layer(const struct tiles_shape *s, int64_t k, struct tiling_box *box)
{
    int along = s->grid.along;
    int64_t first = s->grid.box.first[along] + k * s->tile[along], end = first + s->tile[along];
    box->first[along] = larger(box->first[along], first);
    box->end[along] = box->end[along] < end ? box->end[along] : end;
}

void tiles_shape_face(const struct tiles_shape *s, const int32_t *place, int dim, int64_t k,
                      struct tiling_box *face)
{
    tiling_grid_part(&s->grid, place, face);
    face->first[dim] = face->end[dim] - s->reach[dim];
    for (int i = 0; i < dim; i++) {
        if (i != s->grid.along)
            face->first[i] -= s->carry[dim][i];
    }
    tiles_shape_layer(s, k, face);
}

bool tiles_shape_halo(const struct tiles_shape *s, const int32_t *place, struct tiling_box *halo)
{
    int along = s->grid.along;
    tiling_grid_part(&s->grid, place, halo);
    for (int i = 0; i < s->space.dims; i++)
        halo->first[i] -= i == along ? 0 : s->reach[i];
    if (!tiling_space_trim(&s->space, along, halo))
        return false;
    halo->first[along] -= s->reach[along];
    return true;
}

/* Where the components before are given, points are steps apart. */
int64_t tiles_shape_face_most(const struct tiles_shape *s, int dim, int64_t z)
{
    int64_t most = 1;
    for (int i = 0; i < s->space.dims; i++) {
        int64_t step = s->space.basis.at[i][i];
        int64_t side = i == dim ? s->reach[i]
                       : i == s->grid.along
                           ? z
                           : tiling_grid_longest(&s->grid, i) + (i < dim ? s->carry[dim][i] : 0);
        most *= (side + step - 1) / step;
    }
    return most;
}

int64_t tiles_shape_face_size(const struct tiles_shape *s, int dim)
{
    int64_t size = s->reach[dim];
    for (int i = 0; i < s->space.dims; i++) {
        if (i != dim && i != s->grid.along)
            size *= tiling_grid_longest(&s->grid, i) + (i < dim ? s->carry[dim][i] : 0);
    }
    return size;
}
