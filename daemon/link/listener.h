/*
 * listener.h - a TCP socket that listens.
 */
#ifndef COVEY_DAEMON_LISTENER_H
#define COVEY_DAEMON_LISTENER_H

#include <stdint.h>

/* On that port, 0: any free one, at that address, "": at all of both families, or of IPv4 alone
 * where there is no IPv6. It does not block. Returns the descriptor, or -1 with errno. */
int listener_open(const char *bind_to, uint16_t port, int backlog);

uint16_t listener_port(int fd); /* 0: it cannot be told */

#endif
