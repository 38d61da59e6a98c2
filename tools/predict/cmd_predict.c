/*
 * covey predict - how long a demo program takes on how many hosts, from the VM's calibration.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tools/base/arguments.h"
#include "tools/base/command.h"
#include "tools/list/listing.h"
#include "tools/predict/predict.h"
#include "tools/predict/predict_packing.h"
#include "tools/predict/predict_solvers.h"
#include "tools/predict/predict_tiles.h"

#define KEY_SIZE 2001
#define KEY_ITERATIONS 2002
#define KEY_TOLERANCE 2003
#define KEY_PAPER 2004
#define KEY_PLOT 2005
#define KEY_MEASURED 2006
#define KEY_TOPOLOGY 2007
#define KEY_CENTRE 2008
#define KEY_ZOOM 2009
#define KEY_FORM 2010
#define KEY_LOOP 2011
#define KEY_POINT 2012
#define KEY_NOW 2013
#define KEY_SHAPE 2014
#define KEY_SKEW 2015
#define KEY_HOSTS 2016
#define KEY_TASKS 2017

#define NOW_S 2       /* the load is that of so many seconds */
#define TOLERANCE 0.5 /* twice the hosts must save a quarter of the time */

static const struct args_option options[] = {
    {"procs", 'p', "N,N-M,...",
     "numbers of hosts to look at (1-64); alltoall: 2, 4, 8 ... 64; tiles: of tasks (16)"},
    {"size", KEY_SIZE, "SIZE",
     "matmul: N (2048); sort: keys (8M); mandel: WxH (1024x768); alltoall: bytes (64K); tiles: "
     "IxJxK (16x16x16384)"},
    {"hosts", KEY_HOSTS, "N|HOST,...", "solvers: how many hosts, or which (1)"},
    {"tasks", KEY_TASKS, "N", "solvers: members of the team (one a host)"},
    {"loop", KEY_LOOP, "LOOP", "tiles: sqrt (the default) or heat"},
    {"shape", KEY_SHAPE, "FORM",
     "tiles: of least communication: each, if each is another task's, or columns (a skew)"},
    {"point", KEY_POINT, "NS", "tiles: nanoseconds that a point takes (the program is asked)"},
    {"iterations", KEY_ITERATIONS, "N", "mandel: iterations at most (8000)"},
    {"centre", KEY_CENTRE, "RE,IM", "mandel: the point in the middle (-0.65,0)"},
    {"zoom", KEY_ZOOM, "ZOOM", "mandel: magnification (1)"},
    {"form", KEY_FORM, "FORM",
     "bag: items of a bag; fetch: matmul, blocks too; hierarchical: matmul, in two levels; phases: "
     "matmul, nothing sent ahead"},
    {"route", 'r', "ROUTE", "between hosts: udp, tcp or ether (the fastest that was calibrated)"},
    {"topology", KEY_TOPOLOGY, "FILE", "alltoall: the network (the VM's, or one switch)"},
    {"skew", KEY_SKEW, "MS", "alltoall: milliseconds within which tasks begin (0)"},
    {"tolerance", KEY_TOLERANCE, "SLOPE", "of the most efficient number: 0 to 1 (0.5)"},
    {"now", KEY_NOW, NULL, "on the hosts as they are loaded at present"},
    {"paper", KEY_PAPER, NULL, "by Schmidt and Sunderam's equations as they stand"},
    {"measured", KEY_MEASURED, "FILE", "what the program printed with --json, to compare with"},
    {"plot", KEY_PLOT, "FILE", "draw it, as PNG"},
    {"json", 'j', NULL, "print JSON, for scripts"},
    {NULL, 0, NULL, NULL}};

/* What was said on the command line; the operand may come last. */
struct request {
    struct predict *predict;
    const char *name, *procs, *size, *centre, *loop, *point, *shape, *hosts, *tasks;
    const char *measured[16];
    int measured_count;
};

/* ---- Words ----------------------------------------------------------------------------------- */

#define CUT_BYTES 64 /* of a word of parts, with its end */
#define SIZE_ASKED_MAX ((int64_t)1 << 40)
#define CENTRE_MAX 4.0
#define SKEW_MS_MAX 60000.0

/* Copies text; *behind is what follows the first such mark, at which the copy ends, or NULL. */
static bool cut_at(char mark, const char *text, char copy[CUT_BYTES], char **behind)
{
    size_t size = strlen(text) + 1;
    if (size > CUT_BYTES)
        return false;
    memcpy(copy, text, size);
    *behind = strchr(copy, mark);
    if (*behind)
        *(*behind)++ = '\0';
    return true;
}

static int set_counts(struct predict *p, const char *list)
{
    bool wanted[COVEY_MODEL_HOSTS_MAX + 1] = {false};
    char *copy = strdup(list), *rest = copy;
    bool good = copy != NULL;
    for (char *word; good && (word = strsep(&rest, ","));) {
        char text[CUT_BYTES], *to;
        long first = 1, last = 0;
        good = cut_at('-', word, text, &to) &&
               args_number(text, 1, COVEY_MODEL_HOSTS_MAX, &first) &&
               args_number(to ? to : text, first, COVEY_MODEL_HOSTS_MAX, &last);
        for (long i = first; good && i <= last; i++)
            wanted[i] = true;
    }
    free(copy);
    if (!good)
        return tool_usage("predict",
                          "--procs %s: must be numbers from 1 to %d, such as 1-64 or 1,2,4", list,
                          COVEY_MODEL_HOSTS_MAX);
    for (int i = 1; i <= COVEY_MODEL_HOSTS_MAX; i++) {
        if (wanted[i])
            p->counts[p->n++] = i;
    }
    return TOOL_OK;
}

/* ---- The problem ----------------------------------------------------------------------------- */

static bool read_picture(const char *text, struct covey_problem *problem)
{
    char copy[CUT_BYTES], *by;
    long width, height;
    if (!cut_at('x', text, copy, &by))
        return false;
    bool good = by && args_number(copy, 1, 32768, &width) && args_number(by, 1, 32768, &height);
    if (good) {
        problem->width = (int32_t)width;
        problem->height = (int32_t)height;
    }
    return good;
}

static int set_size(struct predict *p, const struct request *r)
{
    static const char *const usual[] = {"", "2048", "8M", "1024x768"};
    bool mandel = p->what == COVEY_MODEL_MANDEL;
    const char *size = r->size ? r->size : p->what < PREDICT_ALLTOALL ? usual[p->what] : "64K";
    bool good = mandel ? read_picture(size, &p->problem)
                       : args_size(size, SIZE_ASKED_MAX, &p->problem.size);
    if (!good)
        return tool_usage("predict", "--size %s: of %s must be %s", size, p->name,
                          mandel ? "WIDTHxHEIGHT" : "a number such as 4000 or 64K");
    char copy[CUT_BYTES], *comma;
    if (r->centre && (!cut_at(',', r->centre, copy, &comma) || !comma ||
                      !args_real(copy, -CENTRE_MAX, CENTRE_MAX, &p->problem.centre_re) ||
                      !args_real(comma, -CENTRE_MAX, CENTRE_MAX, &p->problem.centre_im)))
        return tool_usage("predict", "--centre %s: must be RE,IM, each from -4 to 4", r->centre);
    return TOOL_OK;
}

static int set_solver(struct predict *p, const struct request *r)
{
    if (r->procs || r->measured_count > 0 || p->plot || p->problem.paper || p->problem.form ||
        p->topology || p->skew_s > 0 || r->centre || r->loop || r->point || r->shape)
        return tool_usage("predict", "%s takes --size, --hosts, --tasks, --route, --now and --json",
                          r->name);
    p->what = PREDICT_SOLVER;
    p->name = r->name;
    return TOOL_OK;
}

static int set_name(struct predict *p, const struct request *r)
{
    static const char *const names[] = {"matmul", "sort",    "mandel", "alltoall",
                                        "tiles",  "packing", NULL};
    static const int kinds[] = {COVEY_MODEL_MATMUL, COVEY_MODEL_SORT, COVEY_MODEL_MANDEL,
                                PREDICT_ALLTOALL,   PREDICT_TILES,    PREDICT_PACKING};
    if (!r->name)
        return tool_usage("predict", "no program is named");
    if (predict_is_solver(r->name, r->hosts))
        return set_solver(p, r);
    int which = args_choice(names, r->name);
    if (which < 0)
        return tool_usage("predict",
                          "%s: must be matmul, sort, mandel, alltoall, tiles, packing or a solver: "
                          "sort, fft, gemm, lu, cholesky, qr or poisson",
                          r->name);
    if (r->hosts || r->tasks)
        return tool_usage("predict", "%s is for solvers alone", r->hosts ? "--hosts" : "--tasks");
    p->what = kinds[which];
    p->name = names[which];
    p->problem.model = kinds[which];
    return TOOL_OK;
}

/* What is for some programs alone. */
static int check_stray(const struct predict *p, const struct request *r)
{
    bool all = p->what == PREDICT_ALLTOALL;
    if (p->what == PREDICT_PACKING &&
        (r->procs || r->size || r->measured_count > 0 || p->plot || p->problem.paper ||
         p->problem.form || p->problem.route || p->topology))
        return tool_usage("predict", "packing takes no option but --json");
    if ((p->topology || p->skew_s > 0) && !all)
        return tool_usage("predict", "%s is for alltoall alone",
                          p->topology ? "--topology" : "--skew");
    if (all && (r->measured_count > 0 || p->problem.paper))
        return tool_usage("predict", "%s is not for alltoall",
                          p->problem.paper ? "--paper" : "--measured");
    if (p->problem.form > COVEY_FORM_BAG && p->what != COVEY_MODEL_MATMUL)
        return tool_usage("predict", "--form fetch, hierarchical and phases are for matmul alone");
    if (p->problem.form && (all || p->what == PREDICT_TILES || p->problem.paper))
        return tool_usage("predict", "--form is not for %s",
                          p->what >= PREDICT_ALLTOALL ? p->name : "--paper");
    if (p->what == PREDICT_TILES && p->problem.paper)
        return tool_usage("predict", "--paper is not for tiles");
    if (p->now && p->what >= PREDICT_ALLTOALL)
        return tool_usage("predict", "--now is not for %s", p->name);
    if (p->what != PREDICT_TILES && (r->loop || r->point || r->shape))
        return tool_usage("predict", "%s is for tiles alone",
                          r->loop    ? "--loop"
                          : r->point ? "--point"
                                     : "--shape");
    if (p->what != COVEY_MODEL_MANDEL && r->centre)
        return tool_usage("predict", "--centre is for mandel alone");
    return TOOL_OK;
}

/* ---- The command ----------------------------------------------------------------------------- */

static int take_predict_argument(void *context, int key, const char *value)
{
    static const char *const forms[] = {"usual", "bag", "fetch", "hierarchical", "phases", NULL};
    struct request *r = context;
    struct predict *p = r->predict;
    long number;
    switch (key) {
    case ARGS_OPERAND:
        if (r->name)
            return tool_usage("predict", "%s: one program at a time", value);
        r->name = value;
        return TOOL_OK;
    case KEY_MEASURED:
        if (r->measured_count == sizeof r->measured / sizeof *r->measured)
            return tool_usage("predict", "--measured: at most 16 files");
        r->measured[r->measured_count++] = value;
        return TOOL_OK;
    case 'r':
        p->problem.route = covey_route_parse(value);
        if (!(covey_route_reach(p->problem.route) & COVEY_REACH_OUTSIDE))
            return tool_usage("predict", "--route %s: must be auto, udp, tcp or ether", value);
        return TOOL_OK;
    case KEY_FORM:
        p->problem.form = args_choice(forms, value);
        if (p->problem.form < COVEY_FORM_USUAL)
            return tool_usage(
                "predict", "--form %s: must be usual, bag, fetch, hierarchical or phases", value);
        return TOOL_OK;
    case KEY_ITERATIONS:
        if (!args_number(value, 1, 65535, &number))
            return tool_usage("predict", "--iterations %s: must be 1 to 65535", value);
        p->problem.iterations = (int32_t)number;
        return TOOL_OK;
    case KEY_ZOOM:
        if (!args_real(value, 1e-3, 1e13, &p->problem.zoom))
            return tool_usage("predict", "--zoom %s: must be a number from 0.001 to 1e13", value);
        return TOOL_OK;
    case KEY_SKEW:
        if (!args_real(value, 0, SKEW_MS_MAX, &p->skew_s))
            return tool_usage("predict", "--skew %s: must be 0 to %.0f milliseconds", value,
                              SKEW_MS_MAX);
        p->skew_s /= 1e3;
        return TOOL_OK;
    default:
        if (!args_real(value, 0, 1, &p->tolerance))
            return tool_usage("predict", "--tolerance %s: must be a number from 0 to 1", value);
        return TOOL_OK;
    }
}

static int read_predict_arguments(struct predict *p, struct request *r, int argc, char **argv)
{
    bool paper = false;
    const struct arguments_place places[] = {
        {'p', .text = &r->procs},         {KEY_SIZE, .text = &r->size},
        {KEY_CENTRE, .text = &r->centre}, {KEY_LOOP, .text = &r->loop},
        {KEY_POINT, .text = &r->point},   {KEY_SHAPE, .text = &r->shape},
        {KEY_HOSTS, .text = &r->hosts},   {KEY_TASKS, .text = &r->tasks},
        {KEY_PLOT, .text = &p->plot},     {KEY_TOPOLOGY, .text = &p->topology},
        {KEY_PAPER, .flag = &paper},      {KEY_NOW, .flag = &p->now},
        {'j', .flag = &p->json},          {0}};
    int status =
        arguments_read(&(struct arguments){options, places, take_predict_argument, r}, argc, argv);
    p->problem.paper = paper;
    if (status == TOOL_OK)
        status = set_name(p, r);
    if (status == TOOL_OK && p->what != PREDICT_SOLVER)
        status = check_stray(p, r);
    if (status != TOOL_OK || p->what == PREDICT_TILES || p->what == PREDICT_PACKING ||
        p->what == PREDICT_SOLVER)
        return status;
    status = set_size(p, r);
    p->usual_counts = r->procs == NULL;
    const char *usual = p->what == PREDICT_ALLTOALL ? "2,4,8,16,32,64" : "1-64";
    return status == TOOL_OK ? set_counts(p, r->procs ? r->procs : usual) : status;
}

/* ---- The calibration ------------------------------------------------------------------------- */

/* Whether whoever sits at the terminal wants the VM calibrated, which must run for that. */
static bool is_calibration_wanted(struct predict *p)
{
    char answer[16];
    if (p->json || !isatty(STDIN_FILENO) || !isatty(STDERR_FILENO) || tool_try_join(p->tool) < 0)
        return false;
    fflush(stdout);
    fprintf(stderr,
            "covey: predict: the VM %s is not calibrated; measure its hosts now? They should be at "
            "rest. [y/N] ",
            p->tool->vm_name);
    return fgets(answer, sizeof answer, stdin) && (answer[0] == 'y' || answer[0] == 'Y');
}

static int tell_uncalibrated(const struct predict *p, int error)
{
    char path[PATH_MAX];
    bool other = error == COVEY_ENOENT && p->tool->named &&
                 covey_calibration_path(p->tool->vm_name, path, sizeof path) == 0;
    if (!other)
        return tool_error("predict", "%s", covey_error_text());
    return tool_error("predict", "%s: there is no calibration; run covey --vm %s calibrate", path,
                      p->tool->vm_name);
}

static int load_calibration(struct predict *p)
{
    char *calibrate[] = {(char *)"calibrate", NULL};
    int error = covey_calibration_load(p->tool->vm_name, &p->calibration);
    if (error == COVEY_ENOENT) { /* again, for its words if for no more */
        if (is_calibration_wanted(p) && cmd_calibrate.run(p->tool, 1, calibrate) != TOOL_OK)
            return TOOL_FAILED;
        error = covey_calibration_load(p->tool->vm_name, &p->calibration);
    }
    return error < 0 ? tell_uncalibrated(p, error) : TOOL_OK;
}

/* ---- The present load ------------------------------------------------------------------------ */

/* Rates are of the time between two looks at the hosts. */
static int look_at_hosts(struct predict *p, struct covey_host **hosts,
                         struct covey_host_stat **stats)
{
    const struct timespec moment = {.tv_sec = NOW_S};
    int n = covey_host_stats(p->tool->vm, LISTING_PATIENCE_US, hosts, stats);
    if (n < 0)
        return n;
    covey_free(*hosts);
    covey_free(*stats);
    nanosleep(&moment, NULL);
    return covey_host_stats(p->tool->vm, LISTING_PATIENCE_US, hosts, stats);
}

static int adjust_calibration(struct predict *p)
{
    struct covey_host *hosts = NULL;
    struct covey_host_stat *stats = NULL;
    int status = tool_join(p->tool, "predict"), before = p->calibration->host_count;
    if (status != TOOL_OK)
        return status;
    int n = look_at_hosts(p, &hosts, &stats);
    if (n < 0)
        return tool_failed(p->tool, "predict", n);
    int known = covey_calibration_now(p->calibration, p->problem.route, hosts, stats, n);
    p->paging = before - p->calibration->host_count;
    p->unknown = p->calibration->host_count - known;
    covey_free(hosts);
    covey_free(stats);
    return known < 0 ? tool_failed(p->tool, "predict", known) : TOOL_OK;
}

static int predict_program(struct predict *p, const struct request *r)
{
    if (p->what == PREDICT_TILES) {
        /* Runs that were measured say what a calibration would. */
        const struct tiles_request request = {.size = r->size,
                                              .procs = r->procs,
                                              .point = r->point,
                                              .loop = r->loop,
                                              .shape = r->shape,
                                              .measured = r->measured,
                                              .measured_count = r->measured_count};
        if (r->measured_count == 0 && load_calibration(p) != TOOL_OK)
            return TOOL_FAILED;
        return predict_tiles(p, &request);
    }
    int status = load_calibration(p);
    if (p->what == PREDICT_PACKING)
        return status == TOOL_OK ? predict_packing(p) : status;
    if (status == TOOL_OK && p->now)
        status = adjust_calibration(p);
    if (status == TOOL_OK && p->what == PREDICT_SOLVER)
        return predict_solvers(
            p, &(struct solver_request){
                   .library = r->name, .size = r->size, .hosts = r->hosts, .tasks = r->tasks});
    for (int i = 0; i < r->measured_count && status == TOOL_OK; i++)
        status = predict_read_measured(p, r->measured[i]);
    if (status == TOOL_OK)
        status = predict_sweep(p);
    if (status == TOOL_OK && p->plot)
        status = predict_draw(p);
    if (status == TOOL_OK)
        status = (p->json ? predict_print_json : predict_print)(p);
    return status;
}

static int predict_command(struct tool *tool, int argc, char **argv)
{
    struct predict *p = calloc(1, sizeof *p);
    struct request request = {.predict = p};
    if (!p)
        return tool_error("predict", "memory is exhausted");
    p->tool = tool;
    p->tolerance = TOLERANCE;
    p->problem =
        (struct covey_problem){.iterations = 8000, .centre_re = -0.65, .centre_im = 0, .zoom = 1};
    int status = read_predict_arguments(p, &request, argc, argv);
    if (status == TOOL_OK)
        status = predict_program(p, &request);
    covey_free(p->calibration);
    free(p);
    return status;
}

const struct command cmd_predict = {
    .name = "predict",
    .run = predict_command,
    .usage = "[OPTION...] matmul|sort|mandel|alltoall|tiles|packing|SOLVER",
    .help = "how long a program takes on how many hosts",
    .options = options,
    .operand = "matmul|sort|mandel|alltoall|tiles|packing",
};
