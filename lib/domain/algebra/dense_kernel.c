/*
 * dense_kernel.c - the kernels of the four types, all out of one template, and what does not depend
 * on the type.
 */
#include <complex.h>
#include <covey.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/domain/algebra/dense_blas.h"
#include "lib/domain/algebra/dense_kernel.h"

#define NAME(f) d_##f
#define BLAS(f) cblas_d##f
#define LAPACK(f) LAPACKE_d##f
#define ELEMENT double
#define REAL double
#define COMPLEX 0
#define NUMBER(p) (*(const double *)(p))
#define GER cblas_dger
#define SIZE(x) fabs(x)
#define PART(x) (x)
#define COVEY_TYPE COVEY_DOUBLE
#include "lib/domain/algebra/dense_kernel_template.h"

#define NAME(f) s_##f
#define BLAS(f) cblas_s##f
#define LAPACK(f) LAPACKE_s##f
#define ELEMENT float
#define REAL float
#define COMPLEX 0
#define NUMBER(p) (*(const float *)(p))
#define GER cblas_sger
#define SIZE(x) (double)fabsf(x)
#define PART(x) (x)
#define COVEY_TYPE COVEY_FLOAT
#include "lib/domain/algebra/dense_kernel_template.h"

#define NAME(f) z_##f
#define BLAS(f) cblas_z##f
#define LAPACK(f) LAPACKE_z##f
#define ELEMENT double complex
#define REAL double
#define COMPLEX 1
#define NUMBER(p) (p)
#define GER cblas_zgeru
#define SIZE(x) (fabs(creal(x)) + fabs(cimag(x)))
#define PART(x) creal(x)
#define COVEY_TYPE COVEY_COMPLEX_DOUBLE
#include "lib/domain/algebra/dense_kernel_template.h"

#define NAME(f) c_##f
#define BLAS(f) cblas_c##f
#define LAPACK(f) LAPACKE_c##f
#define ELEMENT float complex
#define REAL float
#define COMPLEX 1
#define NUMBER(p) (p)
#define GER cblas_cgeru
#define SIZE(x) ((double)fabsf(crealf(x)) + (double)fabsf(cimagf(x)))
#define PART(x) crealf(x)
#define COVEY_TYPE COVEY_COMPLEX_FLOAT
#include "lib/domain/algebra/dense_kernel_template.h"

const struct dense_kernel *dense_kernel_of(int type)
{
    static const struct dense_kernel *const kernels[] = {&d_kernel, &s_kernel, &z_kernel,
                                                         &c_kernel};
    for (int i = 0; i < 4; i++)
        if (kernels[i]->type == type)
            return kernels[i];
    return NULL;
}

void *dense_at(const struct dense_kernel *kernel, const struct dense_view *a, int64_t i, int64_t j)
{
    if (a->at == NULL)
        return NULL;
    return (char *)a->at + (size_t)(i + j * a->ld) * kernel->bytes;
}

struct dense_view dense_part(const struct dense_kernel *kernel, const struct dense_view *a,
                             const int64_t begin[2], const int64_t size[2])
{
    return (struct dense_view){
        .at = dense_at(kernel, a, begin[0], begin[1]), .m = size[0], .n = size[1], .ld = a->ld};
}

void dense_copy(const struct dense_kernel *kernel, const struct dense_view *a,
                const struct dense_view *b)
{
    if (a->m == 0 || a->n == 0)
        return;
    if (a->m == a->ld && b->m == b->ld)
        memcpy(b->at, a->at, (size_t)(a->m * a->n) * kernel->bytes);
    else
        for (int64_t j = 0; j < a->n; j++)
            memcpy(dense_at(kernel, b, 0, j), dense_at(kernel, a, 0, j),
                   (size_t)a->m * kernel->bytes);
}

void dense_convert(const struct dense_kernel *from, const struct dense_view *a,
                   const struct dense_kernel *to, const struct dense_view *b)
{
    int64_t count = a->m * (from->is_complex ? 2 : 1);
    int is_double = from->type == COVEY_DOUBLE || from->type == COVEY_COMPLEX_DOUBLE;
    for (int64_t j = 0; j < a->n; j++) {
        const double *wide = dense_at(is_double ? from : to, is_double ? a : b, 0, j);
        const float *narrow = dense_at(is_double ? to : from, is_double ? b : a, 0, j);
        for (int64_t i = 0; i < count; i++)
            if (is_double)
                ((float *)narrow)[i] = (float)wide[i];
            else
                ((double *)wide)[i] = narrow[i];
    }
}

/* Threads of OpenBLAS that have nothing to do ask for work for a tenth of a second before they
 * sleep, from when they are made on: each takes a processor meanwhile, from a task of the same team
 * it may be, whose part then takes twice as long. They read for how long when they are made: so
 * this makes them anew. Before main(), for no other thread may be in BLAS then. Who sets the
 * variable has what it says, and another BLAS has none of these functions. */
extern void openblas_read_env(void) __attribute__((weak));
extern int blas_thread_shutdown_(void) __attribute__((weak));

#define TIMEOUT "OPENBLAS_THREAD_TIMEOUT"
#define TIMEOUT_LOG2_TICKS "20" /* of the processor's clock: below a millisecond */

__attribute__((constructor)) static void shorten_waits(void)
{
    if (openblas_read_env == NULL || blas_thread_shutdown_ == NULL || getenv(TIMEOUT) != NULL)
        return;
    if (setenv(TIMEOUT, TIMEOUT_LOG2_TICKS, 0) != 0)
        return;
    openblas_read_env();
    blas_thread_shutdown_();
}

int dense_threads(int count)
{
    int before = openblas_get_num_threads();
    if (count != before)
        openblas_set_num_threads(count);
    return before;
}
