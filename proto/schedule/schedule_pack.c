/*
 * schedule_pack.c - packs an all-to-all into a given number of phases, where an edge carries in
 * each as many messages as its rate allows.
 *
 * With capacities above 1 the structure that Faraj & Yuan use is gone, and this is a search. Each
 * message begins at the phase that a ring would give it, and takes the first one from there that
 * has room on its whole path; a bit per edge and phase says where room is, so that 64 phases are
 * looked at together. A message that finds none takes the place of another one: of several phases
 * in which one edge of its path is full, one is preferred where a message of that edge can go
 * elsewhere at once. That one goes on in the same way. The search gives up after a number of steps.
 *
 * Where phases are few, rounding up to whole ones would cost much. The last phase is therefore made
 * as short as the messages that the others cannot carry allow, and longer in steps.
 */
#include "proto/schedule/schedule_pack.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS_MAX 32
#define COUNTS_MAX ((size_t)1 << 28) /* edges times phases: beyond, there is no search */
#define TRIES 12        /* places that a message looks at before it displaces another */
#define STEPS_MAX 60000 /* displacements, */
#define STEPS_FEW 20000 /* and for few phases, where several lengths of the last one are tried */
#define HARDNESS 64
#define FEW 40    /* phases: with more of them a part of one matters less than what is allowed */
#define LENGTHS 4 /* of the last of few phases are tried */
#define NONE UINT32_MAX

/* How long a phase is: as long as so many messages take on a link of that rate. */
struct span {
    uint64_t messages, rate;
};

struct packing {
    const struct network *network;
    struct schedule *schedule;
    uint32_t phases;
    size_t words;       /* of a set of phases */
    size_t edges;       /* directed */
    uint32_t *capacity; /* by edge */
    uint32_t *at_last;  /* by edge: its capacity in the last phase, which may be shorter */
    uint16_t *count;    /* by edge and phase: messages there */
    uint64_t *full;     /* by edge: the set of phases without room */
    size_t *path_first; /* by message, and one more */
    uint16_t *path;     /* edges of all messages, one after the other */
    uint32_t *next;     /* by message: the next one in its phase */
    uint32_t *previous; /* by message: the one before it, or NONE */
    uint32_t *head;     /* by phase: a message, or NONE */
    uint32_t *waiting;  /* messages without a phase */
    size_t wait_count;
    uint64_t *none_full; /* sets of phases, for the message at hand: where no edge is full, */
    uint64_t *one_full;  /* and where one is */
    uint64_t random;
};

/* ---- Bounds ------------------------------------------------------------------------------ */

static uint32_t capacity_at(const struct network *n, int node, struct span span)
{
    uint64_t load = network_load(n, node),
             carried = span.messages * n->nodes[node].rate / span.rate;
    return (uint32_t)(carried < load ? carried : load);
}

static struct span span_of(const struct network *n, uint32_t slots)
{
    return (struct span){slots, network_slowest(n)};
}

uint32_t schedule_pack_capacity(const struct network *network, int node, uint32_t slots)
{
    return capacity_at(network, node, span_of(network, slots));
}

uint32_t schedule_pack_bound(const struct network *network, uint32_t slots)
{
    struct span span = span_of(network, slots);
    uint64_t most = 0;

    for (int i = 0; i < network->node_count; i++) {
        uint64_t load = network_load(network, i);
        if (load == 0)
            continue;
        uint64_t carried = capacity_at(network, i, span);
        uint64_t phases = (load + carried - 1) / carried;
        most = phases > most ? phases : most;
    }
    return (uint32_t)most;
}

double schedule_pack_time(const struct network *network)
{
    double most = 0, slowest = (double)network_slowest(network);

    for (int i = 0; i < network->node_count; i++) {
        uint64_t load = network_load(network, i);
        double time = load ? (double)load * slowest / (double)network->nodes[i].rate : 0;
        most = time > most ? time : most;
    }
    return most;
}

/* ---- Places ------------------------------------------------------------------------------ */

static uint32_t random_below(struct packing *p, uint32_t limit)
{
    p->random ^= p->random << 13;
    p->random ^= p->random >> 7;
    p->random ^= p->random << 17;
    return (uint32_t)((p->random >> 32) * limit >> 32);
}

static size_t path_of(const struct packing *p, uint32_t message, const uint16_t **edges)
{
    *edges = p->path + p->path_first[message];
    return p->path_first[message + 1] - p->path_first[message];
}

static bool is_full(const struct packing *p, size_t edge, uint32_t phase)
{
    return p->full[edge * p->words + phase / 64] >> phase % 64 & 1;
}

static void count_edge(struct packing *p, size_t edge, uint32_t phase, int by)
{
    uint16_t *count = &p->count[edge * p->phases + phase];
    uint64_t bit = (uint64_t)1 << phase % 64, *word = &p->full[edge * p->words + phase / 64];

    *count = (uint16_t)(*count + by);
    *word = *count >= p->capacity[edge] ? *word | bit : *word & ~bit;
}

static void packing_place(struct packing *p, uint32_t message, uint32_t phase)
{
    const uint16_t *edges;
    size_t length = path_of(p, message, &edges);
    uint32_t next = p->head[phase];

    for (size_t k = 0; k < length; k++)
        count_edge(p, edges[k], phase, 1);
    p->schedule->messages[message].phase = phase;
    p->next[message] = next;
    p->previous[message] = NONE;
    p->head[phase] = message;
    if (next != NONE)
        p->previous[next] = message;
}

static void displace(struct packing *p, uint32_t message)
{
    const uint16_t *edges;
    size_t length = path_of(p, message, &edges);
    uint32_t phase = p->schedule->messages[message].phase;
    uint32_t next = p->next[message], previous = p->previous[message];

    for (size_t k = 0; k < length; k++)
        count_edge(p, edges[k], phase, -1);
    if (next != NONE)
        p->previous[next] = previous;
    if (previous != NONE)
        p->next[previous] = next;
    else
        p->head[phase] = next;
    p->waiting[p->wait_count++] = message;
}

/* How many phases, from the first on, the message can be in: a short last one may carry nothing on
 * some edge. */
static uint32_t places_of(const struct packing *p, uint32_t message)
{
    const uint16_t *edges;
    size_t length = path_of(p, message, &edges);

    for (size_t k = 0; k < length; k++) {
        if (p->at_last[edges[k]] == 0)
            return p->phases - 1;
    }
    return p->phases;
}

/* The first `places` phases, as far as they are in the word of a set. */
static uint64_t places_in(uint32_t places, size_t word)
{
    if (places >= 64 * (word + 1))
        return ~(uint64_t)0;
    return places <= 64 * word ? 0 : ((uint64_t)1 << places % 64) - 1;
}

/* Fills the sets of phases of a message; whether there is one with room. */
static bool look_around(struct packing *p, uint32_t message)
{
    const uint16_t *edges;
    size_t length = path_of(p, message, &edges);
    uint32_t places = places_of(p, message);
    uint64_t found = 0;

    for (size_t w = 0; w < p->words; w++) {
        uint64_t once = 0, twice = 0;
        for (size_t k = 0; k < length; k++) {
            uint64_t full = p->full[edges[k] * p->words + w];
            twice |= once & full;
            once |= full;
        }
        uint64_t valid = places_in(places, w);
        p->none_full[w] = ~once & valid;
        p->one_full[w] = once & ~twice & valid;
        found |= p->none_full[w];
    }
    return found != 0;
}

static bool packing_has_room(const struct packing *p, uint32_t message)
{
    const uint16_t *edges;
    size_t length = path_of(p, message, &edges);

    for (size_t w = 0; w < p->words; w++) {
        uint64_t once = ~places_in(p->phases, w);
        for (size_t k = 0; k < length; k++)
            once |= p->full[edges[k] * p->words + w];
        if (~once)
            return true;
    }
    return false;
}

/* The first phase of the set from `start` on, going round; NONE for an empty set. */
static uint32_t first_from(const struct packing *p, const uint64_t *set, uint32_t start)
{
    size_t word = start / 64;
    uint64_t bits = set[word] & ~(uint64_t)0 << start % 64;

    for (size_t i = 0; i <= p->words; i++) {
        if (bits)
            return (uint32_t)(word * 64) + (uint32_t)__builtin_ctzll(bits);
        word = word + 1 == p->words ? 0 : word + 1;
        bits = set[word];
    }
    return NONE;
}

/* ---- The search -------------------------------------------------------------------------- */

/* One of the messages in the phase that use the edge. */
static uint32_t pick_user(struct packing *p, size_t edge, uint32_t phase)
{
    uint32_t picked = NONE, seen = 0;

    for (uint32_t m = p->head[phase]; m != NONE; m = p->next[m]) {
        const uint16_t *edges;
        size_t length = path_of(p, m, &edges), k = 0;
        while (k < length && edges[k] != edge)
            k++;
        if (k < length && random_below(p, ++seen) == 0)
            picked = m;
    }
    return picked;
}

static size_t full_edge(const struct packing *p, uint32_t message, uint32_t phase)
{
    const uint16_t *edges;
    size_t length = path_of(p, message, &edges), k = 0;

    while (k < length && !is_full(p, edges[k], phase))
        k++;
    return k < length ? edges[k] : p->edges;
}

/* Displaces whatever is in the way of the message in the phase. */
static void clear_way(struct packing *p, uint32_t message, uint32_t phase)
{
    for (;;) {
        size_t edge = full_edge(p, message, phase);
        if (edge == p->edges)
            return;
        displace(p, pick_user(p, edge, phase));
    }
}

/* Takes the place of another message. */
static void push_in(struct packing *p, uint32_t message)
{
    uint32_t phase = first_from(p, p->one_full, random_below(p, p->phases)), user = NONE;

    for (int i = 0; phase != NONE && i < TRIES; i++) {
        user = pick_user(p, full_edge(p, message, phase), phase);
        if (packing_has_room(p, user))
            break;
        phase = first_from(p, p->one_full, random_below(p, p->phases));
    }
    if (phase == NONE) {
        phase = random_below(p, places_of(p, message));
        clear_way(p, message, phase);
    } else if (p->schedule->messages[user].phase == phase) {
        displace(p, user);
    } else {
        clear_way(p, message, phase);
    }
    packing_place(p, message, phase);
}

/* Where a ring has the message: the receiver after the sender in the first phases, and so on. */
static uint32_t ring_phase(const struct packing *p, uint32_t message)
{
    const struct schedule_message *m = &p->schedule->messages[message];
    uint32_t ranks = (uint32_t)p->network->rank_count;
    uint32_t step = (m->to + ranks - m->from - 1) % ranks;
    return (uint32_t)((uint64_t)step * p->phases / (ranks - 1));
}

static bool search(struct packing *p)
{
    int steps = 0, most = p->phases <= FEW ? STEPS_FEW : STEPS_MAX;

    while (p->wait_count > 0 && steps < most) {
        uint32_t message = p->waiting[--p->wait_count];
        if (look_around(p, message)) {
            packing_place(p, message, first_from(p, p->none_full, ring_phase(p, message)));
            continue;
        }
        push_in(p, message);
        steps++;
    }
    return p->wait_count == 0;
}

/* ---- Setting up -------------------------------------------------------------------------- */

static size_t path_total(const struct network *n)
{
    size_t total = 0;
    for (int i = 0; i < n->node_count; i++)
        total += 2 * network_load(n, i);
    return total;
}

/* What does not depend on the number of phases. */
static int packing_create(struct packing *p)
{
    size_t messages = p->schedule->message_count;
    int *scratch = calloc((size_t)p->network->path_max + 1, sizeof *scratch);

    p->edges = 2 * (size_t)p->network->node_count;
    p->capacity = calloc(p->edges, sizeof *p->capacity);
    p->at_last = calloc(p->edges, sizeof *p->at_last);
    p->path_first = calloc(messages + 1, sizeof *p->path_first);
    p->path = calloc(path_total(p->network) + 1, sizeof *p->path);
    p->next = calloc(messages + 1, sizeof *p->next);
    p->previous = calloc(messages + 1, sizeof *p->previous);
    p->waiting = calloc(messages + 1, sizeof *p->waiting);
    bool made = scratch != NULL && p->capacity != NULL && p->at_last != NULL &&
                p->path_first != NULL && p->path != NULL && p->next != NULL &&
                p->previous != NULL && p->waiting != NULL;
    if (made) {
        size_t at = 0;

        for (size_t i = 0; i < p->schedule->message_count; i++) {
            const struct schedule_message *m = &p->schedule->messages[i];
            int length = network_path(p->network, m->from, m->to, scratch);
            p->path_first[i] = at;
            for (int k = 0; k < length; k++)
                p->path[at++] = (uint16_t)scratch[k];
        }
        p->path_first[p->schedule->message_count] = at;
    }
    free(scratch);
    return made ? 0 : -1;
}

static void table_destroy(struct packing *p)
{
    free(p->count);
    free(p->full);
    free(p->head);
    free(p->none_full);
    free(p->one_full);
    p->count = NULL;
    p->full = p->none_full = p->one_full = NULL;
    p->head = NULL;
}

static void packing_destroy(struct packing *p)
{
    table_destroy(p);
    free(p->capacity);
    free(p->at_last);
    free(p->path_first);
    free(p->path);
    free(p->next);
    free(p->previous);
    free(p->waiting);
}

static int table_create(struct packing *p, uint32_t phases)
{
    p->phases = phases;
    p->words = (phases + 63) / 64;
    p->count = calloc(p->edges * phases, sizeof *p->count);
    p->full = calloc(p->edges * p->words, sizeof *p->full);
    p->head = malloc(sizeof *p->head * phases);
    p->none_full = calloc(p->words, sizeof *p->none_full);
    p->one_full = calloc(p->words, sizeof *p->one_full);
    if (p->count == NULL || p->full == NULL || p->head == NULL || p->none_full == NULL ||
        p->one_full == NULL)
        return -1;
    memset(p->head, 0xff, sizeof *p->head * phases);
    return 0;
}

/* How near to full the fullest edge of the message's path will be, in 0 .. HARDNESS - 1. */
static size_t hardness_of(const struct packing *p, uint32_t message)
{
    const uint16_t *edges;
    size_t length = path_of(p, message, &edges);
    uint64_t most = 0;

    for (size_t k = 0; k < length; k++) {
        uint64_t load = network_load(p->network, edges[k] / 2);
        uint64_t room = (uint64_t)p->capacity[edges[k]] * (p->phases - 1) + p->at_last[edges[k]];
        uint64_t share = load * (HARDNESS - 1) / (room + !room);
        most = share > most ? share : most;
    }
    return most < HARDNESS ? most : HARDNESS - 1;
}

static int try_phases(struct packing *p, uint32_t phases)
{
    if (p->edges * phases > COUNTS_MAX)
        return 0;
    int found = table_create(p, phases);
    if (found == 0) {
        /* What the last phase carries less than the others counts as being there already. */
        for (size_t e = 0; e < p->edges; e++) {
            if (p->at_last[e] < p->capacity[e])
                count_edge(p, e, p->phases - 1, (int)(p->capacity[e] - p->at_last[e]));
        }
        /* All messages wait, the hardest ones on top. */
        size_t first[HARDNESS + 1] = {0};

        p->wait_count = p->schedule->message_count;
        for (uint32_t i = 0; i < p->wait_count; i++)
            first[hardness_of(p, i) + 1]++;
        for (size_t i = 1; i < HARDNESS; i++)
            first[i] += first[i - 1];
        for (uint32_t i = 0; i < p->wait_count; i++)
            p->waiting[first[hardness_of(p, i)]++] = i;
        found = search(p) ? 1 : 0;
    }
    table_destroy(p);
    return found;
}

/* ---- How many phases, and how long ones -------------------------------------------------- */

/* Room for half as many again as an even spread needs: more would only pile messages up. */
static void set_capacities(struct packing *p, uint32_t slots, struct span last, uint32_t phases)
{
    const struct network *n = p->network;
    struct span span = span_of(n, slots);

    for (int i = 0; i < n->node_count; i++) {
        uint64_t even = network_load(n, i) / phases, most = even + even / 2 + 2;
        uint32_t carried = capacity_at(n, i, span), at_last = capacity_at(n, i, last);
        carried = carried < most ? carried : (uint32_t)most;
        at_last = at_last < carried ? at_last : carried;
        p->capacity[NETWORK_UP(i)] = p->capacity[NETWORK_DOWN(i)] = carried;
        p->at_last[NETWORK_UP(i)] = p->at_last[NETWORK_DOWN(i)] = at_last;
    }
}

static double slots_in(const struct network *n, struct span span)
{
    return (double)span.messages * (double)network_slowest(n) / (double)span.rate;
}

/* The shortest last phase in which all messages fit that are too many for those before it. */
static struct span least_last(const struct network *n, uint32_t slots, uint32_t phases)
{
    struct span span = span_of(n, slots), least = {0, span.rate};

    for (int i = 0; i < n->node_count; i++) {
        uint64_t load = network_load(n, i);
        uint64_t before = (uint64_t)capacity_at(n, i, span) * (phases - 1);
        struct span rest = {load - before, n->nodes[i].rate};
        if (load > before && slots_in(n, rest) > slots_in(n, least))
            least = rest;
    }
    return least;
}

/* The last phase grows from its least length to that of the others, as far as the range allows. */
static int try_lengths(struct packing *p, uint32_t slots, uint32_t phases, const double range[2])
{
    struct span last = least_last(p->network, slots, phases);
    double before = (phases - 1) * (double)slots, length = slots_in(p->network, last);
    uint64_t step = slots * last.rate / network_slowest(p->network) / LENGTHS + 1;
    int found = 0;

    if (phases > FEW)
        length = slots;
    while (found == 0 && length < slots && before + length <= range[1]) {
        set_capacities(p, slots, last, phases);
        found = before + length > range[0] ? try_phases(p, phases) : 0;
        last.messages += step;
        length = slots_in(p->network, last);
    }
    if (found != 0 || before + slots > range[1])
        return found;
    set_capacities(p, slots, span_of(p->network, slots), phases);
    return try_phases(p, phases);
}

/* From the least number of phases in the range on, in growing steps. */
static int try_slots(struct packing *p, uint32_t slots, const double range[2])
{
    struct schedule *s = p->schedule;
    uint32_t bound = schedule_pack_bound(p->network, slots);
    uint32_t least = (uint32_t)(range[0] / slots) + 1, step = 1 + bound / 64;

    for (uint32_t phases = bound > least ? bound : least; (phases - 1) * (double)slots < range[1];
         phases += step) {
        int found = try_lengths(p, slots, phases, range);
        if (found == 0)
            continue;
        s->phases = phases;
        s->slots = slots;
        s->bound = bound;
        return found;
    }
    return 0;
}

int schedule_pack_fill(struct schedule *schedule, const struct network *network,
                       const double range[2], uint64_t seed)
{
    struct packing p = {.network = network, .schedule = schedule, .random = seed | 1};

    int ranks = network->rank_count;
    schedule->message_count = 0;
    for (int from = 0; from < ranks; from++) {
        for (int to = 0; to < ranks; to++) {
            if (from != to)
                schedule->messages[schedule->message_count++] =
                    (struct schedule_message){0, (uint16_t)from, (uint16_t)to};
        }
    }
    int found = packing_create(&p);
    for (uint32_t slots = 1; found == 0 && slots <= SLOTS_MAX; slots++)
        found = try_slots(&p, slots, range);
    packing_destroy(&p);
    return found;
}
