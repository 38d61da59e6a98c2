/*
 * learn.c - the place of a team that runs: network and memory are measured, and kept for a while.
 *
 * Where some hosts are loaded and some are not, members of the latter measure the network once more
 * among them: members on loaded hosts answer late, and what all measured is what that costs.
 */
#include "lib/domain/base/agree.h"
#include "lib/domain/base/clock.h"
#include "lib/domain/base/error.h"
#include "lib/domain/place/load.h"
#include "lib/domain/place/place.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

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

/* ---- Those at rest --------------------------------------------------------------------------- */

/* Members that are at rest measure; all get what they found. */
static int learn_among(covey_team_t *team, int is_in, struct covey_domain_network *found)
{
    covey_team_t *part = NULL;
    struct covey_domain_place place = {.load = 1};
    int error = covey_team_split(team, is_in ? 0 : -1, covey_team_rank(team), &part);
    if (error < 0)
        return domain_fail_of(error, "measuring the network");
    if (part != NULL)
        error = learn(part, NULL, &place);
    covey_team_free(&part);
    error = domain_agree(team, error, "measuring the network");
    const struct covey_domain_network *n = &place.network;
    double mine[] = {n->hosts, n->alpha_s, n->beta_s, n->one_beta_s, n->one_alpha_s}, all[5];
    if (error == 0)
        error = covey_allreduce(team, COVEY_OP_MAX, COVEY_DOUBLE, mine, all, 5);
    if (error < 0)
        return error;
    found->hosts = (int32_t)all[0];
    found->alpha_s = all[1];
    found->beta_s = all[2];
    found->one_beta_s = all[3];
    found->one_alpha_s = all[4];
    return 0;
}

/* A network that was given is that of any members. */
static int learn_at_rest(covey_team_t *team, const struct covey_domain_network *given,
                         const unsigned char *shares, struct covey_domain_network *at_rest)
{
    int size = covey_team_size(team), count = 0;
    for (int rank = 0; rank < size; rank++)
        count += domain_is_at_rest(shares[rank]);
    if (count == 0 || count == size)
        return 0;
    int error = 0;
    if (given != NULL)
        *at_rest = *given;
    else
        error = learn_among(team, domain_is_at_rest(shares[covey_team_rank(team)]), at_rest);
    at_rest->members = count;
    if (at_rest->hosts > count)
        at_rest->hosts = count;
    return error;
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

/* Rank 0 knows the shares. */
static int share_out(covey_team_t *team, const struct covey_domain_network *given,
                     unsigned char *shares, struct covey_domain_place *place)
{
    int error = covey_bcast(team, 0, COVEY_BYTES, shares, (size_t)covey_team_size(team));
    return error < 0 ? domain_fail_of(error, "the load of the hosts")
                     : learn_at_rest(team, given, shares, &place->at_rest);
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
    error = load_look_together(team, &made, shares);
    if (error == 0)
        error = share(team, &made);
    if (error == 0 && shares != NULL)
        error = share_out(team, network, shares, &made);
    if (error == 0)
        *place = made;
    return error;
}
