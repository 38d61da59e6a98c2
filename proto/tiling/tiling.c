/*
 * tiling.c - tilings of a loop nest: D, H and P (section 2 of Koziris, Sotiropoulos & Goumas). See
 * tiling.h for the files of this module.
 *
 * H is rational. Its rows are kept as integers with a denominator each, so that legality and the
 * tile of a point are exact; only volumes by (1) and (2) are floating.
 */
#include "proto/tiling/tiling.h"

#define COMPONENT_MAX                                                                              \
    ((int64_t)1 << 40)               /* of sides and points: sums of products stay in 64 bits      \
                                      */
#define ENTRY_MAX ((int64_t)1 << 20) /* of a skew */

static int64_t dot(const int64_t *a, const int64_t *b, int n)
{
    int64_t sum = 0;
    for (int i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

static int64_t gcd(int64_t a, int64_t b)
{
    while (b != 0) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a < 0 ? -a : a;
}

static bool all_within(const struct tiling_matrix *m, int n, int64_t most)
{
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            if (m->at[i][j] > most || m->at[i][j] < -most)
                return false;
        }
    }
    return true;
}

/* row / unit in lowest terms, unit > 0. */
static void reduce(int64_t *row, int64_t *unit, int n)
{
    int64_t common = *unit;
    for (int i = 0; i < n; i++)
        common = gcd(common, row[i]);
    common = *unit < 0 ? -common : common;
    *unit /= common;
    for (int i = 0; i < n; i++)
        row[i] /= common;
}

int tiling_from_sides(struct tiling *t, int dims, const struct tiling_matrix *side)
{
    struct tiling made = {.dims = dims, .side = *side};
    int64_t determinant;
    if (dims < 1 || dims > TILING_DIMS_MAX || !all_within(side, dims, COMPONENT_MAX) ||
        tiling_matrix_determinant(side, dims, &determinant) != 0 || determinant == 0 ||
        tiling_matrix_adjugate(side, dims, &made.row) != 0)
        return -1;
    for (int i = 0; i < dims; i++) {
        made.unit[i] = determinant;
        reduce(made.row.at[i], &made.unit[i], dims);
    }
    made.volume = determinant < 0 ? -determinant : determinant;
    *t = made;
    return all_within(&made.row, dims, ENTRY_MAX) ? 0 : -1;
}

int tiling_from_skew(struct tiling *t, int dims, const struct tiling_matrix *skew,
                     const int64_t *sides)
{
    struct tiling made = {.dims = dims, .row = *skew, .volume = 1};
    if (dims < 1 || dims > TILING_DIMS_MAX || !all_within(skew, dims, ENTRY_MAX) ||
        tiling_matrix_invert(skew, dims, &made.side) != 0 ||
        !all_within(&made.side, dims, ENTRY_MAX))
        return -1;
    for (int i = 0; i < dims; i++) {
        if (sides[i] < 1 || sides[i] > COMPONENT_MAX ||
            __builtin_mul_overflow(made.volume, sides[i], &made.volume))
            return -1;
        made.unit[i] = sides[i];
        for (int k = 0; k < dims; k++)
            made.side.at[k][i] *= sides[i];
    }
    *t = made;
    return 0;
}

/* What is wrong with one dependence at one row of H. */
static enum tiling_fault fault_at(const struct tiling *t, const int64_t *d, int row)
{
    int64_t reach = dot(t->row.at[row], d, t->dims);
    if (reach < 0)
        return TILING_NEGATIVE;
    if (reach > t->unit[row])
        return TILING_FAR;
    return reach == t->unit[row] ? TILING_LONG : TILING_LEGAL;
}

struct tiling_verdict tiling_check(const struct tiling *t, const struct tiling_dependences *d)
{
    struct tiling_verdict worst = {TILING_LEGAL, 0, 0};
    for (int j = 0; j < d->count; j++) {
        for (int i = 0; i < t->dims; i++) {
            enum tiling_fault fault = fault_at(t, d->vector[j], i);
            if (fault != TILING_LEGAL && (worst.fault == TILING_LEGAL || fault < worst.fault))
                worst = (struct tiling_verdict){fault, j, i};
        }
    }
    return worst;
}

void tiling_place(const struct tiling *t, const int64_t *point, int64_t *tile, int64_t *inside)
{
    for (int i = 0; i < t->dims; i++)
        tile[i] = floor_div(dot(t->row.at[i], point, t->dims), t->unit[i]);
    for (int i = 0; i < t->dims; i++)
        inside[i] = point[i] - dot(t->side.at[i], tile, t->dims);
}

/* The sum of h_i d_j over all j: how much of a tile all dependences cut at one of its sides. */
static double cut_at(const struct tiling *t, const struct tiling_dependences *d, int row)
{
    double sum = 0;
    for (int j = 0; j < d->count; j++)
        sum += (double)dot(t->row.at[row], d->vector[j], t->dims);
    return sum / (double)t->unit[row];
}

double tiling_volume_all(const struct tiling *t, const struct tiling_dependences *d)
{
    return tiling_volume(t, d, -1);
}

double tiling_volume(const struct tiling *t, const struct tiling_dependences *d, int along)
{
    double sum = 0;
    for (int i = 0; i < t->dims; i++)
        sum += i == along ? 0 : cut_at(t, d, i);
    return (double)t->volume * sum; /* 1 / |det(H)| = det(P) */
}

/* d leads from the tile at 0 into that at `offset` for some point, all sides taken together: along
 * row i from within [0, unit) by reach. */
static bool leads_to(const struct tiling *t, const int64_t *d, const int64_t *offset)
{
    for (int i = 0; i < t->dims; i++) {
        int64_t reach = dot(t->row.at[i], d, t->dims);
        bool in_range = offset[i] == 0 ? reach >= 0 && reach < t->unit[i]
                                       : offset[i] == 1 && reach > 0 && reach < 2 * t->unit[i];
        if (!in_range)
            return false;
    }
    return true;
}

bool tiling_tile_depends(const struct tiling *t, const struct tiling_dependences *d,
                         const int64_t *offset)
{
    for (int j = 0; j < d->count; j++) {
        if (leads_to(t, d->vector[j], offset))
            return true;
    }
    return false;
}

/* ---- skews ---------------------------------------------------------------------------------- */

void tiling_skew_dependences(int dims, const struct tiling_matrix *skew,
                             const struct tiling_dependences *d, struct tiling_dependences *skewed)
{
    struct tiling_dependences made = {.count = d->count};
    for (int j = 0; j < d->count; j++) {
        for (int i = 0; i < dims; i++)
            made.vector[j][i] = dot(skew->at[i], d->vector[j], dims);
    }
    *skewed = made;
}

/* The first component that is not 0, or dims. */
static int leading(const int64_t *vector, int dims)
{
    int i = 0;
    while (i < dims && vector[i] == 0)
        i++;
    return i;
}

/* So many times a row before must be added to row i that no dependence that leads there is
 * negative. */
static int64_t times_needed(int dims, const struct tiling_dependences *d, int before, int i)
{
    int64_t most = 0;
    for (int j = 0; j < d->count; j++) {
        const int64_t *v = d->vector[j];
        int64_t times =
            v[i] < 0 && leading(v, dims) == before ? (-v[i] + v[before] - 1) / v[before] : 0;
        most = times > most ? times : most;
    }
    return most;
}

int tiling_find_skew(int dims, const struct tiling_dependences *d, struct tiling_matrix *skew)
{
    for (int j = 0; j < d->count; j++) {
        int at = leading(d->vector[j], dims);
        if (at == dims || d->vector[j][at] < 0)
            return -1;
    }
    tiling_matrix_identity(skew);
    for (int i = 1; i < dims; i++) {
        for (int before = 0; before < i; before++) {
            /* Rows before are complete: in them no dependence is negative any more, so nothing is
             * lost again. */
            int64_t times = times_needed(dims, d, before, i);
            for (int k = 0; k < dims; k++)
                skew->at[i][k] += times * skew->at[before][k];
        }
        if (!all_within(skew, dims, ENTRY_MAX))
            return -1;
    }
    return 0;
}
