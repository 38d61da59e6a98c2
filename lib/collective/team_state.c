/*
 * team_state.c - what collectives ask of a team: who is in it, whether it is broken, and whose
 * messages are for nobody any more. Teams are made and freed in lib/team/team.c.
 *
 * Breaking. A member at which a collective fails tells all others by a message, which is looked for
 * in collective_progress(). What was sent to a broken or freed team is for nobody: a context below
 * context_next that no team of this task has. What members send to each other by rank has the same
 * context with the bit CONTEXT_TALK, and ends with it.
 */
#include "lib/calls/cast.h"
#include "lib/collective/collective.h"
#include "lib/collective/collective_step.h"
#include "lib/collective/shared.h"
#include "lib/collective/teams.h"
#include "lib/drive/call.h"
#include "lib/engine/arrival.h"
#include "lib/engine/match.h"
#include "lib/engine/peer.h"
#include "lib/member/trace.h"
#include "lib/member/vm.h"
#include "lib/member/watch.h"
#include "lib/msg/error.h"
#include "lib/msg/message.h"
#include "proto/wire/cursor.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool team_is_dead(const struct covey *vm, uint32_t context)
{
    context &= ~CONTEXT_TALK;
    if (context >= teams_of(vm)->context_next || context < CONTEXT_FIRST)
        return false;
    const struct covey_team *team = teams_of(vm)->first;
    while (team != NULL && team->context != context)
        team = team->next;
    return team == NULL || team->broken != 0;
}

void team_purge(struct covey_team *team)
{
    struct arrival_filter which = {.context = team->context};
    if (team->context == CONTEXT_ASSEMBLY) {
        which.tag = team->abort_tag & ~(LANES - 1);
        which.mask = COVEY_TAG_MAX & ~(LANES - 1);
    }
    arrival_purge(team->vm, &which);
}

void team_record(const struct covey_team *team, const char *name, uint32_t number, uint64_t begun)
{
    struct trace *t = team->vm->trace;
    trace_put(t, &(struct trace_what){.kind = TRACE_COLLECTIVE,
                                      .name = trace_literal(t, name),
                                      .begun = begun,
                                      .peer = team->context,
                                      .tag = (int32_t)number,
                                      .sequence = (uint64_t)team->size});
}

/* ---- what members sent to each other by rank (lib/team/talk.c) ---- */

static void talk_give_up(struct covey *vm, struct covey_req *req, int error, const char *why)
{
    bool taken_back = match_cancel(vm, req);
    assert(taken_back); /* it was posted, or has its message in part */
    req_finish(req, error, why);
}

/* Receives that are posted end before those that have a message in part: theirs would be what the
 * others let go. */
void team_talk_end(struct covey_team *team, int error, const char *why)
{
    struct covey *vm = team->vm;
    const struct arrival_filter all = {.context = team->context | CONTEXT_TALK};
    if (team->context < CONTEXT_FIRST)
        return; /* it is still being made */
    for (struct covey_req *req = vm->inbox.posted, *next; req != NULL; req = next) {
        next = req->next;
        if (req->context == all.context)
            talk_give_up(vm, req, error, why);
    }
    for (int i = 0; i < team->size; i++) {
        const struct peer *peer = peer_find(vm, (uint32_t)team->tids[i]);
        for (struct arrival *a = peer == NULL ? NULL : peer->in.open; a != NULL; a = a->later) {
            if (a->bound != NULL && a->context == all.context)
                talk_give_up(vm, a->bound, error, why);
        }
    }
    arrival_purge(vm, &all);
}

/* ---- breaking ---- */

static void break_here(struct covey_team *team, int error, const char *why)
{
    team->broken = error;
    snprintf(team->broken_text, sizeof team->broken_text, "%s", why);
    for (struct collective *c = team->running, *next; c != NULL; c = next) {
        next = c->next;
        if (c->error == COVEY_OK)
            collective_fail(c, error, why);
    }
    shared_team_broke(team);
    team_purge(team);
    team_talk_end(team, error, why);
    wait_changed(team->vm);
}

void team_break(struct covey_team *team, int error, const char *why)
{
    if (team->broken != 0)
        return;
    break_here(team, error, why);
    collective_tell_all(team);
}

/* What the message says; the one it is about may have ended, which is an error of its own. */
static int abort_read(const struct arrival *a, char *why, size_t size)
{
    bool here = a->msg != NULL; /* there may have been no memory for it */
    struct cursor c =
        cursor_reader(here ? message_bytes(a->msg) : a->preface, here ? (size_t)a->info.bytes : 0);
    char text[160];
    uint8_t head[ITEM_HEADER_BYTES];
    cursor_get_bytes(&c, head, sizeof head);
    int error = cursor_get_i32(&c);
    size_t bytes = cursor_left(&c) < sizeof text - 1 ? cursor_left(&c) : sizeof text - 1;
    if (!cursor_ok(&c))
        bytes = 0;
    memcpy(text, c.at, bytes);
    text[bytes] = '\0';
    bool passed_on = strstr(text, " gave up: ") != NULL;
    if (passed_on)
        snprintf(why, size, "%s", text);
    else
        snprintf(why, size, "task t%x gave up: %.120s", (unsigned)a->info.source, text);
    return error == COVEY_ENOTASK || error == COVEY_EHOSTFAIL ? error : COVEY_ECANCELED;
}

static struct covey_team *team_of(const struct covey *vm, const struct arrival *a)
{
    struct covey_team *team = teams_of(vm)->first;
    while (team != NULL && (team->context != a->context || team->abort_tag != a->info.tag))
        team = team->next;
    return team;
}

/* A message that tells of a team that is being made or is there; or, of one that is not being made
 * any more, or not yet, takes back what its sender said before. False: it waits for its team. */
static bool take_abort(struct covey *vm, struct arrival *a)
{
    char why[160];
    struct covey_team *team = team_of(vm, a);
    if (team != NULL && team->broken == 0) {
        int error = abort_read(a, why, sizeof why);
        team_break(team, error, why); /* the message is gone with the others */
        return true;
    }
    if (team == NULL && a->context >= teams_of(vm)->context_next)
        return false;
    const struct arrival_filter which = {.context = a->context,
                                         .peer = a->peer,
                                         .tag = a->info.tag & ~(LANES - 1),
                                         .mask = COVEY_TAG_MAX & ~(LANES - 1)};
    arrival_purge(vm, &which);
    return true;
}

void team_take_aborts(struct covey *vm)
{
    teams_of(vm)->aborts = false;
    for (struct arrival *a = vm->inbox.unexpected; a != NULL;) {
        bool abort = a->context != 0 && !context_is_talk(a->context) && a->complete &&
                     (a->info.tag & (LANES - 1)) == LANE_ABORT;
        a = abort && take_abort(vm, a) ? vm->inbox.unexpected : a->next;
    }
}

static int rank_in_context(const struct covey *vm, uint32_t context)
{
    const struct covey_team *team = teams_of(vm)->first;
    while (team != NULL && team->context != context)
        team = team->next;
    return team == NULL ? 0 : team->rank;
}

void team_init(struct covey *vm)
{
    static const struct context_owner owner = {
        .is_dead = team_is_dead, .on_arrival = collective_on_arrival, .rank = rank_in_context};
    teams_of(vm)->context_next = CONTEXT_FIRST;
    vm->inbox.contexts = &owner;
}

static int place_compare(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    return (x->tid > y->tid) - (x->tid < y->tid);
}

void team_sort_places(struct covey_team *team)
{
    for (int i = 0; i < team->size; i++)
        team->places[i] = (struct place){.tid = team->tids[i], .rank = i};
    qsort(team->places, (size_t)team->size, sizeof *team->places, place_compare);
}

int covey_team_rank_of(const covey_team_t *team, covey_tid_t tid)
{
    if (team == NULL)
        return error_set(COVEY_EINVAL, "team: NULL");
    const struct place key = {.tid = tid};
    const struct place *found =
        bsearch(&key, team->places, (size_t)team->size, sizeof key, place_compare);
    return found != NULL ? found->rank
                         : error_set(COVEY_ENOTASK, "t%x is not in the team", (unsigned)tid);
}

void team_leave_all(struct covey *vm)
{
    for (struct covey_team *team = teams_of(vm)->first; team != NULL; team = team->next) {
        if (team->broken == 0)
            break_here(team, COVEY_ECANCELED, "the task left the VM");
    }
}

bool team_find_way(const struct covey_team *team)
{
    if (team->hosts == 1)
        return false;
    struct call call = call_begin(team->vm);
    bool way = caster_way(team->vm, team->tids, (size_t)team->size);
    call_end(team->vm, &call, COVEY_OK);
    return way;
}
