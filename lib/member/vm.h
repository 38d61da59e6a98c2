/*
 * vm.h - the membership (struct covey), part by part: each part is of the file that its comment
 * names, and what belongs to a room above the engine hangs on part[] (part.h).
 *
 * Everything is guarded by the one lock; functions of the library that take a struct covey are
 * called with it held. A message is matched, and is complete, in the order of its sender's sequence
 * numbers, whatever route it takes; one that is lost takes all later ones of its sender with it. Of
 * one peer, one send is under way at a time. What a peer may have outstanding is bounded by the
 * credit that this task granted; credit.c decides how much.
 */
#ifndef COVEY_LIB_MEMBER_VM_H
#define COVEY_LIB_MEMBER_VM_H

#include "lib/covey.h"
#include "lib/link/task_page.h"
#include "lib/member/ended.h"
#include "lib/member/giving.h"
#include "lib/member/part.h"
#include "lib/member/watch.h"
#include "proto/wire/control.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arrival;
struct conn;
struct context_owner;
struct covey_trace;
struct covey_req;
struct ether_port;
struct ledger;
struct part;
struct peer;
struct request;
struct route_ops;
struct stream;
struct trace;
struct turn;

#define PEER_BUCKETS 256
#define HOME_KINDS 256 /* of frames: a kind is a byte */

enum poller { POLLER_NONE, POLLER_TASK, POLLER_PROGRESS, POLLERS };

/* wait.c */
struct waiting {
    pthread_cond_t changed; /* something completed: waiters that do not poll look again */
    enum poller poller;
    unsigned threads;       /* inside wait_until() */
    uint64_t calls;         /* of it so far */
    uint64_t polls, briefs; /* waits that looked: in the role of the poller, or briefly before */
    unsigned looked;        /* things in shared memory that are waited for: part.h, look() */
    int doubt;              /* whether spinning pays: grows with waits that it would not end */
    int crowd_doubt;        /* the same of giving way again and again */
    bool crowded;           /* somebody else wanted this processor when the task last spun */
    struct giving giving;
    pthread_t progress_thread;
    pthread_cond_t progress_wake;
    bool progress_parked, closing;
    uint64_t asleep_until_us[POLLERS]; /* who polls in that role sleeps, and took it that nothing is
                                          due before; 0: it is awake */
    unsigned due;                      /* part_bit() of parts that are to be settled */
    bool long_nap;        /* the progress thread sleeps, taking it that nothing is under way */
    uint64_t check_at_us; /* when deadlines of links and peers must be looked at, 0: never */
    int epoll, doorbell;
    struct watch doorbell_watch;
};

/* home.c: the stream to the daemon of this host */
struct home {
    int lost; /* 0, or why the daemon is gone: COVEY_EDAEMON, COVEY_EPROTO */
    char lost_text[160];
    struct stream *daemon;
    struct watch watch;
    bool full;  /* a send waits for room in the queue to the daemon */
    bool due;   /* links queued something to the daemon that is not flushed yet */
    bool later; /* what is queued is flushed at the next look at deadlines, see STREAM_LATER */
    struct ledger *ledger;
    bool reading; /* a frame of the daemon's is being looked at */
    bool kept;    /* one of them waits for its turn */
    const struct part_handler *handlers[HOME_KINDS];
};

/* order.c: messages of one host in the order in which they were sent */
struct ordering {
    uint64_t stamp;            /* the last one seen or given */
    unsigned parked;           /* conns */
    bool looking;              /* heads are looked for, and none may begin */
    bool due;                  /* parked messages may begin as soon as somebody looks */
    uint64_t home_patience_us; /* a frame of the daemon's waits for its turn until then */
    uint64_t notice_stamp;  /* of what the daemon tells, when it was first seen; 0: nothing waits */
    uint64_t home_limit;    /* what follows there has no earlier stamp; 0: not known */
    uint64_t forgone;       /* stamps up to there are not waited for any more, */
    uint64_t home_forgone;  /* nor bytes of the daemon's stream */
    uint64_t home_mark;     /* of what was queued to it: a message to a task of this host */
    bool home_mark_awaited; /* sends wait until the daemon has passed it on */
};

enum peeking { PEEKING_NEVER, PEEKING_WHERE_FASTER, PEEKING_ALWAYS };

/* conn.c, rest.c; route_tcp.c: the listener; direct.c: raw Ethernet */
struct links {
    const struct route_ops *const *ops; /* by route: see routes.h */
    struct conn *conns;                 /* closed ones too, until conn_bury() */
    unsigned looked_count;              /* conns without a descriptor, which must be looked at */
    unsigned stepped_count;             /* conns whose links have something due at times */
    unsigned paused_count;              /* conns with a descriptor of which not all is read that
                                           came, so that the descriptor may not tell of it */
    unsigned held_count;                /* streams that hold the last short messages for more */
    uint64_t written_bytes;             /* that links took */
    uint64_t leaving_bytes;             /* that streams took since a thread last waited */
    enum peeking peeking; /* whether tasks of this host read each other's memory, see offer.c */
    struct conn *resting;
    struct watch listener_watch;
    uint16_t listener_port;
    uint64_t accept_again_us; /* descriptors are exhausted: the listener rests; 0: it does not */
    struct watch ether_watch;
    struct ether_port *ether_port;
    bool ether_watched; /* its descriptor */
    unsigned sleepers;  /* threads that wait for descriptors */
};

/* Who and where this task is: self.c. */
struct self {
    uint32_t tid, parent, sink, host, coordinator;
    char host_name[CONTROL_NAME_MAX + 1], vm_name[CONTROL_NAME_MAX + 1];
    int route;   /* enum covey_route: what its messages take unless a peer's is forced */
    bool direct; /* the daemon gives sockets for links straight over raw Ethernet */
    int32_t pid;
    uint64_t now_us;           /* when the last call began */
    uint64_t ends_us;          /* the time of its host is over then; 0: that is not known */
    struct task_page *page;    /* what it counts; its daemon sees it */
    int page_fd;               /* until it has the page; -1: it has, or gets none */
    struct task_awaits awaits; /* what it waits for if it waits now */
    uint64_t short_calls;      /* so far: see call.c */
    struct covey *next;        /* in the list of memberships that exit() ends */
    bool exiting;              /* exit() ends it, or has: see enrol.c */
};

/* credit.c */
struct memory {
    size_t buffer_bytes;
    uint64_t bytes;
    const char *file;      /* says what is left of it */
    uint64_t kept_bytes;   /* of messages that the program put aside */
    uint64_t looked_bytes; /* were kept when memory was looked at */
    bool left;             /* then */
    unsigned starved;      /* peers whose credit is held back */
};

/* arrival.c, match.c, turn.c: what comes and what waits for it */
struct inbox {
    struct arrival *unexpected, *unexpected_last;
    uint64_t unexpected_bytes, arrivals;
    bool ready_on; /* the program asked for ready_fd, which counts those that covey_recv() finds */
    int ready_fd;
    uint64_t awaited_taken; /* large messages that receives took, and those of the last receive */
    uint64_t arrived_bytes; /* of messages */
    uint64_t arriving;      /* what is missing of the one that came last; of a schedule: 0 */
    struct covey_req *posted, *posted_last;
    struct covey_req *partial; /* receives from any task that wait for the rest of a message */
    struct turn *turns, *turns_last;      /* bulk messages that come, in the order they began */
    const struct context_owner *contexts; /* whose messages are not the program's; or NULL */
};

/* outgo.c, bulk.c: what goes */
struct outbox {
    struct peer *sending; /* peers with sends that wait */
    struct contention_config contention;
    uint32_t claims; /* numbers them */
};

/* peer.c, ended.c: the tasks and hosts that are known */
struct known {
    struct peer *peers[PEER_BUCKETS];
    struct ended_list ended;
    uint8_t host_gone[(HOST_INDEX_MAX + 1) / 8 + 1];
    unsigned measured; /* how often figures of the hosts were measured anew */
};

/* request.c */
struct requests {
    struct request *first;
    uint32_t number;
};

struct covey {
    pthread_mutex_t lock;
    struct waiting wait;
    struct home home;
    struct ordering order;
    struct links links;
    struct self self;
    struct memory memory;
    struct inbox inbox;
    struct outbox out;
    struct known known;
    struct requests requests;
    struct trace *trace;             /* NULL: nobody records what it does, see trace.h */
    struct covey_trace *recorder;    /* of a trace that $COVEY_TRACE asked for; or NULL */
    const struct part *const *parts; /* the rows, up to a NULL */
    void *part[PARTS];               /* what they keep */
};

static inline unsigned part_bit(enum part_id id)
{
    return 1u << id;
}

/* The part has something to do: its settle() is called from the poll loop, soon. */
static inline void part_due(struct covey *vm, enum part_id id)
{
    vm->wait.due |= part_bit(id);
}

#endif
