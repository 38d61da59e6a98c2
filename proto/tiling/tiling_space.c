/*
 * tiling_space.c - an iteration space in the skewed indices of its tiles.
 *
 * H of any tiling is diag(1 / sides) skew with integers in the skew (section 2.3 of Koziris,
 * Sotiropoulos & Goumas). If the skew is unimodular its indices are all integers, and otherwise a
 * lattice of them, whose Hermite normal form says in which steps each index goes.
 */
#include "proto/tiling/tiling.h"

#include <stddef.h>

/* So that sums of eight products stay in 64 bits. */
#define EXTENT_MAX ((int64_t)1 << 40)
#define SKEW_MAX ((int64_t)1 << 16)

static bool skew_fits(int dims, const struct tiling_matrix *m)
{
    for (int i = 0; i < dims; i++) {
        for (int k = 0; k < dims; k++) {
            if (m->at[i][k] > SKEW_MAX || m->at[i][k] < -SKEW_MAX)
                return false;
        }
    }
    return true;
}

/* The least and the largest (and one more) sum of factor[k] x_k, for x_k of from[k] .. end[k]-1. */
struct range {
    int64_t first, end;
};
static struct range sum_range(int dims, const int64_t *factor, const struct tiling_box *x)
{
    struct range sum = {0, 1};
    for (int k = 0; k < dims; k++) {
        int64_t a = factor[k] * x->first[k], b = factor[k] * (x->end[k] - 1);
        sum.first += a < b ? a : b;
        sum.end += a < b ? b : a;
    }
    return sum;
}

/* The way back, and the lattice. */
static int set_back(struct tiling_space *s)
{
    int64_t determinant;
    if (tiling_matrix_determinant(&s->skew, s->dims, &determinant) != 0 || determinant == 0 ||
        determinant > TILING_DENSITY_MAX || determinant < -TILING_DENSITY_MAX ||
        tiling_matrix_adjugate(&s->skew, s->dims, &s->back) != 0)
        return -1;
    s->density = determinant < 0 ? -determinant : determinant;
    for (int i = 0; i < s->dims && determinant < 0; i++) {
        for (int k = 0; k < s->dims; k++)
            s->back.at[i][k] = -s->back.at[i][k];
    }
    return tiling_matrix_lattice(&s->skew, s->dims, &s->basis);
}

int tiling_space_init(struct tiling_space *s, int dims, const int64_t *size,
                      const struct tiling_matrix *skew)
{
    struct tiling_space made = {.dims = dims, .skewed = skew != NULL};
    struct tiling_box loop = {0};
    if (dims < 1 || dims > TILING_DIMS_MAX)
        return -1;
    for (int i = 0; i < dims; i++) {
        if (size[i] < 1 || size[i] > EXTENT_MAX)
            return -1;
    }
    tiling_matrix_identity(&made.skew);
    made.skew = skew != NULL ? *skew : made.skew;
    if (!skew_fits(dims, &made.skew) || set_back(&made) != 0 || !skew_fits(dims, &made.back))
        return -1;
    for (int i = 0; i < dims; i++)
        loop.end[i] = made.size[i] = size[i];
    for (int i = 0; i < dims; i++) {
        struct range r = sum_range(dims, made.skew.at[i], &loop);
        made.box.first[i] = r.first;
        made.box.end[i] = r.end;
        if (r.end - r.first > EXTENT_MAX)
            return -1;
    }
    *s = made;
    return 0;
}

void tiling_space_point(const struct tiling_space *s, const int64_t *p, int64_t *point)
{
    for (int i = 0; i < s->dims; i++) {
        point[i] = 0;
        for (int k = 0; k < s->dims; k++)
            point[i] += s->back.at[i][k] * p[k];
        point[i] /= s->density;
    }
}

static int64_t ceil_div(int64_t a, int64_t b) /* b > 0 */
{
    return a / b + (a % b > 0);
}

/* Those t of which 0 <= base + step t < size. */
static void clip(int64_t base, int64_t step, int64_t size, struct range *t)
{
    struct range r = *t;
    if (step == 0) {
        r.end = base < 0 || base >= size ? t->first : t->end;
    } else if (step > 0) {
        r.first = ceil_div(-base, step);
        r.end = ceil_div(size - base, step);
    } else {
        r.first = ceil_div(base - size + 1, -step);
        r.end = ceil_div(base + 1, -step);
    }
    t->first = r.first > t->first ? r.first : t->first;
    t->end = r.end < t->end ? r.end : t->end;
}

/* The last component of a point of the lattice that has the others; false: there is none. */
static bool lattice_meets(const struct tiling_space *s, const int64_t *p, int64_t *component)
{
    int64_t times[TILING_DIMS_MAX];
    for (int i = 0; i < s->dims; i++) {
        int64_t sum = 0;
        for (int k = 0; k < i; k++)
            sum += s->basis.at[i][k] * times[k];
        if (i == s->dims - 1)
            *component = sum;
        else if ((p[i] - sum) % s->basis.at[i][i] != 0)
            return false;
        else
            times[i] = (p[i] - sum) / s->basis.at[i][i];
    }
    return true;
}

/* From the first of the lattice to a whole step behind the last. */
static void range_align(struct range *t, int64_t component, int64_t step)
{
    t->first = component + ceil_div(t->first - component, step) * step;
    t->end = component + ceil_div(t->end - component, step) * step;
}

bool tiling_space_row(const struct tiling_space *s, const int64_t *p, int64_t *first, int64_t *end)
{
    struct range t = {*first, *end};
    int last = s->dims - 1;
    int64_t component = 0;
    if (s->density > 1 && !lattice_meets(s, p, &component))
        return false;
    if (s->skewed) {
        for (int i = 0; i < s->dims; i++) {
            int64_t base = 0;
            for (int k = 0; k < last; k++)
                base += s->back.at[i][k] * p[k];
            clip(base, s->back.at[i][last], s->size[i] * s->density, &t);
        }
    } else {
        for (int i = 0; i < last; i++)
            clip(p[i], 0, s->size[i], &t);
        clip(0, 1, s->size[last], &t);
    }
    if (s->density > 1)
        range_align(&t, component, s->basis.at[last][last]);
    if (t.first >= t.end)
        return false;
    *first = t.first;
    *end = t.end;
    return true;
}

bool tiling_space_meets(const struct tiling_space *s, const struct tiling_box *box)
{
    for (int i = 0; i < s->dims; i++) {
        if (box->first[i] >= box->end[i])
            return false;
    }
    for (int i = 0; i < s->dims; i++) {
        struct range r = sum_range(s->dims, s->back.at[i], box);
        if (r.end <= 0 || r.first >= s->size[i] * s->density)
            return false;
    }
    return true;
}

/* The box is cut shorter and shorter from below (low) or above: the last cut at which it still
 * meets the space. */
static int64_t search(const struct tiling_space *s, int along, const struct tiling_box *box,
                      bool low)
{
    int64_t misses = low ? box->end[along] : box->first[along];
    int64_t meets = low ? box->first[along] : box->end[along];
    while (meets - misses > 1 || misses - meets > 1) {
        struct tiling_box part = *box;
        int64_t middle = misses + (meets - misses) / 2;
        *(low ? &part.first[along] : &part.end[along]) = middle;
        if (tiling_space_meets(s, &part))
            meets = middle;
        else
            misses = middle;
    }
    return meets;
}

bool tiling_space_trim(const struct tiling_space *s, int along, struct tiling_box *box)
{
    if (!tiling_space_meets(s, box))
        return false;
    int64_t end = search(s, along, box, true) + 1, first = search(s, along, box, false) - 1;
    if (first >= end)
        return false;
    box->first[along] = first;
    box->end[along] = end;
    return true;
}
