/*
 * link_packet.h - a packet socket of a task: whole Ethernet frames come in through a ring that the
 * kernel fills in our memory, and go out in batches. Nothing here knows what the frames mean.
 *
 * Looking whether a frame has come is a read of memory; only sleeping (poll() on the descriptor)
 * and sending need the kernel.
 */
#ifndef COVEY_LIB_LINK_PACKET_H
#define COVEY_LIB_LINK_PACKET_H

#include "proto/wire/ether.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

struct packet;

/* Over a packet socket that is bound to an Ethernet interface and to one EtherType; takes the
 * descriptor over on success. NULL: *why. The set-up waits for the kernel, some milliseconds. */
struct packet *packet_create(int fd, const char **why);
void packet_destroy(struct packet *p); /* closes the socket; NULL is fine */

int packet_fd(const struct packet *p);
size_t packet_mtu(const struct packet *p); /* bytes of a payload, at most */
/* Bytes of payloads that may wait to be read, before any are lost. */
size_t packet_waiting_bytes(const struct packet *p);

/* The frame that has waited longest: its payload, *size bytes of it, and who sent it; NULL: none.
 * It stays where it is until packet_release(). */
const uint8_t *packet_next(struct packet *p, size_t *size, struct address *from);
void packet_release(struct packet *p);
bool packet_waiting(const struct packet *p); /* packet_next() would give one */

/* Memory for the payload of a frame, packet_mtu() bytes; NULL: flush first. packet_put() then
 * queues its first `size` bytes. */
uint8_t *packet_room(struct packet *p);
void packet_put(struct packet *p, const struct address *to, size_t size);

/* The same, of a payload that goes on in pieces that lie elsewhere: the first `size` bytes of the
 * room, then the pieces. They must stay as they are until packet_flush() has returned. */
#define PACKET_PIECES_MAX 5
void packet_put_pieces(struct packet *p, const struct address *to, size_t size,
                       const struct iovec *pieces, size_t count);

/* Sends what is queued; false: the device takes no more now, try again in a moment, the pieces are
 * not needed for that. An error of the interface is a loss. */
bool packet_flush(struct packet *p);

#endif
