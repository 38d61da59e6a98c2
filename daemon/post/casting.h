/*
 * casting.h - messages for tasks of many hosts: proto/cast/cast.h between the daemons, over raw
 * Ethernet where there is any (one frame for all), otherwise over UDP, host by host.
 */
#ifndef COVEY_DAEMON_CASTING_H
#define COVEY_DAEMON_CASTING_H

#include "daemon/root/daemon.h"

struct casting;

/* Begins when this host has joined; before that nothing has an effect. */
void casting_begin(struct daemon *d);
void casting_end(struct daemon *d);

/* A datagram came, by whatever lane; true: it was one of cast's. */
bool casting_on_datagram(struct daemon *d, const uint8_t *bytes, size_t size);

/* An event of the node. True: the owner is told of it now. That a host is gone is told later (by
 * watch_host_event()) while survivors agree on what it had sent. */
bool casting_host_event(struct daemon *d, const struct host *host, int event);

/* Whether the frame, the news of a task's end, has to wait for what the task had cast: it is then
 * kept, and sent when that has arrived. */
bool casting_keeps(struct daemon *d, const struct frame *frame, const uint8_t *payload);

/* Whether all that was cast here in the order of its senders is where it goes. */
bool casting_passed(const struct daemon *d);

/* Whether the end of that host is still to be told. */
bool casting_is_late(const struct daemon *d, uint32_t host);

/* Does what is due; returns when to call again. */
uint64_t casting_settle(struct daemon *d, uint64_t now_us);

/* Whether so much waits to be cast that tasks must not add to it. */
bool casting_full(const struct daemon *d);

/* The i-th counter; NULL at the end. */
const char *casting_stat(const struct daemon *d, size_t i, uint64_t *value);

const char *casting_on_cast(struct daemon *d, uint32_t source, struct cursor *payload);
const char *casting_on_control(struct daemon *d, uint32_t source, struct cursor *payload);
const char *casting_on_way(struct daemon *d, uint32_t source, struct cursor *payload);

#endif
