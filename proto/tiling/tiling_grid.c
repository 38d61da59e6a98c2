/*
 * tiling_grid.c - tasks in a grid over the space of a tiled loop.
 */
#include "proto/tiling/tiling.h"

/* What all dependences cut of a unit side: the sum of row i of D. */
static double dependences_cut(const struct tiling_dependences *d, int i)
{
    double sum = 0;
    for (int j = 0; j < d->count; j++)
        sum += (double)d->vector[j][i];
    return sum;
}

int tiling_along(int dims, const struct tiling_box *box)
{
    int along = 0;
    for (int i = 1; i < dims; i++) {
        if (box->end[i] - box->first[i] >= box->end[along] - box->first[along])
            along = i;
    }
    return along;
}

/* ---- parts ----------------------------------------------------------------------------------- */

static int64_t grains(const struct tiling_grid *g, int dim)
{
    return (g->box.end[dim] - g->box.first[dim] + g->grain[dim] - 1) / g->grain[dim];
}

static int64_t part_first(const struct tiling_grid *g, int dim, int32_t place)
{
    int64_t count = grains(g, dim), tasks = g->tasks[dim];
    int64_t grain = count / tasks * place + count % tasks * place / tasks;
    int64_t first = g->box.first[dim] + grain * g->grain[dim];
    return first < g->box.end[dim] ? first : g->box.end[dim];
}

int tiling_grid_count(const struct tiling_grid *g)
{
    int count = 1;
    for (int i = 0; i < g->dims; i++)
        count *= g->tasks[i];
    return count;
}

void tiling_grid_place(const struct tiling_grid *g, int number, int32_t *place)
{
    for (int i = g->dims - 1; i >= 0; i--) {
        place[i] = number % g->tasks[i];
        number /= g->tasks[i];
    }
}

int tiling_grid_number(const struct tiling_grid *g, const int32_t *place)
{
    int number = 0;
    for (int i = 0; i < g->dims; i++)
        number = number * g->tasks[i] + place[i];
    return number;
}

void tiling_grid_part(const struct tiling_grid *g, const int32_t *place, struct tiling_box *part)
{
    for (int i = 0; i < g->dims; i++) {
        part->first[i] = part_first(g, i, place[i]);
        part->end[i] = part_first(g, i, place[i] + 1);
    }
}

int64_t tiling_grid_longest(const struct tiling_grid *g, int dim)
{
    int64_t extent = g->box.end[dim] - g->box.first[dim];
    int64_t longest = (grains(g, dim) + g->tasks[dim] - 1) / g->tasks[dim] * g->grain[dim];
    return longest < extent ? longest : extent;
}

/* ---- choosing -------------------------------------------------------------------------------- */

/* Points of the largest part and what (2) gives for it, a unit of height, and how many tasks are
 * between the first and the last one; less is better. */
struct score {
    double points, volume;
    int hops;
};

struct search {
    const struct tiling_dependences *d;
    int64_t reach[TILING_DIMS_MAX]; /* of the dependences: no part may be shorter */
    struct tiling_grid grid;        /* being tried */
    int32_t given[TILING_DIMS_MAX];
    struct tiling_grid best;
    struct score best_score;
    bool found;
};

static struct score score_of(const struct tiling_grid *g, const struct tiling_dependences *d)
{
    struct score s = {.points = 1};
    double cuts = 0;
    for (int i = 0; i < g->dims; i++) {
        double side = (double)tiling_grid_longest(g, i);
        s.points *= i == g->along ? 1 : side;
        s.hops += g->tasks[i] - 1;
        cuts += i == g->along || g->tasks[i] == 1 ? 0 : dependences_cut(d, i) / side;
    }
    s.volume = s.points * cuts;
    return s;
}

static bool is_better(const struct score *a, const struct score *b)
{
    if (a->points != b->points)
        return a->points < b->points;
    if (a->volume != b->volume)
        return a->volume < b->volume;
    return a->hops < b->hops;
}

static bool can_divide(const struct search *s, int dim, int32_t tasks)
{
    const struct tiling_grid *g = &s->grid;
    int64_t shortest = grains(g, dim) / tasks * g->grain[dim];
    return tasks == 1 || (tasks <= grains(g, dim) && shortest >= s->reach[dim]);
}

/* Divides dimensions from `dim` on among so many tasks at most. */
/* NOLINTNEXTLINE(misc-no-recursion): as deep as there are dimensions */
static void divide(struct search *s, int dim, int32_t tasks)
{
    if (dim == s->grid.dims) {
        struct score score = score_of(&s->grid, s->d);
        if (!s->found || is_better(&score, &s->best_score)) {
            s->found = true;
            s->best = s->grid;
            s->best_score = score;
        }
        return;
    }
    int32_t least = s->given[dim] > 0 ? s->given[dim] : 1;
    int32_t most = s->given[dim] > 0 ? s->given[dim] : tasks;
    for (int32_t n = least; n <= most && n <= tasks && can_divide(s, dim, n); n++) {
        s->grid.tasks[dim] = n;
        divide(s, dim + 1, tasks / n);
    }
}

int tiling_grid_choose(struct tiling_grid *g, const struct tiling_dependences *d, int tasks)
{
    struct search s = {.d = d, .grid = *g};
    for (int i = 0; i < g->dims; i++) {
        s.given[i] = i == g->along ? 1 : g->tasks[i];
        for (int j = 0; j < d->count; j++)
            s.reach[i] = d->vector[j][i] > s.reach[i] ? d->vector[j][i] : s.reach[i];
    }
    divide(&s, 0, tasks);
    if (!s.found)
        return -1;
    *g = s.best;
    return 0;
}
