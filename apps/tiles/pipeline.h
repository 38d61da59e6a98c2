/*
 * pipeline.h - the tasks: a team that runs a tiled loop, once or by several heights and schedules
 * one after the other.
 */
#ifndef TILES_PIPELINE_H
#define TILES_PIPELINE_H

#include "apps/tiles/nest.h"

enum { PIPELINE_TRIALS_MAX = 128 };

/* One run of the loop. */
struct pipeline_trial {
    int32_t schedule; /* enum covey_tiles_schedule */
    int64_t height;   /* of a tile, along the dimension that stays on a task; 0: by the model */
};

struct pipeline_job {
    struct nest_problem problem;
    int32_t check;           /* all values are wanted */
    int32_t grid[NEST_DIMS]; /* 0: chosen */
    int32_t along;           /* 1 .. 3; 0: chosen */
    int32_t faces;           /* enum covey_tiles_faces */
    int32_t trial_count;
    struct pipeline_trial trials[PIPELINE_TRIALS_MAX];
};

/* What is told of a trial: the plan's figures, and those that were measured, total_s being that of
 * the slowest task and the other times means of all tasks. */
enum pipeline_figure {
    PIPELINE_SCHEDULE,
    PIPELINE_HEIGHT,
    PIPELINE_TOTAL_S,
    PIPELINE_COMPUTATION_S,
    PIPELINE_PACKING_S,
    PIPELINE_COMMUNICATION_S,
    PIPELINE_IDLE_S,
    PIPELINE_MESSAGES,             /* faces of all tasks that were sent, */
    PIPELINE_PUTS,                 /* and that were put into the memory of neighbours */
    PIPELINE_PREDICTED_S,          /* by (3), or by (5) and (7) */
    PIPELINE_PLAYED_S,             /* all steps of all tasks played */
    PIPELINE_STEP_COMPUTATION_S,   /* t_comp */
    PIPELINE_STEP_COMMUNICATION_S, /* t_comm */
    PIPELINE_FIGURES
};

/* And of all of them, before: how the space was divided and the costs. */
enum pipeline_common {
    PIPELINE_ALONG,
    PIPELINE_TASKS,
    PIPELINE_GRID,                     /* three */
    PIPELINE_TILE = PIPELINE_GRID + 3, /* three, of the first trial */
    PIPELINE_POINT_S = PIPELINE_TILE + 3,
    PIPELINE_ALPHA_S,
    PIPELINE_BETA_S,
    PIPELINE_START_S,
    PIPELINE_DRAG_S,
    PIPELINE_STORE_S,
    PIPELINE_COMMON
};

/* How many figures a run of it has. */
static inline size_t pipeline_figures(const struct pipeline_job *job)
{
    return PIPELINE_COMMON + (size_t)job->trial_count * PIPELINE_FIGURES;
}

int pipeline_pack(covey_msg_t *msg, const void *job);

/* The options of a trial for covey_tiles_create() and covey_tiles_plan(). */
struct covey_tiles_options pipeline_options(const struct pipeline_job *job, int trial);

/* The plan of the first trial, without any task. Errors: those of covey_tiles_plan(). */
int pipeline_plan(const struct pipeline_job *job, int tasks, struct covey_tiles_plan *plan);

/* Runs a task; returns the exit status of the process. Rank 0 sends the figures as one array of
 * doubles, PIPELINE_COMMON and then PIPELINE_FIGURES a trial, and, with job->check, the values of
 * the space; the task of a sequential run only these. */
int pipeline_worker(void);

#endif
