/*
 * sniffer.h - makes sense of captured packets: what Covey said in each. Pure: packets in, sightings
 * out; where they come from and what is done with them is others' business.
 */
#ifndef COVEY_DAEMON_SNIFFER_H
#define COVEY_DAEMON_SNIFFER_H

#include "proto/window/window_wire.h"
#include "proto/wire/frame.h"
#include "tools/wire/sniff_packet.h"

#define SNIFF_NOTE_BYTES 96

/* A frame whose head was completed by the packet. */
struct sniff_frame {
    struct frame frame;
    bool has_message; /* the first of a message */
    struct message_header message;
    char note[SNIFF_NOTE_BYTES]; /* what else its head says; "" */
};

/* What a packet is. */
enum sniff_what {
    SNIFF_DATAGRAM,
    SNIFF_STREAM_HELLO, /* tcp: the handshake of auth.h, and what follows it */
    SNIFF_STREAM_CHALLENGE,
    SNIFF_STREAM_PROOF,
    SNIFF_STREAM_BYTES
};

/* What stands before the payload of a datagram. */
struct sniff_head {
    uint8_t version, kind; /* datagram; kind 0: none that is known */
    uint32_t vm;
    bool has_number;
    uint64_t number;
    bool has_target; /* PROBE ... CALL_BACK */
    uint32_t target;
    uint8_t reason; /* REFUSE */
    bool has_cast;  /* CAST */
    uint32_t cast;  /* its channel of that host, see cast_wire.h */
    uint8_t cast_flags;
};

/* One line. Valid only while it is reported. */
struct sighting {
    uint64_t time_us;
    enum sniff_lane lane;
    enum sniff_what what;
    struct address from, to;
    uint32_t from_host, to_host;     /* indices, 0: not known */
    const char *from_name, *to_name; /* NULL: not known */
    uint32_t from_task, to_task;     /* tcp: tids of the stream, 0: not known */
    size_t size, captured;           /* of the datagram or segment */
    uint32_t channel;                /* ether */
    bool detour; /* udp: of a session on raw Ethernet, whose segment carries nothing */
    struct sniff_head head;
    const char *refusal; /* what is wrong with it, NULL: nothing */
    bool encrypted;
    bool has_pieces; /* DATA in the clear */
    struct wire_packet pieces;
    bool again; /* tcp: bytes that were seen before */
    bool lost;  /* the stream's frames are out of step now */
    const struct sniff_frame *frames;
    size_t frame_count;
    size_t record_count; /* tcp, encrypted */
};

typedef void sniffer_report(void *context, const struct sighting *sighting);

struct sniffer;

/* NULL: no memory. */
struct sniffer *sniffer_create(uint16_t ether_type, sniffer_report *report, void *context);
void sniffer_destroy(struct sniffer *s);

/* Takes a packet; reports each datagram or segment of Covey's in it. */
void sniffer_packet(struct sniffer *s, const struct sniff_capture *capture);

/* A host of the VM that runs here; it is told by the address of its daemon. */
void sniffer_know(struct sniffer *s, const struct address *address, uint32_t index,
                  const char *name);

/* Whether a host was heard of, or is known, that has this name or this number as its index. */
bool sniffer_knows(const struct sniffer *s, const char *host);

#endif
