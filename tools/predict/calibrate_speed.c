/*
 * How fast the demo programs' arithmetic is, packing, and new memory: each program, started with
 * --kernel, prints the processor time of its operations and the share of a processor that it got.
 * What a task alone on the host needs by the clock is the one over the other.
 *
 * First one task on each host at once, or, where the hosts are virtual ones on one machine, on the
 * first one alone: so each host's own speed is seen. Then as many tasks on the first host as it has
 * processors, which shows how many of them there are for tasks; other hosts are taken to be like
 * it. Virtual hosts are tried all at once after that, for they share what the machine has.
 *
 * A processor does not always run at one speed: those of a virtual machine changed between two, an
 * eighth to a third apart, that lasted for half a minute, at times of their own. So the demos
 * measure their arithmetic in several turns, as far apart as the calibration is long, and the
 * figures are the means.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/base/program.h"
#include "tools/bench/bench.h"
#include "tools/predict/calibrate.h"

#define TAG_EXIT COVEY_TAG_MAX
#define WAIT_US ((int64_t)60 * 1000000)
#define TASKS_MAX 64   /* at once on one host */
#define NEARLY 0.9     /* of what is expected is as good: other work goes on, too */
#define QUOTA_OFF 0.25 /* of a quota: what a short measurement finds more or less of it */

/* The last one, which takes as long as the others together, is measured once. */
static const char *const programs[] = {"matmul", "sort", "mandel", "covey-bench"};

enum { PROGRAMS = sizeof programs / sizeof *programs, PROGRAMS_AGAIN = PROGRAMS - 1 };

/* What a task printed. */
struct kernel {
    covey_tid_t tid;
    int host; /* in the calibration */
    bool ended;
    double madd_s[COVEY_MODEL_BLOCKS], oper_s, merge_s, iteration_s, touch_s, share;
    struct covey_packing packing;
};

struct crew {
    struct calibrate *calibrate;
    struct kernel *kernels;
    int count, ended;
    bool failed;
};

/* ---- What they print ------------------------------------------------------------------------ */

static double *figure_of(struct kernel *k, const char *name, int size)
{
    if (strcmp(name, "matmul") != 0)
        return strcmp(name, "sort") == 0     ? &k->oper_s
               : strcmp(name, "merge") == 0  ? &k->merge_s
               : strcmp(name, "mandel") == 0 ? &k->iteration_s
               : strcmp(name, "touch") == 0  ? &k->touch_s
               : strcmp(name, "share") == 0  ? &k->share
                                             : NULL;
    for (int i = 0; i < COVEY_MODEL_BLOCKS; i++) {
        if (size == 64 << i)
            return &k->madd_s[i];
    }
    return NULL;
}

/* A line "packing TYPE WAY ALPHA BETA R2 WORST"; false: it is none. */
static bool take_packing(struct kernel *k, const char *text)
{
    unsigned type, way;
    struct covey_line line;
    if (sscanf(text, "packing %u %u %lf %lf %lf %lf", &type, &way, &line.alpha_s, &line.beta_s,
               &line.r2, &line.worst) != 6)
        return false;
    if (type < COVEY_PACKING_TYPES && way < COVEY_PACKING_WAYS && line.beta_s > 0)
        k->packing.lines[type][way] = line;
    return true;
}

static void take_line(struct kernel *k, const char *line)
{
    char name[16];
    double first, second = 0;
    if (take_packing(k, line))
        return;
    int words = sscanf(line, "%15s %lf %lf", name, &first, &second);
    double *figure = words >= 2 ? figure_of(k, name, words == 3 ? (int)first : 0) : NULL;
    double value = words == 3 ? second : first;
    if (figure && value > 0)
        *figure = value;
}

static void take_output(struct crew *crew, struct kernel *k, covey_msg_t *msg)
{
    int stream;
    const char *text;
    size_t bytes;
    if (covey_unpack_output(msg, &stream, &text, &bytes) != 0)
        return;
    char *copy = strndup(text, bytes), *rest = copy;
    for (char *line; copy && (line = strsep(&rest, "\n"));) {
        if (stream == 1)
            take_line(k, line);
        else if (*line && !crew->failed)
            tool_error("calibrate", "%s: %s", calibrate_host(crew->calibrate, k->host), line);
    }
    free(copy);
    crew->failed |= stream != 1;
}

static void take_end(struct crew *crew, covey_msg_t *msg)
{
    struct covey_notice notice;
    if (covey_unpack_notice(msg, &notice) != 0)
        return;
    for (int i = 0; i < crew->count; i++) {
        struct kernel *k = &crew->kernels[i];
        if (k->tid != notice.tid || k->ended)
            continue;
        k->ended = true;
        crew->ended++;
        bool well = notice.exit_kind == COVEY_EXIT_STATUS && notice.value == 0 && k->share > 0;
        if (!well && !crew->failed)
            tool_error("calibrate",
                       "host %s: a program that measures ended too early; see: covey hosts",
                       calibrate_host(crew->calibrate, k->host));
        crew->failed |= !well;
    }
}

static struct kernel *kernel_of(struct crew *crew, covey_tid_t tid)
{
    for (int i = 0; i < crew->count; i++) {
        if (crew->kernels[i].tid == tid)
            return &crew->kernels[i];
    }
    return NULL;
}

/* Until all have ended. */
static int follow_crew(struct crew *crew)
{
    struct tool *tool = crew->calibrate->tool;
    while (crew->ended < crew->count) {
        covey_msg_t *msg = NULL;
        struct covey_info info;
        int error = covey_recv(tool->vm, COVEY_ANY_TASK, COVEY_ANY_TAG, WAIT_US, &msg);
        if (error)
            return tool_failed(tool, "calibrate", error);
        covey_msg_info(msg, &info);
        struct kernel *k = kernel_of(crew, info.source);
        if (info.tag == TAG_EXIT)
            take_end(crew, msg);
        else if (info.tag == COVEY_TAG_OUTPUT && k)
            take_output(crew, k, msg);
        covey_msg_free(msg);
    }
    return crew->failed ? TOOL_FAILED : TOOL_OK;
}

/* ---- Starting them --------------------------------------------------------------------------- */

/* The kernels name their hosts; the rest is filled in. */
static int run_program(struct calibrate *c, const char *name, struct kernel *kernels, int count)
{
    struct crew crew = {.calibrate = c, .kernels = kernels};
    char program[PROGRAM_PATH_BYTES];
    const struct covey_spawn task = {
        .argv = (const char *const[]){program, "--kernel", NULL},
        .env = (const char *const[]){"OPENBLAS_NUM_THREADS=1", "OMP_NUM_THREADS=1", NULL}};
    covey_tid_t tids[COVEY_MODEL_HOSTS_MAX];
    int status = program_find("calibrate", name, program, sizeof program);
    while (status == TOOL_OK && crew.count < count) {
        kernels[crew.count].ended = false;
        status = bench_spawn(c->tool, "calibrate", &task,
                             calibrate_host(c, kernels[crew.count].host), &kernels[crew.count].tid);
        tids[crew.count] = kernels[crew.count].tid;
        crew.count += status == TOOL_OK;
    }
    if (crew.count > 0) {
        int error =
            covey_notify(c->tool->vm, COVEY_NOTIFY_TASK_EXIT, TAG_EXIT, tids, (size_t)crew.count);
        if (error)
            return tool_failed(c->tool, "calibrate", error);
    }
    if (status == TOOL_OK)
        status = follow_crew(&crew);
    for (int i = 0; c->tool->vm && i < crew.count; i++) {
        if (!kernels[i].ended)
            covey_kill(c->tool->vm, kernels[i].tid);
    }
    return status;
}

/* ---- What follows from it -------------------------------------------------------------------- */

/* Makes it the mean of a value and of those of so many turns before. */
static void take_turn(double *mean, double value, int turns)
{
    *mean += (value - *mean) / (turns + 1);
}

/* One task alone: processor time over the share. */
static void take_speeds(struct calibrate *c, int at, const char *program, const struct kernel *k)
{
    struct covey_calibration_host *host = &c->result->hosts[at];
    struct covey_packing *packing = &c->result->packing[at];
    double per = 1 / k->share;
    if (strcmp(program, "matmul") == 0) {
        for (int j = 0; j < COVEY_MODEL_BLOCKS; j++)
            take_turn(&host->madd_s[j], k->madd_s[j] * per, c->turns);
    } else if (strcmp(program, "sort") == 0) {
        take_turn(&host->oper_s, k->oper_s * per, c->turns);
        take_turn(&host->merge_s, k->merge_s * per, c->turns);
    } else if (strcmp(program, "mandel") == 0) {
        take_turn(&host->iteration_s, k->iteration_s * per, c->turns);
    } else {
        host->share = k->share;
        host->touch_s = k->touch_s * per;
        *packing = k->packing;
        for (int i = 0; i < COVEY_PACKING_TYPES * COVEY_PACKING_WAYS; i++) {
            struct covey_line *line =
                &packing->lines[i / COVEY_PACKING_WAYS][i % COVEY_PACKING_WAYS];
            line->alpha_s *= per;
            line->beta_s *= per;
        }
    }
}

/* A turn of the first so many programs. */
static int measure_each(struct calibrate *c, int program_count)
{
    struct covey_calibration *result = c->result;
    int count = c->one_machine ? 1 : result->host_count, status = TOOL_OK;
    for (int p = 0; p < program_count && status == TOOL_OK; p++) {
        struct kernel kernels[COVEY_MODEL_HOSTS_MAX] = {0};
        for (int i = 0; i < count; i++)
            kernels[i].host = i;
        status = run_program(c, programs[p], kernels, count);
        for (int i = 0; i < result->host_count && status == TOOL_OK; i++)
            take_speeds(c, i, programs[p], &kernels[i < count ? i : 0]);
    }
    c->turns++;
    return status;
}

/* How many tasks' work the kernels did together, in units of one alone on the first host. */
static double together(const struct calibrate *c, const struct kernel *kernels, int count)
{
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum += c->result->hosts[0].iteration_s / (kernels[i].iteration_s / kernels[i].share);
    return sum;
}

static int measure_together(struct calibrate *c, int count, bool spread, double *tasks)
{
    struct kernel kernels[COVEY_MODEL_HOSTS_MAX] = {0};
    for (int i = 0; i < count; i++)
        kernels[i].host = spread ? i : 0;
    int status = run_program(c, "mandel", kernels, count);
    if (status != TOOL_OK)
        return status;
    *tasks = together(c, kernels, count);
    if (*tasks > NEARLY * count)
        *tasks = count;
    return TOOL_OK;
}

/* The host has a quota of less than one processor, which a task alone gets whole. */
static bool is_quota_of_one(const struct covey_calibration_host *host, double tasks)
{
    return host->share < NEARLY && tasks < 1 + QUOTA_OFF;
}

static int measure_processors(struct calibrate *c)
{
    struct covey_calibration_host *first = &c->result->hosts[0];
    int cores = first->cores < TASKS_MAX ? first->cores : TASKS_MAX;
    double tasks = 1;
    int status = cores > 1 ? measure_together(c, cores, false, &tasks) : TOOL_OK;
    if (is_quota_of_one(first, tasks))
        tasks = 1;
    bool limited = tasks < NEARLY * cores; /* not by the number of its processors */
    for (int i = 0; i < c->result->host_count; i++) {
        struct covey_calibration_host *host = &c->result->hosts[i];
        host->processors = limited ? tasks : tasks * host->cores / cores;
    }
    return status;
}

int calibrate_speeds(struct calibrate *c)
{
    int status = measure_each(c, PROGRAMS);
    if (status == TOOL_OK)
        status = measure_processors(c);
    if (status == TOOL_OK && c->one_machine && c->result->host_count > 1)
        status = measure_together(c, c->result->host_count, true, &c->result->together);
    return status == TOOL_OK ? calibrate_speeds_again(c) : status;
}

int calibrate_speeds_again(struct calibrate *c)
{
    return measure_each(c, PROGRAMS_AGAIN);
}
