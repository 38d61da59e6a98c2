/*
 * admission.c - how many handshakes an endpoint has under way. A daemon that asks thousands of
 * hosts at once has a session with none of them. If it said HELLO to all, the answers of most would
 * come after it had said so again and had asked the coordinator for help: on a slow machine, or on
 * one that all of them share, the more it repeats the later the answers come.
 *
 * So only ADMITTED_MAX of its sessions shake hands at a time, in the order in which they began. A
 * session gives up its place when it is open, and at the latest ADMITTED_US after its HELLO, for
 * many that are asked may be dead; to say HELLO again it waits for another place. Where answers
 * come at once, that is as fast as they come; where they do not, it is a steady trickle.
 */
#include "proto/session/session_state.h"
#include "proto/wire/list.h"

#define ADMITTED_MAX 64
#define ADMITTED_US 50000

bool admission_take(struct session *s, uint64_t now_us)
{
    struct admission *a = &s->endpoint->admission;
    struct turn *t = &s->pending.turn;

    if (!t->admitted && !t->waits && a->under_way < ADMITTED_MAX) {
        a->under_way++;
        t->admitted = true;
    } else if (!t->admitted && !t->waits) {
        LINK_AFTER(a->last, a->first, a->last, s, pending.turn.next, pending.turn.previous);
        t->waits = true;
    }
    if (t->admitted)
        t->until_us = now_us + ADMITTED_US;
    return t->admitted;
}

static void withdraw(struct admission *a, struct session *s)
{
    UNLINK_BOTH(a->first, a->last, s, pending.turn.next, pending.turn.previous);
    s->pending.turn.waits = false;
}

void admission_give(struct session *s, uint64_t now_us)
{
    struct endpoint *e = s->endpoint;
    struct turn *t = &s->pending.turn;

    if (t->waits)
        withdraw(&e->admission, s);
    if (!t->admitted)
        return;
    struct session *heir = e->admission.first;

    t->admitted = false;
    if (heir == NULL) {
        e->admission.under_way--;
        return;
    }
    withdraw(&e->admission, heir);
    heir->pending.turn.admitted = true;
    heir->pending.turn.until_us = UINT64_MAX; /* it has not said HELLO yet */
    e->owner.admitted(e->owner.context, heir->peer, now_us);
}

uint64_t admission_deadline(const struct session *s)
{
    return s->pending.turn.admitted ? s->pending.turn.until_us : UINT64_MAX;
}

void admission_step(struct session *s, uint64_t now_us)
{
    if (now_us >= admission_deadline(s))
        admission_give(s, now_us);
}
