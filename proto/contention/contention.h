/*
 * contention.h - bulk messages wait for each other where they would share a medium: tokens of
 * contention domains (Schmidt & Sunderam, section 5: a token-based mechanism that prevents
 * simultaneous message transmission, or staggered communication).
 *
 * A domain is what several senders share and none has alone: a segment, or a link of the topology
 * in one direction (domain.h says which a message crosses). Who sends a message of at least
 * `threshold_bytes` to another host has a claim (claim.c), one for each receiver; the arbiter
 * (arbiter.c), in the daemon that coordinates the VM, grants claims in the order in which they were
 * asked for, those of a task that sends to several before others (arbiter.c), each as soon as no
 * domain of it is granted to, or asked for earlier by, another one.
 * A granted claim lasts for `quantum_bytes` or CONTENTION_HOLD_US, over as many messages as fit,
 * and goes back with one frame: what it costs is a question, an answer and an end for a quantum.
 * What is gained is that messages end one after the other, where without tokens all would end last:
 * whoever has its message computes while others get theirs. So a quantum is to hold whole messages;
 * cut in pieces that take turns they end together again.
 *
 *   claim --BULK_ASK--> its daemon --BULK_ASK--> the arbiter
 *         <-----------BULK_ANSWER---------------
 *         --BULK_END--> its daemon --BULK_END-->
 *
 * What is promised. A domain has at most one claim of an arbiter that may send: a grant names the
 * time of the question that it answers, by the asker's clock; the claim ends CONTENTION_LEASE_US
 * after that, and the arbiter takes it back that long after it gave it, which is later. So a holder
 * that died, was stopped or is cut off is replaced without having been heard of, and one that wakes
 * up too late does not send. A new arbiter knows of no grants: it gives none for as long as those
 * of its predecessor may last. Only where a predecessor that is cut off does not know yet that it
 * is replaced there are two, each with one claim of a domain.
 * Nobody waits for ever: a claim that hears nothing for CONTENTION_PATIENCE_US goes on without a
 * grant, for a quantum. Claims are about speed alone; what goes wrong here loses no message.
 *
 * Nothing here has a clock, a socket or memory of its own beyond what arbiter_create() takes.
 */
#ifndef COVEY_PROTO_CONTENTION_H
#define COVEY_PROTO_CONTENTION_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/wire/contention_config.h"

#define CONTENTION_DOMAINS_MAX 64
#define CONTENTION_OVERTAKEN_MAX 4 /* times, of a claim by those of tasks that have several */
#define CONTENTION_LEASE_US UINT64_C(2000000)    /* from the question on */
#define CONTENTION_HOLD_US UINT64_C(1000000)     /* of a claim that others may wait for */
#define CONTENTION_STALL_US UINT64_C(200000)     /* it sent nothing for so long: others may */
#define CONTENTION_AGAIN_US UINT64_C(400000)     /* between two questions of one claim */
#define CONTENTION_PATIENCE_US UINT64_C(1500000) /* without any answer */
#define CONTENTION_KNOWN_US UINT64_C(10000000)   /* "no domain on this way" holds for so long */

/* ---- the wire: BULK_ASK, BULK_END and BULK_ANSWER ---- */

/* ask = task number=u32 asked=u64 to=u16 u16(0) ; end = task number=u32, number 0: all of it */
struct contention_ask {
    uint32_t task, number;
    uint64_t asked_us; /* by the task's clock */
    uint16_t to;       /* the receiver's host */
};
#define CONTENTION_ASK_BYTES 20
void contention_put_ask(struct cursor *c, const struct contention_ask *ask);
void contention_get_ask(struct cursor *c, struct contention_ask *ask);
#define CONTENTION_END_BYTES 8
void contention_put_end(struct cursor *c, uint32_t task, uint32_t number);
void contention_get_end(struct cursor *c, uint32_t *task, uint32_t *number);

enum contention_verdict {
    CONTENTION_WAIT = 1,  /* others are first */
    CONTENTION_GRANTED,   /* for a quantum */
    CONTENTION_FREE,      /* there is no domain on this way */
    CONTENTION_STAGGERED, /* only collective calls, and those by their members' ranks */
    CONTENTION_VERDICT_MAX
};
/* answer = number=u32 asked=u64 verdict=u8 3u8(0) quantum=u32 rate=u64 */
struct contention_answer {
    uint32_t task, number; /* the task is no part of the bytes */
    uint64_t asked_us;     /* of the question that this answers */
    uint8_t verdict;
    uint32_t quantum_bytes; /* GRANTED */
    uint64_t rate;          /* STAGGERED: bits per second */
};
#define CONTENTION_ANSWER_BYTES 28
void contention_put_answer(struct cursor *c, const struct contention_answer *answer);
void contention_get_answer(struct cursor *c, struct contention_answer *answer);

/* ---- the arbiter ---- */

struct arbiter;

/* An answer to a task; must not call back. */
typedef void arbiter_answer_fn(void *context, const struct contention_answer *answer);

struct arbiter_counters {
    uint64_t asked, granted, ended; /* ended: by their holders, or with them */
    uint64_t regenerated;           /* taken back when the lease had run out */
    uint64_t refused;               /* went on without: no room to note them */
};

/* Grants nothing before `from_us`. NULL: no memory. */
struct arbiter *arbiter_create(uint64_t from_us, arbiter_answer_fn *answer, void *context);
void arbiter_destroy(struct arbiter *a); /* NULL is fine */

/* A question whose way crosses these domains (not none). Asked again it is answered again. */
struct arbiter_claim {
    struct contention_ask ask;
    uint64_t domains;
    uint32_t quantum_bytes;
};
void arbiter_ask(struct arbiter *a, const struct arbiter_claim *claim, uint64_t now_us);
/* number 0: all of the task; task with local part 0 and number 0: all of its host. */
void arbiter_end(struct arbiter *a, uint32_t task, uint32_t number, uint64_t now_us);
/* Takes back what has run out, and grants; returns when it must be called again, UINT64_MAX: when
 * something happens. */
uint64_t arbiter_step(struct arbiter *a, uint64_t now_us);
unsigned arbiter_waiting(const struct arbiter *a); /* claims that wait */
const struct arbiter_counters *arbiter_counters(const struct arbiter *a);

/* ---- a claim ---- */

enum claim_state { CLAIM_NONE = 0, CLAIM_ASKED, CLAIM_HELD, CLAIM_PASSING };

/* What the owner must send. */
enum claim_act { CLAIM_REST = 0, CLAIM_ASK, CLAIM_END };

/* All zero: none. */
struct claim {
    enum claim_state state;
    uint32_t number;
    uint64_t asked_us, heard_us; /* the last question, and the last word of the arbiter */
    uint64_t since_us;           /* held or passing */
    uint64_t expires_us;
    uint64_t moved_us; /* the last bytes went */
    uint64_t left_bytes;
};

/* Something is to be sent: CLAIM_ASK when nothing was asked yet, under that new number. */
enum claim_act claim_want(struct claim *claim, uint32_t number, uint64_t now_us);
/* Returns CLAIM_END for a grant that nobody wants any more: of the answer's number. FREE and
 * STAGGERED end the claim. */
enum claim_act claim_on_answer(struct claim *claim, const struct contention_answer *answer,
                               uint64_t now_us);
bool claim_may_send(const struct claim *claim, uint64_t now_us);
void claim_sent(struct claim *claim, uint64_t bytes, uint64_t now_us);
/* Nothing more is to be sent: CLAIM_END when the arbiter must be told. The number stays. */
enum claim_act claim_drop(struct claim *claim);
/* What is due: CLAIM_ASK (again), CLAIM_END (it is over: claim_want() for another). *next_us: when
 * to look again. */
enum claim_act claim_step(struct claim *claim, uint32_t quantum_bytes, uint64_t now_us,
                          uint64_t *next_us);

#endif
