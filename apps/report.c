/*
 * report.c - the figures of a run as a table or as JSON. Both are made from the same struct, so
 * that people and scripts are told the same.
 */
#include "apps/report.h"

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void measurement_free(struct measurement *measurement)
{
    free(measurement->each);
    *measurement = (struct measurement){0};
}

static bool is_first(const char *const *names, int index)
{
    for (int i = 0; i < index; i++)
        if (strcmp(names[i], names[index]) == 0)
            return false;
    return true;
}

int report_distinct(const char *const *names, int n)
{
    int count = 0;
    for (int i = 0; i < n; i++)
        count += is_first(names, i);
    return count;
}

void report_routes(uint32_t routes, const char *none, char *text, size_t capacity)
{
    size_t used = 0;
    snprintf(text, capacity, "%s", none);
    for (int route = 1; route < 32; route++) {
        if ((routes >> route & 1) == 0 || used >= capacity)
            continue;
        int length = snprintf(text + used, capacity - used, "%s%s", used > 0 ? "+" : "",
                              covey_route_name(route));
        used += length > 0 ? (size_t)length : 0;
    }
}

static double speedup(const struct report *report)
{
    return report->run->total_s > 0 ? report->sequential_s / report->run->total_s : 0;
}

/* ---- Table ------------------------------------------------------------------------------- */

static void optional(double value, char *text, size_t capacity)
{
    if (value > 0)
        snprintf(text, capacity, "%.3f", value);
    else
        snprintf(text, capacity, "-");
}

static int flushed(void)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return 0;
    warn("cannot write the figures");
    return -1;
}

int report_table(const struct report *report)
{
    const struct measurement *run = report->run;
    struct figures mean = figures_mean(run->each, run->tasks);
    char route[64];
    char sequential[32];
    char ratio[32];
    report_routes(run->routes, covey_route_name(report->route), route, sizeof route);
    optional(report->sequential_s, sequential, sizeof sequential);
    optional(speedup(report), ratio, sizeof ratio);
    printf("%s: %s\n", report->program, report->problem);
    printf("%6s %6s %-11s %10s %12s %14s %10s %11s %9s\n", "hosts", "tasks", "route", "total s",
           "computation", "communication", "idle", "sequential", "speed-up");
    printf("%6d %6d %-11s %10.3f %12.3f %14.3f %10.3f %11s %9s\n",
           report_distinct(run->hosts, run->tasks), run->tasks, route, run->total_s,
           mean.computation_s, mean.communication_s, mean.idle_s, sequential, ratio);
    /* Below what was measured, and by how much it is off. */
    const struct covey_prediction *p = report->predicted;
    if (p != NULL && p->hosts != 0) {
        double off = run->total_s > 0 ? p->total_s / run->total_s - 1 : 0;
        printf("%25s %10.3f %12.3f %14.3f %10.3f %+10.0f %%\n", "predicted", p->total_s,
               p->computation_s, p->communication_s, p->idle_s, 100 * off);
    }
    if (report->choice != NULL)
        printf("chosen: %s\n", report->choice->why);
    if (report->checked)
        printf("check: %s (%s)\n", report->passed ? "passed" : "FAILED", report->check_method);
    if (report->output != NULL)
        printf("written: %s\n", report->output);
    return flushed();
}

/* ---- JSON -------------------------------------------------------------------------------- */

static json_t *route_names(uint32_t routes)
{
    json_t *names = json_array();
    for (int route = 1; route < 32; route++)
        if (routes >> route & 1)
            json_array_append_new(names, json_string(covey_route_name(route)));
    return names;
}

static json_t *host_names(const struct measurement *run)
{
    json_t *names = json_array();
    for (int i = 0; i < run->tasks; i++)
        if (is_first(run->hosts, i))
            json_array_append_new(names, json_string(run->hosts[i]));
    return names;
}

static json_t *each_json(const struct measurement *run)
{
    json_t *array = json_array();
    for (int i = 0; i < run->tasks; i++) {
        const struct figures *figures = &run->each[i];
        json_t *task =
            json_pack("{s:f, s:f, s:f, s:f, s:f}", "elapsed_s", figures->elapsed_s, "computation_s",
                      figures->computation_s, "communication_s", figures->communication_s, "idle_s",
                      figures->idle_s, "processor_s", figures->processor_s);
        json_object_set_new(task, "rank", json_integer(i));
        json_object_set_new(task, "host", json_string(run->hosts[i]));
        json_array_append_new(array, task);
    }
    return array;
}

static json_t *known_figure(double value)
{
    return value > 0 ? json_real(value) : json_null();
}

static json_t *prediction_json(const struct covey_prediction *p)
{
    return json_pack("{s:f, s:f, s:f, s:f}", "total_s", p->total_s, "computation_s",
                     p->computation_s, "communication_s", p->communication_s, "idle_s", p->idle_s);
}

static json_t *choice_json(const struct covey_choice *choice)
{
    if (choice == NULL)
        return json_null();
    json_t *rows = json_array();
    for (int i = 0; i < choice->row_count; i++) {
        const struct covey_choice_row *row = &choice->rows[i];
        json_t *object = prediction_json(&row->predicted);
        json_object_set_new(object, "hosts", json_integer(row->predicted.hosts));
        json_object_set_new(object, "tasks", json_integer(row->predicted.tasks));
        json_object_set_new(object, "slope", json_real(row->slope));
        json_array_append_new(rows, object);
    }
    return json_pack("{s:s, s:f, s:o}", "why", choice->why, "tolerance", COVEY_CHOICE_TOLERANCE,
                     "rows", rows);
}

static json_t *report_object(const struct report *report)
{
    const struct measurement *run = report->run;
    struct figures mean = figures_mean(run->each, run->tasks);
    json_t *object =
        json_pack("{s:s, s:O, s:o, s:i, s:i, s:s, s:o}", "program", report->program, "parameters",
                  report->parameters, "host_names", host_names(run), "hosts",
                  report_distinct(run->hosts, run->tasks), "tasks", run->tasks, "route",
                  covey_route_name(report->route), "routes_used", route_names(run->routes));
    json_t *times =
        json_pack("{s:f, s:f, s:f, s:f, s:f, s:o, s:o}", "total_s", run->total_s, "computation_s",
                  mean.computation_s, "communication_s", mean.communication_s, "idle_s",
                  mean.idle_s, "processor_s", mean.processor_s, "sequential_s",
                  known_figure(report->sequential_s), "speedup", known_figure(speedup(report)));
    json_object_update(object, times);
    json_decref(times);
    if (report->predicted != NULL && report->predicted->hosts != 0)
        json_object_set_new(object, "predicted", prediction_json(report->predicted));
    json_object_set_new(object, "choice", choice_json(report->choice));
    json_object_set_new(object, "each", each_json(run));
    json_object_set_new(object, "check",
                        report->checked ? json_pack("{s:b, s:s}", "passed", report->passed,
                                                    "method", report->check_method)
                                        : json_null());
    json_object_set_new(object, "output",
                        report->output != NULL ? json_string(report->output) : json_null());
    return object;
}

int report_json(const struct report *report)
{
    json_t *object = report_object(report);
    int result = object != NULL ? json_dumpf(object, stdout, JSON_INDENT(2)) : -1;
    json_decref(object);
    if (result < 0) {
        warnx("cannot print the figures as JSON");
        return -1;
    }
    putchar('\n');
    return flushed();
}
