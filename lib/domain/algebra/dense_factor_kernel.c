/*
 * dense_factor_kernel.c - the kernels of each type of numbers: see dense_factor_template.h.
 */
#include "lib/domain/algebra/dense_factor_kernel.h"

#include "lib/domain/algebra/dense_blas.h"

#include <complex.h>
#include <covey.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Real numbers ---------------------------------------------------------------------------- */

#define ADJOINT CblasTrans
#define ADJOINT_LETTER 'T'
#define IS_COMPLEX 0
#define WIDE long double
#define SCALAR(x) ((NUMBER)(x))
#define REAL_PART(x) (x)
#define IMAGINARY_PART(x) ((REAL)0)
#define CONJUGATE(x) (x)
#define ABSOLUTE(x) fabs((double)(x))

#define TYPE COVEY_FLOAT
#define NUMBER float
#define REAL float
#define EPSILON FLT_EPSILON
#define NAME(what) what##_s
#define BLAS(what) cblas_s##what
#define LAPACK(what) LAPACKE_s##what##_work
#define RANK_K cblas_ssyrk
#define GER cblas_sger
#define APPLY LAPACKE_sormqr_work
#include "lib/domain/algebra/dense_factor_template.h"
#undef TYPE
#undef NUMBER
#undef REAL
#undef EPSILON
#undef NAME
#undef BLAS
#undef LAPACK
#undef RANK_K
#undef GER
#undef APPLY

#define TYPE COVEY_DOUBLE
#define NUMBER double
#define REAL double
#define EPSILON DBL_EPSILON
#define NAME(what) what##_d
#define BLAS(what) cblas_d##what
#define LAPACK(what) LAPACKE_d##what##_work
#define RANK_K cblas_dsyrk
#define GER cblas_dger
#define APPLY LAPACKE_dormqr_work
#include "lib/domain/algebra/dense_factor_template.h"
#undef TYPE
#undef NUMBER
#undef REAL
#undef EPSILON
#undef NAME
#undef BLAS
#undef LAPACK
#undef RANK_K
#undef GER
#undef APPLY

#undef ADJOINT
#undef ADJOINT_LETTER
#undef IS_COMPLEX
#undef WIDE
#undef SCALAR
#undef REAL_PART
#undef IMAGINARY_PART
#undef CONJUGATE
#undef ABSOLUTE

/* ---- Complex numbers ------------------------------------------------------------------------- */

#define ADJOINT CblasConjTrans
#define ADJOINT_LETTER 'C'
#define IS_COMPLEX 1
#define WIDE long double complex
#define SCALAR(x) (&(NUMBER){(NUMBER)(x)})
#define REAL_PART(x) ((REAL)creal(x))
#define IMAGINARY_PART(x) ((REAL)cimag(x))
#define CONJUGATE(x) ((NUMBER)conj(x))
#define ABSOLUTE(x) cabs((double complex)(x))

#define TYPE COVEY_COMPLEX_FLOAT
#define NUMBER float complex
#define REAL float
#define EPSILON FLT_EPSILON
#define NAME(what) what##_c
#define BLAS(what) cblas_c##what
#define LAPACK(what) LAPACKE_c##what##_work
#define RANK_K cblas_cherk
#define GER cblas_cgeru
#define APPLY LAPACKE_cunmqr_work
#include "lib/domain/algebra/dense_factor_template.h"
#undef TYPE
#undef NUMBER
#undef REAL
#undef EPSILON
#undef NAME
#undef BLAS
#undef LAPACK
#undef RANK_K
#undef GER
#undef APPLY

#define TYPE COVEY_COMPLEX_DOUBLE
#define NUMBER double complex
#define REAL double
#define EPSILON DBL_EPSILON
#define NAME(what) what##_z
#define BLAS(what) cblas_z##what
#define LAPACK(what) LAPACKE_z##what##_work
#define RANK_K cblas_zherk
#define GER cblas_zgeru
#define APPLY LAPACKE_zunmqr_work
#include "lib/domain/algebra/dense_factor_template.h"

const struct factor_kernel *factor_kernel_of(int type)
{
    switch (type) {
    case COVEY_FLOAT:
        return &factor_kernel_s;
    case COVEY_DOUBLE:
        return &factor_kernel_d;
    case COVEY_COMPLEX_FLOAT:
        return &factor_kernel_c;
    case COVEY_COMPLEX_DOUBLE:
        return &factor_kernel_z;
    default:
        return NULL;
    }
}
