/*
 * task_page.h - memory in which a task counts what it does and says what it waits for, and which
 * the daemon of its host reads when somebody asks (covey top). The task alone writes, and neither
 * waits for the other: to count costs an addition in memory that no other processor has looked at.
 * The daemon believes nothing of it: it is only shown.
 */
#ifndef COVEY_LIB_LINK_TASK_PAGE_H
#define COVEY_LIB_LINK_TASK_PAGE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define TASK_PAGE_CALL 32 /* with the NUL, as below */
#define TASK_PAGE_NAME 72
#define TASK_PAGE_PEERS 64 /* a power of two */

/* Counters that only grow. */
struct task_counts {
    _Atomic uint64_t sent, sent_bytes, received, received_bytes; /* messages */
    _Atomic uint64_t idle_us, communication_us;                  /* of calls that have ended */
    _Atomic uint64_t joined_us; /* when it did, by the host's monotonic clock, as all moments are */
    _Atomic uint64_t call_us;   /* the call under way began then; 0: none is */
    _Atomic uint64_t call_idle_us; /* idle_us then */
    _Atomic uint64_t held;         /* what holds the send under way back: see task_page_hold() */
};

/* What it waits for; `turn` is odd while it is written. */
struct task_wait {
    _Atomic uint32_t turn;
    uint32_t kind; /* enum covey_task_wait */
    uint32_t peer;
    int32_t tag;
    uint32_t idle; /* 1: the wait is idle time */
    uint64_t since_us;
    char call[TASK_PAGE_CALL];
    char name[TASK_PAGE_NAME];
};

/* To whom it has sent. A tid has a few places, by its hash; where all are other tids', one of these
 * loses its place and its counts, until it is sent to again. So a task with few peers counts all of
 * them, and one with very many those that it has sent to of late. */
#define TASK_PEER_TRIES 4
struct task_peer {
    _Atomic uint32_t tid; /* 0: free */
    _Atomic uint64_t sent, bytes;
};

struct task_page {
    uint32_t format;
    _Alignas(64) struct task_counts counts;
    _Alignas(64) struct task_wait wait;
    _Alignas(64) struct task_peer peers[TASK_PAGE_PEERS];
};

/* ---- the task ---- */

/* *fd is the caller's to pass on and close; -1: the memory is the task's own, and nobody sees it.
 * NULL: memory is exhausted. */
struct task_page *task_page_create(int *fd);

static inline uint64_t task_count_get(const _Atomic uint64_t *count)
{
    return atomic_load_explicit(count, memory_order_relaxed);
}

/* One writes at a time: the task has its lock. */
static inline void task_count_set(_Atomic uint64_t *count, uint64_t value)
{
    atomic_store_explicit(count, value, memory_order_relaxed);
}

static inline void task_count_add(_Atomic uint64_t *count, uint64_t more)
{
    task_count_set(count, task_count_get(count) + more);
}

static inline struct task_peer *task_page_peer(struct task_page *page, uint32_t tid)
{
    uint32_t first = tid * 2654435769u >> 16, i = 0;
    struct task_peer *peer;
    do {
        peer = &page->peers[(first + i) % TASK_PAGE_PEERS];
        uint32_t has = atomic_load_explicit(&peer->tid, memory_order_relaxed);
        if (has == tid)
            return peer;
        if (has == 0)
            break;
    } while (++i < TASK_PEER_TRIES);
    task_count_set(&peer->sent, 0);
    task_count_set(&peer->bytes, 0);
    atomic_store_explicit(&peer->tid, tid, memory_order_relaxed);
    return peer;
}

/* A message of so many bytes. */
static inline void task_count_sent(struct task_page *page, uint32_t to, uint64_t bytes)
{
    struct task_peer *peer = task_page_peer(page, to);
    task_count_add(&page->counts.sent, 1);
    task_count_add(&page->counts.sent_bytes, bytes);
    task_count_add(&peer->sent, 1);
    task_count_add(&peer->bytes, bytes);
}

static inline void task_count_received(struct task_page *page, uint64_t bytes)
{
    task_count_add(&page->counts.received, 1);
    task_count_add(&page->counts.received_bytes, bytes);
}

/* The send to a peer is held back, by enum trace_held; 0: it is not. */
static inline void task_page_hold(struct task_page *page, uint32_t peer, int by)
{
    task_count_set(&page->counts.held, by == 0 ? 0 : (uint64_t)peer << 8 | (unsigned)by);
}

struct task_awaits {
    uint32_t kind, peer;
    int32_t tag;
    bool idle;
    const char *call, *name; /* or NULL */
};
void task_page_wait(struct task_page *page, const struct task_awaits *what, uint64_t now_us);
void task_page_go_on(struct task_page *page);

/* ---- the daemon ---- */

/* NULL: the descriptor, which stays the caller's, is no page, or memory is exhausted. */
struct task_page *task_page_open(int fd);

/* What the page says: a copy with numbers in this daemon's order of bytes and texts that end. */
struct task_page_look {
    uint64_t sent, sent_bytes, received, received_bytes;
    uint64_t idle_us, communication_us, elapsed_us; /* what is under way included */
    uint64_t wait_us;                               /* it has waited for so long */
    uint32_t kind, peer;                            /* kind 0: it does not wait */
    int32_t tag;
    char call[TASK_PAGE_CALL], name[TASK_PAGE_NAME];
};
void task_page_read(const struct task_page *page, uint64_t now_us, struct task_page_look *look);

/* The i-th place for a peer; false: it is free, or there is no such place. */
struct task_page_peer {
    uint32_t tid;
    uint64_t sent, bytes;
};
bool task_page_read_peer(const struct task_page *page, int i, struct task_page_peer *peer);

void task_page_close(struct task_page *page); /* either end; NULL is fine */

#endif
