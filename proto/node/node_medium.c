/*
 * node_medium.c - the two media of a node: which of them goes to a host, and the peers on each.
 *
 * A medium is used to a host when this node has it and the host's row names an address for it. A
 * frame that must stay behind what went over MEDIUM_ETHER waits in the peer of that medium, with
 * how much had been written when it came; it goes when so much is acknowledged. What is
 * acknowledged has been delivered: the stream has no gaps then.
 *
 * What the VM agrees on, and with it locks, tokens, sessions, barriers, elections and decisions,
 * travels on the data link, as in the protocol of Schmidt & Sunderam (section 4.2). Such a frame
 * takes MEDIUM_ETHER if there is a session on it: the handshake showed that the two hosts share a
 * segment. The first of them asks for the session and takes MEDIUM_IP, and so do all where none
 * opens. Whether the segment carries anything just now is the session's concern: what it has taken
 * on is delivered by whatever way there is (session.h).
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "proto/node/node_state.h"
#include "proto/wire/list.h"

enum node_medium node_medium_of(const struct address *address)
{
    return address->family == ADDRESS_ETHER ? MEDIUM_ETHER : MEDIUM_IP;
}

uint8_t node_medium_flags(enum node_medium medium, uint8_t flags)
{
    return (uint8_t)(medium == MEDIUM_ETHER ? flags | FRAME_ETHER : flags & ~FRAME_ETHER);
}

void node_medium_send(struct medium *medium, const struct address *to, const uint8_t *bytes,
                      size_t size)
{
    const struct node_owner *owner = &medium->node->owner;
    struct cursor c = cursor_writer(medium->detour, DETOUR_BYTES);

    if (node_medium_of(to) == medium->number || size > medium->endpoint.datagram_bytes_max) {
        owner->send(owner->context, to, bytes, size);
        return;
    }
    cursor_put_u16(&c, DETOUR_MAGIC);
    cursor_put_u16(&c, 0);
    memcpy(medium->detour + DETOUR_BYTES, bytes, size);
    owner->send(owner->context, to, medium->detour, DETOUR_BYTES + size);
}

void node_send_alone(struct medium *medium, const struct address *to, const uint8_t *bytes,
                     size_t size)
{
    medium->endpoint.counters.datagrams_sent++;
    medium->endpoint.counters.bytes_sent += size;
    node_medium_send(medium, to, bytes, size);
}

static bool has_address(const struct host *host, enum node_medium medium)
{
    for (uint8_t i = 0; i < host->address_count; i++)
        if (node_medium_of(&host->addresses[i]) == medium)
            return true;
    return false;
}

static struct medium *row_medium(struct node *node, const struct row *row, enum node_medium wanted)
{
    bool ether = node->has_ether && has_address(&row->host, MEDIUM_ETHER);

    if (ether && (wanted == MEDIUM_ETHER || !has_address(&row->host, MEDIUM_IP)))
        return &node->media[MEDIUM_ETHER];
    return &node->media[MEDIUM_IP];
}

const struct medium *node_medium_to(struct node *node, uint32_t host, enum node_medium wanted)
{
    const struct row *row = table_row(member_table(node->member), host);

    return row != NULL ? row_medium(node, row, wanted) : &node->media[MEDIUM_IP];
}

/* ---- peers ---- */

struct peer *node_peer(struct medium *medium, const struct row *row)
{
    struct node *node = medium->node;
    uint32_t index = row->host.index;
    struct peer *peer = medium->peers[index];

    if (peer != NULL)
        return peer;
    peer = calloc(1, sizeof *peer);
    if (peer == NULL)
        return NULL;
    peer->medium = medium;
    peer->index = index;
    peer->close_us = UINT64_MAX;
    peer->session = session_create(&medium->endpoint, &row->host);
    if (peer->session == NULL) {
        free(peer);
        return NULL;
    }
    assert(node->open_count < sizeof node->open / sizeof node->open[0]);
    medium->peers[index] = peer;
    peer->at = node->open_count++;
    node->open[peer->at] = peer;
    peer->deadline_us = UINT64_MAX;
    node_peer_touch(peer);
    return peer;
}

struct peer *node_living_peer(struct node *node, uint32_t host, enum node_medium wanted)
{
    const struct row *row = table_row(member_table(node->member), host);
    struct peer *peer;

    if (row == NULL || !row_is_living(row) || host == member_self(node->member))
        return NULL;
    peer = node_peer(row_medium(node, row, wanted), row);
    if (peer != NULL)
        node_peer_touch(peer);
    return peer;
}

void node_peer_touch(struct peer *peer)
{
    struct node *node = peer->medium->node;

    if (peer->touched)
        return;
    peer->touched = true;
    peer->next_touched = node->touched;
    node->touched = peer;
}

static struct behind *behind_take(struct peer *peer)
{
    struct behind *b = peer->behind;

    assert(b != NULL && peer->behind_last != NULL);
    peer->behind = b->next;
    peer->medium->node->behind_count--;
    if (peer->behind == NULL)
        peer->behind_last = NULL;
    return b;
}

void node_peer_count(struct peer *peer, size_t queued)
{
    struct node *node = peer->medium->node;

    node->owing -= peer->queued > 0;
    node->owing += queued > 0;
    node->queued += queued - peer->queued;
    peer->queued = queued;
}

void node_peer_destroy(struct peer *peer)
{
    struct node *node = peer->medium->node;
    size_t i = peer->at;

    assert(i < node->open_count && node->open[i] == peer);
    assert(peer->medium->peers[peer->index] == peer);
    if (peer->touched)
        UNLINK(node->touched, peer, next_touched);
    while (peer->behind != NULL)
        free(behind_take(peer));
    node_stat_closed(node, peer->session);
    session_destroy(peer->session);
    peer->medium->peers[peer->index] = NULL;
    node->open[i] = node->open[--node->open_count];
    node->open[i]->at = i;
    node_peer_count(peer, 0);
    free(peer);
}

size_t node_datagram_bytes(const struct node *node, uint32_t host)
{
    const struct medium *m = &node->media[MEDIUM_IP];
    const struct peer *peer = host <= HOST_INDEX_MAX ? m->peers[host] : NULL;
    struct window_stats stats;

    if (peer == NULL)
        return m->endpoint.datagram_bytes_min;
    window_stats(session_window(peer->session), &stats);
    return stats.packet_bytes + DATAGRAM_OVERHEAD_BYTES;
}

/* ---- what is agreed ---- */

/* Fail timeouts from one attempt to open a session to the next: hosts that share no segment, and
 * MACs that no switch there knows, are not asked for often. */
#define TRY_AGAIN 12

/* A REPLY that is flagged answers a question about what is agreed: its asker must not hear of
 * anything newer before. */
static bool is_of_agreement(const struct frame *frame)
{
    switch (frame->kind) {
    case FRAME_RAFT:
    case FRAME_PROPOSE:
    case FRAME_APPLIED:
    case FRAME_EVENT:
    case FRAME_RESEND:
    case FRAME_ASK:
        return true;
    default:
        return frame->kind == FRAME_REPLY && (frame->flags & FRAME_ETHER) != 0;
    }
}

/* Whether a session showed that the host is on our segment; if none did, one is asked for. */
static bool shares_segment(struct node *node, uint32_t host)
{
    struct peer *peer = host <= HOST_INDEX_MAX ? node->media[MEDIUM_ETHER].peers[host] : NULL;

    if (!node->config.ether_services || node_ether_state(node, host) == NODE_ETHER_NONE)
        return false;
    if (peer != NULL && (session_is_open(peer->session) || node->now_us < peer->try_us))
        return session_is_open(peer->session);
    peer = node_living_peer(node, host, MEDIUM_ETHER);
    if (peer != NULL) {
        peer->try_us = node->now_us + TRY_AGAIN * node->config.fail_timeout_us;
        session_open(peer->session, node->now_us);
    }
    return false;
}

struct peer *node_frame_peer(struct node *node, uint32_t host, const struct frame *frame)
{
    bool agreement = is_of_agreement(frame);
    bool ether = agreement ? shares_segment(node, host) : (frame->flags & FRAME_ETHER) != 0;
    struct peer *peer = node_living_peer(node, host, ether ? MEDIUM_ETHER : MEDIUM_IP);

    if (agreement && peer != NULL) {
        bool astray = session_is_astray(peer->session);
        struct medium *carrier = astray ? &node->media[MEDIUM_IP] : peer->medium;

        carrier->endpoint.counters.service_frames++;
    }
    return peer;
}

/* ---- what waits behind MEDIUM_ETHER ---- */

int node_peer_behind(struct peer *peer, const struct frame *frame, const uint8_t *payload)
{
    struct behind *b = malloc(sizeof *b);

    if (b == NULL)
        return -ENOMEM;
    *b = (struct behind){.written = session_written(peer->session), .frame = *frame};
    if (frame->length > 0)
        memcpy(b->payload, payload, frame->length);
    if (peer->behind_last != NULL)
        peer->behind_last->next = b;
    else
        peer->behind = b;
    peer->behind_last = b;
    peer->medium->node->behind_count++;
    return 0;
}

void node_release_behind(struct node *node, uint64_t now_us)
{
    for (size_t i = 0; node->behind_count > 0 && i < node->open_count; i++)
        if (node->open[i]->behind != NULL) {
            struct peer *peer = node->open[i];
            uint64_t delivered = session_written(peer->session) - session_queued(peer->session);

            assert(session_queued(peer->session) <= session_written(peer->session));
            while (peer->behind != NULL && peer->behind->written <= delivered) {
                struct behind *b = behind_take(peer);

                node_send(peer->medium->node, peer->index, &b->frame, b->payload, now_us);
                free(b);
            }
        }
}

/* ---- opening ---- */

enum node_ether node_ether_state(const struct node *node, uint32_t host)
{
    const struct row *row = table_row(member_table(node->member), host);
    const struct peer *peer = host <= HOST_INDEX_MAX ? node->media[MEDIUM_ETHER].peers[host] : NULL;

    if (row == NULL || !node->has_ether || !has_address(&row->host, MEDIUM_ETHER))
        return NODE_ETHER_NONE;
    if (peer != NULL && session_is_open(peer->session) && !session_is_astray(peer->session))
        return NODE_ETHER_OPEN;
    return peer != NULL && session_is_opening(peer->session) ? NODE_ETHER_OPENING
                                                             : NODE_ETHER_CLOSED;
}

void node_open_ether(struct node *node, uint32_t host, uint64_t now_us)
{
    struct peer *peer = node_living_peer(node, host, MEDIUM_ETHER);

    if (peer != NULL && peer->medium->number == MEDIUM_ETHER &&
        (!session_is_open(peer->session) || session_is_astray(peer->session)))
        session_open(peer->session, now_us);
}
