/* covey bench: how fast the routes are, beside raw programs measured in the same run. */
#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/base/arguments.h"
#include "tools/base/command.h"
#include "tools/bench/bench.h"
#include "tools/bench/bench_exchange.h"
#include "tools/bench/bench_overlap.h"
#include "tools/vm/hostspec.h"

#define KEY_SIZES 1001
#define KEY_ROUNDS 1002
#define KEY_BATCH 1003
#define KEY_SPIN 1004
#define KEY_PACK 1005
#define KEY_IN_PLACE 1006
#define KEY_WRITE 1007
#define KEY_PAUSE 1008
#define KEY_MTU 1010
#define KEY_BESIDE 1009
#define KEY_CALL 1011

#define BYTES_MAX ((long)1 << 30)
#define SIZES "1,64,1K,4K,16K,64K,256K,1M,4M"
#define ALLTOALL_SIZES "64,256,1K,4K,16K,64K,256K"
#define COLLECTIVE_SIZES "8,256,4K,32K,256K,1M"
#define OVERLAP_SIZES "64K,256K,1M"
#define EXCHANGE_SIZES "16,64,256,1K,4K,16K,64K,128K"
#define BATCH_US_MAX 10000000
#define SPIN_US_MAX 100
#define PAUSE_US_MAX 1000000
#define MTU_MAX 65535

enum {
    ROUNDS = 31,
    SPAWN_ROUNDS = 7,
    COLLECTIVE_ROUNDS = 5,
    BAG_ROUNDS = 7,
    OVERLAP_ROUNDS = 15,
    SPAWN_TASKS = 100,
    MANY_TASKS = 8
};

static const struct args_option options[] = {
    {"route", 'r', "ROUTE",
     "between the tasks: shm, udp, tcp, ether, auto (default), or some: ether,tcp"},
    {"host", 'H', "HOST,...", "where the first task runs, and the others in turn"},
    {"tasks", 'n', "N", "how many tasks (8; bcast, exchange, alltoall: one a host; spawn: 100)"},
    {"sizes", KEY_SIZES, "BYTES,...", "sizes of messages, such as 1,64K,1M"},
    {"rounds", KEY_ROUNDS, "N", "samples of each figure (31; spawn: 7)"},
    {"batch", KEY_BATCH, "US", "microseconds that one sample takes (2000)"},
    {"pause", KEY_PAUSE, "US", "before each message of pingpong: receivers then sleep"},
    {"pack", KEY_PACK, "HOW", "array (default), bytes, in-place or double"},
    {"in-place", KEY_IN_PLACE, NULL, "the same as --pack in-place"},
    {"spin", KEY_SPIN, "US", "how long a raw receiver looks before it sleeps (20)"},
    {"call", KEY_CALL, "NAME,...", "collectives: these calls alone, such as bcast,allgather"},
    {"write", KEY_WRITE, "FILE",
     "collectives, alltoall, exchange: the table of the best algorithms"},
    {"beside", KEY_BESIDE, "NAME=COMMAND", "overlap: another program that measures the same"},
    {"density", BENCH_KEY_DENSITY, "D,...", "exchange: messages that each rank sends and receives"},
    {"unequal", BENCH_KEY_UNEQUAL, NULL, "exchange: sizes that differ, those given being means"},
    {"topology", BENCH_KEY_TOPOLOGY, "FILE", "exchange: the network, whose links count"},
    {"simulated", BENCH_KEY_SIMULATED, "N", "exchange: N ranks in virtual time, without a VM"},
    {"alpha", BENCH_KEY_ALPHA, "US", "exchange: start-up time of a simulated message (50)"},
    {"rate", BENCH_KEY_RATE, "RATE",
     "exchange, alltoall, pingpong, stream: of the links, such as 50M; for the bound"},
    {"mtu", KEY_MTU, "BYTES", "pingpong, stream: with --rate, of the frames (1500)"},
    {"map", BENCH_KEY_MAP, "FILE", "exchange: draw which algorithm is best where, as PNG"},
    {"plot", BENCH_KEY_PLOT, "FILE", "exchange: draw what ordering costs, as PNG"},
    {"json", 'j', NULL, "print JSON, for scripts"},
    {NULL, 0, NULL, NULL}};

static const char *const pack_names[] = {"array", "bytes", "in-place", "double", NULL};
const char *const bench_names[] = {"pingpong", "stream", "spawn",       "barrier",
                                   "mcast",    "bcast",  "collectives", "exchange",
                                   "alltoall", "bag",    "overlap",     NULL};

const char *bench_pack_name(int pack)
{
    return pack_names[pack];
}

static int set_sizes(struct bench *bench, const char *list)
{
    struct bench_plan *plan = &bench->plan;
    char *copy = strdup(list);
    char *rest = copy;
    bool good = copy != NULL;
    plan->size_count = 0;
    for (char *word; good && (word = strsep(&rest, ","));) {
        good = plan->size_count < BENCH_SIZES_MAX &&
               args_size(word, BYTES_MAX, &plan->sizes[plan->size_count]);
        plan->size_count++;
    }
    free(copy);
    if (good)
        return TOOL_OK;
    return tool_usage("bench", "--sizes %s: must be at most %d sizes such as 1,64K,1M, up to 1G",
                      list, BENCH_SIZES_MAX);
}

static int set_bench_hosts(struct bench *bench, const char *list)
{
    bench->host_count = hostspec_names(list, BENCH_HOSTS_MAX, &bench->host_text, bench->hosts);
    if (bench->host_count >= 0)
        return TOOL_OK;
    return bench->host_text
               ? tool_usage("bench", "--host %s: must be at most %d names with commas between",
                            list, BENCH_HOSTS_MAX)
               : tool_error("bench", "memory is exhausted");
}

static int set_bench_number(const char *option, const char *text, int max, int32_t *number)
{
    long value;
    if (!args_number(text, strcmp(option, "--spin") == 0 ? 0 : 1, max, &value))
        return tool_usage("bench", "%s %s: must be a number of at most %d", option, text, max);
    *number = (int32_t)value;
    return TOOL_OK;
}

/* Whether one of the routes before that one is the same. */
static bool route_again(const struct bench_plan *plan, int count)
{
    bool again = count > 0 && plan->more_routes[count - 1] == plan->route;
    for (int i = 0; i < count - 1; i++)
        again |= plan->more_routes[i] == plan->more_routes[count - 1];
    return again;
}

/* The first route, and those that are measured beside it. */
static int set_routes(struct bench *bench, const char *list)
{
    struct bench_plan *plan = &bench->plan;
    char text[64];
    char *rest = text;
    int count = 0, route = 0;
    snprintf(text, sizeof text, "%s", list);
    for (char *name; route >= 0 && count <= BENCH_MORE_ROUTES && (name = strsep(&rest, ","));) {
        route = covey_route_parse(name);
        *(count == 0 ? &plan->route : &plan->more_routes[count - 1]) = route;
        route = route_again(plan, count++) ? -1 : route;
    }
    if (route < 0 || rest)
        return tool_usage("bench",
                          "--route %s: must be auto, shm, udp, tcp or ether, or up to %d "
                          "different ones with commas between",
                          list, BENCH_MORE_ROUTES + 1);
    plan->more_count = count - 1;
    return TOOL_OK;
}

static int set_calls(struct bench *bench, const char *list)
{
    char *copy = strdup(list);
    char *rest = copy;
    int found = copy ? 0 : -1;
    for (char *word; found >= 0 && (word = strsep(&rest, ","));) {
        found = args_choice(bench_calls, word);
        bench->plan.calls |= found < 0 ? 0 : 1 << found;
    }
    free(copy);
    return found >= 0
               ? TOOL_OK
               : tool_usage("bench", "--call %s: must be names such as bcast,allgather", list);
}

static int set_pack(struct bench *bench, const char *name)
{
    bench->plan.pack = args_choice(pack_names, name);
    if (bench->plan.pack < 0)
        return tool_usage("bench", "--pack %s: must be array, bytes, in-place or double", name);
    return TOOL_OK;
}

static int take_name(struct bench *bench, const char *name)
{
    int found = args_choice(bench_names, name);
    if (bench->name)
        return tool_usage("bench", "%s: one benchmark at a time", name);
    if (found < 0)
        return tool_usage("bench",
                          "%s: must be pingpong, stream, spawn, barrier, mcast, bcast, "
                          "collectives, exchange, alltoall, bag or overlap",
                          name);
    bench->plan.what = found + 1;
    bench->name = bench_names[found];
    return TOOL_OK;
}

static int take_bench_argument(void *context, int key, const char *value)
{
    struct bench *bench = context;
    struct bench_plan *plan = &bench->plan;
    switch (key) {
    case ARGS_OPERAND:
        return take_name(bench, value);
    case 'r':
        return set_routes(bench, value);
    case 'H':
        return set_bench_hosts(bench, value);
    case 'n':
        return set_bench_number("--tasks", value, BENCH_TASKS_MAX, &plan->tasks);
    case KEY_SIZES:
        return set_sizes(bench, value);
    case KEY_ROUNDS:
        return set_bench_number("--rounds", value, BENCH_ROUNDS_MAX, &plan->rounds);
    case KEY_BATCH:
        return set_bench_number("--batch", value, BATCH_US_MAX, &plan->batch_us);
    case KEY_SPIN:
        return set_bench_number("--spin", value, SPIN_US_MAX, &plan->spin_us);
    case KEY_PAUSE:
        return set_bench_number("--pause", value, PAUSE_US_MAX, &plan->pause_us);
    case KEY_MTU:
        return set_bench_number("--mtu", value, MTU_MAX, &bench->mtu);
    case KEY_PACK:
    case KEY_IN_PLACE:
        return set_pack(bench, value ? value : "in-place");
    case KEY_CALL:
        return set_calls(bench, value);
    case KEY_BESIDE:
        return bench_overlap_beside(bench, value);
    default:
        return bench_exchange_option(bench, key, value);
    }
}

/* Measuring takes minutes: what keeps their result from being written is said before them. */
static int check_written(const char *option, const char *path)
{
    if (!path || access(path, W_OK) == 0)
        return TOOL_OK;
    char *folder = errno == ENOENT ? strdup(path) : NULL;
    bool fits = folder && access(dirname(folder), W_OK) == 0;
    free(folder);
    return fits ? TOOL_OK : tool_error("bench", "%s %s: %s", option, path, strerror(errno));
}

static bool is_collective(const struct bench_plan *plan)
{
    return plan->what == BENCH_COLLECTIVES || plan->what == BENCH_ALLTOALL;
}

/* What is for some benchmarks alone. */
static int check_stray(const struct bench *bench)
{
    const struct bench_plan *plan = &bench->plan;
    const char *stray = bench_exchange_stray(bench);
    if (stray)
        return tool_usage("bench", "%s is for exchange alone", stray);
    if (bench->write && !is_collective(plan) && plan->what != BENCH_EXCHANGE)
        return tool_usage("bench", "--write: %s has no table", bench->name);
    if (bench->beside_count > 0 && plan->what != BENCH_OVERLAP)
        return tool_usage("bench", "--beside is for overlap alone");
    if (plan->calls != 0 && plan->what != BENCH_COLLECTIVES)
        return tool_usage("bench", "--call is for collectives alone");
    if (plan->more_count > 0 && plan->what != BENCH_PINGPONG && plan->what != BENCH_STREAM &&
        plan->what != BENCH_OVERLAP)
        return tool_usage("bench", "--route: %s takes one", bench->name);
    if (bench->mtu > 0 && bench->simulation.rate_bps <= 0)
        return tool_usage("bench", "--mtu: of the frames of a wire, which needs --rate");
    if (plan->pause_us > 0 && plan->what != BENCH_PINGPONG)
        return tool_usage("bench", "--pause: only pingpong has pauses");
    return TOOL_OK;
}

/* Who takes part: one who spawns, two tasks, or any number of tasks, of which there are by default
 * MANY_TASKS or so many as fit the hosts. */
enum parties { PARTIES_SPAWNER, PARTIES_PAIR, PARTIES_MANY, PARTIES_BY_HOST };

static enum parties parties_of(const struct bench_plan *plan)
{
    switch (plan->what) {
    case BENCH_SPAWN:
        return PARTIES_SPAWNER;
    case BENCH_BCAST:
    case BENCH_ALLTOALL:
        return PARTIES_BY_HOST;
    case BENCH_BARRIER:
    case BENCH_MCAST:
    case BENCH_COLLECTIVES:
        return PARTIES_MANY;
    default:
        return PARTIES_PAIR;
    }
}

static int settle_tasks(struct bench *bench)
{
    struct bench_plan *plan = &bench->plan;
    switch (parties_of(plan)) {
    case PARTIES_SPAWNER:
        plan->tasks = plan->tasks > 0 ? plan->tasks : SPAWN_TASKS;
        plan->peer_count = 0;
        return TOOL_OK;
    case PARTIES_PAIR:
        if (plan->tasks > 0)
            return tool_usage("bench", "--tasks: %s has two", bench->name);
        if (bench->host_count > 2)
            return tool_usage("bench", "--host: %s is between two", bench->name);
        plan->tasks = 2;
        break;
    case PARTIES_MANY:
        plan->tasks = plan->tasks > 0 ? plan->tasks : MANY_TASKS;
        break;
    case PARTIES_BY_HOST:
        break;
    }
    if (plan->tasks == 1)
        return tool_usage("bench", "--tasks 1: must be at least 2");
    plan->peer_count = plan->tasks - 1;
    return TOOL_OK;
}

/* What was not said, as it suits the benchmark. */
static int bench_settle(struct bench *bench)
{
    struct bench_plan *plan = &bench->plan;
    int status = check_stray(bench);
    if (status != TOOL_OK)
        return status;
    if (plan->what == BENCH_EXCHANGE) {
        if (plan->size_count == 0)
            set_sizes(bench, EXCHANGE_SIZES);
        return bench_exchange_settle(bench);
    }
    if (plan->what == BENCH_BAG) {
        plan->tasks = plan->tasks > 0 ? plan->tasks : MANY_TASKS;
        plan->rounds = plan->rounds > 0 ? plan->rounds : BAG_ROUNDS;
        return TOOL_OK;
    }
    status = settle_tasks(bench);
    if (status != TOOL_OK)
        return status;
    if (plan->rounds == 0)
        plan->rounds = plan->what == BENCH_OVERLAP ? OVERLAP_ROUNDS
                       : is_collective(plan)       ? COLLECTIVE_ROUNDS
                       : plan->what == BENCH_SPAWN ? SPAWN_ROUNDS
                                                   : ROUNDS;
    if (plan->size_count == 0)
        set_sizes(bench, plan->what == BENCH_OVERLAP       ? OVERLAP_SIZES
                         : plan->what == BENCH_COLLECTIVES ? COLLECTIVE_SIZES
                         : plan->what == BENCH_ALLTOALL    ? ALLTOALL_SIZES
                                                           : SIZES);
    if (plan->what == BENCH_SPAWN || plan->what == BENCH_BARRIER) { /* no size matters */
        plan->sizes[0] = 1;
        plan->size_count = 1;
    }
    return TOOL_OK;
}

static int read_bench_arguments(struct bench *bench, int argc, char **argv)
{
    const struct arguments_place places[] = {{KEY_WRITE, .text = &bench->write},
                                             {BENCH_KEY_MAP, .text = &bench->map},
                                             {BENCH_KEY_PLOT, .text = &bench->plot},
                                             {'j', .flag = &bench->json},
                                             {0}};
    int status = arguments_read(&(struct arguments){options, places, take_bench_argument, bench},
                                argc, argv);
    if (status == TOOL_OK && !bench->name)
        status = tool_usage("bench", "no benchmark is named");
    return status == TOOL_OK ? bench_settle(bench) : status;
}

static int report_bench(struct bench *bench)
{
    switch (bench->plan.what) {
    case BENCH_EXCHANGE:
        return bench_exchange_report(bench);
    case BENCH_OVERLAP:
        return bench_overlap_report(bench);
    case BENCH_COLLECTIVES:
        return bench_print_collective(bench);
    case BENCH_ALLTOALL:
        return bench_print_alltoall(bench);
    default:
        return bench->json ? bench_print_json(bench) : bench_print_table(bench);
    }
}

static int bench_command(struct tool *tool, int argc, char **argv)
{
    struct bench *bench = calloc(1, sizeof *bench);
    if (!bench)
        return tool_error("bench", "memory is exhausted");
    bench->tool = tool;
    bench->plan.batch_us = 2000;
    bench->plan.spin_us = 20;
    int status = read_bench_arguments(bench, argc, argv);
    if (status == TOOL_OK)
        status = check_written("--write", bench->write);
    if (status == TOOL_OK)
        status = check_written("--map", bench->map);
    if (status == TOOL_OK)
        status = check_written("--plot", bench->plot);
    bool exchange = bench->plan.what == BENCH_EXCHANGE;
    if (status == TOOL_OK && bench->plan.what == BENCH_BAG)
        status = bench_bag(bench);
    else if (status == TOOL_OK)
        status = (exchange ? bench_exchange_run : bench_run)(bench);
    if (status == TOOL_OK && bench->beside_count > 0)
        status = bench_overlap_run_beside(bench);
    if (status == TOOL_OK && bench->plan.what != BENCH_BAG)
        status = report_bench(bench);
    for (int i = 0; i < bench->row_count; i++)
        bench_row_free(&bench->rows[i]);
    bench_overlap_free(bench);
    free(bench->host_text);
    free(bench);
    return status;
}

const struct command cmd_bench = {
    .name = "bench",
    .run = bench_command,
    .usage = "[OPTION...] pingpong|stream|spawn|barrier|mcast|bcast|collectives|exchange|"
             "alltoall|bag|overlap",
    .help = "measure the routes beside raw programs",
    .options = options,
    .operand = "BENCHMARK",
};
