/*
 * raw_socket.h - packet sockets as coveyd and its tasks hold them: of one interface and one
 * EtherType, with a filter that is locked before the first frame can come. Whoever has CAP_NET_RAW
 * makes them: coveyd, or covey-raw in its place.
 */
#ifndef COVEY_DAEMON_RAW_SOCKET_H
#define COVEY_DAEMON_RAW_SOCKET_H

#include <stdint.h>

#include "daemon/link/nic.h"

/* Takes CAP_NET_RAW for a moment, see privilege.h. The socket receives frames of that type
 *  - of the channel of daemons (ETHER_CHANNEL_DAEMON), for this MAC or for several; or
 *  - of a task's channel, for this MAC and of that VM.
 * It does not block, and is closed when a program is executed. -1 and errno. */
int raw_socket_open(const struct nic *nic, uint16_t type, uint32_t channel, uint32_t vm);

#endif
