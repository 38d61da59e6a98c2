/*
 * alpha and beta of the routes: half round trips of covey bench between two hosts, without the raw
 * programs that it measures otherwise.
 */
#include <stdlib.h>
#include <string.h>

#include "tools/bench.h"
#include "tools/bench_stat.h"
#include "tools/calibrate.h"

/* Either so small that only alpha counts, or larger than what queues and the bursts of a shaped
 * link swallow: that would be taken for a better beta than long messages get. */
static const int64_t sizes[] = {1, 1024, 262144, 1048576, 2097152};

enum { SIZES = sizeof sizes / sizeof *sizes, ROUNDS = 3, BATCH_US = 5000, LOAD_US = 2000000 };

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

static void bench_drop(struct bench *bench)
{
    for (int i = 0; bench && i < bench->row_count; i++)
        bench_row_free(&bench->rows[i]);
    free(bench);
}

/* A route that cannot be had between these hosts is none of the calibration. */
static int measure(const struct calibrate *c, struct bench *bench, int route)
{
    struct covey_calibration_route *result = &c->result->routes[route];
    plan(bench, c, route);
    int status = bench_run(bench);
    if (status == TOOL_OK && bench_fit(bench, "covey", covey_line_fit_ends, &result->line) == 0) {
        result->known = 1;
        result->drag_s = drag_of(bench);
    }
    return status > TOOL_USAGE ? status : TOOL_OK; /* a signal ends it all */
}

/* ---- Busy hosts ------------------------------------------------------------------------------ */

/* What messages took of both hosts' processors is what the load lacks of what it gets alone, and at
 * least what tasks and daemons counted while nothing else ran. */
static void take_busy(struct calibrate *c, const struct bench *bench, double share, int route)
{
    struct covey_calibration_route *result = &c->result->routes[route];
    const struct bench_series *series = &bench->rows[0].series[0];
    double median_us = bench_spread_of(series->us, (size_t)series->rounds).median;
    double byte_s = median_us / 1e6 / (double)bench->rows[0].bytes;
    if (byte_s > result->line.beta_s)
        result->busy_s = byte_s;
    if ((c->load_share - share) * byte_s > result->drag_s)
        result->drag_s = (c->load_share - share) * byte_s;
}

/* Long messages between the first two hosts while both compute. */
static int measure_busy(struct calibrate *c, struct bench *bench, int route)
{
    struct calibrate_load load;
    double share = 0;
    plan(bench, c, route);
    bench->plan.sizes[0] = sizes[SIZES - 2];
    bench->plan.size_count = 1;
    int status = calibrate_load_start(c, &load);
    int measured = status == TOOL_OK ? bench_run(bench) : status;
    int ended = calibrate_load_end(c, &load, &share);
    if (measured == TOOL_OK && ended == TOOL_OK && bench->row_count > 0)
        take_busy(c, bench, share, route);
    return measured != TOOL_OK ? measured : ended;
}

/* Where hosts share one machine, they share what messages take, too. */
static int measure_both(struct calibrate *c, int route)
{
    struct bench *idle = calloc(1, sizeof *idle), *busy = calloc(1, sizeof *busy);
    int status =
        idle && busy ? measure(c, idle, route) : tool_error("calibrate", "memory is exhausted");
    bool between = route != COVEY_ROUTE_SHM && c->result->routes[route].known;
    if (status == TOOL_OK && between && !c->one_machine)
        status = measure_busy(c, busy, route);
    bench_drop(idle);
    bench_drop(busy);
    return status;
}

/* What the load gets without messages. */
static int measure_load(struct calibrate *c)
{
    struct calibrate_load load;
    covey_msg_t *none = NULL;
    int status = calibrate_load_start(c, &load);
    if (status == TOOL_OK)
        covey_recv(c->tool->vm, covey_mytid(c->tool->vm), COVEY_ANY_TAG, LOAD_US, &none);
    covey_msg_free(none);
    int ended = calibrate_load_end(c, &load, &c->load_share);
    return status != TOOL_OK ? status : ended;
}

int calibrate_routes(struct calibrate *c)
{
    bool between = c->name_count > 1 && !c->one_machine;
    int status = between ? measure_load(c) : TOOL_OK;
    for (int route = COVEY_ROUTE_SHM; route <= COVEY_ROUTE_ETHER && status == TOOL_OK; route++) {
        if (route == COVEY_ROUTE_SHM || c->name_count > 1)
            status = measure_both(c, route);
    }
    return status;
}
