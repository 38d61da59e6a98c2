/*
 * arrival.c - messages coming in. A message begins when its sequence number is next among those of
 * its sender; frames that come earlier on another route are held. Once begun it is matched, and
 * its bytes go straight to where they belong: the array of the receive that it matched, or memory
 * of their own.
 *
 * Routes differ in speed, and a sender may die while they carry its messages. What a receiver gets
 * of a sender is the beginning of what was sent, without a gap: a message that is whole is
 * complete, and given out, after all that began before it, and when one is lost in the middle all
 * later ones are lost with it, but not what was cast: that goes to all its receivers or to none, so
 * it is given out as if what was lost had never been sent. A peer's open messages are those that
 * began and are not complete.
 */
#include "lib/engine/arrival.h"
#include "lib/engine/conn.h"
#include "lib/engine/credit.h"
#include "lib/engine/match.h"
#include "lib/engine/peer.h"
#include "lib/engine/req.h"
#include "lib/engine/turn.h"
#include "lib/member/home.h"
#include "lib/member/vm.h"
#include "proto/wire/list.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define EXCHANGED_BYTES_MIN 16384 /* few acknowledgements of what is shorter are in the way */

/* Where bytes go that nobody wants: padding, and messages there was no memory for. */
#define SCRATCH_BYTES 4096
static _Thread_local uint8_t scratch[SCRATCH_BYTES];

size_t arrival_preface_bytes(const struct frame *frame)
{
    size_t most = FRAME_MESSAGE_BYTES + ITEM_HEADER_BYTES;
    return frame->length < most ? frame->length : most;
}

bool arrival_must_hold(struct peer *peer, struct inlet *inlet, const struct frame *frame,
                       const uint8_t *payload)
{
    struct message_header header;
    if (inlet->waiting)
        return true;
    if ((frame->flags & FRAME_FIRST) == 0 ||
        message_header_decode(payload, frame->length, &header) != NULL)
        return false;
    if (header.sequence <= peer->in.sequence)
        return false;
    inlet->waiting = true;
    inlet->sequence = header.sequence;
    return true;
}

void arrival_hold(struct inlet *inlet, struct held *held)
{
    LINK_LAST(inlet->first, inlet->last, held, next);
}

/* A message of which `payload` are the first bytes begins in its turn. */
static struct arrival *arrival_create(struct covey *vm, struct peer *peer,
                                      const struct message_header *header)
{
    struct arrival *a = calloc(1, sizeof *a);
    if (a == NULL)
        return NULL;
    a->number = vm->inbox.arrivals++;
    a->sequence = header->sequence;
    a->peer = peer;
    a->info = (struct covey_info){(covey_tid_t)peer->tid, header->tag, header->size};
    a->context = header->context;
    a->representation = header->representation;
    return a;
}

static void add_bytes(struct covey *vm, struct arrival *a, uint64_t size)
{
    bool paced = a->bound != NULL && req_is_paced(a->bound);
    assert(size <= a->info.bytes - a->received);
    a->received += size;
    vm->inbox.arrived_bytes += size;
    vm->inbox.arriving = paced || a->offered ? 0 : a->info.bytes - a->received;
    if (paced && a->received >= a->bound->pacing.mark)
        a->bound->owner->on_mark(a->bound);
    if (a->listed) {
        a->buffered += size;
        vm->inbox.unexpected_bytes += size;
    }
}

/* ---- a peer's open messages ------------------------------------------------------------------ */

static void open_remove(struct peer *peer, struct arrival *a)
{
    UNLINK_BOTH(peer->in.open, peer->in.open_last, a, later, earlier);
}

static bool is_whole(const struct arrival *a)
{
    return a->received == a->info.bytes;
}

static void complete_in_order(struct covey *vm, struct peer *peer)
{
    while (peer->in.open != NULL && is_whole(peer->in.open)) {
        struct arrival *a = peer->in.open;
        open_remove(peer, a);
        match_complete(vm, a);
    }
}

/* Nobody gets the message. It is freed with its last byte, or with the inlet that it comes by. */
static unsigned lose(struct covey *vm, struct arrival *a)
{
    unsigned receives = match_abandon(vm, a);
    open_remove(a->peer, a);
    turn_end(vm, a);
    a->lost = true;
    if (is_whole(a))
        match_free(vm, a);
    return receives;
}

/* The rest of a message will not come. From the last one backwards: so their receives are posted
 * again in the order that they had, and none takes a message that is to be lost next. */
static void arrival_cut(struct covey *vm, struct arrival *first)
{
    struct peer *peer = first->peer;
    unsigned receives = 0;
    peer->in.cut = true;
    for (struct arrival *a = peer->in.open_last, *earlier; a != first; a = earlier) {
        earlier = a->earlier;
        receives += a->cast ? 0 : lose(vm, a);
    }
    receives += lose(vm, first);
    match_again(vm, receives);
    complete_in_order(vm, peer);
}

static struct arrival *find_unexpected(const struct covey *vm, const struct arrival_filter *which)
{
    for (struct arrival *a = vm->inbox.unexpected; a != NULL; a = a->next) {
        if (a->context == which->context && (which->peer == NULL || a->peer == which->peer) &&
            (a->info.tag & which->mask) == which->tag)
            return a;
    }
    return NULL;
}

void arrival_purge(struct covey *vm, const struct arrival_filter *which)
{
    for (struct arrival *a; (a = find_unexpected(vm, which)) != NULL;) {
        struct peer *peer = a->peer;
        if (a->complete) {
            match_free(vm, a);
            continue;
        }
        lose(vm, a);
        complete_in_order(vm, peer);
    }
    credit_reopen(vm);
}

static void finish_if_whole(struct covey *vm, struct inlet *inlet)
{
    struct arrival *a = inlet->current;
    turn_moved(vm, a);
    if (!is_whole(a))
        return;
    turn_end(vm, a);
    inlet->current = NULL;
    if (a->lost)
        match_free(vm, a);
    else
        complete_in_order(vm, a->peer);
}

static bool is_for_nobody(const struct covey *vm, uint32_t context)
{
    const struct context_owner *owner = vm->inbox.contexts;
    return context != 0 && owner != NULL && owner->is_dead(vm, context);
}

const char *arrival_begin(struct covey *vm, struct peer *peer, struct inlet *inlet,
                          const uint8_t *preface, size_t size)
{
    struct message_header header;
    const char *refused = message_header_decode(preface, size, &header);
    if (refused != NULL)
        return refused;
    if (inlet->current != NULL)
        return "a message begins before the one before it ended";
    if (header.sequence != peer->in.sequence)
        return "a message out of sequence";
    size -= FRAME_MESSAGE_BYTES;
    if (size > header.size)
        return "more data than the message announced";
    if (size < ITEM_HEADER_BYTES && size < header.size)
        return "a first frame without the header of the first item";
    struct arrival *a = arrival_create(vm, peer, &header);
    if (a == NULL)
        return "out of memory";
    peer->in.sequence++;
    peer->in.received_bytes += FRAME_MESSAGE_BYTES + size;
    memcpy(a->preface, preface + FRAME_MESSAGE_BYTES, size);
    inlet->current = a;
    a->cast = inlet->cast;
    a->offered = inlet->offered.here;
    a->lost = (peer->in.cut && !a->cast) || is_for_nobody(vm, a->context);
    if (!a->lost) {
        LINK_AFTER(peer->in.open_last, peer->in.open, peer->in.open_last, a, later, earlier);
        match_arrival(vm, a);
    }
    if (a->msg != NULL)
        memcpy(message_bytes(a->msg), a->preface, size);
    add_bytes(vm, a, size);
    turn_begin(vm, a, header.sequence);
    finish_if_whole(vm, inlet);
    credit_update(vm, peer);
    return NULL;
}

const char *arrival_offer(struct covey *vm, struct peer *peer, struct inlet *inlet,
                          const uint8_t *payload, size_t size)
{
    struct message_header header;
    const char *refused = message_header_decode(payload, size, &header);
    if (refused != NULL)
        return refused;
    if (inlet->offered.here || size < OFFER_HEAD_BYTES || header.size <= FRAME_ITEM_BYTES)
        return "an offer out of place";
    struct cursor c = cursor_reader(payload + OFFER_HEAD_BYTES, size - OFFER_HEAD_BYTES);
    struct offered offered = {.here = true};
    if (!control_get_offer(&c, &offered.what, header.size - FRAME_ITEM_BYTES))
        return "an offer of other bytes than the message has";
    inlet->offered = offered;
    refused = arrival_begin(vm, peer, inlet, payload, OFFER_HEAD_BYTES);
    inlet->offered.here = refused == NULL;
    return refused;
}

void arrival_accept(struct inlet *inlet)
{
    struct arrival *a = inlet->current;
    if (!a->offered)
        return;
    a->offered = false;
    if (!a->lost)
        match_accept(a);
    if (a->msg != NULL)
        memcpy(message_bytes(a->msg), a->preface, (size_t)a->received);
}

void arrival_resume(struct inlet *inlet)
{
    if (!inlet->offered.here)
        return;
    inlet->offered.here = false;
    arrival_accept(inlet);
}

static bool is_paced(const struct arrival *a)
{
    return a != NULL && a->bound != NULL && req_is_paced(a->bound);
}

bool arrival_is_exchanged(const struct inlet *inlet)
{
    const struct arrival *a = inlet->current;
    return is_paced(a) || (a != NULL && a->bound != NULL && a->bound->owner != NULL &&
                           a->info.bytes >= EXCHANGED_BYTES_MIN);
}

uint64_t arrival_rest_us(const struct inlet *inlet)
{
    const struct arrival *a = inlet->current;
    return is_paced(a) ? a->bound->owner->rest_us(a->bound, a->received, a->info.bytes) : 0;
}

uint8_t *arrival_room(struct inlet *inlet, size_t *size)
{
    struct arrival *a = inlet->current;
    uint64_t left = a->info.bytes - a->received;
    if (*size > left)
        *size = (size_t)left;
    if (a->msg != NULL)
        return message_bytes(a->msg) + a->received;
    uint64_t at = a->received - ITEM_HEADER_BYTES;
    uint64_t data =
        a->bound == NULL ? 0 : a->bound->receive.count * covey_type_size(a->bound->receive.type);
    if (at < data) {
        if (*size > data - at)
            *size = (size_t)(data - at);
        return (uint8_t *)a->bound->receive.base + at;
    }
    return NULL;
}

uint8_t *arrival_target(struct inlet *inlet, size_t *size)
{
    if (inlet->current == NULL)
        return NULL;
    uint8_t *room = arrival_room(inlet, size);
    if (room != NULL)
        return room;
    if (*size > SCRATCH_BYTES)
        *size = SCRATCH_BYTES;
    return scratch;
}

void arrival_received(struct covey *vm, struct peer *peer, struct inlet *inlet, size_t size)
{
    peer->in.received_bytes += size;
    add_bytes(vm, inlet->current, size);
    finish_if_whole(vm, inlet);
    credit_update(vm, peer);
}

void arrival_read(struct covey *vm, struct inlet *inlet, size_t size)
{
    inlet->offered.copied += size;
    add_bytes(vm, inlet->current, size);
    finish_if_whole(vm, inlet);
}

/* A whole frame whose turn it is. Damage of a peer's making ends with this message. */
static void take_frame(struct covey *vm, struct peer *peer, struct inlet *inlet,
                       const struct frame *frame, const uint8_t *payload)
{
    size_t at = 0;
    if (frame->kind == FRAME_OFFER) {
        arrival_offer(vm, peer, inlet, payload, frame->length);
        return;
    }
    if ((frame->flags & FRAME_FIRST) != 0) {
        at = arrival_preface_bytes(frame);
        if (arrival_begin(vm, peer, inlet, payload, at) != NULL)
            return;
    } else {
        arrival_resume(inlet);
    }
    while (at < frame->length) {
        size_t size = frame->length - at;
        uint8_t *to = arrival_target(inlet, &size);
        if (to == NULL)
            return;
        memcpy(to, payload + at, size);
        at += size;
        arrival_received(vm, peer, inlet, size);
    }
}

void arrival_on_frame(struct covey *vm, struct peer *peer, struct inlet *inlet,
                      const struct frame *frame, const uint8_t *payload)
{
    if (peer->gone)
        return;
    if (arrival_must_hold(peer, inlet, frame, payload)) {
        struct held *held = malloc(sizeof *held + frame->length);
        if (held != NULL) {
            /* the message is never complete; its sender's credit is used up */
            held->frame = *frame;
            memcpy(held->payload, payload, frame->length);
            arrival_hold(inlet, held);
        }
        return;
    }
    take_frame(vm, peer, inlet, frame, payload);
    arrival_release(vm, peer);
}

/* Takes held frames while they are in turn; true when any was. */
static bool release_frames(struct covey *vm, struct peer *peer, struct inlet *inlet)
{
    bool any = false;
    inlet->waiting = false;
    while (inlet->first != NULL && !inlet->waiting) {
        struct held *held = inlet->first;
        if (arrival_must_hold(peer, inlet, &held->frame, held->payload))
            break;
        inlet->first = held->next;
        if (inlet->first == NULL)
            inlet->last = NULL;
        take_frame(vm, peer, inlet, &held->frame, held->payload);
        free(held);
        any = true;
    }
    return any;
}

static inline bool release_inlet(struct covey *vm, struct peer *peer, struct inlet *inlet)
{
    return inlet->waiting && inlet->sequence == peer->in.sequence &&
           release_frames(vm, peer, inlet);
}

static bool release_casts(struct covey *vm, struct peer *peer)
{
    bool any = false;
    for (struct cast_inlet *in = peer->in.cast_inlets; in != NULL; in = in->next)
        any = release_inlet(vm, peer, &in->inlet) || any;
    return any;
}

void arrival_release(struct covey *vm, struct peer *peer)
{
    bool any;
    do {
        any = release_inlet(vm, peer, &peer->in.inlet);
        any = release_inlet(vm, peer, &peer->in.ether_inlet) || any;
        any = release_casts(vm, peer) || any;
        for (struct conn *conn = vm->links.conns; conn != NULL; conn = conn->next) {
            if (conn->peer == peer)
                any = release_inlet(vm, peer, &conn->inlet) || any;
        }
    } while (any);
}

void arrival_drop(struct covey *vm, struct inlet *inlet)
{
    while (inlet->first != NULL) {
        struct held *held = inlet->first;
        inlet->first = held->next;
        free(held);
    }
    inlet->last = NULL;
    inlet->waiting = false;
    inlet->offered.here = false;
    if (inlet->current != NULL) {
        struct arrival *a = inlet->current;
        inlet->current = NULL;
        if (!a->lost)
            arrival_cut(vm, a);
        match_free(vm, a);
    }
}

/* The one with the lowest number among those whose message waits for its turn. */
static const struct cast_inlet *next_waiting(const struct peer *peer)
{
    const struct cast_inlet *next = NULL;
    for (const struct cast_inlet *in = peer->in.cast_inlets; in != NULL; in = in->next) {
        if (in->inlet.waiting && (next == NULL || in->inlet.sequence < next->inlet.sequence))
            next = in;
    }
    return next;
}

void arrival_settle_casts(struct covey *vm, struct peer *peer)
{
    for (const struct cast_inlet *in; (in = next_waiting(peer)) != NULL;) {
        peer->in.sequence = in->inlet.sequence;
        arrival_release(vm, peer);
    }
}

void arrival_drop_casts(struct covey *vm, struct peer *peer)
{
    for (struct cast_inlet *in; (in = peer->in.cast_inlets) != NULL; free(in)) {
        peer->in.cast_inlets = in->next;
        arrival_drop(vm, &in->inlet);
    }
}

/* Whole, and in no order with others of its sender; it counts against its credit. */
void arrival_on_total(struct covey *vm, struct peer *peer, const uint8_t *payload, size_t size)
{
    struct message_header header;
    if (message_header_decode(payload, size, &header) != NULL ||
        header.size != size - FRAME_MESSAGE_BYTES)
        return;
    struct covey_msg *msg = message_receive(header.size, header.representation);
    if (msg == NULL)
        return;
    memcpy(message_bytes(msg), payload + FRAME_MESSAGE_BYTES, (size_t)header.size);
    msg->info = (struct covey_info){(covey_tid_t)peer->tid, header.tag, header.size};
    arrival_deliver(vm, 0, &msg);
    peer->in.received_bytes += size;
    if (peer->tid != vm->self.tid)
        credit_update(vm, peer);
}

void arrival_deliver(struct covey *vm, uint32_t context, struct covey_msg **msg)
{
    struct arrival *a = calloc(1, sizeof *a);
    if (a == NULL)
        return;
    a->number = vm->inbox.arrivals++;
    a->context = context;
    a->msg = *msg;
    *msg = NULL;
    a->info = a->msg->info;
    a->info.bytes = a->msg->size;
    a->representation = a->msg->representation;
    a->received = a->info.bytes;
    if (a->info.bytes >= ITEM_HEADER_BYTES)
        memcpy(a->preface, message_bytes(a->msg), ITEM_HEADER_BYTES);
    match_arrival(vm, a);
    match_complete(vm, a);
}

void arrival_on_data(struct covey *vm, const struct frame *frame, const uint8_t *payload)
{
    struct peer *peer = peer_get(vm, frame->source);
    bool ether = (frame->flags & FRAME_ETHER) != 0;
    if (peer != NULL) {
        peer->in.by_ether = ether;
        arrival_on_frame(vm, peer, ether ? &peer->in.ether_inlet : &peer->in.inlet, frame, payload);
    } else {
        home_lost(vm, COVEY_ENOMEM, "memory is exhausted: a message could not be taken");
    }
}
