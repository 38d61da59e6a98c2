/*
 * alpha and beta of the routes: half round trips of covey bench between two hosts, and between two
 * tasks of one, without the raw programs that it measures otherwise. Then what messages and
 * computations do to each other, in rings (bench/ring.c): of two hosts, and of all.
 */
#include <stdlib.h>
#include <string.h>

#include "tools/bench/bench.h"
#include "tools/predict/calibrate.h"

/* Either so small that only alpha counts, or larger than what queues and the bursts of a shaped
 * link swallow: that would be taken for a better beta than long messages get. */
static const int64_t sizes[] = {1, 1024, 262144, 1048576, 2097152};

enum {
    SIZES = sizeof sizes / sizeof *sizes,
    ROUNDS = 3,
    BATCH_US = 5000,
    RING_BYTES = 1048576,
    PAIR_BYTES = 524288
};

/* A benchmark of the first `count` hosts, one task on each; NULL after an error line. */
static struct bench *bench_make(const struct calibrate *c, const char *name, int what, int route,
                                int count)
{
    struct bench *bench = calloc(1, sizeof *bench);
    if (!bench) {
        tool_error("calibrate", "memory is exhausted");
        return NULL;
    }
    bench->tool = c->tool;
    bench->name = name;
    bench->quiet = true;
    bench->host_count = count;
    for (int i = 0; i < count; i++)
        bench->hosts[i] = c->names[i];
    bench->plan = (struct bench_plan){
        .what = what, .route = route, .bare = 1, .tasks = count, .size_count = 1};
    return bench;
}

static void bench_drop(struct bench *bench)
{
    for (int i = 0; bench && i < bench->row_count; i++)
        bench_row_free(&bench->rows[i]);
    free(bench);
}

/* A route that cannot be had between these hosts is none of the calibration. */
static bool fit(const struct bench *bench, struct covey_line *line, double *drag_s)
{
    if (bench_fit(bench, "covey", covey_line_fit_ends, line) != 0)
        return false;
    /* Processor time of a byte at either end, of tasks and daemons, from the largest messages,
     * whose receivers sleep most of the time. */
    const struct bench_series *last = &bench->rows[bench->row_count - 1].series[0];
    double seconds = last->task_cpu_s + last->daemon_cpu_s;
    *drag_s = last->bytes > 0 && seconds > 0 ? seconds / last->bytes / 2 : 0;
    return true;
}

static int measure_line(const struct calibrate *c, int route, bool inside)
{
    struct covey_calibration_route *result = &c->result->routes[route];
    struct bench *bench =
        bench_make(c, bench_names[BENCH_PINGPONG - 1], BENCH_PINGPONG, route, inside ? 1 : 2);
    if (!bench)
        return TOOL_FAILED;
    bench->plan.rounds = ROUNDS;
    bench->plan.batch_us = BATCH_US;
    bench->plan.tasks = 2;
    bench->plan.peer_count = 1;
    bench->plan.size_count = SIZES;
    memcpy(bench->plan.sizes, sizes, sizeof sizes);
    int status = bench_run(bench);
    bool apart = inside && covey_route_reach(route) & COVEY_REACH_OUTSIDE;
    if (status == TOOL_OK && apart)
        result->inside_known = fit(bench, &result->inside, &result->inside_drag_s);
    else if (status == TOOL_OK)
        result->known = fit(bench, &result->line, &result->load.drag_s);
    bench_drop(bench);
    return status > TOOL_USAGE ? status : TOOL_OK; /* a signal ends it all */
}

/* ---- Beside computing ------------------------------------------------------------------------ */

struct beside {
    double drag_s, busy_s, spread;
};

/* A ring of the first `count` hosts. */
static int measure_ring(const struct calibrate *c, int route, int count, struct beside *beside)
{
    struct bench *bench = bench_make(c, "ring", BENCH_RING, route, count);
    if (!bench)
        return TOOL_FAILED;
    bench->plan.sizes[0] = RING_BYTES;
    int status = bench_run(bench);
    if (status == TOOL_OK && bench->row_count > 0) {
        /* What computing lacks is what messages took, of both ends of each. */
        const struct bench_series *series = &bench->rows[0].series[0];
        double share = 0, lacks = series->left < 1 ? 1 - series->left : 0;
        for (int i = 0; i < bench->host_count; i++)
            share += c->result->hosts[i].share / bench->host_count;
        double byte_s = series->us[0] / 1e6 / (double)bench->rows[0].bytes;
        *beside = (struct beside){
            .busy_s = byte_s, .drag_s = lacks * share * byte_s / 2, .spread = series->spread};
    }
    bench_drop(bench);
    return status > TOOL_USAGE ? status : TOOL_OK;
}

static double larger_s(double a, double b)
{
    return a > b ? a : b;
}

/* At least what tasks and daemons counted while nothing else ran. */
static int measure_rings(const struct calibrate *c, int route)
{
    struct covey_load *load = &c->result->routes[route].load;
    int all = c->name_count < BENCH_HOSTS_MAX ? c->name_count : BENCH_HOSTS_MAX;
    struct beside two = {0}, more = {0};
    int status = measure_ring(c, route, 2, &two);
    load->drag_s = larger_s(load->drag_s, two.drag_s);
    load->busy_s = two.busy_s;
    load->spread = two.spread;
    if (status == TOOL_OK && all > 2)
        status = measure_ring(c, route, all, &more);
    if (more.busy_s > 0) {
        load->all_hosts = all;
        load->all_drag_s = larger_s(load->drag_s, more.drag_s);
        load->all_busy_s = more.busy_s;
        load->all_spread = more.spread;
    }
    return status;
}

/* What computing lacks beside messages of one byte, the shortest, goes for what a message costs its
 * ends apart from its bytes: the two of them send and receive one in series->us each. Computing was
 * a share of a processor. */
static int measure_start(const struct calibrate *c, int route)
{
    struct bench *bench = bench_make(c, "ring", BENCH_RING, route, 2);
    if (!bench)
        return TOOL_FAILED;
    bench->plan.sizes[0] = 1;
    int status = bench_run(bench);
    if (status == TOOL_OK && bench->row_count > 0) {
        const struct bench_series *series = &bench->rows[0].series[0];
        double share = (c->result->hosts[0].share + c->result->hosts[1].share) / 2;
        double lacks = series->left < 1 ? 1 - series->left : 0;
        c->result->routes[route].start_s = lacks * share * series->us[0] / 1e6 / 2;
    }
    bench_drop(bench);
    return status > TOOL_USAGE ? status : TOOL_OK;
}

/* ---- Each pair ------------------------------------------------------------------------------- */

static void take_peers(struct calibrate *c, int route, const struct bench *bench)
{
    struct covey_calibration *result = c->result;
    for (int i = 0; i < bench->row_count; i++) {
        const struct bench_series *series = &bench->rows[i].series[0];
        for (int k = i + 1; k < bench->row_count && 2 * k + 1 < series->rounds; k++) {
            if (result->peer_count == COVEY_CALIBRATION_PEERS_MAX)
                return;
            result->peers[result->peer_count++] =
                (struct covey_calibration_peers){.route = route,
                                                 .hosts = {(int16_t)i, (int16_t)k},
                                                 .alpha_s = series->us[2 * k],
                                                 .beta_s = series->us[2 * k + 1]};
        }
    }
}

/* alpha and beta between each two hosts, in as many phases as there are hosts. */
static int measure_peers(struct calibrate *c, int route)
{
    int count = c->name_count < BENCH_HOSTS_MAX ? c->name_count : BENCH_HOSTS_MAX;
    struct bench *bench = bench_make(c, "pairs", BENCH_PAIRS, route, count);
    if (!bench)
        return TOOL_FAILED;
    bench->plan.sizes[0] = PAIR_BYTES;
    int status = bench_run(bench);
    if (status == TOOL_OK)
        take_peers(c, route, bench);
    bench_drop(bench);
    return status > TOOL_USAGE ? status : TOOL_OK;
}

/* ---- All ------------------------------------------------------------------------------------- */

int calibrate_next_route(int route)
{
    const struct covey_calibration *c = NULL;
    int places = sizeof c->routes / sizeof *c->routes;
    return route + 1 < places && covey_route_reach(route + 1) != 0 ? route + 1 : 0;
}

int calibrate_routes(struct calibrate *c)
{
    int status = TOOL_OK;
    for (int route = 0; status == TOOL_OK && (route = calibrate_next_route(route)) != 0;) {
        int reach = covey_route_reach(route);
        bool outside = reach & COVEY_REACH_OUTSIDE;
        if (outside && c->route != COVEY_ROUTE_AUTO && c->route != route)
            continue;
        if (outside && c->name_count > 1) {
            /* Where hosts share one machine, they share what messages take, too. */
            status = measure_line(c, route, false);
            if (status == TOOL_OK && c->result->routes[route].known && !c->one_machine)
                status = measure_rings(c, route);
            if (status == TOOL_OK && c->result->routes[route].known)
                status = measure_start(c, route);
            if (status == TOOL_OK && c->result->routes[route].known)
                status = measure_peers(c, route);
        }
        if (status == TOOL_OK && reach & COVEY_REACH_INSIDE &&
            (!outside || c->result->routes[route].known))
            status = measure_line(c, route, true);
    }
    return status;
}
