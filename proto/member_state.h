/*
 * member_state.h - what the parts of membership (member.c, registry.c, replica.c, detector.c,
 * election.c) share and nobody else sees.
 */
#ifndef COVEY_PROTO_MEMBER_STATE_H
#define COVEY_PROTO_MEMBER_STATE_H

#include "proto/datagram.h"
#include "proto/frame.h"
#include "proto/member.h"

enum member_phase {
    MEMBER_IDLE,
    MEMBER_JOINING, /* JOIN was sent */
    MEMBER_UP,
    MEMBER_DRAINING,  /* leaves when its frames are acknowledged */
    MEMBER_GOODBYE,   /* said goodbye, waits for the acknowledgement */
    MEMBER_HALTING,   /* coordinator: waits for all others' goodbyes */
    MEMBER_LINGERING, /* coordinator: acknowledges the last of them */
    MEMBER_ENDED
};

/* A full table on its way in. */
struct reading {
    uint32_t sender; /* 0: none */
    uint64_t epoch, version;
};

struct election {
    uint64_t granted;       /* the highest epoch granted to anyone */
    uint64_t claimed;       /* the epoch of the own claim that is open; 0: none */
    uint64_t claim_end_us;  /* the claim is given up then */
    uint64_t not_before_us; /* of the next claim */
    uint64_t orphan_us;     /* the coordinator said goodbye then */
};

struct member {
    struct member_owner owner;
    struct member_config config;
    uint32_t self;
    enum member_phase phase;
    uint64_t phase_end_us; /* the phase ends then at the latest */
    int why;               /* enum node_end to report at the end of the phase, 0: none */
    struct table table;
    /* coordinator */
    uint64_t batch_version; /* hosts that join wait until this version is agreed; 0: none wait */
    bool waiting;           /* some row wants to join */
    bool publish;           /* something is dirty or somebody is not synced */
    /* everyone else */
    struct reading reading;
    uint32_t watched; /* the coordinator whose silence is measured; 0: none */
    /* failure detection and succession */
    uint64_t tick_us; /* of the next look at who is silent; UINT64_MAX: none */
    uint64_t random;
    struct election election;
    uint8_t scratch[FRAME_PAYLOAD_MAX];
};

static inline bool is_coordinator(const struct member *m)
{
    return m->table.coordinator == m->self && m->self != 0;
}

void member_log(struct member *m, const char *format, ...) __attribute__((format(printf, 2, 3)));
uint64_t member_random(struct member *m);
void member_send(struct member *m, uint32_t host, uint8_t kind, const void *payload, size_t size,
                 uint64_t now_us);
void member_end(struct member *m, int why, const char *text);
void member_begin_up(struct member *m, uint64_t now_us);
/* The one place where a row's state changes: tells the owner, closes the session of the gone. */
void member_set_state(struct member *m, struct row *row, uint8_t state, const char *cause,
                      uint64_t now_us);
/* Leaves in order, to report `why` at the end (0: node_leave(), nothing to report). */
void member_start_leave(struct member *m, int why, uint64_t now_us);

/* registry.c: the coordinator's side of the table. */
void registry_on_join(struct member *m, uint32_t host, const uint8_t *payload, size_t size,
                      uint64_t now_us);
void registry_on_ack(struct member *m, uint32_t host, const uint8_t *payload, size_t size,
                     uint64_t now_us);
void registry_step(struct member *m, uint64_t now_us);
/* The coordinator proposes to declare a host gone. */
void registry_condemn(struct member *m, struct row *row);
void registry_touch(struct member *m, struct row *row); /* publish this row */
void registry_take_over(struct member *m, uint64_t epoch, uint64_t now_us);
void registry_send_full(struct member *m, uint32_t host, uint64_t now_us);

/* replica.c: everyone else's. */
void replica_on_table(struct member *m, uint32_t host, const uint8_t *payload, size_t size,
                      uint64_t now_us);

/* detector.c: heartbeats, suspicion, probes. */
void detector_start(struct member *m, uint64_t now_us);
void detector_step(struct member *m, uint64_t now_us);
uint64_t detector_deadline(const struct member *m);
/* Every host hears from the coordinator so often, and a suspect is asked so often. */
uint64_t detector_beat_us(const struct member *m);
uint64_t detector_look_us(const struct member *m);
/* Silence after which a host is declared gone. */
uint64_t detector_limit_us(const struct member *m);
/* How long a host has been silent: without any sign of life, without a datagram of its own. */
uint64_t detector_silence_us(const struct row *row, uint64_t now_us);
uint64_t detector_direct_silence_us(const struct row *row, uint64_t now_us);

/* election.c: succession. */
void election_step(struct member *m, uint64_t now_us);
uint64_t election_deadline(const struct member *m, uint64_t now_us);
uint64_t election_epoch(const struct member *m);         /* the highest that this host knows of */
void election_orphan(struct member *m, uint64_t now_us); /* the coordinator said goodbye */
void election_on_claim(struct member *m, uint32_t host, const uint8_t *payload, size_t size,
                       uint64_t now_us);
void election_on_reply(struct member *m, uint32_t host, const uint8_t *payload, size_t size,
                       uint64_t now_us);

#endif
