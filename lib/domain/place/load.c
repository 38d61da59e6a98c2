/*
 * load.c - the place of a team that runs: what memory costs here, and what the monitor knows of its
 * hosts.
 *
 * Rank 0 asks the monitors of all hosts. They tell of a time that has passed, in which members may
 * have computed: so each member says what it used of the processors then, and that is taken off
 * (others.c). Where rank 0 alone asks, each is taken to have used as much as rank 0.
 */
#include "lib/domain/base/clock.h"
#include "lib/domain/base/error.h"
#include "lib/domain/place/others.h"
#include "lib/domain/place/place.h"
#include "lib/domain/place/used.h"

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
#define HEAVY 1.2 /* a load from which on hosts are told apart */
#define SHARE_ALL 100

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

/* What this process used: of all its threads, and so for all its teams. */
static struct {
    pthread_mutex_t lock;
    struct used_log log;
} used = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void note_used(void)
{
    struct timespec t;
    pthread_mutex_lock(&used.lock);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    used_note(&used.log, domain_now_s(), (double)t.tv_sec + 1e-9 * (double)t.tv_nsec);
    pthread_mutex_unlock(&used.lock);
}

/* The time that a monitor tells of: until so long ago. */
struct span {
    double age_s, length_s; /* length 0: none is known */
};

/* Processors that this process used then. If the monitor looked just now, the reading before is one
 * of the beginning of its next time. */
static double used_in(const struct span *span)
{
    if (!(span->length_s > 0) || !isfinite(span->length_s))
        return 0;
    pthread_mutex_lock(&used.lock);
    double end_s = domain_now_s() - span->age_s;
    const struct used_log *log = &used.log;
    if (log->count > 0 && end_s >= log->readings[log->count - 1].at_s)
        used_keep(&used.log);
    double seconds = used_between(log, end_s - span->length_s, end_s);
    pthread_mutex_unlock(&used.lock);
    return seconds / span->length_s;
}

/* What monitors answered, at rank 0. */
struct answer {
    struct covey_host *hosts;
    struct covey_host_stat *stats;
    int n;
    struct span span; /* of the host of rank 0, and about that of others, which it asks as well */
};

static int place_on(const struct answer *answer, covey_team_t *team, int rank)
{
    int host = covey_tid_host(covey_team_tid(team, rank)), at = 0;
    while (at < answer->n && answer->hosts[at].index != host)
        at++;
    return at;
}

static void ask(covey_team_t *team, struct answer *answer)
{
    *answer = (struct answer){.hosts = NULL};
    answer->n = covey_host_stats(covey_team_vm(team), PATIENCE_US, &answer->hosts, &answer->stats);
    int root = place_on(answer, team, 0);
    if (root < answer->n && answer->stats[root].known)
        answer->span = (struct span){fmax(0, answer->stats[root].age_s),
                                     fmax(0, answer->stats[root].interval_s)};
}

/* Where no host is loaded much, all have the same: what a monitor tells is not sharp. */
static void set_shares(covey_team_t *team, const struct answer *answer, const double *loads,
                       double most, unsigned char *shares)
{
    for (int rank = 0; rank < covey_team_size(team); rank++) {
        int at = place_on(answer, team, rank);
        double load = at < answer->n && most >= HEAVY ? loads[at] : 1;
        shares[rank] = (unsigned char)fmax(round(SHARE_ALL / load), 1);
    }
}

/* `each`: what each member used, or NULL: all as much as this one. */
static void look(covey_team_t *team, const struct answer *answer, const double *each,
                 struct covey_domain_place *place, unsigned char *shares)
{
    size_t n = answer->n > 0 ? (size_t)answer->n : 1;
    int *members = calloc(n, sizeof *members);
    double *used_there = calloc(n, 2 * sizeof *used_there), own = used_in(&answer->span);
    if (members != NULL && used_there != NULL) {
        double *loads = used_there + n;
        for (int rank = 0; rank < covey_team_size(team); rank++) {
            int at = place_on(answer, team, rank);
            if (at < answer->n) {
                members[at]++;
                used_there[at] += each != NULL ? each[rank] : own;
            }
        }
        others_look(&(struct others_view){answer->hosts, answer->stats, members, used_there,
                                          answer->n, place_on(answer, team, 0), loads},
                    place);
        if (shares != NULL)
            set_shares(team, answer, loads, place->load, shares);
    }
    free(members);
    free(used_there);
}

void domain_place_look(covey_team_t *team, struct covey_domain_place *place)
{
    struct answer answer;
    note_used();
    ask(team, &answer);
    look(team, &answer, NULL, place, NULL);
    covey_free(answer.hosts);
    covey_free(answer.stats);
}

/* A collective call: all tell what they used; rank 0 sets the place. */
static int look_together(covey_team_t *team, struct covey_domain_place *place,
                         unsigned char *shares)
{
    int is_root = covey_team_rank(team) == 0;
    double *each = is_root ? calloc((size_t)covey_team_size(team), sizeof *each) : NULL;
    struct answer answer = {.hosts = NULL};
    if (is_root && each == NULL)
        return domain_break(team, domain_fail(COVEY_ENOMEM, "no memory for the load of hosts"));
    note_used();
    if (is_root)
        ask(team, &answer);
    double told[] = {answer.span.age_s, answer.span.length_s};
    int error = covey_bcast(team, 0, COVEY_DOUBLE, told, 2);
    double own = used_in(&(struct span){told[0], told[1]});
    if (error == 0)
        error = covey_gather(team, 0, COVEY_DOUBLE, &own, each, 1);
    if (error == 0 && is_root)
        look(team, &answer, each, place, shares);
    free(each);
    covey_free(answer.hosts);
    covey_free(answer.stats);
    return error < 0 ? domain_fail_of(error, "the load of the hosts") : 0;
}

/* ---- All of it ------------------------------------------------------------------------------- */

/* What only rank 0 knows, and what the caller gave it, all members take from it. */
static int share(covey_team_t *team, struct covey_domain_place *place)
{
    struct covey_domain_network *n = &place->network;
    double told[] = {place->processors, place->load,   place->load_root, n->hosts,       n->alpha_s,
                     n->beta_s,         n->one_beta_s, n->one_alpha_s,   place->capacity};
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
    n->one_alpha_s = fmax(told[7], 0);
    place->capacity = told[8];
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
                       struct covey_domain_place *place, unsigned char *shares)
{
    struct covey_domain_place made = {.load = 1, .load_root = 1};
    int error = learn(team, network, &made);
    if (error < 0)
        return error;
    if (network != NULL)
        made.network = *network;
    made.processors = (double)sysconf(_SC_NPROCESSORS_ONLN);
    if (shares != NULL)
        memset(shares, SHARE_ALL, (size_t)covey_team_size(team));
    error = look_together(team, &made, shares);
    if (error == 0)
        error = share(team, &made);
    if (error == 0)
        *place = made;
    return error;
}
