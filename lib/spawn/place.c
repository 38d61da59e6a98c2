/*
 * place.c - where tasks go. The caller names the hosts, or leaves the choice: then each task goes
 * where the model of proto/contention/placement.h expects it to end first.
 *
 * What the model needs is asked from all daemons at once, and counts for OUTLOOK_US: a program that
 * spawns task by task asks once a second. Meanwhile the tasks that were placed since are counted as
 * competing. A daemon that does not answer at once is taken to be busy; where none does, or there
 * is one host alone, tasks are dealt in turn.
 */
#include "lib/spawn/place.h"
#include "lib/calls/hosts.h"
#include "lib/msg/clock.h"
#include "lib/msg/error.h"
#include "proto/contention/placement.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OUTLOOK_US 1000000u
#define ANSWER_US 1000000
#define SILENT_DEMAND 2.0  /* of a host that does not answer, for each of its cores */
#define SPEED 1000         /* the default of covey.conf */
#define SPEED_NOISE 1.33   /* measured speeds of like hosts differ by that */
#define INTERRUPTS_MAX 0.9 /* of the processors */
#define TELL_USED 0.1      /* of a link or a disk: from there on it is worth a word */

/* ---- what messages cost ---------------------------------------------------------------------- */

#define ALPHA_S 50e-6 /* between hosts, unless it was calibrated: a usual network of 1 Gbit/s */
#define BETA_S 9e-9
#define BETA_MIN_S 1e-12
#define ALPHA_HERE_S 5e-6 /* on one host */
#define BETA_HERE_S 0.5e-9

/* What a message costs, on one host and between two, and what `covey calibrate` says of which two.
 */
struct cost {
    struct covey_line here, there;
    int route; /* between hosts, the one with the least beta */
    struct covey_calibration *calibration;
};

static struct cost cost_of(const struct covey *vm)
{
    struct cost cost = {.here = {.alpha_s = ALPHA_HERE_S, .beta_s = BETA_HERE_S},
                        .there = {.alpha_s = ALPHA_S, .beta_s = BETA_S}};
    if (covey_calibration_load(vm->self.vm_name, &cost.calibration) != COVEY_OK)
        return cost;
    const struct covey_calibration_route *routes = cost.calibration->routes;
    for (int i = COVEY_ROUTE_UDP; i <= COVEY_ROUTE_ETHER; i++)
        if (routes[i].known &&
            (cost.route == 0 || routes[i].line.beta_s < routes[cost.route].line.beta_s))
            cost.route = i;
    if (cost.route != 0)
        cost.there = routes[cost.route].line;
    if (routes[COVEY_ROUTE_SHM].known)
        cost.here = routes[COVEY_ROUTE_SHM].line;
    return cost;
}

/* The host's place in the calibration, or -1. */
static int cost_find(const struct cost *cost, const char *host)
{
    for (int i = 0; cost->calibration != NULL && i < cost->calibration->host_count; i++)
        if (strcmp(cost->calibration->hosts[i].name, host) == 0)
            return i;
    return -1;
}

/* What was last heard of all hosts. */
struct outlook {
    uint64_t at_us;
    unsigned measured; /* how often the hosts had been measured by then */
    int count;
    struct covey_host *hosts;
    struct covey_host_stat *stats;
    uint32_t *placed; /* since, by this task */
    struct cost cost;
};

static void outlook_free(struct outlook *o)
{
    if (o == NULL)
        return;
    free(o->hosts);
    free(o->stats);
    free(o->placed);
    covey_free(o->cost.calibration);
    free(o);
}

void place_free(struct covey *vm)
{
    outlook_free(placing_of(vm)->outlook);
    placing_of(vm)->outlook = NULL;
}

/* ---- the hosts that may be used -------------------------------------------------------------- */

/* A host that is silent for the moment is waited for when it is named: it answers, or is gone. */
static int place_find_host(const struct covey_host *hosts, int n, const char *name)
{
    for (int i = 0; i < n; i++) {
        bool there = hosts[i].state == COVEY_HOST_UP || hosts[i].state == COVEY_HOST_SUSPECT;
        if (there && strcmp(hosts[i].name, name) == 0)
            return i;
    }
    return error_set(COVEY_ENOHOST, "no host '%s' is up in this VM", name);
}

static bool is_of_arch(const struct covey_host *host, const char *arch)
{
    return arch == NULL || strcmp(host->arch, arch) == 0;
}

/* Named hosts in the order given; a name may come twice and then gets twice the tasks. */
static int deal_named(const struct covey_host *hosts, int n, const struct covey_spawn *what,
                      struct deal *deal)
{
    for (const char *const *names = what->hosts; *names != NULL; names++) {
        int at = place_find_host(hosts, n, *names);
        if (at < 0)
            return at;
        if (!is_of_arch(&hosts[at], what->arch))
            return error_set(COVEY_ENOHOST, "host %s is %s, not %s", *names, hosts[at].arch,
                             what->arch);
        uint32_t *grown = realloc(deal->hosts, ((size_t)deal->count + 1) * sizeof *grown);
        if (grown == NULL)
            return error_code(COVEY_ENOMEM);
        deal->hosts = grown;
        grown[deal->count++] = (uint32_t)hosts[at].index;
    }
    return COVEY_OK;
}

static int deal_all(const struct covey *vm, const struct covey_host *hosts, int n,
                    const struct covey_spawn *what, struct deal *deal)
{
    deal->hosts = calloc((size_t)n, sizeof *deal->hosts);
    if (deal->hosts == NULL)
        return error_code(COVEY_ENOMEM);
    for (int i = 0; i < n; i++) {
        bool own = (uint32_t)hosts[i].index == vm->self.host;
        bool usable =
            hosts[i].state == COVEY_HOST_UP || (own && hosts[i].state == COVEY_HOST_SUSPECT);
        if (usable && is_of_arch(&hosts[i], what->arch) &&
            !(own && what->where == COVEY_WHERE_OTHERS))
            deal->hosts[deal->count++] = (uint32_t)hosts[i].index;
    }
    return COVEY_OK;
}

void deal_free(struct deal *deal)
{
    free(deal->hosts);
    deal->hosts = NULL;
}

bool deal_drop(struct deal *deal)
{
    int kept = 0;
    for (int i = 0; i < deal->count; i++) {
        if (deal->hosts[i] != 0)
            deal->hosts[kept++] = deal->hosts[i];
    }
    bool dropped = kept < deal->count;
    deal->count = kept;
    return dropped && kept > 0;
}

/* ---- their load ------------------------------------------------------------------------------ */

static int outlook_find(const struct outlook *o, uint32_t host)
{
    for (int i = 0; i < o->count; i++)
        if ((uint32_t)o->hosts[i].index == host)
            return i;
    return -1;
}

/* Whether it is fresh, and has all hosts of the deal. */
static bool outlook_serves(const struct covey *vm, const struct outlook *o, const struct deal *deal)
{
    if (o == NULL || o->measured != vm->known.measured || clock_us() >= o->at_us + OUTLOOK_US)
        return false;
    for (int i = 0; i < deal->count; i++)
        if (outlook_find(o, deal->hosts[i]) < 0)
            return false;
    return true;
}

/* Another thread may ask meanwhile: what comes last counts. False: nothing was heard. */
static bool outlook_ask(struct covey *vm)
{
    struct outlook *o = calloc(1, sizeof *o);
    if (o == NULL)
        return false;
    o->count = host_stats_ask(vm, ANSWER_US, &o->hosts, &o->stats);
    o->placed = o->count < 0 ? NULL : calloc((size_t)o->count, sizeof *o->placed);
    if (o->placed == NULL) {
        outlook_free(o);
        return false;
    }
    o->cost = cost_of(vm);
    o->at_us = clock_us();
    o->measured = vm->known.measured;
    place_free(vm);
    placing_of(vm)->outlook = o;
    return true;
}

static uint8_t withheld_of(const struct covey_host_stat *stat)
{
    return (uint8_t)fmax(0, fmin(stat->withheld, UINT8_MAX));
}

/* Takes out the hosts that are withheld: where all are, those that are so more than others. */
static void deal_withhold(struct covey *vm, struct deal *deal)
{
    if (deal->count < 2 || (!outlook_serves(vm, placing_of(vm)->outlook, deal) && !outlook_ask(vm)))
        return;
    const struct outlook *o = placing_of(vm)->outlook;
    uint8_t least = UINT8_MAX;
    int kept = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < deal->count; i++) {
            int at = outlook_find(o, deal->hosts[i]);
            uint8_t withheld = at < 0 ? 0 : withheld_of(&o->stats[at]);
            if (pass == 0)
                least = withheld < least ? withheld : least;
            else if (withheld == least)
                deal->hosts[kept++] = deal->hosts[i];
        }
    deal->count = kept;
}

int deal_make(struct covey *vm, const struct covey_spawn *what, struct deal *deal)
{
    struct covey_host *hosts = NULL;
    bool by_name = what->where == COVEY_WHERE_HOSTS ||
                   (what->where == COVEY_WHERE_EACH && what->hosts != NULL);
    if (what->where < COVEY_WHERE_ANY || what->where > COVEY_WHERE_EACH ||
        (what->where == COVEY_WHERE_HOSTS && what->hosts == NULL))
        return error_set(COVEY_EINVAL, "spawn: unknown place %d, or no hosts named", what->where);
    int n = hosts_ask(vm, &hosts);
    if (n < 0)
        return n;
    *deal = (struct deal){.free_choice =
                              what->where == COVEY_WHERE_ANY || what->where == COVEY_WHERE_OTHERS};
    int error = by_name ? deal_named(hosts, n, what, deal) : deal_all(vm, hosts, n, what, deal);
    free(hosts);
    if (error == COVEY_OK && what->where == COVEY_WHERE_EACH && !by_name)
        deal_withhold(vm, deal);
    if (error == COVEY_OK && deal->count == 0)
        error =
            what->arch == NULL
                ? error_set(COVEY_ENOHOST, "spawn: no host fits")
                : error_set(COVEY_ENOHOST, "spawn: no host is %s, or none that fits", what->arch);
    if (error != COVEY_OK)
        free(deal->hosts);
    return error;
}

/* ---- from figures to the model --------------------------------------------------------------- */

/* The hosts of a deal as the model wants them; row[i] is the place in the outlook. */
struct scene {
    const struct outlook *outlook;
    const struct covey_needs *needs; /* of each task to be placed */
    struct placement_host *hosts;
    int *row;
    int count;
    bool speeds_set, speeds_measured; /* by covey.conf; on all hosts */
};

static double measured_speed(const struct covey_host_stat *stat)
{
    return stat->integer_per_s > 0 && stat->float_per_s > 0
               ? stat->integer_per_s / 1e9 + stat->float_per_s / 1e9
               : 0;
}

/* What the owner says counts; else what was measured, if it was measured everywhere: relative to
 * the first host then. Hosts of one machine have one speed, whatever was measured on each. */
static double scene_speed(const struct scene *s, int at)
{
    const struct covey_host_stat *stats = s->outlook->stats;
    if (s->speeds_set || !s->speeds_measured)
        return s->outlook->hosts[s->row[at]].speed / (double)SPEED;
    int like = at;
    for (int i = at; i-- > 0;)
        if (stats[s->row[i]].machine != 0 && stats[s->row[i]].machine == stats[s->row[at]].machine)
            like = i;
    double speed = measured_speed(&stats[s->row[like]]) / measured_speed(&stats[s->row[0]]);
    return speed > 1 / SPEED_NOISE && speed < SPEED_NOISE ? 1 : speed;
}

/* What competes on the machine: the most that one of its hosts saw, and what is too young for that
 * or was placed since. */
static double scene_demand(const struct scene *s, int at)
{
    const struct outlook *o = s->outlook;
    const struct covey_host_stat *self = &o->stats[s->row[at]];
    double seen = self->demand, late = 0;
    for (int i = 0; i < o->count; i++) {
        const struct covey_host_stat *stat = &o->stats[i];
        bool same = i == s->row[at] || (self->machine != 0 && stat->machine == self->machine);
        if (!same)
            continue;
        seen = stat->demand > seen ? stat->demand : seen;
        late += (stat->tasks_young > 0 ? stat->tasks_young : 0) + o->placed[i];
    }
    return (seen > 0 ? seen : 0) + late;
}

/* The part of the machine's processors that serve interrupts, and of its disks' time that is used:
 * the most that one of its hosts saw. Whether it pages: if one of them says so. */
static void scene_set_machine(const struct scene *s, int at, struct placement_host *p)
{
    const struct outlook *o = s->outlook;
    const struct covey_host_stat *self = &o->stats[s->row[at]];
    double interrupts = 0;
    for (int i = 0; i < o->count; i++) {
        const struct covey_host_stat *stat = &o->stats[i];
        if (i != s->row[at] && (self->machine == 0 || stat->machine != self->machine))
            continue;
        interrupts = fmax(interrupts, stat->interrupt_busy);
        p->disk = fmax(p->disk, stat->disk_busy);
        p->pages = p->pages || covey_host_pages(stat);
    }
    /* Interrupts come before all that competes. They are part of what was seen to be busy. */
    double taken = fmin(interrupts, INTERRUPTS_MAX) * p->cores;
    p->cores -= taken;
    p->demand = fmax(p->demand - taken, 0);
}

/* The part of the host's link that is in use, of the direction that is busier. The rate is the
 * calibrated one, else what the card's driver says, else that of a usual network. */
static double scene_network(const struct scene *s, int at)
{
    const struct covey_host_stat *stat = &s->outlook->stats[s->row[at]];
    const struct cost *cost = &s->outlook->cost;
    double used = fmax(stat->net_received_bytes_per_s, stat->net_sent_bytes_per_s);
    double rate = cost->route == 0 && stat->net_rate_bytes_per_s > 0
                      ? stat->net_rate_bytes_per_s
                      : 1 / fmax(cost->there.beta_s, BETA_MIN_S);
    return used > 0 ? used / rate : 0;
}

static void scene_free(struct scene *s)
{
    free(s->hosts);
    free(s->row);
}

static bool scene_look(struct covey *vm, const struct deal *deal, struct scene *s)
{
    if (!outlook_serves(vm, placing_of(vm)->outlook, deal) && !outlook_ask(vm))
        return false;
    s->outlook = placing_of(vm)->outlook;
    for (int i = 0; i < deal->count; i++) {
        s->row[i] = outlook_find(s->outlook, deal->hosts[i]);
        if (s->row[i] < 0)
            return false;
    }
    s->speeds_measured = true;
    for (int i = 0; i < s->count; i++) {
        s->speeds_set = s->speeds_set || s->outlook->hosts[s->row[i]].speed != SPEED;
        s->speeds_measured =
            s->speeds_measured && measured_speed(&s->outlook->stats[s->row[i]]) > 0;
    }
    for (int i = 0; i < s->count; i++) {
        const struct covey_host *host = &s->outlook->hosts[s->row[i]];
        const struct covey_host_stat *stat = &s->outlook->stats[s->row[i]];
        struct placement_host *p = &s->hosts[i];
        double cores = stat->cores > 0 ? stat->cores : host->cores;
        double speed = scene_speed(s, i);
        p->machine = s->speeds_set ? 0 : stat->machine; /* virtual hosts that play unequal ones */
        p->cores = cores > 0 ? cores : 1;
        p->speed = speed > 0 ? speed : 1;
        p->demand = stat->known ? scene_demand(s, i) : p->cores * SILENT_DEMAND;
        p->memory_free = stat->memory_free_bytes;
        p->withheld = withheld_of(stat);
        p->network = scene_network(s, i);
        scene_set_machine(s, i, p);
    }
    return true;
}

/* ---- what the tasks will exchange ------------------------------------------------------------ */

/* A message between two hosts. */
static double cost_between(const struct cost *cost, const char *host, const char *peer,
                           const struct covey_traffic *t)
{
    int a = cost_find(cost, host), b = cost_find(cost, peer);
    double alpha_s = cost->there.alpha_s, beta_s = cost->there.beta_s;
    for (int i = 0; a >= 0 && b >= 0 && i < cost->calibration->peer_count; i++) {
        const struct covey_calibration_peers *p = &cost->calibration->peers[i];
        if (p->route == cost->route && p->hosts[0] == (a < b ? a : b) &&
            p->hosts[1] == (a < b ? b : a)) {
            alpha_s = p->alpha_s;
            beta_s = p->beta_s;
        }
    }
    return (double)t->messages * alpha_s + (double)t->bytes * beta_s;
}

static double cost_here(const struct cost *cost, const struct covey_traffic *t)
{
    return (double)t->messages * cost->here.alpha_s + (double)t->bytes * cost->here.beta_s;
}

static const char *outlook_name(const struct outlook *o, uint32_t host)
{
    int at = outlook_find(o, host);
    return at < 0 ? "" : o->hosts[at].name;
}

static void scene_set_traffic(struct scene *s, const struct deal *deal)
{
    const struct covey_needs *needs = s->needs;
    if (needs->traffic_count == 0)
        return;
    const struct cost *cost = &s->outlook->cost;
    for (int i = 0; i < s->count; i++) {
        const char *host = s->outlook->hosts[s->row[i]].name;
        for (size_t k = 0; k < needs->traffic_count; k++) {
            const struct covey_traffic *t = &needs->traffic[k];
            uint32_t peer = tid_host((uint32_t)t->peer);
            s->hosts[i].traffic_s +=
                peer == deal->hosts[i]
                    ? cost_here(cost, t)
                    : cost_between(cost, host, outlook_name(s->outlook, peer), t);
        }
    }
}

/* False: the hosts' load is not known. */
static bool scene_make(struct covey *vm, const struct deal *deal, const struct covey_needs *needs,
                       struct scene *s)
{
    static const struct covey_needs unknown = {.work_s = 0};
    *s = (struct scene){.count = deal->count,
                        .needs = needs == NULL ? &unknown : needs,
                        .hosts = calloc((size_t)deal->count, sizeof *s->hosts),
                        .row = calloc((size_t)deal->count, sizeof *s->row)};
    if (s->hosts != NULL && s->row != NULL && scene_look(vm, deal, s)) {
        scene_set_traffic(s, deal);
        return true;
    }
    scene_free(s);
    return false;
}

/* ---- choosing -------------------------------------------------------------------------------- */

static unsigned deal_in_turn(const struct deal *deal, unsigned start, int n, uint32_t *host_of)
{
    for (int i = 0; i < n; i++)
        host_of[i] = deal->hosts[(start + (unsigned)i) % (unsigned)deal->count];
    return (start + (unsigned)n) % (unsigned)deal->count;
}

/* Sets host_of[i] to a position in the scene. */
static unsigned scene_choose(struct scene *s, unsigned start, int n, uint32_t *host_of)
{
    const struct covey_needs *needs = s->needs;
    const struct placement_wish wish = {.work_s = needs->work_s > 0 ? needs->work_s : 1,
                                        .memory_bytes = (double)needs->memory_bytes,
                                        .traffic_known = needs->traffic_count > 0};
    return (unsigned)placement_choose(s->hosts, (size_t)s->count, &wish, start % (unsigned)s->count,
                                      host_of, (size_t)n);
}

int deal_tasks(struct covey *vm, const struct covey_spawn *what, const struct deal *deal, int n,
               uint32_t *host_of)
{
    struct scene scene;
    if (!deal->free_choice) {
        deal_in_turn(deal, 0, n, host_of);
    } else if (deal->count > 1 && scene_make(vm, deal, what->needs, &scene)) {
        placing_of(vm)->next = scene_choose(&scene, placing_of(vm)->next, n, host_of);
        for (int i = 0; i < n; i++) {
            placing_of(vm)->outlook->placed[scene.row[host_of[i]]]++;
            host_of[i] = deal->hosts[host_of[i]];
        }
        scene_free(&scene);
    } else {
        placing_of(vm)->next = deal_in_turn(deal, placing_of(vm)->next, n, host_of);
    }
    return vm->home.lost;
}

/* ---- explaining ------------------------------------------------------------------------------ */

static void say_load(const struct scene *s, int at, const char *verdict, char *text, size_t size)
{
    const struct placement_host *p = &s->hosts[at];
    char speed[32] = "", traffic[48] = "", network[32] = "", disk[32] = "";
    if (s->speeds_set || s->speeds_measured)
        snprintf(speed, sizeof speed, ", speed %.2f", p->speed);
    if (p->traffic_s > 0)
        snprintf(traffic, sizeof traffic, ", %.3g s for its traffic", p->traffic_s);
    if (p->network >= TELL_USED)
        snprintf(network, sizeof network, ", %.0f %% of its link used", fmin(p->network, 1) * 100);
    if (p->disk >= TELL_USED)
        snprintf(disk, sizeof disk, ", disks %.0f %% busy", p->disk * 100);
    snprintf(text, size, "%s: %.2f of a core (%.1f compete for %.3g core%s)%s%s%s%s", verdict,
             p->share, p->demand, p->cores, p->cores == 1 ? "" : "s", speed, traffic, network,
             disk);
}

/* The end of the very first task, where it was placed best. */
static double scene_best_s(const struct scene *s)
{
    double best_s = INFINITY;
    for (int i = 0; i < s->count; i++) {
        if ((!s->hosts[i].pages && s->hosts[i].withheld == 0) || s->hosts[i].placed > 0)
            best_s = fmin(best_s, s->hosts[i].end_s);
    }
    return best_s;
}

static const char *withheld_why(const struct placement_host *p)
{
    return p->withheld == 1 ? "it is drained" : "its owner withholds it";
}

static void say_why(const struct scene *s, int at, char *text, size_t size)
{
    const struct placement_host *p = &s->hosts[at];
    if (p->withheld > 0) {
        snprintf(text, size, "%s%s", withheld_why(p),
                 p->placed > 0 ? ", and no other is left" : "");
    } else if (p->short_of_room) {
        snprintf(text, size, "%s has %.0f MiB of free memory, which is too little",
                 p->placed > 0 ? "no host has enough, this one" : "it", p->memory_free / 1048576);
    } else if (p->pages) {
        snprintf(text, size, "%s", p->placed > 0 ? "it pages, as all do" : "it pages");
    } else if (!s->outlook->stats[s->row[at]].known)
        snprintf(text, size, "it does not answer%s", p->placed > 0 ? ", but others are full" : "");
    else if (p->placed == 0)
        say_load(s, at,
                 p->end_s > scene_best_s(s) * (1 + PLACEMENT_EQUAL) ? "others end earlier"
                                                                    : "as good, not its turn",
                 text, size);
    else if (p->end_s > scene_best_s(s) * (1 + PLACEMENT_EQUAL))
        say_load(s, at, "others are as full by then", text, size);
    else if (p->turns == p->placed)
        say_load(s, at, "in turn with equal ones", text, size);
    else
        say_load(s, at, "ends first", text, size);
}

static void place_set(const struct covey_host *host, int tasks, struct covey_place *place)
{
    *place = (struct covey_place){.host = host->index, .tasks = tasks, .share = -1, .end_s = -1};
    memcpy(place->name, host->name, sizeof place->name);
}

/* Where the caller chose, there is one host, or nothing is known. */
static int explain_turn(struct covey *vm, const struct deal *deal, unsigned start, int n,
                        struct covey_place *places)
{
    struct covey_host *hosts;
    const char *why = !deal->free_choice ? "named, or all hosts were asked for"
                      : deal->count == 1 ? "there is no other"
                                         : "in turn: the hosts' load is not known";
    int count = hosts_ask(vm, &hosts);
    if (count < 0)
        return count;
    for (int i = 0; i < deal->count; i++) {
        int position = (i + deal->count - (int)(start % (unsigned)deal->count)) % deal->count;
        int tasks = n / deal->count + (position < n % deal->count);
        for (int k = 0; k < count; k++)
            if ((uint32_t)hosts[k].index == deal->hosts[i])
                place_set(&hosts[k], tasks, &places[i]);
        snprintf(places[i].why, sizeof places[i].why, "%s", why);
    }
    free(hosts);
    return deal->count;
}

static int explain(struct covey *vm, const struct covey_spawn *what, const struct deal *deal, int n,
                   struct covey_place *places)
{
    struct scene scene;
    unsigned start = deal->free_choice ? placing_of(vm)->next : 0;
    uint32_t *chosen = calloc((size_t)n, sizeof *chosen);
    int result = deal->count;
    if (chosen == NULL) {
        result = error_code(COVEY_ENOMEM);
    } else if (deal->free_choice && deal->count > 1 && scene_make(vm, deal, what->needs, &scene)) {
        scene_choose(&scene, start, n, chosen);
        for (int i = 0; i < scene.count; i++) {
            place_set(&scene.outlook->hosts[scene.row[i]], (int)scene.hosts[i].placed, &places[i]);
            places[i].share = scene.hosts[i].share;
            places[i].end_s = scene.hosts[i].end_s;
            say_why(&scene, i, places[i].why, sizeof places[i].why);
        }
        scene_free(&scene);
    } else {
        result = explain_turn(vm, deal, start, n, places);
    }
    free(chosen);
    return vm->home.lost != 0 ? vm->home.lost : result;
}

int place_explain(struct covey *vm, const struct covey_spawn *what, int n,
                  struct covey_place **places)
{
    struct deal deal;
    int result = deal_make(vm, what, &deal);
    if (result != COVEY_OK)
        return result;
    struct covey_place *list = calloc((size_t)deal.count, sizeof *list);
    int total = what->where == COVEY_WHERE_EACH ? n * deal.count : n;
    result = list == NULL ? error_code(COVEY_ENOMEM) : explain(vm, what, &deal, total, list);
    deal_free(&deal);
    if (result >= 0)
        *places = list;
    else
        free(list);
    return result;
}

/* ---- processors that are free ---------------------------------------------------------------- */

/* Whether both are one host, or share processors. */
static bool same_processors(const struct scene *s, int a, int b)
{
    const struct covey_host_stat *stats = s->outlook->stats;
    uint64_t machine = stats[s->row[a]].machine;
    return s->row[a] == s->row[b] || (machine != 0 && machine == stats[s->row[b]].machine);
}

/* The hosts that share its processors: how many, and how many of them stand before it. */
static int sharers(const struct scene *s, int at, int *before)
{
    int count = 0;
    *before = 0;
    for (int i = 0; i < s->count; i++) {
        bool same = same_processors(s, i, at);
        count += same;
        *before += same && i < at;
    }
    return count;
}

/* The least that any host is. */
static uint8_t scene_withheld(const struct scene *s)
{
    uint8_t least = UINT8_MAX;
    for (int i = 0; i < s->count; i++)
        least = s->hosts[i].withheld < least ? s->hosts[i].withheld : least;
    return least;
}

/* What a host may take: the processors for which nothing competes, or its turn of those that it
 * shares, as far as each task finds its memory. A host with a part of a processor has one, and one
 * that pages or is withheld none. */
static int idle_processors(const struct scene *s, int at)
{
    const struct placement_host *p = &s->hosts[at];
    double memory = (double)s->needs->memory_bytes;
    double free = (p->cores > 1 ? p->cores : 1) - p->demand;
    int before, sharing = sharers(s, at, &before), all = free > 0 ? (int)(free + 0.5) : 0;
    int here = all / sharing + (before < all % sharing);
    if (memory > 0 && p->memory_free >= 0 && p->memory_free < memory * here)
        here = (int)(p->memory_free / memory);
    return p->pages || p->withheld > scene_withheld(s) ? 0 : here;
}

static void say_idle(const struct scene *s, int at, int tasks, char *text, size_t size)
{
    const struct placement_host *p = &s->hosts[at];
    int before, sharing = sharers(s, at, &before);
    char shared[48] = "";
    if (sharing > 1)
        snprintf(shared, sizeof shared, ", which %d hosts share", sharing);
    if (!s->outlook->stats[s->row[at]].known)
        snprintf(text, size, "it does not answer");
    else if (p->withheld > 0)
        snprintf(text, size, "%s", withheld_why(p));
    else if (p->pages)
        snprintf(text, size, "it pages");
    else if (s->needs->memory_bytes > 0 && p->memory_free >= 0 &&
             p->memory_free < (double)s->needs->memory_bytes * (tasks + 1))
        snprintf(text, size, "it has %.0f MiB of free memory", p->memory_free / 1048576);
    else
        snprintf(text, size, "%.1f compete for %.3g core%s%s", p->demand, p->cores,
                 p->cores == 1 ? "" : "s", shared);
}

/* Where no processor is free the host on which a task ends first is taken for one. */
static void scene_idle(struct scene *s, struct covey_place *places)
{
    int total = 0;
    for (int i = 0; i < s->count; i++) {
        int tasks = idle_processors(s, i);
        place_set(&s->outlook->hosts[s->row[i]], tasks, &places[i]);
        say_idle(s, i, tasks, places[i].why, sizeof places[i].why);
        total += tasks;
    }
    if (total > 0)
        return;
    uint32_t best = 0;
    scene_choose(s, 0, 1, &best);
    places[best].tasks = 1;
    say_load(s, (int)best, "no processor is free, a task ends first here", places[best].why,
             sizeof places[best].why);
}

static int deal_idle(struct covey *vm, const struct covey_spawn *what, const struct deal *deal,
                     struct covey_place *places)
{
    struct scene scene;
    if (!scene_make(vm, deal, what->needs, &scene))
        return vm->home.lost != 0 ? vm->home.lost
                                  : error_set(COVEY_EDAEMON, "the hosts' load is not known");
    scene_idle(&scene, places);
    scene_free(&scene);
    return deal->count;
}

int place_idle(struct covey *vm, const struct covey_spawn *what, struct covey_place **places)
{
    struct deal deal;
    int result = deal_make(vm, what, &deal);
    if (result != COVEY_OK)
        return result;
    struct covey_place *list = calloc((size_t)deal.count, sizeof *list);
    result = list == NULL ? error_code(COVEY_ENOMEM) : deal_idle(vm, what, &deal, list);
    deal_free(&deal);
    if (result >= 0)
        *places = list;
    else
        free(list);
    return result;
}
