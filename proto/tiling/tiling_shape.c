/*
 * tiling_shape.c - the shape of tiles that sends least for its size (section 2.4 of Koziris,
 * Sotiropoulos & Goumas, who leave it to Boulet, Darte, Risset & Robert and to Xue).
 *
 * The rows of H that are legal, h d >= 0 for each d of D, are a cone. (1) and (2) are sums of h_i
 * delta, delta being the sum of all d, and what is given, det(H), is linear in each row. So among
 * rows of one h delta the largest determinant is found where they are extreme rays of the cone: all
 * choices of those are tried, and sides are such that each row has an equal part of the sum. A ray
 * is perpendicular to dims - 1 dependences. Where D does not span the space, unit vectors do in
 * their place.
 */
#include "proto/tiling/tiling.h"

#include <math.h>
#include <string.h>

#define RAYS_MAX 64
#define TRIES_MAX (1 << 20)          /* of more a shape is not searched */
#define ENTRY_MAX ((int64_t)1 << 15) /* of a ray */
#define NOMINAL_POINTS 1e6

struct rays {
    int dims, count;
    struct tiling_dependences span; /* D, and what it takes to span the space */
    int64_t ray[RAYS_MAX][TILING_DIMS_MAX];
    int tries;
    bool failed; /* there are too many, or too long ones */
};

static int64_t product(const int64_t *a, const int64_t *b, int n)
{
    int64_t sum = 0;
    for (int i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* ---- the space that D spans ------------------------------------------------------------------ */

/* Whether the rows are independent: the determinant of their products is not 0. */
static int are_independent(const struct tiling_matrix *rows, int count, int dims)
{
    struct tiling_matrix products = {0};
    int64_t determinant;
    for (int i = 0; i < count; i++) {
        for (int k = 0; k < count; k++)
            products.at[i][k] = product(rows->at[i], rows->at[k], dims);
    }
    if (tiling_matrix_determinant(&products, count, &determinant) != 0)
        return -1;
    return determinant != 0;
}

/* Adds unit vectors until all spans. */
static int make_span(struct rays *r, const struct tiling_dependences *d)
{
    struct tiling_matrix basis = {0};
    int rank = 0;
    r->span = *d;
    for (int j = 0; j < d->count + r->dims && rank < r->dims; j++) {
        int64_t unit[TILING_DIMS_MAX] = {0};
        const int64_t *v = j < d->count ? d->vector[j] : unit;
        if (j >= d->count)
            unit[j - d->count] = 1;
        memcpy(basis.at[rank], v, sizeof basis.at[rank]);
        int independent = are_independent(&basis, rank + 1, r->dims);
        if (independent < 0 ||
            (independent > 0 && j >= d->count && r->span.count == TILING_DEPENDENCES_MAX))
            return -1;
        if (independent > 0 && j >= d->count)
            memcpy(r->span.vector[r->span.count++], unit, sizeof unit);
        rank += independent;
    }
    return 0;
}

/* ---- rays ------------------------------------------------------------------------------------ */

/* The vector perpendicular to rows 0 .. dims-2 in lowest terms; false: they are dependent. */
static bool normal_of(struct rays *r, const struct tiling_matrix *rows, int64_t *normal)
{
    int64_t common = 0;
    for (int k = 0; k < r->dims; k++) {
        struct tiling_matrix without = {0};
        for (int i = 0; i + 1 < r->dims; i++) {
            for (int j = 0; j + 1 < r->dims; j++)
                without.at[i][j] = rows->at[i][j + (j >= k)];
        }
        if (tiling_matrix_determinant(&without, r->dims - 1, &normal[k]) != 0)
            r->failed = true;
        normal[k] *= k % 2 != 0 ? -1 : 1;
        for (int64_t a = normal[k]; a != 0;) {
            int64_t rest = common % a;
            common = a;
            a = rest;
        }
    }
    for (int k = 0; k < r->dims && common != 0; k++) {
        normal[k] /= common < 0 ? -common : common;
        r->failed |= normal[k] > ENTRY_MAX || normal[k] < -ENTRY_MAX;
    }
    return common != 0;
}

/* 1: h d >= 0 for all, -1: h d <= 0, 0: neither. */
static int side_of(const struct rays *r, const int64_t *h)
{
    bool above = false, below = false;
    for (int j = 0; j < r->span.count; j++) {
        int64_t reach = product(h, r->span.vector[j], r->dims);
        above |= reach > 0;
        below |= reach < 0;
    }
    return above && below ? 0 : below ? -1 : 1;
}

/* In its place, the lexicographically largest first; once. */
static void rays_add(struct rays *r, const int64_t *ray)
{
    int at = 0, order = 1;
    for (; at < r->count; at++) {
        int k = 0;
        while (k < r->dims && r->ray[at][k] == ray[k])
            k++;
        order = k == r->dims ? 0 : r->ray[at][k] < ray[k] ? -1 : 1;
        if (order <= 0)
            break;
    }
    if (at < r->count && order == 0)
        return;
    if (r->count == RAYS_MAX) {
        r->failed = true;
        return;
    }
    memmove(r->ray[at + 1], r->ray[at], (size_t)(r->count++ - at) * sizeof r->ray[0]);
    memcpy(r->ray[at], ray, (size_t)r->dims * sizeof *ray);
}

/* All choices of dims - 1 vectors from the `from`-th on. */
/* NOLINTNEXTLINE(misc-no-recursion): as deep as there are dimensions */
static void rays_choose(struct rays *r, struct tiling_matrix *rows, int chosen, int from)
{
    int64_t normal[TILING_DIMS_MAX] = {0};
    if (chosen + 1 < r->dims) {
        for (int j = from; j < r->span.count && !r->failed; j++) {
            memcpy(rows->at[chosen], r->span.vector[j], sizeof rows->at[chosen]);
            rays_choose(r, rows, chosen + 1, j + 1);
        }
        return;
    }
    r->failed |= ++r->tries > TRIES_MAX;
    if (r->failed || !normal_of(r, rows, normal))
        return;
    int side = side_of(r, normal);
    for (int k = 0; k < r->dims; k++)
        normal[k] *= side;
    if (side != 0)
        rays_add(r, normal);
}

/* ---- choices of rows ------------------------------------------------------------------------- */

struct shapes {
    const struct rays *rays;
    const struct tiling_dependences *d;
    int along; /* < 0: none, by (1) */
    double points;
    struct tiling_matrix rows; /* being tried */
    struct tiling_shape *best;
    int64_t best_determinant; /* 0: none is found yet */
    int tries;
};

/* The minimum of the sum of cut_i / side_i with the product of sides given has all terms equal. */
static double set_sides(const struct shapes *s, const struct tiling_dependences *skewed,
                        double product_of_sides, double *sides)
{
    double cut[TILING_DIMS_MAX] = {0}, cuts = 1, volume = 0;
    int count = 0, dims = s->rays->dims;
    for (int i = 0; i < dims; i++) {
        for (int j = 0; j < skewed->count; j++)
            cut[i] += (double)skewed->vector[j][i];
        if (i != s->along && cut[i] > 0) {
            cuts *= cut[i];
            count++;
        }
    }
    double scale = count > 0 ? pow(product_of_sides / cuts, 1.0 / count) : 1;
    for (int i = 0; i < dims; i++) {
        sides[i] = i == s->along ? 0 : cut[i] > 0 ? cut[i] * scale : 1;
        volume += i != s->along && cut[i] > 0 ? product_of_sides / sides[i] * cut[i] : 0;
    }
    return volume;
}

/* Points of a tile are the product of its sides over the determinant, or, in a plane across loop
 * dimension `along`, over that of the other rows without its column. */
static int64_t density(const struct shapes *s)
{
    struct tiling_matrix m = s->rows;
    int64_t determinant = 0;
    if (s->along >= 0) {
        memset(m.at[s->along], 0, sizeof m.at[s->along]);
        m.at[s->along][s->along] = 1;
    }
    if (tiling_matrix_determinant(&m, s->rays->dims, &determinant) != 0)
        return 0;
    return determinant < 0 ? -determinant : determinant;
}

/* Takes the rows, which are complete, if they are better. */
static void shapes_judge(struct shapes *s)
{
    struct tiling_shape made = {.skew = s->rows};
    struct tiling_dependences skewed;
    int64_t determinant, across = density(s);
    int dims = s->rays->dims;
    if (across == 0 || tiling_matrix_determinant(&s->rows, dims, &determinant) != 0)
        return;
    determinant = determinant < 0 ? -determinant : determinant;
    if (determinant == 0 || determinant > TILING_DENSITY_MAX)
        return;
    tiling_skew_dependences(dims, &s->rows, s->d, &skewed);
    made.volume = set_sides(s, &skewed, s->points * (double)across, made.sides) / (double)across;
    double less = s->best_determinant > 0 ? made.volume / s->best->volume : 0;
    if (s->best_determinant == 0 || less < 1 - 1e-9 ||
        (less < 1 + 1e-9 && determinant < s->best_determinant)) {
        *s->best = made;
        s->best_determinant = determinant;
    }
}

/* The row along which tiles are one task's costs nothing: the unit vector, if it is legal, or any
 * ray. */
static void shapes_along(struct shapes *s)
{
    const struct rays *r = s->rays;
    int64_t unit[TILING_DIMS_MAX] = {0};
    unit[s->along] = 1;
    for (int k = side_of(r, unit) > 0 ? -1 : 0; k < r->count; k++) {
        memcpy(s->rows.at[s->along], k < 0 ? unit : r->ray[k], sizeof unit);
        shapes_judge(s);
    }
}

/* All choices of rays for rows from `row` on. */
/* NOLINTNEXTLINE(misc-no-recursion): as deep as there are dimensions */
static void shapes_choose(struct shapes *s, int row, int from)
{
    row += row == s->along;
    for (int k = from; row < s->rays->dims && k < s->rays->count && s->tries <= TRIES_MAX; k++) {
        memcpy(s->rows.at[row], s->rays->ray[k], sizeof s->rows.at[row]);
        shapes_choose(s, row + 1, k + 1);
    }
    if (row < s->rays->dims)
        return;
    s->tries++;
    if (s->along >= 0)
        shapes_along(s);
    else
        shapes_judge(s);
}

int tiling_shape_find(int dims, const struct tiling_dependences *d, int along, double points,
                      struct tiling_shape *shape)
{
    struct rays rays = {.dims = dims};
    struct tiling_matrix rows = {0};
    if (dims < 1 || dims > TILING_DIMS_MAX || make_span(&rays, d) != 0)
        return -1;
    rays_choose(&rays, &rows, 0, 0);
    struct tiling_shape found;
    struct shapes s = {.rays = &rays,
                       .d = d,
                       .along = along,
                       .points = points > 0 ? points : NOMINAL_POINTS,
                       .best = &found};
    if (rays.failed)
        return -1;
    shapes_choose(&s, 0, 0);
    if (s.best_determinant == 0 || s.tries > TRIES_MAX)
        return -1;
    *shape = found;
    return 0;
}
