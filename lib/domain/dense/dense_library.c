/*
 * dense_library.c - products and factorizations as `covey predict` sees them: of doubles, of
 * matrices that are spread, with the grid, block and broadcast that a plan would take.
 */
#include <stdio.h>

#include "lib/domain/base/error.h"
#include "lib/domain/base/library.h"
#include "lib/domain/base/sizes.h"
#include "lib/domain/dense/dense.h"

#define SQUARE "N, the rows of a square matrix, such as 4000"
#define TALL "N or MxN, M rows of N numbers, such as 100000x100"
#define PRODUCT "N or MxNxK: A is M x K, B is K x N"
#define SIDE_MOST ((int64_t)1 << 30)

static int read_problem(int op, const char *size, struct covey_dense_problem *problem)
{
    int64_t n[3];
    const char *sizes = op == COVEY_DENSE_GEMM ? PRODUCT : op == COVEY_DENSE_QR ? TALL : SQUARE;
    int most = op == COVEY_DENSE_GEMM ? 3 : op == COVEY_DENSE_QR ? 2 : 1;
    int count = domain_sizes_read(size, sizes, most, n);
    if (count < 0)
        return count;
    for (int i = 0; i < count; i++)
        if (n[i] > SIDE_MOST)
            count = 0;
    if (count < 1 || (op == COVEY_DENSE_GEMM && count == 2))
        return domain_fail(COVEY_EINVAL, "a size of '%s': it must be %s", size, sizes);
    *problem = (struct covey_dense_problem){.op = op,
                                            .type = COVEY_DOUBLE,
                                            .m = n[0],
                                            .n = n[count > 1 ? 1 : 0],
                                            .k = n[count > 2 ? 2 : 0]};
    return 0;
}

static int predict(int op, const char *size, const struct covey_domain_place *place,
                   const struct domain_figures *figures, struct domain_algorithm *rows)
{
    const struct dense_setting open = {.bcast = -1, .swap = -1, .lookahead = -1};
    const struct dense_op *of = dense_op_of(op);
    struct dense_case c = {.place = *place};
    struct dense_setting best;
    int n = 0, error = read_problem(op, size, &c.problem);
    if (error < 0)
        return error;
    c.place.processors = place->processors > 0 ? place->processors : 1;
    c.alone = c.place.processors;
    if (!dense_speed_of_figures(figures, &c))
        return domain_fail(COVEY_ENOHOST, "how fast BLAS is on this machine was not measured");
    for (; n < DENSE_ALGORITHMS && of->names[n] != NULL; n++) {
        rows[n] = (struct domain_algorithm){.name = of->names[n], .refusal = of->refusal(n, &c)};
        if (rows[n].refusal != NULL)
            continue;
        rows[n].seconds = dense_best(of, n, &c, &open, &best);
        if (rows[n].seconds < 0)
            rows[n].refusal = "no grid suits it";
    }
    return n;
}

static int measure(struct domain_figures *figures)
{
    return dense_speed_figures(figures, COVEY_DOUBLE);
}

#define LIBRARY(word, op, size_words, size)                                                        \
    static int predict_##word(const char *text, const struct covey_domain_place *place,            \
                              const struct domain_figures *figures, struct domain_algorithm *rows) \
    {                                                                                              \
        return predict(op, text, place, figures, rows);                                            \
    }                                                                                              \
    extern const struct domain_library domain_library_##word;                                      \
    const struct domain_library domain_library_##word = {.name = #word,                            \
                                                         .sizes = size_words,                      \
                                                         .usual = size,                            \
                                                         .predict = predict_##word,                \
                                                         .measure = measure};

LIBRARY(gemm, COVEY_DENSE_GEMM, PRODUCT, "4000")
LIBRARY(lu, COVEY_DENSE_LU, SQUARE, "4000")
LIBRARY(cholesky, COVEY_DENSE_CHOLESKY, SQUARE, "4000")
LIBRARY(qr, COVEY_DENSE_QR, TALL, "4000x1000")
