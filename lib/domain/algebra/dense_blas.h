/* dense_blas.h - OpenBLAS's own cblas.h, also where the one that Debian's alternatives chose is
 * another library's, and LAPACK. */
#ifndef COVEY_LIB_DOMAIN_ALGEBRA_DENSE_BLAS_H
#define COVEY_LIB_DOMAIN_ALGEBRA_DENSE_BLAS_H

#if __has_include(<cblas-openblas.h>)
#include <cblas-openblas.h>
#else
#include <cblas.h>
#endif
#include <lapacke.h>

#endif
