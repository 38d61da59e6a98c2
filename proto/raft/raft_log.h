/*
 * raft_log.h - the log of one engine: entries (base, last], the older ones dropped.
 */
#ifndef COVEY_PROTO_RAFT_LOG_H
#define COVEY_PROTO_RAFT_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum raft_entry_kind {
    RAFT_NOOP = 1, /* a new leader's first entry */
    RAFT_COMMAND = 2,
    RAFT_CONFIGURATION = 3
};

struct raft_entry {
    uint64_t term;
    uint8_t kind; /* enum raft_entry_kind */
    uint32_t size;
    const uint8_t *bytes; /* in the log: its own */
};

struct raft_log {
    uint64_t base_index, base_term; /* of the last entry dropped; 0: none was */
    struct raft_entry *entries;
    size_t count, capacity;
    size_t bytes; /* of all entries, with what each costs beside its own */
};

void raft_log_clear(struct raft_log *log, uint64_t base_index, uint64_t base_term);
void raft_log_destroy(struct raft_log *log);

uint64_t raft_log_last(const struct raft_log *log);
/* The term of entry `index`, the base's included; 0 of one that is not there. */
uint64_t raft_log_term(const struct raft_log *log, uint64_t index);
/* NULL: not there. Valid until the log changes. */
const struct raft_entry *raft_log_entry(const struct raft_log *log, uint64_t index);

/* Appends a copy; false: no memory. */
bool raft_log_append(struct raft_log *log, const struct raft_entry *entry);
/* Removes the entries after `index` (not before the base). */
void raft_log_truncate(struct raft_log *log, uint64_t index);
/* Drops the entries up to `index`, which must be there. */
void raft_log_drop(struct raft_log *log, uint64_t index);

#endif
