/*
 * covey bench bag: what a bag of work costs. The console makes it and collects; the workers
 * (tools/bench/tasks/bag.c) do nothing with items that hold nothing. A round's sample is how many
 * items a second go all the way: put, taken, done, and the result received. Then single items: from
 * the put to the result, beside the round trip of a message to the worker by the same way, through
 * the daemons.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "tools/base/program.h"
#include "tools/bench/bench.h"
#include "tools/bench/bench_stat.h"
#include "tools/list/report.h"
#include "tools/list/table.h"

enum { ITEMS = 100000, AT_ONCE = 256, SINGLES = 400, TRIPS = 400, WAIT_US = 20000000 };

struct bag_bench {
    struct tool *tool;
    covey_bag_t *bag;
    char name[32];
    int workers, hosts, rounds, backups;
    covey_tid_t tids[BENCH_TASKS_MAX];
    double *rates; /* items a second, one a round */
    double single_us[SINGLES], trip_us[TRIPS];
};

static double now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static int fail_bag(struct bag_bench *b, int error)
{
    return tool_failed(b->tool, "bench", error);
}

/* ---- workers ---- */

static int start_workers(struct bag_bench *b, const struct bench *bench)
{
    char program[PROGRAM_PATH_BYTES];
    int status = program_find("bench", "covey-bench", program, sizeof program);
    const struct covey_spawn what = {.argv = (const char *const[]){program, "bag", b->name, NULL},
                                     .hosts = bench->host_count > 0 ? bench->hosts : NULL,
                                     .cwd = "/",
                                     .where = bench->host_count > 0 ? COVEY_WHERE_HOSTS
                                                                    : COVEY_WHERE_ANY,
                                     .tether = 1};
    if (status != TOOL_OK)
        return status;
    int started = covey_spawn(b->tool->vm, &what, b->workers, b->tids);
    if (started < 0)
        return fail_bag(b, started);
    return started == b->workers ? TOOL_OK : tool_error("bench", "a worker could not be started");
}

/* All workers wait for items, and the copies that are to be there are. */
static int await_workers(struct bag_bench *b)
{
    struct covey_bag_info info = {.tasks = 0};
    double end_us = now_us() + WAIT_US;
    while (info.tasks <= b->workers && now_us() < end_us) {
        usleep(20000);
        int error = covey_bag_info(b->bag, &info);
        if (error < 0)
            return fail_bag(b, error);
    }
    int count = 0;
    for (int i = 0; i < b->workers; i++) {
        bool again = false;
        for (int j = 0; j < i; j++)
            again |= covey_tid_host(b->tids[i]) == covey_tid_host(b->tids[j]);
        count += !again;
    }
    b->hosts = count;
    b->backups = info.backups;
    return info.tasks > b->workers ? TOOL_OK : tool_error("bench", "the workers do not come");
}

/* ---- samples ---- */

static int round_run(struct bag_bench *b, double *rate)
{
    struct covey_bag_result results[AT_ONCE];
    double begin_us = now_us();
    for (int put = 0, got = 0; got < ITEMS;) {
        int error = 0, n;
        for (int i = 0; i < AT_ONCE && put < ITEMS && error == 0; i++, put++)
            error = covey_bag_put(b->bag, 0, NULL, 0);
        n = error != 0
                ? error
                : covey_bag_result(b->bag, put < ITEMS ? COVEY_POLL : WAIT_US, results, AT_ONCE);
        if (n < 0 && (n != COVEY_ETIMEOUT || put == ITEMS))
            return fail_bag(b, n);
        got += n > 0 ? n : 0;
    }
    *rate = ITEMS / ((now_us() - begin_us) / 1e6);
    return TOOL_OK;
}

static int samples_take(struct bag_bench *b)
{
    int status = TOOL_OK;
    for (int i = 0; i < b->rounds && status == TOOL_OK; i++)
        status = round_run(b, &b->rates[i]);
    for (int i = 0; i < SINGLES && status == TOOL_OK; i++) {
        struct covey_bag_result result;
        double begin_us = now_us();
        int error = covey_bag_put(b->bag, 0, NULL, 0);
        int n = error != 0 ? error : covey_bag_result(b->bag, WAIT_US, &result, 1);
        b->single_us[i] = now_us() - begin_us;
        status = n == 1 ? TOOL_OK : fail_bag(b, n);
    }
    if (status != TOOL_OK)
        return status;
    covey_bag_close(b->bag);
    covey_set_route(b->tool->vm, b->tids[b->workers - 1], COVEY_ROUTE_UDP);
    for (int i = 0; i < TRIPS && status == TOOL_OK; i++) {
        /* With the last worker, which stands on another host than the console, if any does. */
        covey_tid_t tid = b->tids[b->workers - 1];
        uint8_t byte = 0;
        double begin_us = now_us();
        int error = covey_send_array(b->tool->vm, tid, 1, COVEY_UINT8, &byte, 1);
        if (error == 0)
            error =
                covey_recv_array(b->tool->vm, tid, 1, WAIT_US, COVEY_UINT8, &byte, 1, NULL, NULL);
        b->trip_us[i] = now_us() - begin_us;
        status = error == 0 ? TOOL_OK : fail_bag(b, error);
    }
    for (int i = 0; i < b->workers; i++)
        covey_send_array(b->tool->vm, b->tids[i], 1, COVEY_UINT8, NULL, 0);
    return status;
}

/* ---- figures ---- */

static int print_bag_json(const struct bag_bench *b)
{
    const struct bench_spread rate = bench_spread_of(b->rates, (size_t)b->rounds);
    const struct bench_spread single = bench_spread_of(b->single_us, SINGLES);
    const struct bench_spread trip = bench_spread_of(b->trip_us, TRIPS);
    return report_print(
        "bench", json_pack("{s:s, s:i, s:i, s:i, s:f, s:f, s:f, s:f, s:f, s:f}", "benchmark", "bag",
                           "workers", b->workers, "hosts", b->hosts, "copies", b->backups,
                           "items_per_s", rate.median, "items_per_s_min", rate.min,
                           "items_per_s_max", rate.max, "item_us", single.median, "round_trip_us",
                           trip.median, "round_trips", single.median / trip.median));
}

static void row_add(struct table *table, const char *what, const struct bench_spread *s)
{
    TABLE_ROW(table, what, CELL("%.0f", s->median), CELL("%.0f", s->quartile1),
              CELL("%.0f", s->quartile3));
}

static int print_bag_table(const struct bag_bench *b)
{
    static const char *const headings[] = {"", ">MEDIAN", ">QUARTILE 1", ">QUARTILE 3", NULL};
    const struct bench_spread rate = bench_spread_of(b->rates, (size_t)b->rounds);
    const struct bench_spread single = bench_spread_of(b->single_us, SINGLES);
    const struct bench_spread trip = bench_spread_of(b->trip_us, TRIPS);
    struct table *table = table_create(headings);
    printf("%d workers on %d hosts, %d copies of the bag, empty items\n", b->workers, b->hosts,
           b->backups);
    row_add(table, "items a second, put to result", &rate);
    row_add(table, "one item, put to result, us", &single);
    row_add(table, "round trip of a message, us", &trip);
    int status = report_table("bench", table);
    printf("one item takes %.1f round trips\n", single.median / trip.median);
    return status;
}

/* ---- the whole ---- */

static int measure_bag(struct bag_bench *b, const struct bench *bench)
{
    snprintf(b->name, sizeof b->name, "bench of t%x", (unsigned)covey_mytid(b->tool->vm));
    int error = covey_bag_create(b->tool->vm, b->name, NULL, &b->bag);
    if (error < 0)
        return fail_bag(b, error);
    int status = start_workers(b, bench);
    if (status == TOOL_OK)
        status = await_workers(b);
    if (status == TOOL_OK)
        status = samples_take(b);
    covey_bag_free(&b->bag);
    return status;
}

int bench_bag(struct bench *bench)
{
    struct bag_bench *b = calloc(1, sizeof *b);
    double *rates = calloc((size_t)bench->plan.rounds, sizeof *rates);
    int status = tool_join(bench->tool, "bench");
    if (b == NULL || rates == NULL) {
        status = tool_error("bench", "memory is exhausted");
    } else if (status == TOOL_OK) {
        b->tool = bench->tool;
        b->workers = bench->plan.tasks;
        b->rounds = bench->plan.rounds;
        b->rates = rates;
        status = measure_bag(b, bench);
        if (status == TOOL_OK)
            status = (bench->json ? print_bag_json : print_bag_table)(b);
    }
    free(rates);
    free(b);
    return status;
}
