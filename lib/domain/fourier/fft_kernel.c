/*
 * fft_kernel.c - plans of FFTW's guru interface (FFTW 3 manual, section 4.5): it alone takes any
 * strides and sizes of 64 bits. A transform of rank 0 is a copy between any strides.
 */
#include "lib/domain/fourier/fft_kernel.h"
#include "lib/domain/covey_domain/fourier.h"

struct dims {
    int rank, many;
    fftw_iodim64 along[FFT_AXES], beside[FFT_AXES];
    fftw_r2r_kind kinds[FFT_AXES]; /* of sines and cosines, along */
};

static fftw_r2r_kind kind_of(int kind)
{
    static const fftw_r2r_kind kinds[] = {
        [COVEY_FFT_DCT1] = FFTW_REDFT00, [COVEY_FFT_DCT2] = FFTW_REDFT10,
        [COVEY_FFT_DCT3] = FFTW_REDFT01, [COVEY_FFT_DCT4] = FFTW_REDFT11,
        [COVEY_FFT_DST1] = FFTW_RODFT00, [COVEY_FFT_DST2] = FFTW_RODFT10,
        [COVEY_FFT_DST3] = FFTW_RODFT01, [COVEY_FFT_DST4] = FFTW_RODFT11};
    return kinds[kind];
}

/* n: sizes of the transform, of the real side if there is one. */
static void sort_axes(const struct fft_stage *stage, const struct fft_box *in,
                      const struct fft_box *out, const int64_t *n, struct dims *dims)
{
    dims->rank = dims->many = 0;
    for (int i = 0; i < FFT_AXES; i++) {
        fftw_iodim64 dim = {.n = n[i], .is = in->stride[i], .os = out->stride[i]};
        if (stage->axes >> i & 1)
            dims->along[dims->rank++] = dim;
        else
            dims->beside[dims->many++] = dim;
    }
}

static fftw_plan plan_of(const struct dims *d, const struct fft_kernel_how *how, int numbers,
                         double *in, double *out)
{
    int is_backward = how->problem->is_backward;
    fftw_complex *complex_in = (fftw_complex *)in, *complex_out = (fftw_complex *)out;
    if (how->problem->is_r2r)
        return fftw_plan_guru64_r2r(d->rank, d->along, d->many, d->beside, in, out, d->kinds,
                                    how->effort);
    if (numbers == FFT_COMPLEX)
        return fftw_plan_guru64_dft(d->rank, d->along, d->many, d->beside, complex_in, complex_out,
                                    is_backward ? FFTW_BACKWARD : FFTW_FORWARD, how->effort);
    if (is_backward)
        return fftw_plan_guru64_dft_c2r(d->rank, d->along, d->many, d->beside, complex_in, out,
                                        how->effort);
    return fftw_plan_guru64_dft_r2c(d->rank, d->along, d->many, d->beside, in, complex_out,
                                    how->effort);
}

void fft_kernel_box(const struct fft_path *path, const struct fft_slice *slice, int spectral,
                    int rank, struct fft_box *box, struct fft_box *whole)
{
    fft_path_box(path, slice->stage, spectral, rank, whole);
    *box = *whole;
    if (slice->slices > 1)
        fft_box_cut(box, slice->axis, slice->slices, slice->at);
}

int fft_kernel_transform(const struct fft_kernel_how *how, const struct fft_slice *slice,
                         double *in, double *out, fftw_plan *plan)
{
    const struct fft_stage *s = &how->path->stages[slice->stage];
    struct fft_kernel_how mine = *how;
    struct fft_box physical, spectral, whole;
    struct dims dims;
    *plan = NULL;
    fft_kernel_box(how->path, slice, 0, how->rank, &physical, &whole);
    fft_kernel_box(how->path, slice, !s->mirror, how->rank, &spectral, &whole);
    if (s->axes == 0 || physical.count == 0)
        return 0;
    int is_backward = how->problem->is_backward;
    sort_axes(s, is_backward ? &spectral : &physical, is_backward ? &physical : &spectral,
              physical.size, &dims);
    for (int i = 0, at = 0; how->problem->is_r2r && i < FFT_AXES; i++)
        if (s->axes >> i & 1)
            dims.kinds[at++] = kind_of(how->problem->kinds[i]);
    if (slice->slices > 1 && s->numbers != FFT_COMPLEX)
        mine.effort |= FFTW_UNALIGNED; /* doubles of which a slice may begin at any */
    *plan = plan_of(&dims, &mine, s->numbers, in, out);
    return *plan != NULL ? 0 : COVEY_ENOMEM;
}

void fft_kernel_run(fftw_plan kernel, int numbers, int is_backward, double *in, double *out)
{
    if (kernel == NULL)
        return;
    if (numbers == FFT_REAL)
        fftw_execute_r2r(kernel, in, out);
    else if (numbers == FFT_COMPLEX)
        fftw_execute_dft(kernel, (fftw_complex *)in, (fftw_complex *)out);
    else if (is_backward)
        fftw_execute_dft_c2r(kernel, (fftw_complex *)in, out);
    else
        fftw_execute_dft_r2c(kernel, in, (fftw_complex *)out);
}

fftw_plan fft_kernel_copy(const struct fft_box *part, const struct fft_box *from,
                          const struct fft_box *to, int width, double *in, double *out)
{
    fftw_iodim64 dims[FFT_AXES + 1];
    for (int i = 0; i < FFT_AXES; i++)
        dims[i] = (fftw_iodim64){
            .n = part->size[i], .is = from->stride[i] * width, .os = to->stride[i] * width};
    dims[FFT_AXES] = (fftw_iodim64){.n = width, .is = 1, .os = 1};
    return fftw_plan_guru64_r2r(0, NULL, FFT_AXES + 1, dims, in, out, NULL,
                                FFTW_ESTIMATE | FFTW_UNALIGNED);
}
