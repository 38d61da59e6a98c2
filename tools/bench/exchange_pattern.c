/*
 * exchange_pattern.c - random patterns of an exchange: every rank sends and receives the same
 * number of messages. They begin as cyclic shifts, which have that property, and exchange
 * receivers at random, which keeps it.
 */
#include "tools/bench/exchange_pattern.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SWAPS 4 /* tries a message */

/* To whom everybody sends: to[rank * density + i], and who has whom already. */
struct drawing {
    int ranks, density;
    uint16_t *to;
    bool *taken; /* by pair */
    uint64_t random;
};

static uint32_t below(uint64_t *random, uint32_t limit)
{
    *random ^= *random << 13;
    *random ^= *random >> 7;
    *random ^= *random << 17;
    return (uint32_t)((*random >> 32) * limit >> 32);
}

static bool *pair(struct drawing *d, int from, int to)
{
    return &d->taken[from * d->ranks + to];
}

/* Cyclic shifts, and then exchanges at random. */
static void draw_pattern(struct drawing *d)
{
    uint32_t count = (uint32_t)(d->ranks * d->density);
    for (uint32_t i = 0; i < count; i++) {
        int from = (int)i / d->density, to = (from + 1 + (int)i % d->density) % d->ranks;
        d->to[i] = (uint16_t)to;
        *pair(d, from, to) = true;
    }
    for (uint32_t i = 0; i < SWAPS * count; i++) {
        /* Two messages exchange their receivers, if neither sender has the other's already. */
        uint32_t a = below(&d->random, count);
        uint32_t b = below(&d->random, count);
        int from = (int)a / d->density, other = (int)b / d->density;
        int to = d->to[a], far = d->to[b];
        if (from != far && other != to && !*pair(d, from, far) && !*pair(d, other, to)) {
            *pair(d, from, to) = *pair(d, other, far) = false;
            *pair(d, from, far) = *pair(d, other, to) = true;
            d->to[a] = (uint16_t)far;
            d->to[b] = (uint16_t)to;
        }
    }
}

static uint64_t message_size(const struct exchange_shape *shape, uint64_t *random)
{
    if (!shape->unequal)
        return shape->bytes;
    if (below(random, 8) == 0)
        return 4 * shape->bytes;
    return (uint64_t)(8.0 / 7 * (double)shape->bytes * (double)below(random, 1 << 20) / (1 << 20));
}

struct covey_exchange_message *exchange_pattern(const struct exchange_shape *shape)
{
    size_t ranks = (size_t)shape->ranks, count = ranks * (size_t)shape->density;
    struct drawing d = {
        .ranks = shape->ranks, .density = shape->density, .random = shape->seed * 2 + 1};
    struct covey_exchange_message *messages = calloc(count + 1, sizeof *messages);
    d.random *= 0x9e3779b97f4a7c15u;
    d.to = calloc(count + 1, sizeof *d.to);
    d.taken = calloc(ranks * ranks, sizeof *d.taken);
    if (messages && d.to && d.taken) {
        draw_pattern(&d);
        /* A sender begins with the rank behind it: with the lowest one, all would begin with the
         * same. */
        size_t n = 0;
        for (int from = 0; from < d.ranks; from++) {
            for (int step = 1; step < d.ranks; step++) {
                int to = (from + step) % d.ranks;
                if (!*pair(&d, from, to))
                    continue;
                messages[n++] =
                    (struct covey_exchange_message){.bytes = message_size(shape, &d.random),
                                                    .from = (uint16_t)from,
                                                    .to = (uint16_t)to};
            }
        }
    } else {
        free(messages);
        messages = NULL;
    }
    free(d.to);
    free(d.taken);
    return messages;
}

int exchange_topology(const char *given, int ranks, double rate_bps, covey_topology_t **topology)
{
    enum { HOST_BYTES = 40 };
    size_t room = strlen(given) + (size_t)ranks * HOST_BYTES + HOST_BYTES;
    char *text = malloc(room), rate[24] = "";
    if (!text)
        return COVEY_ENOMEM;
    if (rate_bps > 0)
        snprintf(rate, sizeof rate, "%.0f", rate_bps);
    size_t used = (size_t)snprintf(text, room, "%s", *given ? given : "switch s\n");
    for (int i = 0; !*given && i < ranks; i++)
        used += (size_t)snprintf(text + used, room - used, "host n%d s %s\n", i, rate);
    int error = covey_topology_parse(text, used, "the topology", topology);
    free(text);
    return error;
}

int exchange_usual_densities(int ranks, int32_t *densities, int most)
{
    static const int32_t usual[] = {1, 2, 4, 8, 16, 32, 48};
    int count = 0;
    for (size_t i = 0; i < sizeof usual / sizeof *usual && count < most; i++) {
        if (usual[i] < ranks)
            densities[count++] = usual[i];
    }
    return count;
}
