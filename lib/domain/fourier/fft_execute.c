/*
 * fft_execute.c - carries out a plan: from stage to stage, a transform in each that has one and an
 * exchange to the next.
 *
 * The array is where `at` points: in the caller's `in` at first, which is only read, then in the
 * first buffer, at last in the caller's `out`.
 */
#include <assert.h>
#include <string.h>

#include "lib/domain/base/clock.h"
#include "lib/domain/base/error.h"
#include "lib/domain/base/history.h"
#include "lib/domain/base/part.h"
#include "lib/domain/fourier/fft.h"
#include "lib/domain/fourier/fft_mirror.h"

static void turn(const struct covey_fft *plan, const struct fft_slice *slice, double *data)
{
    struct fft_box box, whole;
    if (!plan->path.stages[slice->stage].twiddle)
        return;
    fft_kernel_box(&plan->path, slice, 1, plan->rank, &box, &whole);
    if (box.count > 0)
        fft_twiddle_apply(plan->twiddle, &box, plan->problem.is_backward,
                          data + 2 * fft_box_place(&whole, &box));
}

/* Doubles from the beginning of the array to the slice, before the transform or behind it. */
static int64_t beginning(const struct covey_fft *plan, const struct fft_slice *slice, int is_behind)
{
    struct fft_box box, whole;
    int side = is_behind != plan->problem.is_backward;
    fft_kernel_box(&plan->path, slice, side, plan->rank, &box, &whole);
    return box.count == 0
               ? 0
               : fft_box_place(&whole, &box) * fft_path_width(&plan->path, slice->stage, side);
}

/* Both arrays are the plan's own, unless `to` is the caller's. */
static void transform_mirror(const struct covey_fft *plan, int stage, double *from, double *to)
{
    int is_backward = plan->problem.is_backward;
    double *rows = is_backward ? to : from;
    if (is_backward)
        fft_mirror_remove(&plan->path, stage, plan->rank, from, to);
    fft_kernel_run(plan->kernels[stage][0], FFT_COMPLEX, is_backward, rows, rows);
    if (!is_backward)
        fft_mirror_add(&plan->path, stage, plan->rank, from, to);
}

/* The transform of a slice from one array to another. */
static void transform(const struct covey_fft *plan, int stage, int k, double *from, double *to)
{
    struct fft_slice slice = fft_slice_of(plan, stage, k);
    int is_backward = plan->problem.is_backward;
    if (plan->path.stages[stage].mirror) {
        transform_mirror(plan, stage, from, to);
        return;
    }
    if (plan->path.stages[stage].flat) {
        (is_backward ? fft_mirror_unflatten : fft_mirror_flatten)(&plan->path, stage, plan->rank,
                                                                  from, to);
        return;
    }
    if (is_backward)
        turn(plan, &slice, from);
    fft_kernel_run(plan->kernels[stage][k], plan->path.stages[stage].numbers, is_backward,
                   from + beginning(plan, &slice, 0), to + beginning(plan, &slice, 1));
    if (!is_backward)
        turn(plan, &slice, to);
}

/* Where the transform of the i-th stage on the way goes to. */
static double *target(struct covey_fft *plan, int i, double *out)
{
    int is_middle = i > 0 && i < plan->path.count - 1;
    if (i == plan->path.count - 1)
        return out;
    if (is_middle && fft_stage_moves(plan, i)) {
        double *to = plan->buffers[1];
        plan->buffers[1] = plan->buffers[0];
        plan->buffers[0] = to;
    }
    return plan->buffers[0];
}

static int transforms(const struct covey_fft *plan, int i)
{
    const struct fft_stage *stage = &plan->path.stages[fft_stage_at(plan, i)];
    return stage->axes != 0 || stage->flat;
}

/* Where the array begins its way: a copy, if the caller's would be written to. FFTW destroys what
 * it makes real. */
static double *begin(struct covey_fft *plan, const void *in, const void *out)
{
    int s = fft_stage_at(plan, 0), side = plan->problem.is_backward;
    int destroys = side && plan->path.stages[s].numbers == FFT_HALVED;
    struct fft_box box;
    if (in != out && !destroys)
        return (double *)(uintptr_t)in;
    fft_path_box(&plan->path, s, side, plan->rank, &box);
    double *copy = plan->buffers[transforms(plan, 0) ? 2 : 0];
    if (box.count > 0)
        memcpy(copy, in,
               (size_t)box.count * (size_t)fft_path_width(&plan->path, s, side) * sizeof(double));
    return copy;
}

/* Slice by slice: one is sent while the next one is transformed. An array in the buffer of what
 * comes is transformed as a whole before anything comes. */
static int stream(struct covey_fft *plan, int stage, const struct fft_reshape *reshape,
                  double *from, double *to, double *result)
{
    covey_req_t *requests[FFT_SLICES_MAX] = {NULL};
    int slices = plan->slices[stage], at_once = from == plan->buffers[2], error = 0;
    for (int k = 0; at_once && k < slices; k++)
        transform(plan, stage, k, from, to);
    for (int k = 0; error == 0 && k < slices; k++) {
        if (!at_once)
            transform(plan, stage, k, from, to);
        error = fft_reshape_begin(reshape, k, to, result, plan->buffers, &requests[k]);
    }
    if (error == 0)
        return fft_reshape_end(reshape, to, result, plan->buffers, requests);
    for (int k = 0; k < slices; k++)
        covey_req_free(&requests[k]);
    return error;
}

/* The i-th stage on the way, and the exchange behind it; sets *at to where the array is then. */
static int run_stage(struct covey_fft *plan, int i, double **at, double *out)
{
    int is_last = i + 1 == plan->path.count, s = fft_stage_at(plan, i);
    int next = is_last ? s : fft_stage_at(plan, i + 1);
    double *to = transforms(plan, i) ? target(plan, i, out) : *at;
    double *result = i + 2 == plan->path.count && !transforms(plan, i + 1) ? out : NULL;
    const struct fft_reshape *reshape = &plan->reshapes[s < next ? s : next];
    int error = 0;
    if (plan->slices[s] > 1) {
        error = stream(plan, s, reshape, *at, to, result);
    } else {
        if (transforms(plan, i))
            transform(plan, s, 0, *at, to);
        if (!is_last)
            error = fft_reshape_run(reshape, to, result, plan->buffers);
    }
    *at = result != NULL ? result : plan->buffers[0];
    return error;
}

static int run(struct covey_fft *plan, const void *in, double *out)
{
    double *at = begin(plan, in, out);
    int error = 0;
    for (int i = 0; error == 0 && i < plan->path.count; i++)
        error = run_stage(plan, i, &at, out);
    return error;
}

static int check(const struct covey_fft *plan, const void *array, int side)
{
    struct covey_fft_part part;
    covey_fft_local(plan, side, &part);
    if (part.count > 0 && (array == NULL || (uintptr_t)array % 16 != 0))
        return domain_fail(COVEY_EINVAL,
                           "the array %s is NULL or begins at no multiple of 16 bytes",
                           side == COVEY_FFT_IN ? "in" : "out");
    return 0;
}

int fft_break(struct covey_fft *plan, int error)
{
    for (int g = 0; g < FFT_GROUPS; g++)
        if (plan->teams[g] != NULL)
            domain_break(plan->teams[g], error);
    return error;
}

/* The first executions are told, and some of the later ones: what is known does not change fast. */
static void note(struct covey_fft *plan, double seconds)
{
    const struct domain_algorithm *row = &plan->table[plan->taken];
    if (domain_history_is_told(plan->name, row->name, plan->executions))
        domain_history_note(plan->name, row->name, row->seconds, seconds);
    plan->executions = domain_history_count(plan->executions);
}

int covey_fft_execute(covey_fft_t *plan, const void *in, void *out)
{
    if (plan == NULL)
        return domain_fail(COVEY_EINVAL, "the plan is NULL");
    int error = check(plan, in, COVEY_FFT_IN);
    if (error == 0)
        error = check(plan, out, COVEY_FFT_OUT);
    const struct domain_algorithm *row = &plan->table[plan->taken];
    struct domain_part part;
    domain_part_begin(&part, plan->teams[FFT_ALL], plan->name, row->name, domain_expected_s(row));
    double begin = domain_now_s();
    if (error == 0)
        error = run(plan, in, out);
    domain_part_end(&part);
    if (error == 0)
        note(plan, domain_now_s() - begin);
    return error < 0 ? fft_break(plan, error) : 0;
}
