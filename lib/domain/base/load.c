/*
 * load.c - the place of a team that runs: what memory costs here, and what the monitor knows of its
 * hosts.
 *
 * The demand that a monitor tells is that of all tasks, members of the team too, for they may have
 * computed a moment ago. All members do the same: each is taken to have used the processor as much
 * as the one that asks. Virtual hosts share the processors of a machine.
 */
#include "lib/domain/base/clock.h"
#include "lib/domain/base/error.h"
#include "lib/domain/base/place.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE_US 300000
#define TOUCHED_BYTES ((size_t)2 << 20)
#define PAGE_BYTES 4096

/* ---- First writes ---------------------------------------------------------------------------- */

/* Seconds of the processor a byte, beyond those of writing it again. */
static double measure_touch(void)
{
    unsigned char *memory =
        mmap(NULL, TOUCHED_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return 0;
    double seconds = 0;
    for (int again = 0; again < 2; again++) {
        double begin = domain_processor_s();
        for (size_t at = 0; at < TOUCHED_BYTES; at += PAGE_BYTES)
            *(volatile unsigned char *)(memory + at) = 1;
        seconds += (again ? -1 : 1) * (domain_processor_s() - begin);
    }
    munmap(memory, TOUCHED_BYTES);
    return fmax(seconds, 0) / (double)TOUCHED_BYTES;
}

/* ---- The monitor ----------------------------------------------------------------------------- */

/* What a member used of a processor in the monitor's time, at most one. The monitor's interval may
 * have ended a while ago, so the one before counts, too: what looks like others and is the team's
 * own would make all members seem to be slowed. */
static double own_share(double interval_s)
{
    static _Thread_local double last_s, last_used_s, last_share;
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    double now_s = domain_now_s(), used_s = (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
    double interval = fmax(interval_s, 1e-3), elapsed_s = last_s > 0 ? now_s - last_s : 0;
    double share = (used_s - last_used_s) / fmax(elapsed_s, interval);
    if (last_s > 0 && elapsed_s < interval)
        share += last_share * (1 - elapsed_s / interval);
    double most = fmin(fmax(share, last_share), 1);
    if (last_s <= 0 || elapsed_s >= interval) {
        last_s = now_s;
        last_used_s = used_s;
        last_share = fmin(share, 1);
    }
    return most;
}

struct view {
    const struct covey_host *hosts;
    const struct covey_host_stat *stats;
    int *members; /* of the team, on each host */
    int n, root;  /* the host of rank 0 */
};

static void count_members(covey_team_t *team, struct view *view)
{
    for (int rank = 0; rank < covey_team_size(team); rank++) {
        int host = covey_tid_host(covey_team_tid(team, rank)), at = 0;
        while (at < view->n && view->hosts[at].index != host)
            at++;
        if (at < view->n)
            view->members[at]++;
        if (rank == 0)
            view->root = at;
    }
}

/* Of the machine of the host at that place: its processors, the members on it, the hosts of these
 * and the demand. */
static void look_at_machine(const struct view *view, int at, double own,
                            struct covey_domain_place *place)
{
    const struct covey_host_stat *stats = view->stats;
    double cores = stats[at].cores > 0 ? stats[at].cores : fmax(view->hosts[at].cores, 1);
    double demand = 0, members = 0, hosts = 0;
    for (int i = 0; i < view->n; i++) {
        int is_same = i == at || (stats[at].machine != 0 && stats[i].machine == stats[at].machine);
        int there = is_same ? view->members[i] : 0;
        members += there;
        hosts += there > 0;
        if (is_same && stats[i].known)
            demand = fmax(demand, stats[i].demand);
    }
    double used = fmin(1, own / fmin(cores, 1)) * members; /* a quota leaves less than one */
    double others = fmax(0, demand - used), crowd = fmax(1, members / cores);
    double load = fmax(1, (members + others) / cores / crowd);
    if (place->processors <= 0 || cores / hosts < place->processors)
        place->processors = cores / hosts;
    place->load = fmax(place->load, load);
    if (at == view->root)
        place->load_root = fmax(1, (1 + others) / cores);
}

void domain_place_look(covey_team_t *team, struct covey_domain_place *place)
{
    struct covey_host *hosts = NULL;
    struct covey_host_stat *stats = NULL;
    int n = covey_host_stats(covey_team_vm(team), PATIENCE_US, &hosts, &stats), known = 0;
    struct covey_domain_place seen = *place;
    struct view view = {hosts, stats, calloc((size_t)(n > 0 ? n : 1), sizeof(int)), n, 0};
    seen.processors = 0;
    seen.load = seen.load_root = 1;
    double own = own_share(n > 0 ? stats[0].interval_s : 0);
    if (view.members != NULL)
        count_members(team, &view);
    for (int i = 0; view.members != NULL && i < n; i++) {
        if (!stats[i].known || view.members[i] == 0)
            continue;
        look_at_machine(&view, i, own, &seen);
        known++;
    }
    free(view.members);
    if (known > 0)
        *place = seen;
    covey_free(hosts);
    covey_free(stats);
}

/* ---- All of it ------------------------------------------------------------------------------- */

/* What only rank 0 knows, and what the caller gave it, all members take from it. */
static int share(covey_team_t *team, struct covey_domain_place *place)
{
    struct covey_domain_network *n = &place->network;
    double told[] = {place->processors, place->load, place->load_root, n->hosts,
                     n->alpha_s,        n->beta_s,   n->one_beta_s};
    int error = covey_bcast(team, 0, COVEY_DOUBLE, told, sizeof told / sizeof *told);
    if (error < 0)
        return domain_fail_of(error, "the load of the hosts");
    place->processors = told[0];
    place->load = told[1];
    place->load_root = told[2];
    n->members = covey_team_size(team);
    n->hosts = told[3] >= 1 && told[3] <= n->members ? (int32_t)told[3] : 1;
    n->alpha_s = fmax(told[4], 0);
    n->beta_s = fmax(told[5], 0);
    n->one_beta_s = fmax(told[6], 0);
    return 0;
}

/* ---- What is known of a team ----------------------------------------------------------------- */

#define TEAMS 4
#define FRESH_S 60.0

/* Of the last teams: network and memory, as all members of each learned them together. */
static struct {
    pthread_mutex_t lock;
    int next;
    struct known {
        uint64_t team;
        double at_s;
        struct covey_domain_network network;
        double touch_s;
    } of[TEAMS];
} known = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Of the tids in their order. */
static uint64_t team_hash(const covey_team_t *team)
{
    uint64_t hash = 14695981039346656037u;
    for (int i = 0; i < covey_team_size(team); i++)
        hash = (hash ^ (uint64_t)(uint32_t)covey_team_tid(team, i)) * 1099511628211u;
    return hash;
}

/* Sets what is known; a network that was not measured has no members. */
static void recall(uint64_t team, struct covey_domain_place *place)
{
    pthread_mutex_lock(&known.lock);
    for (int i = 0; i < TEAMS; i++) {
        const struct known *k = &known.of[i];
        if (k->team != team || k->at_s <= 0 || domain_now_s() - k->at_s > FRESH_S)
            continue;
        place->network = k->network;
        place->touch_s = k->touch_s;
    }
    pthread_mutex_unlock(&known.lock);
}

/* In the place of what is known of that team, or of the oldest one. */
static void keep(uint64_t team, const struct covey_domain_place *place)
{
    pthread_mutex_lock(&known.lock);
    int at = 0;
    while (at < TEAMS && (known.of[at].team != team || known.of[at].at_s <= 0))
        at++;
    if (at == TEAMS) {
        at = known.next;
        known.next = (known.next + 1) % TEAMS;
    }
    known.of[at] = (struct known){team, domain_now_s(), place->network, place->touch_s};
    pthread_mutex_unlock(&known.lock);
}

/* Measures what not all members know, but not a network that all were given. */
static int learn(covey_team_t *team, const struct covey_domain_network *given,
                 struct covey_domain_place *place)
{
    uint64_t hash = team_hash(team);
    recall(hash, place);
    int32_t mine[] = {place->network.members > 0, given != NULL, place->touch_s > 0}, all[3] = {0};
    int error = covey_allreduce(team, COVEY_OP_MIN, COVEY_INT32, mine, all, 3);
    if (error < 0)
        return domain_fail_of(error, "measuring the network");
    int has_network = all[0] || all[1];
    if (!has_network)
        error = covey_domain_network(team, &place->network);
    if (error < 0 || (has_network && all[2]))
        return error;
    double touch_s = all[2] ? place->touch_s : measure_touch();
    error = covey_allreduce(team, COVEY_OP_MAX, COVEY_DOUBLE, &touch_s, &place->touch_s, 1);
    if (error < 0)
        return domain_fail_of(error, "the cost of memory");
    keep(hash, place);
    return 0;
}

int domain_place_learn(covey_team_t *team, const struct covey_domain_network *network,
                       struct covey_domain_place *place)
{
    struct covey_domain_place made = {.load = 1, .load_root = 1};
    int error = learn(team, network, &made);
    if (error < 0)
        return error;
    if (network != NULL)
        made.network = *network;
    made.processors = (double)sysconf(_SC_NPROCESSORS_ONLN);
    if (covey_team_rank(team) == 0)
        domain_place_look(team, &made);
    error = share(team, &made);
    if (error == 0)
        *place = made;
    return error;
}
