/* links: proto/tiling/tiling.c proto/tiling/tiling_matrix.c proto/tiling/tiling_space.c proto/tiling/tiling_shape.c proto/tiling/tiling_grid.c proto/tiling/tiling_time.c proto/tiling/tiling_play.c proto/tiling/tiling_height.c */
/*
 * Tilings: the numbers of Koziris, Sotiropoulos & Goumas where the paper has any, and what can be
 * counted point by point.
 */
#include <CUnit/CUnit.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "proto/tiling/tiling.h"
#include "tests/unit/runner.h"

#define NEAR(a, b) CU_ASSERT_DOUBLE_EQUAL(a, b, 1e-9)

/* The paper's loop: A(i,j,k) of A(i-1,j,k), A(i,j-1,k), A(i,j,k-1). */
static const struct tiling_dependences units = {.count = 3,
                                                .vector = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
/* A stencil over time: (t, x) of (t-1, x-1), (t-1, x), (t-1, x+1). */
static const struct tiling_dependences stencil = {.count = 3, .vector = {{1, 1}, {1, 0}, {1, -1}}};
static const struct tiling_matrix wavefront = {.at = {{1, 0}, {1, 1}}};

static struct tiling rectangle(int dims, const int64_t *sides)
{
    struct tiling t;
    struct tiling_matrix none;
    tiling_matrix_identity(&none);
    CU_ASSERT_EQUAL_FATAL(tiling_from_skew(&t, dims, &none, sides), 0);
    return t;
}

static uint64_t seed;

static int64_t below(int64_t limit)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)(seed >> 33) % limit;
}

/* ---- matrices -------------------------------------------------------------------------------- */

static void test_matrix(void)
{
    const struct tiling_matrix m = {.at = {{0, 2, 1}, {3, -1, 4}, {2, 2, 5}}};
    struct tiling_matrix a;
    int64_t determinant;
    CU_ASSERT_EQUAL(tiling_matrix_determinant(&m, 3, &determinant), 0);
    CU_ASSERT_EQUAL(determinant, -6);
    CU_ASSERT_EQUAL(tiling_matrix_adjugate(&m, 3, &a), 0);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            int64_t sum = 0;
            for (int k = 0; k < 3; k++)
                sum += m.at[i][k] * a.at[k][j];
            CU_ASSERT_EQUAL(sum, i == j ? -6 : 0);
        }
    }
    CU_ASSERT_EQUAL(tiling_matrix_invert(&m, 3, &a), -1);
    CU_ASSERT_EQUAL(tiling_matrix_invert(&wavefront, 2, &a), 0);
    CU_ASSERT(a.at[0][0] == 1 && a.at[0][1] == 0 && a.at[1][0] == -1 && a.at[1][1] == 1);
}

static void test_matrix_too_large(void)
{
    const int64_t big = (int64_t)1 << 40;
    const struct tiling_matrix m = {.at = {{big, 1}, {1, big}}};
    int64_t determinant;
    CU_ASSERT_EQUAL(tiling_matrix_determinant(&m, 2, &determinant), -1);
    const struct tiling_matrix none = {.at = {{1, 2}, {2, 4}}};
    CU_ASSERT_EQUAL(tiling_matrix_determinant(&none, 2, &determinant), 0);
    CU_ASSERT_EQUAL(determinant, 0);
}

/* ---- D, H, P --------------------------------------------------------------------------------- */

/* Section 5.4: tiles of 4 x 4 x z, all tiles along k on one processor. */
static void test_tiles_of_the_paper(void)
{
    const int64_t sides[] = {4, 4, 444};
    struct tiling t = rectangle(3, sides);
    CU_ASSERT_EQUAL(tiling_check(&t, &units).fault, TILING_LEGAL);
    CU_ASSERT_EQUAL(t.volume, 4 * 4 * 444);
    NEAR(tiling_volume(&t, &units, 2), 2 * 4 * 444);
    NEAR(tiling_volume_all(&t, &units), 2 * 4 * 444 + 16);
}

static void test_legality(void)
{
    const int64_t sides[] = {4, 3};
    struct tiling t = rectangle(2, sides);
    struct tiling_verdict verdict = tiling_check(&t, &stencil);
    CU_ASSERT_EQUAL(verdict.fault, TILING_NEGATIVE);
    CU_ASSERT(verdict.dependence == 2 && verdict.row == 1);
    CU_ASSERT_EQUAL(tiling_from_skew(&t, 2, &wavefront, sides), 0);
    CU_ASSERT_EQUAL(tiling_check(&t, &stencil).fault, TILING_LEGAL);
    const int64_t flat[] = {1, 2}, narrow[] = {4, 1};
    CU_ASSERT_EQUAL(tiling_from_skew(&t, 2, &wavefront, flat), 0);
    CU_ASSERT_EQUAL(tiling_check(&t, &stencil).fault, TILING_LONG);
    CU_ASSERT_EQUAL(tiling_from_skew(&t, 2, &wavefront, narrow), 0);
    CU_ASSERT_EQUAL(tiling_check(&t, &stencil).fault, TILING_FAR);
}

static void test_sides_that_are_none(void)
{
    struct tiling t;
    const int64_t zero[] = {4, 0}, long_[] = {1, (int64_t)1 << 50};
    const struct tiling_matrix even = {.at = {{2, 0}, {0, 1}}}, flat = {.at = {{1, 2}, {2, 4}}};
    CU_ASSERT_EQUAL(tiling_from_skew(&t, 2, &wavefront, zero), -1);
    CU_ASSERT_EQUAL(tiling_from_skew(&t, 2, &wavefront, long_), -1);
    CU_ASSERT_EQUAL(tiling_from_skew(&t, 2, &even, long_), -1);
    CU_ASSERT_EQUAL(tiling_from_sides(&t, 2, &flat), -1);
    CU_ASSERT_EQUAL(tiling_from_sides(&t, 9, &even), -1);
}

static void test_one_tiling_from_both(void)
{
    const int64_t sides[] = {4, 6};
    struct tiling a, b;
    CU_ASSERT_EQUAL(tiling_from_skew(&a, 2, &wavefront, sides), 0);
    CU_ASSERT(a.side.at[0][0] == 4 && a.side.at[1][0] == -4 && a.side.at[0][1] == 0);
    CU_ASSERT_EQUAL(tiling_from_sides(&b, 2, &a.side), 0);
    CU_ASSERT_EQUAL(memcmp(&a, &b, sizeof a), 0);
}

/* Every point is in one tile, and every tile has as many points as its volume. */
static void test_places(void)
{
    const struct tiling_matrix sides = {.at = {{3, 1}, {-1, 4}}};
    struct tiling t;
    int counts[9] = {0};
    CU_ASSERT_EQUAL(tiling_from_sides(&t, 2, &sides), 0);
    CU_ASSERT_EQUAL(t.volume, 13);
    for (int64_t i = -20; i < 20; i++) {
        for (int64_t j = -20; j < 20; j++) {
            const int64_t point[] = {i, j};
            int64_t tile[2], inside[2], home[2], none[2];
            tiling_place(&t, point, tile, inside);
            CU_ASSERT_EQUAL(inside[0] + 3 * tile[0] + tile[1], i);
            CU_ASSERT_EQUAL(inside[1] - tile[0] + 4 * tile[1], j);
            tiling_place(&t, inside, home, none);
            CU_ASSERT(home[0] == 0 && home[1] == 0);
            if (labs((long)tile[0]) <= 1 && labs((long)tile[1]) <= 1)
                counts[(tile[0] + 1) * 3 + tile[1] + 1]++;
        }
    }
    for (int i = 0; i < 9; i++)
        CU_ASSERT_EQUAL(counts[i], 13);
}

/* (1) and (2) against the dependences that leave a tile, counted. */
static double count_cuts(const struct tiling *t, const struct tiling_dependences *d, int along)
{
    int cuts = 0;
    for (int64_t i = -40; i < 40; i++) {
        for (int64_t j = -40; j < 40; j++) {
            for (int k = 0; k < d->count; k++) {
                const int64_t from[] = {i, j}, to[] = {i + d->vector[k][0], j + d->vector[k][1]};
                int64_t here[2], there[2], inside[2];
                tiling_place(t, from, here, inside);
                tiling_place(t, to, there, inside);
                bool home = here[0] == 0 && here[1] == 0;
                cuts += home && along != 0 && there[0] == 1;
                cuts += home && along != 1 && there[1] == 1;
            }
        }
    }
    return cuts;
}

static void test_volumes_are_counts(void)
{
    const int64_t sides[] = {4, 6};
    struct tiling t;
    CU_ASSERT_EQUAL(tiling_from_skew(&t, 2, &wavefront, sides), 0);
    NEAR(tiling_volume_all(&t, &stencil), count_cuts(&t, &stencil, -1));
    NEAR(tiling_volume(&t, &stencil, 0), count_cuts(&t, &stencil, 0));
    NEAR(tiling_volume(&t, &stencil, 1), count_cuts(&t, &stencil, 1));
    NEAR(tiling_volume(&t, &stencil, 1), 3 * 6);
}

static void test_tile_dependences(void)
{
    const int64_t sides[] = {4, 6};
    const int64_t self[] = {0, 0}, down[] = {1, 0}, right[] = {0, 1}, corner[] = {1, 1};
    const int64_t back[] = {1, -1};
    struct tiling t;
    CU_ASSERT_EQUAL(tiling_from_skew(&t, 2, &wavefront, sides), 0);
    CU_ASSERT(tiling_tile_depends(&t, &stencil, self));
    CU_ASSERT(tiling_tile_depends(&t, &stencil, down));
    CU_ASSERT(tiling_tile_depends(&t, &stencil, right));
    CU_ASSERT(tiling_tile_depends(&t, &stencil, corner));
    CU_ASSERT(!tiling_tile_depends(&t, &stencil, back));
    struct tiling cube = rectangle(3, (const int64_t[]){4, 4, 4});
    CU_ASSERT(!tiling_tile_depends(&cube, &units, (const int64_t[]){1, 1, 0}));
}

/* ---- skews ----------------------------------------------------------------------------------- */

static void random_dependences(struct tiling_dependences *d, int dims)
{
    d->count = 1 + (int)below(5);
    for (int j = 0; j < d->count; j++) {
        int lead = (int)below(dims);
        for (int i = 0; i < dims; i++)
            d->vector[j][i] = i < lead ? 0 : i == lead ? 1 + below(3) : below(9) - 4;
    }
}

static void test_skews_are_found(void)
{
    seed = 7;
    for (int round = 0; round < 500; round++) {
        struct tiling_dependences d, skewed;
        struct tiling_matrix skew, back;
        int dims = 1 + (int)below(5);
        random_dependences(&d, dims);
        CU_ASSERT_EQUAL(tiling_find_skew(dims, &d, &skew), 0);
        CU_ASSERT_EQUAL(tiling_matrix_invert(&skew, dims, &back), 0);
        tiling_skew_dependences(dims, &skew, &d, &skewed);
        for (int j = 0; j < d.count; j++) {
            for (int i = 0; i < dims; i++)
                CU_ASSERT(skewed.vector[j][i] >= 0);
        }
    }
    const struct tiling_dependences backwards = {.count = 1, .vector = {{0, -1}}};
    struct tiling_matrix skew;
    CU_ASSERT_EQUAL(tiling_find_skew(2, &backwards, &skew), -1);
    const struct tiling_dependences far = {
        .count = 3, .vector = {{1, INT32_MIN}, {0, 1, INT32_MIN}, {0, 0, 1, INT32_MIN}}};
    CU_ASSERT_EQUAL(tiling_find_skew(4, &far, &skew), -1);
    CU_ASSERT_EQUAL(tiling_find_skew(2, &stencil, &skew), 0);
    CU_ASSERT_EQUAL(memcmp(skew.at[1], wavefront.at[1], 2 * sizeof(int64_t)), 0);
}

/* ---- spaces ---------------------------------------------------------------------------------- */

static bool inside(const struct tiling_space *s, const int64_t *p)
{
    int64_t point[TILING_DIMS_MAX];
    tiling_space_point(s, p, point);
    for (int i = 0; i < s->dims; i++) {
        int64_t back = 0; /* of a lattice not every index is a point */
        for (int k = 0; k < s->dims; k++)
            back += s->skew.at[i][k] * point[k];
        if (point[i] < 0 || point[i] >= s->size[i] || back != p[i])
            return false;
    }
    return true;
}

/* Rows, and boxes that meet the space, against all points of its box. */
static void check_space(const struct tiling_space *s)
{
    int64_t points = 0;
    const struct tiling_box *b = &s->box;
    for (int64_t i = b->first[0] - 1; i <= b->end[0]; i++) {
        for (int64_t j = b->first[1] - 1; j <= b->end[1]; j++) {
            int64_t p[] = {i, j, 0}, first = b->first[2] - 2, end = b->end[2] + 2, count = 0;
            for (p[2] = first; p[2] < end; p[2]++)
                count += inside(s, p);
            bool any = tiling_space_row(s, p, &first, &end);
            CU_ASSERT_EQUAL(any, count > 0);
            CU_ASSERT_EQUAL(any ? (end - first) / s->basis.at[2][2] : 0, count);
            p[2] = first;
            CU_ASSERT(!any || inside(s, p));
            points += count;
        }
    }
    CU_ASSERT_EQUAL(points, s->size[0] * s->size[1] * s->size[2]);
}

static void test_spaces(void)
{
    const int64_t size[] = {3, 5, 7};
    const struct tiling_matrix skew = {.at = {{1, 0, 0}, {2, 1, 0}, {-1, 3, 1}}};
    const struct tiling_matrix even = {.at = {{2, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    const struct tiling_matrix rays = {.at = {{1, 1, 1}, {1, 1, -1}, {1, -1, 1}}};
    const struct tiling_matrix flat = {.at = {{1, 1, 1}, {1, 1, 1}, {1, -1, 1}}};
    const struct tiling_matrix sparse = {.at = {{4097, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    struct tiling_space s;
    CU_ASSERT_EQUAL(tiling_space_init(&s, 3, size, NULL), 0);
    check_space(&s);
    CU_ASSERT_EQUAL(tiling_space_init(&s, 3, size, &skew), 0);
    check_space(&s);
    CU_ASSERT_EQUAL(tiling_space_init(&s, 3, size, &even), 0);
    check_space(&s);
    CU_ASSERT_EQUAL(tiling_space_init(&s, 3, size, &rays), 0);
    CU_ASSERT_EQUAL(s.density, 4);
    check_space(&s);
    seed = 3;
    for (int round = 0; round < 20; round++) {
        struct tiling_matrix any = {.at = {{0}}};
        for (int i = 0; i < 9; i++)
            any.at[i / 3][i % 3] = below(7) - 3;
        if (tiling_space_init(&s, 3, size, &any) == 0)
            check_space(&s);
    }
    CU_ASSERT_EQUAL(tiling_space_init(&s, 3, size, &flat), -1);
    CU_ASSERT_EQUAL(tiling_space_init(&s, 3, size, &sparse), -1);
    CU_ASSERT_EQUAL(tiling_space_init(&s, 3, (const int64_t[]){3, 0, 1}, NULL), -1);
}

/* What is trimmed away has no point of the space. */
static void test_trimming(void)
{
    const int64_t size[] = {20, 30};
    struct tiling_space s;
    CU_ASSERT_EQUAL(tiling_space_init(&s, 2, size, &wavefront), 0);
    struct tiling_box box = {.first = {8, s.box.first[1]}, .end = {12, s.box.end[1]}};
    CU_ASSERT(tiling_space_trim(&s, 1, &box));
    CU_ASSERT_EQUAL(box.first[1], 8);
    CU_ASSERT_EQUAL(box.end[1], 41);
    struct tiling_box away = {.first = {0, 40}, .end = {4, 50}};
    CU_ASSERT(!tiling_space_trim(&s, 1, &away));
    CU_ASSERT(!tiling_space_meets(&s, &away));
}

/* ---- shapes ---------------------------------------------------------------------------------- */

static bool is_skew(const struct tiling_matrix *m, int dims, const int64_t rows[3][3])
{
    bool same = true;
    for (int i = 0; i < dims; i++) {
        for (int k = 0; k < dims; k++)
            same = same && m->at[i][k] == rows[i][k];
    }
    return same;
}

static void test_shapes_of_the_paper(void)
{
    struct tiling_shape shape;
    const int64_t none[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    CU_ASSERT_EQUAL(tiling_shape_find(3, &units, 2, 64, &shape), 0);
    CU_ASSERT(
        is_skew(&shape.skew, 3, none)); /* "the optimal tiling is in rectangular tile shapes" */
    NEAR(shape.sides[0], 8);
    NEAR(shape.sides[1], 8);
    NEAR(shape.sides[2], 0);
    NEAR(shape.volume, 16);
    CU_ASSERT_EQUAL(tiling_shape_find(3, &units, -1, 64, &shape), 0);
    CU_ASSERT(is_skew(&shape.skew, 3, none));
    NEAR(shape.sides[2], 4);
    NEAR(shape.volume, 48);
    /* what is cut twice as much is twice as long */
    const struct tiling_dependences uneven = {
        .count = 4, .vector = {{2, 0, 0}, {0, 1, 0}, {0, 0, 1}, {2, 0, 0}}};
    CU_ASSERT_EQUAL(tiling_shape_find(3, &uneven, 2, 400, &shape), 0);
    NEAR(shape.sides[0], 40);
    NEAR(shape.sides[1], 10);
}

/* A stencil over time: tiles with sides along t + x and t - x, of which half the indices are
 * points, send 3 points a tile of each side's 10, where skewed ones of the same size send sqrt 2 as
 * many. */
static void test_shape_of_a_stencil(void)
{
    struct tiling_shape shape;
    struct tiling t;
    const int64_t diamond[3][3] = {{1, 1}, {1, -1}};
    CU_ASSERT_EQUAL(tiling_shape_find(2, &stencil, -1, 50, &shape), 0);
    CU_ASSERT(is_skew(&shape.skew, 2, diamond));
    NEAR(shape.sides[0], 10);
    NEAR(shape.sides[1], 10);
    NEAR(shape.volume, 30);
    const struct tiling_matrix sides = {.at = {{5, 5}, {5, -5}}};
    CU_ASSERT_EQUAL(tiling_from_sides(&t, 2, &sides), 0);
    CU_ASSERT_EQUAL(t.volume, 50);
    NEAR(tiling_volume_all(&t, &stencil), 30);
}

/* Heat on a plate. By skewed tiles of 1000 points 3 * 5 * 100 are sent by (1), and 2 * 5 * 10 by
 * (2) of columns of 100: the shapes send cbrt 4 and sqrt 2 times less. */
static void test_shapes_of_heat(void)
{
    struct tiling_shape shape;
    const struct tiling_dependences heat = {
        .count = 5, .vector = {{1, 0, 0}, {1, 1, 0}, {1, -1, 0}, {1, 0, 1}, {1, 0, -1}}};
    CU_ASSERT_EQUAL(tiling_shape_find(3, &heat, -1, 1000, &shape), 0);
    NEAR(shape.volume, 1500 / cbrt(4));
    CU_ASSERT_EQUAL(tiling_shape_find(3, &heat, 0, 100, &shape), 0);
    NEAR(shape.volume, 100 / sqrt(2));
    const int64_t along[3][3] = {{1, 0, 0}};
    CU_ASSERT(is_skew(&shape.skew, 1, along));
    NEAR(shape.sides[0], 0);
}

/* What nothing cuts costs nothing: tiles along (1, 1) are chains. */
static void test_shape_of_few_dependences(void)
{
    struct tiling_shape shape;
    const struct tiling_dependences one = {.count = 1, .vector = {{1, 1}}}, no = {.count = 0};
    CU_ASSERT_EQUAL(tiling_shape_find(2, &one, -1, 50, &shape), 0);
    NEAR(shape.volume, 1);
    CU_ASSERT_EQUAL(tiling_shape_find(2, &no, -1, 50, &shape), 0);
    NEAR(shape.volume, 0);
    const struct tiling_dependences against = {.count = 2, .vector = {{1, 1}, {-1, -1}}};
    CU_ASSERT(tiling_shape_find(2, &against, -1, 50, &shape) != 0 || shape.volume < 50);
}

/* V_comm by (1) of the best sides, for g = 1000, of rows of H up to their lengths; < 0: not legal.
 */
static double least_volume(const struct tiling_dependences *d, const struct tiling_matrix *rows)
{
    struct tiling_dependences skewed;
    int64_t determinant;
    double cuts = 1;
    tiling_skew_dependences(3, rows, d, &skewed);
    if (tiling_matrix_determinant(rows, 3, &determinant) != 0 || determinant == 0)
        return -1;
    for (int i = 0; i < 3; i++) {
        int64_t cut = 0;
        for (int j = 0; j < d->count; j++) {
            if (skewed.vector[j][i] < 0)
                return -1;
            cut += skewed.vector[j][i];
        }
        cuts *= (double)cut;
    }
    return 3 * cbrt(cuts / (double)llabs(determinant)) * pow(1000, 2.0 / 3);
}

/* No legal rows of small integers give less than what is found. */
static void test_shapes_are_least(void)
{
    seed = 11;
    for (int tested = 0; tested < 8;) {
        struct tiling_dependences d;
        struct tiling_shape shape;
        random_dependences(&d, 3);
        CU_ASSERT_EQUAL_FATAL(tiling_shape_find(3, &d, -1, 1000, &shape), 0);
        if (least_volume(&d, &shape.skew) <= 0) /* they do not span the space */
            continue;
        tested++;
        CU_ASSERT_DOUBLE_EQUAL(least_volume(&d, &shape.skew), shape.volume, 1e-6 * shape.volume);
        for (int n = 0; n < 20000; n++) {
            struct tiling_matrix rows = {0};
            for (int i = 0; i < 9; i++)
                rows.at[i / 3][i % 3] = below(7) - 3;
            double volume = least_volume(&d, &rows);
            CU_ASSERT(volume < 0 || volume >= shape.volume * (1 - 1e-9));
        }
    }
}

/* ---- grids ----------------------------------------------------------------------------------- */

static struct tiling_grid grid_of(const int64_t *size, int along, int tasks)
{
    struct tiling_grid g = {.dims = 3, .along = along, .grain = {1, 1, 1}};
    memcpy(g.box.end, size, 3 * sizeof size[0]);
    CU_ASSERT_EQUAL(tiling_grid_choose(&g, &units, tasks), 0);
    return g;
}

static void test_grids_of_the_paper(void)
{
    const int64_t size[] = {16, 16, 16384};
    struct tiling_box box = {.end = {16, 16, 16384}};
    CU_ASSERT_EQUAL(tiling_along(3, &box), 2);
    struct tiling_grid g = grid_of(size, 2, 16);
    CU_ASSERT(g.tasks[0] == 4 && g.tasks[1] == 4 && g.tasks[2] == 1);
    CU_ASSERT_EQUAL(tiling_grid_longest(&g, 0), 4);
    struct tiling_grid small = grid_of(size, 2, 4);
    CU_ASSERT(small.tasks[0] == 2 && small.tasks[1] == 2);
    int32_t place[3];
    tiling_grid_place(&g, 6, place);
    CU_ASSERT(place[0] == 1 && place[1] == 2 && place[2] == 0);
    CU_ASSERT_EQUAL(tiling_grid_number(&g, place), 6);
    struct tiling_box part;
    tiling_grid_part(&g, place, &part);
    CU_ASSERT(part.first[0] == 4 && part.end[0] == 8 && part.first[1] == 8 && part.end[1] == 12);
    CU_ASSERT(part.first[2] == 0 && part.end[2] == 16384);
}

/* Parts cover the space, each point once, whatever the numbers are. */
static void test_grids_cover(void)
{
    seed = 3;
    for (int round = 0; round < 300; round++) {
        const int64_t size[] = {1 + below(40), 1 + below(40), 1 + below(9)};
        int tasks = 1 + (int)below(20);
        struct tiling_grid g = {.dims = 3, .along = (int)below(3)};
        for (int i = 0; i < 3; i++) {
            g.box.end[i] = size[i];
            g.grain[i] = 1 + below(4);
        }
        CU_ASSERT_EQUAL(tiling_grid_choose(&g, &units, tasks), 0);
        CU_ASSERT(tiling_grid_count(&g) <= tasks);
        int64_t covered = 0;
        for (int n = 0; n < tiling_grid_count(&g); n++) {
            int32_t place[3];
            struct tiling_box part;
            int64_t points = 1;
            tiling_grid_place(&g, n, place);
            tiling_grid_part(&g, place, &part);
            for (int i = 0; i < 3; i++) {
                CU_ASSERT(part.end[i] > part.first[i]);
                CU_ASSERT(part.end[i] - part.first[i] <= tiling_grid_longest(&g, i));
                points *= part.end[i] - part.first[i];
            }
            covered += points;
        }
        CU_ASSERT_EQUAL(covered, size[0] * size[1] * size[2]);
    }
}

static void test_grids_that_cannot_be(void)
{
    struct tiling_grid g = {
        .dims = 2, .along = 1, .tasks = {5, 0}, .grain = {1, 1}, .box = {.end = {10, 10}}};
    const struct tiling_dependences far = {.count = 1, .vector = {{3, 1}}};
    CU_ASSERT_EQUAL(tiling_grid_choose(&g, &far, 8), -1);
    g.tasks[0] = 0;
    CU_ASSERT_EQUAL(tiling_grid_choose(&g, &far, 8), 0);
    CU_ASSERT_EQUAL(g.tasks[0], 3);
    g.tasks[0] = 2;
    CU_ASSERT_EQUAL(tiling_grid_choose(&g, &far, 1), -1);
}

/* ---- times ----------------------------------------------------------------------------------- */

/* 16 x 16 x 16384 on 4 x 4 processors at z = 64: the last tile is (3, 3, 255). */
static void test_hyperplanes_of_the_paper(void)
{
    const int64_t last[] = {3, 3, 255};
    CU_ASSERT_EQUAL(tiling_steps_block(3, last), 262);
    CU_ASSERT_EQUAL(tiling_steps_overlap(3, 2, last), 268);
    NEAR(tiling_time_block(262, 3, 2), 262 * 5.0);
    NEAR(tiling_time_overlap(268, 3, 2), 268 * 3.0);
    NEAR(tiling_time_overlap(268, 2, 3), 268 * 3.0);
}

/* Section 6.2: t_start_dma = 49.2 us, t_sync = 4 x 18.8 us. */
static void test_what_cannot_be_overlapped(void)
{
    const int64_t last[] = {2, 2, 1023};
    int64_t steps = tiling_steps_overlap(3, 2, last);
    CU_ASSERT_EQUAL(steps, 1032);
    NEAR(tiling_time_started(steps, 49.2e-6 + 4 * 18.8e-6, 400e-6, 300e-6), 1032 * 524.4e-6);
    NEAR(tiling_time_started(steps, 49.2e-6 + 4 * 18.8e-6, 400e-6, 600e-6), 1032 * 600e-6);
}

/* A pipe over 4 x 4 tasks, and one over a space that is skewed. */
static const struct tiling_column straight[] = {{0, 0, 16384}, {6, 0, 16384}};
static const struct tiling_column slanted[] = {{0, 0, 110}, {1, 10, 120}, {2, 20, 130}};

static void test_steps_of_pipes(void)
{
    const struct tiling_pipe p = {.columns = straight, .count = 2, .extent = 16384};
    CU_ASSERT_EQUAL(tiling_pipe_steps(&p, 64, false), 262);
    CU_ASSERT_EQUAL(tiling_pipe_steps(&p, 64, true), 268);
    CU_ASSERT_EQUAL(tiling_pipe_steps(&p, 444, true), 37 + 12); /* 36.9 tiles */
    const struct tiling_pipe s = {.columns = slanted, .count = 3, .extent = 130};
    CU_ASSERT_EQUAL(tiling_pipe_steps(&s, 10, false), 15);
    CU_ASSERT_EQUAL(tiling_pipe_steps(&s, 10, true), 17);
}

/* ---- tiles played ---------------------------------------------------------------------------- */

static struct tiling_player players[16];

/* 4 x 4 tasks, or n in a row, and layers of height 1. */
static double play(int rows, int columns, const struct tiling_play *like, int64_t layers,
                   bool overlapped)
{
    struct tiling_grid g = {.dims = 3, .along = 2, .tasks = {rows, columns, 1}};
    struct tiling_column all[16];
    for (int i = 0; i < rows * columns; i++)
        all[i] = (struct tiling_column){0, 0, layers};
    struct tiling_play p = *like;
    p.grid = &g;
    p.players = players;
    p.columns = all;
    p.height = 1;
    p.ahead = 2;
    p.layers_max = like->layers_max > 0 ? like->layers_max : layers;
    p.last_share = like->last_share > 0 ? like->last_share : 1;
    return tiling_play_run(&p, layers, overlapped);
}

/* With messages as long as computation a tile goes from task to task in two steps: (5). */
static void test_play_is_the_schedule(void)
{
    struct tiling_play p = {.comp_s = 1};
    p.face[0] = p.face[1] = (struct tiling_play_face){.used = true, .alpha_s = 1};
    const int64_t last[] = {3, 3, 99};
    NEAR(play(4, 4, &p, 100, true), (double)tiling_steps_overlap(3, 2, last));
    p.face[0].alpha_s = p.face[1].alpha_s = 0;
    NEAR(play(4, 4, &p, 100, true), (double)tiling_steps_block(3, last));
    NEAR(play(4, 4, &p, 100, false), (double)tiling_steps_block(3, last));
    NEAR(play(1, 1, &p, 100, true), 100);
}

/* A link that is slower than the processor is what all wait for, and so is what a message costs. */
static void test_play_of_what_is_slow(void)
{
    struct tiling_play p = {.comp_s = 1};
    p.face[0] = (struct tiling_play_face){.used = true, .wire_s = 3, .alpha_s = 0.5};
    NEAR(play(2, 1, &p, 50, true), 1 + 50 * 3 + 0.5 + 1);
    p.face[0].store_s = 0.25; /* of the last face alone */
    NEAR(play(2, 1, &p, 50, true), 1 + 50 * 3 + 0.75 + 1);
    p.face[0] = (struct tiling_play_face){.used = true, .start_s = 0.25};
    NEAR(play(2, 1, &p, 50, true), 1.25 + 50 * 1.25);
    NEAR(play(3, 1, &p, 50, true), 1.25 + 1.5 + 50 * 1.5 - 0.25);
}

/* What is sent while the receiver is not ready waits there, and so does the sender. */
static void test_play_of_blocking(void)
{
    struct tiling_play p = {.comp_s = 1};
    p.face[0] = (struct tiling_play_face){.used = true, .wire_s = 2, .alpha_s = 0.5};
    /* a face takes 2.5 and its receipt 0.5: the first of two sends each 4 after the one before */
    NEAR(play(2, 1, &p, 50, false), 50 * 4 - 0.5 + 1);
    NEAR(play(3, 1, &p, 50, false), 50 * 4 - 0.5 + 1 + 2.5 + 1);
    p.face[0].store_s = 0.25; /* of each face, and of no receipt */
    NEAR(play(2, 1, &p, 50, false), 50 * 4.25 - 0.5 + 1);
}

static void test_play_concludes(void)
{
    struct tiling_play p = {.comp_s = 1};
    p.face[0] = p.face[1] =
        (struct tiling_play_face){.used = true, .start_s = 0.1, .wire_s = 0.4, .alpha_s = 2};
    double all = play(4, 4, &p, 5000, true);
    p.layers_max = 200;
    CU_ASSERT_DOUBLE_EQUAL(play(4, 4, &p, 5000, true) / all, 1, 1e-3);
    p.layers_max = 0;
    p.last_share = 0.25;
    CU_ASSERT(play(4, 4, &p, 50, true) < play(4, 4, &p, 51, true) - 1);
}

/* ---- the height ------------------------------------------------------------------------------ */

/* 4 x 4 tasks, and what a tile of height 1 takes. */
struct heights {
    int64_t extent;
    double point_s, alpha_s, beta_s, start_s;
    bool overlapped;
    int asked;
};

static double heights_play(void *context, int64_t z, double enough_s)
{
    struct heights *h = context;
    struct tiling_grid g = {.dims = 3, .along = 2, .tasks = {4, 4, 1}};
    struct tiling_column all[16];
    int64_t layers = (h->extent + z - 1) / z;
    struct tiling_play p = {.grid = &g,
                            .players = players,
                            .columns = all,
                            .height = z,
                            .last_share = (double)(h->extent - (layers - 1) * z) / (double)z,
                            .comp_s = h->point_s * (double)z,
                            .ahead = 2,
                            .layers_max = 4096};
    for (int i = 0; i < 16; i++)
        all[i] = (struct tiling_column){0, 0, h->extent};
    for (int i = 0; i < 2; i++)
        p.face[i] = (struct tiling_play_face){.used = true,
                                              .start_s = h->start_s,
                                              .wire_s = h->beta_s * (double)z,
                                              .alpha_s = h->alpha_s};
    h->asked++;
    double bound_s = tiling_play_bound(&p, layers, h->overlapped);
    double s = tiling_play_run(&p, layers, h->overlapped);
    CU_ASSERT(bound_s <= s * (1 + 1e-9));
    return bound_s >= enough_s ? bound_s : s;
}

/* As good as any, within what a step of the number of tiles makes; and not all are tried. */
static void check_best(struct heights *h)
{
    h->asked = 0;
    int64_t best = tiling_height_best(h->extent, heights_play, h);
    CU_ASSERT(h->asked < 200);
    double found_s = heights_play(h, best, INFINITY);
    for (int64_t z = 1; z <= h->extent; z++)
        CU_ASSERT(found_s <= heights_play(h, z, INFINITY) * 1.002);
}

static void test_best_height(void)
{
    struct heights h = {1024, 16e-6, 400e-6, 3.2e-6, 100e-6, true, 0};
    check_best(&h);
    h.overlapped = false;
    check_best(&h);
    seed = 5;
    for (int round = 0; round < 12; round++) {
        h = (struct heights){.extent = 1 + below(600), .overlapped = round % 2};
        h.point_s = (double)(1 + below(100)) * 1e-6;
        h.alpha_s = (double)below(1000) * 1e-6;
        h.beta_s = (double)below(100) * 1e-6;
        h.start_s = (double)below(100) * 1e-6;
        check_best(&h);
    }
}

/* The paper's alpha, 1.66 ms. As pure latency it costs nothing behind enough tiles: low ones are
 * best. As start-up that keeps the processor, each tile more is lost, and they are high. */
static void test_height_of_pure_latency(void)
{
    struct heights h = {16384, 16e-6, 1.66e-3, 0, 0, true, 0};
    int64_t low = tiling_height_best(h.extent, heights_play, &h);
    double low_s = heights_play(&h, low, INFINITY);
    CU_ASSERT(low < 64);
    CU_ASSERT(low_s <= heights_play(&h, 4, INFINITY));
    CU_ASSERT(low_s < heights_play(&h, 298, INFINITY));
    h.start_s = h.alpha_s / 4;
    CU_ASSERT(tiling_height_best(h.extent, heights_play, &h) > 4 * low);
}

/* Without costs a tile is as high as the space: nothing is gained by more. */
static void test_height_without_costs(void)
{
    struct heights h = {.extent = 16384, .overlapped = true};
    CU_ASSERT_EQUAL(tiling_height_best(h.extent, heights_play, &h), 16384);
}

int main(void)
{
    static const struct test_case cases[] = {
        {"determinant, adjugate and inverse", test_matrix},
        {"matrices that are too large", test_matrix_too_large},
        {"tiles of 4 x 4 x 444", test_tiles_of_the_paper},
        {"HD >= 0 and |HD| < 1", test_legality},
        {"sides that are none", test_sides_that_are_none},
        {"one tiling from H and from P", test_one_tiling_from_both},
        {"places of points", test_places},
        {"volumes are counts", test_volumes_are_counts},
        {"dependences of tiles", test_tile_dependences},
        {"skews are found", test_skews_are_found},
        {"spaces, row by row", test_spaces},
        {"trimming", test_trimming},
        {"the paper's shapes", test_shapes_of_the_paper},
        {"the shape of a stencil", test_shape_of_a_stencil},
        {"shapes of heat", test_shapes_of_heat},
        {"shapes of few dependences", test_shape_of_few_dependences},
        {"shapes are least", test_shapes_are_least},
        {"the paper's grid", test_grids_of_the_paper},
        {"grids cover their space", test_grids_cover},
        {"grids that cannot be", test_grids_that_cannot_be},
        {"time hyperplanes", test_hyperplanes_of_the_paper},
        {"what cannot be overlapped", test_what_cannot_be_overlapped},
        {"steps of pipes", test_steps_of_pipes},
        {"tiles played are the schedule", test_play_is_the_schedule},
        {"tiles played with something slow", test_play_of_what_is_slow},
        {"blocking tiles played", test_play_of_blocking},
        {"playing is concluded", test_play_concludes},
        {"the best height", test_best_height},
        {"the height where alpha is latency", test_height_of_pure_latency},
        {"the height without costs", test_height_without_costs},
    };
    return covey_test_main("tiling", cases, sizeof cases / sizeof cases[0]);
}
