/*
 * kernel.c - times the product of two blocks on this host, for blocks of several sizes: the time
 * for each operation falls with the size of a block.
 */
#include "apps/matmul/kernel.h"

#include "apps/kernel.h"
#include "apps/matmul/blas.h"
#include "apps/matmul/matrix.h"

#include <err.h>
#include <stdlib.h>

#define SMALLEST 64
#define LARGEST 2048
#define PANEL 256 /* columns of A that come at once */

struct product {
    int side, inner;
    double *a, *b, *c;
};

static void kernel_multiply(void *context)
{
    const struct product *p = context;
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, p->side, p->side, p->inner, 1.0, p->a,
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
    struct product p = {.side = side, .inner = side < PANEL ? side : PANEL};
    p.a = make(p.side, p.inner, MATRIX_A);
    p.b = make(p.inner, p.side, MATRIX_B);
    p.c = calloc((size_t)side * (size_t)side, sizeof *p.c);
    int made = p.a != NULL && p.b != NULL && p.c != NULL ? 0 : -1;
    if (made == 0)
        kernel_time("matmul", side, (double)side * side * p.inner, NULL, kernel_multiply, &p);
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
