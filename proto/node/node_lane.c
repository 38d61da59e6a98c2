/*
 * node_lane.c - the two lanes of a node: which of them goes to a host, and the peers on each.
 *
 * A lane is used to a host when this node has it and the host's row names an address for it. A
 * frame that must stay behind what went over LANE_ETHER waits in the peer of that lane, with how
 * much had been written when it came; it goes when so much is acknowledged. What is acknowledged
 * has been delivered: the stream has no gaps then.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "proto/node/node_state.h"

enum node_lane node_lane_of(const struct address *address)
{
    return address->family == ADDRESS_ETHER ? LANE_ETHER : LANE_IP;
}

uint8_t node_lane_flags(enum node_lane lane, uint8_t flags)
{
    return (uint8_t)(lane == LANE_ETHER ? flags | FRAME_ETHER : flags & ~FRAME_ETHER);
}

void node_lane_send(struct lane *lane, const struct address *to, const uint8_t *bytes, size_t size)
{
    const struct node_owner *owner = &lane->node->owner;
    struct cursor c = cursor_writer(lane->detour, DETOUR_BYTES);

    if (node_lane_of(to) == lane->number || size > lane->endpoint.datagram_bytes_max) {
        owner->send(owner->context, to, bytes, size);
        return;
    }
    cursor_put_u16(&c, DETOUR_MAGIC);
    cursor_put_u16(&c, 0);
    memcpy(lane->detour + DETOUR_BYTES, bytes, size);
    owner->send(owner->context, to, lane->detour, DETOUR_BYTES + size);
}

static bool has_address(const struct host *host, enum node_lane lane)
{
    for (uint8_t i = 0; i < host->address_count; i++)
        if (node_lane_of(&host->addresses[i]) == lane)
            return true;
    return false;
}

static struct lane *row_lane(struct node *node, const struct row *row, enum node_lane wanted)
{
    bool ether = node->has_ether && has_address(&row->host, LANE_ETHER);

    if (ether && (wanted == LANE_ETHER || !has_address(&row->host, LANE_IP)))
        return &node->lanes[LANE_ETHER];
    return &node->lanes[LANE_IP];
}

const struct lane *node_lane_to(struct node *node, uint32_t host, enum node_lane wanted)
{
    const struct row *row = table_row(member_table(node->member), host);

    return row ? row_lane(node, row, wanted) : &node->lanes[LANE_IP];
}

/* ---- peers ---- */

struct peer *node_peer(struct lane *lane, const struct row *row)
{
    struct node *node = lane->node;
    uint32_t index = row->host.index;
    struct peer *peer = lane->peers[index];

    if (peer)
        return peer;
    peer = calloc(1, sizeof *peer);
    if (!peer)
        return NULL;
    peer->lane = lane;
    peer->index = index;
    peer->close_us = UINT64_MAX;
    peer->session = session_create(&lane->endpoint, &row->host);
    if (!peer->session) {
        free(peer);
        return NULL;
    }
    lane->peers[index] = peer;
    node->open[node->open_count++] = peer;
    return peer;
}

struct peer *node_living_peer(struct node *node, uint32_t host, enum node_lane wanted)
{
    const struct row *row = table_row(member_table(node->member), host);
    struct peer *peer;

    if (!row || !row_is_living(row) || host == member_self(node->member))
        return NULL;
    peer = node_peer(row_lane(node, row, wanted), row);
    if (peer)
        peer->deadline_us = 0;
    return peer;
}

static struct behind *behind_take(struct peer *peer)
{
    struct behind *b = peer->behind;

    peer->behind = b->next;
    if (!peer->behind)
        peer->behind_last = NULL;
    return b;
}

void node_peer_destroy(struct node *node, size_t i)
{
    struct peer *peer = node->open[i];

    while (peer->behind)
        free(behind_take(peer));
    node_stat_closed(node, peer->session);
    session_destroy(peer->session);
    peer->lane->peers[peer->index] = NULL;
    node->open[i] = node->open[--node->open_count];
    free(peer);
}

size_t node_datagram_bytes(const struct node *node, uint32_t host)
{
    const struct lane *l = &node->lanes[LANE_IP];
    const struct peer *peer = host <= HOST_INDEX_MAX ? l->peers[host] : NULL;
    struct window_stats stats;

    if (!peer)
        return l->endpoint.datagram_bytes_min;
    window_stats(session_window(peer->session), &stats);
    return stats.packet_bytes + DATAGRAM_OVERHEAD_BYTES;
}

/* ---- what waits behind LANE_ETHER ---- */

int node_peer_behind(struct peer *peer, const struct frame *frame, const uint8_t *payload)
{
    struct behind *b = malloc(sizeof *b);

    if (!b)
        return -ENOMEM;
    *b = (struct behind){.written = session_written(peer->session), .frame = *frame};
    if (frame->length > 0)
        memcpy(b->payload, payload, frame->length);
    if (peer->behind_last)
        peer->behind_last->next = b;
    else
        peer->behind = b;
    peer->behind_last = b;
    return 0;
}

void node_release_behind(struct node *node, uint64_t now_us)
{
    for (size_t i = 0; i < node->open_count; i++)
        if (node->open[i]->behind) {
            struct peer *peer = node->open[i];
            uint64_t delivered = session_written(peer->session) - session_queued(peer->session);

            while (peer->behind && peer->behind->written <= delivered) {
                struct behind *b = behind_take(peer);

                node_send(peer->lane->node, peer->index, &b->frame, b->payload, now_us);
                free(b);
            }
        }
}

/* ---- opening ---- */

enum node_ether node_ether_state(const struct node *node, uint32_t host)
{
    const struct row *row = table_row(member_table(node->member), host);
    const struct peer *peer = host <= HOST_INDEX_MAX ? node->lanes[LANE_ETHER].peers[host] : NULL;

    if (!row || !node->has_ether || !has_address(&row->host, LANE_ETHER))
        return NODE_ETHER_NONE;
    if (peer && session_is_open(peer->session) && !session_is_astray(peer->session))
        return NODE_ETHER_OPEN;
    return peer && session_is_opening(peer->session) ? NODE_ETHER_OPENING : NODE_ETHER_CLOSED;
}

void node_open_ether(struct node *node, uint32_t host, uint64_t now_us)
{
    struct peer *peer = node_living_peer(node, host, LANE_ETHER);

    if (peer && peer->lane->number == LANE_ETHER &&
        (!session_is_open(peer->session) || session_is_astray(peer->session)))
        session_open(peer->session, now_us);
}
