/*
 * What covey calibrate found, as a table or as JSON.
 */
#include <stdio.h>

#include "tools/list/report.h"
#include "tools/list/table.h"
#include "tools/predict/calibrate.h"
#include "tools/predict/predict_packing.h"
#include "tools/vm/peers.h"

/* ---- The tables ------------------------------------------------------------------------------ */

/* 0: it was not measured. */
#define NS(format, seconds) CELL((seconds) > 0 ? (format) : "-", (seconds)*1e9)

static int print_routes(const struct covey_calibration *c)
{
    const char *const headings[] = {"ROUTE",        ">ALPHA US",       ">START US", ">BETA NS",
                                    ">R2",          ">OFF BY AT MOST", ">CPU NS",   ">BUSY NS",
                                    ">ALL: CPU NS", ">BUSY NS",        NULL};
    struct table *table = table_create(headings);
    for (int i = 0; (i = calibrate_next_route(i)) != 0;) {
        const struct covey_calibration_route *route = &c->routes[i];
        const struct covey_load *load = &route->load;
        if (!route->known)
            continue;
        TABLE_ROW(table, covey_route_name(i), CELL("%.2f", route->line.alpha_s * 1e6),
                  CELL(route->start_s > 0 ? "%.2f" : "-", route->start_s * 1e6),
                  CELL("%.4f", route->line.beta_s * 1e9), CELL("%.3f", route->line.r2),
                  CELL("%.0f %%", route->line.worst * 100), CELL("%.2f", load->drag_s * 1e9),
                  NS("%.4f", load->busy_s), NS("%.2f", load->all_drag_s),
                  NS("%.4f", load->all_busy_s));
    }
    int status = report_table("calibrate", table);
    puts(
        "A message of N bytes takes ALPHA + BETA N. START: of ALPHA, the processor time at either\n"
        "end; the rest is latency. CPU: processor time of a byte at either end. BUSY: time of a\n"
        "byte while two hosts compute and send to each other. ALL: the same two of all hosts at\n"
        "once, each sending to the next.\n");
    return status;
}

/* NULL: it is not known. */
static const char *order_name(const struct covey_calibration_host *host)
{
    return host->order == COVEY_ORDER_BIG      ? "big"
           : host->order == COVEY_ORDER_LITTLE ? "little"
                                               : NULL;
}

static int print_hosts(const struct covey_calibration *c)
{
    const char *const headings[] = {"HOST",      ">TASKS",    ">MULT+ADD NS",
                                    ">OPER NS",  ">MERGE NS", ">ITERATION NS",
                                    ">TOUCH NS", "ORDER",     NULL};
    struct table *table = table_create(headings);
    for (int i = 0; i < c->host_count; i++) {
        const struct covey_calibration_host *host = &c->hosts[i];
        TABLE_ROW(table, host->name, CELL("%.2f", host->processors),
                  CELL("%.4f", host->madd_s[COVEY_MODEL_BLOCKS - 1] * 1e9),
                  CELL("%.3f", host->oper_s * 1e9), CELL("%.3f", host->merge_s * 1e9),
                  CELL("%.3f", host->iteration_s * 1e9), NS("%.3f", host->touch_s),
                  order_name(host) ? order_name(host) : "-");
    }
    int status = report_table("calibrate", table);
    puts("TASKS: that run as fast as one alone. MULT+ADD: of matmul, in blocks of 2048. OPER, "
         "MERGE: of\n"
         "sort, a test and swap, and a merged key. ITERATION: of mandel. TOUCH: a byte of memory\n"
         "that is written for the first time. ORDER: of the bytes of a number.");
    if (c->together > 0)
        printf("The hosts share one machine: %.2f tasks run as fast as one alone on all of them.\n",
               c->together);
    return status;
}

int calibrate_print(const struct covey_calibration *calibration, const char *path)
{
    int status = print_routes(calibration);
    if (status == TOOL_OK)
        status = print_hosts(calibration);
    if (status == TOOL_OK && packing_known(calibration, 0)) {
        puts("");
        status = packing_print_lines("calibrate", calibration, 0);
    }
    if (calibration->peer_count > 0)
        puts("");
    if (status == TOOL_OK)
        status = peers_print(calibration);
    if (status == TOOL_OK)
        printf("\nWritten: %s\n", path);
    return status;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

int calibrate_print_json(const struct covey_calibration *c, const char *path)
{
    json_t *hosts = json_array();
    for (int i = 0; i < c->host_count; i++) {
        json_t *blocks = json_object();
        for (int k = 0; k < COVEY_MODEL_BLOCKS; k++) {
            char name[16];
            snprintf(name, sizeof name, "%d", 64 << k);
            json_object_set_new(blocks, name, json_real(c->hosts[i].madd_s[k]));
        }
        report_add(&hosts,
                   json_pack("{s:o, s:i, s:f, s:f, s:o, s:f, s:f, s:f, s:f, s:s?, s:o}", "name",
                             report_text(c->hosts[i].name), "cores", c->hosts[i].cores,
                             "processors", c->hosts[i].processors, "share", c->hosts[i].share,
                             "madd_s", blocks, "oper_s", c->hosts[i].oper_s, "merge_s",
                             c->hosts[i].merge_s, "iteration_s", c->hosts[i].iteration_s, "touch_s",
                             c->hosts[i].touch_s, "byte_order", order_name(&c->hosts[i]), "packing",
                             packing_lines_json(c, i)));
    }
    json_t *routes = json_object();
    for (int i = 0; (i = calibrate_next_route(i)) != 0;) {
        const struct covey_calibration_route *route = &c->routes[i];
        if (route->known) {
            const struct covey_load *load = &route->load;
            json_t *object =
                json_pack("{s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f}", "alpha_s",
                          route->line.alpha_s, "start_s", route->start_s, "beta_s",
                          route->line.beta_s, "r2", route->line.r2, "worst", route->line.worst,
                          "drag_s", load->drag_s, "busy_s", load->busy_s, "all_hosts",
                          load->all_hosts, "all_drag_s", load->all_drag_s, "all_busy_s",
                          load->all_busy_s, "spread", load->spread, "all_spread", load->all_spread);
            if (object && route->inside_known)
                json_object_set_new(object, "inside",
                                    json_pack("{s:f, s:f, s:f}", "alpha_s", route->inside.alpha_s,
                                              "beta_s", route->inside.beta_s, "drag_s",
                                              route->inside_drag_s));
            json_object_set_new(routes, covey_route_name(i), object);
        }
    }
    return report_print("calibrate",
                        json_pack("{s:s, s:s, s:s, s:o, s:f, s:o, s:o}", "file", path, "date",
                                  c->date, "vm", c->vm, "routes", routes, "together", c->together,
                                  "hosts", hosts, "peers", peers_json(c)));
}
