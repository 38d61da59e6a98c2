/*
 * exchange.h - what the files of unstructured exchange share.
 *
 *   struct exchange_order   the order of all messages of all members, the same at each; kept by the
 *                           team, so that a pattern that comes again is not ordered again
 *                                                             exchange_order.c, exchange_cache.c
 *   covey_exchange_plan     an order, and the caller's part in it: its parcels       exchange.c
 *
 *   exchange_learn.c        what the members tell each other: a row of COM from each
 *   exchange_steps.c        the steps of one run, as collective.h has them
 *   exchange_paced.c        and of one in which receivers hand over
 *   exchange_choice.c       which algorithm
 *   exchange_vector.c       alltoallv in this way
 */
#ifndef COVEY_LIB_EXCHANGE_H
#define COVEY_LIB_EXCHANGE_H

#include "lib/collective/collective.h"
#include "proto/exchange/exchange_pace.h"
#include "proto/exchange/exchange_row.h"

#define EXCHANGE_KEY_BYTES 16

struct exchange_order {
    unsigned users; /* plans, and the cache */
    uint8_t key[EXCHANGE_KEY_BYTES];
    struct exchange x; /* messages between different ranks; bytes */
    struct exchange_signal *signals;
    size_t signal_count;
    int algorithm, synchrony; /* enum covey_exchange_algorithm, _synchrony; none is AUTO */
    bool one_host;            /* all ranks are on one: no link is between them */
    uint32_t density;
    double bound_bytes;
    struct pace_plan pace; /* the caller's part, where receivers hand over: */
    bool paced;            /* then it is there */
    uint64_t rate;         /* bytes of messages a second by the caller's link; 0: unknown */
};

struct covey_exchange_plan {
    struct covey_team *team;
    struct exchange_order *order;
    int type;
    struct covey_parcel *out, *in; /* in by rising rank */
    int out_count, in_count;
    uint32_t *sends, *receives; /* positions of the own messages in the order */
    int send_count, receive_count;
    double learn_s, schedule_s, run_s;
    uint64_t runs;
    bool running;
};

/* The options, which may be NULL; where no topology is given, the team's, if it has one. */
struct covey_exchange_options exchange_settle(const struct covey_team *team,
                                              const struct covey_exchange_options *options);

/* ---- exchange_order.c ---- */

/* Chooses, orders and finds the signals: order->x has the messages; team NULL: those of no team.
 * Errors: EINVAL, ENOMEM. */
int exchange_order_make(struct exchange_order *order, const struct covey_exchange_options *options,
                        const struct covey_team *team);
/* Takes the caller's part out of an order that is made, where receivers hand over. Errors: ENOMEM.
 */
int exchange_order_pace(struct exchange_order *order, const struct covey_team *team,
                        const struct covey_exchange_options *options); /* exchange_paced.c */
/* One user less; the last one frees it. NULL is fine. */
void exchange_order_drop(struct exchange_order *order);
/* Whether these options can be meant for so many ranks. */
int exchange_options_check(const struct covey_exchange_options *options, int ranks);

/* ---- exchange_choice.c ---- */

/* The algorithm for an exchange that has density and bound, over a network that is known or not;
 * team NULL: by the built-in table. */
int exchange_choose(const struct exchange_order *order, const struct covey_team *team,
                    bool network);

/* ---- exchange_cache.c ---- */

/* Makes the team's cache, if it has none; before the members are told anything, so that all have
 * one. Errors: ENOMEM. */
int exchange_cache_create(struct covey_team *team);
/* The team's order of that key with one user more, or NULL. */
struct exchange_order *exchange_cache_find(struct covey_team *team, const uint8_t *key);
/* Keeps the order, perhaps in the place of the one that was not wanted for longest. All members
 * keep and forget the same ones, for they find the same ones. */
void exchange_cache_keep(struct covey_team *team, struct exchange_order *order);

/* ---- exchange_learn.c ---- */

struct exchange_lesson {
    int type;
    const struct covey_exchange_options *options;
    const struct exchange_entry *row; /* what the caller sends, by rising rank */
    size_t row_count;
    bool fresh;          /* the team's cache is not looked at, nor needed */
    collective_fn *then; /* called with `arg` in the end, when there was no error; or NULL */
    void *arg;
    struct exchange_order *order; /* set: one more user of it */
    bool known;                   /* set: it is made; otherwise it has key and messages alone */
    int error;                    /* set: the members differ; ETYPE or EINVAL */
    char why[160];
};

/* Adds the steps in which all members tell each other what they send and how the exchange is to be
 * done. The lesson stays until they are done. */
void exchange_learn(struct collective *c, struct exchange_lesson *lesson);

/* ---- exchange_steps.c ---- */

/* Adds the steps of one run; out and in are arrays by the plan's parcels. */
void exchange_steps(struct collective *c, const struct covey_exchange_plan *plan,
                    const void *const *out, void *const *in);
/* Those of an order that is paced, but for what goes to the caller itself: exchange_paced.c. */
void exchange_paced(struct collective *c, const struct covey_exchange_plan *plan,
                    const void *const *out, void *const *in);
/* How many elements the plan has coming from that rank. */
size_t exchange_incoming_count(const struct covey_exchange_plan *plan, int rank);

#endif
