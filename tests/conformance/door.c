/* links: libcovey-domain */
/*
 * door.c - whole problems of one task: sorts and transforms by the caller alone and by workers on
 * several hosts, compared with what one process computes; options, arguments that are wrong, and
 * workers that end. Prints "ok ..." or "not ok ...".
 *
 *   door            what a task is tested by, too
 *   STOPS=... door  all of that
 *   door sleep S    a sort by 2 hosts, whose workers wait S seconds; prints their tids
 *   $STOPS          a worker that stops when it has computed for a while: a link to door with
 *                   covey-domain-worker in its name
 */
#include <covey.h>
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/domain/covey_domain.h"

static _Atomic int checked, failed; /* threads check, too */

static int check(const char *name, int good)
{
    checked++;
    failed += !good;
    if (!good)
        fprintf(stderr, "not ok %s: %s\n", name, covey_domain_error_text());
    return good;
}

static int says(const char *text)
{
    int good = strstr(covey_domain_error_text(), text) != NULL;
    if (!good)
        fprintf(stderr, "not ok '%s' does not say '%s'\n", covey_domain_error_text(), text);
    return good;
}

/* ---- tasks ---- */

/* The workers that run on all hosts: their tids, at most `most`. */
static int workers(covey_t *vm, covey_tid_t *tids, int most)
{
    struct covey_task *tasks = NULL;
    int n = covey_tasks(vm, 0, &tasks), found = 0;
    for (int i = 0; i < n; i++)
        if (strstr(tasks[i].command, "covey-domain-worker") != NULL && found < most)
            tids[found++] = tasks[i].tid;
    covey_free(tasks);
    return found;
}

static int count_workers(covey_t *vm)
{
    covey_tid_t tids[100];
    return workers(vm, tids, 100);
}

/* They end by themselves, some time; a suite that hangs here is ended by its time limit. */
static void until_no_workers(covey_t *vm)
{
    while (count_workers(vm) > 0)
        usleep(20000);
}

/* ---- sort ---- */

static int by_double(const void *a, const void *b)
{
    const double *left = a, *right = b;
    return *left < *right ? -1 : *left > *right;
}

static void fill(double *numbers, size_t n, unsigned seed)
{
    srand(seed);
    for (size_t i = 0; i < n; i++)
        numbers[i] = (rand() % 20001 - 10000) / 8.0;
}

/* Sorts n numbers under these options; 0, or the error of the call. */
static int sorts(covey_t *vm, size_t n, const char *options, struct covey_door_report *report)
{
    double *numbers = malloc(n * sizeof *numbers + 1), *wanted = malloc(n * sizeof *wanted + 1);
    fill(numbers, n, (unsigned)n + 1);
    memcpy(wanted, numbers, n * sizeof *wanted);
    int error = covey_sort_array(vm, COVEY_DOUBLE, numbers, n, options, report);
    if (error == 0)
        qsort(wanted, n, sizeof *wanted, by_double);
    check("the array is sorted, or as it was", memcmp(numbers, wanted, n * sizeof *wanted) == 0);
    free(numbers);
    free(wanted);
    return error;
}

static void sort_of(covey_t *vm, size_t n, const char *options, int hosts, int tasks)
{
    struct covey_door_report report;
    char name[400];
    snprintf(name, sizeof name, "%zu numbers, '%s'", n, options);
    check(name, sorts(vm, n, options, &report) == 0);
    snprintf(name, sizeof name, "%zu numbers, '%s': %d tasks on %d hosts for %d on %d: %s", n,
             options, (int)report.tasks, (int)report.hosts, tasks, hosts, report.why);
    check(name, report.hosts == hosts && report.tasks == tasks && report.attempts == 1);
    check(name, report.seconds > 0 && report.predicted_s > 0 && report.algorithm[0] != '\0');
    check(name, strstr(report.table, " ms\n") != NULL);
}

static void all_types(covey_t *vm)
{
    for (int type = 1; type <= COVEY_BYTES; type++) {
        unsigned char bytes[640], alone[640];
        size_t size = covey_type_size(type), n = size > 0 ? sizeof bytes / size : 0;
        if (type == COVEY_STRING)
            continue;
        for (size_t i = 0; i < sizeof bytes; i++)
            bytes[i] = alone[i] = (unsigned char)(i * 7919 % 251);
        check("a type by workers",
              covey_sort_array(vm, type, bytes, n, "hosts=2,tasks=3", NULL) == 0);
        check("a type alone", covey_sort_array(vm, type, alone, n, "hosts=0", NULL) == 0);
        check("both are the same", memcmp(bytes, alone, sizeof bytes) == 0);
    }
}

static void sort_stories(covey_t *vm)
{
    static const size_t counts[] = {1, 2, 3, 1000, 100003};
    static const struct {
        const char *options;
        int hosts, tasks;
    } ways[] = {{"hosts=0", 1, 1}, {"hosts=3,tasks=3", 3, 3}, {"hosts=2,tasks=5", 2, 5}};
    for (size_t way = 0; way < sizeof ways / sizeof *ways; way++) /* each with its workers */
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
            sort_of(vm, counts[i], ways[way].options, ways[way].hosts, ways[way].tasks);
    sort_of(vm, 5000, "hosts=3,tasks=4,sort=sample", 3, 4);
    sort_of(vm, 5000, "hosts=0,sort=local", 1, 1);
    check("no numbers", sorts(vm, 0, "tasks=3", NULL) == 0);
    struct covey_door_report report;
    check("a sort by its name", sorts(vm, 5000, "tasks=3,tree", &report) == 0);
    check("is that sort", strcmp(report.algorithm, "tree") == 0);
    all_types(vm);
}

/* ---- transforms ---- */

#if __has_include(<fftw3.h>)
static void transform_of(covey_t *vm, int dims, const int64_t *n, int kind, const char *options)
{
    struct covey_door_report report;
    size_t count = 1;
    for (int i = 0; i < dims; i++)
        count *= (size_t)n[i];
    size_t bytes = (2 * count + 2 * count / (size_t)n[dims - 1] + 2) * sizeof(double);
    double *in = aligned_alloc(64, (bytes + 63) / 64 * 64), *kept = malloc(bytes);
    double *out = aligned_alloc(64, (bytes + 63) / 64 * 64);
    double *alone = aligned_alloc(64, (bytes + 63) / 64 * 64), worst = 0;
    fill(in, bytes / sizeof *in, 5);
    memset(out, 0, bytes);
    memset(alone, 0, bytes);
    memcpy(kept, in, bytes);
    check("a transform alone", covey_fft(vm, dims, n, kind, in, alone, "hosts=0", NULL) == 0);
    check("a transform by workers", covey_fft(vm, dims, n, kind, in, out, options, &report) == 0);
    check("is by as many as wanted", report.tasks >= 3);
    check("leaves what it is given", memcmp(kept, in, bytes) == 0);
    for (size_t i = 0; i < bytes / sizeof *out; i++)
        worst = fmax(worst, fabs(out[i] - alone[i]));
    check("is the same", worst <= 1e-9 * 10000 * (double)count);
    free(in), free(kept), free(out), free(alone);
}

static void there_and_back(covey_t *vm)
{
    const int64_t n[] = {12, 10};
    double array[240] __attribute__((aligned(16))), kept[240], worst = 0;
    fill(array, 240, 3);
    memcpy(kept, array, sizeof kept);
    check("forward in place",
          covey_fft(vm, 2, n, COVEY_FFT_FORWARD, array, array, "tasks=3", NULL) == 0);
    check("backward in place",
          covey_fft(vm, 2, n, COVEY_FFT_BACKWARD, array, array, "tasks=2", NULL) == 0);
    for (int i = 0; i < 240; i++)
        worst = fmax(worst, fabs(array[i] / 120 - kept[i]));
    check("gives the array again", worst < 1e-9);
}

static void transform_stories(covey_t *vm)
{
    static const int64_t cube[] = {8, 9, 10}, plane[] = {30, 7}, line[] = {360}, one[] = {1};
    transform_of(vm, 3, cube, COVEY_FFT_REAL, "tasks=3,pencil");
    transform_of(vm, 3, cube, COVEY_FFT_REAL_BACK, "tasks=3");
    transform_of(vm, 2, plane, COVEY_FFT_BACKWARD, "tasks=3,slab");
    transform_of(vm, 1, one, COVEY_FFT_FORWARD, "tasks=3");
    there_and_back(vm);
    transform_of(vm, 1, line, COVEY_FFT_FORWARD, "tasks=5");
    transform_of(vm, 3, cube, COVEY_FFT_FORWARD, "hosts=3,tasks=4");
    double four[8] __attribute__((aligned(16))) = {0};
    check("no dimensions", covey_fft(vm, 0, cube, 1, four, four, NULL, NULL) == COVEY_EINVAL &&
                               says("0 dimensions"));
    check("no kind", covey_fft(vm, 1, cube, 9, four, four, NULL, NULL) == COVEY_EINVAL);
    check("no array", covey_fft(vm, 1, cube, 1, NULL, four, NULL, NULL) == COVEY_EINVAL);
    check("no option", covey_fft(vm, 1, one, 1, four, four, "slow=1", NULL) == COVEY_EINVAL &&
                           says("there is no option 'slow'"));
}
#else
static void transform_stories(covey_t *vm)
{
    (void)vm;
}
#endif

/* ---- dense algebra ---- */

#if __has_include(<lapacke.h>)
/* m x n by columns with that leading dimension; what stands between columns is -7. */
static double *matrix(int64_t m, int64_t n, int64_t ld, unsigned seed)
{
    double *a = malloc((size_t)(ld * n) * sizeof *a + 1);
    srand(seed);
    for (int64_t i = 0; i < ld * n; i++)
        a[i] = i % ld < m ? rand() % 2001 / 1000.0 - 1 : -7;
    return a;
}

/* C = alpha A B + beta C, as the sum that it is. */
static void product(const int64_t mnk[3], double alpha, const double *a, int64_t lda,
                    const double *b, int64_t ldb, double beta, double *c, int64_t ldc)
{
    for (int64_t j = 0; j < mnk[1]; j++)
        for (int64_t i = 0; i < mnk[0]; i++) {
            double sum = 0;
            for (int64_t l = 0; l < mnk[2]; l++)
                sum += a[i + l * lda] * b[l + j * ldb];
            c[i + j * ldc] = alpha * sum + (beta == 0 ? 0 : beta * c[i + j * ldc]);
        }
}

static double worst_of(const double *a, const double *b, int64_t count)
{
    double worst = 0;
    for (int64_t i = 0; i < count; i++)
        worst = fmax(worst, fabs(a[i] - b[i]));
    return worst;
}

static void product_of(covey_t *vm, int64_t m, int64_t n, int64_t k, const char *options)
{
    int64_t lda = m + 3, ldb = k + 1, ldc = m + 2, mnk[] = {m, n, k};
    for (int beta = 0; beta <= 1; beta++) {
        double *a = matrix(m, k, lda, 1), *b = matrix(k, n, ldb, 2), *c = matrix(m, n, ldc, 3);
        double *wanted = matrix(m, n, ldc, 3);
        for (int64_t j = 0; beta == 0 && j < n; j++)
            c[j * ldc] = NAN; /* is not read */
        product(mnk, 0.5, a, lda, b, ldb, beta, wanted, ldc);
        check("a product",
              covey_gemm(vm, m, n, k, 0.5, a, lda, b, ldb, beta, c, ldc, options, NULL) == 0);
        check("is what it is", worst_of(c, wanted, ldc * n) < 1e-12 * (double)(k + 1));
        free(a), free(b), free(c), free(wanted);
    }
}

static void solution_of(covey_t *vm, int64_t n, int64_t nrhs, const char *options)
{
    struct covey_door_report report;
    int64_t lda = n + 2, ldb = n + 5, nnn[] = {n, nrhs, n};
    double *a = matrix(n, n, lda, 7), *kept = matrix(n, n, lda, 7), *x = matrix(n, nrhs, ldb, 8);
    double *b = matrix(n, nrhs, ldb, 9);
    char name[300];
    product(nnn, 1, a, lda, x, ldb, 0, b, ldb);
    int error = covey_solve(vm, n, nrhs, a, lda, b, ldb, options, &report);
    snprintf(name, sizeof name, "a solution of %d equations, '%s', by %s: residual %g", (int)n,
             options, report.algorithm, report.residual);
    check(name, error == 0 && report.residual >= 0 && report.residual < 100);
    check("it is what it was made of", worst_of(b, x, ldb * nrhs) < 1e-8);
    check("A is only read", memcmp(a, kept, (size_t)(lda * n) * sizeof *a) == 0);
    free(a), free(kept), free(x), free(b);
}

static void systems_that_are_wrong(covey_t *vm, const char *options)
{
    struct covey_door_report report = {.residual = 0};
    double zero[9] = {0}, b[3] = {1, 2, 3}, nans[4] = {NAN, 1, 1, NAN};
    check("a singular system", covey_solve(vm, 3, 1, zero, 3, b, 3, options, NULL) == 1);
    check("leaves B as it is", b[0] == 1 && b[1] == 2 && b[2] == 3);
    int status = covey_solve(vm, 2, 1, nans, 2, b, 2, options, &report);
    check("NaN goes through", status >= 0 && (status > 0 || isnan(report.residual)));
    check("no equations", covey_solve(vm, 0, 1, zero, 1, b, 1, options, NULL) == 0);
    check("no right side", covey_solve(vm, 2, 0, nans, 2, b, 2, options, NULL) >= 0);
}

/* A = M M' + I, of which the upper half says nothing. */
static void definite_of(covey_t *vm, int64_t n, int64_t nrhs, const char *options)
{
    struct covey_door_report report;
    int64_t nnn[] = {n, n, n}, sides[] = {n, nrhs, n};
    double *m = matrix(n, n, n, 1), *t = matrix(n, n, n, 1), *a = matrix(n, n, n, 1);
    double *x = matrix(n, nrhs, n, 2), *b = matrix(n, nrhs, n, 3);
    for (int64_t i = 0; i < n * n; i++)
        t[i / n + i % n * n] = m[i];
    product(nnn, 1, m, n, t, n, 0, a, n);
    for (int64_t i = 0; i < n; i++)
        a[i + i * n] += 1;
    product(sides, 1, a, n, x, n, 0, b, n);
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < j; i++)
            a[i + j * n] = 1e9;
    check("a definite system", covey_solve_spd(vm, n, nrhs, a, n, b, n, options, &report) == 0);
    check("its solution", worst_of(b, x, n * nrhs) < 1e-8 && report.residual < 100);
    a[0] = -1;
    check("it is not definite", covey_solve_spd(vm, n, nrhs, a, n, b, n, options, NULL) == 1);
    free(m), free(t), free(a), free(x), free(b);
}

/* What is orthogonal to A's columns is the rest that A X leaves. */
static void least_of(covey_t *vm, int64_t m, int64_t n, const char *options)
{
    int64_t mn[] = {m, 2, n}, ldb = m + 1;
    double *a = matrix(m, n, m, 1), *x = matrix(n, 2, n, 2), *b = matrix(m, 2, ldb, 3);
    double *kept = matrix(m, 2, ldb, 3), *ax = matrix(m, 2, m, 4), worst = 0;
    check("least squares", covey_least_squares(vm, m, n, 2, a, m, b, ldb, options, NULL) == 0);
    for (int64_t j = 0; j < 2; j++)
        memcpy(x + j * n, b + j * ldb, (size_t)n * sizeof *x);
    product(mn, 1, a, m, x, n, 0, ax, m);
    for (int64_t j = 0; j < 2; j++)
        for (int64_t l = 0; l < n; l++) {
            double sum = 0;
            for (int64_t i = 0; i < m; i++)
                sum += a[i + l * m] * (kept[i + j * ldb] - ax[i + j * m]);
            worst = fmax(worst, fabs(sum));
        }
    check("the rest is orthogonal", worst < 1e-9);
    for (int64_t i = n; i < ldb; i++)
        check("other rows stay", b[i] == kept[i]);
    free(a), free(x), free(b), free(kept), free(ax);
}

static void dense_stories(covey_t *vm)
{
    static const char *const ways[] = {"hosts=0", "hosts=3,tasks=3", "tasks=5,keep=60"};
    double one[1] = {1};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        product_of(vm, 1, 1, 1, ways[i]);
        product_of(vm, 37, 29, 53, ways[i]);
        product_of(vm, 2, 70, 3, ways[i]);
        solution_of(vm, 1, 1, ways[i]);
        solution_of(vm, 2, 3, ways[i]);
        solution_of(vm, 150, 2, ways[i]);
        systems_that_are_wrong(vm, ways[i]);
        definite_of(vm, 1, 1, ways[i]);
        definite_of(vm, 90, 2, ways[i]);
        least_of(vm, 1, 1, ways[i]);
        least_of(vm, 120, 31, ways[i]);
    }
    product_of(vm, 3, 2, 0, "tasks=5,keep=60");
    product_of(vm, 9, 8, 7, "hosts=0,gemm=local");
    solution_of(vm, 60, 2, "hosts=0,lu=local");
    check("its options are read alone, too",
          covey_solve(vm, 1, 1, one, 1, one, 1, "hosts=0,lu=quick", NULL) == COVEY_EINVAL);
    solution_of(vm, 200, 1, "tasks=4,lu=tournament,block=16");
    solution_of(vm, 200, 1, "tasks=4,lu=block,block=16");
    check("n below 0", covey_solve(vm, -1, 1, one, 1, one, 1, NULL, NULL) == COVEY_EINVAL &&
                           says("covey_solve: A has -1 x -1"));
    check("no matrix", covey_solve(vm, 1, 1, NULL, 1, one, 1, NULL, NULL) == COVEY_EINVAL &&
                           says("covey_solve: A is NULL"));
    check("a short lead", covey_solve(vm, 2, 1, one, 2, one, 1, NULL, NULL) == COVEY_EINVAL &&
                              says("the leading dimension 1 of B is not 2 to 2147483647"));
    check("a lead of 2^32 + 1", covey_gemm(vm, 1, 1, 1, 1, one, ((int64_t)1 << 32) + 1, one, 1, 0,
                                           one, 1, NULL, NULL) == COVEY_EINVAL);
    check("too large", covey_gemm(vm, INT64_MAX, 1, 1, 1, one, 1, one, 1, 0, one, 1, NULL, NULL) ==
                           COVEY_EINVAL);
    check("no option",
          covey_solve(vm, 1, 1, one, 1, one, 1, "tasks=4,lu=quick", NULL) == COVEY_EINVAL &&
              says("covey_solve: lu has no 'quick'"));
}
#else
static void dense_stories(covey_t *vm)
{
    (void)vm;
}
#endif

/* ---- Poisson's equation ---- */

static void equation_of(covey_t *vm, const char *options, int tasks)
{
    struct covey_door_report report;
    struct covey_poisson_problem p = {.dims = 3,
                                      .low = {1, 3, 2},
                                      .high = {2, 3, 1},
                                      .n = {12, 16, 10},
                                      .h = {0.1, 0.05, 0.1},
                                      .c = 0.5};
    enum { POINTS = 12 * 16 * 10 };
    double *f = malloc(POINTS * sizeof *f), *u = calloc(POINTS, sizeof *u);
    double *alone = calloc(POINTS, sizeof *alone);
    fill(f, POINTS, 6);
    check("an equation alone", covey_poisson(vm, &p, f, alone, 1e-10, "hosts=0", NULL) == 0);
    check("an equation", covey_poisson(vm, &p, f, u, 1e-10, options, &report) == 0);
    check("converges", report.residual >= 0 && report.residual <= 1e-10);
    check("on so many tasks", report.tasks == tasks && report.algorithm[0] != '\0');
    check("what the equation takes is predicted", report.predicted_s > 1e-7);
    for (int i = 0; i < POINTS; i++)
        if (!(fabs(u[i] - alone[i]) <= 1e-6))
            check("both are the same", (i = POINTS, 0));
    p.h[0] = 0;
    check("no side", covey_poisson(vm, &p, f, u, 1e-9, options, NULL) == COVEY_EINVAL);
    check("no tolerance", covey_poisson(vm, &p, f, u, 0, options, NULL) == COVEY_EINVAL);
    check("no field", covey_poisson(vm, &p, NULL, u, 1e-9, options, NULL) == COVEY_EINVAL);
    check("no problem", covey_poisson(vm, NULL, f, u, 1e-9, options, NULL) == COVEY_EINVAL);
    free(f), free(u), free(alone);
}

static void equations(covey_t *vm)
{
    equation_of(vm, "hosts=0", 1);
    equation_of(vm, "hosts=3,tasks=4", 4);
    equation_of(vm, "tasks=3,cg", 3);
}

/* ---- options, and what is wrong ---- */

static void wrong(covey_t *vm, const char *options, int error, const char *text)
{
    double numbers[] = {3, 1, 2};
    check(options, covey_sort_array(vm, COVEY_DOUBLE, numbers, 3, options, NULL) == error);
    check(options, says(text));
    check("the array is as it was", numbers[0] == 3 && numbers[1] == 1 && numbers[2] == 2);
}

static void wrong_ones(covey_t *vm)
{
    double one = 1;
    wrong(vm, "hosts=99", COVEY_ENOHOST, "99 hosts are wanted, and 3 of the VM are up");
    wrong(vm, "hosts=-1", COVEY_EINVAL, "hosts has no '-1': allowed are whole numbers from 0");
    wrong(vm, "hosts=2.5", COVEY_EINVAL, "hosts has no '2.5'");
    wrong(vm, "hosts=", COVEY_EINVAL, "hosts has no ''");
    wrong(vm, "tasks=0", COVEY_EINVAL, "tasks has no '0'");
    wrong(vm, "hosts=3,tasks=2", COVEY_EINVAL, "2 tasks cannot be on 3 hosts");
    wrong(vm, "hosts=0,tasks=2", COVEY_EINVAL, "2 tasks cannot be the caller alone");
    wrong(vm, "keep=long", COVEY_EINVAL, "keep has no 'long'");
    wrong(vm, "retry=1000", COVEY_EINVAL, "retry has no '1000'");
    wrong(vm, "tasks=3,quick", COVEY_EINVAL, "sort has no 'quick'");
    wrong(vm, "hosts=0,quick", COVEY_EINVAL, "sort has no 'quick'");
    check("no handle", covey_sort_array(NULL, COVEY_DOUBLE, &one, 1, NULL, NULL) == COVEY_EINVAL);
    check("no array", covey_sort_array(vm, COVEY_DOUBLE, NULL, 1, NULL, NULL) == COVEY_EINVAL);
    check("no type", covey_sort_array(vm, COVEY_STRING, &one, 1, NULL, NULL) == COVEY_EINVAL &&
                         says("covey_sort_array: type 13 is none of numbers"));
    check("too many",
          covey_sort_array(vm, COVEY_DOUBLE, &one, SIZE_MAX / 8, NULL, NULL) == COVEY_EINVAL);
    check("a worker by hand", covey_door_serve(NULL) == COVEY_EINVAL);
    covey_door_close(NULL);
}

static void explains(covey_t *vm)
{
    struct covey_door_report report;
    double numbers[] = {2, 1};
    check("an explanation",
          covey_sort_array(vm, COVEY_DOUBLE, numbers, 2, "tasks=4,explain", &report) == 0);
    check("solves nothing", numbers[0] == 2 && report.started == 0);
    check("and predicts", strstr(report.table, "4 tasks on") != NULL && report.predicted_s > 0);
    check("a small sort", covey_sort_array(vm, COVEY_DOUBLE, numbers, 2, NULL, &report) == 0);
    check("is the caller's alone", report.tasks == 1 && report.hosts == 1);
    check("for it is short", strstr(report.why, "it is short") != NULL && numbers[0] == 1);
}

/* ---- workers ---- */

static void workers_stay(covey_t *vm)
{
    struct covey_door_report report;
    covey_tid_t before[100], after[100];
    check("a sort", sorts(vm, 3000, "hosts=3,tasks=4,keep=60", &report) == 0);
    check("starts workers", report.started == 3 && workers(vm, before, 100) == 3);
    check("the next one", sorts(vm, 3000, "hosts=3,tasks=4,keep=60", &report) == 0);
    check("starts none", report.started == 0 && workers(vm, after, 100) == 3);
    check("it has the same", memcmp(before, after, 3 * sizeof *before) == 0);
    check("of which some suffice", sorts(vm, 3000, "hosts=3,tasks=3,keep=60", &report) == 0);
    check("for less", report.started == 0 && report.tasks == 3);
    check("the next one, short", sorts(vm, 3000, "hosts=3,tasks=4,keep=0.05", &report) == 0);
    check("starts none", report.started == 0);
    until_no_workers(vm);
    check("when they have left", sorts(vm, 3000, "hosts=3,tasks=4,keep=60", &report) == 0);
    check("others are started", report.started == 3 && report.attempts == 1);
    covey_door_close(vm);
    until_no_workers(vm);
    check("none is kept", sorts(vm, 3000, "hosts=3,tasks=4,keep=0", &report) == 0);
    until_no_workers(vm);
}

static void the_environment_forces(covey_t *vm)
{
    struct covey_door_report report;
    setenv("COVEY_DOOR", "tasks=2,keep=60", 1);
    check("a sort", sorts(vm, 100, "tasks=3", &report) == 0 && report.tasks == 2);
    unsetenv("COVEY_DOOR");
    setenv("COVEY_DOMAIN_WORKER", "no-such-program", 1);
    covey_door_close(vm);
    until_no_workers(vm);
    wrong(vm, "tasks=3", COVEY_ENOENT, "cannot be started on h");
    setenv("COVEY_DOMAIN_WORKER", "/bin/false", 1);
    wrong(vm, "tasks=3", COVEY_ENOTASK, "covey_sort_array: ");
    unsetenv("COVEY_DOMAIN_WORKER");
}

/* One of the workers that wait for the next call gets a signal. */
static void hit_a_worker(covey_t *vm, int signal_number)
{
    struct covey_door_report report;
    covey_tid_t tids[100];
    check("a sort", sorts(vm, 3000, "tasks=4,keep=60", &report) == 0);
    check("has workers", workers(vm, tids, 100) == 3);
    check("one gets a signal", covey_signal(vm, tids[1], signal_number) == 0);
}

/* Workers that are killed between two calls cost nothing: others are started. */
static void workers_die(covey_t *vm)
{
    struct covey_door_report report;
    hit_a_worker(vm, SIGKILL);
    while (count_workers(vm) > 2)
        usleep(10000);
    check("the next one", sorts(vm, 3000, "tasks=4,keep=60", &report) == 0);
    check("is by others", report.started == 3 && report.attempts == 1);
}

/* ---- workers that stop ---- */

/* All that a worker takes before it computes is far less. */
static void *stop(void *context)
{
    struct timespec used = {0};
    (void)context;
    while (used.tv_sec == 0 && used.tv_nsec < 700000000) {
        usleep(1000);
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    }
    raise(SIGSTOP);
    return NULL;
}

static int serves_and_stops(covey_t *vm)
{
    pthread_t thread;
    return pthread_create(&thread, NULL, stop, NULL) != 0 || covey_door_serve(vm) < 0;
}

/* Nobody would wait so long for the solution: workers stop long before. */
static void workers_that_work_stop(covey_t *vm, const char *program)
{
    enum { SIDE = 400 };
    struct covey_door_report report;
    const struct covey_poisson_problem p = {
        .dims = 2, .low = {1, 1}, .high = {1, 1}, .n = {SIDE, SIDE}, .h = {1, 1}};
    double *f = calloc(SIDE * SIDE, sizeof *f), *u = calloc(SIDE * SIDE, sizeof *u);
    f[SIDE * SIDE / 2] = 1;
    setenv("COVEY_DOMAIN_WORKER", program, 1);
    covey_door_close(vm);
    until_no_workers(vm);
    check("workers that stop",
          covey_poisson(vm, &p, f, u, 1e-12, "tasks=3,jacobi,limit=4", &report) == COVEY_ETIMEOUT &&
              says("within the limit of 4 s"));
    check("leave the solution as it was", u[0] == 0 && u[SIDE * SIDE / 2] == 0);
    until_no_workers(vm);
    unsetenv("COVEY_DOMAIN_WORKER");
    free(f), free(u);
}

/* One that stopped before the call is replaced. */
static void workers_that_wait_stop(covey_t *vm)
{
    struct covey_door_report report;
    hit_a_worker(vm, SIGSTOP);
    check("the next one", sorts(vm, 3000, "tasks=4,keep=60,limit=4,retry=9", &report) == 0);
    check("is by others", report.started >= 3);
}

/* ---- threads ---- */

static void *sort_some(void *vm)
{
    for (int i = 0; i < 5; i++)
        check("a sort of a thread", sorts(vm, 500, "tasks=3", NULL) == 0);
    return NULL;
}

static void two_threads(covey_t *vm)
{
    pthread_t other;
    check("a thread", pthread_create(&other, NULL, sort_some, vm) == 0);
    for (int i = 0; i < 5; i++) {
        double numbers[] = {2, 1};
        if (covey_sort_array(vm, COVEY_DOUBLE, numbers, 2, "tasks=2", NULL) != 0 || numbers[0] > 1)
            abort();
    }
    pthread_join(other, NULL);
}

/* Returns what went wrong, with a handle of its own. */
static void *solve_some(void *what)
{
    const int64_t cube[] = {6, 8, 10};
    static const char *const ways[] = {"hosts=0", "tasks=2", "hosts=0"};
    double *in = aligned_alloc(64, 8192), *out = aligned_alloc(64, 8192);
    double a[4] = {2, 1, 1, 3}, b[2];
    const char *wrong = NULL;
    covey_t *vm = NULL;
    (void)what;
    memset(in, 0, 8192);
    if (covey_join(&vm, NULL) < 0)
        wrong = "a handle of a thread";
    for (int i = 0; wrong == NULL && i < 3; i++) {
        b[0] = b[1] = 4;
        int error = covey_fft(vm, 3, cube, COVEY_FFT_FORWARD, in, out, ways[i], NULL);
        if (error == 0 || error == COVEY_EINVAL) /* built without FFTW, or without LAPACKE */
            error = covey_solve(vm, 2, 1, a, 2, b, 2, "tasks=2", NULL);
        if (error != 0 && error != COVEY_EINVAL)
            wrong = "a solution of a thread";
    }
    covey_door_close(vm);
    covey_leave(&vm);
    free(in), free(out);
    return (void *)wrong;
}

static void threads_with_handles(void)
{
    pthread_t other;
    void *wrong = NULL;
    check("a thread with a handle", pthread_create(&other, NULL, solve_some, NULL) == 0);
    const char *mine = solve_some(NULL);
    pthread_join(other, &wrong);
    check(mine != NULL ? mine : wrong != NULL ? wrong : "threads", mine == NULL && wrong == NULL);
}

/* Two handles of a process have workers of their own. */
static void two_handles(covey_t *vm)
{
    covey_t *second = NULL;
    struct covey_door_report report;
    check("a second handle", covey_join(&second, NULL) == 0);
    check("its sort", sorts(second, 1000, "tasks=3,keep=60", &report) == 0 && report.started == 2);
    check("that of the first", sorts(vm, 1000, "tasks=2,keep=60", NULL) == 0);
    covey_door_close(second);
    covey_leave(&second);
    covey_join(&second, NULL);
    check("a third one", sorts(second, 1000, "tasks=3,keep=60", NULL) == 0);
    covey_leave(&second); /* its workers end with it */
    covey_door_close(vm);
    until_no_workers(vm);
}

static int sleeps(covey_t *vm, const char *seconds)
{
    char options[60];
    covey_tid_t tids[10];
    snprintf(options, sizeof options, "hosts=2,keep=%s", seconds);
    double numbers[] = {2, 1};
    int error = covey_sort_array(vm, COVEY_DOUBLE, numbers, 2, options, NULL);
    printf("%s, %d workers\n", error == 0 ? "ok" : covey_domain_error_text(),
           workers(vm, tids, 10));
    fflush(stdout);
    pause();
    return 0;
}

static void all_that_a_task_need_not_do(covey_t *vm, const char *program)
{
    transform_stories(vm);
    dense_stories(vm);
    wrong_ones(vm);
    the_environment_forces(vm);
    workers_die(vm);
    workers_that_wait_stop(vm);
    workers_that_work_stop(vm, program);
    two_threads(vm);
    threads_with_handles();
}

int main(int argc, char **argv)
{
    covey_t *vm = NULL;
    if (covey_join(&vm, NULL) < 0) {
        printf("not ok %s\n", covey_error_text());
        return 1;
    }
    if (argc > 2 && strcmp(argv[1], "sleep") == 0)
        return sleeps(vm, argv[2]);
    if (strstr(argv[0], "covey-domain-worker") != NULL)
        return serves_and_stops(vm);
    sort_stories(vm);
    equations(vm);
    if (getenv("STOPS") != NULL)
        all_that_a_task_need_not_do(vm, getenv("STOPS"));
    explains(vm);
    covey_door_close(vm);
    until_no_workers(vm);
    workers_stay(vm);
    two_handles(vm);
    covey_leave(&vm);
    printf("%s door: %d checks, %d failed\n", failed > 0 ? "not ok" : "ok", checked, failed);
    return failed > 0;
}
