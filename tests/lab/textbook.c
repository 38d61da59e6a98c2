/*
 * textbook.c - the matrix product of CBLAS by three loops, as programs of the 1990s had it (Schmidt
 * & Sunderam, section 3.1: C[i][j] is set to 0, then products are summed in it). Preloaded, it
 * makes a share of a core of today compute about as slowly, beside its network, as a workstation of
 * then. Only what matmul asks for: by rows, neither matrix transposed.
 */
#include <cblas.h>
#include <stdlib.h>

/* NOLINTNEXTLINE(readability-function-size): the interface of CBLAS */
void cblas_dgemm(CBLAS_LAYOUT layout, CBLAS_TRANSPOSE trans_a, CBLAS_TRANSPOSE trans_b, blasint m,
                 blasint n, blasint k, double alpha, const double *a, blasint lda, const double *b,
                 blasint ldb, double beta, double *c, blasint ldc)
{
    if (layout != CblasRowMajor || trans_a != CblasNoTrans || trans_b != CblasNoTrans)
        abort();
    for (blasint i = 0; i < m; i++)
        for (blasint j = 0; j < n; j++) {
            double sum = 0;
            for (blasint l = 0; l < k; l++)
                sum +=
                    a[(size_t)i * (size_t)lda + (size_t)l] * b[(size_t)l * (size_t)ldb + (size_t)j];
            c[(size_t)i * (size_t)ldc + (size_t)j] =
                alpha * sum + (beta == 0 ? 0 : beta * c[(size_t)i * (size_t)ldc + (size_t)j]);
        }
}
