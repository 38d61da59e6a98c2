/*
 * sniff_capture.h - where packets come from: an interface, or a file of them. The one place of
 * libpcap in what reads foreign frames.
 */
#ifndef COVEY_DAEMON_SNIFF_CAPTURE_H
#define COVEY_DAEMON_SNIFF_CAPTURE_H

#include "daemon/base/failure.h"
#include "tools/wire/sniff_packet.h"

struct sniff_source;

struct sniff_source_config {
    const char *interface; /* or: */
    const char *file;      /* pcap or pcapng; "-": standard input */
    const char *filter;    /* pcap-filter(7), NULL: none */
    const char *write;     /* file that Covey's packets are written to, NULL: none */
    uint16_t ether_type;
    unsigned lanes; /* bits by enum sniff_lane; 0: all */
};

/* NULL: *why. An interface needs CAP_NET_RAW, of which nothing is left afterwards. */
struct sniff_source *sniff_source_open(const struct sniff_source_config *config,
                                       struct failure *why);
void sniff_source_close(struct sniff_source *source);

/* The next packet, valid until the call after: 1; 0: no more, or SIGINT or SIGTERM came, which an
 * open interface takes for itself; -1: *why. */
int sniff_source_next(struct sniff_source *source, struct sniff_capture *capture,
                      struct failure *why);

/* Writes the packet that was given last to the file. 0, or -1 with *why. */
int sniff_source_write(struct sniff_source *source, struct failure *why);

/* Packets that the kernel had no room for; of a file none. */
unsigned sniff_source_dropped(struct sniff_source *source);

#endif
