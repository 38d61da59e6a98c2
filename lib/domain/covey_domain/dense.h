/*
 * covey_domain/dense.h - dense linear algebra with matrices that are spread over the members of a
 * team.
 */
#ifndef COVEY_DOMAIN_DENSE_H
#define COVEY_DOMAIN_DENSE_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Matrices lie in ScaLAPACK's 2-D block-cyclic layout: the members of a plan form a grid of rows x
 * columns processes, rank = row * columns + column; where no grid is named in the options, members
 * on hosts where others compute may be left out, and are not counted then. Block (I, J) of a
 * matrix, block x block elements, belongs to the process in row I mod rows and column J mod
 * columns. At each process its elements stand by columns, with a leading dimension of its choice.
 * BLAS and LAPACK compute what lies at one member. See covey_dense(3). */

typedef struct covey_dense covey_dense_t; /* a problem that is planned, of one team */

/* What is computed, of which matrices; sizes m, n, k, r are those of the problem below. */
enum covey_dense_op {
    COVEY_DENSE_GEMM = 1,     /* C = alpha A B + beta C: A is m x k, B k x n, C m x n */
    COVEY_DENSE_LU = 2,       /* P A = L U: A is m x n; and A X = B for m = n: B is n x r */
    COVEY_DENSE_CHOLESKY = 3, /* A = L L' or U' U: A is n x n, one half counts; B is n x r */
    COVEY_DENSE_QR = 4,       /* A = Q R: A is m x n, C is Q, m x min(m, n); B is max(m, n) x r */
    COVEY_DENSE_SOLVE = 5     /* A X = B alone, whatever becomes of A: A is n x n, B is n x r */
};

/* The same at all members. Each size is below 2^31; sizes that an operation does not name are not
 * read. */
struct covey_dense_problem {
    int32_t op;      /* enum covey_dense_op */
    int32_t type;    /* COVEY_DOUBLE, FLOAT, COMPLEX_DOUBLE or COMPLEX_FLOAT */
    int64_t m, n, k; /* as at the operation */
    int64_t r;       /* columns of B in what is solved; 0: none */
};

/* Plans a problem for many runs: takes an algorithm, a grid and a block unless the options, or the
 * environment variable COVEY_DENSE, name them. `network` NULL: it is measured. A collective call:
 * the options of rank 0 count. Sets *plan, which must end before the team.
 *
 * Errors: EINVAL (no such operation, type or option, a size out of range, an algorithm or grid that
 * cannot be taken here, members differ), ENOMEM, and those of all collective calls. What is wrong
 * at one member is an error at all, but a team or plan NULL. */
int covey_dense_plan(covey_team_t *team, const struct covey_dense_problem *problem,
                     const char *options, const struct covey_domain_network *network,
                     covey_dense_t **plan);

/* ---- Pieces of matrices ---------------------------------------------------------------------- */

enum covey_dense_matrix { COVEY_DENSE_A = 1, COVEY_DENSE_B = 2, COVEY_DENSE_C = 3 };

/* What of a matrix lies at a member. Sizes and ld are elements. */
struct covey_dense_part {
    int32_t rows, columns;    /* processes of the grid */
    int32_t row, column;      /* the member's place in it; -1: it has none, and no elements */
    int64_t block;            /* rows and columns of a block */
    int64_t m, n;             /* the whole matrix */
    int64_t local_m, local_n; /* the piece of it that lies here */
    int64_t ld;               /* the least leading dimension: local_m, or 1 */
    size_t count;             /* elements from the first to the last with that: ld * local_n */
};

/* The caller's piece of that matrix. Errors: EINVAL. */
int covey_dense_local(const covey_dense_t *plan, int matrix, struct covey_dense_part *part);

/* The same of the member of that rank. */
int covey_dense_local_of(const covey_dense_t *plan, int matrix, int rank,
                         struct covey_dense_part *part);

/* Where element (i, j), counted from 0, lies: returns the rank, and sets at[0] and at[1] to the row
 * and column in that member's piece, so that it is element at[0] + at[1] * ld. Errors: EINVAL. */
int covey_dense_place(const covey_dense_t *plan, int matrix, int64_t i, int64_t j, int64_t at[2]);

/* From a whole matrix at rank 0, by columns with the leading dimension ld, to the pieces, and back.
 * `whole` and ld matter at rank 0 alone. Collective calls. Errors: EINVAL (an array is NULL, a
 * leading dimension too small: at all members), ENOMEM, those of all collective calls. */
int covey_dense_scatter(covey_dense_t *plan, int matrix, const void *whole, int64_t ld, void *piece,
                        int64_t piece_ld);
int covey_dense_gather(covey_dense_t *plan, int matrix, const void *piece, int64_t piece_ld,
                       void *whole, int64_t ld);

/* ---- Operations ------------------------------------------------------------------------------ */

/* All are collective calls on pieces of covey_dense_local(), with leading dimensions, of a plan
 * with that operation. NULL is fine for a piece without elements. NaN and infinities take their way
 * as in BLAS. Errors of all: EINVAL (another operation, a NULL, a leading dimension too small: at
 * all members), ENOMEM, those of all collective calls, after which the team is broken. */

/* alpha and beta point to a number of the problem's type; C is not read where *beta is 0. */
int covey_dense_gemm(covey_dense_t *plan, const void *alpha, const void *a, int64_t lda,
                     const void *b, int64_t ldb, const void *beta, void *c, int64_t ldc);

/* A becomes L, without its diagonal of ones, and U. pivots[i], for each i below the lesser of m and
 * n, is the row that row i was interchanged with in step i, at every member. Returns 0, or j + 1
 * where U(j, j) is the first pivot that is exactly 0: the factors are complete, and cannot solve.
 */
int covey_dense_lu(covey_dense_t *plan, void *a, int64_t lda, int64_t *pivots);

/* Solves A X = B with what covey_dense_lu() left: B becomes X. Needs m = n. */
int covey_dense_lu_solve(covey_dense_t *plan, const void *a, int64_t lda, const int64_t *pivots,
                         void *b, int64_t ldb);

/* What covey_dense_lu() left becomes the inverse of A. Needs m = n. Returns 0, or j + 1 where U(j,
 * j) is exactly 0: A stays as it was left. */
int covey_dense_lu_inverse(covey_dense_t *plan, void *a, int64_t lda, const int64_t *pivots);

/* Solves A X = B: B becomes X, and what A becomes is not defined. Returns as covey_dense_lu(), and
 * B is as it was where it returns above 0. Of a plan of COVEY_DENSE_SOLVE. */
int covey_dense_solve(covey_dense_t *plan, void *a, int64_t lda, void *b, int64_t ldb);

/* Which half of A counts and is changed; what stands in the other one is neither read nor changed.
 */
enum covey_dense_half { COVEY_DENSE_LOWER = 1, COVEY_DENSE_UPPER = 2 };

/* That half of A, symmetric or Hermitian, becomes L with A = L L', or U with A = U' U. Returns 0,
 * or the order of the first leading minor that is not positive definite (or whose factor has a
 * NaN): that half of A is not defined then. */
int covey_dense_cholesky(covey_dense_t *plan, int half, void *a, int64_t lda);

/* Solves A X = B with what covey_dense_cholesky() left: B becomes X. */
int covey_dense_cholesky_solve(covey_dense_t *plan, int half, const void *a, int64_t lda, void *b,
                               int64_t ldb);

/* What covey_dense_cholesky() left becomes that half of the inverse of A. */
int covey_dense_cholesky_inverse(covey_dense_t *plan, int half, void *a, int64_t lda);

/* A = Q R: the upper triangle of A becomes R, with a diagonal of any sign. Q is partly in the other
 * half of A and partly the plan's, until the next call: the calls below want A as it was left.
 * Returns 0. */
int covey_dense_qr(covey_dense_t *plan, void *a, int64_t lda);

/* The first min(m, n) columns of Q. Errors: also EINVAL where nothing was factored. */
int covey_dense_qr_form(covey_dense_t *plan, const void *a, int64_t lda, void *q, int64_t ldq);

/* For each column of B the x of least |A x - b|, of these the shortest one if m < n: X becomes the
 * first n rows of B, of which the first m are given, and what others become is not defined. Returns
 * 0, or the place from 1 of a 0 on a diagonal, as A has not min(m, n) independent columns: B is as
 * it was. Errors: also EINVAL where nothing was factored. */
int covey_dense_qr_solve(covey_dense_t *plan, const void *a, int64_t lda, void *b, int64_t ldb);

/* ---- What a plan tells ----------------------------------------------------------------------- */

/* Writes a table of the algorithms: what each was expected to take, or why it cannot be taken, and
 * which one was; behind it a line with grid, block and the other options. Returns the length of the
 * whole; text is cut at `size`. Errors: EINVAL. */
int covey_dense_explain(const covey_dense_t *plan, char *text, size_t size);

/* The name of the algorithm that was taken; NULL: no plan. */
const char *covey_dense_algorithm(const covey_dense_t *plan);

/* Frees the plan and sets *plan to NULL; not collective. NULL is fine. */
void covey_dense_free(covey_dense_t **plan);

#ifdef __cplusplus
}
#endif
#endif
