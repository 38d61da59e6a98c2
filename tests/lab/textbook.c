/*
 * textbook.c - the matrix product of CBLAS by three loops, as programs of the 1990s had it (Schmidt
 * & Sunderam, section 3.1: C[i][j] is set to 0, then products are summed in it). Preloaded, it
 * makes a share of a core of today compute about as slowly, beside its network, as a workstation of
 * then. Only what matmul asks for: by rows, neither matrix transposed.
 *
 * A workstation has its memory to itself, the hosts of a lab share that of a machine with each
 * other and with the frames that it carries. So the loops keep to what fits the caches of a core: a
 * few columns of B at a time, copied, and some rows of A. What limits them is that each addition
 * waits for the one before, which nothing else on the machine changes: on x86, as on the 387, of
 * long doubles, some 1.5 ns each. (Of doubles, where long ones are emulated.)
 */
#include "apps/matmul/blas.h"

#include <stdlib.h>

enum { ROWS = 32, COLUMNS = 8 /* a line of the cache */, INNER = 128 };

#if defined(__x86_64__) || defined(__i386__)
typedef long double sum_t;
#else
typedef double sum_t;
#endif

/* Parts of some rows of A, and of columns of B, these copied one after the other. */
struct factors {
    const double *a;
    size_t lda, inner;
    double columns[COLUMNS * INNER];
};

static void copy_columns(struct factors *f, const double *b, size_t ldb, size_t count)
{
    for (size_t l = 0; l < f->inner; l++)
        for (size_t j = 0; j < count; j++)
            f->columns[j * f->inner + l] = b[l * ldb + j];
}

static double sum_of(const struct factors *f, size_t row, size_t column)
{
    const double *a = f->a + row * f->lda, *b = f->columns + column * f->inner;
    sum_t sum = 0;
    for (size_t l = 0; l < f->inner; l++)
        sum += (sum_t)a[l] * b[l];
    return (double)sum;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static void scale(double *c, size_t rows, size_t columns, size_t ldc, double beta)
{
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < columns; j++)
            c[i * ldc + j] = beta == 0 ? 0 : beta * c[i * ldc + j];
}

/* NOLINTNEXTLINE(readability-function-size): the interface of CBLAS */
void cblas_dgemm(CBLAS_LAYOUT layout, CBLAS_TRANSPOSE trans_a, CBLAS_TRANSPOSE trans_b, blasint m,
                 blasint n, blasint k, double alpha, const double *a, blasint lda, const double *b,
                 blasint ldb, double beta, double *c, blasint ldc)
{
    size_t rows = (size_t)m, columns = (size_t)n, inner = (size_t)k;
    struct factors f = {.lda = (size_t)lda};
    if (layout != CblasRowMajor || trans_a != CblasNoTrans || trans_b != CblasNoTrans)
        abort();
    scale(c, rows, columns, (size_t)ldc, beta);
    for (size_t i = 0; i < rows; i += ROWS)
        for (size_t l = 0; l < inner; l += INNER)
            for (size_t j = 0; j < columns; j += COLUMNS) {
                size_t height = least(ROWS, rows - i), width = least(COLUMNS, columns - j);
                f.a = a + i * f.lda + l;
                f.inner = least(INNER, inner - l);
                copy_columns(&f, b + l * (size_t)ldb + j, (size_t)ldb, width);
                for (size_t at = 0; at < height * width; at++) {
                    size_t row = at / width, column = at % width;
                    c[(i + row) * (size_t)ldc + j + column] += alpha * sum_of(&f, row, column);
                }
            }
}
