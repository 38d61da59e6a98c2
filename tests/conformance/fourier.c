/* links: tests/conformance/story.c libcovey-domain */
/*
 * fourier.c - distributed Fourier transforms: whatever sizes, algorithm, order and number of tasks,
 * the result is that of FFTW on the whole array, to 1e-15 log2 N of its length.
 *
 *   fourier MEMBERS          spawns the others, and tests on teams of 1 to MEMBERS - 1
 *   fourier member MEMBERS   is what it spawns
 *
 * Every member computes the whole transform by itself and compares its own part.
 */
#include <complex.h>
#include <fftw3.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/domain/covey_domain.h"
#include "tests/conformance/story.h"

static covey_team_t *team; /* of the checks that run */

static void check_case(const char *what, const char *of, int good)
{
    char name[200];
    snprintf(name, sizeof name, "%s: %s, %d members: %s", of, what, covey_team_size(team),
             good ? "" : covey_domain_error_text());
    check(name, good);
}

/* ---- Arrays ---------------------------------------------------------------------------------- */

struct array {
    int is_real, dims;
    int64_t n[3], count;
    int64_t whole;        /* elements before it was halved */
    double complex *data; /* [count], of a real one the real parts alone */
};

/* Numbers between -1 and 1 that are the same at all members. */
static double number(uint64_t seed)
{
    seed = (seed + 1) * 0x9e3779b97f4a7c15u;
    seed = (seed ^ seed >> 30) * 0xbf58476d1ce4e5b9u;
    seed = (seed ^ seed >> 27) * 0x94d049bb133111ebu;
    return (double)(int64_t)(seed ^ seed >> 31) / 9.3e18;
}

static struct array array_new(int dims, const int64_t *n, int is_real)
{
    struct array a = {.is_real = is_real, .dims = dims, .n = {1, 1, 1}, .count = 1};
    for (int i = 0; i < dims; i++)
        a.count *= a.n[i] = n[i];
    a.whole = a.count;
    a.data = calloc((size_t)a.count, sizeof *a.data);
    return a;
}

static void array_fill(struct array *a, uint64_t seed)
{
    for (int64_t i = 0; i < a->count; i++)
        a->data[i] = number(seed + 2 * (uint64_t)i) +
                     (a->is_real ? 0 : I * number(seed + 2 * (uint64_t)i + 1));
}

/* The forward transform of the physical array, halved where it is real; computed by FFTW at once.
 */
static struct array spectrum_of(int dims, const struct array *a, int sign)
{
    int n[3] = {(int)a->n[0], (int)a->n[1], (int)a->n[2]};
    struct array whole = array_new(dims, a->n, 0);
    fftw_plan plan = fftw_plan_dft(dims, n, a->data, whole.data, sign, FFTW_ESTIMATE);
    fftw_execute(plan);
    fftw_destroy_plan(plan);
    if (!a->is_real)
        return whole;
    int64_t half[3] = {a->n[0], a->n[1], a->n[2]};
    half[dims - 1] = half[dims - 1] / 2 + 1;
    struct array kept = array_new(dims, half, 0);
    kept.whole = a->count;
    for (int64_t i = 0; i < half[0]; i++)
        for (int64_t j = 0; j < half[1]; j++)
            for (int64_t k = 0; k < half[2]; k++)
                kept.data[(i * half[1] + j) * half[2] + k] =
                    whole.data[(i * a->n[1] + j) * a->n[2] + k];
    free(whole.data);
    return kept;
}

/* ---- Parts ----------------------------------------------------------------------------------- */

/* Where the i-th element of a part stands in the whole array, and where in memory. */
static int64_t place_of(const struct covey_fft_part *p, const struct array *a, int64_t i,
                        int64_t *memory)
{
    int64_t at[3] = {0, 0, 0};
    *memory = 0;
    for (int d = p->dims - 1; d >= 0; d--) {
        at[d] = i % p->size[d] + p->offset[d];
        *memory += i % p->size[d] * p->stride[d];
        i /= p->size[d];
    }
    if (p->dims > a->dims) /* one dimension in two: coefficients k1 + n1 k2, and images of others */
        return at[0] + a->whole / p->n[1] * at[1];
    return (at[0] * a->n[1] + at[1]) * a->n[2] + at[2];
}

/* Of a real spectrum in one dimension the second half is the image of the first one. */
static double complex value_of(const struct array *a, int64_t place)
{
    return place < a->count ? a->data[place] : conj(a->data[a->whole - place]);
}

static void *part_of(const struct covey_fft_part *p, const struct array *a)
{
    double *part = calloc(2 * p->count + 2, sizeof *part);
    for (int64_t i = 0; i < (int64_t)p->count; i++) {
        int64_t memory, place = place_of(p, a, i, &memory);
        if (p->is_real)
            part[memory] = creal(value_of(a, place));
        else
            ((double complex *)part)[memory] = value_of(a, place);
    }
    return part;
}

/* The L2 norm of the difference over that of the array times the scale, and the elements that all
 * members have together. */
static double error_of(const struct covey_fft_part *p, const struct array *a, double scale,
                       const void *part, int64_t *elements)
{
    double mine[3] = {0, 0, (double)p->count}, all[3];
    for (int64_t i = 0; i < (int64_t)p->count; i++) {
        int64_t memory, place = place_of(p, a, i, &memory);
        double complex wanted = scale * value_of(a, place);
        double complex got =
            p->is_real ? ((const double *)part)[memory] : ((const double complex *)part)[memory];
        mine[0] += creal((got - wanted) * conj(got - wanted));
        mine[1] += creal(wanted * conj(wanted));
    }
    if (covey_allreduce(team, COVEY_OP_SUM, COVEY_DOUBLE, mine, all, 3) != 0)
        return INFINITY;
    *elements = (int64_t)all[2];
    return sqrt(all[0] / all[1]);
}

static double allowed(const struct array *a)
{
    return 1e-15 * fmax(1, log2((double)a->count));
}

/* ---- Transforms ------------------------------------------------------------------------------ */

struct test {
    int dims;
    int64_t n[3];
    const char *options;
};

static const struct test tests[] = {
    {1, {1}, NULL},
    {1, {2}, "local"},
    {1, {31}, "local"},
    {1, {1009}, NULL},
    {1, {4}, "six-step"},
    {1, {6}, "six-step,order=transposed"},
    {1, {60}, "six-step"},
    {1, {1024}, "six-step,order=transposed"},
    {1, {7 * 11 * 13}, "six-step"},
    {1, {3 * 4099}, "six-step"},
    {1, {720}, "six-step,layout=root"},
    {1, {32768}, "six-step,transpose=pairwise"},
    {2, {1, 1}, NULL},
    {2, {1, 17}, "slab"},
    {2, {17, 1}, "slab"},
    {2, {13, 31}, "slab"},
    {2, {3, 100}, "slab,order=transposed"},
    {2, {100, 3}, "slab"},
    {2, {64, 64}, "slab,transpose=bruck"},
    {2, {37, 20}, "local"},
    {2, {12, 15}, "slab,layout=root"},
    {3, {1, 1, 1}, NULL},
    {3, {8, 9, 10}, "slab"},
    {3, {5, 7, 11}, "slab,order=transposed"},
    {3, {2, 3, 5}, "pencil"},
    {3, {1, 1, 9}, "pencil"},
    {3, {7, 11, 13}, "pencil,order=transposed"},
    {3, {16, 16, 16}, "pencil,transpose=linear"},
    {3, {16, 12, 10}, "pencil,transpose=bruck"},
    {3, {9, 8, 7}, "pencil,layout=root"},
    {3, {6, 5, 4}, "local,layout=root"},
    {3, {32, 16, 8}, "local,plan=measure"},
    {3, {32, 16, 8}, "slab,plan=measure,transpose=longest"},
    {3, {20, 30, 10}, NULL},
    {1, {720}, "six-step,slices=2"},
    {1, {9}, "six-step"},
    {1, {15}, "six-step,order=transposed"},
    {1, {35}, "six-step,layout=root"},
    {1, {60}, "six-step,order=transposed,slices=8"},
    {2, {13, 31}, "slab,slices=4"},
    {2, {24, 20}, "slab,layout=root,slices=2"},
    {3, {16, 9, 15}, "slab,slices=8"},
    {3, {7, 11, 13}, "pencil,slices=4"},
    {3, {12, 10, 9}, "pencil,order=transposed,slices=2"},
    {3, {9, 8, 7}, "local,slices=4"},
};

static void describe(const struct test *t, int kind, char *text, size_t size)
{
    static const char *const names[] = {"", "forward", "backward", "real", "real back"};
    snprintf(text, size, "%s of %d x %d x %d, %s", names[kind], (int)t->n[0], (int)t->n[1],
             (int)t->n[2], t->options != NULL ? t->options : "chosen");
}

/* Executes the plan from one array to another, once in place. */
static void check_execute(covey_fft_t *plan, const char *name, const struct array *from,
                          const struct array *to, double scale)
{
    struct covey_fft_part in, out;
    int64_t elements = 0;
    covey_fft_local(plan, COVEY_FFT_IN, &in);
    covey_fft_local(plan, COVEY_FFT_OUT, &out);
    size_t most = in.count > out.count ? in.count : out.count;
    double *source = part_of(&in, from), *kept = part_of(&in, from);
    double *result = calloc(2 * out.count + 2, sizeof *result);
    double *place = calloc(2 * most + 2, sizeof *place);
    size_t bytes = in.count * (in.is_real ? sizeof(double) : sizeof(double complex));
    memcpy(place, source, bytes);

    check_case("executes", name, covey_fft_execute(plan, source, result) == 0);
    double error = error_of(&out, to, scale, result, &elements);
    check_case("is FFTW's", name, error <= allowed(to));
    int has_images = out.dims > to->dims && to->whole > to->count;
    check_case("has all elements", name,
               has_images ? elements >= to->count : elements == to->count);
    check_case("keeps its input", name, memcmp(source, kept, bytes) == 0);
    check_case("executes in place", name, covey_fft_execute(plan, place, place) == 0);
    check_case("is FFTW's in place", name,
               error_of(&out, to, scale, place, &elements) <= allowed(to));
    free(source);
    free(kept);
    free(result);
    free(place);
}

static void check_transform(const struct test *t, int kind)
{
    char name[120], text[600], options[100];
    covey_fft_t *plan;
    int is_real = kind >= COVEY_FFT_REAL;
    int is_backward = kind == COVEY_FFT_BACKWARD || kind == COVEY_FFT_REAL_BACK;
    describe(t, kind, name, sizeof name);
    int is_measured = t->options != NULL && strstr(t->options, "plan=") != NULL;
    snprintf(options, sizeof options, "%s%s%s", t->options != NULL ? t->options : "",
             t->options != NULL ? "," : "", is_measured ? "" : "plan=estimate");
    int error = covey_fft_plan(team, t->dims, t->n, kind, options, &plan);
    check_case("is planned", name, error == 0);
    if (error != 0)
        return;
    struct array physical = array_new(t->dims, t->n, is_real);
    array_fill(&physical, (uint64_t)t->n[0] * 1000 + (uint64_t)kind);
    struct array spectral = spectrum_of(t->dims, &physical, FFTW_FORWARD);
    if (is_backward)
        check_execute(plan, name, &spectral, &physical, (double)physical.count);
    else
        check_execute(plan, name, &physical, &spectral, 1);
    int length = covey_fft_explain(plan, text, sizeof text);
    check_case("is explained", name,
               length > 0 && length < (int)sizeof text && strstr(text, "local") != NULL);
    check_case("has the algorithm that is forced", name,
               t->options == NULL || strncmp(t->options, covey_fft_algorithm(plan),
                                             strlen(covey_fft_algorithm(plan))) == 0);
    covey_fft_free(&plan);
    check_case("is freed", name, plan == NULL);
    free(physical.data);
    free(spectral.data);
}

/* ---- A convolution without transposing back -------------------------------------------------- */

/* The sum over all shifts, by its definition. */
static struct array convolution_of(const struct array *a, const struct array *b)
{
    struct array c = array_new(3, a->n, 0);
    for (int64_t i = 0; i < a->count; i++)
        for (int64_t j = 0; j < b->count; j++) {
            int64_t at = 0, rest_i = i, rest_j = j, step = 1;
            for (int d = 2; d >= 0; d--) {
                at += (rest_i % a->n[d] + rest_j % a->n[d]) % a->n[d] * step;
                step *= a->n[d];
                rest_i /= a->n[d];
                rest_j /= a->n[d];
            }
            c.data[at] += a->data[i] * b->data[j];
        }
    return c;
}

static int plan_both(const struct test *t, int is_real, covey_fft_t **forward,
                     covey_fft_t **backward)
{
    int there = is_real ? COVEY_FFT_REAL : COVEY_FFT_FORWARD;
    int back = is_real ? COVEY_FFT_REAL_BACK : COVEY_FFT_BACKWARD;
    int error = covey_fft_plan(team, t->dims, t->n, there, t->options, forward);
    return error < 0 ? error : covey_fft_plan(team, t->dims, t->n, back, t->options, backward);
}

static void check_convolution(const struct test *t, int is_real)
{
    covey_fft_t *forward, *backward;
    struct covey_fft_part in, out;
    int64_t elements;
    struct array a = array_new(t->dims, t->n, is_real), b = array_new(t->dims, t->n, is_real);
    array_fill(&a, 5);
    array_fill(&b, 70000);
    struct array wanted = convolution_of(&a, &b);
    if (plan_both(t, is_real, &forward, &backward) != 0) {
        check_case("has plans both ways", t->options, 0);
        return;
    }
    covey_fft_local(forward, COVEY_FFT_IN, &in);
    covey_fft_local(backward, COVEY_FFT_OUT, &out);
    void *x = part_of(&in, &a), *y = part_of(&in, &b);
    double complex *result = calloc(out.count + 1, sizeof *result);
    for (int run = 0; run < 2; run++) {
        check_case("convolves", t->options,
                   covey_fft_convolve(forward, backward, x, y, result) == 0);
        check_case("is the convolution", t->options,
                   error_of(&out, &wanted, 1, result, &elements) <= 4 * allowed(&a));
    }
    check_case("goes there before it goes back", t->options,
               covey_fft_convolve(backward, forward, x, y, result) == COVEY_EINVAL);
    check_case("needs plans", t->options,
               covey_fft_convolve(forward, NULL, x, y, result) == COVEY_EINVAL);
    covey_fft_free(&forward);
    covey_fft_free(&backward);
    free(result);
    free(x);
    free(y);
    free(a.data);
    free(b.data);
    free(wanted.data);
}

static const struct test convolutions[] = {
    {1, {180}, "six-step,order=transposed"},
    {2, {12, 15}, "slab,order=transposed"},
    {3, {5, 6, 7}, "pencil,order=transposed"},
    {3, {5, 6, 7}, "local,order=transposed"},
    {1, {77}, "six-step"},
    {1, {31}, "local"},
};

/* Two plans that put spectra in different orders are no pair. */
static void check_no_pair(void)
{
    const int64_t n[] = {12, 15};
    covey_fft_t *forward = NULL, *backward = NULL;
    double complex array[12 * 15];
    check("a plan there",
          covey_fft_plan(team, 2, n, COVEY_FFT_FORWARD, "slab,order=transposed", &forward) == 0);
    check("and another back",
          covey_fft_plan(team, 2, n, COVEY_FFT_BACKWARD, "slab", &backward) == 0);
    check("are no pair",
          covey_fft_convolve(forward, backward, array, array, array) == COVEY_EINVAL);
    covey_fft_free(&forward);
    covey_fft_free(&backward);
}

/* Two plans of one array without options begin where the other ends, whichever comes first. */
static void check_follows(const char *algorithm, int first, int second)
{
    const int64_t n[] = {9, 8, 7};
    covey_fft_t *one = NULL, *other = NULL;
    struct covey_fft_part end, begin;
    check_case("is planned first", algorithm,
               covey_fft_plan(team, 3, n, first, algorithm, &one) == 0);
    check_case("is planned back", algorithm, covey_fft_plan(team, 3, n, second, NULL, &other) == 0);
    check_case("is followed", algorithm,
               one != NULL && other != NULL &&
                   strcmp(covey_fft_algorithm(one), covey_fft_algorithm(other)) == 0 &&
                   covey_fft_local(one, COVEY_FFT_OUT, &end) == 0 &&
                   covey_fft_local(other, COVEY_FFT_IN, &begin) == 0 &&
                   memcmp(&end, &begin, sizeof end) == 0);
    covey_fft_free(&one);
    covey_fft_free(&other);
}

static void check_followers(void)
{
    static const char *const algorithms[] = {"local", "slab", "pencil"};
    for (size_t i = 0; i < sizeof algorithms / sizeof *algorithms; i++) {
        check_follows(algorithms[i], COVEY_FFT_FORWARD, COVEY_FFT_BACKWARD);
        check_follows(algorithms[i], COVEY_FFT_REAL_BACK, COVEY_FFT_REAL);
    }
}

/* ---- Sines and cosines ----------------------------------------------------------------------- */

struct r2r_test {
    int dims;
    int64_t n[3];
    int32_t kinds[3];
    const char *options;
};

static const struct r2r_test r2r_tests[] = {
    {1, {1}, {COVEY_FFT_DST1}, NULL},
    {1, {2}, {COVEY_FFT_DCT1}, NULL},
    {1, {31}, {COVEY_FFT_DCT2}, NULL},
    {2, {13, 17}, {COVEY_FFT_DST1, COVEY_FFT_DST1}, "slab"},
    {2, {20, 9}, {COVEY_FFT_DCT3, COVEY_FFT_DST2}, "slab,order=transposed"},
    {2, {16, 12}, {COVEY_FFT_DCT4, COVEY_FFT_DST4}, "slab,slices=4"},
    {3, {7, 8, 9}, {COVEY_FFT_DST1, COVEY_FFT_DCT1, COVEY_FFT_DCT2}, "slab"},
    {3, {7, 8, 9}, {COVEY_FFT_DST3, COVEY_FFT_DST2, COVEY_FFT_DCT1}, "pencil"},
    {3, {12, 10, 9}, {COVEY_FFT_DCT2, COVEY_FFT_DCT2, COVEY_FFT_DCT2}, "pencil,slices=2"},
    {3, {5, 6, 7}, {COVEY_FFT_DCT2, COVEY_FFT_DST4, COVEY_FFT_DST1}, "local,layout=root"},
    {3, {16, 15, 14}, {COVEY_FFT_DST1, COVEY_FFT_DST1, COVEY_FFT_DST1}, NULL},
};

static struct array r2r_of(const struct r2r_test *t, const struct array *a)
{
    static const fftw_r2r_kind kinds[] = {0,
                                          FFTW_REDFT00,
                                          FFTW_REDFT10,
                                          FFTW_REDFT01,
                                          FFTW_REDFT11,
                                          FFTW_RODFT00,
                                          FFTW_RODFT10,
                                          FFTW_RODFT01,
                                          FFTW_RODFT11};
    int n[3] = {(int)a->n[0], (int)a->n[1], (int)a->n[2]};
    fftw_r2r_kind along[3];
    struct array result = array_new(t->dims, t->n, 1);
    double *in = calloc((size_t)a->count, sizeof *in), *out = calloc((size_t)a->count, sizeof *out);
    for (int i = 0; i < t->dims; i++)
        along[i] = kinds[t->kinds[i]];
    fftw_plan plan = fftw_plan_r2r(t->dims, n, in, out, along, FFTW_ESTIMATE);
    for (int64_t i = 0; i < a->count; i++)
        in[i] = creal(a->data[i]);
    fftw_execute(plan);
    for (int64_t i = 0; i < a->count; i++)
        result.data[i] = out[i];
    fftw_destroy_plan(plan);
    free(in);
    free(out);
    return result;
}

static void check_r2r(const struct r2r_test *t)
{
    char name[120];
    covey_fft_t *plan;
    snprintf(name, sizeof name, "sums of kinds %d %d %d of %d x %d x %d, %s", (int)t->kinds[0],
             (int)t->kinds[1], (int)t->kinds[2], (int)t->n[0], (int)t->n[1], (int)t->n[2],
             t->options != NULL ? t->options : "chosen");
    int error = covey_fft_plan_r2r(team, t->dims, t->n, t->kinds, t->options, &plan);
    check_case("is planned", name, error == 0);
    if (error != 0)
        return;
    struct array a = array_new(t->dims, t->n, 1);
    array_fill(&a, 99);
    struct array wanted = r2r_of(t, &a);
    check_execute(plan, name, &a, &wanted, 1);
    covey_fft_free(&plan);
    free(a.data);
    free(wanted.data);
}

static void check_r2r_refused(const char *why, const int64_t *n, const int32_t *kinds,
                              const char *options)
{
    covey_fft_t *plan = (covey_fft_t *)&plan;
    int error = covey_fft_plan_r2r(team, 1, n, kinds, options, &plan);
    check_case("is refused", why, error == COVEY_EINVAL && plan == NULL);
}

static void check_r2r_refusals(void)
{
    const int64_t one = 1, many = 12;
    const int32_t first = COVEY_FFT_DCT1, none = 0, other = 9, mine = 2 + !covey_team_rank(team);
    check_r2r_refused("kinds NULL", &many, NULL, NULL);
    check_r2r_refused("a kind of 0", &many, &none, NULL);
    check_r2r_refused("a kind of 9", &many, &other, NULL);
    check_r2r_refused("sizes NULL", NULL, &first, NULL);
    check_r2r_refused("one number between two ends", &one, &first, NULL);
    check_r2r_refused("six steps of cosines", &many, &first, "six-step");
    if (covey_team_size(team) > 1)
        check_r2r_refused("one member's kind of cosines", &many, &mine, NULL);
}

/* ---- What is refused ------------------------------------------------------------------------- */

static void check_refused(const char *why, int dims, const int64_t *n, int kind,
                          const char *options)
{
    covey_fft_t *plan = (covey_fft_t *)&plan;
    int error = covey_fft_plan(team, dims, n, kind, options, &plan);
    check_case("is refused", why, error == COVEY_EINVAL && plan == NULL);
    check_case("says why", why, covey_domain_error_text()[0] != '\0');
}

static void check_refusals(void)
{
    const int64_t n[] = {8, 8, 8}, zero[] = {8, 0, 8}, negative[] = {-1};
    const int64_t huge[] = {(int64_t)1 << 40, (int64_t)1 << 40}, prime[] = {13};
    int rank = covey_team_rank(team);
    check_refused("no dimensions", 0, n, COVEY_FFT_FORWARD, NULL);
    check_refused("4 dimensions", 4, n, COVEY_FFT_FORWARD, NULL);
    check_refused("sizes NULL", 2, NULL, COVEY_FFT_FORWARD, NULL);
    check_refused("a size of 0", 3, zero, COVEY_FFT_FORWARD, NULL);
    check_refused("a size below 0", 1, negative, COVEY_FFT_FORWARD, NULL);
    check_refused("too many elements", 2, huge, COVEY_FFT_FORWARD, NULL);
    check_refused("no such kind", 1, n, 5, NULL);
    check_refused("no such algorithm", 3, n, COVEY_FFT_FORWARD, "fft=brick");
    check_refused("no such option", 3, n, COVEY_FFT_FORWARD, "speed=high");
    check_refused("a grid of others", 3, n, COVEY_FFT_FORWARD, "grid=99x2");
    check_refused("a grid that is none", 3, n, COVEY_FFT_FORWARD, "grid=1y1");
    check_refused("pencils of a plane", 2, n, COVEY_FFT_FORWARD, "pencil");
    check_refused("slabs of a line", 1, n, COVEY_FFT_FORWARD, "slab");
    check_refused("six steps of a prime", 1, prime, COVEY_FFT_FORWARD, "six-step");
    check_refused("six steps of a real prime", 1, prime, COVEY_FFT_REAL, "six-step");
    if (covey_team_size(team) == 1)
        return;
    check_refused("one member's kind", 2, n, rank == 0 ? 1 : 2, NULL);
    check_refused("one member's size", 1, rank == 1 ? zero + 1 : n, COVEY_FFT_FORWARD, NULL);
    check_refused("one member's options", 1, n, COVEY_FFT_FORWARD, rank == 1 ? "fft=x" : NULL);
}

static void check_nulls(void)
{
    const int64_t n[] = {8, 8, 8};
    struct covey_fft_part part;
    covey_fft_t *none = NULL;
    char text[10];
    check("no team", covey_fft_plan(NULL, 1, n, COVEY_FFT_FORWARD, NULL, &none) == COVEY_EINVAL);
    check("no place", covey_fft_plan(team, 1, n, COVEY_FFT_FORWARD, NULL, NULL) == COVEY_EINVAL);
    check("no plan to execute", covey_fft_execute(NULL, text, text) == COVEY_EINVAL);
    check("no plan of parts", covey_fft_local(NULL, COVEY_FFT_IN, &part) == COVEY_EINVAL);
    check("no plan to explain", covey_fft_explain(NULL, text, sizeof text) == COVEY_EINVAL);
    check("no algorithm of no plan", covey_fft_algorithm(NULL) == NULL);
    covey_fft_free(NULL);
    covey_fft_free(&none);
}

/* More memory than there is, at one member or at all, is an error at all. */
static void check_memory(void)
{
    const int64_t n[] = {1 << 18, 1 << 18, 1 << 18};
    static const char *const options[] = {"local,layout=root", "slab", "pencil"};
    for (int i = 0; i < 3; i++) {
        covey_fft_t *plan;
        int error = covey_fft_plan(team, 3, n, COVEY_FFT_FORWARD, options[i], &plan);
        check_case("is too large", options[i], error == COVEY_ENOMEM && plan == NULL);
        covey_fft_free(&plan);
    }
}

/* An array that is NULL at one member ends the call at all: the plan's teams are broken. */
static void check_null_array(void)
{
    const int64_t n[] = {64, 64, 64};
    double *array = calloc(2 * 64 * 64 * 64, sizeof *array);
    struct covey_fft_part part;
    covey_fft_t *plan;
    if (covey_fft_plan(team, 3, n, COVEY_FFT_FORWARD, "pencil", &plan) != 0) {
        check("a plan whose array is NULL", 0);
        return;
    }
    check("no side", covey_fft_local(plan, 3, &part) == COVEY_EINVAL);
    check("no rank", covey_fft_local_of(plan, COVEY_FFT_IN, -1, &part) == COVEY_EINVAL);
    check("no part", covey_fft_local(plan, COVEY_FFT_IN, NULL) == COVEY_EINVAL);
    int last = covey_team_rank(team) == covey_team_size(team) - 1;
    int error = covey_fft_execute(plan, last ? NULL : array, array);
    check_case("ends at all", "an array NULL at one", last ? error == COVEY_EINVAL : error < 0);
    covey_fft_free(&plan);
    free(array);
}

/* The text of the environment counts, and the chosen algorithm is one that can be taken. */
static void check_environment(void)
{
    const int64_t n[] = {8, 8, 8};
    covey_fft_t *plan;
    setenv("COVEY_FFT", "fft=pencil,grid=1x1", 1);
    int error = covey_fft_plan(team, 3, n, COVEY_FFT_FORWARD, "slab", &plan);
    int one = covey_team_size(team) == 1;
    check("the environment's grid", one ? error == 0 : error == COVEY_EINVAL);
    check("the environment's algorithm", !one || strcmp(covey_fft_algorithm(plan), "pencil") == 0);
    covey_fft_free(&plan);
    unsetenv("COVEY_FFT");
}

/* ---- The story ------------------------------------------------------------------------------- */

static void tell_part(void)
{
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
        for (int kind = COVEY_FFT_FORWARD; kind <= COVEY_FFT_REAL_BACK; kind++)
            check_transform(&tests[i], kind);
    for (size_t i = 0; i < sizeof convolutions / sizeof *convolutions; i++)
        for (int is_real = 0; is_real < 2; is_real++)
            check_convolution(&convolutions[i], is_real);
    for (size_t i = 0; i < sizeof r2r_tests / sizeof *r2r_tests; i++)
        check_r2r(&r2r_tests[i]);
    check_no_pair();
    check_followers();
    check_r2r_refusals();
    check_refusals();
    check_nulls();
    check_environment();
    check_memory();
    check_null_array();
}

/* The last member ends while the others transform: all of them get an error. */
static void check_end(void)
{
    const int64_t n[] = {32, 32, 32};
    covey_fft_t *plan;
    double *array = calloc(2 * 32 * 32 * 32, sizeof *array);
    check("a plan of all", covey_fft_plan(team, 3, n, COVEY_FFT_FORWARD, "pencil", &plan) == 0);
    check("it executes", covey_fft_execute(plan, array, array) == 0);
    covey_barrier(team); /* it ends when all have executed: of those still in here some may fail */
    if (covey_team_rank(team) == covey_team_size(team) - 1)
        raise(SIGKILL);
    int error = 0;
    for (int i = 0; error == 0 && i < 1000; i++)
        error = covey_fft_execute(plan, array, array);
    check("a member's end is an error",
          error == COVEY_ENOTASK || error == COVEY_EHOSTFAIL || error == COVEY_ECANCELED);
    check("which has words", strlen(covey_domain_error_text()) > 20);
    covey_fft_free(&plan);
    free(array);
}

static void tell(covey_team_t *all)
{
    story_parts(all, &team, tell_part);
    team = all;
    check_end();
}

int main(int argc, char **argv)
{
    static const struct story story = {.group = "fourier", .members_max = 16, .tell = tell};
    return story_main(argc, argv, &story);
}
