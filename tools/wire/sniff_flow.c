/*
 * sniff_flow.c - follows each stream between two tasks from its HELLO on, both ways. One that was
 * under way before the capture began is known by a segment that begins with the frame of data of a
 * task to a task; its other way likewise.
 *
 * A sequence number is 32 bits; offsets are counted on from the last one seen.
 */
#include "tools/wire/sniff_flow.h"

#include <stdlib.h>

#include "proto/auth/auth.h"

#define FLOWS_MAX 128

struct way {
    bool known;     /* where it begins */
    uint32_t first; /* sequence number of offset 0 */
    struct sniff_stream stream;
};

struct flow {
    struct flow *next; /* the last heard is first */
    struct address opener, accepter;
    uint32_t opener_tid, accepter_tid;
    bool whole; /* seen from its HELLO on */
    struct way ways[2];
};

enum { OPENER, ACCEPTER };

struct sniff_flows {
    struct flow *list;
    size_t count;
};

struct sniff_flows *sniff_flows_create(void)
{
    return calloc(1, sizeof(struct sniff_flows));
}

static void flow_free(struct flow *flow)
{
    sniff_stream_clear(&flow->ways[OPENER].stream);
    sniff_stream_clear(&flow->ways[ACCEPTER].stream);
    free(flow);
}

void sniff_flows_destroy(struct sniff_flows *flows)
{
    struct flow *flow, *next;
    if (flows == NULL)
        return;
    for (flow = flows->list; flow != NULL; flow = next) {
        next = flow->next;
        flow_free(flow);
    }
    free(flows);
}

/* The flow of a segment, moved to the front; *way says which way it goes. */
static struct flow *find_flow(struct sniff_flows *flows, const struct sniff_packet *p, int *way)
{
    for (struct flow **at = &flows->list; *at != NULL; at = &(*at)->next) {
        struct flow *flow = *at;
        bool forth =
            address_equal(&flow->opener, &p->from) && address_equal(&flow->accepter, &p->to);
        bool back =
            address_equal(&flow->opener, &p->to) && address_equal(&flow->accepter, &p->from);
        if (!forth && !back)
            continue;
        *way = forth ? OPENER : ACCEPTER;
        *at = flow->next;
        flow->next = flows->list;
        flows->list = flow;
        return flow;
    }
    return NULL;
}

static struct flow *add_flow(struct sniff_flows *flows, const struct sniff_packet *p,
                             uint32_t opener, uint32_t accepter)
{
    struct flow *flow;
    if (flows->count == FLOWS_MAX) {
        struct flow **at = &flows->list;
        while ((*at)->next != NULL)
            at = &(*at)->next;
        flow_free(*at);
        *at = NULL;
        flows->count--;
    }
    flow = calloc(1, sizeof *flow);
    if (flow == NULL)
        return NULL;
    flow->next = flows->list;
    flows->list = flow;
    flows->count++;
    flow->opener = p->from;
    flow->accepter = p->to;
    flow->opener_tid = opener;
    flow->accepter_tid = accepter;
    return flow;
}

static void way_begin(struct flow *flow, int number, uint32_t first, uint64_t handshake)
{
    struct sniff_stream_ends ends = {flow->opener_tid, flow->accepter_tid, true};
    struct way *way = &flow->ways[number];
    if (number == ACCEPTER)
        ends = (struct sniff_stream_ends){flow->accepter_tid, flow->opener_tid, true};
    sniff_stream_clear(&way->stream);
    sniff_stream_init(&way->stream, &ends, handshake);
    way->stream.may_record = flow->whole;
    way->first = first;
    way->known = true;
}

/* ---- recognition ---- */

/* Whether a segment begins with a frame that only a stream between tasks carries. */
static bool is_task_frame(const struct sniff_packet *p, struct frame *frame)
{
    struct message_header message;
    if (p->captured < FRAME_HEADER_BYTES || frame_decode(p->payload, frame) != NULL)
        return false;
    if ((frame->kind != FRAME_DATA && frame->kind != FRAME_CREDIT) ||
        tid_local(frame->source) == 0 || tid_local(frame->destination) == 0 ||
        tid_host(frame->source) == 0 || tid_host(frame->destination) == 0)
        return false;
    struct sniff_stream_ends ends = {frame->source, frame->destination, true};
    if (!sniff_stream_plausible(&ends, p->payload, p->captured))
        return false;
    return frame->kind != FRAME_DATA || !(frame->flags & FRAME_FIRST) ||
           p->captured < FRAME_HEADER_BYTES + FRAME_MESSAGE_BYTES ||
           message_header_decode(p->payload + FRAME_HEADER_BYTES, FRAME_MESSAGE_BYTES, &message) ==
               NULL;
}

/* The flow of a segment, or a new one if it is recognised as one; NULL: it is not Covey's. */
static struct flow *flow_of(struct sniff_flows *flows, const struct sniff_packet *p, int *way)
{
    uint32_t opener, accepter;
    struct frame frame;
    struct flow *flow = find_flow(flows, p, way);
    uint8_t nonce[AUTH_NONCE_BYTES];
    if (p->captured >= STREAM_HELLO_BYTES &&
        stream_auth_hello(p->payload, &opener, &accepter, nonce) == NULL &&
        (flow == NULL || p->sequence != flow->ways[OPENER].first)) {
        *way = OPENER;
        /* A connection whose HELLO this is; an older one between the same ports is over. */
        if (flow != NULL) {
            flows->list = flow->next;
            flows->count--;
            flow_free(flow);
        }
        flow = add_flow(flows, p, opener, accepter);
        if (flow == NULL)
            return NULL;
        flow->whole = true;
        way_begin(flow, OPENER, p->sequence, STREAM_HELLO_BYTES + STREAM_PROOF_BYTES);
        if (p->has_acknowledged)
            way_begin(flow, ACCEPTER, p->acknowledged, STREAM_CHALLENGE_BYTES);
        return flow;
    }
    if (flow == NULL && is_task_frame(p, &frame)) {
        *way = OPENER;
        flow = add_flow(flows, p, frame.source, frame.destination);
    }
    if (flow != NULL && !flow->ways[*way].known) {
        way_begin(flow, *way, p->sequence, 0);
        flow->ways[*way].stream.synced = false;
    }
    return flow;
}

/* ---- segments ---- */

/* The offset of a segment; false: before the beginning. */
static bool offset_of(const struct way *way, uint32_t sequence, uint64_t *offset)
{
    int32_t ahead = (int32_t)(sequence - way->first - (uint32_t)way->stream.next);
    if (ahead < 0 && way->stream.next < (uint64_t) - (int64_t)ahead)
        return false;
    *offset = way->stream.next + (uint64_t)(int64_t)ahead;
    return true;
}

bool sniff_flows_segment(struct sniff_flows *flows, const struct sniff_packet *packet,
                         const struct sniff_stream_owner *owner, struct sighting *sighting)
{
    int number = OPENER;
    struct flow *flow = packet->size == 0 ? NULL : flow_of(flows, packet, &number);
    struct sniff_stream *stream;
    uint64_t offset;
    if (flow == NULL || !offset_of(&flow->ways[number], packet->sequence, &offset))
        return false;
    stream = &flow->ways[number].stream;
    sighting->what =
        !flow->whole                                                           ? SNIFF_STREAM_BYTES
        : number == OPENER && offset < STREAM_HELLO_BYTES                      ? SNIFF_STREAM_HELLO
        : number == OPENER && offset < STREAM_HELLO_BYTES + STREAM_PROOF_BYTES ? SNIFF_STREAM_PROOF
        : number == ACCEPTER && offset < STREAM_CHALLENGE_BYTES ? SNIFF_STREAM_CHALLENGE
                                                                : SNIFF_STREAM_BYTES;
    sighting->from_task = number == OPENER ? flow->opener_tid : flow->accepter_tid;
    sighting->to_task = number == OPENER ? flow->accepter_tid : flow->opener_tid;
    sighting->again = stream->synced && offset + packet->size <= stream->next;
    sniff_stream_feed(stream, owner, offset, packet->payload, packet->captured);
    sighting->encrypted = stream->records;
    sighting->lost = stream->broken;
    stream->broken = false;
    return true;
}
