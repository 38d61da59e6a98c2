/*
 * sniff_stream.h - the frames in one direction of a stream that is overheard: pieces go in as they
 * are captured, lost, doubled and out of order; the head of each frame comes out.
 */
#ifndef COVEY_DAEMON_SNIFF_STREAM_H
#define COVEY_DAEMON_SNIFF_STREAM_H

#include "proto/wire/frame.h"

/* Who is told what was found. */
struct sniff_stream_owner {
    void *context;
    /* A frame, with the beginning of its payload, or all of it where that is wanted. */
    void (*frame)(void *context, const struct frame *frame, const uint8_t *payload, size_t size);
    /* An encrypted record (record.h) of so many bytes. */
    void (*record)(void *context, size_t bytes);
};

/* Between whom it flows, to know a frame when one is seen: hosts' indices, or tids; 0: unknown, and
 * of a task told by the first frame. */
struct sniff_stream_ends {
    uint32_t from, to;
    bool are_tids;
};

struct sniff_piece;

struct sniff_stream {
    struct sniff_stream_ends ends;
    bool may_record; /* what follows may be encrypted records; the first head tells */
    bool records;    /* it is */
    bool synced;     /* the place of the next head is known */
    bool broken;     /* since the last look a head made no sense */
    uint64_t next;   /* offset of the next byte */
    uint64_t skip;   /* so many bytes before the next head */
    struct frame frame;
    uint8_t *head; /* header and beginning of the payload */
    size_t have, want, capacity;
    struct sniff_piece *pending; /* by offset */
    size_t pending_count, pending_bytes;
};

/* A stream whose bytes begin at offset 0, the first frame `skip` bytes later. */
void sniff_stream_init(struct sniff_stream *s, const struct sniff_stream_ends *ends, uint64_t skip);
void sniff_stream_clear(struct sniff_stream *s);

/* Takes a piece. One that was not seen from its beginning is taken up at the first piece that
 * begins with a frame of these ends. */
void sniff_stream_feed(struct sniff_stream *s, const struct sniff_stream_owner *owner,
                       uint64_t offset, const uint8_t *bytes, size_t size);

/* Whether bytes begin with the header of a frame between these ends. */
bool sniff_stream_plausible(const struct sniff_stream_ends *ends, const uint8_t *bytes,
                            size_t size);

#endif
