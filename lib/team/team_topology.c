/*
 * team_topology.c - the topology of a team: found by its first member, shared, and made a schedule.
 *
 * All members must carry out the same schedule. So the first one finds the topology and the places
 * of all members in it when the team is made, and tells the others; each makes the schedule for
 * itself, from the same input, when it is first needed.
 */
#include "lib/team/team_topology.h"
#include "lib/drive/call.h"
#include "lib/engine/peer.h"
#include "lib/engine/route.h"
#include "lib/msg/clock.h"
#include "lib/msg/error.h"
#include "lib/schedule/topology.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void team_topology_free(void *extra)
{
    struct team_topology *t = extra;
    if (t == NULL)
        return;
    covey_topology_free(&t->topology);
    covey_schedule_free(&t->schedule);
    pace_plan_destroy(&t->plan);
    free(t->hosts);
    free(t);
}

static struct team_topology *team_topology_create(int size)
{
    struct team_topology *t = calloc(1, sizeof *t);
    int32_t *hosts = calloc((size_t)size, sizeof *hosts);
    if (t == NULL || hosts == NULL) {
        free(t);
        free(hosts);
        error_code(COVEY_ENOMEM);
        return NULL;
    }
    t->hosts = hosts;
    return t;
}

static void take_over(struct covey_team *team, struct team_topology *t)
{
    if (team->extra_free != NULL)
        team->extra_free(team->extra);
    team->extra = t;
    team->extra_free = team_topology_free;
}

/* ---- places ------------------------------------------------------------------------------ */

/* A host of that name, or of what stands before its first dot; or -1. */
static int topology_find_host(const struct topology *tree, const char *name)
{
    char first[64];
    int node = topology_find(tree, name);
    if (node < 0) {
        snprintf(first, sizeof first, "%.*s", (int)strcspn(name, "."), name);
        node = topology_find(tree, first);
    }
    return node >= 0 && !tree->nodes[node].is_switch ? node : -1;
}

static const char *host_name(const struct covey_host *hosts, int count, covey_tid_t tid)
{
    for (int i = 0; i < count; i++) {
        if (hosts[i].index == covey_tid_host(tid))
            return hosts[i].name;
    }
    return "";
}

/* Whether all members have their places, and on that segment. */
static bool share_segment(const struct team_topology *t, int size, int segment)
{
    const struct topology *tree = &t->topology->tree;
    bool all = true;
    for (int i = 0; i < size && all; i++)
        all = t->hosts[i] >= 0 && topology_link_between(tree, t->hosts[i], segment) != NULL;
    return all;
}

/* The places of all members. EINVAL names the hosts that the topology does not have. */
static int find_places(const struct covey_team *team, struct team_topology *t)
{
    struct covey_host *hosts = NULL;
    char missing[400] = "";
    int count = covey_hosts(team->vm, &hosts);
    if (count < 0)
        return count;
    for (int i = 0; i < team->size; i++) {
        const char *name = host_name(hosts, count, team->tids[i]);
        t->hosts[i] = topology_find_host(&t->topology->tree, name);
        if (t->hosts[i] < 0) {
            /* Adds a name to a list for people, once. */
            size_t size = sizeof missing;
            char word[72];
            size_t length = strlen(missing);
            snprintf(word, sizeof word, " %s,", name);
            if (strstr(missing, word) == NULL)
                snprintf(missing + length, size - length, "%s", word);
        }
    }
    covey_free(hosts);
    int segment = topology_segment(&t->topology->tree);
    if (segment >= 0) {
        t->one_medium = share_segment(t, team->size, segment);
        return error_set(COVEY_EINVAL, "the topology has a segment, '%s', which is not scheduled",
                         t->topology->tree.nodes[segment].name);
    }
    if (missing[0] == '\0')
        return COVEY_OK;
    missing[strlen(missing) - 1] = '\0';
    return error_set(COVEY_EINVAL, "the topology has no host%s", missing);
}

/* ---- the team's -------------------------------------------------------------------------- */

/* What the program says itself must be right; what the VM has need not suit this team. */
int team_topology_find(struct covey_team *team, bool *one_medium)
{
    const char *path = getenv("COVEY_TOPOLOGY");
    bool named = path != NULL && path[0] != '\0';
    struct team_topology *t = team_topology_create(team->size);
    *one_medium = false;
    if (t == NULL)
        return COVEY_ENOMEM;
    int error =
        named ? covey_topology_load(path, &t->topology) : covey_vm_topology(team->vm, &t->topology);
    if (error == COVEY_OK)
        error = find_places(team, t);
    *one_medium = t->one_medium;
    if (error == COVEY_OK) {
        take_over(team, t);
        return COVEY_OK;
    }
    snprintf(team->unscheduled, sizeof team->unscheduled, "%s", covey_error_text());
    team_topology_free(t);
    return named ? error : COVEY_OK;
}

static int share(struct covey_team *team, struct team_topology *t)
{
    char *text = NULL;
    int error = COVEY_OK;
    if (team->rank == 0)
        error = covey_topology_print(t->topology, COVEY_TOPOLOGY_FILE, &text);
    uint64_t bytes = text != NULL ? strlen(text) : 0;
    if (error == COVEY_OK)
        error = covey_bcast(team, 0, COVEY_UINT64, &bytes, 1);
    if (error == COVEY_OK && team->rank != 0 && bytes <= TOPOLOGY_BYTES_MAX)
        text = malloc((size_t)bytes + 1);
    if (error == COVEY_OK)
        error = text == NULL ? error_code(COVEY_ENOMEM)
                             : covey_bcast(team, 0, COVEY_UINT8, text, (size_t)bytes);
    if (error == COVEY_OK && team->rank != 0)
        error = covey_topology_parse(text, (size_t)bytes, "the team's topology", &t->topology);
    if (error == COVEY_OK)
        error = covey_bcast(team, 0, COVEY_INT32, t->hosts, (size_t)team->size);
    free(text);
    return error;
}

/* Streams know what is on its way, other ways do not: see pace.h. */
bool team_is_blind(const struct covey_team *team)
{
    return routes[team->vm->self.route].blind;
}

int team_topology_share(struct covey_team *team, bool there, bool blind)
{
    struct team_topology *t = team->extra;
    team->blind = blind;
    if (!there)
        return COVEY_OK;
    if (team->rank != 0)
        t = team_topology_create(team->size);
    if (t == NULL)
        return COVEY_ENOMEM;
    int error = share(team, t);
    if (team->rank == 0)
        return error;
    if (error == COVEY_OK)
        take_over(team, t);
    else
        team_topology_free(t);
    return error;
}

int covey_team_set_topology(covey_team_t *team, const covey_topology_t *topology)
{
    char *text = NULL;
    if (team == NULL)
        return error_set(COVEY_EINVAL, "team topology: NULL");
    if (topology == NULL) {
        take_over(team, NULL);
        snprintf(team->unscheduled, sizeof team->unscheduled, "the program wants no topology");
        return COVEY_OK;
    }
    struct team_topology *t = team_topology_create(team->size);
    if (t == NULL)
        return COVEY_ENOMEM;
    int error = covey_topology_print(topology, COVEY_TOPOLOGY_FILE, &text);
    if (error == COVEY_OK)
        error = covey_topology_parse(text, strlen(text), "the team's topology", &t->topology);
    free(text);
    if (error == COVEY_OK)
        error = find_places(team, t);
    if (error == COVEY_OK)
        take_over(team, t);
    else
        team_topology_free(t);
    return error;
}

/* ---- the schedule ------------------------------------------------------------------------ */

uint64_t topology_payload_rate(const covey_topology_t *topology, int host)
{
    const struct topology *tree = &topology->tree;
    for (int i = 0; i < tree->link_count; i++) {
        if (tree->links[i].a == host) {
            /* What of a link's bits are bytes of messages: 1448 in each frame of 1538. Somewhat
             * more, so that the link never runs dry. */
            uint64_t bits = tree->links[i].rate;
            return bits / 8 * 1448 / 1538 * 103 / 100;
        }
    }
    return 0;
}

static int make_schedule(const struct covey_team *team, struct team_topology *t)
{
    uint64_t start_us = clock_us();
    int error = covey_schedule_create(t->topology, t->hosts, team->size, &t->schedule);
    if (error != COVEY_OK)
        return error;
    if (pace_plan_create(&t->plan, &t->schedule->plan, team->rank, team->blind) != 0) {
        covey_schedule_free(&t->schedule);
        return error_code(COVEY_ENOMEM);
    }
    t->rate = topology_payload_rate(t->topology, t->hosts[team->rank]);
    t->made_s = (double)(clock_us() - start_us) / 1e6;
    return COVEY_OK;
}

const struct team_topology *team_schedule(struct covey_team *team)
{
    struct team_topology *t = team->extra;
    if (t == NULL) {
        error_set(COVEY_ENOENT, "%s", team->unscheduled);
        return NULL;
    }
    if (t->schedule != NULL)
        return t;
    if (make_schedule(team, t) != COVEY_OK)
        return NULL;
    /* Its links, all at once: one after the other, as messages come to need them, each would wait
     * for a turn of the daemons. Of two members one opens. */
    struct call call = call_begin(team->vm);
    for (int i = 0; i < team->rank; i++) {
        struct peer *peer = peer_get(team->vm, (uint32_t)team->tids[i]);
        if (peer != NULL)
            route_open_ahead(team->vm, peer);
    }
    call_end(team->vm, &call, COVEY_OK);
    return t;
}

const covey_schedule_t *covey_team_schedule(covey_team_t *team, double *made_s)
{
    if (team == NULL) {
        error_set(COVEY_EINVAL, "team schedule: NULL");
        return NULL;
    }
    const struct team_topology *t = team_schedule(team);
    if (t != NULL && made_s != NULL)
        *made_s = t->made_s;
    return t == NULL ? NULL : t->schedule;
}
