/* links: libcovey */
/*
 * services_load.c - how long the services of a VM take: what tasks agree on through the daemons.
 *
 *   services_load ROUNDS     by covey run, in three tasks, on three hosts that do not lead
 *
 * Printed is a line for each service: its name, and the median of the rounds in microseconds.
 */
#include <covey.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { RANKS = 3, WARM = 5 };

struct load {
    covey_t *vm;
    covey_team_t *team;
    covey_group_t *group;
    int rank;
    uint64_t number; /* of the token, at the first rank */
};

static int must(int result, const char *what)
{
    if (result >= 0)
        return result;
    fprintf(stderr, "services_load: %s: %s\n", what, covey_error_text());
    exit(1);
}

static double now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

/* ---- the services; each returns how long its round took at the first rank ---- */

static double lock_round(struct load *l, int round)
{
    uint64_t fence;
    double began = now_us();
    (void)round;
    if (l->rank == 0) {
        must(covey_lock(l->vm, "lock", COVEY_FOREVER, &fence), "covey_lock");
        must(covey_unlock(l->vm, "lock", fence), "covey_unlock");
    }
    return now_us() - began;
}

/* Who holds a lock: a question, which changes nothing. */
static double owner_round(struct load *l, int round)
{
    uint64_t fence;
    double began = now_us();
    (void)round;
    if (l->rank == 0)
        covey_lock_owner(l->vm, "lock", &fence);
    return now_us() - began;
}

/* To another host and back: two passes. The first has it when a round begins. */
static double token_round(struct load *l, int round)
{
    uint64_t number = l->number;
    double began = now_us();
    (void)round;
    if (l->rank == 1)
        must(covey_token_request(l->vm, "token", COVEY_FOREVER, &number), "covey_token_request");
    if (l->rank < 2)
        must(covey_token_pass(l->vm, "token", number, covey_team_tid(l->team, 1 - l->rank)),
             "covey_token_pass");
    if (l->rank == 0)
        must(covey_token_request(l->vm, "token", COVEY_FOREVER, &l->number), "covey_token_request");
    return (now_us() - began) / 2;
}

static double barrier_round(struct load *l, int round)
{
    double began = now_us();
    (void)round;
    must(covey_group_barrier(l->group, RANKS, COVEY_FOREVER), "covey_group_barrier");
    return now_us() - began;
}

/* The leader resigns, and hears who leads next. */
static double election_round(struct load *l, int round)
{
    struct covey_leader leader = {0};
    if (l->rank == 0)
        must(covey_elect_stand(l->vm, "office", &leader), "covey_elect_stand");
    must(covey_barrier(l->team), "covey_barrier");
    if (l->rank == 1)
        must(covey_elect_stand(l->vm, "office", &leader), "covey_elect_stand");
    must(covey_barrier(l->team), "covey_barrier");
    double began = now_us();
    (void)round;
    if (l->rank == 0) {
        must(covey_elect_resign(l->vm, "office"), "covey_elect_resign");
        must(covey_elect_leader(l->vm, "office", leader.term, COVEY_FOREVER, &leader),
             "covey_elect_leader");
    }
    double took = now_us() - began;
    must(covey_barrier(l->team), "covey_barrier");
    if (l->rank == 1)
        must(covey_elect_resign(l->vm, "office"), "covey_elect_resign");
    return took;
}

static double propose_round(struct load *l, int round)
{
    struct covey_decision decision = {.bytes = 8};
    double began = now_us();
    if (l->rank == 0)
        must(covey_propose(l->vm, "series", (uint64_t)round + 1, COVEY_FOREVER, &decision),
             "covey_propose");
    return now_us() - began;
}

static const struct service {
    const char *name;
    double (*round)(struct load *l, int round);
} SERVICES[] = {{"lock+unlock", lock_round},  {"owner", owner_round},
                {"token", token_round},       {"barrier", barrier_round},
                {"election", election_round}, {"propose", propose_round}};

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void measure(struct load *l, const struct service *service, int rounds)
{
    double *took = calloc((size_t)rounds, sizeof *took);
    if (took == NULL)
        exit(1);
    for (int i = 0; i < WARM + rounds; i++) {
        must(covey_barrier(l->team), "covey_barrier");
        double us = service->round(l, i);
        if (i >= WARM)
            took[i - WARM] = us;
    }
    qsort(took, (size_t)rounds, sizeof *took, ascending);
    if (l->rank == 0)
        printf("%s %.1f\n", service->name, took[rounds / 2]);
    free(took);
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 100;
    struct load l = {0};

    setvbuf(stdout, NULL, _IOLBF, 0);
    must(covey_join(&l.vm, NULL), "covey_join");
    must(covey_team_world(l.vm, &l.team), "covey_team_world");
    l.rank = covey_team_rank(l.team);
    if (covey_team_size(l.team) != RANKS || rounds < 1) {
        fprintf(stderr, "services_load: %d tasks are needed\n", RANKS);
        return 2;
    }
    must(covey_group_join(l.vm, "all", &l.group), "covey_group_join");
    if (l.rank == 0)
        must(covey_token_create(l.vm, "token", &l.number), "covey_token_create");
    for (size_t i = 0; i < sizeof SERVICES / sizeof SERVICES[0]; i++)
        measure(&l, &SERVICES[i], rounds);
    if (l.rank == 0) { /* another run finds the VM as this one did */
        must(covey_token_destroy(l.vm, "token", l.number), "covey_token_destroy");
        must(covey_forget(l.vm, "series", UINT64_MAX), "covey_forget");
    }
    must(covey_barrier(l.team), "covey_barrier");
    must(covey_group_leave(&l.group), "covey_group_leave");
    covey_team_free(&l.team);
    covey_leave(&l.vm);
    return 0;
}
