/*
 * predict_sweep.c - predictions over numbers of hosts: of an all-to-all on a network, or of a
 * demo, with runs that were measured put beside them.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "tools/bench/exchange_pattern.h"
#include "tools/predict/calibrate.h"
#include "tools/predict/predict.h"

#define WIRE_SHARE (1448.0 / 1538.0) /* of TCP in full Ethernet frames */
#define RATE_MAX 4e11                /* that a topology may have */

/* ---- All-to-all ------------------------------------------------------------------------------ */

const struct covey_line *predict_line(const struct predict *p)
{
    const struct covey_line *best = NULL;
    for (int i = 0; (i = calibrate_next_route(i)) != 0;) {
        const struct covey_calibration_route *route = &p->calibration->routes[i];
        bool asked = p->problem.route == COVEY_ROUTE_AUTO || p->problem.route == i;
        if (covey_route_reach(i) & COVEY_REACH_OUTSIDE && route->known && asked &&
            (!best || route->line.beta_s < best->beta_s))
            best = &route->line;
    }
    if (!best)
        tool_error("predict", "the calibration has no such route between hosts; run: covey "
                              "calibrate");
    return best;
}

/* All hosts on one switch, with links as fast as the route. */
static int make_switch(const struct predict *p, const struct covey_line *line,
                       covey_topology_t **topology)
{
    double rate = line->beta_s > 0 ? 8 / line->beta_s / WIRE_SHARE : RATE_MAX;
    int error =
        exchange_topology("", p->counts[p->n - 1], rate < RATE_MAX ? rate : RATE_MAX, topology);
    return error < 0 ? tool_error("predict", "%s", covey_error_text()) : TOOL_OK;
}

static int find_topology(const struct predict *p, const struct covey_line *line,
                         covey_topology_t **topology)
{
    if (p->topology && covey_topology_load(p->topology, topology) < 0)
        return tool_error("predict", "%s", covey_error_text());
    if (p->topology)
        return TOOL_OK;
    if (tool_try_join(p->tool) == 0 && covey_vm_topology(p->tool->vm, topology) == 0)
        return TOOL_OK;
    return make_switch(p, line, topology);
}

/* The hosts among the nodes; their number, or -1. */
static int list_hosts(const covey_topology_t *topology, int32_t **hosts)
{
    struct covey_topology_node *nodes = NULL;
    int n = covey_topology_nodes(topology, &nodes), count = 0;
    *hosts = n > 0 ? calloc((size_t)n, sizeof **hosts) : NULL;
    for (int i = 0; *hosts && i < n; i++) {
        if (!nodes[i].is_switch)
            (*hosts)[count++] = i;
    }
    covey_free(nodes);
    return *hosts ? count : -1;
}

static int sweep_topology(struct predict *p, const covey_topology_t *topology, double alpha_s)
{
    int32_t *hosts;
    int count = list_hosts(topology, &hosts), status = TOOL_OK;
    if (count < 0)
        return tool_error("predict", "memory is exhausted");
    while (p->n > 0 && p->counts[p->n - 1] > count)
        p->n--;
    if (p->usual_counts && (p->n == 0 || p->counts[p->n - 1] < count) &&
        count < COVEY_MODEL_HOSTS_MAX)
        p->counts[p->n++] = count;
    if (p->n == 0)
        status = tool_error("predict", "the topology has only %d hosts", count);
    for (int i = 0; i < p->n && status == TOOL_OK; i++) {
        if (covey_predict_alltoall(topology, hosts, p->counts[i], (double)p->problem.size, alpha_s,
                                   p->skew_s, &p->alltoall[i]) < 0)
            status = tool_error("predict", "%s", covey_error_text());
    }
    free(hosts);
    return status;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* What a short message takes: the median of pairs of hosts, where they were measured. The line's
 * alpha is that of long messages as well, which each switch has to store before it sends them on.
 */
static double short_message_s(const struct predict *p, const struct covey_line *line)
{
    static double alpha_s[COVEY_CALIBRATION_PEERS_MAX];
    const struct covey_calibration *c = p->calibration;
    size_t count = 0;
    for (int i = 0; i < c->peer_count; i++) {
        if (&c->routes[c->peers[i].route].line == line)
            alpha_s[count++] = c->peers[i].alpha_s;
    }
    if (count == 0)
        return line->alpha_s;
    qsort(alpha_s, count, sizeof *alpha_s, by_value);
    return alpha_s[count / 2];
}

static int sweep_alltoall(struct predict *p)
{
    covey_topology_t *topology = NULL;
    const struct covey_line *line = predict_line(p);
    if (!line)
        return TOOL_FAILED;
    int status = find_topology(p, line, &topology);
    if (status == TOOL_OK)
        status = sweep_topology(p, topology, short_message_s(p, line));
    covey_topology_free(&topology);
    return status;
}

/* ---- The demos ------------------------------------------------------------------------------- */

static int sweep_demo(struct predict *p)
{
    double total_s[COVEY_MODEL_HOSTS_MAX];
    for (int i = 0; i < p->n; i++) {
        if (covey_predict(p->calibration, &p->problem, NULL, p->counts[i], &p->rows[i]) < 0)
            return tool_error("predict", "%s", covey_error_text());
        total_s[i] = p->rows[i].total_s;
    }
    if (covey_predict_best(p->counts, total_s, p->n, p->tolerance, &p->break_even, &p->efficient) <
        0)
        return tool_error("predict", "%s", covey_error_text());
    return TOOL_OK;
}

int predict_sweep(struct predict *p)
{
    return p->what == PREDICT_ALLTOALL ? sweep_alltoall(p) : sweep_demo(p);
}

/* ---- What was measured ----------------------------------------------------------------------- */

bool predict_has_more(FILE *file)
{
    int c;
    while ((c = getc(file)) != EOF && isspace(c)) {
    }
    return c != EOF && ungetc(c, file) != EOF;
}

int predict_read_measured(struct predict *p, const char *path)
{
    json_error_t error;
    FILE *file = fopen(path, "re");
    if (!file)
        return tool_error("predict", "--measured %s: cannot be read", path);
    bool good = true;
    int before = p->measured_count;
    while (good && predict_has_more(file)) {
        json_t *run = json_loadf(file, JSON_DISABLE_EOF_CHECK, &error);
        const char *program = json_string_value(json_object_get(run, "program"));
        json_int_t hosts = json_integer_value(json_object_get(run, "hosts"));
        double total_s = json_number_value(json_object_get(run, "total_s"));
        good = program && strcmp(program, p->name) == 0 && hosts >= 1 && hosts <= 100000 &&
               total_s > 0 && p->measured_count < PREDICT_MEASURED_MAX;
        if (good)
            p->measured[p->measured_count++] = (struct predict_measured){(int)hosts, total_s};
        json_decref(run);
    }
    fclose(file);
    if (good && p->measured_count > before)
        return TOOL_OK;
    return tool_error("predict",
                      "--measured %s: holds something else than runs of %s, as it prints "
                      "them with --json",
                      path, p->name);
}
