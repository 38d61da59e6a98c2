/* links: tests/conformance/story.c libcovey-domain */
/*
 * grid.c - grids that are divided among tasks: whatever their sizes, halo and number of tasks, each
 * point of a halo is that of a global array, and no other is touched.
 *
 *   grid MEMBERS          spawns the others, and tests on teams of 1 to MEMBERS - 1
 *   grid member MEMBERS   is what it spawns
 */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/domain/covey_domain.h"
#include "tests/conformance/story.h"

#define OUTSIDE (-7.0) /* what stands where no point is */

static covey_team_t *team; /* of the checks that run */

static const struct covey_grid_shape shapes[] = {
    {2, COVEY_STENCIL_STAR, 1, {0, 0}, {12, 17}},
    {2, COVEY_STENCIL_BOX, 2, {1, 0}, {20, 9}},
    {2, COVEY_STENCIL_BOX, 1, {1, 1}, {7, 1}},
    {2, COVEY_STENCIL_STAR, 1, {1, 1}, {1, 1}},
    {2, COVEY_STENCIL_STAR, 3, {0, 1}, {3, 3}},
    {2, COVEY_STENCIL_BOX, 1, {0, 0}, {2, 3}},
    {3, COVEY_STENCIL_STAR, 1, {0, 0, 0}, {8, 9, 10}},
    {3, COVEY_STENCIL_STAR, 2, {1, 1, 1}, {6, 5, 7}},
    {3, COVEY_STENCIL_BOX, 1, {0, 1, 0}, {5, 6, 7}},
    {3, COVEY_STENCIL_BOX, 2, {1, 1, 1}, {4, 9, 6}},
    {3, COVEY_STENCIL_BOX, 1, {1, 1, 1}, {2, 1, 2}},
    {3, COVEY_STENCIL_STAR, 1, {0, 0, 0}, {1, 1, 1}},
    {3, COVEY_STENCIL_STAR, 2, {0, 0, 0}, {40, 1, 1}},
};
#define SHAPES (sizeof shapes / sizeof *shapes)

static const char *name_of(const struct covey_grid_shape *s, const char *what)
{
    static char name[160];
    snprintf(name, sizeof name, "%s: %d x %d x %d, stencil %d, width %d, %d members: %s", what,
             (int)s->n[0], (int)s->n[1], s->dims == 3 ? (int)s->n[2] : 1, s->stencil, s->width,
             covey_team_size(team), covey_domain_error_text());
    return name;
}

/* Of a point of the whole grid. */
static double value(const int64_t at[3])
{
    return 1 + (double)at[0] + 1000 * (double)at[1] + 1e6 * (double)at[2];
}

/* Walks over a part with `margin` points around it: what stands at each, relative to the part. */
static int next_point(const struct covey_grid_part *p, int margin, int64_t at[3])
{
    for (int d = p->dims - 1; d >= 0; d--) {
        if (++at[d] < p->size[d] + margin)
            return 1;
        at[d] = -margin;
    }
    return 0;
}

static void first_point(const struct covey_grid_part *p, int margin, int64_t at[3])
{
    at[2] = 0;
    for (int d = 0; d < p->dims; d++)
        at[d] = -margin;
}

static double *element(const struct covey_grid_part *p, double *field, const int64_t at[3])
{
    int64_t place = p->start;
    for (int d = 0; d < p->dims; d++)
        place += at[d] * p->stride[d];
    return field + place;
}

/* What should stand there after an exchange; `first` is what stood there before. */
static double wanted(const struct covey_grid_shape *s, const struct covey_grid_part *p,
                     const int64_t at[3])
{
    int64_t global[3] = {0, 0, 0};
    int across = 0;
    for (int d = 0; d < s->dims; d++) {
        global[d] = p->offset[d] + at[d];
        across += at[d] < 0 || at[d] >= p->size[d];
        if (global[d] < 0 || global[d] >= s->n[d]) {
            if (!s->periodic[d])
                return OUTSIDE;
            global[d] = (global[d] + s->n[d]) % s->n[d];
        }
    }
    if (across > 1 && s->stencil == COVEY_STENCIL_STAR)
        return OUTSIDE;
    return value(global);
}

static double *filled(const covey_grid_t *grid, const struct covey_grid_part *p)
{
    int64_t at[3], global[3] = {0, 0, 0};
    double *field = covey_grid_field(grid);
    for (size_t i = 0; i < p->count; i++)
        field[i] = OUTSIDE;
    first_point(p, 0, at);
    if (p->count > 0)
        do {
            for (int d = 0; d < p->dims; d++)
                global[d] = p->offset[d] + at[d];
            *element(p, field, at) = value(global);
        } while (next_point(p, 0, at));
    return field;
}

static int halo_is_right(const struct covey_grid_shape *s, const struct covey_grid_part *p,
                         double *field)
{
    int64_t at[3];
    int right = 1;
    first_point(p, p->width, at);
    if (p->count > 0)
        do
            right &= *element(p, field, at) == wanted(s, p, at);
        while (next_point(p, p->width, at));
    return right;
}

/* Every point is one member's, and no other's. */
static void check_owners(const struct covey_grid_shape *s, const covey_grid_t *grid)
{
    int64_t points = 0, all = 1;
    int right = 1;
    for (int d = 0; d < s->dims; d++)
        all *= s->n[d];
    for (int rank = 0; rank < covey_team_size(team); rank++) {
        struct covey_grid_part p;
        right &= covey_grid_local_of(grid, rank, &p) == 0;
        int64_t at[3], global[3];
        first_point(&p, 0, at);
        if (p.count > 0)
            do {
                for (int d = 0; d < p.dims; d++)
                    global[d] = p.offset[d] + at[d];
                right &= covey_grid_owner(grid, global) == rank;
                points++;
            } while (next_point(&p, 0, at));
    }
    check(name_of(s, "each point has an owner"), right && points == all);
}

static void check_sums(const struct covey_grid_shape *s, covey_grid_t *grid, double *field)
{
    double sum = 0, norm = -1, dot = -1;
    int64_t at[3];
    for (at[0] = 0; at[0] < s->n[0]; at[0]++)
        for (at[1] = 0; at[1] < s->n[1]; at[1]++)
            for (at[2] = 0; at[2] < (s->dims == 3 ? s->n[2] : 1); at[2]++)
                sum += value(at) * value(at);
    check(name_of(s, "a norm"),
          covey_grid_norm(grid, field, &norm) == 0 && fabs(norm - sqrt(sum)) <= 1e-13 * norm);
    check(name_of(s, "a dot product"),
          covey_grid_dot(grid, field, field, &dot) == 0 && fabs(dot - sum) <= 1e-13 * dot);
}

static void check_whole(const struct covey_grid_shape *s, covey_grid_t *grid,
                        const struct covey_grid_part *p, double *field)
{
    int root = covey_team_size(team) - 1, right = 1, is_root = covey_team_rank(team) == root;
    int64_t third = s->dims == 3 ? s->n[2] : 1, count = s->n[0] * s->n[1] * third, at[3];
    double *whole = calloc((size_t)count, sizeof *whole);
    check(name_of(s, "gather"), covey_grid_gather(grid, field, root, is_root ? whole : NULL) == 0);
    for (int64_t i = 0; is_root && i < count; i++) {
        at[2] = i % third;
        at[1] = i / third % s->n[1];
        at[0] = i / third / s->n[1];
        right &= whole[i] == value(at);
        whole[i] = -whole[i];
    }
    check(name_of(s, "what was gathered"), right);
    double *back = covey_grid_field(grid);
    check(name_of(s, "scatter"), covey_grid_scatter(grid, root, is_root ? whole : NULL, back) == 0);
    first_point(p, 0, at);
    if (p->count > 0)
        do
            right &= *element(p, back, at) == -*element(p, field, at);
        while (next_point(p, 0, at));
    check(name_of(s, "what was scattered"), right);
    free(back);
    free(whole);
}

static void check_shape(const struct covey_grid_shape *s)
{
    struct covey_grid_part p = {.count = 0};
    covey_grid_t *grid;
    if (covey_grid_create(team, s, NULL, &grid) != 0) {
        check(name_of(s, "a grid"), 0);
        return;
    }
    check(name_of(s, "a part"), covey_grid_local(grid, &p) == 0);
    double *field = filled(grid, &p);
    check(name_of(s, "an exchange"), covey_grid_exchange(grid, field) == 0);
    check(name_of(s, "the halo"), halo_is_right(s, &p, field));
    check_sums(s, grid, field);
    check_whole(s, grid, &p, field);
    free(field);
    field = filled(grid, &p);
    check(name_of(s, "an exchange begins"),
          covey_grid_begin(grid, p.count > 0 ? field : NULL) == 0);
    check(name_of(s, "and ends"), covey_grid_end(grid) == 0);
    check(name_of(s, "the halo then"), halo_is_right(s, &p, field));
    check_owners(s, grid);
    free(field);
    covey_grid_free(&grid);
    check("it is gone", grid == NULL);
}

/* ---- What is refused ------------------------------------------------------------------------- */

static void refused(const char *why, const struct covey_grid_shape *s, const char *options)
{
    covey_grid_t *grid = (covey_grid_t *)&grid;
    int error = covey_grid_create(team, s, options, &grid);
    check(why, error == COVEY_EINVAL && grid == NULL && covey_domain_error_text()[0] != '\0');
}

static void check_refusals(void)
{
    const struct covey_grid_shape good = {3, COVEY_STENCIL_STAR, 1, {0, 0, 0}, {8, 8, 8}};
    struct covey_grid_shape s;
    int is_first = covey_team_rank(team) == 0;
    refused("no shape", NULL, NULL);
    for (int dims = 0; dims <= 4; dims += dims == 1 ? 3 : 1) {
        s = good;
        s.dims = dims;
        refused("dimensions", &s, NULL);
    }
    s = good;
    s.stencil = 3;
    refused("no such stencil", &s, NULL);
    s = good;
    s.width = 0;
    refused("no halo", &s, NULL);
    s.width = COVEY_GRID_WIDTH_MAX + 1;
    refused("a wide halo", &s, NULL);
    s = good;
    s.n[1] = 0;
    refused("no points", &s, NULL);
    s.n[1] = -5;
    refused("fewer than none", &s, NULL);
    s.n[1] = INT64_MAX;
    refused("too many points", &s, NULL);
    s = good;
    s.periodic[2] = 1;
    s.width = 9;
    refused("a halo around a shorter axis", &s, NULL);
    refused("parts that are none", &good, "parts=2y2");
    refused("two parts of three axes", &good, "parts=1x1");
    refused("more parts than members", &good, "parts=5x5x5");
    refused("parts of a huge number", &good, "parts=999999x999999x999999");
    refused("no part", &good, "parts=0x1x1");
    refused("no such option", &good, "colour=red");
    if (covey_team_size(team) > 1) {
        s = good;
        s.n[0] = is_first ? 8 : 9;
        refused("two sizes", &s, NULL);
        refused("one member's shape", is_first ? &good : NULL, NULL);
    }
}

static void check_nulls(void)
{
    const struct covey_grid_shape good = {2, COVEY_STENCIL_STAR, 1, {0, 0}, {8, 8}};
    struct covey_grid_part part;
    const int64_t outside[] = {3, 8};
    double number;
    covey_grid_t *grid = NULL;
    check("no team", covey_grid_create(NULL, &good, NULL, &grid) == COVEY_EINVAL);
    check("no place", covey_grid_create(team, &good, NULL, NULL) == COVEY_EINVAL);
    check("no grid: part", covey_grid_local(NULL, &part) == COVEY_EINVAL);
    check("no grid: exchange", covey_grid_exchange(NULL, &number) == COVEY_EINVAL);
    check("no grid: end", covey_grid_end(NULL) == COVEY_EINVAL);
    check("no grid: norm", covey_grid_norm(NULL, &number, &number) == COVEY_EINVAL);
    check("no grid: gather", covey_grid_gather(NULL, &number, 0, &number) == COVEY_EINVAL);
    check("no grid: field", covey_grid_field(NULL) == NULL);
    covey_grid_free(NULL);
    covey_grid_free(&grid);
    if (covey_grid_create(team, &good, "parts=1x1", &grid) != 0) {
        check("a grid at one member", 0);
        return;
    }
    check("no part", covey_grid_local(grid, NULL) == COVEY_EINVAL);
    check("no rank", covey_grid_local_of(grid, covey_team_size(team), &part) == COVEY_EINVAL);
    check("no owner", covey_grid_owner(grid, outside) == COVEY_EINVAL);
    check("no point", covey_grid_owner(grid, NULL) == COVEY_EINVAL);
    check("no root", covey_grid_gather(grid, &number, -1, &number) == COVEY_EINVAL);
    check("no root back", covey_grid_scatter(grid, 99, &number, &number) == COVEY_EINVAL);
    check("a part", covey_grid_local_of(grid, 0, &part) == 0 && part.size[0] == 8);
    covey_grid_free(&grid);
}

/* A field that is NULL at one member breaks the team: nobody waits for it. */
static void check_null_field(void)
{
    const struct covey_grid_shape s = {2, COVEY_STENCIL_STAR, 1, {1, 1}, {64, 64}};
    covey_grid_t *grid;
    int is_last = covey_team_rank(team) == covey_team_size(team) - 1, error = 0;
    error = covey_grid_create(team, &s, NULL, &grid); /* the last may be through, and break it */
    double *field = error == 0 ? covey_grid_field(grid) : NULL;
    for (int i = 0; error == 0 && i < 1000; i++)
        error = covey_grid_exchange(grid, is_last ? NULL : field);
    check("a field NULL at one ends at all", is_last ? error == COVEY_EINVAL : error < 0);
    free(field);
    covey_grid_free(&grid);
}

static void check_environment(void)
{
    const struct covey_grid_shape s = {2, COVEY_STENCIL_STAR, 1, {0, 0}, {64, 64}};
    struct covey_grid_part part = {.dims = 0};
    covey_grid_t *grid;
    char text[32];
    int size = covey_team_size(team);
    snprintf(text, sizeof text, "parts=1x%d", size);
    setenv("COVEY_GRID", text, 1);
    check("a grid of the environment", covey_grid_create(team, &s, "parts=1x1", &grid) == 0);
    check("has its parts", covey_grid_local(grid, &part) == 0 && part.parts[1] == size);
    covey_grid_free(&grid);
    unsetenv("COVEY_GRID");
}

/* ---- The story ------------------------------------------------------------------------------- */

static void tell_part(void)
{
    for (size_t i = 0; i < SHAPES; i++)
        check_shape(&shapes[i]);
    check_refusals();
    check_nulls();
    check_environment();
    check_null_field();
}

/* The last member ends while the others exchange: all of them get an error. */
static void check_end(void)
{
    const struct covey_grid_shape s = {2, COVEY_STENCIL_STAR, 1, {1, 1}, {64, 64}};
    covey_grid_t *grid;
    if (covey_grid_create(team, &s, NULL, &grid) != 0) {
        check("a grid of all", 0);
        return;
    }
    double *field = covey_grid_field(grid), norm;
    check("it is exchanged", covey_grid_exchange(grid, field) == 0);
    covey_barrier(team); /* of those that are still in the exchange some might fail */
    if (covey_team_rank(team) == covey_team_size(team) - 1)
        raise(SIGKILL);
    int error = 0;
    for (int i = 0; error == 0 && i < 1000; i++) {
        error = covey_grid_exchange(grid, field);
        if (error == 0)
            error = covey_grid_norm(grid, field, &norm);
    }
    /* ETYPE: another member breaks the team in the place of the same call */
    check("a member's end is an error", error == COVEY_ENOTASK || error == COVEY_EHOSTFAIL ||
                                            error == COVEY_ECANCELED || error == COVEY_ETYPE ||
                                            error == COVEY_ETRUNC);
    check("which has words", strlen(covey_domain_error_text()) > 20);
    free(field);
    covey_grid_free(&grid);
}

static void tell(covey_team_t *all)
{
    story_parts(all, &team, tell_part);
    team = all;
    check_end();
}

int main(int argc, char **argv)
{
    static const struct story story = {.group = "grid", .members_max = 16, .tell = tell};
    return story_main(argc, argv, &story);
}
