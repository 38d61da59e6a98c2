/* links: tests/conformance/story.c libcovey-domain */
/*
 * dense.c - dense algebra on teams: products beside plain loops, factorizations and solutions by
 * the ratios and thresholds of ScaLAPACK's tests (sizes 4 to 57 in blocks of 2 to 5) and of HPL.
 *
 *   dense MEMBERS          spawns the others, and tests on teams of 1 to MEMBERS - 1
 *   dense member MEMBERS   is what it spawns
 *
 * Every member knows all matrices; pieces are made by the formulas of the layout, not by the
 * library's. Rank 0 gathers results and judges them.
 */
#include <complex.h>
#include <float.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/domain/covey_domain.h"
#include "tests/conformance/story.h"

#define PAD 3          /* rows behind each piece, which nobody may touch */
#define PADDING 77.0   /* what stands there */
#define SCALAPACK 30.0 /* the threshold of its tests */
/* that of its test of inverses, which begins with n = 2 */
#define INVERSE(n) ((n) < 2 ? 3.0 : 1.0)
#define HPL 16.0

static covey_team_t *team; /* of the checks that run */
static const struct covey_domain_network network = {
    .members = 1, .hosts = 1, .alpha_s = 20e-6, .beta_s = 1e-9};

static void check_case(const char *what, const char *of, int good)
{
    char name[300];
    snprintf(name, sizeof name, "%s: %s, %d members: %s", of, what, covey_team_size(team),
             good ? "" : covey_domain_error_text());
    check(name, good);
}

/* ---- Matrices -------------------------------------------------------------------------------- */

struct matrix {
    int64_t m, n;
    double complex *at;
};

static struct matrix matrix_new(int64_t m, int64_t n)
{
    return (struct matrix){m, n, calloc((size_t)(m * n) + 1, sizeof(double complex))};
}

static double complex *element(const struct matrix *a, int64_t i, int64_t j)
{
    return &a->at[i + j * a->m];
}

static double number(uint64_t seed)
{
    seed = (seed + 1) * 0x9e3779b97f4a7c15u;
    seed = (seed ^ seed >> 30) * 0xbf58476d1ce4e5b9u;
    seed = (seed ^ seed >> 27) * 0x94d049bb133111ebu;
    return (double)(int64_t)(seed ^ seed >> 31) / 9.3e18;
}

static int is_complex(int type)
{
    return type == COVEY_COMPLEX_DOUBLE || type == COVEY_COMPLEX_FLOAT;
}

static int is_single(int type)
{
    return type == COVEY_FLOAT || type == COVEY_COMPLEX_FLOAT;
}

static size_t bytes_of(int type)
{
    return (is_single(type) ? sizeof(float) : sizeof(double)) * (is_complex(type) ? 2 : 1);
}

/* Half of the distance from 1 to the next number, as LAPACK's eps. */
static double eps_of(int type)
{
    return is_single(type) ? FLT_EPSILON / 2 : DBL_EPSILON / 2;
}

/* Random numbers between -1 and 1, which a float holds exactly where the type is single. */
static struct matrix matrix_random(int64_t m, int64_t n, int type, uint64_t seed)
{
    struct matrix a = matrix_new(m, n);
    for (int64_t i = 0; i < m * n; i++) {
        double re = number(seed + 2 * (uint64_t)i), im = number(seed + 2 * (uint64_t)i + 1);
        if (is_single(type)) {
            re = (float)re;
            im = (float)im;
        }
        a.at[i] = re + (is_complex(type) ? I * im : 0);
    }
    return a;
}

/* c += scale * a b */
static void multiply(double complex scale, const struct matrix *a, const struct matrix *b,
                     struct matrix *c)
{
    for (int64_t j = 0; j < b->n; j++)
        for (int64_t k = 0; k < a->n; k++)
            for (int64_t i = 0; i < a->m; i++)
                *element(c, i, j) += scale * *element(a, i, k) * *element(b, k, j);
}

/* NaN is the largest number of all. */
static double larger(double a, double b)
{
    return isnan(a) || a >= b ? a : b;
}

/* The largest sum of a row. */
static double norm(const struct matrix *a)
{
    double most = 0;
    for (int64_t i = 0; i < a->m; i++) {
        double sum = 0;
        for (int64_t j = 0; j < a->n; j++)
            sum += cabs(*element(a, i, j));
        most = larger(sum, most);
    }
    return most;
}

static struct matrix copy_of(const struct matrix *a)
{
    struct matrix c = matrix_new(a->m, a->n);
    memcpy(c.at, a->at, (size_t)(a->m * a->n) * sizeof *c.at);
    return c;
}

/* ---- Typed arrays ---------------------------------------------------------------------------- */

static void put(void *array, int type, int64_t at, double complex x)
{
    switch (type) {
    case COVEY_DOUBLE:
        ((double *)array)[at] = creal(x);
        break;
    case COVEY_FLOAT:
        ((float *)array)[at] = (float)creal(x);
        break;
    case COVEY_COMPLEX_DOUBLE:
        ((double complex *)array)[at] = x;
        break;
    default:
        ((float complex *)array)[at] = (float complex)x;
    }
}

static double complex get(const void *array, int type, int64_t at)
{
    return type == COVEY_DOUBLE           ? ((const double *)array)[at]
           : type == COVEY_FLOAT          ? ((const float *)array)[at]
           : type == COVEY_COMPLEX_DOUBLE ? ((const double complex *)array)[at]
                                          : ((const float complex *)array)[at];
}

/* The caller's piece of a plan's matrix, with a leading dimension that is larger than it must be.
 */
struct piece {
    struct covey_dense_part part;
    int type;
    int64_t ld;
    void *at;
};

static int64_t row_of(const struct covey_dense_part *p, int64_t i)
{
    return (i / p->block * p->rows + p->row) * p->block + i % p->block;
}

static int64_t column_of(const struct covey_dense_part *p, int64_t j)
{
    return (j / p->block * p->columns + p->column) * p->block + j % p->block;
}

static struct piece piece_new(const covey_dense_t *plan, int which, int type,
                              const struct matrix *whole)
{
    struct piece piece = {.type = type};
    check("a piece", covey_dense_local(plan, which, &piece.part) == 0);
    piece.ld = piece.part.ld + PAD;
    size_t count = (size_t)(piece.ld * piece.part.local_n);
    piece.at = calloc(count + 1, bytes_of(type));
    for (size_t i = 0; i < count; i++)
        put(piece.at, type, (int64_t)i, PADDING);
    for (int64_t j = 0; whole != NULL && j < piece.part.local_n; j++)
        for (int64_t i = 0; i < piece.part.local_m; i++)
            put(piece.at, type, i + j * piece.ld,
                *element(whole, row_of(&piece.part, i), column_of(&piece.part, j)));
    return piece;
}

static int padding_is_kept(const struct piece *piece)
{
    int kept = 1;
    for (int64_t j = 0; j < piece->part.local_n; j++)
        for (int64_t i = piece->part.local_m; i < piece->ld; i++)
            kept &= creal(get(piece->at, piece->type, i + j * piece->ld)) == PADDING;
    return kept;
}

/* What all have together, at rank 0; elsewhere zeros. */
static struct matrix gathered(covey_dense_t *plan, int which, const struct piece *piece)
{
    struct matrix all = matrix_new(piece->part.m, piece->part.n);
    int64_t ld = all.m + 2;
    void *array = calloc((size_t)(ld * all.n) + 1, bytes_of(piece->type));
    check("gathers", covey_dense_gather(plan, which, piece->at, piece->ld, array, ld) == 0);
    for (int64_t j = 0; j < all.n; j++)
        for (int64_t i = 0; i < all.m; i++)
            *element(&all, i, j) = get(array, piece->type, i + j * ld);
    free(array);
    return all;
}

/* ---- Cases ----------------------------------------------------------------------------------- */

static const int types[] = {COVEY_DOUBLE, COVEY_COMPLEX_DOUBLE, COVEY_FLOAT, COVEY_COMPLEX_FLOAT};
static const int64_t sizes[] = {4, 10, 17, 13, 23, 31, 57, 1, 2, 0}; /* ScaLAPACK's, and less */
static const char *const bcasts[] = {"1ring", "1ringM", "2ring", "2ringM", "tree", "long"};
static const char *const swaps[] = {"binary", "roll"};
static unsigned turn; /* goes on from case to case, so that all values meet */

#define NEXT(list, step) list[turn / (step) % (sizeof(list) / sizeof *(list))]

static void next_options(char *text, size_t size, const char *algorithm, const int grid[2])
{
    static const int blocks[] = {2, 3, 4, 5};
    turn++;
    snprintf(text, size, "%s,grid=%dx%d,block=%d,bcast=%s,swap=%s,lookahead=%d", algorithm, grid[0],
             grid[1], NEXT(blocks, 1), NEXT(bcasts, 1), NEXT(swaps, 2), (int)(turn / 3 % 2));
}

static covey_dense_t *plan_of(const struct covey_dense_problem *problem, const char *options)
{
    covey_dense_t *plan = NULL;
    int error = covey_dense_plan(team, problem, options, &network, &plan);
    check_case("is planned", options != NULL ? options : "chosen", error == 0 && plan != NULL);
    return plan;
}

/* ---- Products -------------------------------------------------------------------------------- */

static void check_gemm(const char *algorithm, const int grid[2])
{
    char options[100], name[200];
    next_options(options, sizeof options, algorithm, grid);
    struct covey_dense_problem p = {.op = COVEY_DENSE_GEMM,
                                    .type = NEXT(types, 1),
                                    .m = NEXT(sizes, 1),
                                    .n = NEXT(sizes, 3),
                                    .k = NEXT(sizes, 7)};
    snprintf(name, sizeof name, "product %lld x %lld x %lld of type %d, %s", (long long)p.m,
             (long long)p.n, (long long)p.k, p.type, options);
    covey_dense_t *plan = plan_of(&p, options);
    if (plan == NULL)
        return;
    double complex alpha = turn % 3 == 0 ? 1 : 0.5, beta = turn % 4 == 0 ? 0 : -2;
    double complex scalars[2];
    put(&scalars[0], p.type, 0, alpha);
    put(&scalars[1], p.type, 0, beta);
    struct matrix wa = matrix_random(p.m, p.k, p.type, turn), wb, wc;
    wb = matrix_random(p.k, p.n, p.type, turn + 10000);
    wc = matrix_random(p.m, p.n, p.type, turn + 20000);
    for (int64_t i = 0; beta == 0 && i < p.m * p.n; i++)
        wc.at[i] = NAN; /* is not read */
    struct piece a = piece_new(plan, COVEY_DENSE_A, p.type, &wa);
    struct piece b = piece_new(plan, COVEY_DENSE_B, p.type, &wb);
    struct piece c = piece_new(plan, COVEY_DENSE_C, p.type, &wc);
    int error =
        covey_dense_gemm(plan, &scalars[0], a.at, a.ld, b.at, b.ld, &scalars[1], c.at, c.ld);
    check_case("multiplies", name, error == 0);
    check_case("keeps the padding", name, padding_is_kept(&c) && padding_is_kept(&a));
    struct matrix got = gathered(plan, COVEY_DENSE_C, &c), wanted = matrix_new(p.m, p.n);
    if (covey_team_rank(team) == 0) {
        for (int64_t i = 0; beta != 0 && i < p.m * p.n; i++)
            wanted.at[i] = beta * wc.at[i];
        multiply(alpha, &wa, &wb, &wanted);
        double most = 0, allowed = 4 * eps_of(p.type) * ((double)p.k + 4);
        for (int64_t i = 0; i < p.m * p.n; i++)
            most = larger(cabs(got.at[i] - wanted.at[i]), most);
        check_case("is the product", name, most <= allowed);
    }
    covey_dense_free(&plan);
    void *all[] = {wa.at, wb.at, wc.at, a.at, b.at, c.at, got.at, wanted.at};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
}

/* ---- Factors --------------------------------------------------------------------------------- */

/* |P A - L U| / (|A| eps n) */
static double factors_ratio(const struct matrix *a, const struct matrix *lu, const int64_t *pivots,
                            double eps)
{
    int64_t least = a->m < a->n ? a->m : a->n;
    struct matrix l = matrix_new(a->m, least), u = matrix_new(least, a->n), rest = copy_of(a);
    for (int64_t k = 0; k < least; k++)
        for (int64_t j = 0; j < a->n && pivots[k] != k; j++) {
            double complex kept = *element(&rest, k, j);
            *element(&rest, k, j) = *element(&rest, pivots[k], j);
            *element(&rest, pivots[k], j) = kept;
        }
    for (int64_t k = 0; k < least; k++) {
        for (int64_t i = k; i < a->m; i++)
            *element(&l, i, k) = i == k ? 1 : *element(lu, i, k);
        for (int64_t j = k; j < a->n; j++)
            *element(&u, k, j) = *element(lu, k, j);
    }
    multiply(-1, &l, &u, &rest);
    double ratio = norm(&rest) / (norm(a) * eps * (double)(least > 0 ? least : 1));
    free(l.at);
    free(u.at);
    free(rest.at);
    return a->m * a->n == 0 ? 0 : ratio;
}

/* The largest |A x - b| / (|x| |A| eps n) of a column, and HPL's |A x - b| / (eps n (|A| |x| +
 * |b|)) behind it. */
static void solution_ratios(const struct matrix *a, const struct matrix *x, const struct matrix *b,
                            double eps, double ratios[2])
{
    struct matrix rest = copy_of(b);
    multiply(-1, a, x, &rest);
    ratios[0] = ratios[1] = 0;
    for (int64_t j = 0; j < b->n && a->n > 0; j++) {
        double r = 0, size = 0, right = 0, n = (double)a->n;
        for (int64_t i = 0; i < a->n; i++) {
            r = larger(cabs(*element(&rest, i, j)), r);
            size = larger(size, cabs(*element(x, i, j)));
            right = larger(right, cabs(*element(b, i, j)));
        }
        double first = r / (size * norm(a) * eps * n);
        double second = r / (eps * n * (norm(a) * size + right));
        ratios[0] = larger(first, ratios[0]);
        ratios[1] = larger(second, ratios[1]);
    }
    free(rest.at);
}

static void judge_solution(const char *name, const struct matrix *a, const struct matrix *x,
                           const struct matrix *b, double eps)
{
    double ratios[2];
    char what[80];
    solution_ratios(a, x, b, eps, ratios);
    snprintf(what, sizeof what, "ScaLAPACK's ratio %.3g is below 30", ratios[0]);
    check_case(what, name, ratios[0] < SCALAPACK);
    snprintf(what, sizeof what, "HPL's ratio %.3g is below 16", ratios[1]);
    check_case(what, name, ratios[1] < HPL);
}

/* Partial pivoting takes the row of the largest |re| + |im| in each step: real multipliers are not
 * above 1, complex ones not above its square root of 2 by absolute value. */
static double largest_multiplier(const struct matrix *lu)
{
    double most = 0;
    for (int64_t j = 0; j < lu->n; j++)
        for (int64_t i = j + 1; i < lu->m; i++) {
            most = fmax(most, cabs(*element(lu, i, j)));
        }
    return most;
}

/* All members have the same pivots. */
static int same_at_all(const int64_t *pivots, int64_t count)
{
    int64_t *first = calloc((size_t)count + 1, sizeof *first);
    memcpy(first, pivots, (size_t)count * sizeof *first);
    int good = covey_bcast(team, 0, COVEY_INT64, first, (size_t)count) == 0 &&
               memcmp(first, pivots, (size_t)count * sizeof *first) == 0;
    free(first);
    return good;
}

/* |1 - A X| / (n |A| |X| eps) */
static double inverse_ratio(const struct matrix *a, const struct matrix *x, double eps)
{
    struct matrix rest = matrix_new(a->n, a->n);
    for (int64_t i = 0; i < a->n; i++)
        *element(&rest, i, i) = 1;
    multiply(-1, a, x, &rest);
    double ratio = norm(&rest) / ((double)a->n * norm(a) * norm(x) * eps);
    free(rest.at);
    return a->n == 0 ? 0 : ratio;
}

/* The piece has the factors of `whole`. */
static void check_inverse(covey_dense_t *plan, const char *name, const struct matrix *whole,
                          struct piece *a, const int64_t *pivots)
{
    int error = covey_dense_lu_inverse(plan, a->at, a->ld, pivots);
    check_case("is inverted", name, error == 0 && padding_is_kept(a));
    struct matrix x = gathered(plan, COVEY_DENSE_A, a);
    if (covey_team_rank(team) == 0) {
        char what[80];
        double ratio = inverse_ratio(whole, &x, eps_of(a->type));
        snprintf(what, sizeof what, "ScaLAPACK's ratio of the inverse is %.3g", ratio);
        check_case(what, name, ratio <= INVERSE(whole->n));
    }
    free(x.at);
}

static void check_lu(const char *algorithm, const int grid[2], int is_square)
{
    char options[100], name[200];
    next_options(options, sizeof options, algorithm, grid);
    struct covey_dense_problem p = {.op = COVEY_DENSE_LU,
                                    .type = NEXT(types, 2),
                                    .m = NEXT(sizes, 1),
                                    .n = NEXT(sizes, 1),
                                    .r = (int64_t[]){1, 3, 9, 0}[turn % 4]};
    if (!is_square)
        p.n = NEXT(sizes, 3);
    snprintf(name, sizeof name, "LU %lld x %lld, %lld right, of type %d, %s", (long long)p.m,
             (long long)p.n, (long long)p.r, p.type, options);
    covey_dense_t *plan = plan_of(&p, options);
    if (plan == NULL)
        return;
    int64_t least = p.m < p.n ? p.m : p.n;
    int64_t *pivots = calloc((size_t)least + 1, sizeof *pivots);
    struct matrix wa = matrix_random(p.m, p.n, p.type, turn + 30000);
    struct matrix wb = matrix_random(p.m, p.r, p.type, turn + 40000);
    struct piece a = piece_new(plan, COVEY_DENSE_A, p.type, &wa);
    struct piece b = piece_new(plan, COVEY_DENSE_B, p.type, &wb);
    check_case("factors", name, covey_dense_lu(plan, a.at, a.ld, pivots) == 0);
    check_case("keeps the padding", name, padding_is_kept(&a));
    check_case("pivots are the same", name, same_at_all(pivots, least));
    struct matrix lu = gathered(plan, COVEY_DENSE_A, &a);
    if (covey_team_rank(team) == 0) {
        char what[80];
        double ratio = factors_ratio(&wa, &lu, pivots, eps_of(p.type));
        snprintf(what, sizeof what, "|PA - LU| is %.3g, below 30", ratio);
        check_case(what, name, ratio < SCALAPACK);
        if (strcmp(algorithm, "tournament") != 0)
            check_case("no multiplier is too large", name,
                       largest_multiplier(&lu) <=
                           (is_complex(p.type) ? sqrt(2) : 1) + 4 * eps_of(p.type));
    }
    if (is_square) {
        int error = covey_dense_lu_solve(plan, a.at, a.ld, pivots, b.at, b.ld);
        check_case("solves", name, error == 0 && padding_is_kept(&b));
        struct matrix x = gathered(plan, COVEY_DENSE_B, &b);
        if (covey_team_rank(team) == 0)
            judge_solution(name, &wa, &x, &wb, eps_of(p.type));
        free(x.at);
        check_inverse(plan, name, &wa, &a, pivots);
    }
    covey_dense_free(&plan);
    void *all[] = {pivots, wa.at, wb.at, a.at, b.at, lu.at};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
}

static void check_solve(const char *algorithm, const int grid[2])
{
    char options[100], name[200];
    next_options(options, sizeof options, algorithm, grid);
    int is_float = strcmp(algorithm, "float") == 0;
    struct covey_dense_problem p = {.op = COVEY_DENSE_SOLVE,
                                    .type = types[turn % (is_float ? 2 : 4)],
                                    .n = NEXT(sizes, 1),
                                    .r = (int64_t[]){1, 2, 5, 7}[turn / 2 % 4]};
    snprintf(name, sizeof name, "solve %lld, %lld right, of type %d, %s", (long long)p.n,
             (long long)p.r, p.type, options);
    covey_dense_t *plan = plan_of(&p, options);
    if (plan == NULL)
        return;
    struct matrix wa = matrix_random(p.n, p.n, p.type, turn + 50000);
    struct matrix wb = matrix_random(p.n, p.r, p.type, turn + 60000);
    struct piece a = piece_new(plan, COVEY_DENSE_A, p.type, &wa);
    struct piece b = piece_new(plan, COVEY_DENSE_B, p.type, &wb);
    check_case("solves", name, covey_dense_solve(plan, a.at, a.ld, b.at, b.ld) == 0);
    check_case("keeps the padding", name, padding_is_kept(&a) && padding_is_kept(&b));
    struct matrix x = gathered(plan, COVEY_DENSE_B, &b);
    if (covey_team_rank(team) == 0)
        judge_solution(name, &wa, &x, &wb, eps_of(p.type));
    covey_dense_free(&plan);
    void *all[] = {wa.at, wb.at, a.at, b.at, x.at};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
}

/* Every grid of this team, and one that leaves members out. */
static void check_grids(void)
{
    int size = covey_team_size(team);
    for (int rows = 1; rows <= size; rows++) {
        int grid[] = {rows, size / rows};
        if (size % rows != 0 && rows > 2)
            continue;
        for (int round = 0; round < 3; round++) {
            check_gemm("summa", grid);
            check_lu("block", grid, 1);
            check_lu("tournament", grid, 1);
        }
        check_gemm("local", grid);
        check_lu("local", grid, 1);
        check_lu("block", grid, 0);
        check_lu("tournament", grid, 0);
        check_solve("local", grid);
        check_solve("block", grid);
        check_solve("float", grid);
        check_solve("float", grid);
        if (rows == 1)
            check_lu("column", grid, 1);
    }
}

/* ---- What is defined --------------------------------------------------------------------------
 */

enum special { SINGULAR, ZERO, NOT_A_NUMBER, INFINITE, TINY };

static struct matrix special_matrix(enum special kind, int64_t n)
{
    struct matrix a = matrix_random(n, n, COVEY_DOUBLE, 7);
    for (int64_t i = 0; i < n; i++)
        if (kind == SINGULAR)
            *element(&a, i, 5) = 0;
    for (int64_t i = 0; i < n * n; i++) {
        if (kind == ZERO)
            a.at[i] = 0;
        if (kind == TINY)
            a.at[i] *= 1e-300;
    }
    if (kind == NOT_A_NUMBER)
        *element(&a, 3, 2) = NAN;
    if (kind == INFINITE)
        *element(&a, 3, 2) = INFINITY;
    return a;
}

/* A column of zeros stays one: its pivot is the first that is 0. NaN ends nothing, and is seen. */
static void check_special(enum special kind, const char *algorithm, const char *more)
{
    char options[100];
    struct covey_dense_problem p = {
        .op = COVEY_DENSE_LU, .type = COVEY_DOUBLE, .m = 13, .n = 13, .r = 1};
    snprintf(options, sizeof options, "%s,block=3%s", algorithm, more);
    covey_dense_t *plan = plan_of(&p, options);
    if (plan == NULL)
        return;
    int64_t pivots[13];
    struct matrix wa = special_matrix(kind, 13);
    struct piece a = piece_new(plan, COVEY_DENSE_A, p.type, &wa);
    int info = covey_dense_lu(plan, a.at, a.ld, pivots);
    static const int wanted[] = {6, 1, 0, 0, 0};
    check_case("the column of a pivot of 0", options,
               info == wanted[kind] || (info >= 0 && (kind == NOT_A_NUMBER || kind == INFINITE)));
    struct matrix lu = gathered(plan, COVEY_DENSE_A, &a);
    if (covey_team_rank(team) == 0) {
        double sum = norm(&lu);
        int is_seen = isnan(sum) || isinf(sum);
        if (kind == NOT_A_NUMBER || kind == INFINITE)
            check_case("what is no number is seen", options, is_seen);
        else
            check_case("is factored", options,
                       kind == TINY || kind == ZERO ||
                           factors_ratio(&wa, &lu, pivots, DBL_EPSILON / 2) < SCALAPACK);
        if (kind == TINY)
            check_case("tiny numbers have factors", options, !is_seen);
    }
    if (info > 0) {
        size_t bytes = (size_t)(a.ld * a.part.local_n) * sizeof(double);
        double *kept = malloc(bytes + 1);
        memcpy(kept, a.at, bytes);
        check_case("has no inverse", options,
                   covey_dense_lu_inverse(plan, a.at, a.ld, pivots) == info);
        check_case("and stays", options, memcmp(kept, a.at, bytes) == 0);
        free(kept);
    }
    covey_dense_free(&plan);
    free(wa.at);
    free(a.at);
    free(lu.at);
}

/* Single precision is not enough for a matrix of ill condition: the solution is that of double. */
static void check_fallback(void)
{
    struct covey_dense_problem p = {.op = COVEY_DENSE_SOLVE, .type = COVEY_DOUBLE, .n = 12, .r = 2};
    covey_dense_t *plan = plan_of(&p, "float,block=3");
    if (plan == NULL)
        return;
    struct matrix wa = matrix_new(12, 12), wb = matrix_random(12, 2, COVEY_DOUBLE, 9);
    for (int64_t i = 0; i < 12; i++)
        for (int64_t j = 0; j < 12; j++)
            *element(&wa, i, j) = 1 / (double)(i + j + 1); /* Hilbert's */
    struct piece a = piece_new(plan, COVEY_DENSE_A, p.type, &wa);
    struct piece b = piece_new(plan, COVEY_DENSE_B, p.type, &wb);
    check_case("solves", "Hilbert's matrix", covey_dense_solve(plan, a.at, a.ld, b.at, b.ld) == 0);
    struct matrix x = gathered(plan, COVEY_DENSE_B, &b);
    if (covey_team_rank(team) == 0)
        judge_solution("Hilbert's matrix", &wa, &x, &wb, DBL_EPSILON / 2);
    covey_dense_free(&plan);
    void *all[] = {wa.at, wb.at, a.at, b.at, x.at};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
}

/* A singular matrix is an answer, and leaves B as it was. */
static void check_singular_solve(const char *algorithm)
{
    struct covey_dense_problem p = {.op = COVEY_DENSE_SOLVE, .type = COVEY_DOUBLE, .n = 13, .r = 2};
    covey_dense_t *plan = plan_of(&p, algorithm);
    if (plan == NULL)
        return;
    struct matrix wa = special_matrix(SINGULAR, 13), wb = matrix_random(13, 2, COVEY_DOUBLE, 9);
    struct piece a = piece_new(plan, COVEY_DENSE_A, p.type, &wa);
    struct piece b = piece_new(plan, COVEY_DENSE_B, p.type, &wb), kept;
    kept = piece_new(plan, COVEY_DENSE_B, p.type, &wb);
    check_case("tells the column", algorithm, covey_dense_solve(plan, a.at, a.ld, b.at, b.ld) == 6);
    check_case("keeps B", algorithm,
               memcmp(b.at, kept.at, (size_t)(b.ld * b.part.local_n) * sizeof(double)) == 0);
    covey_dense_free(&plan);
    void *all[] = {wa.at, wb.at, a.at, b.at, kept.at};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
}

static void check_specials(void)
{
    for (enum special kind = SINGULAR; kind <= TINY; kind++) {
        check_special(kind, "local", "");
        check_special(kind, "block", ",lookahead=1");
        check_special(kind, "tournament", ",lookahead=0");
    }
    check_fallback();
    check_singular_solve("local");
    check_singular_solve("block,block=2");
    check_singular_solve("tournament,block=3");
    check_singular_solve("float,block=3");
}

/* ---- Layout ---------------------------------------------------------------------------------- */

/* Each element is where its place says, whole matrices go to pieces and back. */
static void check_layout(void)
{
    struct covey_dense_problem p = {
        .op = COVEY_DENSE_GEMM, .type = COVEY_DOUBLE, .m = 11, .n = 7, .k = 5};
    covey_dense_t *plan = plan_of(&p, "block=2");
    if (plan == NULL)
        return;
    struct matrix whole = matrix_random(11, 7, COVEY_DOUBLE, 3);
    double *array = calloc(13 * 7, sizeof *array);
    for (int64_t j = 0; j < 7; j++)
        for (int64_t i = 0; i < 11; i++)
            array[i + 13 * j] = creal(*element(&whole, i, j));
    struct piece c = piece_new(plan, COVEY_DENSE_C, COVEY_DOUBLE, NULL);
    check("scatters", covey_dense_scatter(plan, COVEY_DENSE_C, array, 13, c.at, c.ld) == 0);
    int good = 1, own = 0, outside = 0;
    for (int64_t j = 0; j < 7; j++)
        for (int64_t i = 0; i < 11; i++) {
            int64_t at[2];
            int rank = covey_dense_place(plan, COVEY_DENSE_C, i, j, at);
            outside |= rank < 0 || rank >= covey_team_size(team);
            if (rank != covey_team_rank(team))
                continue;
            own++;
            good &= ((double *)c.at)[at[0] + at[1] * c.ld] == array[i + 13 * j];
        }
    check("elements are in their places", good && !outside);
    check("the piece is theirs", own == c.part.local_m * c.part.local_n);
    struct matrix back = gathered(plan, COVEY_DENSE_C, &c);
    if (covey_team_rank(team) == 0)
        check("pieces are the whole again",
              memcmp(back.at, whole.at, 11 * 7 * sizeof *whole.at) == 0);
    covey_dense_free(&plan);
    free(whole.at);
    free(back.at);
    free(array);
    free(c.at);
}

/* ---- What is refused ------------------------------------------------------------------------- */

static void check_refused(const char *why, const struct covey_dense_problem *problem,
                          const char *options)
{
    covey_dense_t *plan = (covey_dense_t *)&plan;
    int error = covey_dense_plan(team, problem, options, &network, &plan);
    check_case("is refused", why, error == COVEY_EINVAL && plan == NULL);
    check_case("says why", why, covey_domain_error_text()[0] != '\0');
}

static void check_refusals(void)
{
    struct covey_dense_problem good = {
        .op = COVEY_DENSE_LU, .type = COVEY_DOUBLE, .m = 8, .n = 8, .r = 1};
    struct covey_dense_problem op = good, type = good, negative = good, large = good, many = good;
    op.op = 77;
    type.type = COVEY_INT32;
    negative.m = -1;
    large.n = (int64_t)1 << 31;
    many.m = many.n = INT32_MAX;
    check_refused("no problem", NULL, NULL);
    check_refused("no such operation", &op, NULL);
    check_refused("integers", &type, NULL);
    check_refused("a size below 0", &negative, NULL);
    check_refused("a size of 2^31", &large, NULL);
    check_refused("2^62 elements", &many, NULL);
    check_refused("no such algorithm", &good, "lu=magic");
    check_refused("no such option", &good, "speed=high");
    check_refused("no such broadcast", &good, "bcast=3ring");
    check_refused("a grid of others", &good, "grid=99x2");
    check_refused("a grid that is none", &good, "grid=1y1");
    check_refused("a block of 0", &good, "block=0");
    check_refused("a block that is no number", &good, "block=8k");
    check_refused("factors of another precision", &good, "float");
    if (covey_team_size(team) == 1)
        return;
    check_refused("columns in a grid of two rows", &good, "column,grid=2x1");
    struct covey_dense_problem other = good;
    other.n = 9;
    check_refused("one member's size", covey_team_rank(team) == 1 ? &other : &good, NULL);
    check_refused("one member's options", &good, covey_team_rank(team) == 1 ? "lu=x" : NULL);
}

/* Arguments of operations that are wrong at one member: an error at all, and the plan stays. */
static void check_arguments(void)
{
    struct covey_dense_problem p = {
        .op = COVEY_DENSE_LU, .type = COVEY_DOUBLE, .m = 8, .n = 8, .r = 1};
    covey_dense_t *plan = plan_of(&p, "block,block=2");
    if (plan == NULL)
        return;
    struct covey_dense_part part;
    struct matrix whole = matrix_random(8, 8, COVEY_DOUBLE, 3);
    struct piece a = piece_new(plan, COVEY_DENSE_A, COVEY_DOUBLE, &whole);
    int64_t pivots[8] = {0}, at[2];
    int first = covey_team_rank(team) == 0;
    double one = 1;
    check("a NULL at one", covey_dense_lu(plan, first ? NULL : a.at, a.ld, pivots) == COVEY_EINVAL);
    check("ld at one", covey_dense_lu(plan, a.at, first ? 1 : a.ld, pivots) == COVEY_EINVAL);
    check("no pivots", covey_dense_lu(plan, a.at, a.ld, NULL) == COVEY_EINVAL);
    check("pivots of others",
          covey_dense_lu_solve(plan, a.at, a.ld, pivots, a.at, a.ld) == COVEY_EINVAL);
    check("pivots of others to invert",
          covey_dense_lu_inverse(plan, a.at, a.ld, pivots) == COVEY_EINVAL);
    check("another operation",
          covey_dense_gemm(plan, &one, a.at, a.ld, a.at, a.ld, &one, a.at, a.ld) == COVEY_EINVAL);
    check("no such matrix", covey_dense_local(plan, COVEY_DENSE_C, &part) == COVEY_EINVAL);
    check("no such rank", covey_dense_local_of(plan, COVEY_DENSE_A, 99, &part) == COVEY_EINVAL);
    check("no such element", covey_dense_place(plan, COVEY_DENSE_A, 8, 0, at) == COVEY_EINVAL);
    check("the plan is still good", covey_dense_lu(plan, a.at, a.ld, pivots) == 0);
    covey_dense_free(&plan);
    free(whole.at);
    free(a.at);
}

static void check_nulls(void)
{
    struct covey_dense_problem p = {.op = COVEY_DENSE_LU, .type = COVEY_DOUBLE, .m = 8, .n = 8};
    covey_dense_t *none = NULL;
    struct covey_dense_part part;
    char text[10];
    check("no team", covey_dense_plan(NULL, &p, NULL, NULL, &none) == COVEY_EINVAL);
    check("no place", covey_dense_plan(team, &p, NULL, NULL, NULL) == COVEY_EINVAL);
    check("no plan of pieces", covey_dense_local(NULL, COVEY_DENSE_A, &part) == COVEY_EINVAL);
    check("no plan to explain", covey_dense_explain(NULL, text, sizeof text) == COVEY_EINVAL);
    check("no plan to factor", covey_dense_lu(NULL, text, 1, NULL) == COVEY_EINVAL);
    check("no plan to invert", covey_dense_lu_inverse(NULL, text, 1, NULL) == COVEY_EINVAL);
    check("no algorithm of no plan", covey_dense_algorithm(NULL) == NULL);
    covey_dense_free(NULL);
    covey_dense_free(&none);
}

/* A chosen plan, with a network that is measured; the environment counts. */
static void check_choice(void)
{
    struct covey_dense_problem p = {.op = COVEY_DENSE_SOLVE, .type = COVEY_DOUBLE, .n = 60, .r = 1};
    char text[1000];
    covey_dense_t *plan = NULL;
    check("a plan is chosen", covey_dense_plan(team, &p, NULL, NULL, &plan) == 0);
    int length = covey_dense_explain(plan, text, sizeof text);
    check("it is explained", length > 0 && length < (int)sizeof text &&
                                 strstr(text, "tournament") != NULL &&
                                 strstr(text, "grid=") != NULL);
    covey_dense_free(&plan);
    setenv("COVEY_DENSE", "lu=tournament,data=root,gemm=summa", 1);
    check("the environment counts", covey_dense_plan(team, &p, "block", &network, &plan) == 0 &&
                                        strcmp(covey_dense_algorithm(plan), "tournament") == 0);
    covey_dense_free(&plan);
    unsetenv("COVEY_DENSE");
    check("data at rank 0 stay there where it is faster",
          covey_dense_plan(team, &p, "local,data=root", &network, &plan) == 0);
    struct covey_dense_part part = {.rows = 0};
    covey_dense_local(plan, COVEY_DENSE_A, &part);
    check("a grid of one", part.rows == 1 && part.columns == 1);
    covey_dense_free(&plan);
}

/* ---- The story ------------------------------------------------------------------------------- */

static void tell_part(void)
{
    turn = 100 * (unsigned)covey_team_size(team); /* newcomers begin where the others are */
    check_layout();
    check_grids();
    check_specials();
    check_refusals();
    check_arguments();
    check_nulls();
    check_choice();
}

/* The last member ends while the others factor: all of them get an error. */
static void check_end(void)
{
    struct covey_dense_problem p = {.op = COVEY_DENSE_LU, .type = COVEY_DOUBLE, .m = 64, .n = 64};
    covey_dense_t *plan = plan_of(&p, "block,grid=2x2,block=4,bcast=1ringM");
    if (plan == NULL)
        return;
    struct matrix whole = matrix_random(64, 64, COVEY_DOUBLE, 3);
    struct piece a = piece_new(plan, COVEY_DENSE_A, COVEY_DOUBLE, &whole);
    int64_t pivots[64];
    check("it factors", covey_dense_lu(plan, a.at, a.ld, pivots) == 0);
    covey_barrier(team); /* it ends when all have factored: of those still in here some may fail */
    if (covey_team_rank(team) == covey_team_size(team) - 1)
        raise(SIGKILL);
    int error = 0;
    for (int i = 0; error >= 0 && i < 1000; i++)
        error = covey_dense_lu(plan, a.at, a.ld, pivots);
    check("a member's end is an error",
          error == COVEY_ENOTASK || error == COVEY_EHOSTFAIL || error == COVEY_ECANCELED);
    check("which has words", strlen(covey_domain_error_text()) > 20);
    covey_dense_free(&plan);
    free(whole.at);
    free(a.at);
}

static void tell(covey_team_t *all)
{
    story_parts(all, &team, tell_part);
    team = all;
    check_end();
}

int main(int argc, char **argv)
{
    static const struct story story = {.group = "dense", .members_max = 16, .tell = tell};
    return story_main(argc, argv, &story);
}
