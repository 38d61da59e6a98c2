/*
 * sniff_packet.h - what a capture holds of the layers below Covey: link, network, transport.
 */
#ifndef COVEY_DAEMON_SNIFF_PACKET_H
#define COVEY_DAEMON_SNIFF_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/wire/address.h"

enum sniff_lane { SNIFF_UDP, SNIFF_ETHER, SNIFF_TCP, SNIFF_LANES };

/* "udp", "ether", "tcp". */
const char *sniff_lane_name(int lane);

/* One packet as it was captured. */
struct sniff_capture {
    uint64_t time_us; /* since 1970 */
    int link;         /* DLT_... or LINKTYPE_..., which agree or are told apart here */
    const uint8_t *bytes;
    size_t captured; /* bytes there are */
    size_t size;     /* bytes there were on the wire, not less */
};

/* What it carries. Addresses of udp and tcp have ports; one that the link does not tell has
 * ADDRESS_NONE. `payload` looks into the capture. */
struct sniff_packet {
    enum sniff_lane lane;
    struct address from, to;
    const uint8_t *payload;
    size_t captured, size;
    uint32_t sequence, acknowledged; /* tcp */
    bool has_acknowledged;
};

/* Whether Covey could be in it: a datagram of UDP, a frame of this EtherType, a segment of TCP.
 * Packets cut short by the capture are taken as far as they go. */
bool sniff_packet_read(struct sniff_packet *packet, const struct sniff_capture *capture,
                       uint16_t ether_type);

/* Whether packets of that link type can be read at all. */
bool sniff_packet_can(int link);

#endif
