/*
 * address.h - where a daemon can be reached, opaque to the engines: the link that made it turns it
 * back into a socket address. A host has up to HOST_ADDRESSES_MAX candidates.
 *
 *   address = family size bytes
 *   family  = u8 ; ADDRESS_IPV4 (4 bytes address, u16 port), ADDRESS_IPV6 (16, u16 port,
 *                ; u32 scope), ADDRESS_ETHER (6 bytes MAC)
 */
#ifndef COVEY_PROTO_ADDRESS_H
#define COVEY_PROTO_ADDRESS_H

#include "proto/wire/cursor.h"

#define ADDRESS_BYTES_MAX 22
#define HOST_ADDRESSES_MAX 8

enum address_family { ADDRESS_NONE = 0, ADDRESS_IPV4 = 4, ADDRESS_IPV6 = 6, ADDRESS_ETHER = 1 };

struct address {
    uint8_t family; /* enum address_family */
    uint8_t size;   /* bytes used below */
    uint8_t bytes[ADDRESS_BYTES_MAX];
};

bool address_equal(const struct address *a, const struct address *b);
void address_put(struct cursor *c, const struct address *address);
void address_get(struct cursor *c, struct address *address); /* refuses unknown families, sizes */

/* For the log: "10.0.0.1:7000", "[fe80::1]:7000", "02:00:00:00:00:01". */
#define ADDRESS_TEXT_BYTES 64
void address_text(const struct address *address, char text[ADDRESS_TEXT_BYTES]);

#endif
