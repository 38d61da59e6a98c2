/*
 * predict_packing.c - covey predict packing: the lines of packing that a calibration has, and what
 * a message of doubles takes by them and by the lines of the routes, as Table 1 of Schmidt &
 * Sunderam has it for the sizes of that table.
 */
#include "tools/predict/predict_packing.h"

#include <string.h>

#include "tools/bench/packing_type.h"
#include "tools/list/cells.h"
#include "tools/list/table.h"
#include "tools/predict/calibrate.h"

static const char *const ways[COVEY_PACKING_WAYS] = {"pack", "pack_strided", "unpack",
                                                     "unpack_strided", "convert"};

static const double table_1[] = {1, 32, 64, 512, 1024, 4096, 16384, 131072};

enum { SIZES = sizeof table_1 / sizeof *table_1 };

static const struct covey_line *doubles_line(const struct covey_calibration *c, int way)
{
    return &c->packing[0].lines[COVEY_PACKING_DOUBLE][way];
}

static double line_s(const struct covey_line *line, double bytes)
{
    return line->alpha_s + line->beta_s * bytes;
}

bool packing_known(const struct covey_calibration *c, int host)
{
    return c->packing[host].lines[COVEY_PACKING_DOUBLE][COVEY_PACKING_PACK].beta_s > 0;
}

/* ---- alpha and beta -------------------------------------------------------------------------- */

int packing_print_lines(const char *command, const struct covey_calibration *c, int host)
{
    const char *const headings[] = {
        "PACKING",  ">PACK NS", ">+ NS N",  ">STRIDED", ">+ NS N",         ">UNPACK", ">+ NS N",
        ">STRIDED", ">+ NS N",  ">CONVERT", ">+ NS N",  ">OFF BY AT MOST", NULL};
    struct table *table = table_create(headings);
    for (int type = 0; type < COVEY_PACKING_TYPES; type++) {
        struct cells cells = {.count = 0};
        double worst = 0;
        cells_add(&cells, "%s", covey_type_name(packing_type(type)));
        for (int way = 0; way < COVEY_PACKING_WAYS; way++) {
            const struct covey_line *line = &c->packing[host].lines[type][way];
            bool known = line->beta_s > 0;
            cells_add(&cells, known ? "%.1f" : "-", line->alpha_s * 1e9);
            cells_add(&cells, known ? "%.4f" : "-", line->beta_s * 1e9);
            worst = known && line->worst > worst ? line->worst : worst;
        }
        cells_add(&cells, "%.0f %%", worst * 100);
        table_add(table, cells.list);
    }
    int status = report_table(command, table);
    printf("T_pack of %s: an array of N bytes takes ALPHA + BETA N. STRIDED: every other element. "
           "CONVERT:\nunpacked from a message of a host of the other byte order; the receiver "
           "converts.\n",
           c->hosts[host].name);
    return status;
}

json_t *packing_lines_json(const struct covey_calibration *c, int host)
{
    json_t *types = json_object();
    for (int type = 0; type < COVEY_PACKING_TYPES; type++) {
        json_t *object = json_object();
        for (int way = 0; way < COVEY_PACKING_WAYS; way++) {
            const struct covey_line *line = &c->packing[host].lines[type][way];
            if (line->beta_s > 0)
                json_object_set_new(object, ways[way],
                                    json_pack("{s:f, s:f, s:f, s:f}", "alpha_s", line->alpha_s,
                                              "beta_s", line->beta_s, "r2", line->r2, "worst",
                                              line->worst));
        }
        json_object_set_new(types, covey_type_name(packing_type(type)), object);
    }
    return types;
}

/* ---- Table 1 --------------------------------------------------------------------------------- */

static void add_us(struct cells *cells, double seconds)
{
    cells_add(cells, "%.3f", seconds * 1e6);
}

static int print_messages(const struct covey_calibration *c)
{
    struct cells head = {.count = 0};
    const char *const first[] = {">BYTES", ">PACK US", ">UNPACK US", ">CONVERT US"};
    for (int i = 0; i < 4; i++)
        cells_add(&head, "%s", first[i]);
    for (int i = 0; (i = calibrate_next_route(i)) != 0;) {
        if (c->routes[i].known)
            cells_add(&head, ">%s US", covey_route_name(i));
    }
    struct table *table = table_create(head.list);
    for (int k = 0; k < SIZES; k++) {
        struct cells cells = {.count = 0};
        cells_add(&cells, "%.0f", table_1[k]);
        add_us(&cells, line_s(doubles_line(c, COVEY_PACKING_PACK), table_1[k]));
        add_us(&cells, line_s(doubles_line(c, COVEY_PACKING_UNPACK), table_1[k]));
        add_us(&cells, line_s(doubles_line(c, COVEY_PACKING_CONVERT), table_1[k]));
        for (int i = 0; (i = calibrate_next_route(i)) != 0;) {
            if (c->routes[i].known)
                add_us(&cells, line_s(&c->routes[i].line, table_1[k]));
        }
        table_add(table, cells.list);
    }
    return report_table("predict", table);
}

/* T_comm = T_pack + T_send, as section 2.3 adds them up. */
static void print_sums(const struct covey_calibration *c)
{
    const struct covey_line *pack = doubles_line(c, COVEY_PACKING_PACK);
    for (int i = 0; (i = calibrate_next_route(i)) != 0;) {
        const struct covey_line *send = &c->routes[i].line;
        if (c->routes[i].known)
            printf("T_comm, %s: %.3f us + %.4f ns N, of it T_pack %.3f us + %.4f ns N\n",
                   covey_route_name(i), (pack->alpha_s + send->alpha_s) * 1e6,
                   (pack->beta_s + send->beta_s) * 1e9, pack->alpha_s * 1e6, pack->beta_s * 1e9);
    }
}

/* What is added between the first host and one of the other byte order; nothing where there is
 * none.
 */
static void print_turning(const struct covey_calibration *c)
{
    int other = 1;
    while (other < c->host_count &&
           c->hosts[0].order + c->hosts[other].order != COVEY_ORDER_LITTLE + COVEY_ORDER_BIG)
        other++;
    if (other >= c->host_count)
        return;
    for (int i = 0; i < 2; i++) {
        const struct covey_calibration_host *to = &c->hosts[i == 0 ? other : 0];
        const struct covey_line *lines = c->packing[to - c->hosts].lines[COVEY_PACKING_DOUBLE];
        const struct covey_line *turn = &lines[COVEY_PACKING_CONVERT];
        const struct covey_line *copy = &lines[COVEY_PACKING_UNPACK];
        if (turn->beta_s > 0 && copy->beta_s > 0)
            printf("%s, where %s has the other byte order, turns: %.3f us + %.4f ns N more\n",
                   to->name, c->hosts[i == 0 ? 0 : other].name,
                   (turn->alpha_s - copy->alpha_s) * 1e6, (turn->beta_s - copy->beta_s) * 1e9);
    }
}

static int print_packing_json(const struct covey_calibration *c)
{
    json_t *hosts = json_object(), *messages = json_array();
    for (int host = 0; host < c->host_count; host++) {
        if (packing_known(c, host))
            json_object_set_new(hosts, c->hosts[host].name, packing_lines_json(c, host));
    }
    for (int k = 0; k < SIZES; k++) {
        json_t *routes = json_object();
        for (int i = 0; (i = calibrate_next_route(i)) != 0;) {
            if (c->routes[i].known)
                json_object_set_new(routes, covey_route_name(i),
                                    json_real(line_s(&c->routes[i].line, table_1[k])));
        }
        report_add(&messages,
                   json_pack("{s:f, s:f, s:f, s:f, s:o}", "bytes", table_1[k], "pack_s",
                             line_s(doubles_line(c, COVEY_PACKING_PACK), table_1[k]), "unpack_s",
                             line_s(doubles_line(c, COVEY_PACKING_UNPACK), table_1[k]), "convert_s",
                             line_s(doubles_line(c, COVEY_PACKING_CONVERT), table_1[k]), "send_s",
                             routes));
    }
    return report_print("predict",
                        json_pack("{s:s, s:s, s:o, s:o}", "program", "packing", "calibrated",
                                  c->date, "packing", hosts, "messages", messages));
}

int predict_packing(const struct predict *p)
{
    const struct covey_calibration *c = p->calibration;
    int status = TOOL_OK;
    if (!packing_known(c, 0))
        return tool_error("predict", "the calibration has no packing; run: covey calibrate");
    if (p->json)
        return print_packing_json(c);
    for (int host = 0; host < c->host_count && status == TOOL_OK; host++) {
        if (host > 0 && memcmp(&c->packing[host], &c->packing[host - 1], sizeof *c->packing) == 0)
            printf("%s: the same.\n", c->hosts[host].name);
        else if (packing_known(c, host))
            status = packing_print_lines("predict", c, host);
    }
    printf("\nMessages of doubles on %s, by these lines and those of the routes:\n",
           c->hosts[0].name);
    if (status == TOOL_OK)
        status = print_messages(c);
    if (status == TOOL_OK)
        print_sums(c);
    if (status == TOOL_OK)
        print_turning(c);
    return status;
}
