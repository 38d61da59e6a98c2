/*
 * vm_topology.c - cuts the text of a topology into parts that fit a decision, and says by its hash
 * whether parts that were read belong together.
 */
#include "proto/state/vm_topology.h"

#include "proto/state/consensus.h"

uint64_t vm_topology_hash(const char *text, size_t bytes)
{
    uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a */
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ (uint8_t)text[i]) * 0x100000001b3u;
    return hash;
}

struct vm_topology_part vm_topology_part(const char *text, size_t bytes, size_t i,
                                         uint8_t head[VM_TOPOLOGY_HEAD_BYTES])
{
    size_t parts = (bytes + CONSENSUS_VALUE_MAX - 1) / CONSENSUS_VALUE_MAX;
    size_t at = i * CONSENSUS_VALUE_MAX;
    if (i > parts)
        return (struct vm_topology_part){.size = 0};
    if (i < parts) {
        size_t left = bytes - at;
        return (struct vm_topology_part){.number = i + 1,
                                         .bytes = (const uint8_t *)text + at,
                                         .size = left < CONSENSUS_VALUE_MAX ? left
                                                                            : CONSENSUS_VALUE_MAX};
    }
    struct cursor c = cursor_writer(head, VM_TOPOLOGY_HEAD_BYTES);
    cursor_put_u64(&c, bytes);
    cursor_put_u64(&c, vm_topology_hash(text, bytes));
    return (struct vm_topology_part){.bytes = head, .size = VM_TOPOLOGY_HEAD_BYTES};
}

size_t vm_topology_get_head(struct cursor *c, uint64_t *hash)
{
    uint64_t bytes = cursor_get_u64(c);
    *hash = cursor_get_u64(c);
    if (bytes > VM_TOPOLOGY_BYTES_MAX)
        c->bad = true;
    return cursor_ok(c) ? (size_t)bytes : 0;
}
