/*
 * sockaddr.h - between addresses as the engines carry them and those of sockets and people.
 */
#ifndef COVEY_DAEMON_SOCKADDR_H
#define COVEY_DAEMON_SOCKADDR_H

#include <netinet/in.h>
#include <stdbool.h>
#include <sys/socket.h>

#include "proto/wire/address.h"

union sockaddr_any {
    struct sockaddr any;
    struct sockaddr_in in;
    struct sockaddr_in6 in6;
};

/* A socket address as an address; an IPv4 one mapped into IPv6 becomes plain IPv4. False for other
 * families. */
bool sockaddr_to_address(const union sockaddr_any *from, struct address *to);

/* An address for a socket of the family AF_INET or AF_INET6 (IPv4 is mapped). Returns its size, 0
 * when that socket cannot reach it. */
socklen_t sockaddr_from_address(union sockaddr_any *to, const struct address *from, int family);

/* "192.0.2.1", "192.0.2.1:99", "::1" or "[::1]:99"; without a port, `port` is taken. */
bool sockaddr_parse(const char *text, uint16_t port, struct address *address);

uint16_t sockaddr_port(const struct address *address);
void sockaddr_set_port(struct address *address, uint16_t port);

/* As sockaddr_parse() reads it, with the port; text has SOCKADDR_TEXT_MAX bytes. */
#define SOCKADDR_TEXT_MAX 64
void sockaddr_print(const struct address *address, char *text);

#endif
