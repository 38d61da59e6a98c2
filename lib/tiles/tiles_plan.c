/*
 * tiles_plan.c - how a loop is tiled, and how long that should take (sections 3 and 4 of Koziris,
 * Sotiropoulos & Goumas, and section 6.2 for what cannot be overlapped).
 */
#include "lib/msg/error.h"
#include "lib/tiles/tiles.h"

#include <stdlib.h>

#define PLAYED_MAX (1 << 20) /* tiles; of more it is concluded */

/* What messages along a dimension cost a task that has neighbours on both sides of it, where there
 * is one. A blocking send ends when it is told that the face was received: a message more. */
static void add_face(const struct tiles_shape *s, int dim, const struct covey_tiles_costs *c,
                     struct tiling_step *step)
{
    double bytes = (double)tiles_shape_face_size(s, dim) * (double)s->value_bytes;
    double turns = s->grid.tasks[dim] > 2 ? 2 : 1;
    step->comm.base_s += c->alpha_s;
    step->comm.unit_s += c->beta_s * bytes;
    step->turn.base_s += turns * 2 * c->alpha_s;
    step->turn.unit_s += turns * c->beta_s * bytes;
    step->start.base_s += turns * c->start_s;
    step->start.unit_s += turns * c->drag_s * bytes;
}

static bool sends_along(const struct tiles_shape *s, int dim)
{
    return dim != s->grid.along && s->grid.tasks[dim] > 1 && s->reach[dim] > 0;
}

static struct tiling_step step_of(const struct tiles_shape *s, const struct covey_tiles_costs *c)
{
    struct tiling_step step = {.comp.unit_s = c->point_s};
    for (int i = 0; i < s->space.dims; i++) {
        if (i != s->grid.along)
            step.comp.unit_s *= (double)tiling_grid_longest(&s->grid, i);
        if (sends_along(s, i))
            add_face(s, i, c, &step);
    }
    return step;
}

/* ---- columns ----------------------------------------------------------------------------------
 */

/* A task with nothing to do has an empty one. */
static void column_make(const struct tiles_shape *s, int task, struct tiling_column *column)
{
    int32_t place[TILING_DIMS_MAX];
    struct tiling_box part;
    int along = s->grid.along;
    tiling_grid_place(&s->grid, task, place);
    tiling_grid_part(&s->grid, place, &part);
    if (!tiling_space_trim(&s->space, along, &part))
        return;
    *column = (struct tiling_column){.first = part.first[along] - s->grid.box.first[along],
                                     .end = part.end[along] - s->grid.box.first[along]};
    for (int i = 0; i < s->space.dims; i++)
        column->hops += place[i];
}

static int columns_make(const struct tiles_shape *s, struct tiling_pipe *pipe)
{
    int tasks = tiling_grid_count(&s->grid);
    struct tiling_column *columns = calloc((size_t)tasks, sizeof *columns);
    if (columns == NULL)
        return error_code(COVEY_ENOMEM);
    for (int i = 0; i < tasks; i++)
        column_make(s, i, &columns[i]);
    pipe->columns = columns;
    pipe->count = tasks;
    return COVEY_OK;
}

/* ---- the plan ---------------------------------------------------------------------------------
 */

static void fill_tiles(const struct tiles_shape *s, struct covey_tiles_plan *plan)
{
    int along = s->grid.along;
    plan->points = (double)s->tile[along];
    for (int i = 0; i < s->space.dims; i++) {
        int64_t longest = tiling_grid_longest(&s->grid, i);
        plan->grid[i] = s->grid.tasks[i];
        plan->extent[i] = s->grid.box.end[i] - s->grid.box.first[i];
        plan->tile[i] = s->tile[i] > 0 ? s->tile[i] : longest;
        plan->tiles[i] =
            s->tile[i] > 0 ? (plan->extent[i] + s->tile[i] - 1) / s->tile[i] : s->grid.tasks[i];
        plan->points *= i == along ? 1 : (double)longest;
        if (sends_along(s, i))
            plan->face_bytes[i] =
                tiles_shape_face_size(s, i) * s->tile[along] * (int64_t)s->value_bytes;
    }
}

/* V_comm by (1) and (2), of all that a task computes in a step. */
static void fill_volumes(const struct tiles_shape *s, struct covey_tiles_plan *plan)
{
    struct tiling t;
    struct tiling_matrix none;
    int64_t sides[TILING_DIMS_MAX];
    tiling_matrix_identity(&none);
    for (int i = 0; i < s->space.dims; i++)
        sides[i] = i == s->grid.along ? s->tile[i] : tiling_grid_longest(&s->grid, i);
    if (tiling_from_skew(&t, s->space.dims, &none, sides) != 0)
        return;
    plan->volume = tiling_volume(&t, &s->d, s->grid.along);
    plan->volume_all = tiling_volume_all(&t, &s->d);
}

/* How long switches have the first frame of a face. */
static double stored(const struct covey_tiles_costs *c, double bytes)
{
    return c->store_s * (bytes < TILES_FRAME_BYTES ? bytes : TILES_FRAME_BYTES);
}

/* All tasks against each other. */
static int plan_play(const struct tiles_shape *s, const struct tiling_pipe *pipe,
                     struct covey_tiles_plan *plan)
{
    const struct covey_tiles_costs *c = &plan->costs;
    int64_t z = s->tile[s->grid.along], layers = (pipe->extent + z - 1) / z;
    struct tiling_play play = {.grid = &s->grid,
                               .columns = pipe->columns,
                               .height = z,
                               .last_share = (double)(pipe->extent - (layers - 1) * z) / (double)z,
                               .comp_s = plan->computation_s,
                               .ahead = plan->ahead,
                               .layers_max = PLAYED_MAX / plan->tasks + 2};
    for (int i = 0; i < s->space.dims; i++) {
        double bytes = (double)plan->face_bytes[i];
        play.face[i] = (struct tiling_play_face){.used = sends_along(s, i),
                                                 .start_s = c->start_s + c->drag_s * bytes,
                                                 .wire_s = c->beta_s * bytes,
                                                 .store_s = stored(c, bytes),
                                                 .alpha_s = c->alpha_s};
    }
    play.players = calloc((size_t)plan->tasks, sizeof *play.players);
    if (play.players == NULL)
        return error_code(COVEY_ENOMEM);
    plan->played_block_s = tiling_play_run(&play, layers, false);
    plan->played_overlap_s = tiling_play_run(&play, layers, true);
    free(play.players);
    return COVEY_OK;
}

static void fill_times(const struct tiling_pipe *pipe, int64_t z, struct covey_tiles_plan *plan)
{
    const struct tiling_step *s = &pipe->step;
    plan->steps_block = tiling_pipe_steps(pipe, z, false);
    plan->steps_overlap = tiling_pipe_steps(pipe, z, true);
    plan->computation_s = s->comp.unit_s * (double)z;
    plan->communication_s = s->comm.base_s + s->comm.unit_s * (double)z;
    plan->block_s = tiling_pipe_time(pipe, z, false);
    plan->overlap_s = tiling_pipe_time(pipe, z, true);
}

int tiles_plan_make(struct tiles_shape *shape, const struct covey_tiles_options *options,
                    const struct covey_tiles_costs *costs, struct covey_tiles_plan *plan)
{
    int along = shape->grid.along;
    struct tiling_pipe pipe = {.step = step_of(shape, costs)};
    struct covey_tiles_plan made = {.dims = shape->space.dims,
                                    .tasks = tiling_grid_count(&shape->grid),
                                    .schedule = options->schedule,
                                    .along = along + 1,
                                    .ahead = options->ahead > 0 ? options->ahead : TILES_AHEAD,
                                    .costs = *costs};
    pipe.extent = shape->grid.box.end[along] - shape->grid.box.first[along];
    int error = columns_make(shape, &pipe);
    if (error != COVEY_OK)
        return error;
    if (options->tile[along] == 0)
        shape->tile[along] = tiling_pipe_best(&pipe, options->schedule == COVEY_TILES_OVERLAP);
    fill_tiles(shape, &made);
    fill_volumes(shape, &made);
    fill_times(&pipe, shape->tile[along], &made);
    error = plan_play(shape, &pipe, &made);
    free((void *)pipe.columns);
    if (error == COVEY_OK)
        *plan = made;
    return error;
}

/* ---- the calls --------------------------------------------------------------------------------
 */

int covey_tiles_plan(const struct covey_tiles_loop *loop, const struct covey_tiles_options *options,
                     int tasks, struct covey_tiles_plan *plan)
{
    const struct covey_tiles_options defaults = {0};
    struct tiles_shape shape;
    if (loop == NULL || plan == NULL)
        return error_set(COVEY_EINVAL, "tiles: NULL");
    options = options != NULL ? options : &defaults;
    int error = tiles_shape_make(&shape, loop, options, tasks);
    return error != COVEY_OK ? error : tiles_plan_make(&shape, options, &options->costs, plan);
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
    for (int i = 0; i < loop->dims; i++) {
        for (int k = 0; k < loop->dims; k++)
            loop->skew[i][k] = (int32_t)skew.at[i][k];
    }
    return COVEY_OK;
}
