/*
 * address.c - candidates for where a daemon can be reached. The engines only compare and carry
 * them; the text is for people who read the log.
 */
#include "proto/wire/address.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

/* How many bytes an address of that family has, 0 for an unknown family. */
static size_t family_bytes(uint8_t family)
{
    switch (family) {
    case ADDRESS_IPV4:
        return 6;
    case ADDRESS_IPV6:
        return 22;
    case ADDRESS_ETHER:
        return 6;
    default:
        return 0;
    }
}

bool address_equal(const struct address *a, const struct address *b)
{
    return a->family == b->family && a->size == b->size && memcmp(a->bytes, b->bytes, a->size) == 0;
}

void address_put(struct cursor *c, const struct address *address)
{
    cursor_put_u8(c, address->family);
    cursor_put_u8(c, address->size);
    cursor_put_bytes(c, address->bytes, address->size);
}

void address_get(struct cursor *c, struct address *address)
{
    struct address a = {0};

    a.family = cursor_get_u8(c);
    a.size = cursor_get_u8(c);
    if (family_bytes(a.family) == 0 || a.size != family_bytes(a.family)) {
        c->bad = true;
        return;
    }
    cursor_get_bytes(c, a.bytes, a.size);
    if (cursor_ok(c))
        *address = a;
}

void address_text(const struct address *address, char text[ADDRESS_TEXT_BYTES])
{
    const uint8_t *b = address->bytes;
    char ip[INET6_ADDRSTRLEN] = "";

    if (address->family == ADDRESS_IPV4 && inet_ntop(AF_INET, b, ip, sizeof ip))
        snprintf(text, ADDRESS_TEXT_BYTES, "%s:%d", ip, b[4] << 8 | b[5]);
    else if (address->family == ADDRESS_IPV6 && inet_ntop(AF_INET6, b, ip, sizeof ip))
        snprintf(text, ADDRESS_TEXT_BYTES, "[%s]:%d", ip, b[16] << 8 | b[17]);
    else if (address->family == ADDRESS_ETHER)
        snprintf(text, ADDRESS_TEXT_BYTES, "%02x:%02x:%02x:%02x:%02x:%02x", b[0], b[1], b[2], b[3],
                 b[4], b[5]);
    else
        snprintf(text, ADDRESS_TEXT_BYTES, "(no address)");
}
