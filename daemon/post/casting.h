/*
 * casting.h - messages for tasks of many hosts: proto/cast/cast.h between the daemons, over raw
 * Ethernet where there is any (one frame for all), otherwise over UDP, host by host.
 */
#ifndef COVEY_DAEMON_CASTING_H
#define COVEY_DAEMON_CASTING_H

#include "daemon/base/daemon.h"

/* A datagram came, by whatever medium; true: it was one of cast's. */
bool casting_on_datagram(struct daemon *d, const uint8_t *bytes, size_t size);

/* An event of the node. True: the owner is told of it now. That a host is gone is told later (by
 * watch_host_event()) while survivors agree on what it had sent. */
bool casting_host_event(struct daemon *d, const struct host *host, int event);

/* Whether the frame, the news of a task's end, has to wait for what the task had cast: it is then
 * kept, and sent when that has arrived. */
bool casting_keeps(struct daemon *d, const struct frame *frame, const uint8_t *payload);

/* Whether the end of that host is still to be told. */
bool casting_is_late(const struct daemon *d, uint32_t host);

part_handler casting_on_cast; /* of a task here */

#endif
