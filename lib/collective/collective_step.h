/*
 * collective_step.h - what a collective under way is made of: for the files that build and run it.
 */
#ifndef COVEY_LIB_COLLECTIVE_STEP_H
#define COVEY_LIB_COLLECTIVE_STEP_H

#include "lib/collective/collective.h"

#include <stdalign.h>

#define LANE_BITS 4
#define LANE_ABORT (LANES - 1) /* a member gave up: no collective's own */

enum step_kind {
    STEP_FENCE,
    STEP_SEND,
    STEP_RECEIVE,
    STEP_CAST,
    STEP_COPY,
    STEP_REDUCE,
    STEP_CALL,
    STEP_PACED,
    STEP_SHARED
};

struct step {
    uint8_t kind; /* enum step_kind */
    uint8_t lane;
    bool any_count, started, done;
    int rank; /* send, receive; cast: how many receivers */
    int op, type;
    const struct paced_job *job; /* paced */
    struct shared_job *shared;   /* shared */
    const void *left, *right;    /* what is sent, copied, reduced */
    void *result;                /* where it is received, copied, reduced to */
    size_t count;                /* elements; copy: bytes */
    const int *ranks;            /* cast */
    int *from;                   /* receive: set to the sender's rank */
    size_t *got;                 /* receive: set to the elements that came */
    collective_fn *fn;           /* call */
    int waits;                   /* steps that must be done first */
    int pending;                 /* requests under way */
    int edge;                    /* first of those to the steps that wait for it, -1: none */
    int next;                    /* in the queue of those that can run */
};

/* A step waits for another. */
struct edge {
    int to, next;
};

struct shared_job;
struct step_block;

/* A request of a step; first: both have one address. */
struct step_req {
    struct covey_req req;
    struct step_block *block;
    struct step_req *next, *prev; /* among those of its collective, or the orphans */
    struct step_req *finished_next;
    int step;
};

/* The requests of one step, freed with the last of them. */
struct step_block {
    int left;
    struct step_req reqs[];
};

struct block {
    struct block *next;
    alignas(max_align_t) uint8_t bytes[];
};

/* What is called when a collective is over. */
struct at_end {
    struct at_end *next;
    void (*fn)(void *arg);
    void *arg;
};

/* The steps, and what they wait for. */
struct program {
    struct step *steps;
    int count;
    size_t capacity;
    struct edge *edges;
    int edge_count;
    size_t edge_capacity;
    int fence;               /* what steps added now wait for, -1: nothing */
    int since_fence;         /* first step after it */
    int undone;              /* steps that are not done */
    int run_first, run_last; /* steps that can run, -1: none */
};

struct collective {
    struct covey_req req;    /* the program's; first: both have one address */
    struct collective *next; /* in the team's running ones */
    struct collective *ready_next;
    struct covey_team *team;
    const char *name;
    uint32_t number;
    bool ready, busy, started;
    int error;
    char text[160];
    int told; /* by another thread than the one that runs it: it fails */
    char told_text[160];

    struct program program;
    struct step_req *under_way;
    struct step_req *finished, **finished_end;
    struct block *memory;
    struct at_end *at_end;
};

extern const struct req_owner collective_owner;      /* of the program's request */
extern const struct req_owner collective_step_owner; /* of those of steps */

#define COLLECTIVE_GIVEN_UP "a collective call was given up before it was complete"

void collective_destroy(struct collective *c); /* NULL is fine */
/* The program waits for its request, as struct req_owner has it. */
int collective_wait(struct covey_req *req, uint64_t deadline_us);
/* Of one that was given up: what is being computed is computed first. */
void collective_await_end(struct covey_req *req);
/* Ends it with an error, at once or when what is being computed is done. With the lock held. */
void collective_fail(struct collective *c, int error, const char *why);
/* Tells the other members that the team is broken here. */
void collective_tell_all(struct covey_team *team);
/* A step that is carried out through shared memory: shared.h. */
int collective_add_shared(struct collective *c, struct shared_job *job);
/* A request that is no step's, and its end. */
struct step_req *step_req_create(void);
void step_req_free(struct step_req *r);
/* Into and out of those under way, or the orphans. */
void step_req_link(struct step_req **list, struct step_req *r);
void step_req_unlink(struct step_req **list, struct step_req *r);
/* Starts the requests of a step that can run. */
void step_start(struct collective *c, int step);
/* The send goes on with a copy of what the program has lent; false: no memory for one. It must be
 * in no list. */
bool collective_orphan(struct covey *vm, struct step_req *r);
/* The step is done: those that waited for it alone can run. */
void collective_step_done(struct collective *c, int step);

#endif
