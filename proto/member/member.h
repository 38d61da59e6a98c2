/*
 * member.h - who is in the VM: joining, leaving, the table of hosts and its distribution, failure
 * detection, and what becomes of a VM whose voters are lost. Pure: it knows sessions only as "send
 * this frame", "ping that host", and the log (council.h) as "propose this".
 *
 * One host coordinates: the one that leads the log. It alone changes the table; a change is an
 * entry of the log, is in the table when it is agreed, and then goes to all others as a TABLE
 * frame, which they acknowledge. (Who decides what: essay in member.c.)
 */
#ifndef COVEY_PROTO_MEMBER_H
#define COVEY_PROTO_MEMBER_H

#include "proto/member/table.h"
#include "proto/wire/counters.h"

struct member;

struct member_owner {
    void *context;
    /* A reliable frame to a host; opens a session at need. */
    void (*send)(void *context, uint32_t host, uint8_t kind, const uint8_t *payload, size_t size,
                 uint64_t now_us);
    /* An unreliable datagram (DATAGRAM_PING, PROBE, PROBED). */
    void (*ping)(void *context, uint32_t host, uint8_t kind, uint32_t target, uint64_t now_us);
    /* Shakes hands again over all addresses, though there is a session. */
    void (*reopen)(void *context, uint32_t host, uint64_t now_us);
    /* Asks a host, without a session, whether it is there, in the roll call of that number;
     * member_on_heard() if it answers. */
    void (*roll)(void *context, uint32_t host, uint32_t number);
    /* A change of the table for the log; comes back as member_on_change() when it is agreed, within
     * this call or later. < 0: not now, it is proposed again. */
    int64_t (*propose)(void *context, const uint8_t *bytes, size_t size, uint64_t now_us);
    /* This host founds a generation: an empty log, of which it is the only voter. It leads it at
     * once (member_lead()). */
    void (*found)(void *context, uint64_t generation, uint64_t now_us);
    /* The host is gone: ends its session after a short while (for acknowledgements). */
    void (*close)(void *context, uint32_t host, uint64_t now_us);
    /* Bytes that the host has not acknowledged; host 0: all hosts together. */
    size_t (*queued)(void *context, uint32_t host);
    /* This host wants to leave: whether it must wait until another votes in its place, or until it
     * is released; the coordinator asks whether nobody needs the vote of a host. */
    bool (*needed)(void *context);
    bool (*spares)(void *context, uint32_t host);
    /* See node.h. */
    void (*host)(void *context, const struct host *host, int event);
    void (*joined)(void *context);
    void (*ended)(void *context, int why, const char *text);
    void (*log)(void *context, const char *line);
};

struct member_config {
    struct host self; /* the member keeps a copy */
    uint64_t fail_timeout_us, join_timeout_us;
    uint64_t seed;
    struct counters *counters;
};

struct member *member_create(const struct member_config *config, const struct member_owner *owner);
void member_destroy(struct member *m);

/* As in node.h. */
void member_bootstrap(struct member *m, uint64_t now_us);
void member_join(struct member *m, const struct host *coordinator, uint64_t now_us);
int member_invite(struct member *m, const char *name, uint64_t *incarnation, uint64_t now_us);
void member_uninvite(struct member *m, uint32_t index, uint64_t now_us);
int member_remove(struct member *m, uint32_t index, uint64_t now_us);
void member_shutdown(struct member *m, uint64_t now_us);
void member_leave(struct member *m, uint64_t now_us);

/* This host leads the log now, in that epoch: it takes office when it hears enough hosts. */
void member_lead(struct member *m, uint64_t epoch, uint64_t now_us);
/* It does not any more. */
void member_depose(struct member *m, uint64_t now_us);
/* A change is agreed: the entries of a log come in their order. */
void member_on_change(struct member *m, const uint8_t *bytes, size_t size, uint64_t now_us);
/* The table of a snapshot (table_save()); false: it is malformed. */
bool member_on_snapshot(struct member *m, const uint8_t *bytes, size_t size, uint64_t now_us);
/* Coordinator: these hosts vote. */
void member_set_voters(struct member *m, const uint32_t *hosts, size_t count);

/* Coordinator: that host wants to leave. */
void member_on_leaving(struct member *m, uint32_t host, uint64_t now_us);

/* Whether a frame kind is membership's (JOIN ... TABLE_ACK, RESIGN, RELEASE). */
bool member_owns(uint8_t kind);
/* Such a frame arrived; a malformed one is logged and has no effect. */
void member_on_frame(struct member *m, uint32_t host, uint8_t kind, const uint8_t *payload,
                     size_t size, uint64_t now_us);
/* A session with an invited host opened: it is the one with this id. */
void member_bind(struct member *m, uint32_t host, const uint8_t id[HOST_ID_BYTES]);
/* An authentic datagram came from that host. */
void member_on_heard(struct member *m, uint32_t host, uint64_t now_us);
/* A host that knows the VM's key refused a session (enum datagram_reason). */
void member_on_refused(struct member *m, uint32_t host, uint8_t reason, uint64_t now_us);
/* PROBE or PROBED came from that host. */
void member_on_probe(struct member *m, uint32_t host, uint8_t kind, uint32_t target,
                     uint64_t now_us);
/* That host, which does not hear the coordinator of the epoch with that mark (table.h), asked
 * whether this one is there. */
void member_on_roll(struct member *m, uint32_t host, uint32_t mark, uint64_t now_us);
/* This node itself stood still for so long: silence of others in that time means nothing. */
void member_on_late(struct member *m, uint64_t late_us);

/* Does what is due; returns when to call again, UINT64_MAX for never. */
uint64_t member_step(struct member *m, uint64_t now_us);

const struct table *member_table(const struct member *m);
uint32_t member_self(const struct member *m);
bool member_is_up(const struct member *m);        /* joined and not ended */
bool member_in_office(const struct member *m);    /* coordinates in the epoch that it leads */
bool member_holds_office(const struct member *m); /* and hears enough hosts to take commands */
/* More than an eighth of the hosts did not answer the coordinator in time, or its own timers are
 * late: it, or the machine that all of them share, has more to do than it can. */
bool member_is_strained(const struct member *m);
uint64_t member_beat_us(const struct member *m); /* all hear from the coordinator so often */
bool member_is_busy(const struct member *m);     /* a goodbye is still to be said or acknowledged */
bool member_has_ended(const struct member *m);
bool member_is_alone(const struct member *m);   /* all other hosts have gone, or said goodbye */
bool member_is_leaving(const struct member *m); /* alone: the VM goes on without it */

#endif
