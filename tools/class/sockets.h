/*
 * sockets.h - the sockets of a class and of who looks for one: where questions are asked and heard,
 * and where a class listens.
 */
#ifndef COVEY_TOOLS_CLASS_SOCKETS_H
#define COVEY_TOOLS_CLASS_SOCKETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#define PLACE_TEXT_MAX 80
#define NETWORKS_MAX 32
#define NETWORK_NAME_BYTES 16

/* An address with a port. */
struct place {
    struct sockaddr_storage at;
    socklen_t size;
};

/* "ADDRESS", "ADDRESS:PORT" or "[ADDRESS]:PORT", or a name in its place, which is looked up. */
bool place_parse(const char *text, uint16_t port, struct place *place);
void place_print(const struct place *place, char text[PLACE_TEXT_MAX]);
void place_print_host(const struct place *place, char text[PLACE_TEXT_MAX]);
bool place_set_port(struct place *place, uint16_t port);
bool place_is_loopback(const struct place *place);

/* Of this machine, to a network that can be broadcast to; the first of the list is the machine
 * alone. */
struct interface {
    unsigned index; /* 0: this machine */
    char name[NETWORK_NAME_BYTES];
};

/* All that have an IPv4 address and can be broadcast to: their number. */
int networks_find(struct interface networks[NETWORKS_MAX]);

/* Each of these returns a descriptor that does not block, or -1 with errno. */

/* Hears datagrams to that port, which several classes of a machine may share: each gets what is
 * broadcast. */
int socket_hear(uint16_t port);
int socket_ask(void);

/* Sends a datagram to that port of all machines of a network. One that is down gets none. */
void socket_broadcast(int fd, const struct interface *network, uint16_t port, const void *bytes,
                      size_t size);

/* Listens at that TCP port if it is free, otherwise at any; *port becomes which. */
int socket_listen(uint16_t *port, int backlog);
int socket_accept(int listener, struct place *from);

/* Connects: it is writable when it has; socket_error() then says how. */
int socket_connect(const struct place *to);
int socket_error(int fd);

#endif
