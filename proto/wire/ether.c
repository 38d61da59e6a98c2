/*
 * ether.c - heads of Ethernet frames and of what Covey puts into them; the grammar stands in
 * ether.h.
 */
#include "proto/wire/ether.h"

#include <string.h>

_Static_assert(ETHER_MAC_BYTES <= ADDRESS_BYTES_MAX, "a MAC is an address");

struct address ether_address(const uint8_t mac[ETHER_MAC_BYTES])
{
    struct address address = {.family = ADDRESS_ETHER, .size = ETHER_MAC_BYTES};

    memcpy(address.bytes, mac, ETHER_MAC_BYTES);
    return address;
}

bool ether_is_group(const struct address *address)
{
    return address->family == ADDRESS_ETHER && (address->bytes[0] & 1) != 0;
}

void ether_put_link(struct cursor *c, const struct address *to, const struct address *from,
                    uint16_t type)
{
    cursor_put_bytes(c, to->bytes, ETHER_MAC_BYTES);
    cursor_put_bytes(c, from->bytes, ETHER_MAC_BYTES);
    cursor_put_u16(c, type);
}

void ether_get_link(struct cursor *c, struct address *to, struct address *from, uint16_t *type)
{
    uint8_t mac[ETHER_MAC_BYTES];

    cursor_get_bytes(c, mac, sizeof mac);
    *to = ether_address(mac);
    cursor_get_bytes(c, mac, sizeof mac);
    *from = ether_address(mac);
    *type = cursor_get_u16(c);
}

void ether_put(struct cursor *c, const struct ether *ether)
{
    cursor_put_u8(c, ETHER_VERSION);
    cursor_put_u8(c, 0);
    cursor_put_u16(c, ether->size);
    cursor_put_u32(c, ether->channel);
}

const char *ether_get(struct cursor *c, struct ether *ether)
{
    uint8_t version = cursor_get_u8(c);
    uint8_t reserved = cursor_get_u8(c);
    struct ether e = {.size = cursor_get_u16(c)};

    e.channel = cursor_get_u32(c);
    if (!cursor_ok(c))
        return "shorter than its head";
    if (version != ETHER_VERSION)
        return "of another version";
    if (reserved != 0)
        return "its reserved byte is set";
    if (e.size == 0)
        return "empty";
    e.datagram = cursor_get_view(c, e.size);
    if (e.datagram == NULL)
        return "shorter than it says";
    *ether = e;
    return NULL;
}
