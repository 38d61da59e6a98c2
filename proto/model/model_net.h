/*
 * model_net.h - messages of ranks over the links of a network, frame by frame in virtual time: what
 * TCP and the queues of switches make of messages that meet on a link.
 *
 * A link carries one frame after the other, each way, at its rate. What comes while it is busy
 * waits in a queue of so many bytes, and is lost when the queue is full. A message travels on the
 * stream of its pair of ranks, as Linux's TCP carries it: it begins with ten frames under way, has
 * more as acknowledgements come, fewer when frames are lost, and waits 200 ms and more where so few
 * are under way that nothing shows what was lost. Acknowledgements take their part of the links,
 * too.
 *
 * Sources: RFC 9438 (CUBIC) with HyStart, RFC 6928 (first window), RFC 8985 (RACK and tail loss
 * probes), RFC 6298 with Linux's least time of 200 ms.
 *
 * Streams remember from message to message: net_run() may be called again after more sends.
 */
#ifndef COVEY_PROTO_MODEL_NET_H
#define COVEY_PROTO_MODEL_NET_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/network/network.h"

/* What links and hosts are like. */
struct net_config {
    double frame_bytes;  /* of a message in a full frame */
    double header_bytes; /* that a frame takes on a link besides, gaps and checksums included */
    double queue_bytes;  /* of each link, each way */
    double delay_s;      /* of a short message from task to task over idle links (alpha) */
    double skew_s;       /* tasks begin within so long, each at any time of it */
    uint64_t seed;       /* of when tasks begin, and how long each takes to react */
};

struct net_message {
    int from, to; /* ranks */
    double bytes;
    double mark_bytes; /* of which NET_MARK tells when they have come */
    /* The receiver acknowledges as soon as half of what came, but not more than these, are not
     * acknowledged; 0: every second frame. */
    double ack_bytes;
};

/* What tasks are told of. A task hears of it a little later than it happens. */
enum net_what {
    NET_TAKEN, /* the sender's kernel has the message's bytes */
    NET_LEFT,  /* all of them are on their way, but one frame */
    NET_MARK,  /* to the receiver: all up to the mark have come */
    NET_WHOLE, /* to the receiver: all have */
    NET_TOLD,  /* a short message of net_tell() has come */
    NET_START  /* of net_wake() */
};

struct net_event {
    enum net_what what;
    int from, to;
    int about; /* NET_TOLD */
};

/* May send more. A message that memory is short for shows in net_run(). */
typedef void net_fn(void *context, const struct net_event *event);

struct net;

/* The network must stay. NULL: memory is exhausted. */
struct net *net_create(const struct network *network, const struct net_config *config,
                       net_fn *heard, void *context);
void net_destroy(struct net *net); /* NULL is fine */

/* Sends it. A pair has one message under way at a time. */
void net_send(struct net *net, const struct net_message *message);

/* A short message, which is never lost, and is told of as NET_TOLD. */
void net_tell(struct net *net, int from, int to, int about);

/* NET_START at that rank (in `from`): within the skew, and after what a task takes to react. */
void net_wake(struct net *net, int rank);

/* Lets time go on until nothing is under way, and then for so many seconds more. Returns 0, or -1
 * when memory was exhausted. */
int net_run(struct net *net, double rest_s);

double net_now(const struct net *net); /* seconds since the beginning */

/* Frames that full queues dropped so far. */
uint64_t net_lost(const struct net *net);

#endif
