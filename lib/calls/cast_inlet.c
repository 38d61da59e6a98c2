/*
 * cast_inlet.c - messages that were cast, coming in: each has an inlet of its own, for casts to
 * different sets of hosts take different ways and may overtake each other. How they go out is
 * lib/calls/cast.c.
 */
#include "lib/calls/cast_inlet.h"
#include "lib/engine/arrival.h"
#include "lib/engine/peer.h"
#include "lib/member/home.h"
#include "lib/member/vm.h"
#include "proto/wire/control.h"

#include <stdlib.h>

static struct cast_inlet *inlet_get(struct peer *peer, uint64_t sequence)
{
    struct cast_inlet *in = peer->in.cast_inlets;
    while (in != NULL && in->sequence != sequence)
        in = in->next;
    if (in != NULL)
        return in;
    in = calloc(1, sizeof *in);
    if (in == NULL)
        return NULL;
    in->sequence = sequence;
    in->inlet.cast = true;
    in->next = peer->in.cast_inlets;
    peer->in.cast_inlets = in;
    return in;
}

static void bury_unused(struct peer *peer)
{
    for (struct cast_inlet **at = &peer->in.cast_inlets; *at != NULL;) {
        struct cast_inlet *in = *at;
        if (in->inlet.current != NULL || in->inlet.waiting) {
            at = &in->next;
            continue;
        }
        *at = in->next;
        free(in);
    }
}

void cast_inlet_on_data(struct covey *vm, const struct frame *frame, const uint8_t *payload)
{
    struct cursor c = cursor_reader(payload, frame->length);
    uint64_t sequence = cursor_get_u64(&c);
    struct peer *peer = cursor_ok(&c) ? peer_get(vm, frame->source) : NULL;
    if (peer != NULL && sequence == CONTROL_TOTAL)
        arrival_on_total(vm, peer, c.at, cursor_left(&c));
    if (peer == NULL || peer->gone || sequence == CONTROL_TOTAL)
        return;
    bool first = (frame->flags & FRAME_FIRST) != 0;
    if (!first && sequence < peer->in.sequence && peer->in.cast_inlets == NULL)
        return; /* of a message that is complete: no honest daemon sends that */
    struct cast_inlet *in = inlet_get(peer, sequence);
    if (in == NULL) {
        home_lost(vm, COVEY_ENOMEM, "memory is exhausted: a message could not be taken");
        return;
    }
    struct frame data = *frame;
    data.kind = FRAME_DATA;
    data.length = (uint32_t)cursor_left(&c);
    arrival_on_frame(vm, peer, &in->inlet, &data, c.at);
    bury_unused(peer);
}
