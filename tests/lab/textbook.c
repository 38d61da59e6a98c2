/*
 * textbook.c - the matrix product of CBLAS by three loops, as programs of the 1990s had it (Schmidt
 * & Sunderam, section 3.1: C[i][j] is set to 0, then products are summed in it). Preloaded, it
 * makes a share of a core of today compute about as slowly, beside its network, as a workstation of
 * then.
 *
 * A workstation has its memory to itself, the hosts of a lab share that of a machine with each
 * other and with the frames that it carries. So the loops keep to what fits the caches of a core: a
 * few columns of B at a time, copied, and some rows of A. What limits them is that each addition
 * waits for the one before, which nothing else on the machine changes: on x86, as on the 387, of
 * long doubles, some 1.5 ns each. (Of doubles, where long ones are emulated.)
 */
#include "apps/matmul/blas.h"

#include <stddef.h>

enum { ROWS = 32, COLUMNS = 8 /* a line of the cache */, INNER = 128 };

#if defined(__x86_64__) || defined(__i386__)
typedef long double sum_t;
#else
typedef double sum_t;
#endif

/* A matrix as the loops see it: how far it is to the next row and to the next column. */
struct matrix {
    const double *at;
    size_t row, column;
};

static struct matrix matrix_of(const double *at, blasint ld, CBLAS_TRANSPOSE trans)
{
    return trans == CblasNoTrans ? (struct matrix){at, (size_t)ld, 1}
                                 : (struct matrix){at, 1, (size_t)ld};
}

static struct matrix part_of(struct matrix m, size_t row, size_t column)
{
    m.at += row * m.row + column * m.column;
    return m;
}

/* Parts of some rows of A, and of columns of B, these copied one after the other. */
struct factors {
    struct matrix a;
    size_t inner;
    double columns[COLUMNS * INNER];
};

static void copy_columns(struct factors *f, struct matrix b, size_t count)
{
    for (size_t l = 0; l < f->inner; l++)
        for (size_t j = 0; j < count; j++)
            f->columns[j * f->inner + l] = *part_of(b, l, j).at;
}

static double sum_of(const struct factors *f, size_t row, size_t column)
{
    const double *a = f->a.at + row * f->a.row, *b = f->columns + column * f->inner;
    sum_t sum = 0;
    for (size_t l = 0; l < f->inner; l++)
        sum += (sum_t)a[l * f->a.column] * b[l];
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
    if (layout == CblasColMajor) { /* the transposed product, by rows */
        cblas_dgemm(CblasRowMajor, trans_b, trans_a, n, m, k, alpha, b, ldb, a, lda, beta, c, ldc);
        return;
    }
    size_t rows = (size_t)m, columns = (size_t)n, inner = (size_t)k;
    struct matrix first = matrix_of(a, lda, trans_a), second = matrix_of(b, ldb, trans_b);
    struct factors f;
    scale(c, rows, columns, (size_t)ldc, beta);
    for (size_t i = 0; i < rows; i += ROWS)
        for (size_t l = 0; l < inner; l += INNER)
            for (size_t j = 0; j < columns; j += COLUMNS) {
                size_t height = least(ROWS, rows - i), width = least(COLUMNS, columns - j);
                f.a = part_of(first, i, l);
                f.inner = least(INNER, inner - l);
                copy_columns(&f, part_of(second, l, j), width);
                for (size_t at = 0; at < height * width; at++) {
                    size_t row = at / width, column = at % width;
                    c[(i + row) * (size_t)ldc + j + column] += alpha * sum_of(&f, row, column);
                }
            }
}
