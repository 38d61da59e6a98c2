/*
 * node_calls.c - what membership asks of sessions, and what sessions tell: membership, the council
 * or the owner.
 */
#include "proto/node/node_state.h"

#define SILENCE_LOG_US 10000000

/* ---- what membership asks of sessions ---- */

static struct peer *member_peer(struct node *node, uint32_t host)
{
    return node_living_peer(node, host, MEDIUM_IP);
}

void node_member_send(void *context, uint32_t host, uint8_t kind, const uint8_t *payload,
                      size_t size, uint64_t now_us)
{
    struct node *node = context;
    struct frame frame = {.length = (uint32_t)size,
                          .kind = kind,
                          .source = tid_make(member_self(node->member), 0),
                          .destination = tid_make(host, 0)};
    struct peer *peer = node_frame_peer(node, host, &frame);

    (void)now_us;
    if (peer != NULL && session_write(peer->session, &frame, payload, NULL) < 0)
        node_log(node, "dropped a frame to host %u: out of memory", host);
}

static void member_wants_ping(void *context, uint32_t host, uint8_t kind, uint32_t target,
                              uint64_t now_us)
{
    struct peer *peer = member_peer(context, host);

    if (peer != NULL)
        session_ping(peer->session, kind, target, now_us);
}

static void member_wants_reopen(void *context, uint32_t host, uint64_t now_us)
{
    struct peer *peer = member_peer(context, host);

    if (peer != NULL)
        session_open(peer->session, now_us);
}

static void member_wants_close(void *context, uint32_t host, uint64_t now_us)
{
    struct node *node = context;

    for (int i = 0; i < MEDIA; i++) {
        struct peer *peer = node->media[i].peers[host];

        if (peer == NULL)
            continue;
        session_close(peer->session);
        peer->close_us = now_us + node->config.fail_timeout_us / 5;
        node_peer_touch(peer);
    }
}

static size_t member_asks_queued(void *context, uint32_t host)
{
    struct node *node = context;

    return host != 0 ? node_queued(node, host) : node_queued_to_all(node);
}

static bool member_asks_needed(void *context)
{
    struct node *node = context;

    return node->council != NULL && council_is_needed(node->council);
}

static bool member_asks_spares(void *context, uint32_t host)
{
    struct node *node = context;

    return node->council == NULL || council_spares(node->council, host);
}

static void member_tells_host(void *context, const struct host *host, int event)
{
    struct node *node = context;

    node->owner.host(node->owner.context, host, event);
    if (event != NODE_HOST_ADDED)
        return;
    for (int i = 0; i < MEDIA; i++) /* frames may wait for it */
        if (node->media[i].peers[host->index] != NULL)
            node_peer_touch(node->media[i].peers[host->index]);
}

static void member_tells_joined(void *context)
{
    struct node *node = context;

    node->owner.joined(node->owner.context);
}

static void member_tells_ended(void *context, int why, const char *text)
{
    struct node *node = context;

    node->owner.ended(node->owner.context, why, text);
}

static void log_line(void *context, const char *line)
{
    struct node *node = context;

    node->owner.log(node->owner.context, line);
}

struct member_owner node_member_owner(struct node *node)
{
    return (struct member_owner){.context = node,
                                 .send = node_member_send,
                                 .ping = member_wants_ping,
                                 .reopen = member_wants_reopen,
                                 .roll = node_roll_ask,
                                 .close = member_wants_close,
                                 .propose = node_council_propose,
                                 .found = node_council_found,
                                 .queued = member_asks_queued,
                                 .needed = member_asks_needed,
                                 .spares = member_asks_spares,
                                 .host = member_tells_host,
                                 .joined = member_tells_joined,
                                 .ended = member_tells_ended,
                                 .log = log_line};
}

/* ---- what sessions tell ---- */

static void session_logs(void *context, const char *line)
{
    log_line(((const struct medium *)context)->node, line);
}

static void session_sends(void *context, const struct address *to, const uint8_t *bytes,
                          size_t size)
{
    node_medium_send(context, to, bytes, size);
}

/* What goes over the other medium is sent behind a head of its own. */
static uint8_t *session_wants_room(void *context, const struct address *to)
{
    const struct medium *medium = context;
    const struct node_owner *owner = &medium->node->owner;

    if (owner->room == NULL || node_medium_of(to) != medium->number)
        return NULL;
    return owner->room(owner->context, to);
}

/* A frame of a host that is not known to be up yet waits: its host is ahead in the table. */
static bool session_got_frame(void *context, uint32_t host, const struct frame *frame,
                              const uint8_t *payload, uint64_t now_us)
{
    struct medium *medium = context;
    struct node *node = medium->node;
    const struct row *row = table_row(member_table(node->member), host);
    struct frame f = *frame;

    if (member_owns(frame->kind)) {
        member_on_frame(node->member, host, frame->kind, payload, frame->length, now_us);
        node_council_tell(node);
        row = table_row(member_table(node->member), host);
        if (frame->kind == FRAME_JOIN && row != NULL && medium->peers[host] != NULL)
            session_set_addresses(medium->peers[host]->session, &row->host);
        return true;
    }
    if (frame->kind == FRAME_RAFT) {
        if (node->council != NULL)
            council_on_frame(node->council, host, payload, frame->length, now_us);
        return true;
    }
    if (row == NULL || !row->announced)
        return false;
    f.flags = node_medium_flags(medium->number, f.flags);
    node->owner.frame(node->owner.context, host, &f, payload);
    return true;
}

static void session_heard(void *context, uint32_t host, uint64_t now_us)
{
    const struct medium *medium = context;

    /* a host whose other medium is cut is not one that membership reaches */
    if (medium == node_medium_to(medium->node, host, MEDIUM_IP))
        member_on_heard(medium->node->member, host, now_us);
}

/* Frames wait, or take a slower way, for as long as a segment carries nothing: whoever wonders why
 * finds it in the log. That a host is on another segment is no news. */
static void log_silence(struct medium *medium, uint32_t host, uint64_t now_us)
{
    const struct session *session = medium->peers[host]->session;

    if (now_us < medium->silence_logged_us ||
        (!session_is_open(session) && session_queued(session) == 0))
        return;
    medium->silence_logged_us = now_us + SILENCE_LOG_US;
    node_log(medium->node, "host %u does not answer over raw Ethernet", host);
}

/* A host that can only dial out is reached by having it call. Whoever cannot reach it asks the
 * coordinator, which has a session with every host; this is repeated with every HELLO. */
static void session_unanswered(void *context, uint32_t host, uint64_t now_us)
{
    struct medium *medium = context;
    struct node *node = medium->node;
    uint32_t coordinator = node_coordinator(node);

    if (medium->number == MEDIUM_ETHER)
        log_silence(medium, host, now_us);
    else if (host != coordinator && coordinator != member_self(node->member))
        member_wants_ping(node, coordinator, DATAGRAM_CALL, host, now_us);
}

static void session_was_asked(void *context, uint32_t host, uint8_t kind, uint32_t target,
                              uint64_t now_us)
{
    struct node *node = ((const struct medium *)context)->node;

    if (kind == DATAGRAM_CALL || kind == DATAGRAM_CALL_BACK) {
        if (kind == DATAGRAM_CALL)
            member_wants_ping(node, target, DATAGRAM_CALL_BACK, host, now_us);
        else
            member_wants_reopen(node, target, now_us);
    } else
        member_on_probe(node->member, host, kind, target, now_us);
}

static void session_admitted(void *context, uint32_t host, uint64_t now_us)
{
    struct medium *medium = context;

    (void)now_us;
    node_peer_touch(medium->peers[host]);
}

static void session_opened(void *context, uint32_t host, uint64_t now_us)
{
    struct medium *medium = context;
    const struct address *path = session_path(medium->peers[host]->session);
    char text[ADDRESS_TEXT_BYTES] = "to be proved";

    (void)now_us;
    if (path != NULL)
        address_text(path, text);
    node_log(medium->node, "session with host %u open, path %s%s", host, text,
             session_is_astray(medium->peers[host]->session)
                 ? ": what is on its way over raw Ethernet goes there meanwhile"
                 : "");
}

static void session_refused(void *context, uint32_t host, uint8_t reason, uint64_t now_us)
{
    struct node *node = ((const struct medium *)context)->node;

    member_on_refused(node->member, host, reason, now_us);
}

struct endpoint_owner node_endpoint_owner(struct medium *medium)
{
    return (struct endpoint_owner){.context = medium,
                                   .send = session_sends,
                                   .room = session_wants_room,
                                   .frame = session_got_frame,
                                   .heard = session_heard,
                                   .asked = session_was_asked,
                                   .unanswered = session_unanswered,
                                   .opened = session_opened,
                                   .admitted = session_admitted,
                                   .refused = session_refused,
                                   .log = session_logs};
}
