/*
 * peer.c - the other tasks this one deals with. A peer is made at the first contact in either
 * direction, and its daemon is then asked to tell its end (WATCH). When it ended, what it had sent
 * is still read from its links; only then is it gone: sends to it and receives that only it could
 * serve fail, and those who asked are notified.
 */
#include "lib/engine/peer.h"
#include "lib/engine/bulk.h"
#include "lib/engine/conn.h"
#include "lib/engine/match.h"
#include "lib/engine/offer.h"
#include "lib/engine/outgo.h"
#include "lib/engine/route.h"
#include "lib/engine/turn.h"
#include "lib/member/ended.h"
#include "lib/member/home.h"
#include "lib/member/part.h"
#include "lib/member/vm.h"
#include "lib/member/watch.h"
#include "lib/msg/clock.h"
#include "lib/msg/error.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#define DRAIN_US 2000000u   /* how long a stream of an ended task may take to reach its end */
#define BROKEN_US 10000000u /* how long after a link broke the end of its task is waited for */

static struct peer **bucket(struct covey *vm, uint32_t tid)
{
    return &vm->known.peers[(tid ^ tid >> TID_LOCAL_BITS) % PEER_BUCKETS];
}

struct peer *peer_find(struct covey *vm, uint32_t tid)
{
    struct peer *peer = *bucket(vm, tid);
    while (peer != NULL && peer->tid != tid)
        peer = peer->next;
    return peer;
}

static bool host_is_gone(const struct covey *vm, uint32_t tid)
{
    uint32_t host = tid_host(tid);
    return (vm->known.host_gone[host / 8] >> host % 8 & 1) != 0;
}

static void watch_peer(struct covey *vm, struct peer *peer)
{
    uint8_t payload[4];
    struct cursor c = cursor_writer(payload, sizeof payload);
    if (peer->tid == vm->self.tid)
        return;
    if (host_is_gone(vm, peer->tid)) {
        struct control_gone gone = {.tid = peer->tid, .kind = COVEY_EXIT_HOST};
        peer_on_gone(vm, &gone);
        return;
    }
    cursor_put_u32(&c, peer->tid);
    home_send(vm, FRAME_WATCH, tid_make(tid_host(peer->tid), 0), payload, sizeof payload);
}

struct peer *peer_get(struct covey *vm, uint32_t tid)
{
    struct peer *peer = peer_find(vm, tid);
    if (peer != NULL)
        return peer;
    peer = calloc(1, sizeof *peer);
    if (peer == NULL) {
        error_code(COVEY_ENOMEM);
        return NULL;
    }
    peer->tid = tid;
    peer->forced_route = -1;
    peer->out.credit_bytes = peer->in.granted_bytes = CREDIT_INITIAL_BYTES;
    peer->in.credit_window = CREDIT_INITIAL_BYTES;
    peer->next = *bucket(vm, tid);
    *bucket(vm, tid) = peer;
    if (tid != vm->self.tid)
        watch_peer(vm, peer);
    return peer;
}

int peer_error(const struct peer *peer)
{
    if (!peer->gone && !peer->leaving)
        return error_set(COVEY_EROUTE, "a message of task t%x is lost: %s", peer->tid,
                         peer->broken_why);
    if (peer->exit.kind == COVEY_EXIT_HOST)
        return error_set(COVEY_EHOSTFAIL, "the host of task t%x failed", peer->tid);
    return error_set(COVEY_ENOTASK, "task t%x has ended", peer->tid);
}

/* Reads what the links of an ended peer still hold and closes those that are at their end. */
static bool drained(struct covey *vm, struct peer *peer)
{
    bool all = true;
    /* Streams whose opener proved its key and sent all it had before anybody here looked: only the
     * proof tells whose they are, and that they are open. */
    for (struct conn *conn = vm->links.conns; conn != NULL; conn = conn->next) {
        if ((conn->peer == peer || conn->peer == NULL) && !conn->ready && !conn->closed)
            conn_settle(conn);
    }
    for (struct conn *conn = vm->links.conns, *next; conn != NULL; conn = next) {
        next = conn->next;
        if (conn->peer != peer || conn->closed)
            continue;
        if (conn->ready)
            conn_read(vm, conn);
        bool at_end = conn->watch.fd < 0 || !conn->ready || peer->exit.kind == COVEY_EXIT_HOST;
        if (conn->order.parked)
            wait_check_at(vm, 1); /* it is looked at again when that had its turn */
        if (!conn->closed && at_end && !conn->order.parked)
            conn_close(vm, conn, false);
        all = all && conn->closed;
    }
    return all;
}

static void peer_end(struct covey *vm, struct peer *peer)
{
    for (struct conn *conn = vm->links.conns, *next; conn != NULL; conn = next) {
        next = conn->next;
        if (conn->peer == peer)
            conn_drop(vm, conn);
    }
    arrival_drop(vm, &peer->in.inlet);
    arrival_drop(vm, &peer->in.ether_inlet);
    arrival_settle_casts(vm, peer);
    arrival_drop_casts(vm, peer);
    peer->leaving = false;
    peer->gone = true;
    peer->broken_at_us = 0;
    route_free_all(peer);
    if (peer->in.starved) {
        assert(vm->memory.starved > 0);
        peer->in.starved = false;
        vm->memory.starved--;
    }
    match_fail_source(vm, peer);
    parts_task_silent(vm, peer);
    parts_task_gone(vm, peer);
    wait_changed(vm);
}

/* Leaving and all read: now it is gone. */
static void peer_settle(struct covey *vm, struct peer *peer)
{
    if (peer->leaving && drained(vm, peer))
        peer_end(vm, peer);
}

void peer_on_gone(struct covey *vm, const struct control_gone *gone)
{
    struct peer *peer = peer_find(vm, gone->tid);
    if (peer == NULL)
        ended_keep(vm, gone);
    if (peer == NULL || peer->gone || peer->leaving)
        return;
    peer->exit = *gone;
    ended_recall(vm, &peer->exit);
    peer->leaving = true;
    peer->broken_at_us = clock_us();
    wait_check_at(vm, peer->broken_at_us + DRAIN_US);
    int error = peer_error(peer);
    outgo_fail(vm, peer, error, covey_error_text());
    peer_settle(vm, peer);
}

void peer_link_broke(struct covey *vm, struct peer *peer, const char *why)
{
    snprintf(peer->broken_why, sizeof peer->broken_why, "the link to the task broke: %s", why);
    peer->broken_at_us = clock_us();
    wait_check_at(vm, peer->broken_at_us + BROKEN_US);
}

void peer_on_gone_frame(struct covey *vm, const struct frame *frame, const uint8_t *payload)
{
    struct control_gone gone;
    struct cursor c = cursor_reader(payload, frame->length);
    control_get_gone(&c, &gone);
    if (cursor_ok(&c))
        peer_on_gone(vm, &gone);
}

static void host_tasks_gone(struct covey *vm, uint32_t host)
{
    for (int i = 0; i < PEER_BUCKETS; i++) {
        for (struct peer *peer = vm->known.peers[i]; peer != NULL; peer = peer->next) {
            struct control_gone gone = {.tid = peer->tid, .kind = COVEY_EXIT_HOST};
            if (tid_host(peer->tid) == host)
                peer_on_gone(vm, &gone);
        }
    }
}

void peer_on_host_event(struct covey *vm, const struct control_host_event *event)
{
    uint32_t index = event->host.index;
    if (event->event == NODE_HOST_GONE) {
        vm->known.host_gone[index / 8] |= (uint8_t)(1u << index % 8);
        host_tasks_gone(vm, index);
    } else if (event->event == NODE_HOST_ADDED) {
        vm->known.host_gone[index / 8] &= (uint8_t) ~(1u << index % 8);
    }
}

void peer_home_lost(struct covey *vm, int error, const char *why)
{
    for (int i = 0; i < PEER_BUCKETS; i++) {
        for (struct peer *peer = vm->known.peers[i]; peer != NULL; peer = peer->next)
            outgo_fail(vm, peer, error, why);
    }
}

static void check_one(struct covey *vm, struct peer *peer, uint64_t now_us)
{
    if (peer->routes != NULL)
        route_check(vm, peer, now_us);
    loss_check(vm, peer, now_us);
    bulk_check(vm, peer, now_us);
    if (peer->broken_at_us == 0)
        return;
    peer_settle(vm, peer);
    if (peer->broken_at_us == 0)
        return;
    uint64_t due_us = peer->broken_at_us + (peer->leaving ? DRAIN_US : BROKEN_US);
    if (now_us < due_us) {
        wait_check_at(vm, due_us);
        return;
    }
    peer->broken_at_us = 0;
    if (peer->leaving)
        peer_end(vm, peer);
    else {
        /* A link broke and its task lives. */
        outgo_fail(vm, peer, COVEY_EROUTE, peer->broken_why);
        if (peer->in.cut)
            match_fail_source(vm, peer);
        parts_task_silent(vm, peer);
    }
}

void peer_check(struct covey *vm, uint64_t now_us)
{
    turn_check(vm, now_us);
    for (int i = 0; i < PEER_BUCKETS; i++) {
        for (struct peer *peer = vm->known.peers[i]; peer != NULL; peer = peer->next)
            check_one(vm, peer, now_us);
    }
    for (struct conn *conn = vm->links.conns; conn != NULL; conn = conn->next) {
        offer_check(conn, now_us);
        if (conn->ready || conn->closed || conn->deadline_us == 0)
            continue;
        if (now_us >= conn->deadline_us)
            conn_close(vm, conn, false);
        else
            wait_check_at(vm, conn->deadline_us);
    }
}

void peer_free_all(struct covey *vm)
{
    for (int i = 0; i < PEER_BUCKETS; i++) {
        while (vm->known.peers[i] != NULL) {
            struct peer *peer = vm->known.peers[i];
            vm->known.peers[i] = peer->next;
            arrival_drop(vm, &peer->in.inlet);
            arrival_drop(vm, &peer->in.ether_inlet);
            arrival_drop_casts(vm, peer);
            outgo_drop_syncs(peer);
            route_free_all(peer);
            free(peer);
        }
    }
}
