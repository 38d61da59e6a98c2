/*
 * grid.c - grids that are divided among the members of a team.
 *
 *   split.c    who has which points                 field.c     where they stand in memory
 *   halo.c     points of neighbours                 move.c      from one division to another
 *   sum.c      sums that do not depend on it        whole.c     the whole grid at one member
 *
 * A grid owns its split and its halo, and uses the team of the program with messages by rank. What
 * is wrong at one member is found at all before anything is sent.
 */
#include "lib/domain/grid/grid.h"

#include "lib/domain/base/agree.h"
#include "lib/domain/base/error.h"
#include "lib/domain/base/options.h"
#include "lib/domain/grid/sum.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define POINTS_MAX ((int64_t)1 << 50)

int32_t *grid_hosts(const covey_team_t *team)
{
    int size = covey_team_size(team);
    int32_t *hosts = calloc((size_t)size, sizeof *hosts);
    for (int i = 0; hosts != NULL && i < size; i++)
        hosts[i] = covey_tid_host(covey_team_tid(team, i));
    return hosts;
}

/* ---- Making one ------------------------------------------------------------------------------ */

static int check_shape(const struct covey_grid_shape *shape)
{
    int64_t points = 1;
    if (shape == NULL || shape->dims < 2 || shape->dims > COVEY_GRID_DIMS_MAX)
        return domain_fail(COVEY_EINVAL, "grid: the shape is NULL, or has other than 2 or 3 axes");
    if (shape->stencil != COVEY_STENCIL_STAR && shape->stencil != COVEY_STENCIL_BOX)
        return domain_fail(COVEY_EINVAL, "grid: there is no stencil %d", shape->stencil);
    if (shape->width < 1 || shape->width > COVEY_GRID_WIDTH_MAX)
        return domain_fail(COVEY_EINVAL, "grid: a halo of %d points: allowed are 1 to %d",
                           shape->width, COVEY_GRID_WIDTH_MAX);
    for (int d = 0; d < shape->dims; d++) {
        if (shape->n[d] < 1 || shape->n[d] > POINTS_MAX / points)
            return domain_fail(COVEY_EINVAL,
                               "grid: %lld points of axis %d: each has at least 1, all 2^50",
                               (long long)shape->n[d], d);
        if (shape->periodic[d] && shape->n[d] < shape->width)
            return domain_fail(COVEY_EINVAL, "grid: a halo of %d points around axis %d of %lld",
                               shape->width, d, (long long)shape->n[d]);
        points *= shape->n[d];
    }
    return 0;
}

static int agree_on_shape(covey_team_t *team, const struct covey_grid_shape *shape)
{
    int64_t numbers[3 + 2 * COVEY_GRID_DIMS_MAX] = {0};
    int error = check_shape(shape);
    if (error == 0) {
        numbers[0] = shape->dims;
        numbers[1] = shape->stencil;
        numbers[2] = shape->width;
        for (int d = 0; d < shape->dims; d++) {
            numbers[3 + 2 * d] = shape->periodic[d] != 0;
            numbers[4 + 2 * d] = shape->n[d];
        }
    }
    return domain_agree_same(team, error, numbers, 3 + 2 * COVEY_GRID_DIMS_MAX, "grid");
}

/* AxB or AxBxC. */
static int read_parts(const char *text, int dims, int parts[GRID_AXES])
{
    int read[GRID_AXES], end = 0;
    memset(parts, 0, GRID_AXES * sizeof *parts);
    if (text[0] == '\0')
        return 0;
    int count = dims == 2 ? sscanf(text, "%6dx%6d%n", &read[0], &read[1], &end)
                          : sscanf(text, "%6dx%6dx%6d%n", &read[0], &read[1], &read[2], &end);
    int is_wrong = count != dims || text[end] != '\0';
    for (int d = 0; d < count; d++)
        is_wrong |= read[d] < 1;
    if (is_wrong)
        return domain_fail(COVEY_EINVAL, "grid: parts '%s' are not %d numbers with x between", text,
                           dims);
    parts[0] = 1;
    for (int d = 0; d < dims; d++)
        parts[grid_axis(dims, d)] = read[d];
    return 0;
}

/* Into slabs of the first axis by these shares, or without any into parts. */
static int make_split(struct covey_grid *grid, const char *parts_text, const unsigned char *shares)
{
    const struct covey_grid_shape *shape = &grid->shape;
    struct split_members members = {.count = covey_team_size(grid->team)};
    int64_t n[GRID_AXES] = {1, 1, 1};
    int parts[GRID_AXES];
    int error = read_parts(parts_text, shape->dims, parts);
    if (error < 0)
        return error;
    for (int d = 0; d < shape->dims; d++)
        n[grid_axis(shape->dims, d)] = shape->n[d];
    int32_t *hosts = grid_hosts(grid->team);
    members.hosts = hosts;
    if (hosts == NULL)
        error = -2;
    else if (shares != NULL && parts[0] == 0)
        error = split_make_slabs(&grid->split, n, grid_axis(shape->dims, 0), &members, shares);
    else
        error = split_make(&grid->split, n, shape->width, &members, parts);
    free(hosts);
    if (error == -1)
        return domain_fail(COVEY_EINVAL,
                           "grid: parts %s are more than %d members, or thinner than the halo",
                           parts_text, members.count);
    return error < 0 ? domain_fail(COVEY_ENOMEM, "grid: no memory") : 0;
}

static int make_halo(struct covey_grid *grid)
{
    const struct covey_grid_shape *shape = &grid->shape;
    struct halo_kind kind = {.is_box = shape->stencil == COVEY_STENCIL_BOX};
    for (int d = 0; d < shape->dims; d++) {
        kind.width[grid_axis(shape->dims, d)] = shape->width;
        kind.periodic[grid_axis(shape->dims, d)] = shape->periodic[d];
    }
    int error = halo_make(&grid->halo, grid->team, &grid->split, &kind, GRID_TAG);
    return error < 0 ? domain_fail(error, "grid: no memory for the halo") : 0;
}

static int make(struct covey_grid *grid, const char *options, const unsigned char *shares)
{
    struct domain_option parts = {.key = "parts"};
    int error = domain_options_agree(grid->team, options, "COVEY_GRID", &parts, 1);
    if (error == 0) {
        error = make_split(grid, parts.text, shares);
        if (error == 0)
            error = make_halo(grid);
        error = domain_agree(grid->team, error, "grid");
    }
    return error;
}

int covey_grid_create(covey_team_t *team, const struct covey_grid_shape *shape, const char *options,
                      covey_grid_t **grid)
{
    return grid_create_slabs(team, shape, options, NULL, grid);
}

int grid_create_slabs(covey_team_t *team, const struct covey_grid_shape *shape, const char *options,
                      const unsigned char *shares, covey_grid_t **grid)
{
    if (team == NULL || grid == NULL)
        return domain_fail(COVEY_EINVAL, "grid: the team or the place of the grid is NULL");
    *grid = NULL;
    int error = agree_on_shape(team, shape);
    if (error < 0)
        return error;
    struct covey_grid *made = calloc(1, sizeof *made);
    error = domain_agree(
        team, made == NULL ? domain_fail(COVEY_ENOMEM, "grid: no memory for a grid") : 0, "grid");
    if (error == 0) {
        made->team = team;
        made->shape = *shape;
        error = make(made, options, shares);
    }
    if (error < 0)
        covey_grid_free(&made);
    *grid = made;
    return error;
}

void covey_grid_free(covey_grid_t **grid)
{
    if (grid == NULL || *grid == NULL)
        return;
    halo_free(&(*grid)->halo);
    split_free(&(*grid)->split);
    free(*grid);
    *grid = NULL;
}

/* ---- Who has what ---------------------------------------------------------------------------- */

void grid_part(const struct grid_split *split, int dims, int width, int rank,
               struct covey_grid_part *part)
{
    struct grid_box box;
    struct grid_field field;
    int halo[GRID_AXES] = {dims == 3 ? width : 0, width, width}, place[GRID_AXES] = {-1, -1, -1};
    split_box(split, rank, &box);
    field_make(&field, &box, halo);
    if (field.count > 0)
        split_place(split, rank, place);
    *part = (struct covey_grid_part){
        .dims = dims, .width = width, .start = field.start, .count = field.count};
    for (int d = 0; d < dims; d++) {
        int a = grid_axis(dims, d);
        part->parts[d] = split->parts[a];
        part->place[d] = place[a];
        part->n[d] = split->n[a];
        part->offset[d] = box.low[a];
        part->size[d] = box.size[a];
        part->stride[d] = field.stride[a];
    }
}

int covey_grid_local_of(const covey_grid_t *grid, int rank, struct covey_grid_part *part)
{
    if (grid == NULL || part == NULL || rank < 0 || rank >= grid->split.members)
        return domain_fail(COVEY_EINVAL, "grid: the grid or the part is NULL, or no such rank");
    grid_part(&grid->split, grid->shape.dims, grid->shape.width, rank, part);
    return 0;
}

int covey_grid_local(const covey_grid_t *grid, struct covey_grid_part *part)
{
    return covey_grid_local_of(grid, grid == NULL ? 0 : covey_team_rank(grid->team), part);
}

int covey_grid_owner(const covey_grid_t *grid, const int64_t *at)
{
    int64_t point[GRID_AXES] = {0, 0, 0};
    if (grid == NULL || at == NULL)
        return domain_fail(COVEY_EINVAL, "grid: the grid or the point is NULL");
    for (int d = 0; d < grid->shape.dims; d++) {
        if (at[d] < 0 || at[d] >= grid->shape.n[d])
            return domain_fail(COVEY_EINVAL, "grid: axis %d has no point %lld", d,
                               (long long)at[d]);
        point[grid_axis(grid->shape.dims, d)] = at[d];
    }
    return split_owner(&grid->split, point);
}

double *covey_grid_field(const covey_grid_t *grid)
{
    if (grid == NULL)
        return NULL;
    double *field = calloc(grid->halo.field.count + 1, sizeof *field);
    if (field == NULL)
        domain_fail(COVEY_ENOMEM, "grid: no memory for a field of %zu doubles",
                    grid->halo.field.count);
    return field;
}

/* ---- Exchanges and sums ---------------------------------------------------------------------- */

/* A field that should be there. */
static int check_field(const covey_grid_t *grid, const double *field)
{
    if (grid->halo.field.count == 0 || field != NULL)
        return 0;
    return domain_break(grid->team, domain_fail(COVEY_EINVAL, "grid: the field is NULL"));
}

int covey_grid_begin(covey_grid_t *grid, double *field)
{
    if (grid == NULL)
        return domain_fail(COVEY_EINVAL, "grid: the grid is NULL");
    if (grid->halo.data != NULL)
        return domain_break(grid->team,
                            domain_fail(COVEY_EINVAL, "grid: an exchange runs already"));
    int error = check_field(grid, field);
    if (error < 0 || grid->halo.field.count == 0)
        return error;
    error = halo_begin(&grid->halo, field);
    return error < 0 ? domain_break(grid->team, domain_fail_of(error, "grid: exchange")) : 0;
}

int covey_grid_end(covey_grid_t *grid)
{
    if (grid == NULL)
        return domain_fail(COVEY_EINVAL, "grid: the grid is NULL");
    if (grid->halo.field.count == 0)
        return 0;
    if (grid->halo.data == NULL)
        return domain_break(grid->team, domain_fail(COVEY_EINVAL, "grid: no exchange runs"));
    int error = halo_end(&grid->halo);
    return error < 0 ? domain_break(grid->team, domain_fail_of(error, "grid: exchange")) : 0;
}

int covey_grid_exchange(covey_grid_t *grid, double *field)
{
    int error = covey_grid_begin(grid, field);
    return error < 0 ? error : covey_grid_end(grid);
}

int covey_grid_dot(covey_grid_t *grid, const double *a, const double *b, double *dot)
{
    if (grid == NULL || dot == NULL)
        return domain_fail(COVEY_EINVAL, "grid: the grid or the place of the sum is NULL");
    int error = check_field(grid, a);
    if (error == 0)
        error = check_field(grid, b);
    if (error < 0)
        return error;
    struct sum mine = {0, 0};
    if (grid->halo.field.count > 0)
        mine = sum_field(&grid->halo.field, a, b);
    error = sum_all(grid->team, &mine, 1, dot);
    return error < 0 ? domain_break(grid->team, domain_fail_of(error, "grid: a sum")) : 0;
}

int covey_grid_norm(covey_grid_t *grid, const double *a, double *norm)
{
    int error = covey_grid_dot(grid, a, a, norm);
    if (error == 0)
        *norm = sqrt(*norm);
    return error;
}
