/*
 * detour.h - when the datagrams of a link leave its own way, raw Ethernet, for a slower one that
 * goes on working when the segment carries nothing, and when they come back. Pure; every link of
 * two ends has one at each.
 *
 *  - An end that waits for something and for `after_us` has had no proof that what it sends by the
 *    own way arrives takes the detour. That it hears the other end proves nothing. In the second
 *    half of that time it asks, for the other end may just owe it nothing.
 *  - An end that hears a datagram by the detour takes it as well: perhaps only one direction is
 *    dead, and it is its answers that get lost.
 *  - On the detour it asks by the own way, now and then, while it has something to send. An answer,
 *    by the own way, shows that both directions carry: it returns. For `after_us` from then on a
 *    datagram by the detour means nothing to it, for the other end may still be asking.
 *
 * An answer goes the way that its question came. Nothing depends on who is right: what the two ends
 * make a stream of their datagrams with repairs loss, doubles and changes of order.
 */
#ifndef COVEY_PROTO_DETOUR_H
#define COVEY_PROTO_DETOUR_H

#include <stdbool.h>
#include <stdint.h>

struct detour {
    uint64_t after_us; /* 0: there is no detour */
    uint64_t quiet_us; /* something is owed and nothing was proved since; UINT64_MAX: neither */
    uint64_t ask_us;   /* not asked again before */
    uint64_t deaf_us;  /* what comes by the detour means nothing before */
    bool taken;
};

void detour_init(struct detour *d, uint64_t after_us);

/* What was sent arrived: an acknowledgement came, or an answer by the own way. */
void detour_on_proof(struct detour *d);

/* An answer came by the own way. True: the way changes. */
bool detour_on_answer(struct detour *d, uint64_t now_us);

/* Something authentic came by the detour. True: the way changes. */
bool detour_on_met(struct detour *d, uint64_t now_us);

/* Whether this end waits for something of the other, acknowledgements for one. True: the way
 * changes. */
bool detour_step(struct detour *d, bool owed, uint64_t now_us);
uint64_t detour_deadline(const struct detour *d); /* of the next step */

/* Whether to ask now, by the own way; `sends`: something goes to the other end. */
bool detour_asks(struct detour *d, bool sends, uint64_t now_us);

#endif
