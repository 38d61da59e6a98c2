/*
 * raft_log.c - the log as an array of entries from base + 1 on, so that an index finds its entry
 * without a search. What is dropped at its beginning moves the rest down; snapshots make that rare.
 */
#include "proto/raft/raft_log.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "proto/wire/grow.h"

#define CAPACITY_MIN 64

static size_t cost_of(const struct raft_entry *entry)
{
    return sizeof *entry + entry->size;
}

static void log_forget(struct raft_log *log, struct raft_entry *entry)
{
    assert(log->bytes >= cost_of(entry));
    log->bytes -= cost_of(entry);
    free((void *)entry->bytes);
}

void raft_log_clear(struct raft_log *log, uint64_t base_index, uint64_t base_term)
{
    for (size_t i = 0; i < log->count; i++)
        log_forget(log, &log->entries[i]);
    log->count = 0;
    log->base_index = base_index;
    log->base_term = base_term;
}

void raft_log_destroy(struct raft_log *log)
{
    raft_log_clear(log, 0, 0);
    free(log->entries);
    *log = (struct raft_log){0};
}

uint64_t raft_log_last(const struct raft_log *log)
{
    return log->base_index + log->count;
}

const struct raft_entry *raft_log_entry(const struct raft_log *log, uint64_t index)
{
    if (index <= log->base_index || index > raft_log_last(log))
        return NULL;
    return &log->entries[index - log->base_index - 1];
}

uint64_t raft_log_term(const struct raft_log *log, uint64_t index)
{
    const struct raft_entry *entry = raft_log_entry(log, index);

    if (entry != NULL)
        return entry->term;
    return index == log->base_index ? log->base_term : 0;
}

bool raft_log_append(struct raft_log *log, const struct raft_entry *entry)
{
    struct raft_entry copy = *entry;
    uint8_t *bytes;

    if (!GROW(log->entries, log->capacity, log->count + 1, CAPACITY_MIN))
        return false;
    copy.bytes = bytes = malloc(entry->size ? entry->size : 1);
    if (bytes == NULL)
        return false;
    if (entry->size)
        memcpy(bytes, entry->bytes, entry->size);
    log->entries[log->count++] = copy;
    log->bytes += cost_of(&copy);
    return true;
}

void raft_log_truncate(struct raft_log *log, uint64_t index)
{
    assert(index >= log->base_index);
    while (raft_log_last(log) > index)
        log_forget(log, &log->entries[--log->count]);
}

void raft_log_drop(struct raft_log *log, uint64_t index)
{
    size_t dropped = (size_t)(index - log->base_index);

    assert(index >= log->base_index && index <= raft_log_last(log));
    if (dropped == 0)
        return;
    log->base_term = raft_log_term(log, index);
    for (size_t i = 0; i < dropped; i++)
        log_forget(log, &log->entries[i]);
    log->count -= dropped;
    memmove(log->entries, log->entries + dropped, log->count * sizeof *log->entries);
    log->base_index = index;
}
