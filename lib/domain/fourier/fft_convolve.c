/*
 * fft_convolve.c - a convolution as a product of spectra, in whatever order these lie.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/domain/base/error.h"
#include "lib/domain/fourier/fft_pairs.h"

/* The same at all members: what is compared they have agreed on. */
static int is_pair(const struct covey_fft *there, const struct covey_fft *back)
{
    return !there->problem.is_backward && !there->problem.is_r2r && there->taken == back->taken &&
           fft_pairs_match(there, back);
}

static int allocate(struct covey_fft *plan, size_t count)
{
    for (int i = 0; i < 2; i++) {
        if (plan->spectra[i] == NULL)
            plan->spectra[i] = fftw_malloc((2 * count + 1) * sizeof(double));
        if (plan->spectra[i] == NULL)
            return domain_fail(COVEY_ENOMEM, "no memory for two spectra of %zu numbers", count);
    }
    return 0;
}

static void multiply(double *u, const double *v, size_t count, double scale)
{
    for (size_t i = 0; i < 2 * count; i += 2) {
        double re = u[i] * v[i] - u[i + 1] * v[i + 1], im = u[i] * v[i + 1] + u[i + 1] * v[i];
        u[i] = scale * re;
        u[i + 1] = scale * im;
    }
}

int covey_fft_convolve(covey_fft_t *forward, covey_fft_t *backward, const void *a, const void *b,
                       void *result)
{
    struct covey_fft_part part;
    if (forward == NULL || backward == NULL || !is_pair(forward, backward))
        return domain_fail(COVEY_EINVAL, "a plan is NULL, or both are no way there and back of the "
                                         "same array by the same algorithm and order");
    covey_fft_local(forward, COVEY_FFT_OUT, &part);
    int error = allocate(forward, part.count);
    if (error < 0)
        return fft_break(forward, error);
    error = covey_fft_execute(forward, a, forward->spectra[0]);
    if (error == 0)
        error = covey_fft_execute(forward, b, forward->spectra[1]);
    if (error < 0)
        return error;
    multiply(forward->spectra[0], forward->spectra[1], part.count,
             1 / (double)forward->path.elements);
    return covey_fft_execute(backward, forward->spectra[0], result);
}
