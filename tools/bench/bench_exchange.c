/*
 * The command line of covey bench exchange, and the run in virtual time. Samples of virtual time
 * are as many patterns; a pattern is ordered once, for the order of equal sizes is that of all
 * sizes.
 */
#include "tools/bench/bench_exchange.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/base/args.h"
#include "tools/bench/exchange_model.h"
#include "tools/bench/exchange_pattern.h"

#define RANKS_MAX 1024
#define ALPHA_US_MAX 1000000
#define ROUNDS_SIMULATED 10
#define ROUNDS_REAL 5
#define ORDERS_TIMED 3
#define RATE_SIMULATED 1e9
#define RATE_MIN 8e3 /* that a topology may have */
#define RATE_MAX 400e9
#define FIRST COVEY_EXCHANGE_AC
#define LAST COVEY_EXCHANGE_LONGEST

/* ---- options ---- */

static int set_densities(struct bench *bench, const char *list)
{
    struct bench_exchange *exchange = &bench->plan.exchange;
    char *copy = strdup(list), *rest = copy;
    bool good = copy != NULL;
    exchange->density_count = 0;
    for (char *word; good && (word = strsep(&rest, ","));) {
        long density = 0;
        good = exchange->density_count < BENCH_DENSITIES_MAX &&
               args_number(word, 1, RANKS_MAX - 1, &density);
        if (good)
            exchange->densities[exchange->density_count++] = (int32_t)density;
    }
    free(copy);
    if (good)
        return TOOL_OK;
    return tool_usage("bench", "--density %s: must be at most %d numbers such as 4,8,16", list,
                      BENCH_DENSITIES_MAX);
}

/* Reads and checks the file here: the tasks get its text, printed again. */
static int set_topology(struct bench *bench, const char *path)
{
    covey_topology_t *topology = NULL;
    char *text = NULL;
    int error = covey_topology_load(path, &topology);
    if (error == 0)
        error = covey_topology_print(topology, COVEY_TOPOLOGY_FILE, &text);
    int status = error ? tool_failed(bench->tool, "bench", error) : TOOL_OK;
    size_t room = sizeof bench->plan.exchange.topology;
    if (!error && (size_t)snprintf(bench->plan.exchange.topology, room, "%s", text) >= room)
        status = tool_error("bench", "--topology %s: more than %zu bytes", path, room);
    covey_free(text);
    covey_topology_free(&topology);
    return status;
}

static int set_rate(struct bench *bench, const char *text)
{
    char *end;
    double rate = strtod(text, &end);
    double unit = *end == 'K' ? 1e3 : *end == 'M' ? 1e6 : *end == 'G' ? 1e9 : 1;
    if (rate <= 0 || rate * unit > 1e12 || (unit > 1 ? end[1] : *end) != '\0')
        return tool_usage("bench", "--rate %s: must be bits per second such as 50M or 1G", text);
    bench->simulation.rate_bps = rate * unit;
    return TOOL_OK;
}

static int set_simulation_number(const char *option, const char *text, long max, long *number)
{
    if (args_number(text, 1, max, number))
        return TOOL_OK;
    return tool_usage("bench", "%s %s: must be a number of at most %ld", option, text, max);
}

int bench_exchange_option(struct bench *bench, int key, const char *value)
{
    long number = 0;
    int status = TOOL_OK;
    switch (key) {
    case BENCH_KEY_DENSITY:
        return set_densities(bench, value);
    case BENCH_KEY_TOPOLOGY:
        return set_topology(bench, value);
    case BENCH_KEY_RATE:
        return set_rate(bench, value);
    case BENCH_KEY_SIMULATED:
        status = set_simulation_number("--simulated", value, RANKS_MAX, &number);
        bench->simulation.ranks = (int)number;
        return status;
    case BENCH_KEY_ALPHA:
        status = set_simulation_number("--alpha", value, ALPHA_US_MAX, &number);
        bench->simulation.alpha_us = (double)number;
        return status;
    default:
        bench->plan.exchange.unequal = 1;
        return TOOL_OK;
    }
}

const char *bench_exchange_stray(const struct bench *bench)
{
    const struct bench_exchange *exchange = &bench->plan.exchange;
    const struct bench_simulation *simulation = &bench->simulation;
    if (bench->plan.what == BENCH_EXCHANGE)
        return NULL;
    if (exchange->density_count > 0 || exchange->unequal || *exchange->topology)
        return exchange->density_count > 0 ? "--density"
               : exchange->unequal         ? "--unequal"
                                           : "--topology";
    int what = bench->plan.what;
    bool rated = what == BENCH_ALLTOALL || what == BENCH_PINGPONG || what == BENCH_STREAM;
    bool rate = simulation->rate_bps > 0 && !rated;
    if (simulation->ranks > 0 || simulation->alpha_us > 0 || rate)
        return simulation->ranks > 0      ? "--simulated"
               : simulation->alpha_us > 0 ? "--alpha"
                                          : "--rate";
    return bench->map ? "--map" : bench->plot ? "--plot" : NULL;
}

int bench_exchange_settle(struct bench *bench)
{
    struct bench_simulation *simulation = &bench->simulation;
    if (simulation->ranks == 1)
        return tool_usage("bench", "--simulated 1: must be at least 2");
    if (bench->plan.tasks == 1)
        return tool_usage("bench", "--tasks 1: must be at least 2");
    if (simulation->ranks == 0 && simulation->alpha_us > 0)
        return tool_usage("bench", "--alpha is for --simulated alone");
    if (simulation->ranks == 0 && simulation->rate_bps >= RATE_MIN &&
        simulation->rate_bps <= RATE_MAX)
        bench->plan.exchange.rate_bps = (int64_t)simulation->rate_bps;
    if (bench->plan.rounds == 0)
        bench->plan.rounds = simulation->ranks > 0 ? ROUNDS_SIMULATED : ROUNDS_REAL;
    if (simulation->alpha_us <= 0)
        simulation->alpha_us = 50;
    if (simulation->ranks > 0 && simulation->rate_bps <= 0)
        simulation->rate_bps = RATE_SIMULATED;
    return TOOL_OK;
}

/* ---- virtual time ---- */

/* One pattern, and its orders by all algorithms. */
struct sample {
    const struct bench *bench;
    const struct exchange_model *model;
    covey_topology_t *topology;
    struct exchange_shape shape;
    int round;
};

/* One switch, so that RS_NL has links to keep free, or the network that was given. */
static int make_topology(const struct bench *bench, covey_topology_t **topology)
{
    int error =
        exchange_topology(bench->plan.exchange.topology, bench->simulation.ranks, 0, topology);
    return error ? tool_failed(bench->tool, "bench", error) : TOOL_OK;
}

/* Orders the pattern as the program has it, again and again, for a processor that somebody else
 * gets meanwhile would make an order of microseconds one of milliseconds. The order is the same
 * each time; info has the least time. NULL after an error line. */
static struct covey_exchange_message *order_pattern(const struct sample *s, int algorithm,
                                                    struct covey_exchange_info *info)
{
    const struct covey_exchange_options how = {
        .algorithm = algorithm, .topology = s->topology, .seed = s->shape.seed};
    size_t count = (size_t)s->shape.ranks * (size_t)s->shape.density;
    struct covey_exchange_message *messages = NULL;
    double least_s = INFINITY;
    for (int i = 0; i < ORDERS_TIMED; i++) {
        free(messages);
        messages = exchange_pattern(&s->shape);
        int error = messages ? covey_exchange_order(messages, count, s->shape.ranks, &how, info)
                             : COVEY_ENOMEM;
        if (error) {
            free(messages);
            tool_failed(s->bench->tool, "bench", error);
            return NULL;
        }
        least_s = fmin(least_s, info->schedule_s);
    }
    info->schedule_s = least_s;
    return messages;
}

static int run_algorithm(const struct sample *s, int algorithm, struct bench_row *row)
{
    struct bench_series *series = &row->series[algorithm - FIRST];
    size_t count = (size_t)s->shape.ranks * (size_t)s->shape.density;
    double share = 1.0 / s->bench->plan.rounds;
    struct covey_exchange_info info;
    struct covey_exchange_message *messages = order_pattern(s, algorithm, &info);
    if (!messages)
        return TOOL_FAILED;
    double us = exchange_model_run(s->model, messages, count, info.synchrony);
    free(messages);
    if (us < 0)
        return tool_error("bench", "memory is exhausted");
    series->us[s->round] = us;
    series->order_s += info.schedule_s * share;
    series->phases += info.phases;
    series->bytes += (double)s->shape.bytes * (double)count;
    row->bound_bytes += info.bound_bytes * share / (LAST - FIRST + 1);
    return TOOL_OK;
}

static int begin_row(struct bench *bench, int density, int64_t bytes, struct bench_row *row)
{
    row->bytes = bytes;
    snprintf(row->label, sizeof row->label, "%d", density);
    for (int algorithm = FIRST; algorithm <= LAST; algorithm++) {
        if (!bench_row_add(row, covey_exchange_name(algorithm), bench->plan.rounds))
            return tool_error("bench", "memory is exhausted");
    }
    return TOOL_OK;
}

static int simulate_row(struct bench *bench, struct sample *s, int density, int64_t bytes)
{
    struct bench_row *row = &bench->rows[bench->row_count++];
    int status = begin_row(bench, density, bytes, row);
    for (s->round = 0; s->round < bench->plan.rounds && status == TOOL_OK; s->round++) {
        s->shape = (struct exchange_shape){.ranks = s->model->ranks,
                                           .density = density,
                                           .bytes = (uint64_t)bytes,
                                           .unequal = bench->plan.exchange.unequal,
                                           .seed = (uint64_t)s->round + 1};
        for (int algorithm = FIRST; algorithm <= LAST && status == TOOL_OK; algorithm++)
            status = run_algorithm(s, algorithm, row);
    }
    return status;
}

static int choose_densities(struct bench_exchange *exchange, int ranks)
{
    if (exchange->density_count == 0)
        exchange->density_count =
            exchange_usual_densities(ranks, exchange->densities, BENCH_DENSITIES_MAX);
    for (int i = 0; i < exchange->density_count; i++) {
        if (exchange->densities[i] >= ranks)
            return tool_usage("bench", "--density %d: each of %d ranks has %d others",
                              exchange->densities[i], ranks, ranks - 1);
    }
    return TOOL_OK;
}

static int simulate(struct bench *bench)
{
    struct bench_simulation *simulation = &bench->simulation;
    struct exchange_model model = {.alpha_us = simulation->alpha_us,
                                   .us_byte = 8e6 / simulation->rate_bps};
    struct sample s = {.bench = bench, .model = &model};
    bool tree = *bench->plan.exchange.topology != '\0';
    int status = make_topology(bench, &s.topology);
    if (status == TOOL_OK &&
        exchange_model_create(&model, simulation->ranks, tree ? s.topology : NULL) != 0)
        status = tool_error("bench", "memory is exhausted");
    if (status == TOOL_OK && model.ranks != simulation->ranks)
        status = tool_usage("bench", "--simulated %d: the topology has %d hosts", simulation->ranks,
                            model.ranks);
    if (status == TOOL_OK) {
        struct bench_exchange *exchange = &bench->plan.exchange;
        status = choose_densities(exchange, s.model->ranks);
        for (int d = 0; d < exchange->density_count && status == TOOL_OK; d++) {
            for (int i = 0; i < bench->plan.size_count && status == TOOL_OK; i++)
                status = simulate_row(bench, &s, exchange->densities[d], bench->plan.sizes[i]);
        }
    }
    exchange_model_destroy(&model);
    covey_topology_free(&s.topology);
    return status;
}

int bench_exchange_run(struct bench *bench)
{
    return bench->simulation.ranks > 0 ? simulate(bench) : bench_run(bench);
}
