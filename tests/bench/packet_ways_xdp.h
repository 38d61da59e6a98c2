/*
 * packet_ways_xdp.h - AF_XDP sockets in copy mode, without libxdp: what packet_ways.c measures of
 * them. Failures return NULL or false, with *what naming the call, and errno.
 */
#ifndef COVEY_TESTS_BENCH_PACKET_WAYS_XDP_H
#define COVEY_TESTS_BENCH_PACKET_WAYS_XDP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

struct xdp_socket;

/* On queue 0 of that interface, with memory of its own. */
struct xdp_socket *xdp_socket_open(unsigned interface, const char **what);

/* Attaches a program for as long as this process lives, in the driver or, generic, behind it:
 * frames of the EtherType go to x (NULL: to no socket), others pass. */
bool xdp_attach(const struct xdp_socket *x, unsigned interface, uint16_t type, bool generic,
                const char **what);

/* Room for a frame, waiting for it; xdp_socket_flush() has the kernel send what was put. */
void xdp_socket_put(struct xdp_socket *x, const struct iovec *pieces, size_t count);
void xdp_socket_flush(struct xdp_socket *x);

/* The first bytes of the next frame, up to room, and its size; 0: none. */
size_t xdp_socket_take(struct xdp_socket *x, void *begin, size_t room);

#endif
