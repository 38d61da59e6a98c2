/*
 * media.h - the media by which datagrams go between hosts: UDP and raw Ethernet, and before them
 * the faults that are wanted.
 */
#ifndef COVEY_DAEMON_MEDIA_H
#define COVEY_DAEMON_MEDIA_H

#include "daemon/base/daemon.h"
#include "daemon/link/udp.h"

struct media {
    struct udp *udp;
    struct fault_line *faults; /* before the sockets; NULL: none are wanted, and nothing is slow */
    struct media_lane *lanes;  /* to the hosts of a slow network, by address */
    size_t lane_count, lane_room;
    struct loop_fd *udp_watch;
    uint64_t read_us;        /* when UDP was read in the middle of a large frame; 0: not in one */
    double receive_rate;     /* of large frames, bytes per us; 0: not known */
    uint64_t read_at_us;     /* UDP is left alone until then; 0: it is watched */
    struct segment *segment; /* raw Ethernet, see segment.h */
    udp_datagram_fn *on_datagram;
};

/* Opens UDP, and the faults. What comes by any medium is handed to `fn`, with the daemon. 0, or -1
 * and *why. */
int media_open(struct daemon *d, udp_datagram_fn *fn, struct failure *why);
int media_watch(struct daemon *d, struct failure *why); /* from now on: the node is there */
void media_close(struct daemon *d);                     /* also when it is not open, or half */

/* Sends a datagram by the medium of the address, through the faults that are wanted. */
void media_send(struct daemon *d, const struct address *to, const uint8_t *bytes, size_t size);

/* Where a datagram to that address may be put together, that media_send() then need not copy: see
 * udp_room(), ether_room(). NULL: anywhere. */
uint8_t *media_room(struct daemon *d, const struct address *to);

/* Reads what was left alone, if it is time. */
void media_look(struct daemon *d);

/* At the end of a round: what was sent leaves. Returns when media_look() and this are due again. */
uint64_t media_flush(struct daemon *d);

#endif
