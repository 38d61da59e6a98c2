/*
 * sniff_hosts.h - which hosts were overheard: their indices, names and addresses, VM by VM.
 */
#ifndef COVEY_DAEMON_SNIFF_HOSTS_H
#define COVEY_DAEMON_SNIFF_HOSTS_H

#include "proto/wire/host.h"

struct sniff_hosts;

struct sniff_hosts *sniff_hosts_create(void); /* NULL: no memory */
void sniff_hosts_destroy(struct sniff_hosts *hosts);

/* A daemon of that VM sends from there. */
void sniff_hosts_learn(struct sniff_hosts *hosts, uint32_t vm, uint32_t index,
                       const struct address *address);
/* A row of a host table that passed by. */
void sniff_hosts_learn_row(struct sniff_hosts *hosts, uint32_t vm, const struct host *host);
/* The host with that index of whatever VM its address proves to be of. */
void sniff_hosts_know(struct sniff_hosts *hosts, const struct address *address, uint32_t index,
                      const char *name);
/* Another daemon than before has the index: true. */
bool sniff_hosts_learn_id(struct sniff_hosts *hosts, uint32_t vm, uint32_t index,
                          const uint8_t id[HOST_ID_BYTES]);

/* 0: not known. */
uint32_t sniff_hosts_index(const struct sniff_hosts *hosts, uint32_t vm,
                           const struct address *address);
/* NULL: not known. Valid until a host is learnt. */
const char *sniff_hosts_name(const struct sniff_hosts *hosts, uint32_t vm, uint32_t index);

/* Whether a host of any VM was heard of that has this name, or this number as its index. */
bool sniff_hosts_has(const struct sniff_hosts *hosts, const char *text);

#endif
