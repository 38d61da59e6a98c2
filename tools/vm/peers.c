/*
 * peers.c - the measured alpha and beta between each two hosts, as a table and as JSON. It reads
 * the file of `covey calibrate` and asks no daemon.
 */
#include "tools/vm/peers.h"

#include <ctype.h>
#include <stdio.h>

#include "tools/base/tool.h"
#include "tools/list/cells.h"
#include "tools/list/report.h"
#include "tools/list/table.h"

/* Whether two hosts can have it between them; AUTO is none of its own. */
static bool is_between(int route)
{
    return route != COVEY_ROUTE_AUTO && covey_route_reach(route) & COVEY_REACH_OUTSIDE;
}

static void add_route(struct cells *cells, const struct covey_calibration *c, int route, int first,
                      int second)
{
    const struct covey_calibration_peers *found = NULL;
    for (int i = 0; i < c->peer_count; i++) {
        const struct covey_calibration_peers *p = &c->peers[i];
        if (p->route == route && p->hosts[0] == first && p->hosts[1] == second)
            found = p;
    }
    cells_add(cells, found ? "%.2f" : "-", found ? found->alpha_s * 1e6 : 0);
    cells_add(cells, found ? "%.4f" : "-", found ? found->beta_s * 1e9 : 0);
}

static void add_pair(struct table *table, const struct covey_calibration *c, int first, int second)
{
    struct cells cells = {.count = 0};
    cells_add(&cells, "%s", c->hosts[first].name);
    cells_add(&cells, "%s", c->hosts[second].name);
    for (int route = 0; covey_route_reach(route) != 0; route++) {
        if (is_between(route))
            add_route(&cells, c, route, first, second);
    }
    table_add(table, cells.list);
}

static void add_headings(struct cells *headings)
{
    cells_add(headings, "HOST");
    cells_add(headings, "PEER");
    for (int route = 0; covey_route_reach(route) != 0; route++) {
        char name[16];
        snprintf(name, sizeof name, "%s", covey_route_name(route));
        for (char *c = name; *c; c++)
            *c = (char)toupper((unsigned char)*c);
        if (is_between(route)) {
            cells_add(headings, ">%s: US", name);
            cells_add(headings, ">NS");
        }
    }
}

/* Whether a line before this one is of the same two hosts. */
static bool was_added(const struct covey_calibration *c, int at)
{
    for (int i = 0; i < at; i++) {
        if (c->peers[i].hosts[0] == c->peers[at].hosts[0] &&
            c->peers[i].hosts[1] == c->peers[at].hosts[1])
            return true;
    }
    return false;
}

int peers_print(const struct covey_calibration *c)
{
    struct cells headings = {.count = 0};
    if (c->peer_count == 0)
        return TOOL_OK;
    add_headings(&headings);
    struct table *table = table_create(headings.list);
    for (int i = 0; i < c->peer_count; i++) {
        if (!was_added(c, i))
            add_pair(table, c, c->peers[i].hosts[0], c->peers[i].hosts[1]);
    }
    int status = report_table("peers", table);
    puts("Alpha, and beta of a byte, between each two hosts, as many of which as can exchanged "
         "messages at once.");
    return status;
}

json_t *peers_json(const struct covey_calibration *c)
{
    json_t *array = json_array();
    for (int i = 0; i < c->peer_count; i++) {
        const struct covey_calibration_peers *p = &c->peers[i];
        report_add(&array,
                   json_pack("{s:s, s:o, s:o, s:f, s:f}", "route", covey_route_name(p->route),
                             "host", report_text(c->hosts[p->hosts[0]].name), "peer",
                             report_text(c->hosts[p->hosts[1]].name), "alpha_s", p->alpha_s,
                             "beta_s", p->beta_s));
    }
    return array;
}
