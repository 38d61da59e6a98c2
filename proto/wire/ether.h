/*
 * ether.h - Covey directly above the data link: what an Ethernet frame of Covey's EtherType
 * carries.
 *
 *   frame    = destination=6u8 source=6u8 type=u16 payload     ; 802.3, the FCS is the device's
 *   payload  = version=u8(1) reserved=u8(0) size=u16 channel=u32 datagram padding
 *   size     = bytes of the datagram: short frames are padded to 60 bytes by whoever sends them
 *   channel  = 0: the daemon of that host; otherwise the direct link of one of its tasks
 *   datagram = as UDP carries it (datagram.h), so authentication and windows are the same engine
 *
 * Nothing here is believed: a payload that decodes is as foreign as one that does not.
 */
#ifndef COVEY_PROTO_ETHER_H
#define COVEY_PROTO_ETHER_H

#include "proto/wire/address.h"
#include "proto/wire/cursor.h"

#define ETHER_TYPE_DEFAULT 0x88b5 /* IEEE 802, local experimental EtherType 1 */
#define ETHER_TYPE_MIN 0x0600     /* below it the field is a length */
#define ETHER_VERSION 1
#define ETHER_MAC_BYTES 6
#define ETHER_LINK_BYTES 14  /* destination, source, type */
#define ETHER_HEADER_BYTES 8 /* before the datagram in the payload */
#define ETHER_FRAME_BYTES_MIN 60
#define ETHER_CHANNEL_DAEMON 0

struct ether {
    uint32_t channel;
    uint16_t size;           /* of the datagram */
    const uint8_t *datagram; /* set by ether_get(): inside what was read */
};

/* The head of a frame; `to` and `from` are addresses of ADDRESS_ETHER. */
void ether_put_link(struct cursor *c, const struct address *to, const struct address *from,
                    uint16_t type);
void ether_get_link(struct cursor *c, struct address *to, struct address *from, uint16_t *type);

/* The head of a payload; the datagram follows it. */
void ether_put(struct cursor *c, const struct ether *ether);

/* Takes a payload apart, with whatever padding the wire added: sets *ether and returns NULL, or
 * returns the reason of refusal. The cursor is behind the datagram then. */
const char *ether_get(struct cursor *c, struct ether *ether);

/* An address of a MAC; and whether it is one for several receivers. */
struct address ether_address(const uint8_t mac[ETHER_MAC_BYTES]);
bool ether_is_group(const struct address *address);

#endif
