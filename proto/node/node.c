/*
 * node.c - one daemon's side of the VM, put together: council.c keeps the log of what the VM agrees
 * on, member.c the host table and whatever follows from who is there (they meet in node_council.c),
 * session.c carries bytes to one other host, reception.c judges what arrives, node_medium.c finds
 * the session that goes to a host on a medium, node_calls.c gives each what it asks of the other.
 * This file owns them and steps them.
 *
 * Invariants: a peer exists for a host only if its row is (or was just) living; sessions are
 * destroyed only by node_step(), never inside a callback; all memory is bounded by the host table,
 * but for frames that the owner queued.
 */
#include "proto/node/node.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/auth/auth.h"
#include "proto/node/node_state.h"
#include "proto/wire/deadline.h"
#include "proto/wire/format.h"

#define FAIL_TIMEOUT_US 5000000
#define JOIN_TIMEOUT_US 20000000
#define DATAGRAM_BYTES_SAFE 1200
#define PEERS_FEW 64
#define CROWD_EACH_US 100 /* an acknowledgement, where many are waited for */
/* Of a fail timeout: a segment that carries nothing so long is left. Much less than a voter waits
 * for its leader, and longer than a daemon stands still as a rule. */
#define DETOUR_PARTS 10

void node_log(struct node *node, const char *format, ...)
{
    char line[320];
    FORMAT(line, sizeof line, format);
    node->owner.log(node->owner.context, line);
}

void node_notice(struct node *node, uint64_t now_us)
{
    uint64_t due = node->due_us;

    node->now_us = now_us;
    if (now_us <= due || now_us - due < node->config.fail_timeout_us / 20)
        return;
    node->due_us = UINT64_MAX;
    node->media[MEDIUM_IP].endpoint.counters.late_us += now_us - due;
    member_on_late(node->member, now_us - due);
    if (node->council != NULL)
        council_on_late(node->council, now_us - due);
}

/* ---- life ---- */

static int init_endpoint(struct node *node, struct medium *medium)
{
    struct endpoint *e = &medium->endpoint;

    e->owner = node_endpoint_owner(medium);
    e->detour_us = medium->number == MEDIUM_ETHER ? node->config.fail_timeout_us / DETOUR_PARTS : 0;
    e->return_us = node->config.fail_timeout_us;
    e->seed = node->config.seed + (uint64_t)medium->number;
    e->random = node->config.random;
    e->random_context = node->owner.context;
    e->me.encrypt = node->config.encrypt;
    e->me.ether = e->ether = medium->number == MEDIUM_ETHER;
    e->scratch = malloc(e->datagram_bytes_max);
    e->opened = e->me.encrypt ? malloc(DATAGRAM_BYTES_MAX) : NULL;
    medium->detour = malloc(DETOUR_BYTES + e->datagram_bytes_max);
    if (medium->detour == NULL || e->scratch == NULL || e->me.encrypt != (e->opened != NULL) ||
        auth_init() < 0)
        return -1;
    identity_derive(&e->me, node->config.vm, node->config.key);
    e->random(e->random_context, e->me.boot_secret, sizeof e->me.boot_secret);
    memcpy(e->me.id, node->config.self.id, HOST_ID_BYTES);
    return 0;
}

static int init_media(struct node *node)
{
    const struct node_config *c = &node->config;
    struct endpoint *ip = &node->media[MEDIUM_IP].endpoint;
    struct endpoint *ether = &node->media[MEDIUM_ETHER].endpoint;

    ip->datagram_bytes_min = c->datagram_bytes_min;
    ip->datagram_bytes_max = c->datagram_bytes_max;
    ether->datagram_bytes_min = c->ether_bytes_min;
    ether->datagram_bytes_max = c->ether_bytes_max;
    node->has_ether = c->ether_bytes_min > 0;
    for (int i = 0; i < MEDIA; i++) {
        node->media[i].node = node;
        node->media[i].number = (enum node_medium)i;
    }
    if (init_endpoint(node, &node->media[MEDIUM_IP]) < 0)
        return -1;
    return node->has_ether ? init_endpoint(node, &node->media[MEDIUM_ETHER]) : 0;
}

static int init_member(struct node *node)
{
    struct member_owner owner = node_member_owner(node);
    struct member_config config = {.self = node->config.self,
                                   .fail_timeout_us = node->config.fail_timeout_us,
                                   .join_timeout_us = node->config.join_timeout_us,
                                   .seed = node->config.seed,
                                   .counters = &node->media[MEDIUM_IP].endpoint.counters};

    node->member = member_create(&config, &owner);
    return node->member != NULL ? 0 : -1;
}

static void set_range(size_t least, size_t *most)
{
    if (*most < least)
        *most = least;
    if (*most > DATAGRAM_BYTES_MAX)
        *most = DATAGRAM_BYTES_MAX;
}

struct node *node_create(const struct node_config *config, const struct node_owner *owner)
{
    struct node *node = calloc(1, sizeof *node);

    if (node == NULL)
        return NULL;
    node->config = *config;
    host_keep(&node->config.self, &node->self_room, &config->self);
    node->owner = *owner;
    node->due_us = node->peers_us = UINT64_MAX;
    struct node_config *c = &node->config;
    if (c->fail_timeout_us == 0)
        c->fail_timeout_us = FAIL_TIMEOUT_US;
    if (c->join_timeout_us == 0)
        c->join_timeout_us = JOIN_TIMEOUT_US;
    if (c->datagram_bytes_min == 0)
        c->datagram_bytes_min = DATAGRAM_BYTES_SAFE;
    set_range(c->datagram_bytes_min, &c->datagram_bytes_max);
    set_range(c->ether_bytes_min, &c->ether_bytes_max);
    if (init_media(node) < 0 || init_member(node) < 0 || node_council_create(node) < 0) {
        node_destroy(node);
        return NULL;
    }
    return node;
}

void node_destroy(struct node *node)
{
    if (node == NULL)
        return;
    while (node->open_count > 0)
        node_peer_destroy(node->open[node->open_count - 1]);
    council_destroy(node->council);
    member_destroy(node->member);
    for (int i = 0; i < MEDIA; i++) {
        free(node->media[i].endpoint.scratch);
        free(node->media[i].endpoint.opened);
        free(node->media[i].detour);
    }
    explicit_bzero(node, sizeof *node);
    free(node);
}

static void set_index(struct node *node, uint32_t index)
{
    for (int i = 0; i < MEDIA; i++)
        node->media[i].endpoint.me.index = index;
    if (node->council != NULL)
        council_join(node->council, index);
}

void node_bootstrap(struct node *node, uint64_t now_us)
{
    node_notice(node, now_us);
    set_index(node, 1);
    member_bootstrap(node->member, now_us);
    node_council_found(node, 1, now_us);
}

void node_join(struct node *node, const struct host *coordinator, uint64_t now_us)
{
    node_notice(node, now_us);
    set_index(node, node->config.self.index);
    member_join(node->member, coordinator, now_us);
}

int node_invite(struct node *node, const char *name, uint64_t *incarnation, uint64_t now_us)
{
    node_notice(node, now_us);
    return member_invite(node->member, name, incarnation, now_us);
}

void node_uninvite(struct node *node, uint32_t index)
{
    member_uninvite(node->member, index, node->now_us);
}

int node_remove(struct node *node, uint32_t index, uint64_t now_us)
{
    node_notice(node, now_us);
    return member_remove(node->member, index, now_us);
}

void node_shutdown(struct node *node, uint64_t now_us)
{
    node_notice(node, now_us);
    member_shutdown(node->member, now_us);
}

void node_leave(struct node *node, uint64_t now_us)
{
    node_notice(node, now_us);
    member_leave(node->member, now_us);
}

bool node_has_left(const struct node *node)
{
    return node_unsent(node) == 0 || member_has_ended(node->member);
}

bool node_is_alone(const struct node *node)
{
    return member_is_alone(node->member);
}

/* ---- frames ---- */

static int may_send(const struct node *node, uint32_t host)
{
    const struct row *row = table_row(member_table(node->member), host);

    return row != NULL && row->announced ? 0 : -EHOSTUNREACH;
}

int node_send_own(struct node *node, uint32_t host, const struct frame *frame,
                  const uint8_t *payload, uint8_t *own)
{
    struct frame f = *frame;
    struct peer *peer;

    if (may_send(node, host) < 0)
        return -EHOSTUNREACH;
    peer = node_frame_peer(node, host, frame);
    if (peer == NULL)
        return -ENOMEM;
    f.flags = node_medium_flags(peer->medium->number, f.flags);
    return session_write(peer->session, &f, payload, own);
}

int node_send(struct node *node, uint32_t host, const struct frame *frame, const uint8_t *payload,
              uint64_t now_us)
{
    (void)now_us;
    return node_send_own(node, host, frame, payload, NULL);
}

int node_send_behind(struct node *node, uint32_t host, const struct frame *frame,
                     const uint8_t *payload, uint64_t now_us)
{
    struct peer *ether = host <= HOST_INDEX_MAX ? node->media[MEDIUM_ETHER].peers[host] : NULL;

    if (ether == NULL || session_queued(ether->session) == 0 || frame->length > NODE_BEHIND_BYTES)
        return node_send(node, host, frame, payload, now_us);
    if (may_send(node, host) < 0)
        return -EHOSTUNREACH;
    return node_peer_behind(ether, frame, payload);
}

size_t node_queued(const struct node *node, uint32_t host)
{
    size_t queued = 0;

    for (int i = 0; i < MEDIA && host <= HOST_INDEX_MAX; i++) {
        const struct peer *peer = node->media[i].peers[host];

        queued += peer != NULL ? session_queued(peer->session) : 0;
    }
    return queued;
}

/* Of those that were not touched nothing has changed. */
size_t node_queued_to_all(const struct node *node)
{
    size_t queued = node->queued;

    for (const struct peer *peer = node->touched; peer != NULL; peer = peer->next_touched)
        queued += session_queued(peer->session) - peer->queued;
    return queued;
}

size_t node_missing(const struct node *node)
{
    return node->media[MEDIUM_IP].endpoint.missing;
}

size_t node_unsent(const struct node *node)
{
    return node_queued_to_all(node) + member_is_busy(node->member);
}

/* ---- time ---- */

/* What is agreed may let membership go on, which proposes the next. */
static uint64_t step_council(struct node *node, uint64_t now_us)
{
    if (node->council == NULL || !member_is_up(node->member))
        return UINT64_MAX;
    return council_step(node->council, member_is_leaving(node->member), now_us);
}

/* Steps it if it is due, or was touched; perhaps it ends. */
static void step_peer(struct node *node, struct peer *peer, bool touched, uint64_t now_us)
{
    peer->medium->endpoint.counters.session_looks++;
    if (peer->close_us <= now_us) {
        node_peer_destroy(peer);
        return;
    }
    if (touched || peer->deadline_us <= now_us) {
        peer->medium->endpoint.crowd_us =
            node->owing > PEERS_FEW ? (node->owing - PEERS_FEW) * CROWD_EACH_US : 0;
        peer->deadline_us = session_step(peer->session, now_us);
        node_peer_count(peer, session_queued(peer->session));
    }
    node->peers_us = earlier(node->peers_us, earlier(peer->deadline_us, peer->close_us));
}

/* Of few peers all; of many those that were touched, and all when one of the others is due: the
 * time of that is not later than is known. */
static void step_peers(struct node *node, uint64_t now_us)
{
    bool all = node->open_count <= PEERS_FEW || now_us >= node->peers_us;

    if (all)
        node->peers_us = UINT64_MAX;
    for (size_t i = node->open_count; all && i-- > 0;)
        if (!node->open[i]->touched)
            step_peer(node, node->open[i], false, now_us);
    while (node->touched != NULL) {
        struct peer *peer = node->touched;

        node->touched = peer->next_touched;
        peer->touched = false;
        step_peer(node, peer, true, now_us);
    }
}

/* A host that owes acknowledgements is heard from every beat if all is well. Over raw Ethernet
 * there are no beats: hands are shaken there first, and the detour is part of the second attempt.
 */
static void set_stall(struct node *node)
{
    uint64_t quarter_us = node->config.fail_timeout_us / 4;
    uint64_t beats_us = 2 * member_beat_us(node->member);
    struct endpoint *ether = &node->media[MEDIUM_ETHER].endpoint;

    node->media[MEDIUM_IP].endpoint.stall_us = quarter_us > beats_us ? quarter_us : beats_us;
    ether->stall_us = ether->detour_us - ether->detour_us / 10;
}

uint64_t node_step(struct node *node, uint64_t now_us)
{
    uint64_t member_due;

    node_notice(node, now_us);
    do {
        node->changed = false;
        member_due = member_step(node->member, now_us);
        member_due = earlier(member_due, step_council(node, now_us));
    } while (node->changed);
    node_council_tell(node);
    set_stall(node);
    node_release_behind(node, now_us);
    step_peers(node, now_us);
    node->due_us = earlier(member_due, node->peers_us);
    if (node->due_us < now_us)
        node->due_us = now_us; /* what is overdue now does not make this process late before */
    return node->due_us;
}

/* ---- the table ---- */

const struct host *node_host(const struct node *node, uint32_t index)
{
    const struct row *row = table_row(member_table(node->member), index);

    return row != NULL ? &row->host : NULL;
}

const struct host *node_host_at(const struct node *node, size_t i)
{
    const struct row *row = table_at(member_table(node->member), i);

    return row != NULL ? &row->host : NULL;
}

uint32_t node_coordinator(const struct node *node)
{
    return member_table(node->member)->coordinator;
}

const struct host *node_self(const struct node *node)
{
    const struct host *self = node_host(node, member_self(node->member));

    return self != NULL ? self : &node->config.self;
}

static const struct address *path_on(const struct node *node, uint32_t host,
                                     enum node_medium medium)
{
    const struct peer *peer = host <= HOST_INDEX_MAX ? node->media[medium].peers[host] : NULL;

    return peer != NULL ? session_path(peer->session) : NULL;
}

const struct address *node_path(const struct node *node, uint32_t host)
{
    return path_on(node, host, MEDIUM_IP);
}

const struct address *node_ether_path(const struct node *node, uint32_t host)
{
    const struct address *path = path_on(node, host, MEDIUM_ETHER);

    return path != NULL && path->family == ADDRESS_ETHER ? path : NULL;
}

uint32_t node_vm(const struct node *node)
{
    return node->media[MEDIUM_IP].endpoint.me.vm;
}
