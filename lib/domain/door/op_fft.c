/*
 * op_fft.c - covey_fft(): a plan of covey_fft(3) both of whose sides are whole at rank 0, which
 * then sends and fetches by itself, once.
 *
 *   arguments: n[0] kind, n[1] dims, n[2..4] sizes; in[0], out[0]
 */
#include "lib/domain/base/error.h"
#include "lib/domain/covey_domain/fourier.h"
#include "lib/domain/door/door.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int no_fftw(void)
{
    return domain_fail(COVEY_EINVAL, "covey_fft: this library was built without FFTW 3");
}

#if __has_include(<fftw3.h>)
#include "lib/domain/fourier/fft_cost.h"
#include "lib/domain/fourier/fft_options.h"

#include <fftw3.h>

#define OPTIONS_BYTES (DOOR_OPTION_BYTES + 64)

/* The caller's array is written when the transform is complete: where it is its own result, or
 * several members take part, that lies elsewhere until then. */
static int execute(covey_fft_t *plan, const struct door_member *member,
                   const struct door_args *args)
{
    struct covey_fft_part part;
    void *whole = NULL;
    if (covey_team_rank(member->team) > 0)
        return covey_fft_execute(plan, NULL, NULL);
    covey_fft_local(plan, COVEY_FFT_OUT, &part);
    size_t bytes = part.count * (part.is_real ? sizeof(double) : 2 * sizeof(double));
    if (covey_team_size(member->team) == 1)
        return covey_fft_execute(plan, args->in[0], args->out[0]);
    whole = aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (whole == NULL)
        return domain_break(
            member->team, domain_fail(COVEY_ENOMEM, "no memory for a result of %zu bytes", bytes));
    int error = covey_fft_execute(plan, args->in[0], whole);
    if (error == 0)
        memcpy(args->out[0], whole, bytes);
    free(whole);
    return error;
}

static int run_fft(struct door_member *member, const struct door_args *args)
{
    covey_fft_t *plan = NULL;
    char options[OPTIONS_BYTES];
    int is_alone = covey_team_size(member->team) == 1;
    snprintf(options, sizeof options, "layout=root,plan=estimate%s%s",
             member->options[0] != '\0' ? "," : "", member->options);
    int error =
        covey_fft_plan(member->team, (int)args->n[1], args->n + 2, (int)args->n[0], options, &plan);
    if (error < 0)
        return error;
    snprintf(member->algorithm, sizeof member->algorithm, "%s",
             is_alone ? "local" : covey_fft_algorithm(plan));
    error = execute(plan, member, args);
    covey_fft_free(&plan);
    return error;
}

/* ---- what it takes ---- */

static double elements_of(const struct door_args *args)
{
    double n = 1;
    for (int i = 0; i < args->n[1]; i++)
        n *= (double)args->n[2 + i];
    return n;
}

/* By which a transform is short: then nothing is measured for it. */
#define ROUGH_S 1e-9 /* of 5 n log2 n */
#define SHORT_S 1.5e-3
#define PLAN_S 5e-3 /* agreeing, and measuring the network */

/* The least of the plan's own predictions, of arrays that begin and end at the caller. */
static double cost_fft(const struct door_args *args, const struct door_setting *s)
{
    const struct fft_request request = {
        .dims = (int)args->n[1], .n = args->n + 2, .kind = (int)args->n[0]};
    const struct fft_ends ends = {.at_root = 1};
    const struct fft_grid grid = fft_grid_usual(&s->place.network);
    struct fft_problem problem;
    struct fft_speed speed;
    struct fft_path path;
    double n = elements_of(args), rough_s = 5 * n * log2(fmax(n, 2)) * ROUGH_S, least_s = HUGE_VAL;
    if (s->tasks < 2 && rough_s < SHORT_S)
        return rough_s;
    if (fft_problem_agree(s->alone, &request, &problem) < 0 ||
        fft_speed_agree(s->alone, FFTW_ESTIMATE, &door_place_alone, &speed) < 0)
        return HUGE_VAL; /* the plan says what is wrong */
    for (int a = FFT_LOCAL; a < FFT_ALGORITHMS; a++) {
        if ((s->tasks < 2) != (a == FFT_LOCAL) || fft_path_refusal(a, &problem) != NULL)
            continue;
        fft_path_make(a, &problem, &ends, &grid, &path);
        least_s = fmin(least_s, fft_cost(&path, &s->place, &speed));
    }
    return s->tasks < 2 ? least_s : PLAN_S + least_s;
}

static int is_ready(void)
{
    return 1;
}
#else
static int run_fft(struct door_member *member, const struct door_args *args)
{
    (void)member, (void)args;
    return no_fftw();
}

static double cost_fft(const struct door_args *args, const struct door_setting *s)
{
    (void)args, (void)s;
    return 0;
}

static int is_ready(void)
{
    return 0;
}
#endif

const struct door_op door_fft = {.name = "covey_fft", .run = run_fft, .cost = cost_fft};

static int is_aligned(const void *array)
{
    return array != NULL && (uintptr_t)array % 16 == 0;
}

/* NOLINTNEXTLINE(readability-function-size): what a transform is */
int covey_fft(covey_t *vm, int dims, const int64_t *n, int kind, const void *in, void *out,
              const char *options, struct covey_door_report *report)
{
    struct door_args args = {.n = {kind, dims}, .in = {in}, .out = {out}};
    if (!is_ready())
        return no_fftw();
    if (dims < 1 || dims > COVEY_FFT_DIMS_MAX || n == NULL)
        return domain_fail(COVEY_EINVAL, "covey_fft: %d dimensions: allowed are 1 to %d", dims,
                           COVEY_FFT_DIMS_MAX);
    if (kind < COVEY_FFT_FORWARD || kind > COVEY_FFT_REAL_BACK)
        return domain_fail(COVEY_EINVAL, "covey_fft: there is no kind %d", kind);
    if (!is_aligned(in) || !is_aligned(out))
        return domain_fail(COVEY_EINVAL,
                           "covey_fft: an array is NULL, or begins at no multiple of 16 bytes");
    for (int i = 0; i < dims; i++) {
        if (n[i] < 1)
            return domain_fail(COVEY_EINVAL, "covey_fft: size %lld of dimension %d is below 1",
                               (long long)n[i], i);
        args.n[2 + i] = n[i];
    }
    return door_call(vm, DOOR_FFT, &args, options, report);
}
