/*
 * waves.c - both sides of the array have one form: a wave everywhere, and a peak at one or two
 * places. The wave is a product of one factor for each axis, of which there is a table.
 */
#include "apps/fft/waves.h"

#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PEAKS = 2 };

/* What a part should be. */
struct form {
    double complex *factors[COVEY_FFT_DIMS_MAX]; /* by axis: of each index of the part */
    double amplitude;
    double height;                            /* that a peak adds */
    int64_t peaks[PEAKS][COVEY_FFT_DIMS_MAX]; /* where */
};

static uint64_t mix(uint64_t x)
{
    x = (x + 1) * 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

void waves_choose(struct waves *waves, uint64_t seed)
{
    for (int i = 0; i < COVEY_FFT_DIMS_MAX; i++) {
        waves->n[i] = i < waves->dims ? waves->n[i] : 1;
        waves->wave[i] =
            (int64_t)(mix(2 * (COVEY_FFT_DIMS_MAX * seed + (uint64_t)i)) % (uint64_t)waves->n[i]);
        waves->point[i] = (int64_t)(mix(2 * (COVEY_FFT_DIMS_MAX * seed + (uint64_t)i) + 1) %
                                    (uint64_t)waves->n[i]);
    }
}

double waves_count(const struct waves *waves)
{
    return (double)waves->n[0] * (double)waves->n[1] * (double)waves->n[2];
}

/* One dimension may have two axes: its coefficient is then k1 + n[0] k2. */
static int is_folded(const struct waves *waves, const struct covey_fft_part *part)
{
    return part->dims > waves->dims;
}

/* exp(2 pi i turns index / n) of each index of the part along the axis. */
static double complex *factors_of(const struct waves *waves, const struct covey_fft_part *part,
                                  int axis, const int64_t *turns)
{
    int folded = is_folded(waves, part);
    int64_t n = waves->n[folded ? 0 : axis], unit = folded && axis == 1 ? part->n[0] : 1;
    int64_t each = turns[folded ? 0 : axis];
    double complex *factors = malloc((size_t)(part->size[axis] + 1) * sizeof *factors);
    for (int64_t i = 0; factors != NULL && i < part->size[axis]; i++) {
        int64_t index = (part->offset[axis] + i) * unit % n;
        double angle = 2 * acos(-1) * ((double)(each * index % n) / (double)n);
        factors[i] = cos(angle) + I * sin(angle);
    }
    return factors;
}

static void form_free(struct form *form)
{
    for (int i = 0; i < COVEY_FFT_DIMS_MAX; i++)
        free(form->factors[i]);
}

/* sign: in which direction the wave turns. */
static int form_make(const struct waves *waves, const struct covey_fft_part *part,
                     const int64_t *turns, int sign, struct form *form)
{
    int64_t signed_turns[COVEY_FFT_DIMS_MAX];
    for (int i = 0; i < COVEY_FFT_DIMS_MAX; i++)
        signed_turns[i] = sign > 0 ? turns[i] : (waves->n[i] - turns[i]) % waves->n[i];
    for (int i = 0; i < COVEY_FFT_DIMS_MAX; i++) {
        form->factors[i] = factors_of(waves, part, i, signed_turns);
        if (form->factors[i] == NULL)
            return COVEY_ENOMEM;
    }
    return 0;
}

static void set_peak(const struct waves *waves, const struct covey_fft_part *part,
                     const int64_t *at, int64_t *peak)
{
    memcpy(peak, at, COVEY_FFT_DIMS_MAX * sizeof *peak);
    if (is_folded(waves, part)) {
        peak[0] = at[0] % part->n[0];
        peak[1] = at[0] / part->n[0];
    }
}

static int form_physical(const struct waves *waves, const struct covey_fft_part *part,
                         struct form *form)
{
    form->amplitude = 1;
    form->height = sqrt(waves_count(waves));
    set_peak(waves, part, waves->point, form->peaks[0]);
    form->peaks[1][0] = -1;
    return form_make(waves, part, waves->wave, 1, form);
}

/* A real wave is the half of two that turn in opposite directions. */
static int form_spectral(const struct waves *waves, const struct covey_fft_part *part,
                         struct form *form)
{
    int64_t opposite[COVEY_FFT_DIMS_MAX];
    for (int i = 0; i < COVEY_FFT_DIMS_MAX; i++)
        opposite[i] = (waves->n[i] - waves->wave[i]) % waves->n[i];
    form->amplitude = sqrt(waves_count(waves));
    form->height = waves_count(waves) / (waves->is_real ? 2 : 1);
    set_peak(waves, part, waves->wave, form->peaks[0]);
    form->peaks[1][0] = -1;
    if (waves->is_real)
        set_peak(waves, part, opposite, form->peaks[1]);
    return form_make(waves, part, waves->point, -1, form);
}

/* What a visitor does with the element of a part that stands at that place. */
typedef void (*waves_visitor)(void *context, int64_t place, double complex value);

/* Calls it for each element, with the value that it should have. */
static void form_visit(const struct form *form, const struct covey_fft_part *part,
                       waves_visitor visit, void *context)
{
    for (int64_t i = 0; i < part->size[0]; i++)
        for (int64_t j = 0; j < part->size[1]; j++)
            for (int64_t k = 0; k < part->size[2]; k++) {
                double complex value = form->amplitude * form->factors[0][i] * form->factors[1][j] *
                                       form->factors[2][k];
                for (int p = 0; p < PEAKS; p++)
                    if (form->peaks[p][0] == part->offset[0] + i &&
                        form->peaks[p][1] == part->offset[1] + j &&
                        form->peaks[p][2] == part->offset[2] + k)
                        value += form->height;
                visit(context, i * part->stride[0] + j * part->stride[1] + k * part->stride[2],
                      value);
            }
}

struct filling {
    int is_real;
    double *array;
};

static void fill(void *context, int64_t place, double complex value)
{
    const struct filling *f = context;
    if (f->is_real)
        f->array[place] = creal(value);
    else
        ((double complex *)f->array)[place] = value;
}

int waves_fill(const struct waves *waves, const struct covey_fft_part *part, double *array)
{
    struct form form = {.amplitude = 0};
    struct filling filling = {part->is_real, array};
    int error = form_physical(waves, part, &form);
    if (error == 0)
        form_visit(&form, part, fill, &filling);
    form_free(&form);
    return error;
}

struct comparison {
    int is_real;
    double scale;
    const double *array;
    double *sums;
};

static void compare(void *context, int64_t place, double complex value)
{
    const struct comparison *c = context;
    double complex wanted = c->scale * (c->is_real ? creal(value) : value);
    double complex got = c->is_real ? c->array[place] : ((const double complex *)c->array)[place];
    double re = creal(got - wanted), im = cimag(got - wanted);
    c->sums[0] += re * re + im * im;
    c->sums[1] += creal(wanted) * creal(wanted) + cimag(wanted) * cimag(wanted);
}

int waves_compare(const struct waves *waves, const struct covey_fft_part *part, int is_spectral,
                  double scale, const double *array, double sums[2])
{
    struct form form = {.amplitude = 0};
    struct comparison comparison = {part->is_real, scale, array, sums};
    int error = is_spectral ? form_spectral(waves, part, &form) : form_physical(waves, part, &form);
    if (error == 0)
        form_visit(&form, part, compare, &comparison);
    form_free(&form);
    return error;
}
