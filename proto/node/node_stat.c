/*
 * node_stat.c - the counters of a node by name: those of each medium, its own, and those of its
 * windows summed up, ended sessions included.
 */
#include <stddef.h>

#include "proto/node/node_state.h"

#define COUNT_ONE(field, name) +1
#define MEDIUM_ENTRIES (0 MEDIUM_COUNTERS(COUNT_ONE))

struct entry {
    const char *name;
    size_t offset;
};

#define ENTRY(field, name) {name, offsetof(struct counters, field)},
#define UDP_ENTRY(field, name) {"udp." name, offsetof(struct counters, field)},
#define ETHER_ENTRY(field, name) {"ether." name, offsetof(struct counters, field)},
static const struct entry OWN[] = {NODE_COUNTERS(ENTRY)};
static const struct entry MEDIUM[MEDIA][MEDIUM_ENTRIES] = {{MEDIUM_COUNTERS(UDP_ENTRY)},
                                                           {MEDIUM_COUNTERS(ETHER_ENTRY)}};
#undef ENTRY
#undef UDP_ENTRY
#undef ETHER_ENTRY

static const struct entry WINDOW[] = {
    {"window.packets_sent", offsetof(struct window_stats, packets_sent)},
    {"window.packets_received", offsetof(struct window_stats, packets_received)},
    {"window.packets_lost", offsetof(struct window_stats, packets_lost)},
    {"window.packets_spurious", offsetof(struct window_stats, packets_spurious)},
    {"window.probes_sent", offsetof(struct window_stats, probes_sent)},
    {"window.bytes_sent", offsetof(struct window_stats, bytes_sent)},
    {"window.retransmitted_bytes", offsetof(struct window_stats, bytes_retransmitted)},
    {"window.bytes_received", offsetof(struct window_stats, bytes_received)},
    {"window.duplicate_bytes", offsetof(struct window_stats, bytes_duplicate)},
};

#define OWN_COUNT (sizeof OWN / sizeof OWN[0])
#define WINDOW_COUNT (sizeof WINDOW / sizeof WINDOW[0])

static uint64_t read_at(const void *base, size_t offset)
{
    return *(const uint64_t *)(const void *)((const char *)base + offset);
}

void node_stat_closed(struct node *node, const struct session *session)
{
    struct window_stats stats;

    window_stats(session_window(session), &stats);
    for (size_t i = 0; i < WINDOW_COUNT; i++)
        *(uint64_t *)(void *)((char *)&node->closed + WINDOW[i].offset) +=
            read_at(&stats, WINDOW[i].offset);
}

static uint64_t window_sum(const struct node *node, size_t offset)
{
    uint64_t sum = read_at(&node->closed, offset);

    for (size_t i = 0; i < node->open_count; i++) {
        struct window_stats stats;

        window_stats(session_window(node->open[i]->session), &stats);
        sum += read_at(&stats, offset);
    }
    return sum;
}

const char *node_stat(const struct node *node, size_t i, uint64_t *value)
{
    size_t media = node->has_ether ? MEDIA : 1;

    if (i < media * MEDIUM_ENTRIES) {
        const struct entry *entry = &MEDIUM[i / MEDIUM_ENTRIES][i % MEDIUM_ENTRIES];
        *value = read_at(&node->media[i / MEDIUM_ENTRIES].endpoint.counters, entry->offset);
        return entry->name;
    }
    i -= media * MEDIUM_ENTRIES;
    if (i < OWN_COUNT) {
        *value = 0;
        for (int m = 0; m < MEDIA; m++)
            *value += read_at(&node->media[m].endpoint.counters, OWN[i].offset);
        return OWN[i].name;
    }
    i -= OWN_COUNT;
    if (i < WINDOW_COUNT) {
        *value = window_sum(node, WINDOW[i].offset);
        return WINDOW[i].name;
    }
    if (i == WINDOW_COUNT) {
        *value = node->open_count;
        return "session.open";
    }
    if (i == WINDOW_COUNT + 1) {
        *value = node->media[MEDIUM_IP].endpoint.me.encrypt;
        return "session.encrypted";
    }
    return NULL;
}
