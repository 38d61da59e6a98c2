/*
 * shared.h - collective calls through memory that the members of a team on one host share.
 *
 * Small arrays pass through the segment (segment.h), longer ones piece by piece through its large
 * areas. Where one copy is better than two, each member tells where it has its array, and the
 * others read it there (process_vm_readv), which needs no memory of ours, but system calls. What a
 * member does for an operation is a script: a list of acts, some of which wait. A script is carried
 * out in two ways: by the call itself, when it waits for its end anyway (shared_call), or as a step
 * of a collective (collective_shared), from the poll loop.
 */
#ifndef COVEY_LIB_COLLECTIVE_SHARED_H
#define COVEY_LIB_COLLECTIVE_SHARED_H

#include "lib/collective/collective.h"
#include "lib/collective/segment.h"

struct shared_job;

/* What an act returns; or a negative error, which is set. An act that waits changes nothing, and is
 * called again. */
enum { ACT_DONE = 0, ACT_WAITS = 1 };
typedef int shared_act(struct shared_job *job);

enum shared_kind {
    SHARED_BARRIER,
    SHARED_BCAST,
    SHARED_REDUCE,
    SHARED_ALLREDUCE,
    SHARED_ALLGATHER,
    SHARED_GATHER,
    SHARED_SCATTER,
    SHARED_REDUCE_SCATTER,
    SHARED_SCAN,
    SHARED_EXSCAN,
    SHARED_ALLTOALL
};

enum shared_size {
    SHARED_SMALL,  /* it passes through the segment, */
    SHARED_MEDIUM, /* in large areas, piece by piece, each an operation by itself, */
    SHARED_LARGE   /* or not */
};

/* What is done at once. */
struct shared_piece {
    size_t first, bytes;             /* of each block of a member, or of its array */
    size_t most;                     /* bytes: the last one may have less */
    uint32_t before[SEGMENT_LARGES]; /* the operations that had the first ones' areas, 0: nobody */
};

/* What a member calls. Places are numbers of members in the segment, in the order of their ranks.
 */
struct shared_call {
    enum shared_kind kind;
    const char *name;
    int root;             /* a place */
    int op, type;         /* of reductions */
    size_t count;         /* elements that one member brings: to each other one for alltoall, and in
                             all for scatter and reduce_scatter a block of one */
    const size_t *counts; /* reduce_scatter: by place */
    const void *send;
    void *recv;
};

/* Its way through the segment: shared.c's and shared_run.c's. */
struct shared_job {
    struct shared_call call;
    struct covey_team *team;
    struct team_segment *segment;
    uint32_t sequence;
    shared_act *const *at; /* the act that is next, up to a NULL */
    size_t bytes;          /* of count elements */
    uint64_t what;         /* of the call, for its card */
    enum shared_size size;
    bool beside_card; /* it is so small that it passes in the lines of cards */
    struct shared_piece piece;
    uint8_t *memory;         /* of its own, if it needs some */
    uint32_t turn;           /* of its own, if it uses boxes */
    struct shared_job *next; /* in the list of those that wait */
    covey_req_t *req;        /* that it ends; NULL: the caller itself waits */
    bool told;               /* the caller has been woken to go on */
    bool busy;               /* some thread carries out acts */
    bool sought;             /* members that had ended before were */
    uint64_t waits_since_us; /* whoever attended to it waited in vain; 0: not yet */
    int doomed;              /* 0, or the error of a member that will not come */
    char why[160];
};

/* Whether the algorithm of a call, whose arguments are checked, is `shared`. */
bool shared_chosen(const struct covey_team *team, const struct shared_call *call);
/* The whole of such a call. Waits, or gives a request, as collective_start() does. */
int shared_start(struct covey_team *team, const struct shared_call *call, covey_req_t **req);

/* The members of a team on the caller's host, as a part of a collective between hosts: the first
 * such step of a collective is part 0, the second part 1. */
bool shared_suits(const struct covey_team *team, size_t bytes); /* one array of so many bytes */
int shared_place(const struct covey_team *team, int rank);      /* of a member on this host */
int collective_shared(struct collective *c, const struct shared_call *call, int part);

/* ---- what collective_run.c and the table of parts call ---- */

/* Begins the job of a step, and ends req when it is over. */
void shared_begin(struct shared_job *job, covey_req_t *req);
void shared_give_up(struct covey *vm, const covey_req_t *req);
/* The caller waits for the end of the collective: it carries out a step of it, looking and yielding
 * for a while as a call does. False: no step is under way, or that was in vain already. The lock is
 * let go meanwhile. */
bool shared_attend(struct covey *vm, const covey_req_t *collective);
bool shared_needs_attention(const struct covey *vm, const covey_req_t *collective);
/* Goes on with those whose acts need not wait any more. The lock may be let go meanwhile. */
void shared_settle(struct covey *vm);
bool shared_look(struct covey *vm); /* true: one of them may go on */
bool shared_arm(struct covey *vm);  /* likewise, before sleeping */
void shared_task_gone(struct covey *vm, struct peer *peer);
void shared_team_broke(struct covey_team *team); /* its requests end */

/* ---- scripts: shared.c ---- */

/* Completes the job for a team's segment. Returns how many calls it counts as, one for each piece;
 * a part of a collective between hosts is one. */
uint32_t shared_plan(struct shared_job *job, struct covey_team *team);
/* Gives it the number of the first of those and finds its script. */
void shared_number(struct shared_job *job, uint32_t call, int part);
/* Whether what is long goes through boxes (boxes.h). */
bool shared_uses_boxes(const struct shared_job *job);
/* The operation that must have ended before the next one takes its large areas; 0: none. */
uint32_t shared_before(const struct shared_job *job);
/* Carries out acts up to one that waits, or the end; without the lock. */
int shared_go_on(struct shared_job *job);
/* Whether the act that is next need not wait; of one that waits only. */
bool shared_may_go_on(struct shared_job *job);
/* Whether a job that waits for that member, which has ended, waits in vain. */
bool shared_waits_in_vain(const struct shared_job *job, int member);
void shared_end(struct shared_job *job); /* frees what it has */

/* ---- making the segment of a team: shared_team.c ---- */

/* A collective call of all members of a team that is being made: those of a host that can share
 * memory do from now on. */
int shared_team_join(struct covey_team *team);
void shared_team_free(struct covey_team *team);
/* What the first member on a host passes to the others. */
void shared_on_segment(struct covey *vm, const struct frame *frame, const uint8_t *payload,
                       int *fds, int nfds);
void shared_offers_free(struct covey *vm);
/* The first member on a host passes the others there the memory behind *fd, -1: it has none; each
 * of them gets a descriptor of its own there, or -1. All members of a team that has a segment call
 * it.
 */
void shared_pass_memory(struct covey_team *team, int *fd);

#endif
