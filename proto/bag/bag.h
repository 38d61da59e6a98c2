/*
 * bag.h - a bag of work (agenda parallelism; Schmidt & Sunderam, section 4): what is in it, and who
 * has what of it. Any task puts items, any task takes them, and each item has one result.
 *
 *   ready --take--> leased --done--> done --give--> given --taken--> gone
 *     ^                |
 *     +-- the lease ends: its worker's death, its host's, time     k deaths --> set aside, a result
 *
 * Two halves. What must not be lost changes only by bag_apply(), record by record, at the daemon
 * that holds the bag and at its backups alike: items, results, who was given which result, how far
 * each attachment's records are applied. Who has leased what is known to the holder alone: when
 * another one takes over, the workers tell it what they hold.
 *
 * An item is known by its number, which counts all that were put, and by the term of the holder
 * that gave the number: what a holder took in but did not pass on before it died is put again,
 * perhaps in another order, and the numbers of that other term then mean other items.
 *
 * Leases. Items are given by priority; within one the large ones first, and those to fast members
 * (bag_share.c); and items of about one size in the order of their numbers. When nothing is left,
 * whoever asks and has nothing gets a second copy of the item that would be done last: the first
 * result wins; not so in a bag that is single. An item whose worker died is a suspect: it is given
 * again only alone, so that the next death tells which item it was.
 *
 * Ends. The time of a host may be over at a time that is known: the end of a job, or what a drain
 * says. To a task there nothing is given that it would not end before (bag_share_in_time()).
 */
#ifndef COVEY_PROTO_BAG_H
#define COVEY_PROTO_BAG_H

#include "proto/bag/bag_wire.h"

#define BAG_COPIES_MAX 2
#define BAG_SPAN_MAX (UINT64_C(1) << 25)     /* from the oldest item that is there to the newest */
#define BAG_HELD_BYTES_MAX ((size_t)4 << 20) /* leased to one member, beyond ... */
#define BAG_HELD_LEAST 2                     /* ... so many items */
#define BAG_CLASSES 32                       /* of sizes, by powers of two */
#define BAG_ITEM_COST 4096                   /* in bytes, of an item that has none */
#define BAG_STRAGGLER_US 100000u             /* while items may still come: so long, and ... */
#define BAG_STRAGGLER_TIMES 3                /* ... so many times as long as others took */

enum bag_state { BAG_IS_READY = 1, BAG_IS_LEASED, BAG_IS_DONE, BAG_IS_ASIDE };

enum bag_verdict {
    BAG_OK = 0,
    BAG_NONSENSE, /* such a record cannot come now: nothing changed */
    BAG_NOMEM,    /* nothing changed */
    BAG_FULL      /* nor here: there is no room for it now, see bag_holder_allow() */
};

struct bag_lease;
struct bag_member;

struct bag_item {
    uint64_t number;
    uint32_t term;
    int32_t priority;
    uint8_t state; /* enum bag_state */
    uint8_t deaths, copies;
    bool queued; /* it stands in one of the queues */
    bool given;  /* its result is given to a member, who has not taken it yet */
    uint32_t worker;
    uint64_t given_at; /* the log's position when its result was given */
    struct bag_lease *leases;
    struct bag_item *next, *previous; /* of the results of its list */
    uint8_t *bytes;                   /* of the item; once it is done, of the result */
    size_t size;
};

struct bag_lease {
    struct bag_item *item;
    struct bag_member *member;
    uint64_t since_us;
    struct bag_lease *of_item;         /* the next one of the item */
    struct bag_lease *next, *previous; /* of all, oldest first */
    struct bag_lease *later, *earlier; /* of the member */
};

struct bag_results {
    struct bag_item *first, *last;
    size_t count, bytes;
};

/* Items by priority and number: a heap of numbers, in which those that were done meanwhile are
 * passed over. */
struct bag_queue {
    struct bag_rank {
        int32_t priority;
        uint64_t number;
    } * heap;
    size_t count, capacity;
};

/* What a member has done of late. */
struct bag_pace {
    double cost, us;   /* so much in so long */
    double slow;       /* microseconds a cost, of the slowest of late */
    uint64_t since_us; /* when it ended an item last */
};

/* What the holder alone knows of a member that it serves. */
struct bag_served {
    bool here; /* it spoke to this holder */
    uint32_t hold, want;
    struct bag_lease *leases, *youngest;
    uint32_t held;
    size_t held_bytes;
    uint64_t held_cost;
    struct bag_pace pace;
    uint16_t weight;      /* what the monitor says of its host; 0: not known */
    uint64_t end_us;      /* the time of its host is over then; 0: that is not known */
    bool draining, alone; /* it is to get, or has, a suspect */
    struct bag_mark {
        uint64_t position, number; /* with that position of the log so many are safe */
    } marks[2];                    /* the next one, and the last */
    uint64_t acked;                /* what it was told is applied */
    struct bag_item *unsent;       /* of the results that it was given */
    uint64_t sent;                 /* so many went to it */
    bool welcome;                  /* it is to be greeted */
    bool saved;                    /* it was sent what is left */
    uint8_t told;                  /* the flags of the last answer */
    int32_t error;
    bool complains;          /* the error was not told yet */
    size_t lacks;            /* bytes: its records from there on wait for that much room */
    struct bag_parcel items; /* ITEM and DROP records for it */
};

/* One attachment of a task. */
struct bag_member {
    struct bag_member *next;
    uint32_t task, handle;
    uint64_t applied;         /* so many of its records */
    uint64_t taken;           /* so many of the results that it was given are gone; */
    struct bag_results given; /* the next ones */
    struct bag_served served;
};

struct bag_counters {
    uint64_t put, done, given, set_aside;
    uint64_t leased, retried, duplicated,
        expired; /* leases; items again, twice; leases that ran out */
};

/* Nothing is given, put or done while one attachment saves the bag, or loads it. */
struct bag_frozen {
    uint8_t how; /* enum bag_freeze; 0: it is not */
    uint32_t task, handle;
};

/* What may be given, by class; a suspect is given alone. */
struct bag_queues {
    struct bag_queue ready[BAG_CLASSES], suspects;
    unsigned classes; /* were in use so far */
};

/* Of the members, in cost a microsecond; 0: not known. */
struct bag_speeds {
    double all, most, mean; /* together, of the fastest, of the mean one */
    double weight;          /* of a weight of 1 */
    double slow;            /* microseconds a cost, the worst of all */
};

struct bag {
    struct bag_params params;
    uint64_t base; /* the lowest number that may still be there */
    uint64_t next; /* the number of the next item */
    struct bag_item **ring;
    size_t capacity;
    bool closed;
    bool holds; /* this one gives: its queues are kept */
    struct bag_queues queues;
    size_t ready_count, leased_count; /* items in that state */
    size_t bytes;
    size_t item_count, member_count;
    uint64_t open_cost; /* of what is ready or leased */
    struct bag_speeds speeds;
    struct bag_results results; /* done or set aside, and not given; in the order of completion */
    uint64_t next_given;        /* in order: the number of the next result */
    struct bag_member *members;
    struct bag_lease *oldest, *newest;
    unsigned draining;
    uint64_t mean_us; /* that an item took of late */
    struct bag_counters counters;
    struct bag_frozen frozen;
};

struct bag *bag_create(const struct bag_params *params); /* NULL: no memory */
void bag_destroy(struct bag *bag);                       /* NULL is fine */

/* Carries out a record of the log. */
enum bag_verdict bag_apply(struct bag *bag, const struct bag_record *record);

struct bag_item *bag_find(const struct bag *bag, uint64_t number); /* NULL: there is none */
struct bag_member *bag_member_find(const struct bag *bag, uint32_t task, uint32_t handle);
/* Bytes that it takes in memory, about; and an item of that size. */
size_t bag_memory(const struct bag *bag);
size_t bag_item_memory(size_t size);
bool bag_complete(const struct bag *bag); /* closed, and each item is done or set aside */
bool bag_drained(const struct bag *bag);  /* and all results are taken */
/* The next result that may be given; NULL: none now. */
struct bag_item *bag_next_result(const struct bag *bag);

bool bag_is_frozen_by(const struct bag *bag, const struct bag_member *member);

/* All of it as the records of which it can be made again. */
void bag_save(const struct bag *bag, struct bag_parcel *out, uint64_t *records);
/* What is left of it: how it was made, items that are not done, results that nobody has taken. */
void bag_save_rest(const struct bag *bag, struct bag_parcel *out);

/* ---- leases: at the holder ---- */

/* From now on this one gives; all items are ready. False: no memory. */
bool bag_hold(struct bag *bag);
/* The next item for that member, leased to it; NULL: nothing that it may have now. */
struct bag_item *bag_take(struct bag *bag, struct bag_member *member, uint64_t now_us);
/* The member says that it has the item. */
void bag_claim(struct bag *bag, struct bag_member *member, struct bag_item *item, uint64_t now_us);
/* The member gives it back unbegun. */
void bag_return(struct bag *bag, struct bag_member *member, struct bag_item *item);
/* Before DONE is applied: all its leases end. `told` gets each other member that has it. */
typedef void bag_other_fn(void *context, struct bag_member *member, const struct bag_item *item);
void bag_release(struct bag *bag, struct bag_item *item, const struct bag_member *winner,
                 bag_other_fn *other, void *context, uint64_t now_us);
void bag_reopen(struct bag *bag, struct bag_item *item); /* it is not done after all */
/* The member's leases end. Each item that it held is told before it is ready again, so that deaths
 * can be counted. */
typedef void bag_death_fn(void *context, struct bag_item *item);
void bag_abandon(struct bag *bag, struct bag_member *member, bag_death_fn *death, void *context);
/* Ends the leases that ran out; returns when the next one does, UINT64_MAX: none. */
uint64_t bag_expire(struct bag *bag, uint64_t now_us);
/* When somebody who has nothing may get a copy that it may not get yet; UINT64_MAX: never. */
uint64_t bag_straggler_us(const struct bag *bag);

/* ---- who gets which ---- */

uint64_t bag_cost(size_t size);
/* An item of that size waits, by its class; false: no memory. */
bool bag_share_add(struct bag *bag, const struct bag_rank *rank, size_t size);
/* The lease's item is done by its member. */
void bag_share_note(struct bag_lease *lease, uint64_t now_us);
/* Measures the members' speeds, before bag_take() is called for some of them. */
void bag_share_gauge(struct bag *bag);
/* Whether the member would end the item, behind those that it has, before its host's time is over:
 * as the slowest of late. Where nothing is known it has one at a time. */
bool bag_share_in_time(const struct bag *bag, const struct bag_member *m,
                       const struct bag_item *item, uint64_t now_us);
/* Takes the item for that member out of those that are ready; NULL: there is none. */
struct bag_item *bag_share_next(struct bag *bag, const struct bag_member *m, uint64_t now_us);
/* The lease, given before that time to others, whose item would be done last; NULL: not known. */
struct bag_lease *bag_share_last(struct bag *bag, const struct bag_member *m, uint64_t until_us);

/* ---- queues ---- */

bool bag_queue_add(struct bag_queue *queue, int32_t priority,
                   uint64_t number);                                         /* false: no memory */
bool bag_queue_first(const struct bag_queue *queue, struct bag_rank *first); /* false: empty */
bool bag_queue_take(struct bag_queue *queue, struct bag_rank *first);        /* the same */
void bag_queue_fini(struct bag_queue *queue);

#endif
