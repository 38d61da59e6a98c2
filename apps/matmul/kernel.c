/*
 * kernel.c - times the product of two blocks on this host, for blocks of several sizes: the time
 * for each operation falls with the size of a block. Of the large ones some rows say as much as all
 * of them. All memory has been written before: where a new page takes 25 us, those of the product
 * made a multiplication an eighth slower, which a program that has its memory ready is not.
 */
#include "apps/matmul/kernel.h"

#include "apps/kernel.h"
#include "apps/matmul/blas.h"
#include "apps/matmul/matrix.h"
#include "apps/memory.h"

#include <err.h>
#include <stdlib.h>

#define SMALLEST 64
#define LARGEST 2048
#define PANEL 256 /* columns of A that come at once */
#define ROWS_MAX 512

struct product {
    int rows, side, inner;
    double *a, *b, *c;
};

static void kernel_multiply(void *context)
{
    const struct product *p = context;
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, p->rows, p->side, p->inner, 1.0, p->a,
                p->inner, p->b, p->side, 1.0, p->c, p->side);
}

static double *make(int rows, int columns, enum matrix_name name)
{
    double *block = calloc((size_t)rows * (size_t)columns, sizeof *block);
    const struct matrix matrix = {1, LARGEST, name};
    const struct matrix_part part = {0, 0, rows, columns};
    if (block != NULL)
        matrix_fill(&matrix, &part, block);
    return block;
}

static int time_block(int side)
{
    struct product p = {.rows = side < ROWS_MAX ? side : ROWS_MAX,
                        .side = side,
                        .inner = side < PANEL ? side : PANEL};
    p.a = make(p.rows, p.inner, MATRIX_A);
    p.b = make(p.inner, p.side, MATRIX_B);
    p.c = memory_ready((size_t)p.rows * (size_t)side, sizeof *p.c);
    int made = p.a != NULL && p.b != NULL && p.c != NULL ? 0 : -1;
    if (made == 0)
        kernel_time("matmul", side, (double)p.rows * side * p.inner, NULL, kernel_multiply, &p);
    free(p.a);
    free(p.b);
    free(p.c);
    return made;
}

int product_kernel(void)
{
    struct kernel kernel;
    openblas_set_num_threads(1);
    kernel_begin(&kernel);
    for (int side = SMALLEST; side <= LARGEST; side *= 2) {
        if (time_block(side) == 0)
            continue;
        warnx("out of memory for a block");
        return EXIT_FAILURE;
    }
    return kernel_end(&kernel);
}
