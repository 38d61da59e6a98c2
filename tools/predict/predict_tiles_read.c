/* What tiles --sweep --json printed: the loop, how it was divided, its costs, and each run. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tools/predict/predict_tiles.h"

#define SIDE_MAX ((json_int_t)1 << 24)
#define TASKS_MAX 4096

/* Three whole numbers from least to most. */
static bool take_three(const json_t *list, json_int_t least, json_int_t most, int64_t *three)
{
    bool good = json_array_size(list) == 3;
    for (size_t i = 0; i < 3 && good; i++) {
        three[i] = json_integer_value(json_array_get(list, i));
        good = three[i] >= least && three[i] <= most;
    }
    return good;
}

static bool take_cost(const json_t *costs, const char *name, double *cost)
{
    *cost = json_number_value(json_object_get(costs, name));
    return isfinite(*cost) && *cost >= 0;
}

static bool take_costs(const json_t *costs, struct covey_tiles_costs *c)
{
    return take_cost(costs, "point_s", &c->point_s) && take_cost(costs, "alpha_s", &c->alpha_s) &&
           take_cost(costs, "beta_s", &c->beta_s) && take_cost(costs, "start_s", &c->start_s) &&
           take_cost(costs, "drag_s", &c->drag_s) && take_cost(costs, "store_s", &c->store_s) &&
           c->point_s > 0 && c->alpha_s > 0;
}

/* As in what was read before. */
static bool is_same(const struct predict_tiles *t, const char *loop, const int64_t size[3],
                    const int64_t grid[3], int shape)
{
    bool same = strcmp(loop, t->name) == 0 && t->shape == shape;
    for (int i = 0; i < 3; i++)
        same = same && size[i] == t->loop.size[i] && grid[i] == t->options.grid[i];
    return same;
}

/* The same loop and grid as in the files before. The costs are the last that a file has. */
static bool take_loop(struct predict_tiles *t, const json_t *all)
{
    const char *program = json_string_value(json_object_get(all, "program"));
    const char *loop = json_string_value(json_object_get(all, "loop"));
    int64_t size[3], grid[3];
    json_int_t tasks = json_integer_value(json_object_get(all, "tasks"));
    /* Runs of given heights alone are not calibrated, and print no costs: those read before hold.
     */
    const json_t *costs = json_object_get(all, "costs");
    struct covey_tiles_costs c;
    bool none = take_cost(costs, "point_s", &c.point_s) && c.point_s == 0;
    bool good = program && strcmp(program, "tiles") == 0 && loop && tasks >= 1 &&
                tasks <= TASKS_MAX && take_three(json_object_get(all, "size"), 1, SIDE_MAX, size) &&
                take_three(json_object_get(all, "grid"), 1, TASKS_MAX, grid) &&
                ((none && t->measured_count > 0) || take_costs(costs, &t->options.costs));
    bool first = t->measured_count == 0;
    const char *form = json_string_value(json_object_get(all, "shape"));
    int shape = t->shape;
    good = good && tiles_set_shape(t, form ? form : "skew");
    if (!good || !(first || (t->tasks == tasks && is_same(t, loop, size, grid, shape))) ||
        !tiles_set_loop(t, loop))
        return false;
    memcpy(t->loop.size, size, sizeof size);
    for (int i = 0; i < 3; i++)
        t->options.grid[i] = (int32_t)grid[i];
    t->tasks = (int)tasks;
    return true;
}

static bool take_all(struct predict_tiles *t, const json_t *all)
{
    const json_t *trials = json_object_get(all, "trials");
    bool good = take_loop(t, all) && json_array_size(trials) > 0;
    for (size_t i = 0; good && i < json_array_size(trials); i++) {
        const json_t *trial = json_array_get(trials, i);
        const char *schedule = json_string_value(json_object_get(trial, "schedule"));
        struct tiles_measured m = {.height = json_integer_value(json_object_get(trial, "height")),
                                   .total_s = json_number_value(json_object_get(trial, "total_s")),
                                   .schedule = schedule && strcmp(schedule, "block") == 0
                                                   ? COVEY_TILES_BLOCK
                                                   : COVEY_TILES_OVERLAP};
        good = schedule && m.height >= 1 && m.height <= SIDE_MAX * 4 && m.total_s > 0 &&
               isfinite(m.total_s) && t->measured_count < TILES_MEASURED_MAX;
        if (good)
            t->measured[t->measured_count++] = m;
    }
    return good;
}

int tiles_read(struct predict_tiles *t, const char *path)
{
    json_error_t error;
    FILE *file = fopen(path, "re");
    int count = 0;
    bool good = true;
    if (!file)
        return tool_error("predict", "--measured %s: cannot be read", path);
    for (; good && predict_has_more(file); count++) {
        json_t *all = json_loadf(file, JSON_DISABLE_EOF_CHECK, &error);
        good = all && take_all(t, all);
        json_decref(all);
    }
    fclose(file);
    if (good && count > 0)
        return TOOL_OK;
    return tool_error("predict",
                      "--measured %s: holds something else than the runs of one loop, with its "
                      "costs, as tiles prints them with --sweep --json",
                      path);
}
