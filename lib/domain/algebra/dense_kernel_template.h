/*
 * dense_kernel_template.h - the kernels of one type; included by dense_kernel.c for each, with
 *
 *   NAME(f)     the name of function f for this type
 *   BLAS(f), LAPACK(f)   that of BLAS and LAPACK, as BLAS(gemm)
 *   ELEMENT, REAL        the C types
 *   COMPLEX     1 or 0
 *   NUMBER(p)   a scalar argument of BLAS out of a pointer to it
 *   GER, SIZE(x)   the unconjugated rank-1 update, and |re| + |im|
 *   COVEY_TYPE
 */
static const ELEMENT NAME(zero) = 0, NAME(one) = 1, NAME(minus_one) = -1;

static void NAME(gemm)(const void *alpha, const struct dense_view *a, const struct dense_view *b,
                       const struct dense_view *c)
{
    int64_t inner = a->transposed ? a->m : a->n;
    if (c->m == 0 || c->n == 0 || inner == 0)
        return;
    if (c->n == 1 && !b->transposed) { /* gemm would copy all of A first */
        BLAS(gemv)
        (CblasColMajor, a->transposed ? CblasConjTrans : CblasNoTrans, (blasint)a->m, (blasint)a->n,
         NUMBER(alpha), a->at, (blasint)a->ld, b->at, 1, NUMBER(&NAME(one)), c->at, 1);
        return;
    }
    BLAS(gemm)
    (CblasColMajor, a->transposed ? CblasConjTrans : CblasNoTrans,
     b->transposed ? CblasConjTrans : CblasNoTrans, (blasint)c->m, (blasint)c->n, (blasint)inner,
     NUMBER(alpha), a->at, (blasint)a->ld, b->at, (blasint)b->ld, NUMBER(&NAME(one)), c->at,
     (blasint)c->ld);
}

static void NAME(trsm)(int flags, const struct dense_view *t, const struct dense_view *b)
{
    if (b->m == 0 || b->n == 0)
        return;
    BLAS(trsm)
    (CblasColMajor, flags & DENSE_RIGHT ? CblasRight : CblasLeft,
     flags & DENSE_UPPER ? CblasUpper : CblasLower,
     flags & DENSE_TRANSPOSED ? CblasConjTrans : CblasNoTrans,
     flags & DENSE_UNIT ? CblasUnit : CblasNonUnit, (blasint)b->m, (blasint)b->n,
     NUMBER(&NAME(one)), t->at, (blasint)t->ld, b->at, (blasint)b->ld);
}

/* The form without a search for NaN, which would refuse the matrix. */
static int NAME(getrf)(const struct dense_view *a, int32_t *pivots)
{
    if (a->m == 0 || a->n == 0)
        return 0;
    return LAPACK(getrf_work)(LAPACK_COL_MAJOR, (lapack_int)a->m, (lapack_int)a->n, a->at,
                              (lapack_int)a->ld, pivots);
}

static int NAME(getri)(const struct dense_view *a, const int32_t *pivots)
{
    ELEMENT most = 0;
    if (a->n == 0)
        return 0;
    int info = LAPACK(getri_work)(LAPACK_COL_MAJOR, (lapack_int)a->n, a->at, (lapack_int)a->ld,
                                  pivots, &most, -1);
    lapack_int count = info == 0 ? (lapack_int)PART(most) : 0;
    ELEMENT *work = malloc(((size_t)count + 1) * sizeof *work);
    if (work == NULL || info != 0) {
        free(work);
        return -1;
    }
    info = LAPACK(getri_work)(LAPACK_COL_MAJOR, (lapack_int)a->n, a->at, (lapack_int)a->ld, pivots,
                              work, count);
    free(work);
    return info;
}

static void NAME(swap)(const struct dense_view *a, int64_t begin, int64_t end,
                       const int32_t *pivots)
{
    if (a->n > 0 && begin < end)
        LAPACK(laswp_work)
    (LAPACK_COL_MAJOR, (lapack_int)a->n, a->at, (lapack_int)a->ld, (lapack_int)begin + 1,
     (lapack_int)end, pivots, 1);
}

static void NAME(pick)(const struct dense_view *a, const int64_t *rows, int64_t count, void *array)
{
    ELEMENT *to = array;
    for (int64_t j = 0; j < a->n; j++, to += count) {
        const ELEMENT *column = (const ELEMENT *)a->at + j * a->ld;
        for (int64_t i = 0; i < count; i++)
            to[i] = column[rows[i]];
    }
}

static void NAME(put)(const struct dense_view *a, const int64_t *rows, int64_t count,
                      const void *array)
{
    const ELEMENT *from = array;
    for (int64_t j = 0; j < a->n; j++, from += count) {
        ELEMENT *column = (ELEMENT *)a->at + j * a->ld;
        for (int64_t i = 0; i < count; i++)
            column[rows[i]] = from[i];
    }
}

static void NAME(add)(const struct dense_view *a, const struct dense_view *b)
{
    for (int64_t j = 0; j < a->n; j++)
        BLAS(axpy)
    ((blasint)a->m, NUMBER(&NAME(one)), (const ELEMENT *)a->at + j * a->ld, 1,
     (ELEMENT *)b->at + j * b->ld, 1);
}

static void NAME(scale)(const void *factor, const struct dense_view *a)
{
    const ELEMENT f = *(const ELEMENT *)factor;
    for (int64_t j = 0; j < a->n; j++) {
        ELEMENT *x = (ELEMENT *)a->at + j * a->ld;
        if (f == 0)
            memset(x, 0, (size_t)a->m * sizeof *x);
        else if (f != 1)
            BLAS(scal)((blasint)a->m, NUMBER(&f), x, 1);
    }
}

static double NAME(size)(const void *x)
{
    return SIZE(*(const ELEMENT *)x);
}

static void NAME(add_sizes)(int64_t n, const void *column, double *sums)
{
    const ELEMENT *x = column;
    for (int64_t i = 0; i < n; i++)
        sums[i] += SIZE(x[i]);
}

static int64_t NAME(largest)(int64_t n, const void *column)
{
    const ELEMENT *x = column;
    int64_t at = -1;
    double most = -1;
    for (int64_t i = 0; i < n; i++) {
        double size = SIZE(x[i]);
        if (isnan(size))
            return i;
        if (size > most) {
            most = size;
            at = i;
        }
    }
    return at;
}

/* By a division each where 1 / pivot is no number. */
static void NAME(divide)(int64_t n, void *column, const void *pivot)
{
    const ELEMENT p = *(const ELEMENT *)pivot, inverse = 1 / p;
    ELEMENT *x = column;
    if (isfinite(SIZE(inverse)) && SIZE(inverse) > 0)
        BLAS(scal)((blasint)n, NUMBER(&inverse), x, 1);
    else
        for (int64_t i = 0; i < n; i++)
            x[i] /= p;
}

static void NAME(update1)(const struct dense_view *a, const void *x, const void *y, int64_t y_step)
{
    if (a->m > 0 && a->n > 0)
        GER(CblasColMajor, (blasint)a->m, (blasint)a->n, NUMBER(&NAME(minus_one)), x, 1, y,
            (blasint)y_step, a->at, (blasint)a->ld);
}

static void NAME(encode)(int64_t number, void *pair)
{
    ((ELEMENT *)pair)[0] = (REAL)(number >> 24);
    ((ELEMENT *)pair)[1] = (REAL)(number & 0xffffff);
}

static int64_t NAME(decode)(const void *pair)
{
    const ELEMENT *p = pair;
    return ((int64_t)PART(p[0]) << 24) + (int64_t)PART(p[1]);
}

static const struct dense_kernel NAME(kernel) = {.type = COVEY_TYPE,
                                                 .bytes = sizeof(ELEMENT),
                                                 .is_complex = COMPLEX,
                                                 .zero = &NAME(zero),
                                                 .one = &NAME(one),
                                                 .minus_one = &NAME(minus_one),
                                                 .gemm = NAME(gemm),
                                                 .trsm = NAME(trsm),
                                                 .getrf = NAME(getrf),
                                                 .getri = NAME(getri),
                                                 .swap = NAME(swap),
                                                 .pick = NAME(pick),
                                                 .put = NAME(put),
                                                 .add = NAME(add),
                                                 .scale = NAME(scale),
                                                 .largest = NAME(largest),
                                                 .size = NAME(size),
                                                 .add_sizes = NAME(add_sizes),
                                                 .divide = NAME(divide),
                                                 .update1 = NAME(update1),
                                                 .encode = NAME(encode),
                                                 .decode = NAME(decode)};

#undef NAME
#undef BLAS
#undef LAPACK
#undef ELEMENT
#undef REAL
#undef COMPLEX
#undef NUMBER
#undef GER
#undef SIZE
#undef PART
#undef COVEY_TYPE
