/*
 * fft_options.c - the arguments of a plan: refused at all members for what is wrong at one, so that
 * nobody waits for a member that went away with an error.
 */
#include <fftw3.h>
#include <stdio.h>
#include <string.h>

#include "lib/domain/base/agree.h"
#include "lib/domain/base/error.h"
#include "lib/domain/base/options.h"
#include "lib/domain/covey_domain/fourier.h"
#include "lib/domain/fourier/fft_options.h"

#define ELEMENTS_MAX ((int64_t)1 << 56)

/* ---- The problem ----------------------------------------------------------------------------- */

static int check_kind(const struct fft_request *r)
{
    if (!r->is_r2r && (r->kind < COVEY_FFT_FORWARD || r->kind > COVEY_FFT_REAL_BACK))
        return domain_fail(COVEY_EINVAL, "there is no kind %d of transform", r->kind);
    if (r->is_r2r && r->kinds == NULL)
        return domain_fail(COVEY_EINVAL, "the kinds along the axes are NULL");
    for (int i = 0; r->is_r2r && i < r->dims; i++) {
        if (r->kinds[i] < COVEY_FFT_DCT1 || r->kinds[i] > COVEY_FFT_DST4)
            return domain_fail(COVEY_EINVAL, "there is no kind %d of sines or cosines",
                               (int)r->kinds[i]);
        if (r->kinds[i] == COVEY_FFT_DCT1 && r->n[i] < 2)
            return domain_fail(COVEY_EINVAL, "DCT1 needs at least 2 numbers along axis %d", i);
    }
    return 0;
}

static int check(const struct fft_request *r)
{
    int64_t elements = 1;
    if (r->n == NULL || r->dims < 1 || r->dims > COVEY_FFT_DIMS_MAX)
        return domain_fail(COVEY_EINVAL, "sizes are NULL, or %d dimensions are not 1 to 3",
                           r->dims);
    for (int i = 0; i < r->dims; i++) {
        if (r->n[i] < 1 || r->n[i] > ELEMENTS_MAX / elements)
            return domain_fail(COVEY_EINVAL, "size %lld: each is at least 1, all together 2^56",
                               (long long)r->n[i]);
        elements *= r->n[i];
    }
    return check_kind(r);
}

static void problem_set(struct fft_problem *problem, const struct fft_request *r)
{
    int kind = r->is_r2r ? 0 : r->kind;
    problem->is_r2r = r->is_r2r;
    problem->is_real = kind == COVEY_FFT_REAL || kind == COVEY_FFT_REAL_BACK;
    problem->is_backward = kind == COVEY_FFT_BACKWARD || kind == COVEY_FFT_REAL_BACK;
    for (int i = 0; i < r->dims; i++) {
        problem->n[i] = r->n[i];
        problem->kinds[i] = r->is_r2r ? (int)r->kinds[i] : 0;
    }
}

int fft_problem_agree(covey_team_t *team, const struct fft_request *request,
                      struct fft_problem *problem)
{
    enum { DIMS, KIND, FIRST_SIZE, FIRST_KIND = FIRST_SIZE + FFT_AXES };
    int64_t figures[FIRST_KIND + FFT_AXES] = {
        [DIMS] = request->dims, [KIND] = request->is_r2r ? 0 : request->kind};
    int error = check(request);
    *problem = (struct fft_problem){.dims = request->dims, .n = {1, 1, 1}};
    if (error == 0)
        problem_set(problem, request);
    for (int i = 0; i < FFT_AXES; i++) {
        figures[FIRST_SIZE + i] = problem->n[i];
        figures[FIRST_KIND + i] = problem->kinds[i];
    }
    return domain_agree_same(team, error, figures, FIRST_KIND + FFT_AXES, FFT_WHAT);
}

/* ---- Options --------------------------------------------------------------------------------- */

const char *const fft_algorithm_names[] = {"local", "slab", "pencil", "six-step", NULL};

static const char *const transpose_names[] = {"linear",   "pairwise", "scheduled", "longest",
                                              "adaptive", "bruck",    NULL};
static const char *const order_names[] = {"natural", "transposed", NULL};
static const char *const layout_names[] = {"blocks", "root", NULL};
static const char *const slices_names[] = {"1", "2", "4", "8", NULL};
static const char *const effort_names[] = {"estimate", "measure", "patient", NULL};
static const unsigned efforts[] = {FFTW_ESTIMATE, FFTW_MEASURE, FFTW_PATIENT};

enum { FFT_KEY, TRANSPOSE_KEY, ORDER_KEY, LAYOUT_KEY, PLAN_KEY, GRID_KEY, SLICES_KEY, KEYS };

/* On each host a row, if ranks stand so and hosts have several; otherwise nearly a square. */
static int usual_columns(const covey_team_t *team)
{
    int size = covey_team_size(team), columns = 1;
    while (columns < size &&
           covey_tid_host(covey_team_tid(team, columns)) == covey_tid_host(covey_team_tid(team, 0)))
        columns++;
    int rows_are_hosts = columns > 1 && columns < size && size % columns == 0;
    for (int i = 0; rows_are_hosts && i < size; i++)
        rows_are_hosts = covey_tid_host(covey_team_tid(team, i)) ==
                         covey_tid_host(covey_team_tid(team, i - i % columns));
    if (rows_are_hosts)
        return columns;
    for (columns = 1; columns * columns < size || size % columns != 0; columns++)
        continue;
    return columns;
}

static int set_grid(const covey_team_t *team, const char *text, struct fft_grid *grid)
{
    int size = covey_team_size(team), end = 0;
    grid->columns = usual_columns(team);
    grid->rows = size / grid->columns;
    if (text[0] == '\0')
        return 0;
    if (sscanf(text, "%6dx%6d%n", &grid->rows, &grid->columns, &end) != 2 || text[end] != '\0' ||
        grid->rows < 1 || grid->columns < 1 || (int64_t)grid->rows * grid->columns != size)
        return domain_fail(COVEY_EINVAL, "grid '%s' is not ROWSxCOLUMNS of %d members", text, size);
    return 0;
}

int fft_options_agree(covey_team_t *team, const char *text, struct fft_options *options)
{
    struct domain_option keys[KEYS] = {
        [FFT_KEY] = {.key = "fft", .names = fft_algorithm_names},
        [TRANSPOSE_KEY] = {.key = "transpose", .names = transpose_names},
        [ORDER_KEY] = {.key = "order", .names = order_names},
        [LAYOUT_KEY] = {.key = "layout", .names = layout_names},
        [PLAN_KEY] = {.key = "plan", .names = effort_names},
        [GRID_KEY] = {.key = "grid"},
        [SLICES_KEY] = {.key = "slices", .names = slices_names}};
    int error = domain_options_agree(team, text, "COVEY_FFT", keys, KEYS);
    if (error < 0)
        return error;
    int transpose = keys[TRANSPOSE_KEY].value, effort = keys[PLAN_KEY].value;
    *options = (struct fft_options){
        .forced = keys[FFT_KEY].value,
        .transpose = transpose >= 0 ? transpose_names[transpose] : NULL,
        .padded = transpose >= 0 && strcmp(transpose_names[transpose], "bruck") == 0,
        .slices = 1 << (keys[SLICES_KEY].value > 0 ? keys[SLICES_KEY].value : 0),
        .effort = effort < 0 ? FFTW_MEASURE : efforts[effort],
        .ends = {.transposed = keys[ORDER_KEY].value == 1, .at_root = keys[LAYOUT_KEY].value == 1}};
    return set_grid(team, keys[GRID_KEY].text, &options->grid);
}
