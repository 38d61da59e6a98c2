/*
 * member_state.h - what the parts of membership (member.c, registry.c, departure.c, replica.c,
 * detector.c, election.c) share and nobody else sees.
 */
#ifndef COVEY_PROTO_MEMBER_STATE_H
#define COVEY_PROTO_MEMBER_STATE_H

#include "proto/member/member.h"
#include "proto/wire/datagram.h"
#include "proto/wire/frame.h"

/* TABLE_ACK = epoch=u64 version=u64 missing=u8, of a TABLE frame; missing: what it is based on */
#define TABLE_ACK_BYTES 17

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

/* A full table on its way in: it is taken when its last frame is there. */
struct reading {
    uint32_t sender; /* 0: none */
    uint64_t epoch, version;
    uint8_t *bytes; /* see table.h */
    size_t size, room;
};

/* This host in office, or on its way there. */
struct office {
    uint64_t epoch;         /* of the log that this host leads; 0: it does not */
    uint64_t since_us;      /* it leads since then */
    bool proposed;          /* a change is in the log and not agreed yet */
    bool publish;           /* some row is dirty */
    bool urgent;            /* and not only by a suspicion that begins or ends */
    uint64_t suspects_us;   /* else it is proposed then */
    bool waiting;           /* some row wants to join */
    uint64_t opened_us;     /* the last batch of joins was opened then */
    uint64_t calm_us;       /* before that none is, though some found no room in the last */
    uint64_t joins_us;      /* the next batch of joins may be opened then */
    bool crowded;           /* the last one had no room for all that waited */
    bool batch;             /* hosts that join or are condemned wait for acknowledgements */
    bool condemns;          /* some of them are condemned */
    uint64_t batch_version; /* of this version; 0: not all of the batch is in the table yet */
    size_t lacking;         /* so many must acknowledge that at least; 0: not counted */
    bool holds;             /* at least half of the hosts were heard of lately */
    size_t overdue;         /* so many had not answered in time at the last look */
    uint64_t late_us;       /* the looks were late by that much, lately */
};

/* Hosts that want to leave. */
struct departure {
    bool pending;         /* coordinator: some were not released yet */
    uint64_t round_us;    /* all are asked whether they live: who is heard from then on does */
    uint64_t due_us;      /* they are looked at again */
    bool released;        /* this host may leave */
    uint64_t drain_by_us; /* it waits no longer for what others did not acknowledge */
};

struct election {
    uint64_t known;         /* the highest generation that anyone is known to have promised */
    uint64_t claimed;       /* the generation of the own claim that is open; 0: none */
    bool binding;           /* it asks for promises, not just whether it would get them */
    uint64_t claim_end_us;  /* the claim is given up then */
    uint64_t not_before_us; /* of the next claim */
    uint64_t orphan_us;     /* since then no coordinator is known */
    size_t lacking;         /* of the grants that decide, so many have not come at least */
};

/* The roll call of roll.c. */
struct roll {
    uint32_t number;    /* of those that this host made */
    uint64_t since_us;  /* it calls all others since then; 0: it does not */
    uint64_t next_us;   /* the next are asked then */
    uint64_t round_us;  /* the present round began then, or the next does */
    size_t at;          /* in the table: those before were asked in this round */
    uint64_t called_us; /* another host called then; 0: none since the coordinator was heard */
};

/* Lines of the log about hosts: so many in a while, then the number of the others. Each host writes
 * them of all others, and one machine may have thousands of hosts. */
struct lines {
    uint64_t end_us; /* of the while */
    unsigned written, left_out;
};

struct member {
    struct member_owner owner;
    struct member_config config;
    struct host_room self_room; /* of config.self */
    uint32_t self;
    enum member_phase phase;
    uint64_t phase_end_us; /* the phase ends then at the latest */
    int why;               /* enum node_end to report at the end of the phase, 0: none */
    struct table table;
    struct office office;
    struct departure departure;
    struct lines lines;
    /* everyone else */
    struct reading reading;
    uint32_t watched;  /* the coordinator whose silence is measured; 0: none */
    uint32_t last;     /* the one that fell silent in office: its silence counts on; 0: none */
    uint64_t resigned; /* whoever coordinated up to that epoch does not any more */
    /* failure detection and succession */
    uint64_t tick_us; /* of the next look at who is silent; UINT64_MAX: none */
    uint64_t random;
    uint64_t helpers, helpers_until_us; /* who is asked about the coordinator, and until when */
    struct election election;
    struct roll roll;
    uint8_t scratch[FRAME_PAYLOAD_MAX]; /* of a TABLE frame that is made; the last */
};

static inline bool is_coordinator(const struct member *m)
{
    return m->table.coordinator == m->self && m->self != 0;
}
/* Leads the log, and is not in office yet. */
static inline bool is_candidate(const struct member *m)
{
    return m->office.epoch > m->table.epoch &&
           epoch_generation(m->office.epoch) >= m->table.promised;
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
void member_say_goodbye(struct member *m, uint64_t now_us);
/* Leaves in order, to report `why` at the end (0: node_leave(), nothing to report). */
void member_start_leave(struct member *m, int why, uint64_t now_us);

/* registry.c: the coordinator's side of the table. */
void registry_on_join(struct member *m, uint32_t host, const uint8_t *payload, size_t size,
                      uint64_t now_us);
void registry_on_ack(struct member *m, uint32_t host, const uint8_t *payload, size_t size,
                     uint64_t now_us);
void registry_on_resign(struct member *m, uint32_t host, const uint8_t *payload, size_t size,
                        uint64_t now_us);
void registry_step(struct member *m, uint64_t now_us);
uint64_t registry_deadline(const struct member *m, uint64_t now_us);
/* The coordinator wants the row to be in that state; or, where nobody else knows of it yet, it is
 * at once. */
void registry_want(struct member *m, struct row *row, uint8_t state, const char *cause,
                   uint64_t now_us);
/* The coordinator wants to declare a host gone. */
void registry_condemn(struct member *m, struct row *row);
/* A change that this host proposed is in the table: everyone else is told. */
void registry_on_change(struct member *m, const uint8_t *payload, size_t size, bool took_office,
                        uint64_t now_us);
void registry_send_full(struct member *m, uint32_t host, uint64_t now_us);
/* What was proposed in an earlier epoch and is not in the table now never will be. */
void registry_discard_fresh(struct member *m, uint64_t now_us);
/* Whether at least half of the hosts, this one included, gave a sign of life since then. */
bool registry_holds_half(const struct member *m, uint64_t since_us);

/* departure.c: who may leave, and when. */
void departure_start(struct member *m, uint64_t now_us);
/* Whether this host, which leaves, may say goodbye. */
bool departure_is_free(const struct member *m, uint64_t now_us);
/* This host entered office: all that it was told of who wants to leave is looked at again. */
void departure_resume(struct member *m, uint64_t now_us);
void departure_on_release(struct member *m, uint32_t host, const uint8_t *payload, size_t size,
                          uint64_t now_us);
/* Coordinator: some that were released are still in the table. Who leads after it might take them
 * for dead ones, more than half of all. */
bool departure_is_under_way(const struct member *m);
void departure_step(struct member *m, uint64_t now_us);
uint64_t departure_deadline(const struct member *m, uint64_t now_us);

/* replica.c: everyone else's. */
void replica_on_table(struct member *m, uint32_t host, const uint8_t *payload, size_t size,
                      uint64_t now_us);
void replica_drop_reading(struct member *m);

/* detector.c: heartbeats, suspicion, probes. */
void detector_start(struct member *m, uint64_t now_us);
void detector_step(struct member *m, uint64_t now_us);
uint64_t detector_deadline(const struct member *m);
/* Every host hears from the coordinator so often while nothing is lost. */
uint64_t detector_beat_us(const struct member *m);
/* A suspect is asked so often. */
uint64_t detector_look_us(const struct member *m);
/* How long a host has been without any sign of life. */
uint64_t detector_silence_us(const struct row *row, uint64_t now_us);

/* roll.c: who else is there when the coordinator falls silent. */
void roll_step(struct member *m, uint64_t now_us);
uint64_t roll_deadline(const struct member *m, uint64_t now_us);
/* There is a coordinator. */
void roll_end(struct member *m);
/* Whether another host called since the coordinator fell silent; how many that did have a lower
 * index. */
bool roll_was_called(const struct member *m);
unsigned roll_before(const struct member *m);
/* From then on most of the voters have been silent for so long that they are not waited for;
 * UINT64_MAX: they have not. */
uint64_t roll_lost_us(const struct member *m);
/* This host comes into office: the silence of that host began when the roll call did, if it has not
 * answered, otherwise now. Whether it has not. */
bool roll_apply(struct member *m, struct row *row, uint64_t now_us);
/* The one that fell silent in office is not the only one: they are gone together. */
void roll_join(const struct member *m, struct row *row);

/* election.c: what if the voters cannot. */
/* Since when there is no coordinator, as far as this host knows: the last sign of life. */
uint64_t election_silent_since(const struct member *m);
/* Whether the host counts among those that may go on without the voters. */
bool election_has_say(const struct row *row);
/* How long this host gives way to those before it: the first few by their indices have a part each,
 * all others take turns. */
uint64_t election_order_us(const struct member *m, uint64_t part_us, uint64_t turn_us);
void election_step(struct member *m, uint64_t now_us);
uint64_t election_deadline(const struct member *m, uint64_t now_us);
uint64_t election_epoch(const struct member *m);         /* the highest that this host knows of */
void election_orphan(struct member *m, uint64_t now_us); /* nobody is known to coordinate */
void election_on_claim(struct member *m, uint32_t host, const uint8_t *payload, size_t size,
                       uint64_t now_us);
void election_on_reply(struct member *m, uint32_t host, const uint8_t *payload, size_t size,
                       uint64_t now_us);

#endif
