/*
 * fft_twiddle.c - roots of unity from two tables of about sqrt(n): the m-th one is the product of
 * one for the high and one for the low bits of m. A table of all n would take as much memory as the
 * array; a recurrence would lose digits with each step.
 */
#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "lib/domain/fourier/fft_twiddle.h"

struct fft_twiddle {
    int shift;         /* low bits */
    double (*low)[2];  /* exp(-2 pi i m / n) for m of 0 .. 2^shift - 1 */
    double (*high)[2]; /* the same for m 2^shift */
};

static void set_roots(double (*roots)[2], int64_t count, int64_t step, int64_t n)
{
    const long double turn = 2 * acosl(-1.0L);
    for (int64_t i = 0; i < count; i++) {
        long double angle = -turn * (long double)(i * step) / (long double)n;
        roots[i][0] = (double)cosl(angle);
        roots[i][1] = (double)sinl(angle);
    }
}

struct fft_twiddle *fft_twiddle_create(int64_t n)
{
    struct fft_twiddle *twiddle = calloc(1, sizeof *twiddle);
    if (twiddle == NULL)
        return NULL;
    while ((int64_t)1 << 2 * twiddle->shift < n)
        twiddle->shift++;
    int64_t low = (int64_t)1 << twiddle->shift, high = (n >> twiddle->shift) + 1;
    twiddle->low = malloc((size_t)low * sizeof *twiddle->low);
    twiddle->high = malloc((size_t)high * sizeof *twiddle->high);
    if (twiddle->low == NULL || twiddle->high == NULL) {
        fft_twiddle_free(twiddle);
        return NULL;
    }
    set_roots(twiddle->low, low, 1, n);
    set_roots(twiddle->high, high, low, n);
    return twiddle;
}

void fft_twiddle_free(struct fft_twiddle *twiddle)
{
    if (twiddle == NULL)
        return;
    free(twiddle->low);
    free(twiddle->high);
    free(twiddle);
}

/* One row: the exponent grows by `step` from element to element, and stays below n. */
static void turn_row(const struct fft_twiddle *t, int64_t step, int64_t begin, int64_t count,
                     double sign, double *row)
{
    int64_t mask = ((int64_t)1 << t->shift) - 1, m = step * begin;
    for (int64_t j = 0; j < count; j++, m += step, row += 2) {
        const double *a = t->high[m >> t->shift], *b = t->low[m & mask];
        double re = a[0] * b[0] - a[1] * b[1], im = sign * (a[0] * b[1] + a[1] * b[0]);
        double x = row[0], y = row[1];
        row[0] = x * re - y * im;
        row[1] = x * im + y * re;
    }
}

void fft_twiddle_apply(const struct fft_twiddle *twiddle, const struct fft_box *box,
                       int is_backward, double *data)
{
    int along = box->stride[0] < box->stride[1] ? 0 : 1, across = 1 - along;
    assert(box->stride[along] == 1);
    for (int64_t i = 0; i < box->size[across]; i++)
        turn_row(twiddle, box->offset[across] + i, box->offset[along], box->size[along],
                 is_backward ? -1 : 1, data + 2 * i * box->stride[across]);
}
