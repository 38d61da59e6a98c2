/*
 * tiles_plan.c - how a loop is tiled, and how long that should take: by the time hyperplanes of
 * Koziris, Sotiropoulos & Goumas (sections 3 and 4, and 6.2 for what cannot be overlapped), and by
 * playing all tasks against each other, which is what the height is chosen by. The formulas charge
 * each step with alpha, though a face may be under way for many steps while others follow it.
 */
#include "lib/msg/error.h"
#include "lib/tiles/tiles.h"

#include <math.h>
#include <stdlib.h>

#define PLAYED_MAX (1 << 20)   /* tiles; of more it is concluded, */
#define STRAIGHT_MAX (1 << 16) /* where a layer is like another soon */

/* Of a face along `dim`, a unit of height. */
static double face_bytes(const struct tiles_shape *s, int dim)
{
    return (double)tiles_shape_face_size(s, dim) / (double)s->space.density *
           (double)s->value_bytes;
}

/* What messages along a dimension cost a task that has neighbours on both sides of it, where there
 * is one. A blocking send ends when it is told that the face was received: a message more. */
static void add_face(const struct tiles_shape *s, int dim, const struct covey_tiles_costs *c,
                     struct tiling_step *step)
{
    double bytes = face_bytes(s, dim);
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
    struct tiling_step step = {.comp.unit_s = c->point_s / (double)s->space.density};
    for (int i = 0; i < s->space.dims; i++) {
        if (i != s->grid.along)
            step.comp.unit_s *= (double)tiling_grid_longest(&s->grid, i);
        if (sends_along(s, i))
            add_face(s, i, c, &step);
    }
    return step;
}

/* ---- columns --------------------------------------------------------------------------------- */

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

/* ---- the plan -------------------------------------------------------------------------------- */

static void fill_tiles(const struct tiles_shape *s, struct covey_tiles_plan *plan)
{
    int along = s->grid.along;
    plan->points = (double)s->tile[along] / (double)s->space.density;
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
                tiles_shape_face_most(s, i, s->tile[along]) * (int64_t)s->value_bytes;
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
    plan->volume = tiling_volume(&t, &s->d, s->grid.along) / (double)s->space.density;
    plan->volume_all = tiling_volume_all(&t, &s->d) / (double)s->space.density;
}

/* ---- all tasks against each other ------------------------------------------------------------ */

/* How long switches have the first frame of a face. */
static double stored(const struct covey_tiles_costs *c, double bytes)
{
    return c->store_s * (bytes < TILES_FRAME_BYTES ? bytes : TILES_FRAME_BYTES);
}

/* What is played at any height. */
struct played {
    const struct tiles_shape *shape;
    const struct covey_tiles_costs *costs;
    const struct tiling_pipe *pipe;
    struct tiling_player *players;
    int ahead;
    bool overlapped;
    bool straight; /* all tasks have tiles from the first height to the last */
};

static int played_init(struct played *p, const struct tiles_shape *s,
                       const struct covey_tiles_plan *plan, const struct tiling_pipe *pipe)
{
    *p = (struct played){.shape = s,
                         .costs = &plan->costs,
                         .pipe = pipe,
                         .ahead = plan->ahead,
                         .straight = !s->space.skewed};
    p->players = calloc((size_t)pipe->count, sizeof *p->players);
    return p->players != NULL ? COVEY_OK : error_code(COVEY_ENOMEM);
}

/* How long it takes with tiles of height z; tiling_height_fn. */
static double played_s(void *context, int64_t z, double enough_s)
{
    const struct played *p = context;
    const struct tiles_shape *s = p->shape;
    const struct covey_tiles_costs *c = p->costs;
    int64_t layers = (p->pipe->extent + z - 1) / z;
    struct tiling_play play = {
        .grid = &s->grid,
        .players = p->players,
        .columns = p->pipe->columns,
        .height = z,
        .last_share = (double)(p->pipe->extent - (layers - 1) * z) / (double)z,
        .comp_s = p->pipe->step.comp.unit_s * (double)z,
        .ahead = p->ahead,
        .layers_max = (p->straight ? STRAIGHT_MAX : PLAYED_MAX) / p->pipe->count + 2};
    for (int i = 0; i < s->space.dims; i++) {
        if (!sends_along(s, i))
            continue;
        double bytes = face_bytes(s, i) * (double)z;
        play.face[i] = (struct tiling_play_face){.used = true,
                                                 .start_s = c->start_s + c->drag_s * bytes,
                                                 .wire_s = c->beta_s * bytes,
                                                 .store_s = stored(c, bytes),
                                                 .alpha_s = c->alpha_s};
    }
    double bound_s = tiling_play_bound(&play, layers, p->overlapped);
    return bound_s >= enough_s ? bound_s : tiling_play_run(&play, layers, p->overlapped);
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

/* The height of which the least time is played. Where all is free a tile is as high as the space.
 */
static int64_t height_of(struct played *played, int schedule)
{
    const struct covey_tiles_costs *c = played->costs;
    played->overlapped = schedule == COVEY_TILES_OVERLAP;
    return c->point_s > 0 || c->alpha_s > 0
               ? tiling_height_best(played->pipe->extent, played_s, played)
               : played->pipe->extent;
}

/* With the height given, or (0) chosen. */
static void plan_fill(struct tiles_shape *shape, struct played *played,
                      struct covey_tiles_plan *plan)
{
    int64_t *z = &shape->tile[shape->grid.along];
    if (*z == 0)
        *z = height_of(played, plan->schedule);
    fill_tiles(shape, plan);
    fill_volumes(shape, plan);
    fill_times(played->pipe, *z, plan);
    played->overlapped = false;
    plan->played_block_s = played_s(played, *z, INFINITY);
    played->overlapped = true;
    plan->played_overlap_s = played_s(played, *z, INFINITY);
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
    struct played played = {.players = NULL};
    pipe.extent = shape->grid.box.end[along] - shape->grid.box.first[along];
    int error = columns_make(shape, &pipe);
    if (error == COVEY_OK)
        error = played_init(&played, shape, &made, &pipe);
    if (error == COVEY_OK) {
        plan_fill(shape, &played, &made);
        *plan = made;
    }
    free(played.players);
    free((void *)pipe.columns);
    return error;
}

/* ---- the calls ------------------------------------------------------------------------------- */

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
