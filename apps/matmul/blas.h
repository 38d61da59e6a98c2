/* blas.h - OpenBLAS's own cblas.h, also where the one that Debian's alternatives chose is another
 * library's: it has blasint and openblas_set_num_threads(). */
#ifndef MATMUL_BLAS_H
#define MATMUL_BLAS_H

#if __has_include(<cblas-openblas.h>)
#include <cblas-openblas.h>
#else
#include <cblas.h>
#endif

#endif
