/*
 * ether.h - the raw Ethernet link between daemons: frames of one EtherType on one interface. They
 * are filtered in the kernel, received without system calls, and sent many a system call.
 */
#ifndef COVEY_DAEMON_ETHER_H
#define COVEY_DAEMON_ETHER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/base/failure.h"
#include "daemon/link/nic.h"

struct ether_link;

/* Over the daemon's socket of raw_socket_open(), which it takes over, also on failure: NULL and
 * *why then. It waits for the kernel, some milliseconds. */
struct ether_link *ether_open(const struct nic *nic, uint16_t type, int fd, struct failure *why);
void ether_close(struct ether_link *link); /* NULL is fine */

/* Readable: ether_receive(); writable: ether_flush(). */
int ether_fd(const struct ether_link *link);
const struct nic *ether_nic(const struct ether_link *link);
uint16_t ether_type(const struct ether_link *link);
size_t ether_datagram_bytes(const struct ether_link *link); /* the most that a frame carries */

/* Where the next datagram to be sent may be built, ether_datagram_bytes() of room, until the next
 * call: ether_send() then does not copy it. NULL: nowhere, the device takes no more now. */
uint8_t *ether_room(struct ether_link *link);

/* Queues a datagram for the daemon of that MAC, or for those of a group: a copy of it, unless it
 * lies in ether_room(). One that cannot be sent counts as lost. */
void ether_send(struct ether_link *link, const struct address *to, const uint8_t *bytes,
                size_t size);

/* Sends what is queued. Returns true when something is left: wait until the socket is writable. */
bool ether_flush(struct ether_link *link);

/* Also receives what is sent to a multicast MAC, or no longer. Broadcasts are received without.
 * 0 or -errno. */
int ether_join(struct ether_link *link, const struct address *group, bool join);

/* Receives what is there, a limited number of frames, and hands on the datagram of each that is for
 * daemons (channel 0). Returns how many bytes they had. */
typedef void ether_datagram_fn(void *context, const struct address *from, const uint8_t *bytes,
                               size_t size);
size_t ether_receive(struct ether_link *link, ether_datagram_fn *fn, void *context);

/* The i-th counter, NULL at the end. */
const char *ether_stat(struct ether_link *link, size_t i, uint64_t *value);

#endif
