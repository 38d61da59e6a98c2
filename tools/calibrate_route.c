/*
 * alpha and beta of the routes: half round trips of covey bench between two hosts, without the raw
 * programs that it measures otherwise.
 */
#include <stdlib.h>
#include <string.h>

#include "tools/bench.h"
#include "tools/calibrate.h"

static const int64_t sizes[] = {1, 1024, 16384, 131072, 1048576};

enum { SIZES = sizeof sizes / sizeof *sizes, ROUNDS = 5, BATCH_US = 5000 };

static void plan(struct bench *bench, const struct calibrate *c, int route)
{
    bool inside = route == COVEY_ROUTE_SHM;
    bench->tool = c->tool;
    bench->name = bench_names[BENCH_PINGPONG - 1];
    bench->quiet = true;
    bench->hosts[bench->host_count++] = c->names[0];
    if (!inside && c->name_count > 1)
        bench->hosts[bench->host_count++] = c->names[1];
    bench->plan.what = BENCH_PINGPONG;
    bench->plan.route = route;
    bench->plan.bare = 1;
    bench->plan.rounds = ROUNDS;
    bench->plan.batch_us = BATCH_US;
    bench->plan.tasks = 2;
    bench->plan.peer_count = 1;
    bench->plan.size_count = SIZES;
    memcpy(bench->plan.sizes, sizes, sizeof sizes);
}

/* Processor time of a byte at either end, of tasks and daemons, from the largest messages, whose
 * receivers sleep most of the time. Within a host nothing else goes on meanwhile. */
static double drag_of(const struct bench *bench)
{
    const struct bench_series *last = &bench->rows[bench->row_count - 1].series[0];
    double seconds = last->task_cpu_s + last->daemon_cpu_s;
    bool inside = bench->plan.route == COVEY_ROUTE_SHM;
    return inside || !(last->bytes > 0) || !(seconds > 0) ? 0 : seconds / last->bytes / 2;
}

/* A route that cannot be had between these hosts is none of the calibration. */
static int measure(const struct calibrate *c, struct bench *bench, int route)
{
    struct covey_calibration_route *result = &c->result->routes[route];
    plan(bench, c, route);
    int status = bench_run(bench);
    if (status == TOOL_OK && bench_fit(bench, "covey", &result->line) == 0) {
        result->known = 1;
        result->drag_s = drag_of(bench);
        if (result->line.beta_s < 0)
            result->line.beta_s = 0;
    }
    for (int i = 0; i < bench->row_count; i++)
        bench_row_free(&bench->rows[i]);
    return status > TOOL_USAGE ? status : TOOL_OK; /* a signal ends it all */
}

int calibrate_routes(struct calibrate *c)
{
    int status = TOOL_OK;
    for (int route = COVEY_ROUTE_SHM; route <= COVEY_ROUTE_ETHER && status == TOOL_OK; route++) {
        struct bench *bench = calloc(1, sizeof *bench);
        if (!bench)
            return tool_error("calibrate", "memory is exhausted");
        if (route == COVEY_ROUTE_SHM || c->name_count > 1)
            status = measure(c, bench, route);
        free(bench);
    }
    return status;
}
