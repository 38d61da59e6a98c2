/*
 * sniff_packet.c - takes apart what lies below Covey in a captured packet: Ethernet with its VLAN
 * tags, Linux' cooked forms of it, the loopback of BSD and raw IP; IPv4 and IPv6; UDP and TCP.
 *
 * Every layer is a function that reads its head from one bounded cursor and hands on to the next;
 * none believes a length: `size` is how much the layer above says there was, never more than the
 * layer below had, and what was captured may be less.
 */
#include "tools/wire/sniff_packet.h"

#include <string.h>

#include "proto/wire/ether.h"

enum link {
    LINK_NULL = 0,
    LINK_ETHERNET = 1,
    LINK_RAW_BSD = 12, /* DLT_RAW of Linux, and of OpenBSD: */
    LINK_RAW_OPENBSD = 14,
    LINK_RAW = 101,
    LINK_LOOP = 108,
    LINK_COOKED = 113,
    LINK_IPV4 = 228,
    LINK_IPV6 = 229,
    LINK_COOKED2 = 276
};

enum { TYPE_IPV4 = 0x0800, TYPE_IPV6 = 0x86dd, TYPE_VLAN = 0x8100, TYPE_SERVICE_VLAN = 0x88a8 };
enum { IP_TCP = 6, IP_UDP = 17 };
enum { IP6_HOP = 0, IP6_ROUTING = 43, IP6_FRAGMENT = 44, IP6_DESTINATION = 60 };

#define VLAN_TAGS_MAX 2
#define IP6_EXTENSIONS_MAX 8
#define TCP_ACK 0x10

/* What is left to read: the cursor's bytes, and how many there were on the wire. */
struct layer {
    struct cursor c;
    size_t size;
    uint16_t ether_type; /* Covey's */
};

const char *sniff_lane_name(int lane)
{
    static const char *const names[SNIFF_LANES] = {"udp", "ether", "tcp"};
    return names[lane];
}

/* A head of `bytes` was read: fewer are left on the wire. */
static bool layer_pass(struct layer *l, size_t bytes)
{
    if (!cursor_ok(&l->c) || bytes > l->size)
        return false;
    l->size -= bytes;
    return true;
}

/* The layer above says how long it is: what follows is padding. */
static void layer_limit(struct layer *l, size_t size)
{
    if (size < l->size)
        l->size = size;
    if (cursor_left(&l->c) > l->size)
        l->c.end = l->c.at + l->size;
}

static bool take_rest(const struct layer *l, struct sniff_packet *p, enum sniff_lane lane)
{
    p->lane = lane;
    p->payload = l->c.at;
    p->captured = cursor_left(&l->c);
    p->size = l->size;
    return cursor_ok(&l->c);
}

/* ---- transport ---- */

static void set_port(struct address *address, uint16_t port)
{
    size_t at = address->family == ADDRESS_IPV4 ? 4 : 16;
    address->bytes[at] = (uint8_t)(port >> 8);
    address->bytes[at + 1] = (uint8_t)port;
}

static void read_ports(struct layer *l, struct sniff_packet *p)
{
    set_port(&p->from, cursor_get_u16(&l->c));
    set_port(&p->to, cursor_get_u16(&l->c));
}

static bool read_udp(struct layer *l, struct sniff_packet *p)
{
    read_ports(l, p);
    size_t size = cursor_get_u16(&l->c);
    cursor_get_u16(&l->c);
    if (!layer_pass(l, 8) || (size != 0 && size < 8))
        return false;
    if (size != 0) /* 0: larger than the field, before it is cut into segments */
        layer_limit(l, size - 8);
    return take_rest(l, p, SNIFF_UDP);
}

static bool read_tcp(struct layer *l, struct sniff_packet *p)
{
    read_ports(l, p);
    p->sequence = cursor_get_u32(&l->c);
    p->acknowledged = cursor_get_u32(&l->c);
    size_t head = (size_t)(cursor_get_u8(&l->c) >> 4) * 4;
    p->has_acknowledged = (cursor_get_u8(&l->c) & TCP_ACK) != 0;
    if (head < 20)
        return false;
    cursor_get_view(&l->c, head - 14);
    return layer_pass(l, head) && take_rest(l, p, SNIFF_TCP);
}

static bool read_transport(struct layer *l, struct sniff_packet *p, uint8_t protocol)
{
    if (protocol == IP_UDP)
        return read_udp(l, p);
    return protocol == IP_TCP && read_tcp(l, p);
}

/* ---- network ---- */

static bool read_ip4(struct layer *l, struct sniff_packet *p)
{
    uint8_t first = cursor_get_u8(&l->c), protocol;
    size_t head = (size_t)(first & 15) * 4, size;
    cursor_get_u8(&l->c);
    size = cursor_get_u16(&l->c);
    cursor_get_u16(&l->c);
    uint16_t fragment = cursor_get_u16(&l->c);
    cursor_get_u8(&l->c);
    protocol = cursor_get_u8(&l->c);
    cursor_get_u16(&l->c);
    p->from = (struct address){.family = ADDRESS_IPV4, .size = 6};
    p->to = p->from;
    cursor_get_bytes(&l->c, p->from.bytes, 4);
    cursor_get_bytes(&l->c, p->to.bytes, 4);
    if (first >> 4 != 4 || head < 20 || (size != 0 && size < head))
        return false;
    cursor_get_view(&l->c, head - 20);
    if (!layer_pass(l, head) || (fragment & 0x1fff) != 0)
        return false; /* a later fragment has no head of what is in it */
    if (size != 0)
        layer_limit(l, size - head);
    return read_transport(l, p, protocol);
}

/* Passes over one extension header and says what follows it; false: nothing that could be read. */
static bool pass_extension(struct layer *l, uint8_t *protocol)
{
    uint8_t kind = *protocol;
    *protocol = cursor_get_u8(&l->c);
    size_t size = 8 + 8 * (size_t)cursor_get_u8(&l->c);
    if (kind == IP6_FRAGMENT) {
        size = 8;
        if ((cursor_get_u16(&l->c) & 0xfff8) != 0)
            return false;
        cursor_get_u32(&l->c);
    } else {
        cursor_get_view(&l->c, size - 2);
    }
    return layer_pass(l, size);
}

static bool is_extension(uint8_t protocol)
{
    return protocol == IP6_HOP || protocol == IP6_ROUTING || protocol == IP6_FRAGMENT ||
           protocol == IP6_DESTINATION;
}

static bool read_ip6(struct layer *l, struct sniff_packet *p)
{
    uint32_t first = cursor_get_u32(&l->c);
    size_t size = cursor_get_u16(&l->c);
    uint8_t protocol = cursor_get_u8(&l->c);
    cursor_get_u8(&l->c);
    p->from = (struct address){.family = ADDRESS_IPV6, .size = 22};
    p->to = p->from;
    cursor_get_bytes(&l->c, p->from.bytes, 16);
    cursor_get_bytes(&l->c, p->to.bytes, 16);
    if (first >> 28 != 6 || !layer_pass(l, 40))
        return false;
    if (size != 0)
        layer_limit(l, size);
    for (int i = 0; i < IP6_EXTENSIONS_MAX && is_extension(protocol); i++)
        if (!pass_extension(l, &protocol))
            return false;
    return read_transport(l, p, protocol);
}

static bool read_ip(struct layer *l, struct sniff_packet *p)
{
    if (cursor_left(&l->c) == 0)
        return false;
    return *l->c.at >> 4 == 6 ? read_ip6(l, p) : read_ip4(l, p);
}

/* ---- link ---- */

/* What the field of 802.3 or a cooked head announces. */
static bool read_typed(struct layer *l, struct sniff_packet *p, uint16_t type)
{
    for (int i = 0; i < VLAN_TAGS_MAX && (type == TYPE_VLAN || type == TYPE_SERVICE_VLAN); i++) {
        cursor_get_u16(&l->c);
        type = cursor_get_u16(&l->c);
        if (!layer_pass(l, 4))
            return false;
    }
    if (type == l->ether_type)
        return take_rest(l, p, SNIFF_ETHER);
    return (type == TYPE_IPV4 || type == TYPE_IPV6) && read_ip(l, p);
}

static bool read_ethernet(struct layer *l, struct sniff_packet *p)
{
    uint16_t type;
    ether_get_link(&l->c, &p->to, &p->from, &type);
    return layer_pass(l, ETHER_LINK_BYTES) && read_typed(l, p, type);
}

/* The sender's MAC is told where it has one; the receiver's never. */
static void read_cooked_sender(struct layer *l, struct sniff_packet *p, uint16_t bytes)
{
    uint8_t mac[8];
    cursor_get_bytes(&l->c, mac, sizeof mac);
    p->to = (struct address){.family = ADDRESS_NONE};
    p->from = bytes == ETHER_MAC_BYTES ? ether_address(mac) : p->to;
}

static bool read_cooked(struct layer *l, struct sniff_packet *p)
{
    uint16_t bytes, type;
    cursor_get_u32(&l->c); /* direction, kind of device */
    bytes = cursor_get_u16(&l->c);
    read_cooked_sender(l, p, bytes);
    type = cursor_get_u16(&l->c);
    return layer_pass(l, 16) && read_typed(l, p, type);
}

static bool read_cooked2(struct layer *l, struct sniff_packet *p)
{
    uint16_t type = cursor_get_u16(&l->c);
    cursor_get_u16(&l->c);
    cursor_get_u32(&l->c); /* interface */
    cursor_get_u16(&l->c); /* kind of device */
    cursor_get_u8(&l->c);  /* direction */
    read_cooked_sender(l, p, cursor_get_u8(&l->c));
    return layer_pass(l, 20) && read_typed(l, p, type);
}

static bool read_loopback(struct layer *l, struct sniff_packet *p)
{
    cursor_get_u32(&l->c); /* a family, by whose numbers and order nobody knows: IP says itself */
    return layer_pass(l, 4) && read_ip(l, p);
}

typedef bool layer_reader(struct layer *l, struct sniff_packet *p);

static layer_reader *reader_of(int link)
{
    switch (link) {
    case LINK_ETHERNET:
        return read_ethernet;
    case LINK_COOKED:
        return read_cooked;
    case LINK_COOKED2:
        return read_cooked2;
    case LINK_NULL:
    case LINK_LOOP:
        return read_loopback;
    case LINK_RAW_BSD:
    case LINK_RAW_OPENBSD:
    case LINK_RAW:
    case LINK_IPV4:
    case LINK_IPV6:
        return read_ip;
    default:
        return NULL;
    }
}

bool sniff_packet_can(int link)
{
    return reader_of(link) != NULL;
}

bool sniff_packet_read(struct sniff_packet *packet, const struct sniff_capture *capture,
                       uint16_t ether_type)
{
    layer_reader *reader = reader_of(capture->link);
    struct layer l = {cursor_reader(capture->bytes, capture->captured), capture->size, ether_type};
    memset(packet, 0, sizeof *packet);
    return reader != NULL && reader(&l, packet);
}
