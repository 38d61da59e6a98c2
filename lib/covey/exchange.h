/*
 * covey/exchange.h - unstructured exchange: arrays of any size from any member of a team to any
 * other.
 */
#ifndef COVEY_EXCHANGE_H
#define COVEY_EXCHANGE_H

#include "request.h"
#include "topology.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct covey_exchange_plan
    covey_exchange_plan_t; /* an exchange to be run again and again */

/* In an exchange each member of a team has arrays for some others, of any sizes, and only the
 * sender knows of them (Wang & Ranka). The members tell each other in few bytes who sends how much;
 * all of them then order the messages in the same way, each for itself, and keep the order: the
 * same pattern is not ordered again. See covey_exchange(3). */

enum covey_exchange_algorithm {
    COVEY_EXCHANGE_AUTO = 0,   /* by density and sizes, from measurements */
    COVEY_EXCHANGE_AC = 1,     /* asynchronous: everything at once */
    COVEY_EXCHANGE_LP = 2,     /* linear permutation: i with i XOR k, or i + k, in phase k */
    COVEY_EXCHANGE_RS_N = 3,   /* random phases, at most one message from and to a rank in each */
    COVEY_EXCHANGE_RS_NL = 4,  /* the same, and at most one a link */
    COVEY_EXCHANGE_COLOUR = 5, /* as many phases as the density, by edge colouring */
    COVEY_EXCHANGE_LONGEST = 6 /* no phases: the message with most to do behind it first */
};

enum covey_exchange_synchrony {
    COVEY_EXCHANGE_S_AUTO = 0, /* S2 for AC and RS_N, S1 for the others */
    COVEY_EXCHANGE_S1 = 1,     /* a receiver tells the sender that it is ready */
    COVEY_EXCHANGE_S2 = 2      /* all receives are posted, the order of sending spreads them */
};

/* An array for a member, or from one. */
struct covey_parcel {
    int32_t rank;
    const void *base;
    size_t count; /* of elements; 0 is a message, too */
};

/* Zeroed fields mean the defaults; the same at all members. What is pointed to stays the caller's.
 */
struct covey_exchange_options {
    int32_t algorithm;                /* enum covey_exchange_algorithm */
    int32_t synchrony;                /* enum covey_exchange_synchrony */
    const covey_topology_t *topology; /* links to be kept free, by RS_NL and LONGEST;
                                       * NULL: the team's, if it has one */
    const int32_t *hosts;             /* by rank, as for covey_schedule_create(); or NULL */
    uint64_t seed;                    /* of RS_N and RS_NL */
};

struct covey_exchange_info {
    int32_t algorithm; /* what was chosen */
    int32_t synchrony;
    int32_t ranks;
    uint32_t density; /* the most messages that a rank sends or receives */
    uint32_t phases;  /* LONGEST: 0 */
    uint32_t signals; /* LONGEST: messages that say that a link between switches is free */
    uint64_t messages;
    double bound_bytes; /* the most that a rank sends or receives, or a link carries, which counts
                         * by the slowest link's rate over its own */
    double ideal_bytes; /* LONGEST: what it takes in simulation, in the same unit; else 0 */
    double learn_s;     /* time in which the members told each other what there is */
    double schedule_s;  /* time in which the order was made; 0: it was known */
    double run_s;       /* of the last run */
    uint64_t runs;
};

/* Sends out[0 .. n-1], each to another rank (the own is fine), and receives what the others have
 * for the caller: sets *in to the arrays by rising rank, one block with their elements (free with
 * covey_free(); NULL when there is none), and returns their number. A collective call.
 * Errors: as of all collective calls; EINVAL (a rank twice). */
int covey_exchange(covey_team_t *team, int type, const struct covey_parcel *out, int n,
                   struct covey_parcel **in);

/* The same in steps, to be done again and again with other data of the same sizes. The plan is made
 * from rank and count of `out`; options may be NULL. A collective call; sets *plan. Errors: as
 * covey_exchange(). */
int covey_exchange_plan(covey_team_t *team, int type, const struct covey_parcel *out, int n,
                        const struct covey_exchange_options *options, covey_exchange_plan_t **plan);

/* From whom how much comes, by rising rank; returns their number. base is NULL. *in is the plan's.
 */
int covey_exchange_incoming(const covey_exchange_plan_t *plan, const struct covey_parcel **in);

/* Exchanges: out[i] is the array of the plan's i-th parcel, in[i] takes that of its i-th incoming
 * one. A collective call; the second form starts it, see covey_wait(). One run of a plan at a time.
 */
int covey_exchange_run(covey_exchange_plan_t *plan, const void *const *out, void *const *in);
int covey_exchange_start(covey_exchange_plan_t *plan, const void *const *out, void *const *in,
                         covey_req_t **req);

/* What the plan is, and its times so far at this member. */
void covey_exchange_info(const covey_exchange_plan_t *plan, struct covey_exchange_info *info);

/* Frees a plan that is not running and sets *plan to NULL; not collective. NULL is fine. */
void covey_exchange_free(covey_exchange_plan_t **plan);

/* A message of an order. Times are in bytes of the slowest link. */
struct covey_exchange_message {
    uint64_t bytes;
    uint64_t start, end; /* LONGEST: in simulation; else 0 */
    uint32_t phase;      /* LONGEST: 0 */
    uint16_t from, to;   /* ranks, different ones; each pair at most once */
};

/* Orders messages between `ranks` ranks without any task: sets phase or start and end of each,
 * sorts them by these, sender and receiver, and fills *info. RS_NL needs a topology. Needs no VM.
 * Errors: EINVAL, ENOMEM. */
int covey_exchange_order(struct covey_exchange_message *messages, size_t count, int ranks,
                         const struct covey_exchange_options *options,
                         struct covey_exchange_info *info);

/* The name of an algorithm ("RS_N"), and the algorithm of a name; EINVAL for an unknown one. */
const char *covey_exchange_name(int algorithm);
int covey_exchange_parse(const char *name);

#ifdef __cplusplus
}
#endif
#endif
