/*
 * now.c - a calibration is of hosts at rest; here it learns what others do on them now, for
 * predictions of what is started now.
 */
#include <math.h>
#include <string.h>

#include "lib/covey.h"
#include "lib/model/model.h"
#include "lib/msg/error.h"

#define QUOTA_SHARE 0.9 /* a task alone that gets less of a processor is stopped by a quota */

/* Of hosts that share their processors each sees the load of all; the most that one saw counts. */
static double demand_of(const struct covey_host_stat *stats, int n, int at)
{
    double demand = 0;
    for (int i = 0; i < n; i++) {
        bool same = i == at || (stats[at].machine != 0 && stats[i].machine == stats[at].machine);
        if (same && stats[i].known)
            demand = fmax(demand, stats[i].demand);
    }
    return demand;
}

/* The part of a link of that rate; what is not known is taken for nothing. */
static double part_of_link(double bytes_per_s, double beta_s)
{
    return fmin(1, fmax(0, bytes_per_s * beta_s));
}

/* Tasks that would need as much of the host as its kernel does for that traffic. A host that has a
 * quota charges it to whoever runs: while nobody does it is not in the demand. */
static double demand_of_traffic(const struct model_host *host, const struct model_load *load,
                                const struct covey_host_stat *stat)
{
    double bytes_per_s =
        fmax(0, stat->net_sent_bytes_per_s) + fmax(0, stat->net_received_bytes_per_s);
    double drag_s = load->all_hosts > 2 ? load->all_drag_s : load->drag_s;
    bool has_quota = host->share > 0 && host->share < QUOTA_SHARE;
    return has_quota ? bytes_per_s * drag_s / host->share * fmax(0, 1 - host->demand) : 0;
}

static int find_host(const struct covey_host *hosts, int n, const char *name)
{
    for (int i = 0; i < n; i++)
        if (strcmp(hosts[i].name, name) == 0)
            return i;
    return -1;
}

/* No task goes to them. */
static void remove_idle(struct calibration *c, const struct covey_host *hosts,
                        const struct covey_host_stat *stats, int n)
{
    bool idle[COVEY_MODEL_HOSTS_MAX];
    int rest = 0;
    for (int i = 0; i < c->host_count; i++) {
        int at = find_host(hosts, n, c->hosts[i].name);
        idle[i] =
            at >= 0 && stats[at].known && (covey_host_pages(&stats[at]) || stats[at].withheld > 0);
        rest += !idle[i];
    }
    for (int i = c->host_count; i-- > 0 && rest > 0;) /* from behind: places before it stay */
        if (idle[i])
            calibration_remove(c, i);
}

int covey_calibration_now(struct covey_calibration *calibration, int route,
                          const struct covey_host *hosts, const struct covey_host_stat *stats,
                          int n)
{
    struct calibration *c = (struct calibration *)(void *)calibration;
    int known = 0;
    if (c == NULL || route < 0 || route >= CALIBRATION_ROUTES || n < 0 ||
        (n > 0 && (hosts == NULL || stats == NULL)))
        return error_set(COVEY_EINVAL, "calibration: no hosts or no such route");
    int taken = model_route(c, route);
    double beta_s = c->routes[taken].line.beta_s;
    remove_idle(c, hosts, stats, n);
    for (int i = 0; i < c->host_count; i++) {
        struct model_host *host = &c->hosts[i].speed;
        int at = find_host(hosts, n, c->hosts[i].name);
        host->demand = host->link_out = host->link_in = 0;
        if (at < 0 || !stats[at].known)
            continue;
        host->demand = demand_of(stats, n, at);
        host->demand += demand_of_traffic(host, &c->routes[taken].load, &stats[at]);
        host->link_out = part_of_link(stats[at].net_sent_bytes_per_s, beta_s);
        host->link_in = part_of_link(stats[at].net_received_bytes_per_s, beta_s);
        known++;
    }
    return known;
}
