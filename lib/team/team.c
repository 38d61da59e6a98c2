/*
 * team.c - teams: making them, asking them, ending them.
 *
 * Making one. Every member tells the first one the list that it was given and the least context
 * that it could use; the first one answers all with the largest, when all lists are the same: so no
 * two teams of any task have one context. That runs as a collective of a provisional team in the
 * context CONTEXT_ASSEMBLY, with a hash of the list as its number. A task makes one team at a time.
 *
 * One who gave up the making of a team takes back by the message of a broken team (team_state.c)
 * what he had said.
 */
#include "lib/collective/collective.h"
#include "lib/collective/collective_choice.h"
#include "lib/collective/collective_step.h"
#include "lib/collective/paced.h"
#include "lib/collective/shared.h"
#include "lib/collective/teams.h"
#include "lib/drive/call.h"
#include "lib/engine/route.h"
#include "lib/member/part.h"
#include "lib/member/vm.h"
#include "lib/member/watch.h"
#include "lib/msg/clock.h"
#include "lib/msg/error.h"
#include "lib/team/team_topology.h"
#include "proto/wire/list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HELLO_WORDS 4
#define CHOICE_WORDS (HELLO_WORDS + 2) /* where the table is in the answer */
#define REPLY_WORDS (CHOICE_WORDS + 2 * CHOICE_ROWS_MAX)
#define TEAM_MAX (1 << 20) /* members */

/* What a member says, and what the first one answers. */
struct hello {
    uint64_t hash, size, context;
    uint64_t casts;           /* enum team_casts */
    uint64_t topology, blind; /* only answered: whether there is a topology, see team_topology.h */
};

/* ---- the struct ------------------------------------------------------------------------------ */

static void team_unlink(struct covey_team *team)
{
    UNLINK(teams_of(team->vm)->first, team, next);
}

static void team_destroy(struct covey_team *team)
{
    if (team == NULL)
        return;
    if (team->extra_free != NULL)
        team->extra_free(team->extra);
    if (team->kept.free != NULL)
        team->kept.free(team->kept.exchanges);
    shared_team_free(team);
    free(team->tids);
    free(team->places);
    free(team->host_lead);
    free(team->choices);
    free(team);
}

static struct covey_team *team_new(struct covey *vm, const covey_tid_t *tids, int size)
{
    struct covey_team *team = calloc(1, sizeof *team);
    if (team == NULL)
        return NULL;
    team->vm = vm;
    team->size = size;
    team->timeout_us = COVEY_FOREVER;
    team->abort_tag = LANE_ABORT;
    team->tids = calloc((size_t)size, sizeof *team->tids);
    team->places = calloc((size_t)size, sizeof *team->places);
    team->host_lead = calloc((size_t)size, sizeof *team->host_lead);
    team->choices = calloc(1, sizeof *team->choices);
    if (team->tids == NULL || team->places == NULL || team->host_lead == NULL ||
        team->choices == NULL) {
        team_destroy(team);
        return NULL;
    }
    memcpy(team->tids, tids, (size_t)size * sizeof *tids);
    team_sort_places(team);
    team->rank = covey_team_rank_of(team, (covey_tid_t)vm->self.tid);
    /* Which ranks are on one host. */
    for (int i = 0; i < team->size; i++) {
        int lead = 0;
        while (tid_host((uint32_t)team->tids[lead]) != tid_host((uint32_t)team->tids[i]))
            lead++;
        team->host_lead[i] = lead;
        team->hosts += lead == i;
    }
    return team;
}

static void team_link(struct covey_team *team, uint32_t context)
{
    struct covey *vm = team->vm;
    pthread_mutex_lock(&vm->lock);
    team->context = context;
    team->next = teams_of(vm)->first;
    teams_of(vm)->first = team;
    if (context >= CONTEXT_FIRST)
        teams_of(vm)->context_next = context + 1;
    teams_of(vm)->aborts = true; /* one may have come already */
    part_due(vm, PART_TEAMS);
    pthread_mutex_unlock(&vm->lock);
}

/* ---- making one ------------------------------------------------------------------------------ */

static uint64_t hash_tids(const covey_tid_t *tids, int size)
{
    uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a */
    for (int i = 0; i < size; i++)
        hash = (hash ^ (uint64_t)tids[i]) * 0x100000001b3u;
    return hash;
}

static int no_duplicates(const struct covey_team *team)
{
    for (int i = 1; i < team->size; i++) {
        if (team->places[i].tid == team->places[i - 1].tid)
            return error_set(COVEY_EINVAL, "team: task t%x is in it twice",
                             (unsigned)team->places[i].tid);
    }
    return COVEY_OK;
}

static int check_list(const covey_t *vm, const covey_tid_t *tids, int size)
{
    bool own = false;
    for (int i = 0; i < size; i++) {
        if (tids[i] <= 0 || tid_local((uint32_t)tids[i]) == 0 || tid_host((uint32_t)tids[i]) == 0)
            return error_set(COVEY_EINVAL, "team: bad tid %d", (int)tids[i]);
        own = own || (uint32_t)tids[i] == vm->self.tid;
    }
    if (!own)
        return error_set(COVEY_EINVAL, "team: the caller is not in the list");
    return COVEY_OK;
}

/* What the first member has for the others: what it heard of them, or why there is no team. */
struct assembly {
    int error;
    char text[160];
    struct hello hellos[];
};

/* Those who called first are heard; the first member looks whether all were given one list. An
 * error is told to all. */
static int compare_hellos(struct collective *c, void *arg)
{
    struct assembly *o = arg;
    struct hello *h = o->hellos;
    const struct covey_team *team = collective_team(c);
    if (o->error != COVEY_OK)
        return error_set(o->error, "%s", o->text);
    for (int i = 1; i < team->size; i++) {
        if (h[i].hash != h[0].hash || h[i].size != h[0].size)
            return error_set(COVEY_EINVAL, "team: task t%x gave another list of members",
                             (unsigned)team->tids[i]);
        h[0].context = h[i].context > h[0].context ? h[i].context : h[0].context;
        h[0].casts = h[i].casts < h[0].casts ? h[i].casts : h[0].casts;
    }
    uint64_t *reply = collective_memory(c, REPLY_WORDS * sizeof *reply);
    if (reply == NULL)
        return COVEY_OK;
    memcpy(reply, &h[0], sizeof h[0]);
    reply[HELLO_WORDS] = h[0].topology = team->extra != NULL;
    reply[HELLO_WORDS + 1] = h[0].blind = team_is_blind(team);
    choice_encode(team->choices, reply + CHOICE_WORDS);
    size_t words = CHOICE_WORDS + 2 * (size_t)team->choices->count;
    for (int i = 1; i < team->size; i++)
        collective_send(c, i, COVEY_UINT64, reply, words);
    return COVEY_OK;
}

static void agree_first(struct collective *c, struct covey_team *team, struct hello *own)
{
    struct assembly *o = collective_memory(c, sizeof *o + (size_t)team->size * sizeof *o->hellos);
    if (o == NULL)
        return;
    struct hello *h = o->hellos;
    bool one_medium;
    o->error = team_topology_find(team, &one_medium);
    if (o->error == COVEY_OK)
        o->error = choice_load(team->choices, one_medium);
    snprintf(o->text, sizeof o->text, "%s", o->error != COVEY_OK ? covey_error_text() : "");
    h[0] = *own;
    for (int i = 1; i < team->size; i++)
        collective_receive(c, i, COVEY_UINT64, &h[i], HELLO_WORDS);
    collective_fence(c);
    collective_call(c, compare_hellos, o);
    collective_fence(c);
    collective_copy(c, own, h, sizeof *own);
}

/* The answer: context and table of the first member. */
struct reply {
    struct hello *own;
    size_t got;
    uint64_t words[REPLY_WORDS];
};

static int take_reply(struct collective *c, void *arg)
{
    struct reply *r = arg;
    if (r->got < CHOICE_WORDS ||
        !choice_decode(collective_team(c)->choices, r->words + CHOICE_WORDS, r->got - CHOICE_WORDS))
        return error_set(COVEY_EPROTO, "the first member's answer makes no sense");
    r->own->context = r->words[2];
    r->own->casts = r->words[3];
    r->own->topology = r->words[HELLO_WORDS];
    r->own->blind = r->words[HELLO_WORDS + 1];
    return COVEY_OK;
}

static void agree_other(struct collective *c, struct hello *own)
{
    struct reply *r = collective_memory(c, sizeof *r);
    if (r == NULL)
        return;
    r->own = own;
    collective_send(c, 0, COVEY_UINT64, own, HELLO_WORDS);
    collective_fence(c);
    collective_receive_any(c, 0, 0, COVEY_UINT64, r->words, REPLY_WORDS, NULL, &r->got);
    collective_fence(c);
    collective_call(c, take_reply, r);
}

/* All agree on h->context. */
static int context_agree(struct covey_team *team, struct hello *h, int64_t timeout_us)
{
    struct collective *c = NULL;
    team->timeout_us = timeout_us;
    team->calls = (uint32_t)h->hash & (COVEY_TAG_MAX >> LANE_BITS);
    team->abort_tag = (int)(team->calls << LANE_BITS | LANE_ABORT);
    team_link(team, CONTEXT_ASSEMBLY);
    int error = collective_create(team, "team", &c);
    if (error == COVEY_OK && team->rank == 0)
        agree_first(c, team, h);
    else if (error == COVEY_OK)
        agree_other(c, h);
    error = collective_run(error, c);
    pthread_mutex_lock(&team->vm->lock);
    team_unlink(team);
    pthread_mutex_unlock(&team->vm->lock);
    return error;
}

static bool may_assemble(void *context)
{
    return !teams_of(((struct covey *)context))->assembling;
}

/* One team at a time: so each has a context that is larger than those before. */
static int assembly_begin(struct covey *vm, int64_t timeout_us)
{
    struct call call = call_begin(vm);
    int error = call_idle(vm, may_assemble, vm, clock_deadline(timeout_us));
    if (error == COVEY_OK)
        teams_of(vm)->assembling = true;
    return call_end(vm, &call, error);
}

/* Raw Ethernet is what the program chose for all of the team that are on other hosts. */
static bool ether_is_forced(const struct covey_team *team)
{
    bool forced = true;
    struct call call = call_begin(team->vm);
    for (int i = 0; i < team->size; i++) {
        bool other_host = team->host_lead[i] != team->host_lead[team->rank];
        if (other_host)
            forced = forced && route_is_broadcast(team->vm, (uint32_t)team->tids[i]);
    }
    call_end(team->vm, &call, COVEY_OK);
    return forced;
}

static int assemble(struct covey_team *team, int64_t timeout_us)
{
    struct hello h = {.hash = hash_tids(team->tids, team->size),
                      .size = (uint64_t)team->size,
                      .context = teams_of(team->vm)->context_next,
                      .casts = !team_find_way(team)    ? CASTS_NEVER
                               : ether_is_forced(team) ? CASTS_ALWAYS
                                                       : CASTS_BY_TABLE};
    int error = context_agree(team, &h, timeout_us);
    if (error != COVEY_OK)
        return error;
    if (h.context >= CONTEXTS_MAX)
        return error_set(COVEY_ERESOURCE, "team: this task has been in 2^31 teams");
    team->calls = 0;
    team->abort_tag = LANE_ABORT;
    team->timeout_us = COVEY_FOREVER;
    team->casts = h.casts < CASTS_ALWAYS ? (enum team_casts)h.casts : CASTS_ALWAYS;
    team_link(team, (uint32_t)h.context);
    error = team_topology_share(team, h.topology != 0, h.blind != 0);
    if (error == COVEY_OK)
        error = shared_team_join(team);
    if (error == COVEY_OK)
        return error;
    pthread_mutex_lock(&team->vm->lock);
    team_unlink(team);
    pthread_mutex_unlock(&team->vm->lock);
    return error;
}

int covey_team_create(covey_t *vm, const covey_tid_t *tids, int size, int64_t timeout_us,
                      covey_team_t **team)
{
    if (vm == NULL || tids == NULL || team == NULL || size < 1 || size > TEAM_MAX)
        return error_set(COVEY_EINVAL, "team: NULL or a bad number of members");
    int error = check_list(vm, tids, size);
    if (error != COVEY_OK)
        return error;
    struct covey_team *made = team_new(vm, tids, size);
    if (made == NULL)
        return error_code(COVEY_ENOMEM);
    error = no_duplicates(made);
    if (error == COVEY_OK)
        error = assembly_begin(vm, timeout_us);
    if (error == COVEY_OK) {
        error = assemble(made, timeout_us);
        struct call call = call_begin(vm);
        teams_of(vm)->assembling = false;
        wait_changed(vm);
        call_end(vm, &call, COVEY_OK);
    }
    if (error == COVEY_OK) {
        *team = made;
        return error;
    }
    team_destroy(made);
    return error;
}

/* ---- asking ---------------------------------------------------------------------------------- */

static int team_check(const covey_team_t *team)
{
    return team == NULL ? error_set(COVEY_EINVAL, "team: NULL") : COVEY_OK;
}

int covey_team_rank(const covey_team_t *team)
{
    return team_check(team) != COVEY_OK ? COVEY_EINVAL : team->rank;
}

int covey_team_size(const covey_team_t *team)
{
    return team_check(team) != COVEY_OK ? COVEY_EINVAL : team->size;
}

covey_tid_t covey_team_tid(const covey_team_t *team, int rank)
{
    if (team_check(team) != COVEY_OK || rank < 0 || rank >= team->size)
        return error_set(COVEY_EINVAL, "team: NULL or no rank %d", rank);
    return team->tids[rank];
}

covey_t *covey_team_vm(const covey_team_t *team)
{
    return team_check(team) != COVEY_OK ? NULL : team->vm;
}

int covey_team_set_timeout(covey_team_t *team, int64_t timeout_us)
{
    if (team_check(team) != COVEY_OK || (timeout_us < 0 && timeout_us != COVEY_FOREVER))
        return error_set(COVEY_EINVAL, "team: NULL or a bad timeout");
    team->timeout_us = timeout_us;
    return COVEY_OK;
}

/* ---- ending ---------------------------------------------------------------------------------- */

/* A request of it that the program still has is done then, and stays the program's. */
/* Under way, by requests. */
static bool has_calls(const struct covey_team *team)
{
    return team->running != NULL || team->shared.reqs > 0;
}

void covey_team_free(covey_team_t **team)
{
    if (team == NULL || *team == NULL)
        return;
    struct covey_team *freed = *team;
    struct covey *vm = freed->vm;
    *team = NULL;
    struct call call = call_begin(vm);
    if (has_calls(freed))
        team_break(freed, COVEY_ECANCELED, "a member freed the team");
    const struct timespec pause = {.tv_nsec = 1000000};
    while (has_calls(freed)) { /* it computes, or a send has no memory for a copy */
        pthread_mutex_unlock(&vm->lock);
        nanosleep(&pause, NULL);
        pthread_mutex_lock(&vm->lock);
    }
    team_unlink(freed);
    team_purge(freed);
    team_talk_end(freed, COVEY_ECANCELED, "the team was freed");
    paced_forget(vm, freed->context);
    call_end(vm, &call, COVEY_OK);
    team_destroy(freed);
}

/* Collectives that are still under way are gone with the requests they had; the program must not
 * use its own any more. */
void team_free_all(struct covey *vm)
{
    while (teams_of(vm)->first != NULL) {
        struct covey_team *team = teams_of(vm)->first;
        teams_of(vm)->first = team->next;
        for (struct collective *c; (c = team->running) != NULL; collective_destroy(c))
            team->running = c->next;
        team_destroy(team);
    }
    paced_forget(vm, 0);
    shared_offers_free(vm);
    collective_bury_all(vm);
    op_free_all(vm);
}
