/* links: tests/conformance/story.c libcovey-domain */
/*
 * dense_factor.c - Cholesky, QR and least squares of matrices that are spread over a team: all
 * algorithms, types and halves, on grids of 1 to MEMBERS - 1 tasks.
 *
 *   dense_factor MEMBERS          spawns the others, and tests on teams of 1 to MEMBERS - 1
 *   dense_factor member MEMBERS   is what it spawns
 *
 * Sizes, blocks, ratios and thresholds are those of ScaLAPACK's TESTING (LLT.dat, INV.dat, QR.dat,
 * LS.dat): blocks of 2 to 5 make ragged edges, and members without an element. Every member makes
 * the whole matrix; what comes out is collected and multiplied by rank 0.
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

#define LLT_THRESHOLD 3.0
#define INV_THRESHOLD(n) ((n) < 2 ? 3.0 : 1.0) /* ScaLAPACK begins with n = 2 */
#define QR_THRESHOLD 5.0
#define LS_THRESHOLD 4.0
#define PADDING 12345.0 /* between the columns of a piece */

typedef double complex number;

static covey_team_t *team; /* of the checks that run */
static unsigned turn;      /* of grids, blocks, types and leading dimensions: the same at all */

static const struct covey_domain_network network = {
    .members = 1, .hosts = 1, .alpha_s = 1e-5, .beta_s = 1e-9}; /* nothing is measured */

static void check_case(const char *what, const char *of, int good)
{
    char name[300];
    snprintf(name, sizeof name, "%s: %s, %d members: %s", of, what, covey_team_size(team),
             good ? "" : covey_domain_error_text());
    check(name, good);
}

static int is_root(void)
{
    return covey_team_rank(team) == 0;
}

/* ---- Numbers of all types -------------------------------------------------------------------- */

static const int types[] = {COVEY_DOUBLE, COVEY_COMPLEX_DOUBLE, COVEY_FLOAT, COVEY_COMPLEX_FLOAT};

static int is_complex(int type)
{
    return type == COVEY_COMPLEX_DOUBLE || type == COVEY_COMPLEX_FLOAT;
}

static double epsilon_of(int type)
{
    return (type == COVEY_DOUBLE || type == COVEY_COMPLEX_DOUBLE ? DBL_EPSILON : FLT_EPSILON) / 2;
}

static void put(int type, void *at, number x)
{
    if (type == COVEY_DOUBLE)
        *(double *)at = creal(x);
    else if (type == COVEY_FLOAT)
        *(float *)at = (float)creal(x);
    else if (type == COVEY_COMPLEX_DOUBLE)
        *(double complex *)at = x;
    else
        *(float complex *)at = (float complex)x;
}

static number get(int type, const void *at)
{
    return type == COVEY_DOUBLE           ? *(const double *)at
           : type == COVEY_FLOAT          ? *(const float *)at
           : type == COVEY_COMPLEX_DOUBLE ? *(const double complex *)at
                                          : *(const float complex *)at;
}

/* Between -1 and 1, the same at all members, and exactly of the type. */
static number element(int type, uint64_t seed)
{
    double parts[2];
    char bytes[16];
    for (uint64_t i = 0; i < 2; i++) {
        uint64_t x = (2 * seed + i + 1) * 0x9e3779b97f4a7c15u;
        x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
        x = (x ^ x >> 27) * 0x94d049bb133111ebu;
        parts[i] = (double)(int64_t)(x ^ x >> 31) / 9.3e18;
    }
    put(type, bytes, is_complex(type) ? parts[0] + parts[1] * I : parts[0]);
    return get(type, bytes);
}

/* ---- Matrices -------------------------------------------------------------------------------- */

struct matrix {
    int64_t m, n;
    number *x; /* by columns */
};

static struct matrix matrix_new(int64_t m, int64_t n)
{
    return (struct matrix){m, n, calloc((size_t)(m * n) + 1, sizeof(number))};
}

static number *at(const struct matrix *a, int64_t i, int64_t j)
{
    return &a->x[i + j * a->m];
}

static struct matrix matrix_random(int type, int64_t m, int64_t n, uint64_t seed)
{
    struct matrix a = matrix_new(m, n);
    for (int64_t i = 0; i < m * n; i++)
        a.x[i] = element(type, seed * 100000 + (uint64_t)i);
    return a;
}

/* Symmetric or Hermitian, with a diagonal that makes it positive definite. */
static struct matrix matrix_definite(int type, int64_t n, uint64_t seed)
{
    struct matrix a = matrix_random(type, n, n, seed);
    for (int64_t j = 0; j < n; j++) {
        for (int64_t i = 0; i < j; i++)
            *at(&a, i, j) = conj(*at(&a, j, i));
        *at(&a, j, j) = fabs(creal(*at(&a, j, j))) + (double)n;
    }
    return a;
}

static double norm1(const struct matrix *a)
{
    double largest = 0;
    for (int64_t j = 0; j < a->n; j++) {
        double sum = 0;
        for (int64_t i = 0; i < a->m; i++)
            sum += cabs(*at(a, i, j));
        if (!(sum <= largest) && !isnan(largest))
            largest = sum;
    }
    return largest;
}

/* c -= op(a) b; with `adjoint` op is the conjugate transpose. */
static void subtract_product(const struct matrix *a, int adjoint, const struct matrix *b,
                             const struct matrix *c)
{
    for (int64_t j = 0; j < c->n; j++)
        for (int64_t i = 0; i < c->m; i++)
            for (int64_t k = 0; k < b->m; k++)
                *at(c, i, j) -= (adjoint ? conj(*at(a, k, i)) : *at(a, i, k)) * *at(b, k, j);
}

static struct matrix matrix_copy(const struct matrix *a)
{
    struct matrix copy = matrix_new(a->m, a->n);
    memcpy(copy.x, a->x, (size_t)(a->m * a->n) * sizeof(number));
    return copy;
}

/* ---- Pieces ---------------------------------------------------------------------------------- */

struct piece {
    covey_dense_t *plan;
    int which, type;
    size_t width;
    int64_t ld;
    struct covey_dense_part part;
    char *x;
};

static int64_t global(int64_t local, int64_t block, int me, int members)
{
    return (local / block * members + me) * block + local % block;
}

static void *piece_at(const struct piece *p, int64_t i, int64_t j)
{
    return p->x + (size_t)(i + j * p->ld) * p->width;
}

/* What of the matrix is this member's, with a leading dimension of now and then 3 more; NULL where
 * it has nothing. */
static struct piece piece_of(covey_dense_t *plan, int which, int type, const struct matrix *a)
{
    struct piece p = {.plan = plan, .which = which, .type = type, .width = covey_type_size(type)};
    check("a piece", covey_dense_local(plan, which, &p.part) == 0);
    p.ld = p.part.ld + (turn % 2 == 0 ? 3 : 0);
    if (p.part.local_m == 0 || p.part.local_n == 0)
        return p;
    p.x = calloc((size_t)(p.ld * p.part.local_n) + 1, p.width);
    for (int64_t j = 0; j < p.part.local_n; j++)
        for (int64_t i = 0; i < p.ld; i++) {
            int64_t row = global(i, p.part.block, p.part.row, p.part.rows);
            int64_t column = global(j, p.part.block, p.part.column, p.part.columns);
            put(type, piece_at(&p, i, j), i < p.part.local_m ? *at(a, row, column) : PADDING);
        }
    return p;
}

/* All of it at rank 0; elsewhere nothing. Frees the piece. */
static struct matrix collect(struct piece *p, const char *name)
{
    struct matrix a = matrix_new(p->part.m, p->part.n);
    char *whole = calloc((size_t)(a.m * a.n) + 1, p->width);
    int kept = 1;
    check_case("is collected", name,
               covey_dense_gather(p->plan, p->which, p->x, p->ld, whole, a.m > 0 ? a.m : 1) == 0);
    for (int64_t i = 0; i < a.m * a.n; i++)
        a.x[i] = get(p->type, whole + (size_t)i * p->width);
    for (int64_t j = 0; p->x != NULL && j < p->part.local_n; j++)
        for (int64_t i = p->part.local_m; i < p->ld; i++)
            kept = kept && creal(get(p->type, piece_at(p, i, j))) == PADDING;
    check_case("leaves what is between columns", name, kept);
    free(whole);
    free(p->x);
    return a;
}

/* ---- Plans ----------------------------------------------------------------------------------- */

struct grid {
    int rows, columns;
};

/* The turn-th of all grids that the team has members for, those of all members more often. */
static struct grid grid_of_turn(void)
{
    struct grid grids[64];
    unsigned count = 0;
    int size = covey_team_size(team);
    for (int rows = 1; rows <= size; rows++)
        for (int columns = 1; rows * columns <= size; columns++)
            for (int i = 0; i < (rows * columns == size ? 3 : 1) && count < 64; i++)
                grids[count++] = (struct grid){rows, columns};
    return grids[turn * 7 % count];
}

static covey_dense_t *plan_of(const struct covey_dense_problem *problem, const char *algorithm,
                              struct grid grid, char name[150])
{
    static const char *const bcasts[] = {"tree", "1ring", "2ringM", "long"};
    covey_dense_t *plan = NULL;
    char options[100], explained[1000];
    int block = 2 + (int)(turn % 4);
    snprintf(options, sizeof options, "%s,grid=%dx%d,block=%d,bcast=%s", algorithm, grid.rows,
             grid.columns, block, bcasts[turn / 4 % 4]);
    snprintf(name, 150, "%lld x %lld of %s, %s", (long long)problem->m, (long long)problem->n,
             covey_type_name(problem->type), options);
    int error = covey_dense_plan(team, problem, options, &network, &plan);
    check_case("is planned", name, error == 0);
    if (plan == NULL)
        return NULL;
    check_case("takes what is forced", name,
               strcmp(strchr(algorithm, '=') + 1, covey_dense_algorithm(plan)) == 0);
    covey_dense_explain(plan, explained, sizeof explained);
    check_case("is explained", name, strncmp(explained, "local", 5) == 0);
    return plan;
}

/* ---- Cholesky -------------------------------------------------------------------------------- */

/* NaN in the half that does not count. */
static struct matrix half_of(const struct matrix *a, int half)
{
    struct matrix h = matrix_copy(a);
    for (int64_t j = 0; j < a->n; j++)
        for (int64_t i = 0; i < a->m; i++)
            if (half == COVEY_DENSE_LOWER ? i < j : i > j)
                *at(&h, i, j) = NAN;
    return h;
}

/* Zeros there; says whether all were NaN. */
static int take_half(const struct matrix *a, int half)
{
    int kept = 1;
    for (int64_t j = 0; j < a->n; j++)
        for (int64_t i = 0; i < a->m; i++)
            if (half == COVEY_DENSE_LOWER ? i < j : i > j) {
                kept = kept && isnan(creal(*at(a, i, j)));
                *at(a, i, j) = 0;
            }
    return kept;
}

static double factor_ratio(const struct matrix *a, const struct matrix *factor, int half, int type)
{
    struct matrix rest = matrix_copy(a), adjoint = matrix_new(a->n, a->n);
    for (int64_t j = 0; j < a->n; j++)
        for (int64_t i = 0; i < a->n; i++)
            *at(&adjoint, i, j) = conj(*at(factor, j, i));
    if (half == COVEY_DENSE_LOWER)
        subtract_product(factor, 0, &adjoint, &rest);
    else
        subtract_product(&adjoint, 0, factor, &rest);
    double ratio = norm1(&rest) / (norm1(a) * (double)a->n * epsilon_of(type));
    free(rest.x);
    free(adjoint.x);
    return a->n == 0 ? 0 : ratio;
}

/* |B - A X| / (|A| |X| m eps) */
static double solve_ratio(const struct matrix *a, const struct matrix *x, const struct matrix *b,
                          int type)
{
    struct matrix rest = matrix_copy(b);
    subtract_product(a, 0, x, &rest);
    double ratio = norm1(&rest) / (norm1(a) * norm1(x) * (double)a->m * epsilon_of(type));
    free(rest.x);
    return a->m == 0 || x->n == 0 ? 0 : ratio;
}

/* Factors it, with NaN in the other half; the piece is left for what comes next. */
static int factor(covey_dense_t *plan, int half, const struct matrix *a, int type,
                  struct piece *piece)
{
    struct matrix h = half_of(a, half);
    *piece = piece_of(plan, COVEY_DENSE_A, type, &h);
    free(h.x);
    return covey_dense_cholesky(plan, half, piece->x, piece->ld);
}

/* |1 - A X| / (n |A| |X| eps), of the half of X that was computed. */
static double inverse_ratio(const struct matrix *a, struct matrix *x, int half, int type)
{
    struct matrix rest = matrix_new(a->n, a->n);
    for (int64_t j = 0; j < a->n; j++) {
        *at(&rest, j, j) = 1;
        for (int64_t i = 0; i < a->n; i++)
            if (half == COVEY_DENSE_LOWER ? i < j : i > j)
                *at(x, i, j) = conj(*at(x, j, i));
    }
    subtract_product(a, 0, x, &rest);
    double ratio = norm1(&rest) / ((double)a->n * norm1(a) * norm1(x) * epsilon_of(type));
    free(rest.x);
    return a->n == 0 ? 0 : ratio;
}

static void check_inverse(covey_dense_t *plan, const char *name, const struct matrix *a, int half,
                          int type)
{
    struct piece piece;
    check_case("is factored again", name, factor(plan, half, a, type, &piece) == 0);
    check_case("is inverted", name,
               covey_dense_cholesky_inverse(plan, half, piece.x, piece.ld) == 0);
    struct matrix x = collect(&piece, name);
    if (is_root()) {
        check_case("leaves the other half", name, take_half(&x, half));
        check_case("is the inverse", name, inverse_ratio(a, &x, half, type) <= INV_THRESHOLD(a->n));
    }
    free(x.x);
}

/* Whoever is late, the bits are the same. */
static void check_same_bits(covey_dense_t *plan, const char *name, const struct matrix *a, int type)
{
    struct piece first, again;
    check_case("is factored once", name, factor(plan, COVEY_DENSE_LOWER, a, type, &first) == 0);
    check_case("and once more", name, factor(plan, COVEY_DENSE_LOWER, a, type, &again) == 0);
    size_t bytes = (size_t)(first.ld * first.part.local_n) * first.width;
    check_case("has the same bits", name, first.x == NULL || memcmp(first.x, again.x, bytes) == 0);
    free(first.x);
    free(again.x);
}

/* A minor that is not positive definite, or a NaN on the diagonal. */
static void check_indefinite(covey_dense_t *plan, const char *name, const struct matrix *a,
                             int type)
{
    struct piece piece;
    for (int i = 0; i < 2; i++) {
        int64_t k = (int64_t)(turn * 5 + (unsigned)i) % a->n;
        struct matrix bad = matrix_copy(a);
        *at(&bad, k, k) = i == 0 ? -1 : NAN;
        int info = factor(plan, i == 0 ? COVEY_DENSE_LOWER : COVEY_DENSE_UPPER, &bad, type, &piece);
        check_case("names the minor that is not definite", name, info == (int)k + 1);
        free(piece.x);
        free(bad.x);
    }
}

static void check_cholesky(int64_t n, const char *algorithm, int type)
{
    char name[150];
    static const int64_t right_sides[] = {1, 3, 9, 28, 0};
    int half = turn / 2 % 2 == 0 ? COVEY_DENSE_LOWER : COVEY_DENSE_UPPER;
    struct covey_dense_problem problem = {
        .op = COVEY_DENSE_CHOLESKY, .type = type, .m = n, .n = n, .r = right_sides[turn % 5]};
    covey_dense_t *plan = plan_of(&problem, algorithm, grid_of_turn(), name);
    if (plan == NULL)
        return;
    struct matrix a = matrix_definite(type, n, turn);
    struct matrix b = matrix_random(type, n, problem.r, turn + 50);
    struct piece piece, sides = piece_of(plan, COVEY_DENSE_B, type, &b);
    check_case("is factored", name, factor(plan, half, &a, type, &piece) == 0);
    check_case("solves", name,
               covey_dense_cholesky_solve(plan, half, piece.x, piece.ld, sides.x, sides.ld) == 0);
    struct matrix l = collect(&piece, name), x = collect(&sides, name);
    if (is_root()) {
        check_case("leaves the other half", name, take_half(&l, half));
        check_case("is its factor", name, factor_ratio(&a, &l, half, type) <= LLT_THRESHOLD);
        check_case("is the solution", name, solve_ratio(&a, &x, &b, type) <= LLT_THRESHOLD);
    }
    check_inverse(plan, name, &a, half, type);
    if (strcmp(algorithm, "cholesky=tiles") == 0)
        check_same_bits(plan, name, &a, type);
    if (n > 0)
        check_indefinite(plan, name, &a, type);
    covey_dense_free(&plan);
    free(a.x);
    free(b.x);
    free(l.x);
    free(x.x);
}

/* ---- QR -------------------------------------------------------------------------------------- */

/* |A - Q R| / (m |A| eps), with R in the upper triangle of `factors`. */
static double qr_ratio(const struct matrix *a, const struct matrix *q, const struct matrix *factors,
                       int type)
{
    struct matrix rest = matrix_copy(a), r = matrix_new(q->n, a->n);
    for (int64_t j = 0; j < r.n; j++)
        for (int64_t i = 0; i <= j && i < r.m; i++)
            *at(&r, i, j) = *at(factors, i, j);
    subtract_product(q, 0, &r, &rest);
    double most = (double)(a->m > a->n ? a->m : a->n);
    double ratio = norm1(&rest) / (norm1(a) * most * epsilon_of(type));
    free(rest.x);
    free(r.x);
    return a->m == 0 || a->n == 0 ? 0 : ratio;
}

/* |1 - Q' Q| / (m eps) */
static double orthogonal_ratio(const struct matrix *q, int type)
{
    struct matrix rest = matrix_new(q->n, q->n);
    for (int64_t i = 0; i < q->n; i++)
        *at(&rest, i, i) = 1;
    subtract_product(q, 1, q, &rest);
    double ratio = norm1(&rest) / ((double)q->m * epsilon_of(type));
    free(rest.x);
    return q->n == 0 ? 0 : ratio;
}

/* LAPACK's xQRT17: the residual is orthogonal to the columns of A, |A' (B - A X)| / (...). */
static double least_ratio(const struct matrix *a, const struct matrix *x, const struct matrix *b,
                          int type)
{
    struct matrix rest = matrix_copy(b), seen = matrix_new(a->n, b->n);
    double most = (double)(a->m > b->n ? a->m : b->n);
    subtract_product(a, 0, x, &rest);
    subtract_product(a, 1, &rest, &seen);
    double ratio = norm1(&seen) / (norm1(a) * norm1(b) * most * epsilon_of(type));
    free(rest.x);
    free(seen.x);
    return a->n == 0 || b->n == 0 ? 0 : ratio;
}

static void scale(const struct matrix *a, double factor)
{
    for (int64_t i = 0; i < a->m * a->n; i++)
        a->x[i] *= factor;
}

/* The first column of B is in the range of A, the others are not. */
static struct matrix sides_of(const struct matrix *a, int64_t r, int type)
{
    struct matrix b = matrix_random(type, a->m, r, turn + 70);
    char bytes[16];
    for (int64_t i = 0; i < a->m && r > 0; i++) {
        *at(&b, i, 0) = 0;
        for (int64_t j = 0; j < a->n; j++)
            *at(&b, i, 0) += *at(a, i, j);
        put(type, bytes, *at(&b, i, 0));
        *at(&b, i, 0) = get(type, bytes);
    }
    return b;
}

/* The columns of A' made orthonormal, twice against rounding. */
static struct matrix row_space(const struct matrix *a)
{
    struct matrix u = matrix_new(a->n, a->m);
    for (int64_t j = 0; j < u.n; j++) {
        for (int64_t i = 0; i < u.m; i++)
            *at(&u, i, j) = conj(*at(a, j, i));
        for (int64_t k = 0; k < 2 * j; k++) {
            number product = 0;
            for (int64_t i = 0; i < u.m; i++)
                product += conj(*at(&u, i, k % j)) * *at(&u, i, j);
            for (int64_t i = 0; i < u.m; i++)
                *at(&u, i, j) -= product * *at(&u, i, k % j);
        }
        double length = 0;
        for (int64_t i = 0; i < u.m; i++)
            length += creal(*at(&u, i, j) * conj(*at(&u, i, j)));
        for (int64_t i = 0; i < u.m; i++)
            *at(&u, i, j) /= sqrt(length);
    }
    return u;
}

/* As LAPACK's xQRT14: the shortest solution is a sum of rows of A. */
static double shortest_ratio(const struct matrix *a, const struct matrix *x, int type)
{
    struct matrix u = row_space(a), seen = matrix_new(a->m, x->n), rest = matrix_copy(x);
    subtract_product(&u, 1, x, &seen);
    scale(&seen, -1);
    subtract_product(&u, 0, &seen, &rest);
    double ratio = norm1(&rest) / (norm1(x) * (double)a->n * epsilon_of(type));
    free(u.x);
    free(seen.x);
    free(rest.x);
    return a->m == 0 || x->n == 0 ? norm1(x) : ratio;
}

/* B solves, and X is the least of those that do, or its residual is. */
static int is_least(const struct matrix *a, const struct matrix *x, const struct matrix *b,
                    int type)
{
    if (a->m >= a->n)
        return least_ratio(a, x, b, type) <= LS_THRESHOLD;
    return solve_ratio(a, x, b, type) <= LS_THRESHOLD && shortest_ratio(a, x, type) <= LS_THRESHOLD;
}

static void check_least_squares(covey_dense_t *plan, const char *name, const struct matrix *a,
                                const struct piece *factors)
{
    struct covey_dense_part part;
    covey_dense_local(plan, COVEY_DENSE_B, &part);
    struct matrix b = sides_of(a, part.n, factors->type), given = matrix_new(part.m, part.n);
    for (int64_t j = 0; j < given.n; j++)
        for (int64_t i = 0; i < given.m; i++)
            *at(&given, i, j) = i < b.m ? *at(&b, i, j) : NAN;
    struct piece piece = piece_of(plan, COVEY_DENSE_B, factors->type, &given);
    int error = covey_dense_qr_solve(plan, factors->x, factors->ld, piece.x, piece.ld);
    check_case("solves", name, error == 0);
    struct matrix solved = collect(&piece, name), x = matrix_new(a->n, b.n);
    for (int64_t j = 0; j < x.n; j++)
        for (int64_t i = 0; i < x.m; i++)
            *at(&x, i, j) = *at(&solved, i, j);
    if (is_root())
        check_case("is the least", name, is_least(a, &x, &b, factors->type));
    free(given.x);
    free(solved.x);
    free(x.x);
    free(b.x);
}

/* `size` is a factor of all elements, a power of two. */
static void check_qr(const int64_t size[2], const char *algorithm, int type, double factor)
{
    char name[150];
    int64_t least = size[0] < size[1] ? size[0] : size[1];
    struct grid grid = grid_of_turn();
    struct covey_dense_problem problem = {
        .op = COVEY_DENSE_QR, .type = type, .m = size[0], .n = size[1], .r = turn % 4};
    if (strcmp(algorithm, "qr=tsqr") == 0) {
        grid.rows = grid.rows * grid.columns;
        grid.columns = 1;
        if (size[0] < size[1])
            return;
        while (size[0] / grid.rows < size[1] + 5 && grid.rows > 1) /* 5: the largest block */
            grid.rows--;
    }
    covey_dense_t *plan = plan_of(&problem, algorithm, grid, name);
    if (plan == NULL)
        return;
    struct matrix a = matrix_random(type, size[0], size[1], turn);
    scale(&a, factor);
    struct piece piece = piece_of(plan, COVEY_DENSE_A, type, &a);
    struct matrix nothing = matrix_new(size[0], least);
    struct piece form = piece_of(plan, COVEY_DENSE_C, type, &nothing);
    check_case("has no Q before", name,
               covey_dense_qr_form(plan, piece.x, piece.ld, form.x, form.ld) == COVEY_EINVAL);
    check_case("is factored", name, covey_dense_qr(plan, piece.x, piece.ld) == 0);
    check_case("has a Q", name, covey_dense_qr_form(plan, piece.x, piece.ld, form.x, form.ld) == 0);
    if (factor == 1)
        check_least_squares(plan, name, &a, &piece);
    struct matrix r = collect(&piece, name), q = collect(&form, name);
    if (is_root()) {
        scale(&r, 1 / factor);
        scale(&a, 1 / factor);
        check_case("is Q R", name, qr_ratio(&a, &q, &r, type) <= QR_THRESHOLD);
        check_case("has an orthogonal Q", name, orthogonal_ratio(&q, type) <= QR_THRESHOLD);
    }
    covey_dense_free(&plan);
    free(a.x);
    free(nothing.x);
    free(r.x);
    free(q.x);
}

/* A column of zeros: R has a zero there, which solving names. A NaN stays one. */
static void check_deficient(const char *algorithm)
{
    char name[150];
    struct grid grid = {covey_team_size(team) < 4 ? covey_team_size(team) : 4, 1};
    struct covey_dense_problem problem = {
        .op = COVEY_DENSE_QR, .type = COVEY_DOUBLE, .m = 57, .n = 6, .r = 1};
    covey_dense_t *plan = plan_of(&problem, algorithm, grid, name);
    if (plan == NULL)
        return;
    struct matrix a = matrix_random(COVEY_DOUBLE, 57, 6, 3), b = matrix_new(57, 1);
    for (int64_t i = 0; i < a.m; i++)
        *at(&a, i, 0) = 0;
    struct piece piece = piece_of(plan, COVEY_DENSE_A, COVEY_DOUBLE, &a);
    struct piece side = piece_of(plan, COVEY_DENSE_B, COVEY_DOUBLE, &b);
    check_case("a column of zeros is factored", name, covey_dense_qr(plan, piece.x, piece.ld) == 0);
    check_case("and named", name,
               covey_dense_qr_solve(plan, piece.x, piece.ld, side.x, side.ld) == 1);
    free(piece.x);
    *at(&a, 30, 2) = NAN;
    piece = piece_of(plan, COVEY_DENSE_A, COVEY_DOUBLE, &a);
    check_case("a NaN is factored", name, covey_dense_qr(plan, piece.x, piece.ld) == 0);
    struct matrix r = collect(&piece, name);
    check_case("and stays", name, !is_root() || isnan(creal(*at(&r, 2, 2))));
    covey_dense_free(&plan);
    free(side.x);
    free(a.x);
    free(b.x);
    free(r.x);
}

/* A wide matrix of zeros: no solution, and B stays. */
static void check_zeros(const char *algorithm)
{
    char name[150];
    struct covey_dense_problem problem = {
        .op = COVEY_DENSE_QR, .type = COVEY_DOUBLE, .m = 5, .n = 9, .r = 2};
    covey_dense_t *plan = plan_of(&problem, algorithm, grid_of_turn(), name);
    if (plan == NULL)
        return;
    struct matrix a = matrix_new(5, 9), b = matrix_random(COVEY_DOUBLE, 9, 2, 3);
    struct piece piece = piece_of(plan, COVEY_DENSE_A, COVEY_DOUBLE, &a);
    struct piece side = piece_of(plan, COVEY_DENSE_B, COVEY_DOUBLE, &b);
    check_case("zeros are factored", name, covey_dense_qr(plan, piece.x, piece.ld) == 0);
    check_case("and named", name,
               covey_dense_qr_solve(plan, piece.x, piece.ld, side.x, side.ld) == 1);
    struct matrix kept = collect(&side, name);
    check_case("and B is kept", name, !is_root() || memcmp(kept.x, b.x, 18 * sizeof *b.x) == 0);
    covey_dense_free(&plan);
    free(piece.x);
    free(kept.x);
    free(a.x);
    free(b.x);
}

/* ---- What is refused ------------------------------------------------------------------------- */

static void check_refused_plan(const char *why, const struct covey_dense_problem *problem,
                               const char *options)
{
    covey_dense_t *plan = NULL;
    int error = covey_dense_plan(team, problem, options, &network, &plan);
    check_case("is refused", why, error == COVEY_EINVAL && plan == NULL);
    check_case("says why", why, covey_domain_error_text()[0] != '\0');
}

static void check_refusals(void)
{
    struct covey_dense_problem square = {
        .op = COVEY_DENSE_CHOLESKY, .type = COVEY_DOUBLE, .m = 9, .n = 9, .r = 1};
    struct covey_dense_problem wide = {
        .op = COVEY_DENSE_QR, .type = COVEY_DOUBLE, .m = 5, .n = 9, .r = 1};
    covey_dense_t *plan = NULL;
    double room[200] = {0};
    int is_last = covey_team_rank(team) == covey_team_size(team) - 1;
    check_refused_plan("TSQR of a wide matrix", &wide, "qr=tsqr");
    check_refused_plan("no such Cholesky", &square, "cholesky=middle");
    wide.m = 10;
    if (covey_team_size(team) > 2)
        check_refused_plan("TSQR without rows", &wide, "qr=tsqr,grid=3x1,block=2");
    if (covey_team_size(team) > 1)
        check_refused_plan("TSQR on a row", &wide, "qr=tsqr,grid=1x2");
    check_refused_plan("no type", &(struct covey_dense_problem){.op = COVEY_DENSE_QR}, NULL);
    if (covey_dense_plan(team, &square, NULL, &network, &plan) != 0) {
        check("a plan that refuses", 0);
        return;
    }
    check("no half", covey_dense_cholesky(plan, 3, room, 9) == COVEY_EINVAL);
    check("no half at one", covey_dense_cholesky(plan, is_last ? 0 : 1, room, 9) == COVEY_EINVAL);
    check("a plan of Cholesky", covey_dense_qr(plan, room, 9) == COVEY_EINVAL);
    if (covey_team_rank(team) == 0)
        check("no matrix", covey_dense_cholesky(plan, 1, NULL, 9) == COVEY_EINVAL);
    else
        check("no matrix at one", covey_dense_cholesky(plan, 1, room, 9) == COVEY_EINVAL);
    check("a leading dimension",
          covey_dense_cholesky(plan, 1, room, covey_team_rank(team) == 0 ? 0 : 9) == COVEY_EINVAL);
    covey_dense_free(&plan);
    check("no plan", covey_dense_cholesky(NULL, 1, room, 9) == COVEY_EINVAL);
    check("no plan to solve",
          covey_dense_cholesky_solve(NULL, 1, room, 9, room, 9) == COVEY_EINVAL);
    check("no plan to invert", covey_dense_cholesky_inverse(NULL, 1, room, 9) == COVEY_EINVAL);
    check("no plan of QR", covey_dense_qr(NULL, room, 9) == COVEY_EINVAL);
    check("no plan of Q", covey_dense_qr_form(NULL, room, 9, room, 9) == COVEY_EINVAL);
    check("no plan of least squares", covey_dense_qr_solve(NULL, room, 9, room, 9) == COVEY_EINVAL);
}

/* Nothing forced: some algorithm is taken, and is right. */
static void check_chosen(void)
{
    struct covey_dense_problem problem = {
        .op = COVEY_DENSE_CHOLESKY, .type = COVEY_DOUBLE, .m = 40, .n = 40, .r = 2};
    covey_dense_t *plan = NULL;
    check("a plan of the library's choice",
          covey_dense_plan(team, &problem, NULL, NULL, &plan) == 0);
    struct matrix a = matrix_definite(COVEY_DOUBLE, 40, 11);
    struct piece piece;
    check("it is factored", factor(plan, COVEY_DENSE_LOWER, &a, COVEY_DOUBLE, &piece) == 0);
    struct matrix l = collect(&piece, "chosen");
    take_half(&l, COVEY_DENSE_LOWER);
    check("it is right", !is_root() || factor_ratio(&a, &l, COVEY_DENSE_LOWER, COVEY_DOUBLE) <= 3);
    covey_dense_free(&plan);
    free(a.x);
    free(l.x);
}

/* ---- The story ------------------------------------------------------------------------------- */

/* Of four and more members half of the cases, others from team to team. */
static int is_turn(unsigned size, unsigned algorithm)
{
    unsigned members = (unsigned)covey_team_size(team);
    return members < 4 || (size + algorithm + members) % 2 == 0;
}

static void tell_cholesky(void)
{
    static const int64_t sizes[] = {0, 1, 4, 10, 17, 13, 23, 31, 57};
    static const char *const algorithms[] = {"cholesky=local", "cholesky=right", "cholesky=left",
                                             "cholesky=tiles"};
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (unsigned j = 0; j < 4; j++, turn++)
            if (is_turn(i, j))
                check_cholesky(sizes[i], algorithms[j],
                               types[(i + j / 2 + (unsigned)covey_team_size(team) / 2) % 4]);
}

static void tell_qr(void)
{
    static const int64_t sizes[][2] = {
        {0, 0},   {3, 0}, {1, 1}, {2, 2},  {5, 7},  {13, 8}, {15, 10}, {13, 17}, {26, 20}, {30, 30},
        {15, 35}, {0, 4}, {1, 5}, {15, 5}, {31, 7}, {57, 5}, {57, 2},  {57, 1},  {5000, 7}};
    static const char *const algorithms[] = {"qr=local", "qr=block", "qr=tsqr"};
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (unsigned j = 0; j < 3; j++, turn++)
            if (is_turn(i, j))
                check_qr(sizes[i], algorithms[j],
                         types[(i + j / 2 + (unsigned)covey_team_size(team) / 2) % 4], 1);
    for (unsigned j = 0; j < 3; j++, turn++) {
        check_qr((const int64_t[]){57, 6}, algorithms[j], COVEY_DOUBLE, 0x1p700);
        check_qr((const int64_t[]){57, 6}, algorithms[j], COVEY_COMPLEX_DOUBLE, 0x1p-700);
        check_deficient(algorithms[j]);
        if (j < 2)
            check_zeros(algorithms[j]);
    }
}

/* The last member ends while the others factor tiles: all of them get an error. */
static void check_end(void)
{
    struct covey_dense_problem problem = {
        .op = COVEY_DENSE_CHOLESKY, .type = COVEY_DOUBLE, .m = 60, .n = 60};
    covey_dense_t *plan = NULL;
    struct piece piece;
    struct matrix a = matrix_definite(COVEY_DOUBLE, 60, 5);
    char options[60];
    snprintf(options, sizeof options, "cholesky=tiles,block=4,grid=%dx1", covey_team_size(team));
    check("a plan of all", covey_dense_plan(team, &problem, options, &network, &plan) == 0);
    check("it is factored", factor(plan, COVEY_DENSE_LOWER, &a, COVEY_DOUBLE, &piece) == 0);
    free(piece.x);
    covey_barrier(team);
    if (covey_team_rank(team) == covey_team_size(team) - 1)
        raise(SIGKILL);
    int error = 0;
    for (int i = 0; error == 0 && i < 1000; i++) {
        error = factor(plan, COVEY_DENSE_LOWER, &a, COVEY_DOUBLE, &piece);
        free(piece.x);
    }
    check("a member's end is an error",
          error == COVEY_ENOTASK || error == COVEY_EHOSTFAIL || error == COVEY_ECANCELED);
    check("which has words", strlen(covey_domain_error_text()) > 20);
    covey_dense_free(&plan);
    free(a.x);
}

static void tell_part(void)
{
    turn = (unsigned)covey_team_size(team);
    tell_cholesky();
    tell_qr();
    check_refusals();
    check_chosen();
}

static void tell(covey_team_t *all)
{
    story_parts(all, &team, tell_part);
    team = all;
    check_end();
}

int main(int argc, char **argv)
{
    static const struct story story = {.group = "dense_factor", .members_max = 16, .tell = tell};
    return story_main(argc, argv, &story);
}
