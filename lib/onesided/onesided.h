/*
 * onesided.h - windows: memory of a team's members that the others write and read (covey/window.h).
 *
 * area.c has the memory at this host, its locks and counters; window_order.c what members on
 * different hosts say to each other; window.c makes and frees a window; window_call.c is what the
 * program calls: put, get, flush, locks, signals; window_serve.c carries out the orders of others.
 *
 * A window has a team of its own, a copy of the program's. So it ends with no other, its messages
 * are taken for no others, and when a member dies it breaks as teams do: that ends all waiting.
 *
 * What a member has in the area of the caller's host (`place`) the caller reaches by itself, in
 * memory. To all others it sends orders, messages in the context of the team's talk, and each
 * window that has such members has a receive posted for them. Orders are carried out in the poll
 * loop, and so by the progress thread while the task computes.
 */
#ifndef COVEY_LIB_ONESIDED_H
#define COVEY_LIB_ONESIDED_H

#include "lib/collective/collective.h"
#include "lib/member/vm.h"
#include "lib/onesided/area.h"
#include "lib/onesided/window_order.h"

#define WINDOW_GETS_MAX 32 /* orders that wait for their data: a get waits for room */
/* Answers to a member that are under way: with more it has asked for more than it may. The sender
 * of one may learn late that it went. */
#define WINDOW_REPLIES_MAX (2 * WINDOW_GETS_MAX + 8)

/* What the caller knows of a member. */
struct window_member {
    uint64_t bytes, awaited; /* the number of the answer that is awaited of it; 0: none */
    uint32_t signals;
    int place;        /* in the area; -1: it is reached by orders */
    unsigned replies; /* under way to it */
    uint8_t holds;    /* the kind of the caller's lock that it has, by order; 0: none */
    bool asks;        /* for that lock */
    /* Without the lock of the library, by the program: no neighbours of what is looked at together
     * with it. */
    uint8_t held;   /* and that which the caller has of its */
    bool unflushed; /* orders went there since the last flush */
};

/* A part of a get whose data is to come. */
struct window_get {
    struct window_get *next;
    struct window_order order;
    int rank;
    void *base;
};

/* A member on another host that waits for the caller's lock. */
struct window_claim {
    struct window_claim *next;
    int rank, kind;
    uint32_t ticket;
    uint64_t number; /* of the answer */
};

/* An answer that is under way; its window may have been freed (NULL). */
struct window_reply {
    struct covey_req req; /* first: both have one address */
    struct window_reply *next;
    struct covey_window *window;
    int rank;
};

/* A call that waits for what others write into the area. */
struct window_wait {
    struct window_wait *next;
    struct covey_window *window;
    bool (*is_over)(const struct window_wait *wait);
    int place, kind;
    uint32_t ticket, signal;
    uint64_t count;
    /* NULL, or whether the wait is in vain though the window is not broken; with the lock. */
    bool (*is_vain)(void *context);
    void *context;
    bool told; /* the thread that waits has been woken */
};

struct covey_window {
    struct covey_window *next; /* of the task */
    struct covey_team *team;
    struct area area;
    struct window_member *members; /* by rank */
    bool by_orders;                /* some members are reached by orders */
    bool receiving;                /* the receive is posted, or has an order */
    bool closing;                  /* members may leave */
    struct covey_req receive;
    struct window_get *gets;
    unsigned get_count;
    struct window_claim *claims; /* in the order of their tickets */
    uint64_t number;             /* of the last question */
    int awaiting;                /* answers */
};

/* What a task has of windows. */
struct windows {
    struct covey_window *first;
    struct window_reply *replies;
    struct window_wait *waits;
};

static inline struct windows *windows_of(const struct covey *vm)
{
    return vm->part[PART_WINDOWS];
}

static inline uint32_t window_context(const struct covey_window *w)
{
    return w->team->context | CONTEXT_TALK;
}

/* Something in the area changed: wakes those that sleep. */
void window_ring(const struct covey_window *w);
/* covey_window_flush() of all, in the name of a call. */
int window_flush_all(struct covey_window *w, const char *name);

/* ---- for the rooms above, which find out by themselves whose end is an error ---- */

/* A member that ends does not break it any more. */
void window_let_leave(struct covey_window *w);
/* Frees it at the caller alone, of which no order may be under way. Sets *window to NULL. */
void window_discard(struct covey_window **window);
/* Adds 1 to a counter of a member in the caller's memory. */
void window_tell(const struct covey_window *w, int rank, int signal);
/* Waits until a counter of the caller's is at least `count`, or that is in vain. Returns as
 * wait_until(), and sets *there. */
struct window_hope {
    int signal;
    uint64_t count;
    bool (*is_vain)(void *context);
    void *context;
};
int window_await(struct covey_window *w, const struct window_hope *hope, uint64_t deadline_us,
                 bool *there);

/* ---- window_serve.c: with the lock ---- */

/* Takes orders from now on. */
void window_listen(struct covey_window *w);
/* Gives up what others asked for, and what the caller asked. */
void window_drop(struct covey_window *w);
/* What the table of parts calls. */
void window_settle(struct covey *vm);
bool window_look(struct covey *vm);
bool window_arm(struct covey *vm);
void window_task_gone(struct covey *vm, struct peer *peer);
void window_free_all(struct covey *vm);

#endif
