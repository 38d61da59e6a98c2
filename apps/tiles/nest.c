/*
 * nest.c - the two loops of tiles: sqrt, which is the paper's, and heat, whose dependences need a
 * skew. Each says its dependences, the function that computes a row of points, and the values
 * outside the space.
 */
#include "apps/tiles/nest.h"

#include "apps/kernel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SPREAD 0.125 /* of the difference to a neighbour, in a step */

/* Computes a row of points, the values of which stand one after the other. */
typedef void row_fn(const struct nest_problem *problem, void *values, const ptrdiff_t *offset,
                    int64_t count);

struct nest {
    const char *name;
    int type;
    int dependences;
    int32_t dependence[5][NEST_DIMS];
    row_fn *row;
    covey_tile_fn *compute;
    covey_tile_outside_fn *outside;
};

/* ---- sqrt ------------------------------------------------------------------------------------ */

static void sqrt_row(const struct nest_problem *problem, void *values, const ptrdiff_t *offset,
                     int64_t count)
{
    float *a = values;
    for (int64_t i = 0; i < count; i++, a++) {
        float sum = sqrtf(a[offset[0]]) + sqrtf(a[offset[1]]) + sqrtf(a[offset[2]]);
        for (int32_t k = 0; k < problem->roots; k++)
            sum = 3 * sqrtf(sum);
        *a = sum;
    }
}

static void sqrt_compute(const covey_tile_t *tile, void *context)
{
    struct covey_tile_row row = {.count = 0};
    while (covey_tile_next(tile, &row))
        sqrt_row(context, row.values, row.offset, row.count);
}

/* Different at every point, so that a value that came to the wrong place shows. */
static void sqrt_outside(const int64_t *point, void *value, void *context)
{
    uint64_t x = (uint64_t)(point[0] * 73856093 ^ point[1] * 19349663 ^ point[2] * 83492791);
    (void)context;
    *(float *)value = 1 + (float)(x * UINT64_C(0x9E3779B97F4A7C15) >> 40) * 0x1p-20F;
}

/* ---- heat ------------------------------------------------------------------------------------ */

static void heat_row(const struct nest_problem *problem, void *values, const ptrdiff_t *offset,
                     int64_t count)
{
    double *t = values;
    (void)problem;
    for (int64_t i = 0; i < count; i++, t++) {
        double here = t[offset[0]];
        double beside = t[offset[1]] + t[offset[2]] + t[offset[3]] + t[offset[4]];
        *t = here + SPREAD * (beside - 4 * here);
    }
}

static void heat_compute(const covey_tile_t *tile, void *context)
{
    struct covey_tile_row row = {.count = 0};
    while (covey_tile_next(tile, &row))
        heat_row(context, row.values, row.offset, row.count);
}

/* The plate before the first step, and its edges, which keep their temperatures. */
static void heat_outside(const int64_t *point, void *value, void *context)
{
    (void)context;
    *(double *)value = 20 + 60 * sin(0.37 * (double)point[1]) * cos(0.21 * (double)point[2]);
}

/* ---- both ------------------------------------------------------------------------------------ */

static const struct nest nests[] = {
    [NEST_SQRT] = {"sqrt",
                   COVEY_FLOAT,
                   3,
                   {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
                   sqrt_row,
                   sqrt_compute,
                   sqrt_outside},
    [NEST_HEAT] = {"heat",
                   COVEY_DOUBLE,
                   5,
                   {{1, 0, 0}, {1, 1, 0}, {1, -1, 0}, {1, 0, 1}, {1, 0, -1}},
                   heat_row,
                   heat_compute,
                   heat_outside},
};

const char *nest_name(int kind)
{
    return nests[kind].name;
}

int nest_find(const char *name)
{
    for (int kind = 0; kind < NEST_KINDS; kind++)
        if (strcmp(nests[kind].name, name) == 0)
            return kind;
    return -1;
}

static const char *const shape_names[] = {"skew", "each", "columns"};

const char *nest_shape_name(int shape)
{
    return shape_names[shape];
}

int nest_shape_find(const char *name)
{
    for (int shape = 0; shape < NEST_SHAPES; shape++)
        if (strcmp(shape_names[shape], name) == 0)
            return shape;
    return -1;
}

size_t nest_width(int kind)
{
    return nests[kind].type == COVEY_FLOAT ? sizeof(float) : sizeof(double);
}

/* The runtime hands the problem back as it got it, and nobody changes it. */
static void *context_of(const struct nest_problem *problem)
{
    union {
        const struct nest_problem *from;
        void *context;
    } u = {.from = problem};
    return u.context;
}

/* Returns along which dimension tiles are one task's then. */
static int set_shape(struct covey_tiles_loop *loop, int shape)
{
    struct covey_tiles_options options = {.along = 0};
    if (shape == NEST_SKEW)
        covey_tiles_skew(loop);
    else
        covey_tiles_shape(loop,
                          shape == NEST_OF_COLUMNS ? COVEY_TILES_OF_COLUMNS : COVEY_TILES_OF_EACH,
                          0, &options);
    return options.along;
}

struct covey_tiles_loop nest_loop(const struct nest_problem *problem, bool skewed)
{
    const struct nest *nest = &nests[problem->kind];
    struct covey_tiles_loop loop = {.dims = NEST_DIMS,
                                    .dependences = nest->dependences,
                                    .type = nest->type,
                                    .compute = nest->compute,
                                    .outside = nest->outside,
                                    .context = context_of(problem)};
    for (int i = 0; i < NEST_DIMS; i++) {
        loop.size[i] = problem->size[i];
        for (int d = 0; d < nest->dependences; d++)
            loop.dependence[d][i] = nest->dependence[d][i];
    }
    if (skewed)
        set_shape(&loop, problem->shape);
    return loop;
}

int nest_along(const struct nest_problem *problem)
{
    struct covey_tiles_loop loop = nest_loop(problem, false);
    return set_shape(&loop, problem->shape);
}

/* ---- without tiles --------------------------------------------------------------------------- */

/* The space with a border of one point on all sides. */
struct nest_space {
    const struct nest *nest;
    const struct nest_problem *problem;
    const int64_t *size; /* the problem's */
    size_t width;
    int64_t stride[NEST_DIMS]; /* of points */
    char *values;
};

static char *point_place(const struct nest_space *s, const int64_t *point)
{
    int64_t at = 0;
    for (int i = 0; i < NEST_DIMS; i++)
        at += (point[i] + 1) * s->stride[i];
    return s->values + (size_t)at * s->width;
}

static bool is_inside(const struct nest_space *s, const int64_t *p)
{
    return p[0] >= 0 && p[0] < s->size[0] && p[1] >= 0 && p[1] < s->size[1] && p[2] >= 0 &&
           p[2] < s->size[2];
}

struct nest_space *nest_space_create(const struct nest_problem *problem)
{
    const int64_t *size = problem->size;
    struct nest_space *s = calloc(1, sizeof *s);
    if (s == NULL)
        return NULL;
    s->nest = &nests[problem->kind];
    s->problem = problem;
    s->size = size;
    s->width = nest_width(problem->kind);
    s->stride[2] = 1;
    s->stride[1] = size[2] + 2;
    s->stride[0] = s->stride[1] * (size[1] + 2);
    s->values = calloc((size_t)(s->stride[0] * (size[0] + 2)), s->width);
    if (s->values == NULL) {
        free(s);
        return NULL;
    }
    int64_t p[NEST_DIMS];
    for (p[0] = -1; p[0] <= s->size[0]; p[0]++) {
        for (p[1] = -1; p[1] <= s->size[1]; p[1]++) {
            for (p[2] = -1; p[2] <= s->size[2]; p[2]++) {
                if (is_inside(s, p))
                    p[2] = s->size[2];
                s->nest->outside(p, point_place(s, p), NULL);
            }
        }
    }
    return s;
}

void nest_space_run(struct nest_space *s, void *values)
{
    const struct nest *nest = s->nest;
    ptrdiff_t offset[5] = {0};
    size_t bytes = (size_t)s->size[2] * s->width;
    int64_t p[NEST_DIMS] = {0};
    for (int d = 0; d < nest->dependences; d++)
        for (int i = 0; i < NEST_DIMS; i++)
            offset[d] -= nest->dependence[d][i] * s->stride[i];
    for (p[0] = 0; p[0] < s->size[0]; p[0]++) {
        for (p[1] = 0; p[1] < s->size[1]; p[1]++) {
            nest->row(s->problem, point_place(s, p), offset, s->size[2]);
            memcpy((char *)values + (size_t)(p[0] * s->size[1] + p[1]) * bytes, point_place(s, p),
                   bytes);
        }
    }
}

void nest_space_free(struct nest_space *s)
{
    if (s == NULL)
        return;
    free(s->values);
    free(s);
}

/* ---- speed ----------------------------------------------------------------------------------- */

struct bar {
    struct nest_space *space;
    void *values;
};

static void run_bar(void *context)
{
    const struct bar *bar = context;
    nest_space_run(bar->space, bar->values);
}

static int time_nest(int kind)
{
    const struct nest_problem problem = {.kind = kind, .size = {4, 64, 1024}};
    const double points = 4 * 64 * 1024;
    struct bar bar = {nest_space_create(&problem), calloc((size_t)points, sizeof(double))};
    bool good = bar.space != NULL && bar.values != NULL;
    if (good)
        kernel_time(nest_name(kind), 0, points, NULL, run_bar, &bar);
    nest_space_free(bar.space);
    free(bar.values);
    return good ? 0 : -1;
}

int nest_kernel(void)
{
    struct kernel kernel;
    kernel_begin(&kernel);
    for (int kind = 0; kind < NEST_KINDS; kind++)
        if (time_nest(kind) < 0)
            return EXIT_FAILURE;
    return kernel_end(&kernel);
}
