/*
 * model.c - the models for programs: from a calibration and a problem to a prediction. The engines
 * are proto/model/model*.c.
 */
#include "lib/model/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/covey/tiles.h"
#include "lib/msg/error.h"
#include "lib/schedule/topology.h"
#include "proto/model/model.h"

/* Of networks, for all-to-alls: Ethernet frames full of TCP, and ports of small switches. */
#define FRAME_BYTES 1448.0
#define HEADER_BYTES 90.0
#define QUEUE_BYTES 131072.0
#define SHORT_BYTES (HEADER_BYTES + 50) /* of a short message on a link */
#define DOUBLE_BYTES 8
#define ALPHA_LEAST_S 1e-9 /* a fitted alpha may be below 0; costs of 0 are those to measure */
#define SIZE_MAX_N ((int64_t)1 << 20)
#define KEYS_MAX ((int64_t)1 << 40)
#define SIDE_MAX 32768
#define ITERATIONS_MAX 65535
#define GRID_MAX 256
#define PAPER_LINK_LEFT_MIN 0.05
#define BAG_GRID 12 /* of matmul's bags, when it is not told */
#define BAG_GRID_FETCH 4
#define HIERARCHY_GRID 4
#define STRIP_MEAN 16 /* rows: what a guided strip has between its largest and smallest size */

_Static_assert(sizeof(struct covey_line) == sizeof(struct model_line) &&
                   offsetof(struct covey_line, worst) == offsetof(struct model_line, worst),
               "lines are handed out as they are");
_Static_assert(sizeof(struct covey_load) == sizeof(struct model_load) &&
                   offsetof(struct covey_load, all_spread) ==
                       offsetof(struct model_load, all_spread),
               "what is under load is handed out as it is");
_Static_assert(
    sizeof(struct covey_calibration) == sizeof(struct calibration) &&
        offsetof(struct covey_calibration, hosts) == offsetof(struct calibration, hosts) &&
        offsetof(struct covey_calibration, peers) == offsetof(struct calibration, peers) &&
        offsetof(struct covey_calibration, packing) == offsetof(struct calibration, packing) &&
        (int)COVEY_PACKING_TYPES == (int)MODEL_PACKING_TYPES &&
        (int)COVEY_PACKING_WAYS == (int)MODEL_PACKING_WAYS &&
        (int)COVEY_CALIBRATION_PEERS_MAX == (int)CALIBRATION_PEERS_MAX &&
        offsetof(struct covey_calibration_route, inside) ==
            offsetof(struct calibration_route, inside) &&
        offsetof(struct covey_calibration_route, start_s) ==
            offsetof(struct calibration_route, start_s) &&
        offsetof(struct covey_calibration_host, processors) ==
            offsetof(struct calibration_host, speed) &&
        offsetof(struct covey_calibration_host, order) ==
            offsetof(struct calibration_host, order) &&
        (int)COVEY_ORDER_LITTLE == (int)MODEL_ORDER_LITTLE &&
        (int)COVEY_ORDER_BIG == (int)MODEL_ORDER_BIG &&
        offsetof(struct covey_calibration_host, touch_s) ==
            offsetof(struct calibration_host, speed) + offsetof(struct model_host, touch_s) &&
        offsetof(struct covey_calibration_host, link_in) ==
            offsetof(struct calibration_host, speed) + offsetof(struct model_host, link_in) &&
        (int)COVEY_MODEL_BLOCKS == (int)MODEL_BLOCKS &&
        (int)COVEY_MODEL_HOSTS_MAX == (int)MODEL_HOSTS_MAX,
    "calibrations are handed out as they are");

typedef int fit_fn(const double *bytes, const double *seconds, size_t n, struct model_line *line);

static int fit(fit_fn *fn, const double *bytes, const double *seconds, size_t n,
               struct covey_line *line)
{
    struct model_line fitted;
    if (bytes == NULL || seconds == NULL || line == NULL || fn(bytes, seconds, n, &fitted) != 0)
        return error_set(COVEY_EINVAL, "a line needs times above 0 of two different sizes");
    memcpy(line, &fitted, sizeof fitted);
    return COVEY_OK;
}

int covey_line_fit(const double *bytes, const double *seconds, size_t n, struct covey_line *line)
{
    return fit(model_line_fit, bytes, seconds, n, line);
}

int covey_line_fit_ends(const double *bytes, const double *seconds, size_t n,
                        struct covey_line *line)
{
    return fit(model_line_fit_ends, bytes, seconds, n, line);
}

/* ---- The machine --------------------------------------------------------------------------- */

/* Long messages between tasks that may choose go over tcp, where it can be had. */
int model_route(const struct calibration *c, int route)
{
    int best = 0;
    if (route == COVEY_ROUTE_AUTO && c->routes[COVEY_ROUTE_TCP].known)
        return COVEY_ROUTE_TCP;
    for (int i = COVEY_ROUTE_UDP; i < CALIBRATION_ROUTES; i++) {
        if (c->routes[i].known &&
            (best == 0 || c->routes[i].line.beta_s < c->routes[best].line.beta_s))
            best = i;
    }
    return route == COVEY_ROUTE_AUTO ? best : route;
}

/* One host has no messages between hosts. */
static int set_routes(const struct calibration *c, int route, struct model_machine *m)
{
    int between = model_route(c, route);
    bool alone = m->host_count == 1, known = between > 0 && c->routes[between].known;
    if (!alone && !known)
        return error_set(COVEY_ENOHOST, "the calibration has no route %s; run covey calibrate",
                         between > 0 ? covey_route_name(between) : "between hosts");
    if (known) {
        m->between = c->routes[between].line;
        m->load = c->routes[between].load;
    }
    /* Within a host what the tasks were told to take, otherwise shm; ether is for other hosts. Some
     * VMs have no route within a host. */
    const struct calibration_route *shm = &c->routes[COVEY_ROUTE_SHM], *told = &c->routes[route];
    bool forced = route == COVEY_ROUTE_UDP || route == COVEY_ROUTE_TCP;
    if (forced && told->inside_known) {
        m->inside = told->inside;
        m->inside_drag_s = told->inside_drag_s;
        m->inside_streams = true;
    } else {
        m->inside = shm->known ? shm->line : m->between;
        m->inside_drag_s = shm->known ? shm->load.drag_s : 0;
    }
    return COVEY_OK;
}

static int set_hosts(const struct calibration *c, const char *const *names,
                     struct model_host *hosts, const struct model_packing **packing,
                     enum model_order *order, int count)
{
    for (int i = 0; i < count; i++) {
        int at = names != NULL ? calibration_find(c, names[i]) : i % c->host_count;
        if (at < 0)
            return error_set(COVEY_ENOHOST,
                             "host %s is not in the calibration; run covey calibrate", names[i]);
        hosts[i] = c->hosts[at].speed;
        packing[i] = &c->packing[at];
        order[i] = (enum model_order)c->hosts[at].order;
    }
    return COVEY_OK;
}

/* ---- Tiles ---------------------------------------------------------------------------------- */

int covey_tiles_costs(const struct covey_calibration *calibration, int route,
                      struct covey_tiles_costs *costs)
{
    const struct calibration *c = (const struct calibration *)(const void *)calibration;
    if (c == NULL || costs == NULL || c->host_count < 1 || route == COVEY_ROUTE_SHM || route < 0 ||
        route >= CALIBRATION_ROUTES)
        return error_set(COVEY_EINVAL, "tiles: no calibration, or no route between hosts");
    const struct calibration_route *r = &c->routes[model_route(c, route)];
    if (!r->known || r == c->routes)
        return error_set(COVEY_ENOHOST,
                         "the calibration has no such route between hosts; run covey calibrate");
    double share = 0;
    for (int i = 0; i < c->host_count; i++)
        share += c->hosts[i].speed.share / c->host_count;
    *costs = (struct covey_tiles_costs){.point_s = costs->point_s,
                                        .alpha_s = fmax(r->line.alpha_s, ALPHA_LEAST_S),
                                        .beta_s = r->line.beta_s,
                                        .start_s = r->start_s / share,
                                        .drag_s = r->load.drag_s / share};
    return COVEY_OK;
}

/* ---- The paper's equations ------------------------------------------------------------------ */

/* The slowest host is what all wait for. */
static double slowest(const struct model_machine *m, size_t offset)
{
    double most = 0;
    for (int i = 0; i < m->host_count; i++) {
        double here;
        const struct model_host *host = &m->hosts[i];
        memcpy(&here, (const char *)host + offset, sizeof here);
        if (host->demand > 0 && host->processors > 0)
            here *= fmax(host->processors, 1 + host->demand) / fmax(host->processors, 1);
        most = here > most ? here : most;
    }
    return most;
}

/* Of the link of which others use most. */
static struct model_line line_now(const struct model_machine *m)
{
    struct model_line line = m->between;
    double used = 0;
    for (int i = 0; i < m->host_count; i++)
        used = fmax(used, fmax(m->hosts[i].link_out, m->hosts[i].link_in));
    line.beta_s /= fmax(PAPER_LINK_LEFT_MIN, 1 - used);
    return line;
}

/* Replaces what was played, if that could be. */
static void take_paper(const struct model_machine *m, const struct covey_problem *p,
                       const struct model_view *view, struct model_time *time)
{
    const struct model_line line = line_now(m);
    double n = (double)p->size;
    int tasks = m->host_count;
    if (p->model == COVEY_MODEL_MATMUL) {
        size_t block = offsetof(struct model_host, madd_s) + (MODEL_BLOCKS - 1) * sizeof(double);
        *time = model_paper_matmul(n, tasks, DOUBLE_BYTES, slowest(m, block), &line);
    } else if (p->model == COVEY_MODEL_SORT) {
        *time = model_paper_sort(n, tasks, DOUBLE_BYTES,
                                 slowest(m, offsetof(struct model_host, oper_s)), &line);
    } else {
        /* T_comm = T_pack + T_send; matmul and sort send in place and pack nothing. */
        const struct model_line *pack =
            &m->packing[0]->lines[MODEL_PACKING_INT16][MODEL_PACKING_PACK];
        const struct model_line whole = {.alpha_s = line.alpha_s + pack->alpha_s,
                                         .beta_s = line.beta_s + pack->beta_s};
        double rows = STRIP_MEAN < view->height ? STRIP_MEAN : view->height;
        const struct model_strips strips = {.count = view->height / rows,
                                            .request_bytes = DOUBLE_BYTES,
                                            .answer_bytes = 2 * rows * view->width};
        *time =
            model_paper_mandel(time->computation_s * time->tasks, m->host_count, &strips, &whole);
    }
}

/* ---- Predicting ----------------------------------------------------------------------------- */

static bool is_bag(const struct covey_problem *p)
{
    return p->form == COVEY_FORM_BAG || p->form == COVEY_FORM_BAG_FETCH;
}

/* Items of mandel go through the daemons. */
static int route_of(const struct calibration *c, const struct covey_problem *p)
{
    bool daemons = is_bag(p) && p->model == COVEY_MODEL_MANDEL;
    return daemons && c->routes[COVEY_ROUTE_UDP].known ? COVEY_ROUTE_UDP : p->route;
}

static int whole_root(int tasks)
{
    int q = 1;
    while (q * q < tasks)
        q++;
    return q * q == tasks ? q : 0;
}

static int check_mandel(const struct covey_problem *p)
{
    bool sane = p->width >= 1 && p->width <= SIDE_MAX && p->height >= 1 && p->height <= SIDE_MAX &&
                p->iterations >= 1 && p->iterations <= ITERATIONS_MAX && p->strip >= 0 &&
                isfinite(p->centre_re) && isfinite(p->centre_im) && p->zoom > 0 &&
                isfinite(p->zoom);
    return sane ? COVEY_OK : error_set(COVEY_EINVAL, "mandel: no such picture");
}

static int check_matmul(const struct covey_problem *p)
{
    int q = whole_root(p->tasks);
    if (p->size < 1 || p->size > SIZE_MAX_N)
        return error_set(COVEY_EINVAL, "matmul: N must be 1 to 1M");
    if (is_bag(p) || p->tasks == 0)
        return COVEY_OK;
    if (q == 0)
        return error_set(COVEY_EINVAL, "matmul: %d tasks are no square", p->tasks);
    if (p->form == COVEY_FORM_HIERARCHICAL && model_groups(q) >= q)
        return error_set(COVEY_EINVAL, "matmul: a grid of %d x %d tasks has no groups", q, q);
    return COVEY_OK;
}

static int check_form(const struct covey_problem *p)
{
    bool bag = p->form == COVEY_FORM_USUAL || p->form == COVEY_FORM_BAG;
    bool known = p->form >= COVEY_FORM_USUAL && p->form <= COVEY_FORM_PHASES;
    bool good = p->model == COVEY_MODEL_MATMUL ? known : bag;
    good = good && p->grid >= 0 && p->grid <= GRID_MAX;
    return good ? COVEY_OK : error_set(COVEY_EINVAL, "predict: the program has no such form");
}

static int problem_check(const struct covey_problem *p, int hosts)
{
    if (hosts < 1 || hosts > COVEY_MODEL_HOSTS_MAX || p->tasks < 0 || p->tasks > 4096)
        return error_set(COVEY_EINVAL, "predictions are for 1 to %d hosts and up to 4096 tasks",
                         COVEY_MODEL_HOSTS_MAX);
    if (p->route < 0 || p->route >= CALIBRATION_ROUTES)
        return error_set(COVEY_EINVAL, "no such route: %d", p->route);
    if (check_form(p) != COVEY_OK)
        return COVEY_EINVAL;
    switch (p->model) {
    case COVEY_MODEL_MATMUL:
        return check_matmul(p);
    case COVEY_MODEL_SORT:
        return p->size >= 0 && p->size <= KEYS_MAX
                   ? COVEY_OK
                   : error_set(COVEY_EINVAL, "sort: keys must be 0 to 2^40");
    case COVEY_MODEL_MANDEL:
        return check_mandel(p);
    default:
        return error_set(COVEY_EINVAL, "no such model: %d", p->model);
    }
}

static int play_matmul(const struct model_machine *m, const struct covey_problem *p,
                       struct model_time *time)
{
    int tasks = p->tasks > 0 ? p->tasks : m->host_count, q = p->grid;
    bool fetch = p->form == COVEY_FORM_BAG_FETCH;
    if (is_bag(p)) {
        q = q > 0 ? q : fetch ? BAG_GRID_FETCH : BAG_GRID;
        return model_matmul_bag(m, p->size, q < p->size ? q : (int)p->size, fetch, tasks, time);
    }
    if (p->form == COVEY_FORM_HIERARCHICAL) {
        q = p->tasks > 0 ? whole_root(p->tasks) : HIERARCHY_GRID;
        return model_matmul_hierarchical(m, p->size, q, model_groups(q), time);
    }
    q = p->tasks > 0 ? whole_root(p->tasks) : model_grid(m->host_count);
    q = q < p->size ? q : (int)p->size;
    if (p->form == COVEY_FORM_PHASES)
        return model_matmul_hierarchical(m, p->size, q, q, time);
    return model_matmul(m, p->size, q, time);
}

static int play_mandel(const struct model_machine *m, const struct model_view *view, int tasks,
                       int strip, double **rows, struct model_time *time)
{
    if (*rows == NULL)
        *rows = model_mandel_rows(view);
    return *rows == NULL ? -1 : model_mandel(m, view, *rows, tasks, strip, time);
}

static int problem_play(const struct model_machine *m, const struct covey_problem *p,
                        const struct model_view *view, double **rows, struct model_time *time)
{
    int tasks = p->tasks > 0 ? p->tasks : m->host_count;
    if (p->model == COVEY_MODEL_SORT && is_bag(p))
        return model_sort_bag(m, p->size, tasks, time);
    if (p->model == COVEY_MODEL_SORT)
        return model_sort(m, p->size, tasks, time);
    if (p->model == COVEY_MODEL_MANDEL)
        return play_mandel(m, view, tasks, p->strip, rows, time);
    return play_matmul(m, p, time);
}

static int predict(const struct model_machine *m, const struct covey_problem *p, double **rows,
                   struct covey_prediction *prediction)
{
    const struct model_view view = {p->centre_re, p->centre_im, p->zoom,
                                    p->width,     p->height,    p->iterations};
    struct model_time time;
    if (problem_play(m, p, &view, rows, &time) != 0)
        return error_set(COVEY_ENOHOST,
                         "the calibration lacks what this program computes, or memory "
                         "is exhausted; run covey calibrate");
    if (p->paper)
        take_paper(m, p, &view, &time);
    *prediction = (struct covey_prediction){.hosts = m->host_count,
                                            .tasks = time.tasks,
                                            .total_s = time.total_s,
                                            .computation_s = time.computation_s,
                                            .communication_s = time.communication_s,
                                            .idle_s = time.idle_s};
    return COVEY_OK;
}

int model_predict(const struct calibration *c, const struct covey_problem *problem,
                  const char *const *names, int hosts, double **rows,
                  struct covey_prediction *prediction)
{
    if (c == NULL || problem == NULL || prediction == NULL || c->host_count < 1)
        return error_set(COVEY_EINVAL, "predict: no calibration, problem or prediction");
    int error = problem_check(problem, hosts);
    if (error)
        return error;
    const struct model_packing *packing[COVEY_MODEL_HOSTS_MAX];
    enum model_order order[COVEY_MODEL_HOSTS_MAX];
    struct model_host *speeds = calloc((size_t)hosts, sizeof *speeds);
    if (speeds == NULL)
        return error_code(COVEY_ENOMEM);
    struct model_machine machine = {.hosts = speeds,
                                    .host_count = hosts,
                                    .together = c->together,
                                    .packing = packing,
                                    .order = order};
    error = set_hosts(c, names, speeds, packing, order, hosts);
    if (error == COVEY_OK)
        error = set_routes(c, route_of(c, problem), &machine);
    if (error == COVEY_OK)
        error = predict(&machine, problem, rows, prediction);
    free(speeds);
    return error;
}

int covey_predict(const struct covey_calibration *calibration, const struct covey_problem *problem,
                  const char *const *names, int hosts, struct covey_prediction *prediction)
{
    double *rows = NULL;
    int error = model_predict((const struct calibration *)(const void *)calibration, problem, names,
                              hosts, &rows, prediction);
    free(rows);
    return error;
}

int covey_predict_best(const int *hosts, const double *total_s, int n, double tolerance,
                       int *break_even, int *efficient)
{
    if (hosts == NULL || total_s == NULL || n < 1 || !(tolerance >= 0 && tolerance <= 1))
        return error_set(COVEY_EINVAL, "predict: no times, or a tolerance that is not 0 to 1");
    for (int i = 0; i < n; i++) {
        if (!(total_s[i] > 0) || hosts[i] < 1 || (i > 0 && hosts[i] <= hosts[i - 1]))
            return error_set(COVEY_EINVAL, "predict: times must be above 0, hosts increase");
    }
    struct model_best best = model_best(hosts, total_s, n, tolerance);
    *break_even = best.break_even;
    *efficient = best.efficient;
    return COVEY_OK;
}

/* ---- All-to-all ------------------------------------------------------------------------------ */

/* Of a short message, what is not the time of two hosts' links, which are played: at least half, as
 * it may have been measured on faster ones. */
static double delay_s(const struct network *network, double alpha_s)
{
    double links_s = 2 * 8 * SHORT_BYTES / (double)network_slowest(network);
    return fmax(0, fmax(alpha_s - links_s, alpha_s / 2));
}

int covey_predict_alltoall(const covey_topology_t *topology, const int32_t *hosts, int ranks,
                           double bytes, double alpha_s, double skew_s,
                           struct covey_alltoall_prediction *prediction)
{
    struct network network;
    struct model_alltoall result;
    struct net_config config = {.frame_bytes = FRAME_BYTES,
                                .header_bytes = HEADER_BYTES,
                                .queue_bytes = QUEUE_BYTES,
                                .skew_s = skew_s,
                                .seed = 1};
    if (topology == NULL || prediction == NULL || !(bytes >= 0) || !isfinite(bytes) ||
        !isfinite(alpha_s) || !(skew_s >= 0) || !isfinite(skew_s))
        return error_set(COVEY_EINVAL, "predict: no topology, or no such size or skew");
    for (int i = 0; hosts != NULL && i < ranks; i++) {
        if (hosts[i] < 0 || hosts[i] >= topology->tree.node_count ||
            topology->tree.nodes[hosts[i]].is_switch)
            return error_set(COVEY_EINVAL, "rank %d: node %d is no host", i, (int)hosts[i]);
    }
    if (network_create(&network, &topology->tree, hosts, ranks) != 0)
        return error_code(COVEY_ENOMEM);
    config.delay_s = delay_s(&network, alpha_s);
    int failed = model_alltoall(&network, &config, bytes, &result);
    uint32_t count = (uint32_t)network.rank_count;
    network_destroy(&network);
    if (failed)
        return error_code(COVEY_ENOMEM);
    *prediction = (struct covey_alltoall_prediction){.bound_s = result.bound_s,
                                                     .scheduled_s = result.scheduled_s,
                                                     .ring_s = result.ring_s,
                                                     .pairwise_s = result.pairwise_s,
                                                     .phases = result.phases,
                                                     .ranks = count};
    return COVEY_OK;
}
