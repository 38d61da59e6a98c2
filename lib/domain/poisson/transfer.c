/*
 * transfer.c - each member works with the coarse points that its own fine ones need, in memory of
 * its own; then they go to, or come from, whoever has them on the coarse level. So it does not
 * matter where parts end, and how many members have the coarse level.
 *
 * Down, the rows of a plane are added up to coarse rows, these planes to coarse planes, and only
 * then rows are shortened: the loops with strides see a quarter of the points. Up it is the other
 * way round.
 */
#include "lib/domain/poisson/transfer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct transfer_pair transfer_pair(int64_t n, int64_t coarse, int64_t i, const int ghosts[2])
{
    if (n == coarse)
        return (struct transfer_pair){i, 1, 0};
    /* in coarse cells, from the centre of the first one */
    double at = ((double)i + 0.5) * (double)coarse / (double)n - 0.5;
    int64_t near = (int64_t)floor(at);
    double high = at - (double)near, low = 1 - high;
    if (near < 0 && ghosts[0] != 0)
        return (struct transfer_pair){0, high + ghosts[0] * low, 0};
    if (near + 1 >= coarse && ghosts[1] != 0)
        return (struct transfer_pair){coarse - 1, low + ghosts[1] * high, 0};
    return (struct transfer_pair){near, low, high};
}

/* ---- Plans ----------------------------------------------------------------------------------- */

static int ghost_of(int border)
{
    return border == COVEY_BORDER_VALUE ? -1 : border == COVEY_BORDER_SLOPE ? 1 : 0;
}

/* The coarse points that a part's fine ones need. */
static void coarse_box(const void *context, int rank, struct grid_box *box)
{
    const struct transfer *t = context;
    const struct equation *fine = &t->fine->equation, *coarse = &t->coarse->equation;
    struct grid_box own;
    split_box(&t->fine->split, rank, &own);
    memset(box, 0, sizeof *box);
    for (int d = 0; d < GRID_AXES && grid_box_count(&own) > 0; d++) {
        const int ghosts[2] = {ghost_of(fine->low[d]), ghost_of(fine->high[d])};
        struct transfer_pair first = transfer_pair(fine->n[d], coarse->n[d], own.low[d], ghosts);
        struct transfer_pair last =
            transfer_pair(fine->n[d], coarse->n[d], own.low[d] + own.size[d] - 1, ghosts);
        box->low[d] = first.near;
        box->size[d] = last.near + (last.high > 0) - first.near + 1;
    }
}

static void level_box(const void *context, int rank, struct grid_box *box)
{
    split_box(&((const struct level *)context)->split, rank, box);
}

static int make_axis(struct transfer *t, int d)
{
    const struct equation *fine = &t->fine->equation, *coarse = &t->coarse->equation;
    const struct grid_box *own = &t->fine->kernel.field.box;
    const int ghosts[2] = {ghost_of(fine->low[d]), ghost_of(fine->high[d])};
    struct transfer_axis *axis = &t->axes[d];
    size_t n = (size_t)own->size[d];
    axis->ratio = (double)coarse->n[d] / (double)fine->n[d];
    axis->near = calloc(n + 1, sizeof *axis->near);
    axis->low = calloc(n + 1, sizeof *axis->low);
    axis->high = calloc(n + 1, sizeof *axis->high);
    if (axis->near == NULL || axis->low == NULL || axis->high == NULL)
        return COVEY_ENOMEM;
    for (size_t i = 0; i < n; i++) {
        struct transfer_pair p =
            transfer_pair(fine->n[d], coarse->n[d], own->low[d] + (int64_t)i, ghosts);
        axis->near[i] = (int32_t)(p.near - t->box.box.low[d]);
        axis->low[i] = p.low;
        axis->high[i] = p.high;
    }
    return 0;
}

static int make_memory(struct transfer *t)
{
    size_t rows = (size_t)t->box.box.size[1] + 1;
    size_t plane = rows * ((size_t)t->fine->kernel.field.box.size[2] + 1);
    t->values = calloc(t->box.count + 1, sizeof *t->values);
    t->planes[0] = calloc(plane, sizeof(double));
    t->planes[1] = calloc(plane, sizeof(double));
    return t->values == NULL || t->planes[0] == NULL || t->planes[1] == NULL ? COVEY_ENOMEM : 0;
}

int transfer_make(struct transfer *transfer, struct level *fine, struct level *coarse, int tag)
{
    const int none[GRID_AXES] = {0, 0, 0};
    int64_t period[GRID_AXES];
    struct grid_box box;
    *transfer = (struct transfer){.fine = fine, .coarse = coarse};
    coarse_box(transfer, fine->halo.rank, &box);
    field_make(&transfer->box, &box, none);
    int error = make_memory(transfer);
    for (int d = 0; error == 0 && d < GRID_AXES; d++) {
        int is_periodic = fine->equation.low[d] == COVEY_BORDER_PERIODIC;
        period[d] = is_periodic ? coarse->equation.n[d] : 0;
        error = make_axis(transfer, d);
    }
    const struct move_side sides[2] = {{coarse_box, transfer, transfer->box},
                                       {level_box, coarse, coarse->halo.field}};
    return error < 0 ? error : move_make(&transfer->move, fine->team, sides, period, tag);
}

void transfer_free(struct transfer *transfer)
{
    for (int d = 0; d < GRID_AXES; d++) {
        free(transfer->axes[d].near);
        free(transfer->axes[d].low);
        free(transfer->axes[d].high);
    }
    free(transfer->values);
    free(transfer->planes[0]);
    free(transfer->planes[1]);
    move_free(&transfer->move);
}

/* ---- Down ------------------------------------------------------------------------------------ */

static void add_row(double weight, const double *restrict from, double *restrict to, int64_t n)
{
    for (int64_t l = 0; l < n; l++)
        to[l] += weight * from[l];
}

/* The coarse rows of what remains in fine plane i are added to two coarse planes. */
static void restrict_plane(struct transfer *t, int64_t i, const double *x, const double *b)
{
    const struct kernel *k = &t->fine->kernel;
    const struct grid_box *own = &k->field.box;
    const struct transfer_axis *rows = &t->axes[1], *planes = &t->axes[0];
    int64_t n = own->size[2];
    for (int64_t j = 0; j < own->size[1]; j++) {
        kernel_residual_row(k, own->low[0] + i, own->low[1] + j, x, b, k->row);
        for (int p = 0; p < 2; p++) {
            double weight = p == 0 ? planes->low[i] : planes->high[i];
            double *row = t->planes[p] + rows->near[j] * n;
            if (weight * rows->low[j] != 0)
                add_row(weight * rows->low[j], k->row, row, n);
            if (weight * rows->high[j] != 0)
                add_row(weight * rows->high[j], k->row, row + n, n);
        }
    }
}

/* The first of the two planes is complete: its rows are shortened, and it is emptied. */
static void shorten_plane(struct transfer *t, int64_t coarse_i)
{
    const struct transfer_axis *points = &t->axes[2];
    int64_t n = t->fine->kernel.field.box.size[2], size = t->box.box.size[2];
    double ratio = t->axes[0].ratio * t->axes[1].ratio * points->ratio;
    for (int64_t j = 0; j < t->box.box.size[1]; j++) {
        const double *row = t->planes[0] + j * n;
        double *to = t->values + (coarse_i * t->box.box.size[1] + j) * size;
        memset(to, 0, (size_t)size * sizeof *to);
        for (int64_t l = 0; l < n; l++) {
            double value = ratio * row[l];
            to[points->near[l]] += points->low[l] * value;
            if (points->high[l] != 0)
                to[points->near[l] + 1] += points->high[l] * value;
        }
    }
    memset(t->planes[0], 0, (size_t)((t->box.box.size[1] + 1) * n) * sizeof(double));
    double *complete = t->planes[0];
    t->planes[0] = t->planes[1];
    t->planes[1] = complete;
}

static void restrict_all(struct transfer *t, const double *x, const double *b)
{
    const struct grid_box *own = &t->fine->kernel.field.box;
    size_t plane = (size_t)((t->box.box.size[1] + 1) * own->size[2]) * sizeof(double);
    int64_t at = 0;
    memset(t->planes[0], 0, plane);
    memset(t->planes[1], 0, plane);
    for (int64_t i = 0; i < own->size[0]; i++) {
        while (at < t->axes[0].near[i])
            shorten_plane(t, at++);
        restrict_plane(t, i, x, b);
    }
    while (at < t->box.box.size[0])
        shorten_plane(t, at++);
}

static void no_box(const struct level *level, const struct grid_box *box, void *context)
{
    (void)level, (void)box, (void)context;
}

int transfer_restrict(struct transfer *transfer, double *x, const double *b, double *coarse_b)
{
    int error = level_sweep(transfer->fine, x, no_box, NULL);
    if (error < 0)
        return error;
    if (level_is_here(transfer->fine))
        restrict_all(transfer, x, b);
    if (level_is_here(transfer->coarse))
        kernel_set(&transfer->coarse->kernel, 0, coarse_b);
    return move_run(&transfer->move, MOVE_ADD, transfer->values, coarse_b);
}

/* ---- Up -------------------------------------------------------------------------------------- */

/* The rows of a coarse plane at fine length, in the second one of the two planes. */
static void lengthen_plane(struct transfer *t, int64_t coarse_i)
{
    const struct transfer_axis *points = &t->axes[2];
    int64_t n = t->fine->kernel.field.box.size[2], size = t->box.box.size[2];
    double *first = t->planes[0];
    t->planes[0] = t->planes[1];
    t->planes[1] = first;
    for (int64_t j = 0; j < t->box.box.size[1]; j++) {
        const double *from = t->values + (coarse_i * t->box.box.size[1] + j) * size;
        double *row = first + j * n;
        for (int64_t l = 0; l < n; l++) {
            const double *near = from + points->near[l];
            /* the last one may have no second neighbour */
            row[l] =
                points->low[l] * near[0] + (points->high[l] != 0 ? points->high[l] * near[1] : 0);
        }
    }
}

static void prolong_plane(const struct transfer *t, int64_t i, double *x)
{
    const struct kernel *k = &t->fine->kernel;
    const struct grid_box *own = &k->field.box;
    const struct transfer_axis *rows = &t->axes[1], *planes = &t->axes[0];
    int64_t n = own->size[2];
    for (int64_t j = 0; j < own->size[1]; j++) {
        double *to = x + field_at(&k->field, own->low[0] + i, own->low[1] + j, own->low[2]);
        for (int p = 0; p < 2; p++) {
            double weight = p == 0 ? planes->low[i] : planes->high[i];
            const double *row = t->planes[p] + rows->near[j] * n;
            if (weight * rows->low[j] != 0)
                add_row(weight * rows->low[j], row, to, n);
            if (weight * rows->high[j] != 0)
                add_row(weight * rows->high[j], row + n, to, n);
        }
    }
}

int transfer_prolong(struct transfer *transfer, double *coarse_x, double *x)
{
    const struct grid_box *own = &transfer->fine->kernel.field.box;
    int error = move_run(&transfer->move, MOVE_BACK, transfer->values, coarse_x);
    int64_t at = 0; /* coarse planes that were lengthened: the last two are there */
    for (int64_t i = 0; error == 0 && i < own->size[0]; i++) {
        int64_t near = transfer->axes[0].near[i];
        while (at < near + 2) {
            lengthen_plane(transfer, at < transfer->box.box.size[0] ? at : at - 1);
            at++;
        }
        prolong_plane(transfer, i, x);
    }
    return error;
}
