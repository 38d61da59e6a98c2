/*
 * peers.c - the measured alpha and beta between each two hosts, as a table and as JSON. It reads
 * the file of `covey calibrate` and asks no daemon.
 */
#include "tools/vm/peers.h"

#include <stdio.h>

#include "tools/base/tool.h"
#include "tools/list/report.h"
#include "tools/list/table.h"

enum { CELL_BYTES = 32, CELLS = 2 * COVEY_ROUTE_ETHER };

static void add_pair(struct table *table, const struct covey_calibration *c, int first, int second)
{
    char text[CELLS][CELL_BYTES];
    const char *cells[CELLS] = {c->hosts[first].name, c->hosts[second].name};
    for (int i = 2; i < CELLS; i++)
        cells[i] = "-";
    for (int i = 0; i < c->peer_count; i++) {
        const struct covey_calibration_peers *p = &c->peers[i];
        int at = 2 * (p->route - COVEY_ROUTE_UDP) + 2;
        if (p->hosts[0] != first || p->hosts[1] != second || at < 2 || at >= CELLS)
            continue;
        snprintf(text[at], CELL_BYTES, "%.2f", p->alpha_s * 1e6);
        snprintf(text[at + 1], CELL_BYTES, "%.4f", p->beta_s * 1e9);
        cells[at] = text[at];
        cells[at + 1] = text[at + 1];
    }
    table_add(table, cells);
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
    const char *const headings[] = {"HOST", "PEER",       ">UDP: US", ">NS", ">TCP: US",
                                    ">NS",  ">ETHER: US", ">NS",      NULL};
    if (c->peer_count == 0)
        return TOOL_OK;
    struct table *table = table_create(headings);
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
