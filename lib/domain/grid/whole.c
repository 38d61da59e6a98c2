/*
 * whole.c - a whole grid at one member: each other one sends, or gets, its part in one message. The
 * member packs into memory of its own, one part at a time, so that a whole grid needs no second
 * one.
 */
#include "lib/domain/grid/grid.h"

#include "lib/domain/base/error.h"

#include <stdlib.h>
#include <string.h>

/* Where the whole grid has its points. */
static void whole_field(const covey_grid_t *grid, struct grid_field *whole)
{
    const int none[GRID_AXES] = {0, 0, 0};
    struct grid_box all = {.low = {0, 0, 0}};
    memcpy(all.size, grid->split.n, sizeof all.size);
    field_make(whole, &all, none);
}

/* Points of the largest part that this member packs. */
static size_t largest(const covey_grid_t *grid, int is_root)
{
    size_t most = 1;
    for (int rank = 0; rank < grid->split.members; rank++) {
        struct grid_box box;
        split_box(&grid->split, rank, &box);
        size_t count = (size_t)grid_box_count(&box);
        if ((is_root || rank == grid->halo.rank) && count > most)
            most = count;
    }
    return most;
}

static int check(covey_grid_t *grid, const double *field, int root, const double *whole)
{
    if (grid == NULL || root < 0 || root >= grid->split.members)
        return domain_fail(COVEY_EINVAL, "grid: the grid is NULL, or there is no rank %d", root);
    if ((grid->halo.field.count > 0 && field == NULL) || (grid->halo.rank == root && whole == NULL))
        return domain_break(grid->team,
                            domain_fail(COVEY_EINVAL, "grid: the field or the whole is NULL"));
    return 0;
}

/* One part between the root and the member that has it. */
struct way {
    covey_grid_t *grid;
    int root, is_gather;
    double *part; /* a dense part */
};

static int send_part(const struct way *w, const struct grid_field *f, const struct grid_box *box,
                     const double *data, int to)
{
    field_pack(f, box, data, w->part);
    return covey_team_send_array(w->grid->team, to, GRID_TAG_WHOLE, COVEY_DOUBLE, w->part,
                                 (size_t)grid_box_count(box));
}

static int receive_part(const struct way *w, const struct grid_field *f, const struct grid_box *box,
                        double *data, int from)
{
    size_t got = 0;
    int error = covey_team_recv_array(w->grid->team, from, GRID_TAG_WHOLE, COVEY_FOREVER,
                                      COVEY_DOUBLE, w->part, (size_t)grid_box_count(box), &got);
    if (error >= 0)
        field_unpack(f, box, w->part, data);
    return error < 0 ? error : 0;
}

/* Only one of field and whole is written. */
static int move_part(const struct way *w, int rank, double *field, double *whole)
{
    const struct grid_field *own = &w->grid->halo.field;
    int self = w->grid->halo.rank;
    struct grid_box box;
    struct grid_field all;
    whole_field(w->grid, &all);
    split_box(&w->grid->split, rank, &box);
    if (grid_box_count(&box) == 0 || (self != rank && self != w->root))
        return 0;
    if (rank == w->root) {
        field_pack(w->is_gather ? own : &all, &box, w->is_gather ? field : whole, w->part);
        field_unpack(w->is_gather ? &all : own, &box, w->part, w->is_gather ? whole : field);
        return 0;
    }
    if (self == w->root)
        return w->is_gather ? receive_part(w, &all, &box, whole, rank)
                            : send_part(w, &all, &box, whole, rank);
    return w->is_gather ? send_part(w, own, &box, field, w->root)
                        : receive_part(w, own, &box, field, w->root);
}

static int move_all(covey_grid_t *grid, double *field, int root, double *whole, int is_gather)
{
    struct way way = {.grid = grid, .root = root, .is_gather = is_gather};
    way.part = malloc(largest(grid, grid->halo.rank == root) * sizeof *way.part);
    if (way.part == NULL)
        return domain_break(grid->team, domain_fail(COVEY_ENOMEM, "grid: no memory for a part"));
    int error = 0;
    for (int rank = 0; error == 0 && rank < grid->split.members; rank++)
        error = move_part(&way, rank, field, whole);
    free(way.part);
    return error < 0 ? domain_break(grid->team, domain_fail_of(error, "grid: the whole")) : 0;
}

int covey_grid_gather(covey_grid_t *grid, const double *field, int root, double *whole)
{
    int error = check(grid, field, root, whole);
    return error < 0 ? error : move_all(grid, (double *)(uintptr_t)field, root, whole, 1);
}

int covey_grid_scatter(covey_grid_t *grid, int root, const double *whole, double *field)
{
    int error = check(grid, field, root, whole);
    return error < 0 ? error : move_all(grid, field, root, (double *)(uintptr_t)whole, 0);
}
