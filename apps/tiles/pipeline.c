/*
 * pipeline.c - the tasks of tiles: a team that makes the tiles, measures what a point and a
 * message cost, and runs each trial (a height and a schedule). Costs are measured once for all
 * trials, so that their predictions can be compared.
 */
#include "apps/tiles/pipeline.h"

#include "apps/crew.h"
#include "apps/figures.h"
#include "apps/worker.h"

#include <stdlib.h>
#include <string.h>

#define TIMEOUT_US 60000000 /* until all tasks are a team */
#define WORDS 10            /* of a job, before its sizes */

struct pipeline {
    struct pipeline_job job;
    struct worker *worker;
    covey_team_t *team;
    covey_tiles_t *tiles;
    struct covey_tiles_costs costs; /* as the first trial's were measured */
    double figures[PIPELINE_COMMON + PIPELINE_TRIALS_MAX * PIPELINE_FIGURES];
    struct nest_space *space; /* alone */
    void *values;             /* all */
};

/* ---- the job --------------------------------------------------------------------------------- */

int pipeline_pack(covey_msg_t *msg, const void *context)
{
    const struct pipeline_job *job = context;
    const int32_t words[WORDS] = {
        job->problem.kind, job->check,       job->grid[0],       job->grid[1],       job->grid[2],
        job->along,        job->trial_count, job->problem.roots, job->problem.shape, job->faces};
    int error = covey_pack_int32(msg, words, WORDS, 1);
    if (error >= 0)
        error = covey_pack_int64(msg, job->problem.size, NEST_DIMS, 1);
    for (int i = 0; i < job->trial_count && error >= 0; i++) {
        error = covey_pack_int32(msg, &job->trials[i].schedule, 1, 1);
        if (error >= 0)
            error = covey_pack_int64(msg, &job->trials[i].height, 1, 1);
    }
    return error;
}

static bool is_sane(const struct pipeline_job *job)
{
    bool sane = job->problem.kind >= 0 && job->problem.kind < NEST_KINDS &&
                job->problem.shape >= 0 && job->problem.shape < NEST_SHAPES &&
                job->trial_count >= 1 && job->trial_count <= PIPELINE_TRIALS_MAX &&
                job->along >= 0 && job->along <= NEST_DIMS;
    for (int i = 0; i < NEST_DIMS; i++)
        sane = sane && job->problem.size[i] >= 1 && job->problem.size[i] <= NEST_SIDE_MAX;
    return sane;
}

static int pipeline_unpack(covey_msg_t *msg, struct pipeline_job *job)
{
    int32_t words[WORDS];
    int error = covey_unpack_int32(msg, words, WORDS, 1);
    if (error >= 0)
        error = covey_unpack_int64(msg, job->problem.size, NEST_DIMS, 1);
    if (error < 0)
        return error;
    job->problem.kind = words[0];
    job->check = words[1];
    memcpy(job->grid, words + 2, sizeof job->grid);
    job->along = words[5];
    job->trial_count = words[6];
    job->problem.roots = words[7];
    job->problem.shape = words[8];
    job->faces = words[9];
    if (!is_sane(job))
        return COVEY_EPROTO;
    for (int i = 0; i < job->trial_count && error >= 0; i++) {
        error = covey_unpack_int32(msg, &job->trials[i].schedule, 1, 1);
        if (error >= 0)
            error = covey_unpack_int64(msg, &job->trials[i].height, 1, 1);
    }
    return error;
}

struct covey_tiles_options pipeline_options(const struct pipeline_job *job, int trial)
{
    struct covey_tiles_options options = {
        .schedule = job->trials[trial].schedule, .along = job->along, .faces = job->faces};
    memcpy(options.grid, job->grid, sizeof job->grid);
    if (job->along > 0)
        options.tile[job->along - 1] = job->trials[trial].height;
    return options;
}

int pipeline_plan(const struct pipeline_job *job, int tasks, struct covey_tiles_plan *plan)
{
    const struct covey_tiles_loop loop = nest_loop(&job->problem, true);
    const struct covey_tiles_options options = pipeline_options(job, 0);
    return covey_tiles_plan(&loop, &options, tasks, plan);
}

/* ---- trials ---------------------------------------------------------------------------------- */

/* The costs are measured once, for all trials. */
static int make_tiles(struct pipeline *p, int trial)
{
    const struct covey_tiles_loop loop = nest_loop(&p->job.problem, true);
    struct covey_tiles_options options = pipeline_options(&p->job, trial);
    options.costs = p->costs;
    covey_tiles_free(&p->tiles);
    p->worker->doing = "dividing the loop into tiles";
    return covey_tiles_create(p->team, &loop, &options, &p->tiles);
}

static void note_common(struct pipeline *p, const struct covey_tiles_plan *plan)
{
    double *f = p->figures;
    f[PIPELINE_ALONG] = plan->along;
    f[PIPELINE_TASKS] = plan->tasks;
    for (int i = 0; i < NEST_DIMS; i++) {
        f[PIPELINE_GRID + i] = plan->grid[i];
        f[PIPELINE_TILE + i] = (double)plan->tile[i];
    }
    p->costs = plan->costs;
    f[PIPELINE_POINT_S] = p->costs.point_s;
    f[PIPELINE_ALPHA_S] = p->costs.alpha_s;
    f[PIPELINE_BETA_S] = p->costs.beta_s;
    f[PIPELINE_START_S] = p->costs.start_s;
    f[PIPELINE_DRAG_S] = p->costs.drag_s;
    f[PIPELINE_STORE_S] = p->costs.store_s;
}

/* Of all tasks: the slowest one's time, and the sums of the others. */
static int put_together(struct pipeline *p, const struct covey_tiles_timing *timing, double *f)
{
    const double sums[] = {timing->computation_s, timing->packing_s,        timing->communication_s,
                           timing->idle_s,        (double)timing->messages, (double)timing->puts};
    int error = covey_reduce(p->team, 0, COVEY_OP_MAX, COVEY_DOUBLE, &timing->total_s,
                             &f[PIPELINE_TOTAL_S], 1);
    return error < 0 ? error
                     : covey_reduce(p->team, 0, COVEY_OP_SUM, COVEY_DOUBLE, sums,
                                    &f[PIPELINE_COMPUTATION_S], 6);
}

static int note_trial(struct pipeline *p, int trial, const struct covey_tiles_timing *timing)
{
    double *f = p->figures + PIPELINE_COMMON + (ptrdiff_t)trial * PIPELINE_FIGURES;
    struct covey_tiles_plan plan;
    int error = put_together(p, timing, f);
    covey_tiles_info(p->tiles, &plan);
    bool block = plan.schedule == COVEY_TILES_BLOCK;
    for (int i = PIPELINE_COMPUTATION_S; i <= PIPELINE_IDLE_S; i++)
        f[i] /= plan.tasks;
    f[PIPELINE_SCHEDULE] = plan.schedule;
    f[PIPELINE_HEIGHT] = (double)plan.tile[plan.along - 1];
    f[PIPELINE_PREDICTED_S] = block ? plan.block_s : plan.overlap_s;
    f[PIPELINE_PLAYED_S] = block ? plan.played_block_s : plan.played_overlap_s;
    f[PIPELINE_STEP_COMPUTATION_S] = plan.computation_s;
    f[PIPELINE_STEP_COMMUNICATION_S] = plan.communication_s;
    return error;
}

/* ---- the task -------------------------------------------------------------------------------- */

static size_t points(const struct pipeline_job *job)
{
    return (size_t)(job->problem.size[0] * job->problem.size[1] * job->problem.size[2]);
}

static int pipeline_prepare(void *state, struct worker *worker, covey_msg_t *job)
{
    struct pipeline *p = state;
    struct covey_tiles_plan plan;
    p->worker = worker;
    int error = pipeline_unpack(job, &p->job);
    if (error < 0)
        return error;
    if (worker->sequential) {
        p->values = calloc(points(&p->job), nest_width(p->job.problem.kind));
        p->space = nest_space_create(&p->job.problem);
        return p->values == NULL || p->space == NULL ? COVEY_ENOMEM : 0;
    }
    worker->doing = "making a team";
    error = covey_team_create(worker->vm, worker->tids, worker->count, TIMEOUT_US, &p->team);
    if (error >= 0)
        error = make_tiles(p, 0);
    if (error < 0)
        return error;
    covey_tiles_info(p->tiles, &plan);
    note_common(p, &plan);
    return 0;
}

static int pipeline_run(void *state, struct worker *worker)
{
    struct pipeline *p = state;
    int error = 0;
    for (int i = 0; i < p->job.trial_count && error >= 0; i++) {
        struct covey_tiles_timing timing = {.tiles = 0};
        error = i == 0 ? 0 : make_tiles(p, i);
        worker->doing = "running the loop";
        if (error >= 0)
            error = covey_tiles_run(p->tiles, &timing);
        worker->computation_s += timing.computation_s;
        if (error >= 0)
            error = note_trial(p, i, &timing);
    }
    return error;
}

static int pipeline_run_alone(void *state, struct worker *worker)
{
    struct pipeline *p = state;
    double begin = worker_compute_begin();
    nest_space_run(p->space, p->values);
    worker_compute_end(worker, begin);
    return 0;
}

static int send_values(const struct pipeline *p)
{
    const struct covey_tiles_loop loop = nest_loop(&p->job.problem, false);
    return covey_send_array(p->worker->vm, p->worker->parent, CREW_RESULT, loop.type, p->values,
                            points(&p->job));
}

static int pipeline_send_result(void *state, struct worker *worker)
{
    struct pipeline *p = state;
    size_t count = pipeline_figures(&p->job);
    int error = 0;
    if (worker->sequential)
        return send_values(p);
    if (worker->rank == 0)
        error = covey_send_array(worker->vm, worker->parent, CREW_RESULT, COVEY_DOUBLE, p->figures,
                                 count);
    if (error < 0 || !p->job.check)
        return error;
    if (worker->rank == 0)
        p->values = calloc(points(&p->job), nest_width(p->job.problem.kind));
    if (worker->rank == 0 && p->values == NULL)
        return COVEY_ENOMEM;
    error = covey_tiles_gather(p->tiles, 0, p->values);
    return error < 0 || worker->rank != 0 ? error : send_values(p);
}

static void pipeline_finish(void *state)
{
    struct pipeline *p = state;
    covey_tiles_free(&p->tiles);
    covey_team_free(&p->team);
    nest_space_free(p->space);
    free(p->values);
    free(p);
}

int pipeline_worker(void)
{
    static const struct worker_program program = {.prepare = pipeline_prepare,
                                                  .run = pipeline_run,
                                                  .run_alone = pipeline_run_alone,
                                                  .send_result = pipeline_send_result,
                                                  .finish = pipeline_finish};
    struct pipeline *p = calloc(1, sizeof *p);
    return p == NULL ? EXIT_FAILURE : worker_run(&program, p);
}
