/*
 * domain.h - the contention domains of a VM: which of them a message crosses, by its topology. A
 * pure function of a topology file's text and the VM's configuration; see contention.h.
 *
 * Without a topology all hosts are taken to be on one segment. With one, its domains are its
 * segments, in the configured mode unless a `contention` line says another, and the links that
 * such lines name. Hosts that the topology lacks have no domain.
 */
#ifndef COVEY_PROTO_DOMAIN_H
#define COVEY_PROTO_DOMAIN_H

#include "proto/wire/contention_config.h"

struct domains;

/* text NULL: no topology. NULL: the text is none, or memory is exhausted; then why, of
 * TOPOLOGY_ERROR_BYTES, says so. */
struct domains *domains_create(const struct contention_config *config, const char *text,
                               size_t bytes, char *why);
void domains_destroy(struct domains *domains); /* NULL is fine */
int domains_count(const struct domains *domains);

/* What a message from host to host goes by. A host is known by its name, or by what stands before
 * the first dot of it. */
struct domain_way {
    uint64_t tokens; /* domains whose tokens it needs */
    uint64_t rate;   /* 0, or it is staggered by that many bits per second */
};
struct domain_way domains_way(const struct domains *domains, const char *from, const char *to);

#endif
