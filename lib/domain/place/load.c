/*
 * load.c - what the monitors know of the hosts of a team.
 *
 * Rank 0 asks the monitors of all hosts. They tell of a time that has passed, in which members may
 * have computed: so each member says what it used of the processors then, and that is taken off
 * (others.c). Where rank 0 alone asks, each is taken to have used as much as rank 0.
 */
#include "lib/domain/place/load.h"

#include "lib/domain/base/clock.h"
#include "lib/domain/base/error.h"
#include "lib/domain/place/others.h"
#include "lib/domain/place/place.h"
#include "lib/domain/place/used.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PATIENCE_US 300000
#define FIRST_LOOK_NS 60000000 /* a monitor's first two looks are 50 ms apart */
#define SHARE_ALL 100

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

/* Of a host with members: its monitor has looked only once, and tells the mean load of a minute. */
static int is_new(const struct answer *answer, covey_team_t *team)
{
    for (int rank = 0; rank < covey_team_size(team); rank++) {
        int at = place_on(answer, team, rank);
        if (at < answer->n && answer->stats[at].known && !(answer->stats[at].interval_s > 0))
            return 1;
    }
    return 0;
}

static void ask_once(covey_team_t *team, struct answer *answer)
{
    *answer = (struct answer){.hosts = NULL};
    answer->n = covey_host_stats(covey_team_vm(team), PATIENCE_US, &answer->hosts, &answer->stats);
}

static void answer_free(struct answer *answer)
{
    covey_free(answer->hosts);
    covey_free(answer->stats);
}

/* Where a daemon was just started, it is asked again when it can have looked twice. */
static void ask(covey_team_t *team, struct answer *answer)
{
    ask_once(team, answer);
    if (is_new(answer, team)) {
        nanosleep(&(struct timespec){.tv_nsec = FIRST_LOOK_NS}, NULL);
        answer_free(answer);
        ask_once(team, answer);
    }
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
        double load = at < answer->n && most >= DOMAIN_LOADED ? loads[at] : 1;
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
    answer_free(&answer);
}

int load_look_together(covey_team_t *team, struct covey_domain_place *place, unsigned char *shares)
{
    int is_root = covey_team_rank(team) == 0;
    double *each = is_root ? calloc((size_t)covey_team_size(team), sizeof *each) : NULL;
    struct answer answer = {.hosts = NULL};
    if (is_root && each == NULL)
        return domain_break(team, domain_fail(COVEY_ENOMEM, "no memory for the load of hosts"));
    if (shares != NULL)
        memset(shares, SHARE_ALL, (size_t)covey_team_size(team));
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
    answer_free(&answer);
    return error < 0 ? domain_fail_of(error, "the load of the hosts") : 0;
}
