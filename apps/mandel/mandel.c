/*
 * mandel - draws the Mandelbrot set with a master and workers (Schmidt & Sunderam, section 2.3).
 *
 * Files. mandel.c: options, and the master that the user starts: it gives the next strip of rows
 * to whoever is free. strips.c: how large strips are. draw.c: the workers. escape.c: the
 * calculation. picture.c: the PNG file.
 *
 * Every worker has one strip waiting while it draws another, so that it never waits for the
 * network. With --bag the strips are the items of a bag (apps/agenda.h): the same, by the runtime.
 * What is timed ends when the last strip is in; the file is written after.
 */
#include "apps/agenda.h"
#include "apps/coordinator.h"
#include "apps/mandel/draw.h"
#include "apps/mandel/escape.h"
#include "apps/mandel/kernel.h"
#include "apps/mandel/picture.h"
#include "apps/mandel/strips.h"
#include "apps/outfile.h"

#include <err.h>
#include <stdlib.h>
#include <string.h>

#define QUEUED 2 /* strips that a worker has: the one it draws and the next */
#define COORDINATE_MAX 4.0
#define ZOOM_MIN 1e-3
#define ZOOM_MAX 1e13 /* beyond this neighbouring pixels are the same double */

enum { OPTION_STRIP = APP_OPTION_OWN, OPTION_BAG };

struct mandel_options {
    struct app_options common;
    struct escape_view view;
    int strip_rows; /* 0: guided */
    bool bag;
};

struct mandel {
    const struct mandel_options *options;
    struct strips strips;
    uint16_t *counts;     /* the picture, as strips come in */
    uint16_t *sequential; /* as drawn by one task */
    int rows_in;
    covey_bag_t *bag;
};

/* ---- Options ----------------------------------------------------------------------------- */

static const char help[] =
    "Usage: mandel [OPTION]...\n"
    "Draws the Mandelbrot set with a master and workers in a virtual machine, the next strip of\n"
    "rows to whoever is free, and prints where the time went.\n"
    "\n"
    "  -C, --centre RE,IM    the point in the middle of the picture (-0.65,0)\n"
    "  -z, --zoom ZOOM       magnification; at 1 the shorter side is 3 units (1)\n"
    "  -S, --size WxH        pixels (1024x768)\n"
    "  -m, --iterations M    iterations after which a point counts as inside, 1 .. 65535 (8000)\n"
    "      --strip ROWS      rows of a strip (fewer and fewer as the work runs out)\n"
    "      --bag             strips are the items of a bag, and not given out by a master\n"
    "  -n, --tasks TASKS     number of workers (auto, which is as many as are worth it, where the\n"
    "                        hosts are calibrated, otherwise one a host)\n"
    "  -o, --output FILE     write the picture as PNG\n" APP_OPTIONS_HELP;

static int take_centre(const char *text, struct escape_view *view)
{
    char *comma = strchr(text, ',');
    char *re = comma != NULL ? strndup(text, (size_t)(comma - text)) : NULL;
    if (re == NULL) {
        warnx("--centre: '%s' is not of the form RE,IM", text);
        return -1;
    }
    int result =
        app_parse_double("--centre", re, -COORDINATE_MAX, COORDINATE_MAX, &view->centre_re);
    free(re);
    if (result < 0)
        return -1;
    return app_parse_double("--centre", comma + 1, -COORDINATE_MAX, COORDINATE_MAX,
                            &view->centre_im);
}

static int take_size(const char *text, struct escape_view *view)
{
    char *by = strchr(text, 'x');
    char *width = by != NULL ? strndup(text, (size_t)(by - text)) : NULL;
    if (width == NULL) {
        warnx("--size: '%s' is not of the form WIDTHxHEIGHT", text);
        return -1;
    }
    int result = app_parse_int("--size", width, 1, ESCAPE_SIZE_MAX, &view->width);
    free(width);
    return result < 0 ? -1 : app_parse_int("--size", by + 1, 1, ESCAPE_SIZE_MAX, &view->height);
}

static int mandel_take_own(void *program, int key, const char *argument)
{
    struct mandel_options *options = program;
    struct escape_view *view = &options->view;
    switch (key) {
    case 'C':
        return take_centre(argument, view);
    case 'z':
        return app_parse_double("--zoom", argument, ZOOM_MIN, ZOOM_MAX, &view->zoom);
    case 'S':
        return take_size(argument, view);
    case 'm':
        return app_parse_int("--iterations", argument, 1, ESCAPE_ITERATIONS_MAX, &view->iterations);
    case OPTION_STRIP:
        return app_parse_int("--strip", argument, 1, ESCAPE_SIZE_MAX, &options->strip_rows);
    case OPTION_BAG:
        options->bag = true;
        return 0;
    default:
        return -1; /* there is none */
    }
}

static int mandel_parse(int argc, char **argv, struct mandel_options *options)
{
    static const struct option longs[] = {APP_LONG_OPTIONS,
                                          {"centre", required_argument, NULL, 'C'},
                                          {"center", required_argument, NULL, 'C'},
                                          {"zoom", required_argument, NULL, 'z'},
                                          {"size", required_argument, NULL, 'S'},
                                          {"iterations", required_argument, NULL, 'm'},
                                          {"strip", required_argument, NULL, OPTION_STRIP},
                                          {"bag", no_argument, NULL, OPTION_BAG},
                                          {NULL, 0, NULL, 0}};
    *options = (struct mandel_options){.view = {-0.65, 0, 1, 1024, 768, 8000}};
    const struct app_syntax syntax = {help, APP_SHORT_OPTIONS "C:z:S:m:", longs, mandel_take_own};
    return app_options_parse(&options->common, argc, argv, &syntax, options);
}

/* ---- The master -------------------------------------------------------------------------- */

static size_t pixels(const struct mandel *mandel, int rows)
{
    return (size_t)rows * (size_t)mandel->options->view.width;
}

/* The next strip, or none. Returns its rows or -1. */
static int give_strip(struct crew *crew, struct mandel *mandel, int rank)
{
    int first = 0;
    int rows = strips_take(&mandel->strips, &first);
    if (rows == 0)
        return 0;
    const int32_t strip[] = {first, rows};
    int error = covey_send_array(crew->vm, crew->tids[rank], DRAW_TAG_STRIP, COVEY_INT32, strip, 2);
    return error < 0 ? crew_fail(crew, "cannot send a strip", error) : rows;
}

static int take_strip(struct mandel *mandel, covey_msg_t *msg)
{
    int32_t strip[2];
    int error = covey_unpack_int32(msg, strip, 2, 1);
    if (error < 0)
        return crew_error("cannot read a strip", error);
    int height = mandel->options->view.height;
    if (strip[0] < 0 || strip[1] < 1 || strip[0] > height || strip[1] > height - strip[0]) {
        warnx("a worker drew rows %d to %d, which were not asked for", strip[0],
              strip[0] + strip[1]);
        return -1;
    }
    error = covey_unpack_uint16(msg, mandel->counts + pixels(mandel, strip[0]),
                                pixels(mandel, strip[1]), 1);
    if (error < 0)
        return crew_error("cannot read a strip", error);
    mandel->rows_in += strip[1];
    return 0;
}

static int on_drawn(struct crew *crew, struct mandel *mandel)
{
    covey_msg_t *msg = NULL;
    struct covey_info info;
    if (crew_next(crew, &msg, &info) < 0)
        return -1;
    int rank = crew_rank(crew, info.source);
    int result = -1;
    if (rank < 0 || info.tag != DRAW_TAG_DRAWN)
        warnx("unexpected message with tag %d of task %d", info.tag, info.source);
    else if (give_strip(crew, mandel, rank) >= 0) /* first: the worker may be waiting */
        result = take_strip(mandel, msg);
    covey_msg_free(msg);
    return result;
}

/* ---- by way of a bag ---- */

static int take_drawn(struct mandel *mandel, const struct covey_bag_result *result)
{
    int32_t strip[2] = {-1, 0};
    int height = mandel->options->view.height;
    if (result->size >= sizeof strip)
        memcpy(strip, result->bytes, sizeof strip);
    bool sane =
        strip[0] >= 0 && strip[1] >= 1 && strip[0] <= height && strip[1] <= height - strip[0];
    size_t bytes = sane ? pixels(mandel, strip[1]) * sizeof *mandel->counts : 0;
    if (!sane || result->size != sizeof strip + bytes) {
        warnx("a worker drew rows that were not asked for");
        return -1;
    }
    memcpy(mandel->counts + pixels(mandel, strip[0]), (const char *)result->bytes + sizeof strip,
           bytes);
    mandel->rows_in += strip[1];
    return 0;
}

static int conduct_bag(struct crew *crew, struct mandel *mandel)
{
    int height = mandel->options->view.height, first = 0;
    int32_t strip[2];
    while ((strip[1] = strips_take(&mandel->strips, &first)) > 0) {
        strip[0] = first;
        if (agenda_put(crew, mandel->bag, 0, strip, sizeof strip) < 0)
            return -1;
    }
    if (agenda_close(crew, mandel->bag) < 0)
        return -1;
    while (mandel->rows_in < height) {
        struct covey_bag_result result;
        if (agenda_result(crew, mandel->bag, &result) < 0 || take_drawn(mandel, &result) < 0)
            return -1;
        progress_show(&crew->progress, (double)mandel->rows_in / height);
    }
    covey_bag_free(&mandel->bag);
    return 0;
}

/* The bag is there before the workers look for it. */
static int mandel_feed(struct crew *crew, void *context)
{
    struct mandel *mandel = context;
    return crew->sequential ? 0 : agenda_create(crew, &mandel->bag);
}

static void mandel_end(void *context)
{
    struct mandel *mandel = context;
    covey_bag_free(&mandel->bag);
}

static int mandel_conduct(struct crew *crew, void *context)
{
    struct mandel *mandel = context;
    int height = mandel->options->view.height;
    mandel->strips = (struct strips){
        .height = height, .workers = crew->count, .fixed = mandel->options->strip_rows};
    if (mandel->options->bag)
        return conduct_bag(crew, mandel);
    for (int i = 0; i < QUEUED * crew->count; i++)
        if (give_strip(crew, mandel, i % crew->count) < 0)
            return -1;
    while (mandel->rows_in < height) {
        if (on_drawn(crew, mandel) < 0)
            return -1;
        progress_show(&crew->progress, (double)mandel->rows_in / height);
    }
    const int32_t none[] = {0, 0};
    for (int rank = 0; rank < crew->count; rank++) {
        int error =
            covey_send_array(crew->vm, crew->tids[rank], DRAW_TAG_STRIP, COVEY_INT32, none, 2);
        if (error < 0)
            return crew_fail(crew, "cannot send to a worker", error);
    }
    return 0;
}

/* The workers' strips are all here already; only the sequential picture has to be fetched. */
static int mandel_collect(struct crew *crew, void *context)
{
    struct mandel *mandel = context;
    if (!crew->sequential)
        return 0;
    if (crew_ask(crew, 0, CREW_COLLECT) < 0)
        return -1;
    return crew_receive_array(crew, 0, COVEY_UINT16, mandel->sequential,
                              pixels(mandel, mandel->options->view.height));
}

static int write_file(const struct mandel *mandel)
{
    const char *path = mandel->options->common.output;
    struct outfile file;
    if (path == NULL)
        return 0;
    if (outfile_open(&file, path) < 0)
        return -1;
    if (picture_write(file.stream, &mandel->options->view, mandel->counts) == 0)
        return outfile_commit(&file);
    outfile_discard(&file);
    return -1;
}

static int mandel_report(void *context, const struct coordinator_result *result)
{
    const struct mandel *mandel = context;
    const struct mandel_options *options = mandel->options;
    const struct escape_view *view = &options->view;
    if (write_file(mandel) < 0)
        return EXIT_FAILURE;
    size_t bytes = pixels(mandel, view->height) * sizeof *mandel->counts;
    char problem[128];
    snprintf(problem, sizeof problem, "%d x %d pixels, at most %d iterations, %d workers",
             view->width, view->height, view->iterations, result->run.tasks);
    json_t *parameters =
        json_pack("{s:i, s:i, s:i, s:f, s:f, s:f}", "width", view->width, "height", view->height,
                  "iterations", view->iterations, "centre_re", view->centre_re, "centre_im",
                  view->centre_im, "zoom", view->zoom);
    struct report report = {.program = "mandel",
                            .problem = problem,
                            .parameters = parameters,
                            .passed = options->common.check &&
                                      memcmp(mandel->counts, mandel->sequential, bytes) == 0,
                            .check_method = "equals the sequential picture",
                            .output = options->common.output};
    int status = coordinator_report(&options->common, result, &report);
    json_decref(parameters);
    return status;
}

static void mandel_describe(void *context, struct covey_problem *problem)
{
    const struct mandel *mandel = context;
    const struct escape_view *view = &mandel->options->view;
    problem->model = COVEY_MODEL_MANDEL;
    problem->width = view->width;
    problem->height = view->height;
    problem->iterations = view->iterations;
    problem->centre_re = view->centre_re;
    problem->centre_im = view->centre_im;
    problem->zoom = view->zoom;
    problem->strip = mandel->options->strip_rows;
    problem->form = mandel->options->bag ? COVEY_FORM_BAG : COVEY_FORM_USUAL;
}

static int mandel_coordinate(const void *program_options)
{
    const struct mandel_options *options = program_options;
    struct mandel mandel = {.options = options};
    size_t all = pixels(&mandel, options->view.height);
    mandel.counts = calloc(all, sizeof *mandel.counts);
    mandel.sequential = calloc(all, sizeof *mandel.sequential);
    const struct draw_job job = {.view = options->view, .bag = options->bag};
    const struct coordinator_program program = {.context = &mandel,
                                                .title = "drawing",
                                                .pack_job = draw_pack,
                                                .job = &job,
                                                .feed = options->bag ? mandel_feed : NULL,
                                                .conduct = mandel_conduct,
                                                .tolerant = options->bag,
                                                .end = mandel_end,
                                                .collect =
                                                    options->common.check ? mandel_collect : NULL,
                                                .compares = options->common.check,
                                                .describe = mandel_describe,
                                                .report = mandel_report};
    int status = EXIT_FAILURE;
    if (mandel.counts != NULL && mandel.sequential != NULL)
        status = coordinator_main(&options->common, &program);
    else
        warnx("out of memory for the picture");
    free(mandel.counts);
    free(mandel.sequential);
    return status;
}

int main(int argc, char **argv)
{
    static const struct app_roles roles = {escape_kernel, draw_worker, mandel_coordinate};
    struct mandel_options options;
    int parsed = mandel_parse(argc, argv, &options);
    return app_run(parsed, &options.common, &roles, &options);
}
