/*
 * schedule_proof.c - proves a schedule.
 *
 * The messages and the orders among them are a directed graph; the clock of a message holds, for
 * each chain of messages that a sender keeps in order, how many of them precede it. Clocks of all
 * messages are kept, so that any two can be compared.
 *
 * An edge with room for c messages never carries more when no c + 1 of its messages are unordered,
 * that is (Dilworth) when c chains cover them. The fewest chains are found by a bipartite matching
 * of each message with one that may follow it.
 */
#include "proto/schedule/schedule_proof.h"
#include "proto/wire/format.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct proof {
    const struct schedule *schedule;
    const struct network *network;
    char *why;
    size_t edge_count;
    size_t contended;      /* an edge with too many messages in the phase at hand, or edge_count */
    bool shared;           /* two messages at hand share an edge */
    uint64_t *load;        /* by edge */
    uint32_t *carried;     /* by edge: its capacity */
    uint32_t *in_phase;    /* by edge: messages in the phase at hand */
    uint32_t **users;      /* by edge: its messages */
    uint32_t *users_array; /* what they lie in */
    uint32_t *user_count;  /* by edge */
    uint32_t *lanes;       /* by rank: most messages it sends in a phase */
    uint32_t *first_chain; /* by rank */
    uint32_t *chain;       /* by message */
    uint32_t *rank_in_chain;
    uint32_t chain_count;
    uint16_t *clocks;
    uint32_t *before_in_chain; /* by message: the one before it, or UINT32_MAX */
};

#define NONE UINT32_MAX

static int __attribute__((format(printf, 2, 3))) flaw(struct proof *p, const char *format, ...)
{
    FORMAT(p->why, SCHEDULE_PROOF_BYTES, format);
    return 1;
}

#define MESSAGE "%d -> %d in phase %u"
#define SAY(m) (int)(m)->from, (int)(m)->to, (m)->phase

/* ---- Paths, by walking up from both ends ------------------------------------------------- */

static bool is_above(const struct network *n, int above, int node)
{
    while (node >= 0 && node != above)
        node = n->nodes[node].parent;
    return node == above;
}

/* Calls `use` for each directed edge: 2 * node up from the node, 2 * node + 1 down to it. */
static void walk(struct proof *p, uint32_t message, void (*use)(struct proof *, size_t, uint32_t))
{
    const struct network *n = p->network;
    const struct schedule_message *m = &p->schedule->messages[message];

    for (int a = n->leaf[m->from]; !is_above(n, a, n->leaf[m->to]); a = n->nodes[a].parent)
        use(p, 2 * (size_t)a, message);
    for (int b = n->leaf[m->to]; !is_above(n, b, n->leaf[m->from]); b = n->nodes[b].parent)
        use(p, 2 * (size_t)b + 1, message);
}

/* ---- Messages ---------------------------------------------------------------------------- */

static int check_pairs(struct proof *p)
{
    const struct schedule *s = p->schedule;
    size_t ranks = (size_t)s->ranks;
    bool *seen = calloc(ranks + 1, ranks + 1);
    int result = seen != NULL ? 0 : -1;

    for (size_t i = 0; result == 0 && i < s->message_count; i++) {
        const struct schedule_message *m = &s->messages[i];
        bool *pair = &seen[m->from % ranks * ranks + m->to % ranks];
        if (m->from >= ranks || m->to >= ranks || m->from == m->to || m->phase >= s->phases)
            result = flaw(p, MESSAGE " makes no sense", SAY(m));
        else if (*pair)
            result = flaw(p, MESSAGE " is there twice", SAY(m));
        else if (i > 0 && m->phase < m[-1].phase)
            result = flaw(p, MESSAGE " follows a later phase", SAY(m));
        *pair = true;
    }
    free(seen);
    if (result == 0 && s->message_count != ranks * (ranks - 1))
        return flaw(p, "%zu messages are missing", ranks * (ranks - 1) - s->message_count);
    return result;
}

static void add_load(struct proof *p, size_t edge, uint32_t message)
{
    (void)message;
    p->load[edge]++;
}

static void count_use(struct proof *p, size_t edge, uint32_t message)
{
    (void)message;
    p->in_phase[edge]++;
}

static void forget_use(struct proof *p, size_t edge, uint32_t message)
{
    (void)message;
    p->in_phase[edge] = 0;
}

static void measure_edges(struct proof *p)
{
    const struct network *n = p->network;
    uint64_t slowest = UINT64_MAX;

    for (uint32_t i = 0; i < p->schedule->message_count; i++)
        walk(p, i, add_load);
    for (size_t e = 0; e < p->edge_count; e++) {
        if (p->load[e] > 0 && network_rate(n, e) < slowest)
            slowest = network_rate(n, e);
    }
    for (size_t e = 0; e < p->edge_count; e++) {
        uint64_t carried = p->schedule->slots * network_rate(n, e) / slowest;
        p->carried[e] = carried < UINT32_MAX ? (uint32_t)carried : UINT32_MAX;
    }
}

static int check_bound(struct proof *p)
{
    const struct schedule *s = p->schedule;
    uint64_t bound = 0;
    bool equal = s->slots == 1;

    for (size_t e = 0; e < p->edge_count; e++) {
        if (p->load[e] == 0)
            continue;
        uint64_t phases = (p->load[e] + p->carried[e] - 1) / p->carried[e];
        bound = phases > bound ? phases : bound;
        equal &= p->carried[e] == 1;
    }
    if (s->bound != bound)
        return flaw(p, "the bound is %llu phases, not %u", (unsigned long long)bound, s->bound);
    if (s->phases < bound || (equal && s->phases != bound))
        return flaw(p, "%u phases where %u are needed", s->phases, s->bound);
    return 0;
}

static void find_contention(struct proof *p, size_t edge, uint32_t message)
{
    (void)message;
    if (p->in_phase[edge] > p->carried[edge])
        p->contended = edge;
}

static int check_phase(struct proof *p, uint32_t first, uint32_t end)
{
    const struct schedule_message *m = &p->schedule->messages[first];

    for (uint32_t i = first; i < end; i++)
        walk(p, i, count_use);
    for (uint32_t i = first; i < end; i++) {
        uint16_t from = p->schedule->messages[i].from;
        uint32_t sent = p->in_phase[2 * (size_t)p->network->leaf[from]];
        p->lanes[from] = sent > p->lanes[from] ? sent : p->lanes[from];
    }
    for (uint32_t i = first; i < end; i++)
        walk(p, i, find_contention);
    if (p->contended < p->edge_count)
        return flaw(p, "contention in phase %u: %u messages on an edge that carries %u", m->phase,
                    p->in_phase[p->contended], p->carried[p->contended]);
    for (uint32_t i = first; i < end; i++)
        walk(p, i, forget_use);
    return 0;
}

static int check_phases(struct proof *p)
{
    const struct schedule *s = p->schedule;
    int result = 0;

    for (uint32_t first = 0, end; result == 0 && first < s->message_count; first = end) {
        for (end = first + 1; end < s->message_count; end++) {
            if (s->messages[end].phase != s->messages[first].phase)
                break;
        }
        result = check_phase(p, first, end);
    }
    return result;
}

/* ---- Orders ------------------------------------------------------------------------------ */

static uint16_t *clock_of(const struct proof *p, uint32_t message)
{
    return p->clocks + (size_t)message * p->chain_count;
}

static bool precedes(const struct proof *p, uint32_t u, uint32_t v)
{
    return clock_of(p, v)[p->chain[u]] >= p->rank_in_chain[u];
}

/* A sender that sends w messages at a time in some phase starts each when the one w before it has
 * ended. */
static int make_chains(struct proof *p)
{
    const struct schedule *s = p->schedule;
    uint32_t *sent = calloc((size_t)s->ranks + 1, sizeof *sent);

    for (int i = 0; i < s->ranks; i++) {
        p->first_chain[i] = p->chain_count;
        p->chain_count += p->lanes[i];
    }
    uint32_t *last = malloc(sizeof *last * (p->chain_count + 1));
    p->clocks = calloc((size_t)p->chain_count * s->message_count + 1, sizeof *p->clocks);
    if (sent != NULL && last != NULL && p->clocks != NULL) {
        memset(last, 0xff, sizeof *last * (p->chain_count + 1));
        for (uint32_t i = 0; i < s->message_count; i++) {
            uint16_t from = s->messages[i].from;
            uint32_t position = sent[from]++;
            p->chain[i] = p->first_chain[from] + position % p->lanes[from];
            p->rank_in_chain[i] = position / p->lanes[from] + 1;
            p->before_in_chain[i] = last[p->chain[i]];
            last[p->chain[i]] = i;
        }
    }
    int result = sent != NULL && last != NULL && p->clocks != NULL ? 0 : -1;
    free(sent);
    free(last);
    return result;
}

static void include(struct proof *p, uint32_t message, uint32_t before)
{
    uint16_t *mine = clock_of(p, message);
    const uint16_t *theirs = clock_of(p, before);

    for (uint32_t c = 0; c < p->chain_count; c++)
        mine[c] = mine[c] > theirs[c] ? mine[c] : theirs[c];
}

static int make_clocks(struct proof *p)
{
    const struct schedule *s = p->schedule;
    size_t sync = 0;

    for (size_t i = 0; i < s->sync_count; i++) {
        const struct schedule_sync *at = &s->syncs[i];

        if (at->before >= s->message_count || at->after >= s->message_count ||
            s->messages[at->before].phase >= s->messages[at->after].phase)
            return flaw(p, "synchronisation %zu does not order a phase before a later one", i);
        if (i > 0 && (at->after < at[-1].after ||
                      (at->after == at[-1].after && at->before <= at[-1].before)))
            return flaw(p, "synchronisation %zu is out of order or there twice", i);
    }
    for (uint32_t i = 0; i < s->message_count; i++) {
        if (p->before_in_chain[i] != NONE)
            include(p, i, p->before_in_chain[i]);
        for (; sync < s->sync_count && s->syncs[sync].after == i; sync++)
            include(p, i, s->syncs[sync].before);
        clock_of(p, i)[p->chain[i]] = (uint16_t)p->rank_in_chain[i];
    }
    return 0;
}

/* ---- Synchronisations: enough, and none too many ----------------------------------------- */

static void list_user(struct proof *p, size_t edge, uint32_t message)
{
    p->users[edge][p->user_count[edge]++] = message;
}

static int list_users(struct proof *p)
{
    size_t total = 0;

    for (size_t e = 0; e < p->edge_count; e++)
        total += p->load[e];
    p->users_array = malloc(sizeof *p->users_array * (total + 1));
    if (p->users_array == NULL)
        return -1;
    total = 0;
    for (size_t e = 0; e < p->edge_count; e++) {
        p->users[e] = p->users_array + total;
        total += p->load[e];
    }
    for (uint32_t i = 0; i < p->schedule->message_count; i++)
        walk(p, i, list_user);
    return 0;
}

/* The matching of an edge: follower[i] is the user after user i in its chain. */
struct cover {
    const struct proof *proof;
    const uint32_t *users;
    uint32_t count;
    uint32_t *leader; /* of each user: the one before it, or NONE */
    bool *tried;
};

/* An augmenting path from user i: it takes a follower, whose leader finds another one. */
static bool augment(struct cover *c, uint32_t i)
{
    for (uint32_t j = i + 1; j < c->count; j++) {
        if (c->tried[j] || !precedes(c->proof, c->users[i], c->users[j]))
            continue;
        c->tried[j] = true;
        if (c->leader[j] == NONE || augment(c, c->leader[j])) {
            c->leader[j] = i;
            return true;
        }
    }
    return false;
}

static uint32_t count_chains(struct cover *c)
{
    uint32_t chains = c->count;

    memset(c->leader, 0xff, sizeof *c->leader * c->count);
    for (uint32_t i = 0; i < c->count; i++) {
        memset(c->tried, 0, sizeof *c->tried * c->count);
        chains -= augment(c, i);
    }
    return chains;
}

static int check_wide_edge(struct proof *p, size_t edge)
{
    struct cover c = {.proof = p, .users = p->users[edge], .count = p->user_count[edge]};
    int result = -1;

    c.leader = malloc(sizeof *c.leader * c.count);
    c.tried = malloc(sizeof *c.tried * c.count);
    if (c.leader != NULL && c.tried != NULL) {
        uint32_t chains = count_chains(&c);
        result = chains <= p->carried[edge]
                     ? 0
                     : flaw(p, "%u messages may be under way together on an edge that carries %u",
                            chains, p->carried[edge]);
    }
    free(c.leader);
    free(c.tried);
    return result;
}

static int check_narrow_edge(struct proof *p, size_t edge)
{
    for (uint32_t i = 1; i < p->user_count[edge]; i++) {
        uint32_t u = p->users[edge][i - 1], v = p->users[edge][i];
        const struct schedule_message *m = p->schedule->messages;
        if (!precedes(p, u, v))
            return flaw(p, MESSAGE " and " MESSAGE " share an edge and are not ordered", SAY(&m[u]),
                        SAY(&m[v]));
    }
    return 0;
}

static int check_enough(struct proof *p)
{
    int result = list_users(p);

    for (size_t e = 0; result == 0 && e < p->edge_count; e++) {
        if (p->user_count[e] <= p->carried[e])
            continue;
        result = p->carried[e] == 1 ? check_narrow_edge(p, e) : check_wide_edge(p, e);
    }
    return result;
}

static void find_shared(struct proof *p, size_t edge, uint32_t message)
{
    (void)message;
    p->shared |= p->in_phase[edge] > 0;
}

static bool share_edge(struct proof *p, uint32_t u, uint32_t v)
{
    p->shared = false;
    walk(p, u, count_use);
    walk(p, v, find_shared);
    walk(p, u, forget_use);
    return p->shared;
}

static bool implied(const struct proof *p, size_t sync, size_t first, size_t end)
{
    const struct schedule_sync *syncs = p->schedule->syncs;
    uint32_t before = syncs[sync].before, chained = p->before_in_chain[syncs[sync].after];

    if (chained != NONE && precedes(p, before, chained))
        return true;
    for (size_t i = first; i < end; i++) {
        if (i != sync && precedes(p, before, syncs[i].before))
            return true;
    }
    return false;
}

static int check_none_needless(struct proof *p)
{
    const struct schedule *s = p->schedule;

    for (size_t first = 0, end; first < s->sync_count; first = end) {
        for (end = first + 1; end < s->sync_count; end++) {
            if (s->syncs[end].after != s->syncs[first].after)
                break;
        }
        for (size_t i = first; i < end; i++) {
            const struct schedule_message *u = &s->messages[s->syncs[i].before];
            const struct schedule_message *v = &s->messages[s->syncs[i].after];
            if (implied(p, i, first, end))
                return flaw(p, "that " MESSAGE " precedes " MESSAGE " follows from others", SAY(u),
                            SAY(v));
            if (!share_edge(p, s->syncs[i].before, s->syncs[i].after))
                return flaw(p, MESSAGE " and " MESSAGE " share no edge", SAY(u), SAY(v));
        }
    }
    return 0;
}

/* ---- The whole --------------------------------------------------------------------------- */

static int proof_prepare(struct proof *p)
{
    size_t ranks = (size_t)p->schedule->ranks + 1, messages = p->schedule->message_count + 1;
    size_t edges = 2 * (size_t)p->network->node_count;

    p->edge_count = p->contended = edges;
    p->load = calloc(edges, sizeof *p->load);
    p->carried = calloc(edges, sizeof *p->carried);
    p->in_phase = calloc(edges, sizeof *p->in_phase);
    p->users = calloc(edges, sizeof *p->users);
    p->user_count = calloc(edges, sizeof *p->user_count);
    p->lanes = calloc(ranks, sizeof *p->lanes);
    p->first_chain = calloc(ranks, sizeof *p->first_chain);
    p->chain = calloc(messages, sizeof *p->chain);
    p->rank_in_chain = calloc(messages, sizeof *p->rank_in_chain);
    p->before_in_chain = calloc(messages, sizeof *p->before_in_chain);
    return p->load != NULL && p->carried != NULL && p->in_phase != NULL && p->users != NULL &&
                   p->user_count != NULL && p->lanes != NULL && p->first_chain != NULL &&
                   p->chain != NULL && p->rank_in_chain != NULL && p->before_in_chain != NULL
               ? 0
               : -1;
}

static void proof_finish(struct proof *p)
{
    free(p->load);
    free(p->carried);
    free(p->in_phase);
    free(p->users);
    free(p->users_array);
    free(p->user_count);
    free(p->lanes);
    free(p->first_chain);
    free(p->chain);
    free(p->rank_in_chain);
    free(p->before_in_chain);
    free(p->clocks);
}

int schedule_proof(const struct schedule *schedule, const struct network *network,
                   char why[SCHEDULE_PROOF_BYTES])
{
    static int (*const steps[])(struct proof *) = {check_bound, check_phases, make_chains,
                                                   make_clocks, check_enough, check_none_needless};
    struct proof p = {.schedule = schedule, .network = network, .why = why};
    int result = -1;

    why[0] = '\0';
    if (schedule->ranks != network->rank_count)
        return flaw(&p, "it is of %d ranks, not %d", schedule->ranks, network->rank_count);
    if (proof_prepare(&p) == 0)
        result = check_pairs(&p);
    if (result == 0)
        measure_edges(&p);
    for (size_t i = 0; result == 0 && i < sizeof steps / sizeof steps[0]; i++)
        result = steps[i](&p);
    proof_finish(&p);
    return result;
}
