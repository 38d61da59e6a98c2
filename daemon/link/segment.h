/*
 * segment.h - this daemon on its Ethernet segment: the raw link, or why there is none.
 */
#ifndef COVEY_DAEMON_SEGMENT_H
#define COVEY_DAEMON_SEGMENT_H

#include "daemon/base/daemon.h"

struct segment;

/* Opens the raw link as covey.conf says, by coveyd's own privilege or by covey-raw, then gives
 * up the privilege. Adds the MAC to this
 * host's addresses and the sizes to d->node_config. What is missing is logged and is no failure,
 * unless covey.conf wants the link: -1 and why. To be called before the node is made. */
int segment_open(struct daemon *d, struct failure *why);
void segment_close(struct daemon *d);

/* The raw link, NULL: none. */
struct ether_link *segment_link(const struct daemon *d);

/* Where what the node sends next to a MAC may be built: ether_room(). NULL: anywhere. */
uint8_t *segment_room(struct daemon *d);

/* A packet socket for the task of that channel, which the caller closes; -1 and *why. */
int segment_socket(struct daemon *d, uint32_t channel, struct failure *why);

/* What the node sends to a MAC. */
void segment_send(struct daemon *d, const struct address *to, const uint8_t *bytes, size_t size);

/* Why there is none. */
const char *segment_missing(const struct daemon *d);

/* Sends what is queued. */
void segment_flush(struct daemon *d);

#endif
