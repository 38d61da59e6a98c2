/*
 * level.c - what a member does with its part, with the halo under way meanwhile.
 */
#include "lib/domain/poisson/level.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Making one ------------------------------------------------------------------------------ */

static int ghost_of(int border)
{
    return border == COVEY_BORDER_VALUE ? -1 : border == COVEY_BORDER_SLOPE ? 1 : 0;
}

static int kernel_init(struct level *level)
{
    const struct equation *e = &level->equation;
    const struct grid_box *own = &level->halo.field.box;
    struct kernel *k = &level->kernel;
    *k = (struct kernel){.field = level->halo.field, .c = e->c};
    for (int d = 0; d < GRID_AXES; d++) {
        k->k[d] = equation_k(e, d);
        if (own->low[d] == 0)
            k->low[d] = ghost_of(e->low[d]);
        if (own->low[d] + own->size[d] == e->n[d])
            k->high[d] = ghost_of(e->high[d]);
    }
    if (e->dims < 3)
        k->field.stride[0] = 0; /* of one plane: its neighbours are itself, and count nothing */
    return kernel_make(k) < 0 ? COVEY_ENOMEM : 0;
}

/* Takes the points beside the side of an axis out of the inner box. */
static void peel(struct level *level, int axis, int is_high)
{
    struct grid_box *inner = &level->inner;
    if (inner->size[axis] == 0)
        return;
    struct grid_box *slice = &level->outer[level->outer_count++];
    *slice = *inner;
    slice->size[axis] = 1;
    if (is_high)
        slice->low[axis] += inner->size[axis] - 1;
    else
        inner->low[axis]++;
    inner->size[axis]--;
}

static void divide(struct level *level)
{
    level->inner = level->kernel.field.box;
    level->outer_count = 0;
    for (int axis = 0; axis < GRID_AXES && level_is_here(level); axis++) {
        int counts = axis >= GRID_AXES - level->equation.dims;
        if (counts && level->kernel.low[axis] == 0)
            peel(level, axis, 0);
        if (counts && level->kernel.high[axis] == 0)
            peel(level, axis, 1);
    }
}

int level_make(struct level *level, covey_team_t *team, const struct equation *equation,
               struct grid_split *split, int tag)
{
    struct halo_kind kind = {.is_box = 0};
    *level = (struct level){.team = team, .equation = *equation, .split = *split};
    *split = (struct grid_split){.places = NULL};
    for (int d = GRID_AXES - equation->dims; d < GRID_AXES; d++) {
        kind.width[d] = 1;
        kind.periodic[d] = equation->low[d] == COVEY_BORDER_PERIODIC;
    }
    int error = halo_make(&level->halo, team, &level->split, &kind, tag);
    if (error == 0)
        error = kernel_init(level);
    divide(level);
    return error;
}

void level_free(struct level *level)
{
    kernel_free(&level->kernel);
    halo_free(&level->halo);
    split_free(&level->split);
}

double *level_field(const struct level *level)
{
    return calloc(level->kernel.field.count + 1, sizeof(double));
}

/* ---- Sweeps ---------------------------------------------------------------------------------- */

int level_sweep(struct level *level, double *x, level_box_fn *on_box, void *context)
{
    if (!level_is_here(level))
        return 0;
    int error = halo_begin(&level->halo, x);
    if (error < 0)
        return error;
    kernel_ghosts(&level->kernel, 0, x);
    on_box(level, &level->inner, context);
    error = halo_end(&level->halo);
    for (int i = 0; error == 0 && i < level->outer_count; i++)
        on_box(level, &level->outer[i], context);
    return error;
}

struct sweep {
    double *x;
    const double *b;
    double *to;
    const struct kernel_step *step;
};

static void residual_box(const struct level *level, const struct grid_box *box, void *context)
{
    const struct sweep *s = context;
    kernel_residual(&level->kernel, box, s->x, s->b, s->to);
}

int level_residual(struct level *level, double *x, const double *b, double *r)
{
    struct sweep sweep = {.x = x, .b = b, .to = r};
    return level_sweep(level, x, residual_box, &sweep);
}

static void apply_box(const struct level *level, const struct grid_box *box, void *context)
{
    const struct sweep *s = context;
    kernel_apply(&level->kernel, box, s->x, s->to);
}

int level_apply(struct level *level, double *p, double *q)
{
    struct sweep sweep = {.x = p, .to = q};
    return level_sweep(level, p, apply_box, &sweep);
}

/* ---- Both colours in one pass ---------------------------------------------------------------- */

struct pair {
    double *x;
    const double *b;
    double omega;
    int is_zero;
};

static void relax_box(const struct level *level, const struct pair *p, const struct grid_box *box,
                      int colour)
{
    const struct kernel_relax relax = {.colour = colour, .omega = p->omega};
    if (p->is_zero && colour == KERNEL_EVEN)
        kernel_relax_first(&level->kernel, box, &relax, p->x, p->b);
    else
        kernel_relax(&level->kernel, box, &relax, p->x, p->b);
}

/* The even points of a plane, and then the odd ones of the plane before, whose neighbours are all
 * done: planes come from memory once. */
static void relax_planes(const struct level *level, const struct pair *p)
{
    int axis = GRID_AXES - level->equation.dims;
    struct grid_box plane = level->inner;
    int64_t low = plane.low[axis], size = plane.size[axis];
    plane.size[axis] = 1;
    for (int64_t i = 0; i <= size; i++) {
        plane.low[axis] = low + i;
        if (i < size)
            relax_box(level, p, &plane, KERNEL_EVEN);
        plane.low[axis] = low + i - 1;
        if (i > 0)
            relax_box(level, p, &plane, KERNEL_ODD);
    }
}

static void relax_outer(const struct level *level, const struct pair *p, int colour)
{
    for (int i = 0; i < level->outer_count; i++)
        relax_box(level, p, &level->outer[i], colour);
}

int level_relax(struct level *level, const struct level_relax *how, double *x, const double *b)
{
    const struct pair pair = {x, b, how->omega, how->is_zero};
    if (!level_is_here(level))
        return 0;
    int error = how->is_zero ? 0 : halo_exchange(&level->halo, x);
    if (error < 0)
        return error;
    kernel_ghosts(&level->kernel, how->is_zero, x);
    relax_outer(level, &pair, KERNEL_EVEN);
    error = halo_begin(&level->halo, x);
    if (error < 0)
        return error;
    relax_planes(level, &pair);
    error = halo_end(&level->halo);
    if (error == 0)
        relax_outer(level, &pair, KERNEL_ODD);
    return error;
}

/* ---- Steps ----------------------------------------------------------------------------------- */

static void step_box(const struct level *level, const struct grid_box *box, void *context)
{
    const struct sweep *s = context;
    kernel_step(&level->kernel, box, s->step, s->x, s->b, s->to);
}

int level_step(struct level *level, const struct kernel_step *step, double *x, const double *b,
               double *d)
{
    struct sweep sweep = {.x = x, .b = b, .to = d, .step = step};
    int error = level_sweep(level, x, step_box, &sweep);
    if (error == 0)
        kernel_axpy(&level->kernel, 1, d, x);
    return error;
}
