/*
 * vm_topology.h - the topology of the VM as the daemons keep it: the text of a file, as decisions
 * of a series of its own (consensus.h). Number 0 is the head, the others are the text's parts in
 * order.
 *
 *   head = bytes=u64 hash=u64
 *   part = 1*CONSENSUS_VALUE_MAX u8       ; all but the last are that long
 *
 * Who sets one forgets the series, proposes the parts, and the head last: what is there before it
 * is not seen. Who reads while another takes its place sees by the hash that the parts do not
 * belong together, and has none.
 */
#ifndef COVEY_PROTO_VM_TOPOLOGY_H
#define COVEY_PROTO_VM_TOPOLOGY_H

#include <stddef.h>
#include <stdint.h>

#include "proto/wire/cursor.h"

#define VM_TOPOLOGY_SERIES "covey.topology"
#define VM_TOPOLOGY_HEAD_BYTES 16
#define VM_TOPOLOGY_BYTES_MAX ((size_t)256 * 1024)

/* What to propose for a number. */
struct vm_topology_part {
    uint64_t number;
    const uint8_t *bytes;
    size_t size;
};

/* The i-th of them, in the order in which they are to be proposed; size 0: there are no more. The
 * head is written into `head`, which the part then points to. */
struct vm_topology_part vm_topology_part(const char *text, size_t bytes, size_t i,
                                         uint8_t head[VM_TOPOLOGY_HEAD_BYTES]);

/* Reads a head: how many bytes there are, and their hash. Refused (the cursor is bad) when they are
 * too many. */
size_t vm_topology_get_head(struct cursor *c, uint64_t *hash);

uint64_t vm_topology_hash(const char *text, size_t bytes);

#endif
