/*
 * schedule_tree.c - the optimal phases of an all-to-all on a tree of equal links.
 *
 * Seen from its root the network is a set of subtrees t_0, t_1, ..., by falling size. Messages from
 * one subtree to another are a group with consecutive phases (section 4.2, extended ring
 * scheduling); then each group's phases are given to pairs of ranks, and the messages inside a
 * subtree go where the subtree's receiver can send to its sender (section 4.3, six steps). So
 * in a phase each subtree has at most one message out, one in and one inside, which share no edge
 * whatever the subtree looks like (lemma 3).
 *
 * The paper's text leaves three things open, all of which matter: the rotation of step 1 counts
 * from the group's first phase, its receivers count back from the last phase of all, and the rounds
 * of step 2 count from phase 0.
 */
#include "proto/schedule/schedule_tree.h"

#include <stdbool.h>
#include <stdlib.h>

/* The network from its root. Positions in members stand for ranks inside a subtree. */
struct forest {
    int count;           /* subtrees */
    int *size;           /* of each, falling */
    int *first;          /* of each: where its members begin */
    int *members;        /* ranks, subtree after subtree */
    uint32_t phases;     /* T = m_0 (|M| - m_0) */
    uint32_t *sending;   /* member of t_0 that sends in each phase */
    uint32_t *receiving; /* member of t_0 that receives in each phase */
};

/* ---- The root (section 4.1) -------------------------------------------------------------- */

uint64_t schedule_tree_load(const struct network *network)
{
    uint64_t most = 0;
    for (int i = 0; i < network->node_count; i++) {
        uint64_t load = network_load(network, i);
        most = load > most ? load : most;
    }
    return most;
}

/* The ranks on the side of `to` when its link from `from` is cut. */
static int ranks_beyond(const struct network *n, int from, int to)
{
    return n->nodes[to].parent == from ? n->nodes[to].ranks : n->rank_count - n->nodes[from].ranks;
}

/* The neighbour after `at` (-1: the first), or -1: the children, then the parent. */
static int next_neighbour(const struct network *n, int node, int at)
{
    int parent = n->nodes[node].parent;

    if (at >= 0 && at == parent)
        return -1;
    int next = at < 0 ? n->nodes[node].child : n->nodes[at].sibling;
    return next >= 0 ? next : parent;
}

/* The branches of u with ranks, but for v; the last of them in *w. */
static int other_branches(const struct network *n, int u, int v, int *w)
{
    int count = 0;
    for (int at = next_neighbour(n, u, -1); at >= 0; at = next_neighbour(n, u, at)) {
        if (at == v || ranks_beyond(n, u, at) == 0)
            continue;
        *w = at;
        count++;
    }
    return count;
}

int schedule_tree_root(const struct network *network)
{
    int v = 0; /* below the link with the most messages */

    for (int i = 1; i < network->node_count; i++) {
        if (network_load(network, i) > network_load(network, v))
            v = i;
    }
    int u = network->nodes[v].parent, w = u;
    if (2 * network->nodes[v].ranks >= network->rank_count) {
        w = u;
        u = v;
        v = w;
    }
    while (other_branches(network, u, v, &w) == 1) {
        v = u;
        u = w;
    }
    return u;
}

/* ---- Subtrees ---------------------------------------------------------------------------- */

/* The neighbour of the root behind which the rank lies. */
static int branch_of(const struct network *n, int root, int rank)
{
    int node = n->leaf[rank];
    while (n->nodes[node].parent >= 0 && n->nodes[node].parent != root)
        node = n->nodes[node].parent;
    return n->nodes[node].parent == root ? node : n->nodes[root].parent;
}

struct branch {
    int node, size, first_rank;
};

static int by_size(const void *a, const void *b)
{
    const struct branch *x = a, *y = b;
    if (x->size != y->size)
        return y->size - x->size;
    return x->first_rank - y->first_rank;
}

/* Counts the ranks of each branch; slot[node] is the branch's place. */
static int find_branches(const struct network *n, int root, struct branch *branches, int *slot)
{
    int count = 0;

    for (int i = 0; i < n->node_count; i++)
        slot[i] = -1;
    for (int rank = 0; rank < n->rank_count; rank++) {
        int node = branch_of(n, root, rank);
        if (slot[node] < 0) {
            slot[node] = count;
            branches[count++] = (struct branch){.node = node, .first_rank = rank};
        }
        branches[slot[node]].size++;
    }
    qsort(branches, (size_t)count, sizeof *branches, by_size);
    for (int i = 0; i < count; i++)
        slot[branches[i].node] = i;
    return count;
}

static void forest_destroy(struct forest *f)
{
    free(f->size);
    free(f->first);
    free(f->members);
    free(f->sending);
    free(f->receiving);
}

static int forest_allocate(struct forest *f, size_t ranks)
{
    f->size = calloc(ranks, sizeof *f->size);
    f->first = calloc(ranks, sizeof *f->first);
    f->members = calloc(ranks, sizeof *f->members);
    f->sending = calloc(f->phases, sizeof *f->sending);
    f->receiving = calloc(f->phases, sizeof *f->receiving);
    return f->size != NULL && f->first != NULL && f->members != NULL && f->sending != NULL &&
                   f->receiving != NULL
               ? 0
               : -1;
}

static int forest_create(struct forest *f, const struct network *n)
{
    int root = schedule_tree_root(n);
    struct branch *branches = calloc((size_t)n->rank_count, sizeof *branches);
    int *slot = calloc((size_t)n->node_count, sizeof *slot);
    int failed = -1;

    *f = (struct forest){.phases = (uint32_t)schedule_tree_load(n)};
    if (branches != NULL && slot != NULL && forest_allocate(f, (size_t)n->rank_count) == 0) {
        f->count = find_branches(n, root, branches, slot);
        int first = 0;

        for (int i = 0; i < f->count; i++) {
            f->first[i] = first;
            f->size[i] = 0; /* counted again while the members come */
            first += branches[i].size;
        }
        for (int rank = 0; rank < n->rank_count; rank++) {
            int i = slot[branch_of(n, root, rank)];
            f->members[f->first[i] + f->size[i]++] = rank;
        }
        failed = 0;
    }
    free(branches);
    free(slot);
    return failed;
}

/* ---- Groups (section 4.2) ---------------------------------------------------------------- */

static uint32_t size_of(const struct forest *f, int i)
{
    return (uint32_t)f->size[i];
}

/* The ranks of subtrees a .. b. */
static uint32_t ranks_between(const struct forest *f, int a, int b)
{
    if (a > b)
        return 0;
    return (uint32_t)(f->first[b] + f->size[b] - f->first[a]);
}

/* The first phase of the messages t_i -> t_j. */
static uint32_t group_start(const struct forest *f, int i, int j)
{
    if (j > i)
        return size_of(f, i) * ranks_between(f, i + 1, j - 1);
    return f->phases - size_of(f, j) * ranks_between(f, j + 1, i);
}

/* The receiver of t_i in phase p where receivers are aligned to the end: (p - T) mod m_i. */
static uint32_t aligned_receiver(const struct forest *f, int i, uint32_t phase)
{
    uint32_t left = (f->phases - phase) % size_of(f, i);
    return left == 0 ? 0 : size_of(f, i) - left;
}

/* ---- Assignment (section 4.3, Figure 4) -------------------------------------------------- */

static void forest_put(struct schedule *s, const struct forest *f, uint32_t phase,
                       const int subtree[2], const uint32_t member[2])
{
    s->messages[s->message_count++] = (struct schedule_message){
        .phase = phase,
        .from = (uint16_t)f->members[f->first[subtree[0]] + (int)member[0]],
        .to = (uint16_t)f->members[f->first[subtree[1]] + (int)member[1]]};
}

static uint32_t lcm(uint32_t a, uint32_t b)
{
    uint32_t x = a, y = b;
    while (y != 0) {
        uint32_t rest = x % y;
        x = y;
        y = rest;
    }
    return a / x * b;
}

/* Step 2: t_i -> t_0, whose receivers follow its senders as in Table 3. */
static void send_to_largest(struct schedule *s, struct forest *f, int i)
{
    uint32_t m0 = size_of(f, 0), start = group_start(f, i, 0);

    for (uint32_t q = 0; q < size_of(f, i) * m0; q++) {
        uint32_t phase = start + q, round = phase / m0;
        f->receiving[phase] = (f->sending[phase] + round + 1) % m0;
        forest_put(s, f, phase, (const int[]){i, 0},
                   (const uint32_t[]){q / m0, f->receiving[phase]});
    }
}

/* Step 3: inside t_0, from its receiver to its sender. */
static void send_inside_largest(struct schedule *s, const struct forest *f)
{
    uint32_t m0 = size_of(f, 0);

    for (uint32_t phase = 0; phase < m0 * (m0 - 1); phase++)
        forest_put(s, f, phase, (const int[]){0, 0},
                   (const uint32_t[]){f->receiving[phase], f->sending[phase]});
}

/* Steps 4 and 6: t_i -> t_j, neither of them t_0, by the broadcast pattern. */
static void send_between(struct schedule *s, const struct forest *f, int i, int j)
{
    uint32_t mj = size_of(f, j), start = group_start(f, i, j);

    for (uint32_t q = 0; q < size_of(f, i) * mj; q++)
        forest_put(s, f, start + q, (const int[]){i, j}, (const uint32_t[]){q / mj, q % mj});
}

/* Step 5: inside t_i, in the phases of t_i -> t_(i-1), from the designated receiver to the sender;
 * each pair the first time it comes up. `seen` has room for the pairs. */
static void send_inside(struct schedule *s, const struct forest *f, int i, bool *seen)
{
    uint32_t mi = size_of(f, i), mj = size_of(f, i - 1), start = group_start(f, i, i - 1);

    for (uint32_t k = 0; k < mi * mi; k++)
        seen[k] = false;
    for (uint32_t q = 0; q < mi * mj; q++) {
        uint32_t to = q / mj, from = aligned_receiver(f, i, start + q);
        if (from == to || seen[from * mi + to])
            continue;
        seen[from * mi + to] = true;
        forest_put(s, f, start + q, (const int[]){i, i}, (const uint32_t[]){from, to});
    }
}

static void assign(struct schedule *s, struct forest *f, bool *seen)
{
    for (int j = 1; j < f->count; j++) {
        /* Step 1: t_0 -> t_j by the rotate pattern. */
        uint32_t m0 = size_of(f, 0), mj = size_of(f, j), turn = lcm(m0, mj);
        uint32_t start = group_start(f, 0, j);

        for (uint32_t q = 0; q < m0 * mj; q++) {
            uint32_t phase = start + q;
            f->sending[phase] = (q + q / turn) % m0;
            forest_put(s, f, phase, (const int[]){0, j},
                       (const uint32_t[]){f->sending[phase], aligned_receiver(f, j, phase)});
        }
    }
    for (int i = 1; i < f->count; i++)
        send_to_largest(s, f, i);
    send_inside_largest(s, f);
    for (int i = 1; i < f->count; i++) {
        send_inside(s, f, i, seen);
        for (int j = 1; j < f->count; j++) {
            if (j != i)
                send_between(s, f, i, j);
        }
    }
}

int schedule_tree_fill(struct schedule *schedule, const struct network *network)
{
    size_t ranks = (size_t)network->rank_count;
    struct forest f = {0};
    int failed = -1;

    schedule->message_count = 0;
    if (ranks < 3) {
        /* Fewer than three ranks need no root: both directions at once. */
        if (schedule->ranks >= 2) {
            schedule->messages[schedule->message_count++] = (struct schedule_message){0, 0, 1};
            schedule->messages[schedule->message_count++] = (struct schedule_message){0, 1, 0};
        }
        return 0;
    }
    bool *seen = calloc(ranks, ranks);
    if (forest_create(&f, network) == 0 && seen != NULL) {
        assign(schedule, &f, seen);
        failed = 0;
    }
    forest_destroy(&f);
    free(seen);
    return failed;
}
