/*
 * node_stat.c - the counters of a node by name: its own, and those of its windows summed up, ended
 * sessions included.
 */
#include <stddef.h>

#include "proto/node_state.h"

struct entry {
    const char *name;
    size_t offset;
};

static const struct entry OWN[] = {
#define COUNTER_ENTRY(field, name) {name, offsetof(struct counters, field)},
    COUNTERS(COUNTER_ENTRY)
#undef COUNTER_ENTRY
};

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
    if (i < OWN_COUNT) {
        *value = read_at(&node->endpoint.counters, OWN[i].offset);
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
        *value = node->endpoint.me.encrypt;
        return "session.encrypted";
    }
    return NULL;
}
