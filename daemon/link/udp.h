/*
 * udp.h - the UDP link between daemons: one socket a host, many datagrams a system call.
 *
 * Datagrams to be sent are gathered: consecutive ones of equal size to one address leave as one
 * segmented send (UDP_SEGMENT), several such sends as one system call. Received ones come likewise
 * (UDP_GRO). Where the kernel cannot do that, they go one by one.
 */
#ifndef COVEY_DAEMON_UDP_H
#define COVEY_DAEMON_UDP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/base/failure.h"
#include "proto/wire/address.h"

struct udp;

struct udp_config {
    bool local;                     /* bind to 127.0.0.1 alone */
    const char *bind;               /* to this IP address alone; NULL or "": to any */
    uint16_t port_first, port_last; /* ports to try; 0: any */
};

/* A bound non-blocking socket: IPv6 and IPv4, or IPv4 alone where there is no IPv6. NULL and *why
 * on failure. */
struct udp *udp_create(const struct udp_config *config, struct failure *why);
void udp_destroy(struct udp *udp); /* NULL is fine */

int udp_fd(const struct udp *udp);
uint16_t udp_port(const struct udp *udp);
bool udp_ipv6(const struct udp *udp);

/* Where the next datagram to that address is best built, with room for the longest: udp_send() then
 * finds it there, and as a rule need not copy it. NULL: the queue is full. */
uint8_t *udp_room(struct udp *udp, const struct address *to);

/* Queues a copy of a datagram, or the one that was built at udp_room(). One that cannot be sent
 * counts as lost. */
void udp_send(struct udp *udp, const struct address *to, const uint8_t *bytes, size_t size);

/* Sends what is queued. Returns true when something is left: wait until the socket is writable. */
bool udp_flush(struct udp *udp);

/* Receives what is there, at most some MiB, and hands on each datagram. */
typedef void udp_datagram_fn(void *context, const struct address *from, const uint8_t *bytes,
                             size_t size);
size_t udp_receive(struct udp *udp, udp_datagram_fn *fn, void *context);

/* The i-th counter and its name, NULL at the end. */
const char *udp_stat(const struct udp *udp, size_t i, uint64_t *value);

#endif
