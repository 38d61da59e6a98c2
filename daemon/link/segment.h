/*
 * segment.h - this daemon on its Ethernet segment: the raw link and why there is none, and the
 * LINK_OPENs that wait until it is known whether the other host is on the same segment.
 */
#ifndef COVEY_DAEMON_SEGMENT_H
#define COVEY_DAEMON_SEGMENT_H

#include "daemon/root/daemon.h"

struct segment;

/* Opens the raw link as covey.conf says, then gives up the privilege for it. Adds the MAC to this
 * host's addresses and the sizes to d->node_config. What is missing is logged and is no failure,
 * unless covey.conf wants the link: -1 and why. To be called before the node is made. */
int segment_open(struct daemon *d, struct failure *why);
void segment_close(struct daemon *d);

/* The raw link, NULL: none. */
struct ether_link *segment_link(const struct daemon *d);

/* What the node sends to a MAC. */
void segment_send(struct daemon *d, const struct address *to, const uint8_t *bytes, size_t size);

/* Sends what is queued, and decides about the LINK_OPENs that wait. Returns when it must be called
 * again, UINT64_MAX for never. */
uint64_t segment_settle(struct daemon *d, uint64_t now_us);
void segment_flush(struct daemon *d);

/* A LINK_OPEN for raw Ethernet leaves its opener. Returns NULL when it may go on or waits here
 * (*waits), or why the route cannot work. */
const char *segment_depart(struct daemon *d, const struct frame *open, const uint8_t *payload,
                           bool *waits);

#endif
