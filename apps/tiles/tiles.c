/*
 * tiles - tiled loops whose messages travel behind the computation (Koziris, Sotiropoulos & Goumas,
 * "A pipelined schedule to minimize completion time for loop tiling with computation and
 * communication overlapping").
 *
 * Files. tiles.c: options, and the coordinator that the user starts. nest.c: the loops, and how
 * they are run without tiles. pipeline.c: the tasks, which leave all but the arithmetic to
 * covey_tiles_run(). sweep.c: the figures of many runs, by the height of the tiles.
 *
 * What is timed is the loop: the team, the costs of a point and a message and the tiles are there
 * before, and the values are collected, if they are compared, after.
 */
#include "apps/coordinator.h"
#include "apps/tiles/sweep.h"

#include <err.h>
#include <stdlib.h>
#include <string.h>

enum { OPTION_UNSKEWED = APP_OPTION_OWN, OPTION_SWEEP, OPTION_ROOTS, OPTION_SHAPE, OPTION_FACES };
enum { SCHEDULE_BOTH = 2, HEIGHTS_MAX = PIPELINE_TRIALS_MAX / 2 };

struct tiles_options {
    struct app_options common;
    struct pipeline_job job; /* without trials */
    int schedule;            /* enum covey_tiles_schedule, or both */
    int64_t heights[HEIGHTS_MAX];
    int height_count;
    bool sweep; /* all powers of two for heights, unless they are given */
    bool unskewed;
};

struct tiles {
    const struct tiles_options *options;
    struct pipeline_job job;
    double figures[PIPELINE_COMMON + PIPELINE_TRIALS_MAX * PIPELINE_FIGURES];
    char *whole; /* of the sequential run */
    bool equal;
};

/* ---- Options ----------------------------------------------------------------------------- */

static const char help[] =
    "Usage: tiles [OPTION]...\n"
    "Runs a loop whose points depend on earlier ones on the tasks of a virtual machine, in tiles,\n"
    "with computation and communication overlapped, and prints where the time went.\n"
    "\n"
    "  -l, --loop LOOP       sqrt: the loop of Koziris, Sotiropoulos and Goumas; heat: heat on a\n"
    "                        plate, step by step, in skewed tiles (sqrt)\n"
    "  -S, --size IxJxK      of the space (16x16x16384; heat: 256x64x64); K, M: times 1024, "
    "1024^2\n"
    "  -k, --schedule HOW    overlap, block or both (overlap)\n"
    "  -z, --height Z,...    of the tiles along the dimension that stays on a task (chosen by "
    "what\n"
    "                        a point and a message cost); several: a run of each\n"
    "      --sweep           run with all powers of two for heights, and the chosen one\n"
    "      --roots N         of sqrt: N square roots more at each point, that it takes longer (0)\n"
    "  -g, --grid IxJxK      tasks along each dimension, 1 for that which stays on a task "
    "(chosen)\n"
    "  -n, --tasks TASKS     number of tasks (one a host)\n"
    "      --shape FORM      tiles of least communication: each, if each is another task's, or\n"
    "                        columns, if all along the largest dimension are one task's (a skew)\n"
    "      --faces WAY       any: put into the memory of a neighbour on the same host (any), or\n"
    "                        messages: sent to all neighbours\n"
    "      --unskewed        do not skew the tiles of heat: says why that is not "
    "legal\n" APP_OPTIONS_HELP;

/* "16x16x16384" */
static int parse_three(const char *what, const char *text, int64_t max, int64_t *three)
{
    char copy[64];
    char *rest = copy;
    int count = 0, status = 0;
    size_t size = strlen(text) + 1;
    if (size <= sizeof copy) {
        memcpy(copy, text, size);
        for (char *word; status == 0 && count < NEST_DIMS && (word = strsep(&rest, "x")) != NULL;)
            status = app_parse_integer(what, word, 1, max, &three[count++]);
        if (status < 0 || (count == NEST_DIMS && rest == NULL))
            return status;
    }
    warnx("%s: '%s' is not three numbers with x between, such as 16x16x16384", what, text);
    return -1;
}

static int parse_heights(struct tiles_options *options, const char *text)
{
    char *copy = strdup(text), *rest = copy;
    int status = copy == NULL ? -1 : 0;
    options->height_count = 0;
    for (char *word; status == 0 && (word = strsep(&rest, ",")) != NULL;) {
        if (options->height_count == HEIGHTS_MAX) {
            warnx("--height: at most %d heights", (int)HEIGHTS_MAX);
            status = -1;
        } else {
            status = app_parse_integer("--height", word, 1, NEST_SIDE_MAX,
                                       &options->heights[options->height_count++]);
        }
    }
    free(copy);
    return status;
}

static int parse_schedule(struct tiles_options *options, const char *text)
{
    static const char *const names[] = {"overlap", "block", "both"};
    for (int i = 0; i < 3; i++) {
        if (strcmp(names[i], text) == 0) {
            options->schedule = i;
            return 0;
        }
    }
    warnx("--schedule: '%s' is none of overlap, block and both", text);
    return -1;
}

static int parse_grid(struct tiles_options *options, const char *text)
{
    int64_t grid[NEST_DIMS];
    int status = parse_three("--grid", text, 1024, grid);
    for (int i = 0; i < NEST_DIMS && status == 0; i++)
        options->job.grid[i] = (int32_t)grid[i];
    return status;
}

static int parse_loop(struct tiles_options *options, const char *text)
{
    options->job.problem.kind = nest_find(text);
    if (options->job.problem.kind >= 0)
        return 0;
    warnx("--loop: '%s' is none of sqrt and heat", text);
    return -1;
}

static int parse_shape(struct tiles_options *options, const char *text)
{
    options->job.problem.shape = nest_shape_find(text);
    if (options->job.problem.shape >= 0)
        return 0;
    warnx("--shape: '%s' is none of each, columns and skew", text);
    return -1;
}

static int parse_faces(struct tiles_options *options, const char *text)
{
    bool messages = strcmp(text, "messages") == 0;
    options->job.faces = messages ? COVEY_TILES_MESSAGES : COVEY_TILES_ANY_WAY;
    if (messages || strcmp(text, "any") == 0)
        return 0;
    warnx("--faces: '%s' is none of any and messages", text);
    return -1;
}

static int tiles_take_own(void *program, int key, const char *argument)
{
    struct tiles_options *options = program;
    switch (key) {
    case 'l':
        return parse_loop(options, argument);
    case 'S':
        return parse_three("--size", argument, NEST_SIDE_MAX, options->job.problem.size);
    case 'k':
        return parse_schedule(options, argument);
    case 'z':
        return parse_heights(options, argument);
    case 'g':
        return parse_grid(options, argument);
    case OPTION_ROOTS:
        return app_parse_int("--roots", argument, 0, NEST_ROOTS_MAX, &options->job.problem.roots);
    case OPTION_SWEEP:
        options->sweep = true;
        return 0;
    case OPTION_SHAPE:
        return parse_shape(options, argument);
    case OPTION_FACES:
        return parse_faces(options, argument);
    case OPTION_UNSKEWED:
        options->unskewed = true;
        return 0;
    default:
        return -1; /* there is none */
    }
}

static int tiles_settle(struct tiles_options *options)
{
    static const int64_t usual[NEST_KINDS][NEST_DIMS] = {{16, 16, 16384}, {256, 64, 64}};
    struct pipeline_job *job = &options->job;
    if (job->problem.size[0] == 0)
        memcpy(job->problem.size, usual[job->problem.kind], sizeof job->problem.size);
    double bytes = (double)nest_width(job->problem.kind);
    for (int i = 0; i < NEST_DIMS; i++)
        bytes *= (double)job->problem.size[i];
    job->along = nest_along(&job->problem);
    job->check = options->common.check;
    if (!job->check || bytes <= (double)NEST_BYTES_MAX)
        return 0;
    warnx("--check: %.0f GB of values do not fit", bytes / 1e9);
    return -1;
}

static int tiles_parse(int argc, char **argv, struct tiles_options *options)
{
    static const struct option longs[] = {APP_LONG_OPTIONS,
                                          {"loop", required_argument, NULL, 'l'},
                                          {"size", required_argument, NULL, 'S'},
                                          {"schedule", required_argument, NULL, 'k'},
                                          {"height", required_argument, NULL, 'z'},
                                          {"grid", required_argument, NULL, 'g'},
                                          {"sweep", no_argument, NULL, OPTION_SWEEP},
                                          {"roots", required_argument, NULL, OPTION_ROOTS},
                                          {"shape", required_argument, NULL, OPTION_SHAPE},
                                          {"faces", required_argument, NULL, OPTION_FACES},
                                          {"unskewed", no_argument, NULL, OPTION_UNSKEWED},
                                          {NULL, 0, NULL, 0}};
    *options = (struct tiles_options){.schedule = COVEY_TILES_OVERLAP};
    const struct app_syntax syntax = {help, APP_SHORT_OPTIONS "l:S:k:z:g:", longs, tiles_take_own};
    return app_options_parse(&options->common, argc, argv, &syntax, options) == 0
               ? tiles_settle(options)
               : -1;
}

/* ---- Trials ------------------------------------------------------------------------------ */

static void add_trial(struct tiles *tiles, int schedule, int64_t height)
{
    struct pipeline_job *job = &tiles->job;
    if (job->trial_count < PIPELINE_TRIALS_MAX)
        job->trials[job->trial_count++] = (struct pipeline_trial){schedule, height};
}

static void add_height(struct tiles *tiles, int64_t height)
{
    int schedule = tiles->options->schedule;
    if (schedule != COVEY_TILES_BLOCK)
        add_trial(tiles, COVEY_TILES_OVERLAP, height);
    if (schedule != COVEY_TILES_OVERLAP)
        add_trial(tiles, COVEY_TILES_BLOCK, height);
}

/* Tiles that are not legal are told before any task is started. */
static int plan_trials(struct tiles *tiles, int tasks)
{
    struct covey_tiles_plan plan;
    tiles->job.trials[0] = (struct pipeline_trial){0, 0};
    if (pipeline_plan(&tiles->job, tasks, &plan) < 0) {
        warnx("%s", covey_error_text());
        return -1;
    }
    tiles->job.along = plan.along;
    /* A square number of tasks is a square of them, as in the paper, unless the grid was given. */
    int q = 1;
    while (q * q < tasks)
        q++;
    bool given = tiles->job.grid[0] > 0 || q * q != tasks;
    for (int i = 0; i < NEST_DIMS && !given; i++)
        tiles->job.grid[i] = i == tiles->job.along - 1 ? 1 : q;
    if (pipeline_plan(&tiles->job, tasks, &plan) < 0)
        memcpy(tiles->job.grid, tiles->options->job.grid, sizeof tiles->job.grid);
    /* The extent is that of the skewed space. */
    int64_t extent = plan.extent[plan.along - 1];
    const struct tiles_options *options = tiles->options;
    tiles->job.trial_count = 0;
    if (options->sweep || options->height_count == 0)
        add_height(tiles, 0);
    for (int i = 0; i < options->height_count; i++)
        add_height(tiles, options->heights[i] < extent ? options->heights[i] : extent);
    for (int64_t z = 4; options->sweep && options->height_count == 0 && z < extent; z *= 2)
        add_height(tiles, z);
    return 0;
}

static int refuse_unskewed(const struct tiles_options *options)
{
    const struct covey_tiles_loop loop = nest_loop(&options->job.problem, !options->unskewed);
    struct covey_tiles_plan plan;
    if (covey_tiles_plan(&loop, NULL, 4, &plan) == 0)
        return 0;
    warnx("%s", covey_error_text());
    return -1;
}

/* ---- Results ----------------------------------------------------------------------------- */

static size_t points(const struct tiles *tiles)
{
    const int64_t *size = tiles->job.problem.size;
    return (size_t)(size[0] * size[1] * size[2]);
}

static int receive_values(struct crew *crew, const struct tiles *tiles, void *values)
{
    const struct covey_tiles_loop loop = nest_loop(&tiles->job.problem, false);
    return crew_receive_array(crew, 0, loop.type, values, points(tiles));
}

static int compare(struct crew *crew, struct tiles *tiles)
{
    size_t bytes = points(tiles) * nest_width(tiles->job.problem.kind);
    char *values = malloc(bytes);
    int result = -1;
    if (values == NULL)
        warnx("out of memory for the values");
    else
        result = receive_values(crew, tiles, values);
    tiles->equal = result == 0 && memcmp(values, tiles->whole, bytes) == 0;
    free(values);
    return result;
}

static int tiles_collect(struct crew *crew, void *context)
{
    struct tiles *tiles = context;
    size_t count = pipeline_figures(&tiles->job);
    if (crew_tell(crew, CREW_COLLECT) < 0)
        return -1;
    if (crew->sequential) {
        tiles->whole = malloc(points(tiles) * nest_width(tiles->job.problem.kind));
        if (tiles->whole != NULL)
            return receive_values(crew, tiles, tiles->whole);
        warnx("out of memory for the values");
        return -1;
    }
    if (crew_receive_array(crew, 0, COVEY_DOUBLE, tiles->figures, count) < 0)
        return -1;
    return tiles->job.check ? compare(crew, tiles) : 0;
}

/* ---- Report ------------------------------------------------------------------------------ */

static json_t *parameters_of(const struct tiles *tiles, const double *trial)
{
    const double *f = tiles->figures;
    const int64_t *s = tiles->job.problem.size;
    return json_pack("{s:s, s:[I,I,I], s:[i,i,i], s:[I,I,I], s:s, s:s, s:f, s:f, s:f}", "loop",
                     nest_name(tiles->job.problem.kind), "size", (json_int_t)s[0], (json_int_t)s[1],
                     (json_int_t)s[2], "grid", (int)f[PIPELINE_GRID], (int)f[PIPELINE_GRID + 1],
                     (int)f[PIPELINE_GRID + 2], "tile", (json_int_t)f[PIPELINE_TILE],
                     (json_int_t)f[PIPELINE_TILE + 1], (json_int_t)f[PIPELINE_TILE + 2], "schedule",
                     trial[PIPELINE_SCHEDULE] > 0 ? "block" : "overlap", "faces",
                     sweep_faces(trial), "point_s", f[PIPELINE_POINT_S], "alpha_s",
                     f[PIPELINE_ALPHA_S], "beta_s", f[PIPELINE_BETA_S]);
}

/* Of one run; the time is that of the loop, by the tasks' own clocks. */
static int report_one(const struct tiles *tiles, const struct coordinator_result *result)
{
    const double *trial = tiles->figures + PIPELINE_COMMON;
    struct coordinator_result of_trial = *result;
    struct measurement *run = &of_trial.run;
    run->total_s = trial[PIPELINE_TOTAL_S];
    of_trial.predicted = (struct covey_prediction){
        .hosts = tiles->figures[PIPELINE_POINT_S] > 0 ? report_distinct(run->hosts, run->tasks) : 0,
        .tasks = run->tasks,
        .total_s = sweep_predicted_s(trial),
        .computation_s = tiles->figures[PIPELINE_POINT_S] * (double)points(tiles) / run->tasks};
    char problem[256];
    size_t size = sizeof problem;
    const double *f = tiles->figures;
    const int64_t *s = tiles->job.problem.size;
    snprintf(problem, size,
             "%s, %lld x %lld x %lld on %.0f x %.0f x %.0f tasks, tiles of %.0f x %.0f x %.0f, %s, "
             "faces %s",
             nest_name(tiles->job.problem.kind), (long long)s[0], (long long)s[1], (long long)s[2],
             f[PIPELINE_GRID], f[PIPELINE_GRID + 1], f[PIPELINE_GRID + 2], f[PIPELINE_TILE],
             f[PIPELINE_TILE + 1], f[PIPELINE_TILE + 2],
             trial[PIPELINE_SCHEDULE] > 0 ? "blocking" : "overlapping", sweep_faces(trial));
    json_t *parameters = parameters_of(tiles, trial);
    struct report report = {.program = "tiles",
                            .problem = problem,
                            .parameters = parameters,
                            .passed = tiles->equal,
                            .check_method = "every bit equals the loop without tiles"};
    int status = coordinator_report(&tiles->options->common, &of_trial, &report);
    json_decref(parameters);
    return status;
}

static int tiles_report(void *context, const struct coordinator_result *result)
{
    const struct tiles *tiles = context;
    const struct tiles_options *options = tiles->options;
    const struct sweep sweep = {&tiles->job, tiles->figures, options->common.route};
    if (tiles->job.trial_count == 1)
        return report_one(tiles, result);
    int status = options->common.json ? sweep_json(&sweep) : sweep_table(&sweep);
    bool checked = options->common.check;
    if (checked && tiles->equal && !options->common.json)
        puts("check: passed (every bit of the last run equals the loop without tiles)");
    if (!checked || tiles->equal)
        return status < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
    warnx("the result differs from that of the sequential run");
    return EXIT_FAILURE;
}

/* The number of tasks may be the number of hosts: the plan for it is made once they are known. */
static int check_plan(void *context, int hosts, int asked)
{
    struct tiles *tiles = context;
    int tasks = asked > 0 ? asked : hosts;
    return plan_trials(tiles, tasks) < 0 ? -1 : tasks;
}

static int tiles_coordinate(const void *program_options)
{
    const struct tiles_options *options = program_options;
    struct tiles *tiles = calloc(1, sizeof *tiles);
    int status = EXIT_FAILURE;
    if (tiles == NULL) {
        warnx("out of memory");
        return status;
    }
    tiles->options = options;
    tiles->job = options->job;
    const struct coordinator_program program = {.context = tiles,
                                                .title = "running the loop",
                                                .tasks = check_plan,
                                                .pack_job = pipeline_pack,
                                                .job = &tiles->job,
                                                .collect = tiles_collect,
                                                .compares = options->common.check,
                                                .report = tiles_report};
    if (refuse_unskewed(options) == 0)
        status = coordinator_main(&options->common, &program);
    free(tiles->whole);
    free(tiles);
    return status;
}

int main(int argc, char **argv)
{
    static const struct app_roles roles = {nest_kernel, pipeline_worker, tiles_coordinate};
    struct tiles_options options;
    int parsed = tiles_parse(argc, argv, &options);
    return app_run(parsed, &options.common, &roles, &options);
}
