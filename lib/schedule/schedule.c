/*
 * schedule.c - schedules of all-to-all for programs: made from a topology, walked, proven, printed.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "lib/msg/error.h"
#include "lib/schedule/topology.h"
#include "proto/schedule/schedule_proof.h"

#define SEED 1 /* of the search: one topology has one schedule */

_Static_assert(sizeof(struct covey_schedule_message) == sizeof(struct schedule_message) &&
                   offsetof(struct covey_schedule_message, to) ==
                       offsetof(struct schedule_message, to),
               "messages are handed out as they are");
_Static_assert(sizeof(struct covey_schedule_sync) == sizeof(struct schedule_sync) &&
                   offsetof(struct covey_schedule_sync, after) ==
                       offsetof(struct schedule_sync, after),
               "synchronisations are handed out as they are");

/* ---- Making ------------------------------------------------------------------------------ */

static int check_hosts(const struct topology *t, const int32_t *hosts, int ranks)
{
    int count = hosts != NULL ? ranks : t->host_count;

    if (count < 0 || count > NETWORK_RANKS_MAX)
        return error_set(COVEY_EINVAL, "a schedule is for at most %d ranks, not %d",
                         NETWORK_RANKS_MAX, count);
    if (topology_segment(t) >= 0)
        return error_set(
            COVEY_EINVAL,
            "the hosts of segment '%s' share one medium: no schedule makes them faster",
            t->nodes[topology_segment(t)].name);
    for (int i = 0; hosts != NULL && i < ranks; i++) {
        if (hosts[i] < 0 || hosts[i] >= t->node_count || t->nodes[hosts[i]].is_switch)
            return error_set(COVEY_EINVAL, "rank %d: node %" PRId32 " is no host of the topology",
                             i, hosts[i]);
    }
    return COVEY_OK;
}

static int name_ranks(struct covey_schedule *s, const struct topology *t, const int32_t *hosts)
{
    int *seen = calloc((size_t)t->node_count, sizeof *seen);

    s->names = calloc((size_t)s->network.rank_count + 1, sizeof *s->names);
    for (int i = 0; seen != NULL && s->names != NULL && i < s->network.rank_count; i++) {
        int host = hosts != NULL ? hosts[i] : s->network.leaf[i];
        if (s->network.nodes[host].ranks == 1)
            snprintf(s->names[i], sizeof s->names[i], "%s", t->nodes[host].name);
        else
            snprintf(s->names[i], sizeof s->names[i], "%s:%d", t->nodes[host].name, seen[host]++);
    }
    free(seen);
    return seen != NULL && s->names != NULL ? 0 : -1;
}

int covey_schedule_create(const covey_topology_t *topology, const int32_t *hosts, int ranks,
                          covey_schedule_t **schedule)
{
    int error = check_hosts(&topology->tree, hosts, ranks);
    struct covey_schedule *made = error == COVEY_OK ? calloc(1, sizeof *made) : NULL;

    if (error != COVEY_OK)
        return error;
    if (made != NULL && network_create(&made->network, &topology->tree, hosts, ranks) == 0 &&
        schedule_create(&made->plan, &made->network, SEED) == 0 &&
        name_ranks(made, &topology->tree, hosts) == 0) {
        *schedule = made;
        return COVEY_OK;
    }
    covey_schedule_free(&made);
    return error_code(COVEY_ENOMEM);
}

void covey_schedule_free(covey_schedule_t **schedule)
{
    struct covey_schedule *s = *schedule;

    if (s == NULL)
        return;
    schedule_destroy(&s->plan);
    network_destroy(&s->network);
    free(s->names);
    free(s);
    *schedule = NULL;
}

/* ---- Walking ----------------------------------------------------------------------------- */

void covey_schedule_info(const covey_schedule_t *schedule, struct covey_schedule_info *info)
{
    const struct schedule *s = &schedule->plan;

    *info = (struct covey_schedule_info){.ranks = s->ranks,
                                         .phases = s->phases,
                                         .bound = s->bound,
                                         .slots = s->slots,
                                         .messages = s->message_count,
                                         .syncs = s->sync_count};
}

const struct covey_schedule_message *covey_schedule_messages(const covey_schedule_t *schedule)
{
    return (const struct covey_schedule_message *)(const void *)schedule->plan.messages;
}

const struct covey_schedule_sync *covey_schedule_syncs(const covey_schedule_t *schedule)
{
    return (const struct covey_schedule_sync *)(const void *)schedule->plan.syncs;
}

const char *covey_schedule_rank_name(const covey_schedule_t *schedule, int rank)
{
    return rank >= 0 && rank < schedule->plan.ranks ? schedule->names[rank] : NULL;
}

int covey_schedule_check(const covey_schedule_t *schedule)
{
    char why[SCHEDULE_PROOF_BYTES];
    int result = schedule_proof(&schedule->plan, &schedule->network, why);

    if (result < 0)
        return error_code(COVEY_ENOMEM);
    return result == 0 ? COVEY_OK : error_set(COVEY_EPROTO, "the schedule is wrong: %s", why);
}

/* ---- Printing ---------------------------------------------------------------------------- */

static void schedule_print_text(const void *schedule, FILE *out)
{
    const struct covey_schedule *s = schedule;
    const struct schedule *p = &s->plan;

    for (size_t i = 0; i < p->message_count; i++) {
        const struct schedule_message *m = &p->messages[i];
        fprintf(out, "phase %" PRIu32 " %s %s\n", m->phase, s->names[m->from], s->names[m->to]);
    }
    for (size_t i = 0; i < p->sync_count; i++) {
        const struct schedule_message *a = &p->messages[p->syncs[i].before];
        const struct schedule_message *b = &p->messages[p->syncs[i].after];
        fprintf(out, "sync %" PRIu32 " %s %s %" PRIu32 " %s %s\n", a->phase, s->names[a->from],
                s->names[a->to], b->phase, s->names[b->from], s->names[b->to]);
    }
    fprintf(out, "# hosts=%d messages=%zu phases=%" PRIu32 " bound=%" PRIu32 " syncs=%zu\n",
            p->ranks, p->message_count, p->phases, p->bound, p->sync_count);
}

int covey_schedule_print(const covey_schedule_t *schedule, int form, char **text)
{
    static void (*const forms[])(const void *, FILE *) = {
        [COVEY_SCHEDULE_TEXT] = schedule_print_text,
        [COVEY_SCHEDULE_C] = schedule_print_covey,
        [COVEY_SCHEDULE_MPI] = schedule_print_mpi,
    };

    if (form < COVEY_SCHEDULE_TEXT || form > COVEY_SCHEDULE_MPI)
        return error_set(COVEY_EINVAL, "there is no form %d of a schedule", form);
    return topology_print_text(forms[form], schedule, text);
}
