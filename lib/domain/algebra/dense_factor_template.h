/*
 * dense_factor_template.h - included once a type of numbers, with
 *
 *   NUMBER, REAL, WIDE        the C types; the third one for few operations that shall be exact
 *   NAME(what)                the names here
 *   BLAS(what), LAPACK(what)  those of cblas and LAPACKE
 *   RANK_K, GER, APPLY        xSYRK or xHERK, xGER or xGERU, xORMQR or xUNMQR
 *   ADJOINT, ADJOINT_LETTER   Trans or ConjTrans
 *   SCALAR(x)                 a number as cblas takes it
 *   REAL_PART(x), IMAGINARY_PART(x), CONJUGATE(x), ABSOLUTE(x)
 *   TYPE, IS_COMPLEX, EPSILON
 *
 * A block by rows is the transpose of one by columns: what treats all elements alike swaps m and n.
 */

static CBLAS_ORDER NAME(order)(struct factor_block b)
{
    return b.by_rows ? CblasRowMajor : CblasColMajor;
}

static struct factor_block NAME(by_columns)(struct factor_block b)
{
    if (b.by_rows)
        return (struct factor_block){.at = b.at, .m = b.n, .n = b.m, .ld = b.ld};
    return b;
}

static NUMBER *NAME(column)(struct factor_block b, int j)
{
    return (NUMBER *)b.at + (size_t)j * (size_t)b.ld;
}

static void NAME(gemm)(const int adjoint[2], const struct factor_block ab[2], double sign,
                       double keep, struct factor_block c)
{
    int inner = adjoint[0] ? ab[0].m : ab[0].n;
    if (c.m == 0 || c.n == 0)
        return;
    BLAS(gemm)
    (NAME(order)(c), adjoint[0] ? ADJOINT : CblasNoTrans, adjoint[1] ? ADJOINT : CblasNoTrans, c.m,
     c.n, inner, SCALAR(sign), ab[0].at, ab[0].ld, ab[1].at, ab[1].ld, SCALAR(keep), c.at, c.ld);
}

static void NAME(herk)(struct factor_block a, struct factor_block c)
{
    if (c.n > 0)
        RANK_K(NAME(order)(c), CblasLower, CblasNoTrans, c.n, a.n, -1, a.at, a.ld, 1, c.at, c.ld);
}

static void NAME(solve)(struct factor_triangle t, int right, struct factor_block b)
{
    if (b.m > 0 && b.n > 0)
        BLAS(trsm)
    (NAME(order)(b), right ? CblasRight : CblasLeft, t.upper ? CblasUpper : CblasLower,
     t.adjoint ? ADJOINT : CblasNoTrans, t.unit ? CblasUnit : CblasNonUnit, b.m, b.n, SCALAR(1),
     t.of.at, t.of.ld, b.at, b.ld);
}

static void NAME(times)(struct factor_triangle t, struct factor_block b)
{
    if (b.m > 0 && b.n > 0)
        BLAS(trmm)
    (NAME(order)(b), CblasLeft, t.upper ? CblasUpper : CblasLower,
     t.adjoint ? ADJOINT : CblasNoTrans, t.unit ? CblasUnit : CblasNonUnit, b.m, b.n, SCALAR(1),
     t.of.at, t.of.ld, b.at, b.ld);
}

/* The lower triangle by rows is the upper one of the transpose by columns, whose factor U has the
 * transpose L: A^T = U^H U where A = L L^H. OpenBLAS takes a NaN on the diagonal for a number. */
static int NAME(cholesky)(struct factor_block a)
{
    int info = (int)LAPACK(potrf)(LAPACK_COL_MAJOR, a.by_rows ? 'U' : 'L', a.n, a.at, a.ld);
    for (int i = 0; i < a.n && info == 0; i++)
        if (isnan(ABSOLUTE(NAME(column)(a, i)[i])))
            info = i + 1;
    return info;
}

static int NAME(invert)(struct factor_block l)
{
    return (int)LAPACK(trtri)(LAPACK_COL_MAJOR, l.by_rows ? 'U' : 'L', 'N', l.n, l.at, l.ld);
}

static int NAME(square)(struct factor_block l)
{
    return (int)LAPACK(lauum)(LAPACK_COL_MAJOR, l.by_rows ? 'U' : 'L', l.n, l.at, l.ld);
}

/* ---- Householder's reflectors ---------------------------------------------------------------- */

static int NAME(qr)(struct factor_block a, void *tau)
{
    NUMBER most;
    int info = (int)LAPACK(geqrf)(LAPACK_COL_MAJOR, a.m, a.n, a.at, a.ld, tau, &most, -1);
    int count = info == 0 ? (int)REAL_PART(most) : 0;
    NUMBER *work = malloc((size_t)(count + 1) * sizeof *work);
    if (work == NULL || info != 0) {
        free(work);
        return -1;
    }
    info = (int)LAPACK(geqrf)(LAPACK_COL_MAJOR, a.m, a.n, a.at, a.ld, tau, work, count);
    free(work);
    return info;
}

static int NAME(qr_panel)(struct factor_block a, struct factor_block t)
{
    return (int)LAPACK(geqrt3)(LAPACK_COL_MAJOR, a.m, a.n, a.at, a.ld, t.at, t.ld);
}

static int NAME(apply)(struct factor_block v, const void *tau, int adjoint, struct factor_block c)
{
    NUMBER most;
    char trans = adjoint ? ADJOINT_LETTER : 'N';
    int k = v.n < v.m ? v.n : v.m;
    if (c.n == 0 || k == 0)
        return 0;
    int info = (int)APPLY(LAPACK_COL_MAJOR, 'L', trans, c.m, c.n, k, v.at, v.ld, tau, c.at, c.ld,
                          &most, -1);
    int count = info == 0 ? (int)REAL_PART(most) : 0;
    NUMBER *work = malloc((size_t)(count + 1) * sizeof *work);
    if (work == NULL || info != 0) {
        free(work);
        return -1;
    }
    info = (int)APPLY(LAPACK_COL_MAJOR, 'L', trans, c.m, c.n, k, v.at, v.ld, tau, c.at, c.ld, work,
                      count);
    free(work);
    return info;
}

static int NAME(stack)(struct factor_block r, struct factor_block below, struct factor_block t)
{
    NUMBER *work = malloc(((size_t)t.m * (size_t)r.n + 1) * sizeof *work);
    if (work == NULL)
        return -1;
    int triangle = below.m <= r.n ? below.m : 0;
    int info = (int)LAPACK(tpqrt)(LAPACK_COL_MAJOR, below.m, r.n, triangle, t.m, r.at, r.ld,
                                  below.at, below.ld, t.at, t.ld, work);
    free(work);
    return info;
}

static int NAME(apply_stack)(struct factor_block v, struct factor_block t, int adjoint,
                             const struct factor_block c[2])
{
    if (c[0].n == 0)
        return 0;
    NUMBER *work = malloc(((size_t)t.m * (size_t)c[0].n + 1) * sizeof *work);
    if (work == NULL)
        return -1;
    int triangle = v.m <= v.n ? v.m : 0;
    int info = (int)LAPACK(tpmqrt)(LAPACK_COL_MAJOR, 'L', adjoint ? ADJOINT_LETTER : 'N', v.m,
                                   c[0].n, v.n, triangle, t.m, v.at, v.ld, t.at, t.ld, c[0].at,
                                   c[0].ld, c[1].at, c[1].ld, work);
    free(work);
    return info;
}

/* LAPACK's xLARFG, of which a part of the sums are those of other members. */
static void NAME(householder)(const void *row, const void *sums, void *result)
{
    NUMBER alpha = *(const NUMBER *)row, *beta_tau_scale = result;
    WIDE wide = alpha;
    long double real = REAL_PART(alpha), imaginary = IMAGINARY_PART(alpha);
    long double squared = REAL_PART(*(const NUMBER *)sums);
    beta_tau_scale[0] = alpha;
    beta_tau_scale[1] = 0;
    beta_tau_scale[2] = 0;
    if (squared == 0 && imaginary == 0)
        return;
    long double length = sqrtl(real * real + imaginary * imaginary + squared);
    long double beta = real > 0 ? -length : length;
    beta_tau_scale[0] = (REAL)beta;
    beta_tau_scale[1] = (NUMBER)((beta - wide) / beta);
    beta_tau_scale[2] = (NUMBER)(1 / (wide - beta));
}

/* The adjoints of A^H a, for a product by a vector takes a quarter of the time of one by a row. */
static void NAME(dots)(struct factor_block a, void *sums)
{
    NUMBER *result = sums;
    for (int j = 0; j < a.n; j++)
        result[j] = 0;
    if (a.m > 0)
        BLAS(gemv)
    (CblasColMajor, ADJOINT, a.m, a.n, SCALAR(1), a.at, a.ld, a.at, 1, SCALAR(0), sums, 1);
    for (int j = 0; j < a.n; j++)
        result[j] = CONJUGATE(result[j]);
}

/* factors[j] = conj(tau) (row[j] + conj(scale) sums[j]) */
static void NAME(coefficients)(const void *result, const void *row, void *sums, int n)
{
    const NUMBER *beta_tau_scale = result, *r = row;
    NUMBER *s = sums;
    for (int j = 0; j < n; j++)
        s[j] = CONJUGATE(beta_tau_scale[1]) * (r[j] + CONJUGATE(beta_tau_scale[2]) * s[j]);
}

static void NAME(rank1)(struct factor_block a, const void *factors)
{
    if (a.m > 0 && a.n > 1)
        GER(CblasColMajor, a.m, a.n - 1, SCALAR(-1), a.at, 1, factors, 1, NAME(column)(a, 1), a.ld);
}

/* xLARFT out of the products V^H V, the upper triangle of t before and after. */
static void NAME(reflector)(struct factor_block t, const void *taus)
{
    const NUMBER *tau = taus;
    for (int j = 0; j < t.n; j++) {
        NUMBER *column = NAME(column)(t, j);
        for (int i = 0; i < j; i++)
            column[i] *= -tau[j];
        if (j > 0)
            BLAS(trmv)
        (CblasColMajor, CblasUpper, CblasNoTrans, CblasNonUnit, j, t.at, t.ld, column, 1);
        column[j] = tau[j];
        for (int i = j + 1; i < t.m; i++)
            column[i] = 0;
    }
}

/* ---- Elements -------------------------------------------------------------------------------- */

static void NAME(scale)(struct factor_block any, const void *factor)
{
    struct factor_block a = NAME(by_columns)(any);
    for (int j = 0; j < a.n; j++)
        for (int i = 0; i < a.m; i++)
            NAME(column)(a, j)[i] *= *(const NUMBER *)factor;
}

static void NAME(scale_real)(struct factor_block any, double factor)
{
    struct factor_block a = NAME(by_columns)(any);
    for (int j = 0; j < a.n; j++)
        for (int i = 0; i < a.m; i++)
            NAME(column)(a, j)[i] *= (REAL)factor;
}

static double NAME(largest)(struct factor_block any)
{
    struct factor_block a = NAME(by_columns)(any);
    double largest = 0;
    for (int j = 0; j < a.n; j++)
        for (int i = 0; i < a.m; i++) {
            double x = ABSOLUTE(NAME(column)(a, j)[i]);
            if (x > largest || isnan(x))
                largest = x;
        }
    return largest;
}

static void NAME(copy)(struct factor_block from, struct factor_block to)
{
    struct factor_block a = NAME(by_columns)(from), b = NAME(by_columns)(to);
    for (int j = 0; j < a.n && a.m > 0; j++)
        memcpy(NAME(column)(b, j), NAME(column)(a, j), (size_t)a.m * sizeof(NUMBER));
}

static void NAME(copy_adjoint)(struct factor_block from, struct factor_block to)
{
    for (int j = 0; j < from.n; j++)
        for (int i = 0; i < from.m; i++)
            NAME(column)(to, i)[j] = CONJUGATE(NAME(column)(from, j)[i]);
}

static void NAME(add)(struct factor_block from, struct factor_block to)
{
    struct factor_block a = NAME(by_columns)(from), b = NAME(by_columns)(to);
    for (int j = 0; j < a.n; j++)
        for (int i = 0; i < a.m; i++)
            NAME(column)(b, j)[i] += NAME(column)(a, j)[i];
}

/* The lower triangle by columns is the upper one by rows. */
static void NAME(add_lower)(struct factor_block from, struct factor_block to)
{
    for (int j = 0; j < from.n; j++) {
        int first = from.by_rows ? 0 : j, last = from.by_rows ? j + 1 : from.m;
        for (int i = first; i < last; i++)
            NAME(column)(to, j)[i] += NAME(column)(from, j)[i];
    }
}

static void NAME(copy_lower)(struct factor_block from, struct factor_block to)
{
    for (int j = 0; j < from.n; j++) {
        int first = from.by_rows ? 0 : j, last = from.by_rows ? j + 1 : from.m;
        for (int i = first; i < last; i++)
            NAME(column)(to, j)[i] = NAME(column)(from, j)[i];
        NAME(column)(to, j)[j] = REAL_PART(NAME(column)(from, j)[j]);
    }
}

static void NAME(clear)(struct factor_block any)
{
    struct factor_block a = NAME(by_columns)(any);
    for (int j = 0; j < a.n && a.m > 0; j++)
        memset(NAME(column)(a, j), 0, (size_t)a.m * sizeof(NUMBER));
}

/* Leaves what lies below the diagonal, with ones on it. */
static void NAME(make_unit_lower)(struct factor_block a)
{
    for (int j = 0; j < a.n; j++) {
        for (int i = 0; i < j && i < a.m; i++)
            NAME(column)(a, j)[i] = 0;
        if (j < a.m)
            NAME(column)(a, j)[j] = 1;
    }
}

static void NAME(make_upper)(struct factor_block a)
{
    for (int j = 0; j < a.n; j++)
        for (int i = j + 1; i < a.m; i++)
            NAME(column)(a, j)[i] = 0;
}

const struct factor_kernel NAME(factor_kernel) = {
    .type = TYPE,
    .width = sizeof(NUMBER),
    .is_complex = IS_COMPLEX,
    .epsilon = EPSILON / 2,
    .gemm = NAME(gemm),
    .herk = NAME(herk),
    .solve = NAME(solve),
    .times = NAME(times),
    .cholesky = NAME(cholesky),
    .invert = NAME(invert),
    .square = NAME(square),
    .qr = NAME(qr),
    .qr_panel = NAME(qr_panel),
    .apply = NAME(apply),
    .stack = NAME(stack),
    .apply_stack = NAME(apply_stack),
    .householder = NAME(householder),
    .dots = NAME(dots),
    .coefficients = NAME(coefficients),
    .rank1 = NAME(rank1),
    .reflector = NAME(reflector),
    .scale = NAME(scale),
    .scale_real = NAME(scale_real),
    .largest = NAME(largest),
    .copy = NAME(copy),
    .copy_adjoint = NAME(copy_adjoint),
    .add = NAME(add),
    .add_lower = NAME(add_lower),
    .copy_lower = NAME(copy_lower),
    .clear = NAME(clear),
    .make_unit_lower = NAME(make_unit_lower),
    .make_upper = NAME(make_upper),
};
