/*
 * model_net_state.h - the parts of a net: for model_net.c and model_tcp.c alone.
 */
#ifndef COVEY_PROTO_MODEL_NET_STATE_H
#define COVEY_PROTO_MODEL_NET_STATE_H

#include <stddef.h>

#include "proto/model/model_net.h"

#define NET_NONE (-1)

enum frame_kind { FRAME_OF_DATA, FRAME_OF_ACK, FRAME_OF_TELL };

/* A frame on its way, in a pool; free ones are a list. */
struct net_frame {
    int next; /* in the queue of a link, or of free ones */
    int stream;
    int hop; /* on the stream's path, there or back */
    enum frame_kind kind;
    int value;    /* data: the segment; ack: arrivals that it acknowledges */
    double bytes; /* on the wire */
};

/* A directed edge of the network. */
struct net_link {
    double bytes_per_s;
    double waiting;            /* bytes */
    double ready_s;            /* when it has carried what it took */
    int first, last;           /* frames; the first is being sent */
    int held_first, held_last; /* streams of its host that found its queue full */
};

enum segment_state { SEGMENT_NEW, SEGMENT_AWAY, SEGMENT_LOST, SEGMENT_CAME };

struct net_segment {
    uint8_t state;  /* enum segment_state, as the sender knows */
    bool here;      /* at the receiver */
    uint8_t times;  /* sent */
    uint32_t stamp; /* of its last sending, in the order of the stream's */
    double sent_s;
};

struct net_receiver {
    int *arrivals; /* segments in the order in which they came */
    int arrived, acked_arrivals;
    int prefix; /* segments that came without a gap */
    bool marked;
    double ack_s; /* when what is not acknowledged is, if nothing comes */
    bool timed;   /* a timer of the net is set for that */
};

struct net_sender {
    int count; /* segments */
    struct net_segment *segments;
    int first, next, heard;       /* not acknowledged; not sent; arrivals that it knows of */
    int came, away, lost, queued; /* segments: acknowledged; under way; lost; in the host's queue */
    bool taken, left;
    uint32_t stamps, newest; /* newest: of what came */
};

struct net_window {
    double cwnd, ssthresh;
    int most_away;
    bool cut;        /* cwnd was ever */
    int recover;     /* it was cut for losses before that segment */
    bool recovering; /* what follows is of that (RFC 6937) */
    int prr_came, prr_sent;
    double cwnd_before;
};

struct net_times {
    double round_s, least_s; /* round trips: the mean, the least */
    double deviation_s;      /* four times what they are off the mean */
    double most_s;           /* of it, in the round trip that ends with segment round_end */
    double variation_s;      /* what a timeout takes beyond the mean */
    int round_end;
    double timeout_s; /* how many times as long as usual the next one is */
    double timer_s;   /* 0: none is set */
    bool timed;       /* a timer of the net is */
    bool probed;
};

/* A message under way on its pair's stream; also what net_tell() sends. In an array; free ones are
 * a list. Segments are numbered from 0. */
struct net_stream {
    struct net_message message;
    int about;
    int refs; /* frames of it, and what its tasks have not heard of */
    int next_free, next_held;
    bool done;       /* all is acknowledged: goes with the last frame */
    int there, back; /* lengths of both paths */
    int *path;       /* there, then back */
    struct net_receiver in;
    struct net_sender out;
    struct net_window window;
    struct net_times times;
};

/* What a pair's stream remembers. */
struct net_memory {
    float cwnd, ssthresh, round_s, least_s, deviation_s, most_s, variation_s;
    bool cut;
    double used_s;
};

enum timer_kind { TIMER_LINK, TIMER_ARRIVE, TIMER_STREAM, TIMER_ACK, TIMER_TASK };

struct net_timer {
    double at_s;
    uint64_t number; /* equal times: the earlier made first */
    enum timer_kind kind;
    int index; /* link, frame, stream */
    int what;  /* enum net_what */
};

struct net {
    const struct network *network;
    struct net_config config;
    net_fn *heard;
    void *context;
    double now_s;
    uint64_t lost, numbers, random;
    bool failed;
    struct net_link *links;
    struct net_memory *memory; /* by from * ranks + to */
    struct net_frame *frames;
    struct net_stream *streams;
    struct net_timer *timers; /* a heap */
    size_t timer_count, timer_room, frame_room, stream_room;
    int frame_count, stream_count, free_frame, free_stream;
};

/* ---- model_net.c ---- */

void net_timer_add(struct net *net, double at_s, enum timer_kind kind, int index, int what);
/* A task hears of it, after as long as it takes to react. */
void net_hear(struct net *net, int stream, enum net_what what);
/* Whether the queue of the host's link has room for a frame. */
bool net_has_room(const struct net *net, const struct net_stream *s);
/* Puts a frame into the queue of the first link there, or of the first one back. */
void net_frame_send(struct net *net, int stream, enum frame_kind kind, int value, double bytes);
/* Waits until the host's link has room; stream_push() is called then. */
void net_hold(struct net *net, int stream);
void net_stream_release(struct net *net, int stream);
/* A stream without segments. NET_NONE: memory is exhausted. */
int net_stream_create(struct net *net, const struct net_message *message);

/* ---- model_tcp.c ---- */

void stream_begin(struct net *net, int stream);
void stream_push(struct net *net, int stream);    /* sends what it may */
void stream_on_left(struct net *net, int stream); /* a frame left the host's queue */
void stream_on_data(struct net *net, int stream, int segment);
void stream_on_ack(struct net *net, int stream, int arrivals);
void stream_on_timer(struct net *net, int stream);
void stream_on_ack_timer(struct net *net, int stream);

#endif
