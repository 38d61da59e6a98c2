/*
 * collective.h - teams, and the programs of steps that collective calls are.
 *
 * A team (struct covey_team) is tasks in a fixed order, and a context for their messages: it is
 * made in lib/team/team.c, and broken in team_state.c. A collective (struct collective) is one call
 * under way: its steps, and what they wait for (collective.c, collective_run.c). A step (struct
 * step) is a send, a receive, a reduction, a copy, or a call of a function.
 *
 * An algorithm is a function that adds steps to a collective; it is written once and serves the
 * blocking and the non-blocking form. Steps run as soon as all those that they wait for are done:
 *
 *   collective_fence(c)            every later step waits for every earlier one
 *   collective_after(c, later, earlier)  this one waits for that one, too
 *
 * and otherwise side by side. Messages of one pair and one lane match in the order in which their
 * steps start; steps that become free together start in the order in which they were added.
 *
 * A step made by collective_call() runs a function of the algorithm, which may add further steps:
 * so a program can go on by what came. Such functions, reductions and large copies run without the
 * lock, in whatever thread makes progress, one at a time for each collective.
 *
 * Arrays named by steps are the user's or collective_memory(); both stay until the collective ends.
 * An error while steps are added (no memory) is kept and ends the collective at its start.
 *
 * Failure. When a step fails (the other task ended, or it sent another number of elements), the
 * collective ends with that error, the team is broken, and all members are told: their running and
 * later collectives of the team end with an error, too. So nobody waits for one that gave up.
 */
#ifndef COVEY_LIB_COLLECTIVE_H
#define COVEY_LIB_COLLECTIVE_H

#include "lib/collective/collective_choice.h"
#include "lib/collective/teams.h"
#include "lib/engine/arrival.h"
#include "lib/engine/req.h"
#include "lib/member/giving.h"
#include "lib/member/watch.h"

#define LANES 16 /* kinds of messages of one collective that must not be taken for each other */

/* Contexts of messages. 0: what tasks send to each other by tid. */
#define CONTEXT_ASSEMBLY 1u /* by which teams are made */
/* From here on: each is of the collectives of one team, and with the bit CONTEXT_TALK of what its
 * members send by rank: talk.c. */
#define CONTEXT_FIRST 2u
#define CONTEXTS_MAX CONTEXT_TALK

/* Calls that go without asking whether an exchange pays. */
struct vector_rest {
    uint32_t left, pause; /* so many of them; so many last time */
};

/* What a room above keeps with a team: exchange_cache.c. */
struct kept {
    void *exchanges;
    void (*free)(void *exchanges);
};

struct team_segment;

/* What the members on one host have in common. */
struct sharing {
    struct team_segment *segment; /* NULL: nothing */
    struct yielding {
        unsigned doubt; /* whether it pays when a call waits for them */
        struct giving giving;
    } of_small, of_large, of_boxes; /* arrays */
    bool crowded;                   /* they are more than there are processors */
    unsigned reqs;                  /* of calls that wait for them, and nothing else */
};

/* Whether members cast: never, where the table says so, or always, for all of them force the route
 * that does. */
enum team_casts { CASTS_NEVER, CASTS_BY_TABLE, CASTS_ALWAYS };

struct covey_team {
    struct covey *vm;
    struct covey_team *next; /* in the list of the task's teams */
    int rank, size;
    covey_tid_t *tids;      /* by rank */
    struct place *places;   /* ranks by tid */
    uint32_t context;       /* of its messages: no other team of any member has it */
    int abort_tag;          /* of the message by which a member tells that it gave up */
    _Atomic uint32_t calls; /* collective calls so far */
    int64_t timeout_us;
    _Atomic int broken; /* 0, or the error with which its collectives end */
    char broken_text[160];
    uint8_t forced[OPERATIONS]; /* enum algorithm, or 0: by the table */
    struct choice_table *choices;
    enum team_casts casts;      /* one frame reaches members of several hosts */
    struct collective *running; /* in the order of their calls */
    int hosts;                  /* how many its members are on */
    int *host_lead;             /* by rank: the first rank on the same host */
    struct sharing shared;      /* memory, with the members on this host: shared.h */
    void *extra;                /* its topology, if there is one: team_topology.h */
    void (*extra_free)(void *extra);
    bool blind;                /* its senders are, see pace.h */
    char unscheduled[160];     /* why it has no topology */
    struct kept kept;          /* orders of exchanges */
    struct vector_rest vector; /* exchange_vector.c */
};

struct place {
    covey_tid_t tid;
    int rank;
};

/* Ranks 0 .. size-1 of an algorithm: all members, or some of them in an order of their own. */
struct circle {
    int rank, size;
    const int *ranks; /* rank in the team of each; NULL: the same */
};

static inline struct circle circle_all(const struct covey_team *team)
{
    return (struct circle){.rank = team->rank, .size = team->size};
}

/* A place that went round: into 0 .. size-1. */
static inline int circle_place(const struct circle *on, int place)
{
    int at = place % on->size;
    return at < 0 ? at + on->size : at;
}

/* The rank in the team of the one at such a place. */
static inline int circle_rank(const struct circle *on, int place)
{
    int at = circle_place(on, place);
    return on->ranks == NULL ? at : on->ranks[at];
}

/* An array of the program's. */
struct array {
    int type;
    void *base;
    size_t count;
};

/* Blocks of the program's, one for each member: equal ones of `each` elements, or counts[i] of them
 * at starts[i] elements; starts NULL: one after another, until vector_place(). Or each is an array
 * of its own. */
struct vector {
    int type;
    void *base;
    size_t each;
    bool uneven;
    const size_t *counts, *starts;
    void *const *arrays; /* by rank, in the place of base and starts; or NULL */
};

static inline size_t vector_count(const struct vector *v, int rank)
{
    return v->counts == NULL ? v->each : v->counts[rank];
}

static inline size_t vector_start(const struct vector *v, int rank)
{
    return v->starts == NULL ? v->each * (size_t)rank : v->starts[rank];
}

/* Elements of the blocks from `first` to before `end`, of `size` there are. */
static inline size_t vector_range(const struct vector *v, int first, int end, int size)
{
    size_t sum = 0;
    for (int i = first; i < end && i < size; i++)
        sum += vector_count(v, i);
    return sum;
}

static inline uint8_t *vector_block(const struct vector *v, int rank)
{
    if (v->arrays != NULL)
        return v->arrays[rank];
    return (uint8_t *)v->base + vector_start(v, rank) * covey_type_size(v->type);
}

/* What an operation is applied to: result[i] = left[i] op right[i]. */
struct operands {
    const void *left, *right;
    void *result;
    size_t count;
};

struct collective;
typedef int collective_fn(struct collective *c, void *arg); /* 0 or an error it has set */

/* Refuses a team, root, type or array that is none, in the name of a call. */
int collective_check(const covey_team_t *team, const char *name, int root, const struct array *a);

int vector_check(const covey_team_t *team, const char *name, int root, const struct vector *v);
/* Gives uneven blocks one after another their starts; false: no memory. */
bool vector_place(struct collective *c, struct vector *v);

/* A collective call of the team: takes the next number, so arguments are checked before. Sets *c,
 * or fails (no memory, the team is broken) and leaves it. `name` ("bcast") stays the caller's and
 * stands in texts of errors. */
int collective_create(struct covey_team *team, const char *name, struct collective **c);

/* Ends the building: starts it and gives a request, or starts it and waits as long as the team
 * allows. Both take the collective, also when they fail. With an error (and c NULL perhaps) nothing
 * is started, and the error returned: so a call is two lines,
 *     error = bcast_plan(team, ..., &c);
 *     return collective_start(error, c, req);
 * and its blocking form is the same call with COLLECTIVE_WAITS for the address of the request. */
int collective_start(int error, struct collective *c, covey_req_t **req);
int collective_run(int error, struct collective *c);
extern covey_req_t *const collective_waits;
#define COLLECTIVE_WAITS ((covey_req_t **)&collective_waits)

/* The team that it runs on. */
struct covey_team *collective_team(const struct collective *c);

/* ---- steps: each returns its number for collective_after(), -1 when memory was exhausted -------
 */

/* To and from a member (rank in the team; never the own). Exactly `count` elements must come. */
int collective_send(struct collective *c, int rank, int type, const void *base, size_t count);
int collective_receive(struct collective *c, int rank, int type, void *base, size_t count);

/* The same in a lane other than 0. */
int collective_send_lane(struct collective *c, int lane, int rank, int type, const void *base,
                         size_t count);
int collective_receive_lane(struct collective *c, int lane, int rank, int type, void *base,
                            size_t count);

/* At most `count` elements from anybody (rank -1) or one member; *from and *got, which may be NULL,
 * are set before later steps run. */
int collective_receive_any(struct collective *c, int lane, int rank, int type, void *base,
                           size_t count, int *from, size_t *got);

/* One array to several members, by link-level broadcast where that is possible; each of them
 * receives it from here in lane 0. `ranks` stays the caller's until the step is done. */
int collective_cast(struct collective *c, const int *ranks, int n, int type, const void *base,
                    size_t count);

/* Copies bytes; nothing to do when both are one place. */
int collective_copy(struct collective *c, void *to, const void *from, size_t bytes);

/* result[i] = left[i] op right[i]; result may be one of the two, which are taken as they stand. */
int collective_reduce(struct collective *c, int op, int type, const struct operands *on);

/* An all-to-all by a schedule, see paced.h; the job stays until the collective ends. */
struct paced_job;
int collective_paced(struct collective *c, const struct paced_job *job);

/* Calls fn(arg) when the collective is over, whatever its end. False: no memory. */
bool collective_at_end(struct collective *c, void (*fn)(void *arg), void *arg);

/* Calls fn(c, arg), which may add steps. They wait for it, and no longer for a fence before it. */
int collective_call(struct collective *c, collective_fn *fn, void *arg);

/* Every step added from now on waits for all those added before. */
void collective_fence(struct collective *c);

/* `later` waits for `earlier`, which may be done already, or -1. */
void collective_after(struct collective *c, int later, int earlier);

/* Scratch memory of the collective, aligned for every type; NULL: exhausted, which ends it. */
void *collective_memory(struct collective *c, size_t bytes);

/* An algorithm found that it cannot go on. Keeps the first error. */
void collective_refuse(struct collective *c, int error, const char *why);

/* ---- what the library calls ------------------------------------------------------------------ */

/* Moves on every collective of which something is done. The lock may be let go meanwhile. */
void collective_progress(struct covey *vm);
/* A message of a team is complete that matched no receive. */
void collective_on_arrival(struct covey *vm, const struct arrival *arrival);
/* Sends under way that nobody waits for, at the end of the membership. */
void collective_bury_all(struct covey *vm);

/* ---- teams: team_state.c, lib/team/team.c
 * ---------------------------------------------------------
 * -----------------------------------------------------------------------------
 */

/* Every collective of the team ends, and later ones end at once; the others are told. */
void team_break(struct covey_team *team, int error, const char *why);
/* For a trace: a call that began then has ended. */
void team_record(const struct covey_team *team, const char *name, uint32_t number, uint64_t begun);
/* What came for the team and waits is for nobody any more. */
void team_purge(struct covey_team *team);
void team_sort_places(struct covey_team *team); /* makes team->places of team->tids */
/* Ends the receives by rank that are under way, and drops what came for them: talk.c. */
void team_talk_end(struct covey_team *team, int error, const char *why);
/* Whether one frame reaches the members of other hosts. Waits for an answer. */
bool team_find_way(const struct covey_team *team);
/* Some message says that another member's team is broken. */
void team_take_aborts(struct covey *vm);
/* Messages of a context that are for nobody any more. */
bool team_is_dead(const struct covey *vm, uint32_t context);
void team_init(struct covey *vm);
void team_free_all(struct covey *vm);
/* The members are left behind: what is under way ends. */
void team_leave_all(struct covey *vm);

/* ---- operations: op.c ------------------------------------------------------------------------ */

/* Whether op can be applied to `count` elements of the type; otherwise an error that is set, in the
 * name of a call. */
int op_check(struct covey *vm, const char *name, int op, int type, size_t count);
bool op_commutes(struct covey *vm, int op);
size_t op_grain(struct covey *vm, int op); /* elements that belong together */

/* Without the lock held for one of the program's own. */
void op_apply(struct covey *vm, int op, int type, const struct operands *on);
void op_free_all(struct covey *vm);

#endif
