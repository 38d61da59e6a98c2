/* covey predict tiles: the loop, its costs, and the times of the heights. */
#include "tools/predict/predict_tiles.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/base/args.h"
#include "tools/base/program.h"

#define USUAL_SIZE "16x16x16384"
#define USUAL_TASKS 16
#define TASKS_MAX 4096
#define SIDE_MAX ((int64_t)1 << 24)
#define LEAST_HEIGHT 4
#define POINT_NS_MAX 1e9

/* ---- the loop -------------------------------------------------------------------------------- */

/* Those of the program tiles: what depends on what. */
struct nest {
    const char *name;
    int type, dependences;
    int32_t dependence[5][3];
};

static const struct nest nests[] = {
    {"sqrt", COVEY_FLOAT, 3, {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}},
    {"heat", COVEY_DOUBLE, 5, {{1, 0, 0}, {1, 1, 0}, {1, -1, 0}, {1, 0, 1}, {1, 0, -1}}},
};

bool tiles_set_loop(struct predict_tiles *t, const char *name)
{
    for (size_t i = 0; i < sizeof nests / sizeof nests[0]; i++) {
        if (strcmp(nests[i].name, name) != 0)
            continue;
        snprintf(t->name, sizeof t->name, "%s", name);
        t->loop.dims = 3;
        t->loop.type = nests[i].type;
        t->loop.dependences = nests[i].dependences;
        for (int d = 0; d < nests[i].dependences; d++)
            memcpy(t->loop.dependence[d], nests[i].dependence[d], sizeof nests[i].dependence[d]);
        return true;
    }
    return false;
}

bool tiles_set_shape(struct predict_tiles *t, const char *name)
{
    static const char *const names[] = {"skew", "each", "columns", NULL};
    t->shape = args_choice(names, name);
    return t->shape >= 0;
}

static int set_size(struct predict_tiles *t, const char *text)
{
    char copy[64], *rest = copy;
    int count = 0;
    bool good = strlen(text) < sizeof copy;
    snprintf(copy, sizeof copy, "%s", text);
    for (char *word; good && count < 3 && (word = strsep(&rest, "x")); count++) {
        good = args_size(word, SIDE_MAX, &t->loop.size[count]) && t->loop.size[count] > 0;
    }
    if (good && count == 3 && !rest)
        return TOOL_OK;
    return tool_usage("predict", "--size %s: of tiles must be IxJxK, such as " USUAL_SIZE, text);
}

/* ---- the costs ------------------------------------------------------------------------------- */

/* The first figure that `tiles --kernel` prints for this loop; 0: none. */
static double ask_kernel(const struct predict_tiles *t)
{
    char program[PROGRAM_PATH_BYTES], command[PROGRAM_PATH_BYTES + 16], line[128], name[32];
    double point_s = 0, seconds;
    if (program_find("predict", "tiles", program, sizeof program) != TOOL_OK)
        return 0;
    snprintf(command, sizeof command, "'%s' --kernel", program);
    FILE *out = popen(command, "r");
    while (out && fgets(line, sizeof line, out)) {
        if (sscanf(line, "%31s %lf", name, &seconds) == 2 && strcmp(name, t->name) == 0)
            point_s = seconds;
    }
    if (out)
        pclose(out);
    return point_s;
}

static int set_point(struct predict_tiles *t, const char *text)
{
    double ns = 0;
    if (text && (!args_real(text, 0, POINT_NS_MAX, &ns) || ns == 0))
        return tool_usage("predict", "--point %s: must be nanoseconds above 0", text);
    t->options.costs.point_s = text ? ns / 1e9 : ask_kernel(t);
    return t->options.costs.point_s > 0
               ? TOOL_OK
               : tool_error("predict", "the program tiles does not say what a point takes; give "
                                       "--point NANOSECONDS");
}

/* ---- the times ------------------------------------------------------------------------------- */

static int plan_tiles(const struct predict_tiles *t, int schedule, int64_t height,
                      struct covey_tiles_plan *result)
{
    struct covey_tiles_options options = t->options;
    options.schedule = schedule;
    if (options.along > 0)
        options.tile[options.along - 1] = height;
    if (covey_tiles_plan(&t->loop, &options, t->tasks, result) < 0)
        return tool_error("predict", "%s", covey_error_text());
    return TOOL_OK;
}

int tiles_at(const struct predict_tiles *t, int64_t height, struct tiles_height *row)
{
    struct covey_tiles_plan p;
    int status = plan_tiles(t, COVEY_TILES_OVERLAP, height, &p);
    if (status != TOOL_OK)
        return status;
    *row = (struct tiles_height){
        .height = height,
        .model_s = {[COVEY_TILES_OVERLAP] = p.overlap_s, [COVEY_TILES_BLOCK] = p.block_s},
        .played_s = {
            [COVEY_TILES_OVERLAP] = p.played_overlap_s, [COVEY_TILES_BLOCK] = p.played_block_s}};
    return TOOL_OK;
}

/* In its place, once. */
static int add_height(struct predict_tiles *t, int64_t height)
{
    int at = 0;
    while (at < t->count && t->rows[at].height < height)
        at++;
    bool known = at < t->count && t->rows[at].height == height;
    if (known || t->count == TILES_HEIGHTS_MAX || height < 1 || height > t->extent)
        return TOOL_OK;
    memmove(&t->rows[at + 1], &t->rows[at], (size_t)(t->count - at) * sizeof t->rows[0]);
    t->count++;
    return tiles_at(t, height, &t->rows[at]);
}

/* Which dimension stays on a task, and the heights that the runtime would choose. */
static int choose_heights(struct predict_tiles *t)
{
    struct covey_tiles_plan p;
    int error = t->shape == 0 ? covey_tiles_skew(&t->loop)
                              : covey_tiles_shape(&t->loop, t->shape - 1, 0, &t->options);
    if (error < 0)
        return tool_error("predict", "%s", covey_error_text());
    int status = plan_tiles(t, COVEY_TILES_OVERLAP, 0, &p);
    if (status != TOOL_OK)
        return status;
    t->options.along = p.along;
    if (t->options.grid[0] == 0) {
        /* A square number of tasks is a square of them, as the program has it. */
        int q = 1;
        while (q * q < t->tasks)
            q++;
        for (int i = 0; i < t->loop.dims && q * q == t->tasks; i++)
            t->options.grid[i] = i == p.along - 1 ? 1 : q;
    }
    t->extent = p.extent[p.along - 1];
    for (int i = 0; i < TILES_SCHEDULES && status == TOOL_OK; i++) {
        status = plan_tiles(t, i, 0, &p);
        t->chosen[i] = p.tile[p.along - 1];
    }
    return status;
}

/* ---- the command ----------------------------------------------------------------------------- */

static int take_words(struct predict_tiles *t, const struct tiles_request *r)
{
    long tasks = USUAL_TASKS;
    if (r->procs && !args_number(r->procs, 1, TASKS_MAX, &tasks))
        return tool_usage("predict", "--procs %s: of tiles must be one number of tasks", r->procs);
    t->tasks = (int)tasks;
    if (!tiles_set_loop(t, r->loop ? r->loop : "sqrt"))
        return tool_usage("predict", "--loop %s: must be sqrt or heat", r->loop);
    if (r->shape && !tiles_set_shape(t, r->shape))
        return tool_usage("predict", "--shape %s: must be skew, each or columns", r->shape);
    return set_size(t, r->size ? r->size : USUAL_SIZE);
}

/* Of runs that were measured all is known; otherwise the calibration says what messages cost. */
static int find_costs(struct predict_tiles *t, const struct tiles_request *r)
{
    int status = TOOL_OK;
    for (int i = 0; i < r->measured_count && status == TOOL_OK; i++)
        status = tiles_read(t, r->measured[i]);
    if (status == TOOL_OK && r->measured_count == 0) {
        const struct predict *p = t->predict;
        if (covey_tiles_costs(p->calibration, p->problem.route, &t->options.costs) < 0)
            return tool_error("predict", "%s", covey_error_text());
    }
    if (status == TOOL_OK && (r->measured_count == 0 || r->point))
        status = set_point(t, r->point);
    return status;
}

int predict_tiles(const struct predict *predict, const struct tiles_request *r)
{
    struct predict_tiles *t = calloc(1, sizeof *t);
    if (!t)
        return tool_error("predict", "memory is exhausted");
    t->predict = predict;
    int status = take_words(t, r);
    if (status == TOOL_OK)
        status = find_costs(t, r);
    if (status == TOOL_OK)
        status = choose_heights(t);
    for (int64_t z = LEAST_HEIGHT; z < t->extent && status == TOOL_OK; z *= 2)
        status = add_height(t, z);
    for (int i = 0; i < t->measured_count && status == TOOL_OK; i++)
        status = add_height(t, t->measured[i].height);
    for (int i = 0; i < TILES_SCHEDULES && status == TOOL_OK; i++)
        status = add_height(t, t->chosen[i]);
    if (status == TOOL_OK && predict->plot)
        status = tiles_draw(t);
    if (status == TOOL_OK)
        status = (predict->json ? tiles_print_json : tiles_print)(t);
    free(t);
    return status;
}
