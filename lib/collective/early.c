/*
 * early.c - hand-overs for exchanges that have not begun here: others may be ahead, and of a team
 * that they have and this task is still making. They are kept, up to a number.
 *
 * One that cannot be kept would be waited for in vain, so the team that it is for ends: at once
 * where it is there, and one that is still to be made with its first exchange. For that the
 * contexts of such teams are noted as a range; no context comes twice.
 */
#include "lib/collective/collective.h"
#include "lib/collective/paced.h"
#include "lib/collective/teams.h"
#include "lib/engine/peer.h"
#include "lib/member/vm.h"
#include "lib/msg/error.h"

#include <stdlib.h>

#define EARLY_SYNCS_MAX 65536 /* how far others may be ahead of the caller */

static struct covey_team *team_of_context(const struct covey *vm, uint32_t context)
{
    struct covey_team *team = teams_of(vm)->first;
    while (team != NULL && team->context != context)
        team = team->next;
    return team;
}

static void sync_drop(struct covey *vm, struct sync **at)
{
    struct sync *sync = *at;
    *at = sync->next;
    teams_of(vm)->early_count--;
    free(sync);
}

void paced_forget(struct covey *vm, uint32_t context)
{
    for (struct sync **at = &teams_of(vm)->early; *at != NULL;) {
        if (context == 0 || (*at)->what.context == context)
            sync_drop(vm, at);
        else
            at = &(*at)->next;
    }
}

int early_error(const struct covey *vm, uint32_t context)
{
    if (teams_of(vm)->early_refused == COVEY_OK || context < teams_of(vm)->early_refused_first ||
        context > teams_of(vm)->early_refused_last)
        return COVEY_OK;
    if (teams_of(vm)->early_refused == COVEY_ENOMEM)
        return error_set(COVEY_ENOMEM, "memory is exhausted: a hand-over could not be kept");
    return error_set(teams_of(vm)->early_refused,
                     "other members were too many exchanges ahead of this one");
}

/* The range of teams that cannot be made any more holds this one, too. */
static void refuse_later(struct covey *vm, uint32_t context, int error)
{
    bool first = teams_of(vm)->early_refused == COVEY_OK;
    if (first || context < teams_of(vm)->early_refused_first)
        teams_of(vm)->early_refused_first = context;
    if (first || context > teams_of(vm)->early_refused_last)
        teams_of(vm)->early_refused_last = context;
    teams_of(vm)->early_refused = first ? error : teams_of(vm)->early_refused;
}

static void refuse(struct covey *vm, uint32_t context, int error)
{
    struct covey_team *team = team_of_context(vm, context);
    paced_forget(vm, context);
    if (team == NULL)
        refuse_later(vm, context, error);
    else if (error == COVEY_ENOMEM)
        team_break(team, error, "memory is exhausted: a hand-over could not be kept");
    else
        team_break(team, error, "other members are too many exchanges ahead of this one");
}

void early_keep(struct covey *vm, const struct control_sync *what, uint32_t source)
{
    if (team_is_dead(vm, what->context) || early_error(vm, what->context) != COVEY_OK)
        return;
    if (teams_of(vm)->early_count >= EARLY_SYNCS_MAX) {
        refuse(vm, what->context, COVEY_ERESOURCE);
        return;
    }
    struct sync *sync = malloc(sizeof *sync);
    if (sync == NULL) {
        refuse(vm, what->context, COVEY_ENOMEM);
        return;
    }
    *sync = (struct sync){.what = *what, .source = source, .next = teams_of(vm)->early};
    teams_of(vm)->early = sync;
    teams_of(vm)->early_count++;
}

struct sync *early_take(struct covey *vm, uint32_t context, uint32_t number)
{
    struct sync *taken = NULL;
    for (struct sync **at = &teams_of(vm)->early; *at != NULL;) {
        struct sync *sync = *at;
        int32_t ahead = (int32_t)(sync->what.number - number);
        if (sync->what.context != context || ahead > 0) {
            at = &sync->next;
        } else if (ahead < 0) {
            sync_drop(vm, at);
        } else {
            *at = sync->next;
            teams_of(vm)->early_count--;
            sync->next = taken;
            taken = sync;
        }
    }
    return taken;
}
