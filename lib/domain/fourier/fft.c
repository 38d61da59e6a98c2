/*
 * fft.c - plans of distributed Fourier transforms.
 *
 *   fft_layout    how an array is divided, the box of a member, what two boxes have in common
 *   fft_path      the algorithms, each a list of layouts and of the axes transformed in them
 *   fft_kernel    FFTW's plans of transforms and copies
 *   fft_reshape   from one layout to another, by an all-to-all
 *   fft_mirror    the second half of a real spectrum in one dimension
 *   fft_twiddle   roots of unity of the six-step algorithm
 *   fft_speed, fft_cost   what a path is expected to take; fft_library: without a team
 *   fft_options   the arguments of a plan, agreed on
 *   fft_pairs     plans there and back of one array have one algorithm
 *   fft           makes a plan; fft_execute carries it out, fft_info tells of it, fft_convolve
 *                 executes two
 *
 * All follows from the path: which data go where, the memory that is needed, and the costs. A new
 * algorithm is a function in fft_path.c and a name.
 *
 * A plan has teams of its own, in which the algorithm of all-to-alls can be forced, and whose
 * messages are apart from the program's. What fails at one member while it plans is told to all.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/domain/base/agree.h"
#include "lib/domain/base/cache.h"
#include "lib/domain/base/error.h"
#include "lib/domain/base/history.h"
#include "lib/domain/base/options.h"
#include "lib/domain/base/planner.h"
#include "lib/domain/fourier/fft.h"
#include "lib/domain/fourier/fft_cost.h"
#include "lib/domain/fourier/fft_pairs.h"
#include "lib/domain/place/place.h"

int fft_stage_at(const struct covey_fft *plan, int i)
{
    return plan->problem.is_backward ? plan->path.count - 1 - i : i;
}

int fft_stage_moves(const struct covey_fft *plan, int i)
{
    int numbers = plan->path.stages[fft_stage_at(plan, i)].numbers;
    return i == 0 || i == plan->path.count - 1 || numbers == FFT_HALVED ||
           plan->path.stages[fft_stage_at(plan, i)].mirror;
}

struct fft_slice fft_slice_of(const struct covey_fft *plan, int stage, int at)
{
    return (struct fft_slice){.stage = stage,
                              .axis = fft_path_slice_axis(&plan->path, stage),
                              .slices = plan->slices[stage],
                              .at = at};
}

/* ---- The choice ------------------------------------------------------------------------------ */

static void predict(struct covey_fft *plan, const struct covey_domain_place *place,
                    const struct fft_speed *speed)
{
    struct fft_path path;
    for (int a = 0; a < FFT_ALGORITHMS; a++) {
        struct domain_algorithm *row = &plan->table[a];
        *row = (struct domain_algorithm){.name = fft_algorithm_names[a],
                                         .refusal = fft_path_refusal(a, &plan->problem)};
        if (row->refusal != NULL)
            continue;
        fft_path_make(a, &plan->problem, &plan->options.ends, &plan->options.grid, &path);
        row->seconds = fft_cost(&path, place, speed);
    }
}

/* What is learned of one plan counts for those of about as many numbers, on such a network. */
static void name_problem(struct covey_fft *plan, const struct covey_domain_network *network)
{
    snprintf(plan->name, sizeof plan->name, "fft.%d%c%c%c.2^%d.%dx%d.b%d", plan->problem.dims,
             plan->problem.is_r2r    ? 's'
             : plan->problem.is_real ? 'r'
                                     : 'c',
             plan->options.ends.transposed ? 't' : 'n', plan->options.ends.at_root ? 'r' : 'b',
             domain_size_class((double)plan->problem.n[0] * (double)plan->problem.n[1] *
                               (double)plan->problem.n[2]),
             (int)network->members, (int)network->hosts,
             domain_size_class(network->beta_s * 1e12) / 3);
}

static int choose(struct covey_fft *plan, covey_team_t *team)
{
    struct covey_domain_place place;
    struct fft_speed speed;
    int error = domain_place_learn(team, NULL, &place, NULL);
    if (error == 0)
        error = fft_speed_agree(team, plan->options.effort, &place, &speed);
    if (error < 0)
        return error;
    predict(plan, &place, &speed);
    name_problem(plan, &place.network);
    double pair = fft_pairs_find(plan, team); /* of rank 0 it counts */
    plan->taken = domain_choose_told(team, plan->name, plan->table, FFT_ALGORITHMS,
                                     plan->options.forced, &pair, 1);
    if (plan->taken < 0)
        return plan->taken;
    if (plan->options.forced == DOMAIN_CHOSEN && pair >= 0)
        plan->taken = (int)pair;
    fft_path_make(plan->taken, &plan->problem, &plan->options.ends, &plan->options.grid,
                  &plan->path);
    return 0;
}

/* ---- What a path needs ----------------------------------------------------------------------- */

/* colour and key as of covey_team_split(); the algorithm of all-to-alls that the options name. */
static int add_team(struct covey_fft *plan, covey_team_t *team, int group, int colour, int key)
{
    int error = covey_team_split(team, colour, key, &plan->teams[group]);
    const char *operation = plan->options.padded ? "alltoall" : "alltoallv";
    if (error == 0 && plan->options.transpose != NULL)
        error = covey_team_force(plan->teams[group], operation, plan->options.transpose);
    return error < 0 ? domain_fail_of(error, "the team of a transform") : 0;
}

static int add_teams(struct covey_fft *plan, covey_team_t *team)
{
    int columns = plan->options.grid.columns, rank = plan->rank;
    int error = add_team(plan, team, FFT_ALL, 0, rank);
    if (error == 0 && plan->taken == FFT_PENCIL)
        error = add_team(plan, team, FFT_OF_ROW, rank / columns, rank);
    if (error == 0 && plan->taken == FFT_PENCIL)
        error = add_team(plan, team, FFT_OF_COLUMN, rank % columns, rank);
    return error;
}

/* A stage is sliced if it is transformed along other axes than one, and sent on; what changes its
 * size in the middle needs the buffer of what is sent. */
static void set_slices(struct covey_fft *plan)
{
    for (int i = 0; i < plan->path.count; i++) {
        int s = fft_stage_at(plan, i), is_last = i + 1 == plan->path.count;
        int cannot = is_last || (i > 0 && fft_stage_moves(plan, i)) || plan->options.padded ||
                     fft_path_slice_axis(&plan->path, s) < 0;
        plan->slices[s] = cannot ? 1 : plan->options.slices;
    }
}

static int plan_reshapes(struct covey_fft *plan)
{
    for (int i = 0; i + 1 < plan->path.count; i++) {
        int from = fft_stage_at(plan, i), to = fft_stage_at(plan, i + 1);
        int at = from < to ? from : to;
        struct fft_way way = {.from = from,
                              .to = to,
                              .axis = fft_path_slice_axis(&plan->path, from),
                              .slices = plan->slices[from],
                              .padded = plan->options.padded};
        int error =
            fft_reshape_create(&plan->path, &way, plan->rank,
                               plan->teams[plan->path.stages[at].group], &plan->reshapes[at]);
        if (error < 0)
            return domain_fail(error, "no memory for a transpose of a transform");
    }
    return 0;
}

static size_t buffer_doubles(const struct covey_fft *plan)
{
    size_t most = 2;
    for (int s = 0; s < plan->path.count; s++) {
        size_t need[3] = {0, 0,
                          s + 1 < plan->path.count ? fft_reshape_buffer(&plan->reshapes[s]) : 0};
        for (int side = 0; side < 2; side++) {
            struct fft_box box;
            fft_path_box(&plan->path, s, side, plan->rank, &box);
            need[side] = (size_t)box.count * (size_t)fft_path_width(&plan->path, s, side);
        }
        for (int i = 0; i < 3; i++)
            most = need[i] > most ? need[i] : most;
    }
    return most;
}

static int allocate(struct covey_fft *plan)
{
    size_t doubles = buffer_doubles(plan);
    for (int i = 0; i < 3; i++) {
        plan->buffers[i] = fftw_malloc(doubles * sizeof(double));
        if (plan->buffers[i] == NULL)
            return domain_fail(COVEY_ENOMEM, "no memory for three arrays of %zu doubles", doubles);
    }
    if (plan->taken != FFT_SIX_STEP)
        return 0;
    plan->twiddle = fft_twiddle_create(plan->path.elements);
    return plan->twiddle != NULL ? 0 : domain_fail(COVEY_ENOMEM, "no memory for roots of unity");
}

static int plan_kernels(struct covey_fft *plan)
{
    const struct fft_kernel_how how = {.path = &plan->path,
                                       .problem = &plan->problem,
                                       .rank = plan->rank,
                                       .effort = plan->options.effort};
    int error = 0;
    for (int i = 0; i < plan->path.count; i++) {
        int s = fft_stage_at(plan, i), is_moved = !plan->path.stages[s].mirror;
        double *out = plan->buffers[is_moved && fft_stage_moves(plan, i) ? 1 : 0];
        for (int k = 0; error == 0 && k < plan->slices[s]; k++) {
            struct fft_slice slice = fft_slice_of(plan, s, k);
            error = fft_kernel_transform(&how, &slice, plan->buffers[0], out, &plan->kernels[s][k]);
        }
    }
    return error < 0 ? domain_fail(error, "FFTW cannot plan a transform of these sizes") : 0;
}

static int prepare(struct covey_fft *plan)
{
    set_slices(plan);
    domain_planner_lock();
    int error = plan_reshapes(plan);
    if (error == 0)
        error = allocate(plan);
    if (error == 0)
        error = plan_kernels(plan);
    domain_planner_unlock();
    return error;
}

static int make(struct covey_fft *plan, covey_team_t *team, const char *options)
{
    plan->rank = covey_team_rank(team);
    int error = fft_options_agree(team, options, &plan->options);
    if (error == 0)
        error = choose(plan, team);
    if (error == 0)
        error = add_teams(plan, team);
    return error < 0 ? error : domain_agree(team, prepare(plan), FFT_WHAT);
}

static int plan_of(covey_team_t *team, const struct fft_request *request, const char *options,
                   covey_fft_t **plan)
{
    struct fft_problem problem;
    if (team == NULL || plan == NULL)
        return domain_fail(COVEY_EINVAL, "the team or the place for the plan is NULL");
    *plan = NULL;
    int error = fft_problem_agree(team, request, &problem);
    if (error < 0)
        return error;
    covey_fft_t *made = calloc(1, sizeof *made);
    error = domain_agree(team, made != NULL ? 0 : domain_fail(COVEY_ENOMEM, "no memory for a plan"),
                         FFT_WHAT);
    if (error == 0) {
        made->problem = problem;
        error = make(made, team, options);
    }
    if (error < 0)
        covey_fft_free(&made);
    else
        fft_pairs_add(made);
    *plan = made;
    return error;
}

int covey_fft_plan(covey_team_t *team, int dims, const int64_t *n, int kind, const char *options,
                   covey_fft_t **plan)
{
    const struct fft_request request = {.dims = dims, .n = n, .kind = kind};
    return plan_of(team, &request, options, plan);
}

int covey_fft_plan_r2r(covey_team_t *team, int dims, const int64_t *n, const int32_t *kinds,
                       const char *options, covey_fft_t **plan)
{
    const struct fft_request request = {.dims = dims, .n = n, .is_r2r = 1, .kinds = kinds};
    return plan_of(team, &request, options, plan);
}

void covey_fft_free(covey_fft_t **plan)
{
    if (plan == NULL || *plan == NULL)
        return;
    covey_fft_t *p = *plan;
    fft_pairs_remove(p);
    if (p->rank == 0 && p->executions > 0)
        domain_cache_save();
    domain_planner_lock();
    for (int s = 0; s < FFT_STAGES_MAX; s++) {
        for (int k = 0; k < FFT_SLICES_MAX; k++)
            if (p->kernels[s][k] != NULL)
                fftw_destroy_plan(p->kernels[s][k]);
        fft_reshape_free(&p->reshapes[s]);
    }
    domain_planner_unlock();
    for (int g = 0; g < FFT_GROUPS; g++)
        covey_team_free(&p->teams[g]);
    for (int i = 0; i < 3; i++)
        fftw_free(p->buffers[i]);
    for (int i = 0; i < 2; i++)
        fftw_free(p->spectra[i]);
    fft_twiddle_free(p->twiddle);
    free(p);
    *plan = NULL;
}
