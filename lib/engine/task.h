/*
 * task.h - what the files of the library share: the task (struct covey) and what hangs on it.
 *
 *   struct covey      one membership: lock, waiting, the stream to the daemon, all below
 *   struct peer       another task: its sends in order, credit both ways, links, inlets   peer.c
 *   struct covey_req  a send or a receive under way                                       send.c,
 * recv.c struct arrival    a message that arrives or waits to be received arrival.c struct conn a
 * link with its reading and writing state                           conn.c struct request    a
 * question to a daemon that waits for its reply                     request.c
 *
 * Invariants. Everything is guarded by the one lock of struct covey; functions here are called with
 * it held. A message is matched, and is complete, in the order of its sender's sequence numbers,
 * whatever route it takes; one that is lost takes all later ones of its sender with it. Of one
 * peer, one send is under way at a time. What a peer may have outstanding is bounded by the credit
 * that this task granted; credit.c decides how much.
 */
#ifndef COVEY_LIB_TASK_H
#define COVEY_LIB_TASK_H

#include "lib/link/link.h"
#include "lib/link/stream.h"
#include "lib/msg/error.h"
#include "lib/msg/message.h"
#include "proto/wire/control.h"

#include <pthread.h>
#include <stdbool.h>
#include <sys/queue.h>

#define ROUTES 5 /* enum covey_route */
#define BUFFER_BYTES_DEFAULT ((size_t)16 * 1024 * 1024)
#define DAEMON_QUEUE_BYTES                                                                         \
    ((size_t)256 * 1024) /* bulk waits while more is queued to the daemon                          \
                          */

/* What epoll reports on: a descriptor and who cares. */
struct watch {
    void (*ready)(struct covey *vm, struct watch *watch, uint32_t events);
    int fd;
    uint32_t events;
};

/* A frame that came before its turn, kept until the messages before it have begun. */
struct held {
    struct held *next;
    struct frame frame;
    uint8_t payload[];
};

/* Where data frames of one peer come in, in order: a link, or the daemon's stream. */
struct inlet {
    struct arrival *current; /* the message under way on it */
    bool waiting;            /* the first held frame begins a message whose turn has not come */
    uint64_t sequence;       /* of that message */
    struct held *first, *last;
    bool cast; /* what comes here was cast: a gap before it does not end it */
};

struct arrival {
    struct arrival *next, *prev; /* in the list of unexpected messages, in the order they began */
    bool listed;
    uint64_t number;   /* counts arrivals: the order of the list */
    struct peer *peer; /* NULL: made here (notices, output) */
    struct covey_info info;
    uint32_t context;
    uint8_t representation;
    uint64_t received;
    uint8_t preface[ITEM_HEADER_BYTES];
    struct covey_msg *msg;           /* NULL: goes straight into the array of `bound` */
    struct covey_req *bound;         /* the receive that takes it */
    uint64_t buffered;               /* bytes counted as unexpected */
    struct turn *turn;               /* a bulk message that waits for its turn, or has it */
    struct arrival *earlier, *later; /* of its peer's open ones */
    bool counted;                    /* in ready_fd */
    bool complete;                   /* whole, and so are those that its peer sent before */
    bool lost;                       /* nobody gets it: what still comes of it is only read */
    bool cast;
};

/* Where a message comes in that was cast. */
struct cast_inlet {
    struct cast_inlet *next;
    uint64_t sequence;
    struct inlet inlet;
};

/* A hand-over of a schedule that goes to a peer; see paced.c. */
struct sync {
    struct sync *next;
    struct control_sync what;
    uint32_t source; /* of one that came */
};

enum req_kind { REQ_SEND = 1, REQ_RECEIVE = 2, REQ_COLLECTIVE = 3 };

struct covey_req {
    struct covey *vm;
    struct covey_req *next, *prev; /* in the peer's sends or the posted receives */
    enum req_kind kind;
    bool queued, done, probe;
    int error;
    char text[160]; /* the cause, when error is set */
    int tag;
    uint32_t context;
    uint64_t sequence, offset; /* send: of the message; bytes framed so far */
    uint64_t not_before_us;    /* send that is staggered; 0: nothing is known yet */
    bool started, announced;
    uint64_t stamp;        /* send to a task of this host: its place in the order, see order.c */
    struct caster *caster; /* send: it is one of a cast; see cast.c */
    struct collective *collective; /* whose step it is part of; see collective.h */
    struct peer *peer;
    const struct covey_msg *msg; /* send: what goes out */
    struct covey_msg *owned;     /* send: freed with the request; receive: the result */
    struct covey_msg array_msg;  /* send of one array, without memory of its own */
    struct segment array_segments[3];
    uint8_t array_item[ITEM_HEADER_BYTES + 8];
    uint32_t source; /* receive: a tid, or COVEY_ANY_TASK */
    bool into_array;
    int type;
    void *base;
    size_t capacity, count;
    struct covey_info info;
    struct arrival *arrival;
    struct covey_req *partial_next; /* of the receives that wait for the rest of a message */
    struct paced *paced; /* of a schedule that is carried out: see paced.c, for these four, too */
    uint64_t mark;       /* receive: it is as good as here with so many bytes */
    bool marked, due;
    struct covey_req *due_next;
};

enum opening { OPENING_NONE, OPENING_ASKED, OPENING_CONNECTING, OPENING_FAILED };

/* The way to a direct link of one route. */
struct route_state {
    enum opening opening;
    struct conn *conn; /* ready for use; others of the same route are only read */
    struct conn *pending;
    uint64_t deadline_us; /* OPENING_FAILED: not before then is it tried again */
    uint8_t nonce[AUTH_NONCE_BYTES];
    struct link_secret secret;
    unsigned broken; /* this often, while being opened */
    unsigned failed; /* this often, since it was ready last */
    char why[160];   /* OPENING_FAILED */
    bool has_stream; /* tcp within the host: the opener's end is there, */
    int stream_fd;   /* which this is */
    bool relayed;    /* ether: accepted, and frames pass the daemons */
    bool accepting;  /* the peer opens: a stream with this nonce will come */
    uint8_t accept_nonce[AUTH_NONCE_BYTES];
    struct link_secret accept_secret;
};

/* The last messages on a link that closed, first .. next-1; see loss.c. */
struct loss {
    uint64_t first, next;
    uint64_t sent_bytes; /* to that task by then, over all ways */
    uint64_t syncs;      /* likewise, hand-overs */
    uint64_t at_us;      /* when it is told, or judged; 0: there is none */
    uint64_t seen_bytes;
};

struct peer {
    struct peer *next; /* in the bucket */
    uint32_t tid;
    bool gone, leaving; /* leaving: GONE came, what it sent is still being read */
    struct control_gone exit;
    uint64_t broken_at_us; /* a link of it broke; GONE should follow */
    char broken_why[96];
    struct loss untold, doubted; /* of messages to it, and from it */
    int forced_route;            /* -1: as the task's */

    uint64_t send_sequence, sent_bytes, credit_bytes;
    uint64_t traffic_bytes;
    struct covey_req *sends, *sends_last;
    struct sync *syncs, *syncs_last; /* go out before anything else */
    uint64_t syncs_sent, syncs_heard;
    struct claim claim;    /* to send it much; see bulk.c, for these three, too */
    uint64_t way_known_us; /* no claim is needed until then */
    uint64_t stagger_rate; /* of the domain on the way to it, or 0 */
    uint64_t turn_before;  /* it takes bulk messages with smaller numbers; see turn.c */
    uint64_t turn_granted; /* and this task takes those of it */
    struct peer *sending_next, *sending_prev; /* in the list of peers with sends */
    bool sending;
    struct conn *carrier;       /* the link that carries the send under way, NULL: the daemon */
    uint8_t carrier_flags;      /* of its frames to the daemon: FRAME_ETHER or 0 */
    struct route_state *routes; /* ROUTES of them, once a direct link is wanted */

    struct arrival *open, *open_last; /* begun and not complete, in order */
    bool cut; /* a message was lost: nothing that was sent after it is given out */
    uint64_t receive_sequence, received_bytes, granted_bytes;
    uint64_t credit_window; /* what it may have outstanding beyond received_bytes */
    bool grant_due;         /* granted_bytes is to be told to the peer */
    bool starved;           /* credit is held back until the task receives */
    struct inlet inlet;     /* of the daemon's stream */
    struct cast_inlet *cast_inlets;
    uint64_t way_until_us;    /* `way` holds until then */
    bool way;                 /* one frame reaches its host and others */
    struct inlet ether_inlet; /* of what came there over raw Ethernet: another order */
    bool by_ether;            /* its last data came so, and credit goes back so */
};

/* A link in use: frames being written and read. */
struct conn {
    struct watch watch; /* first: watch and conn have one address */
    struct conn *next;
    struct covey *vm;
    struct link *link;
    struct peer *peer; /* NULL: accepted, not yet known */
    int route;
    bool ready, closed;
    bool ordered;         /* with a task of this host: its messages begin in order, see order.c */
    bool parked;          /* the message in in_preface has not had its turn: */
    uint64_t stamp;       /* of it */
    uint64_t home_needed; /* of the daemon's stream, before it may begin */
    uint64_t there_bytes; /* of the ring, when it was parked */
    uint64_t clear_bytes; /* messages up to there in the ring need no other look, */
    uint64_t clear_stamp; /* if their stamps are earlier than this one; 0: whatever these are */
    uint64_t patience_us; /* it waits until then for what may not come; 0: it does not */
    unsigned announced;   /* sends that the other end knows of and that are not out */
    bool mute; /* what is written to it goes nowhere any more, but there may be more to read */
    uint64_t deadline_us; /* of the handshake */
    struct inlet inlet;
    uint64_t rest_until_us; /* it is not read until then: see rest.c; 0: it is */
    struct conn *rest_next;

    /* writing: the frame under way */
    uint8_t out_head[FRAME_HEADER_BYTES + FRAME_MESSAGE_BYTES];
    size_t out_head_size, out_head_sent;
    size_t out_body_left;
    struct covey_req *out_req;
    uint64_t run_first, run_next; /* the last messages, in a row; alike: none */
    bool handed_over;             /* it carried hand-overs */
    struct covey_req *leaving;    /* of a schedule: sent, and not all of it is on its way */

    /* reading: the frame under way */
    uint8_t in_head[FRAME_HEADER_BYTES];
    size_t in_head_used;
    struct frame in_frame;
    uint8_t in_preface[FRAME_MESSAGE_BYTES + ITEM_HEADER_BYTES];
    size_t in_preface_size, in_preface_used;
    size_t in_body_left;
    struct held *in_held; /* the frame is kept or is no data: read whole first */
    size_t in_held_used;
    bool in_routed; /* in_frame's head was looked at */
};

#define SERVICE_BYTES 8192 /* of a command or a question: its kind and what follows */

struct request {
    struct request *next;
    uint32_t number;
    uint32_t host; /* index of the daemon asked */
    bool done;
    bool service; /* of the state that the daemons agree on: see service.c */
    int status;
    uint8_t *content; /* grows frame by frame */
    size_t size;
};

/* Asked for by covey_notify(). */
struct notify {
    struct notify *next;
    int event, tag;
    uint32_t tid;
};

/* The output of the tasks that inherit the caller's: see printer.c. */
enum printing {
    PRINTING_NOT,   /* vm->sink gets it as messages */
    PRINTING_ABOVE, /* the library of vm->sink, another task, prints it */
    PRINTING_PLAIN,
    PRINTING_TAGGED
};

#define ENDED_BUCKETS 1024

/* How tasks ended that nobody has asked for; see ended.c. */
struct ended_list {
    TAILQ_HEAD(, ended) all;
    LIST_HEAD(ended_bucket, ended) buckets[ENDED_BUCKETS];
    uint32_t count;
};

enum poller { POLLER_NONE, POLLER_TASK, POLLER_PROGRESS, POLLERS };

#define PEER_BUCKETS 256

/* Who was spawned together; see siblings.c. */
struct family {
    struct family_batch *batches; /* of this task's own calls, the last one first */
    struct family_ask *asks;      /* who waits for the end of a call */
    int spawning;                 /* calls that go on */
    covey_tid_t *tids;            /* this task's siblings, as far as they came */
    uint32_t total, got;
    bool told; /* all of them have come */
};

struct covey {
    pthread_mutex_t lock;
    pthread_cond_t changed; /* something completed: waiters that do not poll look again */
    enum poller poller;
    unsigned waiting; /* threads inside wait_until() */
    uint64_t waits;   /* counts calls of it */
    unsigned doubt;   /* whether spinning pays: grows with waits that it would not end */
    bool crowded;     /* somebody else wanted this processor when the task last spun */
    pthread_t progress_thread;
    pthread_cond_t progress_wake;
    bool progress_parked, closing;
    uint64_t asleep_until_us[POLLERS]; /* who polls in that role sleeps, and took it that nothing is
                                          due before; 0: it is awake */
    bool long_nap; /* the progress thread sleeps, taking it that nothing is under way */
    int lost;      /* 0, or why the daemon is gone: COVEY_EDAEMON, COVEY_EPROTO */
    char lost_text[160];
    uint64_t check_at_us; /* when deadlines of links and peers must be looked at, 0: never */

    int epoll, doorbell;
    struct watch doorbell_watch, daemon_watch, listener_watch, ether_watch;
    struct stream *daemon;
    bool home_full; /* a send waits for room in the queue to the daemon */
    bool home_due;  /* links queued something to the daemon that is not flushed yet */
    struct ledger *ledger;
    bool home_reading;              /* a frame of the daemon's is being looked at */
    bool home_kept;                 /* one of them waits for its turn */
    uint64_t home_patience_us;      /* until then */
    uint64_t home_limit;            /* what follows there has no earlier stamp; 0: not known */
    uint64_t forgone, home_forgone; /* stamps and bytes up to there are not waited for any more */
    uint64_t home_mark;             /* of what was queued to it: a message to a task of this host */
    bool home_mark_awaited;         /* sends wait until the daemon has passed it on */
    uint64_t stamp, now_us;         /* the last one seen or given; when the last call began */
    unsigned parked;                /* conns */
    bool looking;                   /* heads are looked for, and none may begin */
    bool order_due;                 /* parked messages may begin as soon as somebody looks */
    uint16_t listener_port;
    uint64_t accept_again_us; /* descriptors are exhausted: the listener rests; 0: it does not */
    struct conn *conns;       /* closed ones too, until conn_bury() */
    unsigned looked_count;    /* conns without a descriptor, which must be looked at */
    unsigned stepped_count;   /* conns whose links have something due at times */
    struct ether_port *ether_port;
    bool ether_watched; /* its descriptor, see direct.c */
    unsigned sleepers;  /* threads that wait for descriptors */

    uint32_t tid, parent, sink, host, coordinator;
    char host_name[CONTROL_NAME_MAX + 1], vm_name[CONTROL_NAME_MAX + 1];
    int route;
    bool direct; /* the daemon gives sockets for links straight over raw Ethernet */
    size_t buffer_bytes;
    uint64_t memory_bytes;
    const char *memory_file; /* says what is left of it */
    uint64_t kept_bytes;     /* of messages that the program put aside */
    uint64_t looked_bytes;   /* were kept when memory was looked at */
    bool memory_left;        /* then */
    struct contention_config contention;
    uint32_t claims; /* numbers them */

    struct peer *peers[PEER_BUCKETS];
    struct peer *sending;            /* peers with sends that wait */
    struct turn *turns, *turns_last; /* bulk messages that come, in the order they began: turn.c */
    struct arrival *unexpected, *unexpected_last;
    uint64_t unexpected_bytes, arrivals;
    bool ready_on; /* the program asked for ready_fd, which counts those that covey_recv() finds */
    int ready_fd;
    uint64_t bulk_taken;    /* large messages that receives took */
    uint64_t written_bytes; /* that links took */
    uint64_t arrived_bytes; /* of messages */
    uint64_t arriving;      /* what is missing of the one that came last; of a schedule: 0 */
    struct covey_req *posted, *posted_last;
    struct covey_req *partial; /* receives from any task that wait for the rest of a message */
    struct paced *paced;       /* schedules that are carried out */
    struct conn *resting;      /* see rest.c */
    struct covey_req *paced_due, *paced_due_last; /* of theirs: something happened */
    struct sync *early_syncs;                     /* for those that have not begun here */
    unsigned early_sync_count;
    int early_refused; /* 0, or why some could not be kept, of teams that were not there: */
    uint32_t early_refused_first, early_refused_last; /* contexts */
    unsigned starved;                                 /* peers whose credit is held back */
    struct request *requests;
    uint32_t request_number;
    struct notify *notifies;
    struct ended_list ended;
    int tasker_tag; /* of orders; see tasker.c */
    enum printing printing;
    struct printer *printer; /* NULL: nothing was spawned whose output is printed */
    struct family family;
    struct covey_group *groups;
    struct covey_session *sessions;
    struct covey_bag *bags;
    struct bag_incoming *bag_incoming; /* answers about them */
    uint32_t bag_handles;
    struct covey_team *teams;
    struct collective *ready; /* collectives of which something is done */
    struct step_req *orphans; /* sends that go on for nobody */
    struct op_defined *ops;   /* the program's own operations */
    uint32_t context_next;    /* no team of this task has that or a larger one */
    bool assembling, aborts;  /* a team is being made; a member gave one up */
    uint8_t host_gone[(HOST_INDEX_MAX + 1) / 8 + 1];

    unsigned spawn_next;     /* where the next spawn starts in the list of hosts */
    struct outlook *outlook; /* what was last heard of the hosts' load: see place.c */
    int32_t pid;
    uint64_t joined_us, idle_us, communication_us;
    struct covey *next; /* in the list of memberships that exit() ends */
    bool exiting;       /* exit() ends it, or has: see enrol.c */
};

/* ---- wait.c: waiting, polling and the progress thread ---- */

/* Waits until done(context) is true. 0, COVEY_ETIMEOUT, or the reason why the daemon is gone. */
int wait_until(struct covey *vm, bool (*done)(void *context), void *context, uint64_t deadline_us);
/* Looks once at everything that is ready, without waiting, unless another thread of the program
 * polls. */
void wait_poll(struct covey *vm);
/* Something that a thread may wait for came about: whoever waits looks again, also who polls. */
void wait_changed(struct covey *vm);
/* Registers, changes (by watch->events) or ends interest in a descriptor. */
int watch_add(struct covey *vm, struct watch *watch);
void watch_change(struct covey *vm, struct watch *watch, uint32_t events);
void watch_remove(struct covey *vm, struct watch *watch);
void watch_pause(struct covey *vm, struct watch *watch); /* until watch_add() */
/* Asks for deadlines to be looked at then, at the latest. */
void wait_check_at(struct covey *vm, uint64_t at_us);
void *wait_progress_main(void *vm);
void wait_left(struct covey *vm); /* at the end of a call: what is under way needs progress */
void wait_ring(struct covey *vm); /* ends the sleep of whoever polls */

/* ---- home.c: the stream to the daemon ---- */

/* Queues a frame of this task to a destination and writes what the socket takes. */
int home_send(struct covey *vm, uint8_t kind, uint32_t destination, const uint8_t *payload,
              size_t size);
/* The same in two steps, for a frame with which descriptors travel; they stay the caller's. */
struct frame home_frame(const struct covey *vm, uint8_t kind, uint32_t destination, size_t size);
int home_send_frame(struct covey *vm, const struct frame *frame, const uint8_t *payload,
                    const int *fds, int nfds);
void home_flush(struct covey *vm);
void home_ready(struct covey *vm, struct watch *watch, uint32_t events);
void home_read(struct covey *vm);
void home_lost(struct covey *vm, int error, const char *why);

/* ---- request.c ---- */

/* Asks the daemon of `host` (index; 0: the own) and waits for the reply. body holds the content
 * after the request number. On success *content (malloc'ed, freed by the caller) and its size. */
int request_call(struct covey *vm, uint8_t kind, uint32_t host, const void *body, size_t size,
                 uint64_t deadline_us, uint8_t **content, size_t *content_size);
/* The same in two steps, to ask several daemons at once: request_end() frees *r. */
struct request *request_begin(struct covey *vm, uint8_t kind, uint32_t host, const void *body,
                              size_t size);
int request_end(struct covey *vm, struct request **r, uint64_t deadline_us, uint8_t **content,
                size_t *content_size);
/* The same, for as long as no such time passes in which nothing more of the answer comes. */
int request_end_idle(struct covey *vm, struct request **r, uint64_t idle_us, uint8_t **content,
                     size_t *content_size);
int request_status(const struct request *r); /* of one that is done: as request_end() returns */
/* One whose answer nobody waits for any more; NULL is fine. */
void request_forget(struct covey *vm, struct request **r);
void request_on_reply(struct covey *vm, const struct frame *frame, const uint8_t *payload);
void request_fail_host(struct covey *vm, uint32_t host); /* its daemon will not answer any more */

/* ---- peer.c ---- */

struct peer *peer_find(struct covey *vm, uint32_t tid);
struct peer *peer_get(struct covey *vm, uint32_t tid); /* makes it; NULL: no memory */
void peer_on_gone(struct covey *vm, const struct control_gone *gone);
void peer_settle(struct covey *vm, struct peer *peer); /* leaving and all read: now it is gone */
void peer_host_gone(struct covey *vm, uint32_t host);
void peer_check(struct covey *vm, uint64_t now_us);
void peer_free_all(struct covey *vm);
/* A link failed in the middle of a frame; the peer's end should follow. */
void peer_link_broke(struct covey *vm, struct peer *peer, const char *why);
int peer_error(const struct peer *peer); /* why: ENOTASK or EHOSTFAIL of a gone one, EROUTE */

/* ---- printer.c: output that the library prints ---- */

/* The value of $COVEY_OUTPUT, or COVEY_EINVAL. */
int printer_printing(void);
/* Tasks are being spawned whose output is printed here, tethered ones or others. */
int printer_start(struct covey *vm, bool tethered);
/* A piece of a task's output, which is acknowledged when it is printed. */
void printer_put(struct covey *vm, const struct control_output *o, const uint8_t *text);
void printer_on_ended(struct covey *vm, const struct control_ended *e);
/* The task leaves: gets what the others have written so far, or write soon. */
void printer_gather(struct covey *vm);
/* Prints what is there and ends; the lock is let go meanwhile. */
void printer_destroy(struct covey *vm);

/* ---- ended.c: the ends of tasks that this one spawned ---- */

void ended_init(struct covey *vm);
/* The end of a task that is no peer. */
void ended_keep(struct covey *vm, const struct control_gone *gone);
/* Puts what was kept in the place of an end that is not known; it is kept no longer. */
void ended_recall(struct covey *vm, struct control_gone *gone);
void ended_free_all(struct covey *vm);

/* ---- outgo.c: sends under way ---- */

void outgo_queue(struct covey *vm, struct peer *peer, struct covey_req *req);
void outgo_count(struct peer *peer, const struct covey_req *req); /* the pair's traffic grows */
void outgo_pump(struct covey *vm, struct peer *peer);             /* moves what can move */
void outgo_pump_all(struct covey *vm);
void outgo_fail(struct covey *vm, struct peer *peer, int error, const char *why);
bool outgo_cancel(struct covey *vm, struct covey_req *req);
struct message_header outgo_header(const struct covey_req *req); /* of its message */
void outgo_sent(struct covey *vm, struct covey_req *req);        /* its last byte is out */
/* What a CREDIT says: limit=u64 [turn=u64]. */
void outgo_on_credit(struct covey *vm, struct peer *peer, struct cursor *payload);
/* A hand-over goes to the peer, between the frames of its sends; COVEY_ENOMEM: it does not. */
int outgo_sync(struct covey *vm, struct peer *peer, const struct control_sync *what);
void outgo_drop_syncs(struct peer *peer);

/* ---- order.c: messages of one host are received in the order in which they were sent ---- */

/* The stamp of a message that starts now; 0: to a task of another host. */
uint64_t order_stamp(struct covey *vm, const struct peer *peer);
/* A frame of a message to a task of this host was queued to the daemon. */
void order_note_home(struct covey *vm, const struct peer *peer);
/* Whether what goes by a link now comes behind all that was queued to the daemon before. */
bool order_may_leave_home(struct covey *vm);
/* The same for one that has to go by a link: its sender is pumped again when it may. */
bool order_await_home(struct covey *vm);
/* Sends that wait for that are looked at. */
void order_check(struct covey *vm);
/* Whether the message whose head is in the conn's in_preface may begin. If not it is parked. */
bool order_admits(struct covey *vm, struct conn *conn);
/* The same for one in the daemon's stream; if not the stream is not read on. */
bool order_admits_home(struct covey *vm, const struct frame *frame, const uint8_t *payload);
/* Begins what is parked and has its turn; true when something did. */
bool order_settle(struct covey *vm);
void order_forget(struct conn *conn); /* it is closed */
/* Those that get a message know of it before any of them has it: it goes to all of them by rings,
 * or by the daemon, which the result says. */
bool order_announce(struct covey *vm, const covey_tid_t *tids, struct covey_req *reqs, size_t n);
void order_announced(struct covey_req *req); /* it is out, or will not go */

/* ---- bulk.c: messages that wait for contention domains ---- */

/* Whether the next frame of the peer's first send may go as far as others are concerned. If not, it
 * is looked at again in time. */
bool bulk_may_send(struct covey *vm, struct peer *peer, struct covey_req *req);
void bulk_sent(struct covey *vm, struct peer *peer, const struct covey_req *req, uint64_t bytes);
void bulk_settle(struct covey *vm, struct peer *peer); /* its first send is another one, or none */
void bulk_drop(struct covey *vm, struct peer *peer);   /* it has no more sends */
void bulk_check(struct covey *vm, struct peer *peer, uint64_t now_us);
void bulk_on_answer(struct covey *vm, const struct frame *frame, const uint8_t *payload);

/* Trims the next frame to what may go before it is the message's turn at its receiver; false: none
 * of it. */
bool bulk_in_turn(const struct covey *vm, const struct peer *peer, const struct covey_req *req,
                  size_t *size);

/* ---- turn.c: bulk messages from several others are taken one after the other ---- */

void turn_begin(struct covey *vm, struct arrival *a, uint64_t sequence);
void turn_moved(struct covey *vm, struct arrival *a); /* bytes of it came */
void turn_end(struct covey *vm, struct arrival *a);   /* it is whole, or will not come */
void turn_check(struct covey *vm, uint64_t now_us);
void turn_free_all(struct covey *vm);

/* ---- send.c, mcast.c ---- */

/* Whether such a message can be sent to such a task at all. */
int send_check(covey_tid_t tid, int tag, uint64_t size, uint64_t memory_bytes);
/* Makes the array the request's message, in place. */
int send_array_init(struct covey_req *req, int type, const void *base, size_t count);
/* Starts req->msg on its way; an error is the call's and leaves the request unused. */
int send_start(struct covey *vm, struct covey_req *req, covey_tid_t tid);
/* Sends to those of the n tasks that are together on another host, or, `here`, on this one; their
 * requests are then under way or done. */
void mcast_by_host(struct covey *vm, const covey_tid_t *tids, struct covey_req *reqs, size_t n,
                   bool here);

/* ---- cast.c: to tasks of several hosts ---- */

/* Queues a cast to the n tasks, at most CONTROL_RECEIVERS_MAX; the requests of those that cannot
 * get it are done, with the error. */
void caster_to_all(struct covey *vm, const covey_tid_t *tids, struct covey_req *reqs, size_t n);
/* Queues a cast to those of the n tasks that one frame on the wire reaches; their requests are then
 * under way or done. */
void caster_by_way(struct covey *vm, const covey_tid_t *tids, struct covey_req *reqs, size_t n);
/* The same where waiting for an answer about the way is not possible, by one that is known from
 * lately; requests stand `stride` bytes apart. */
void caster_by_known_way(struct covey *vm, const covey_tid_t *tids, struct covey_req *reqs,
                         size_t stride, size_t n);
/* Whether one frame reaches those of the tasks that are on other hosts. Waits for an answer. */
bool caster_way(struct covey *vm, const covey_tid_t *tids, size_t n);
/* Moves a cast on by a frame; false: nothing can move now. */
bool caster_step(struct covey *vm, struct caster *c);
/* A request of a cast ends before the others do. */
void caster_leave(struct covey *vm, struct covey_req *req);
/* The cast goes on with a copy of what its sender lent; false: no memory for one. */
bool caster_detach(struct covey_req *req);
void caster_on_data(struct covey *vm, const struct frame *frame, const uint8_t *payload);
/* The peer is gone: its casts that came whole are given out, also those that wait behind ordinary
 * messages that never came. */
void caster_settle(struct covey *vm, struct peer *peer);
void caster_drop(struct covey *vm, struct peer *peer); /* as arrival_drop(), of casts */

/* ---- total.c ---- */

/* Sends a message to the n tasks, this one perhaps among them, in total order. */
int total_send(struct covey *vm, const covey_tid_t *tids, size_t n, int tag,
               const covey_msg_t *msg);

/* ---- route.c: which way, and getting there ---- */

/* The link for the next message: *conn, NULL meaning through the daemon. 1: go; 0: not yet;
 * < 0: it cannot work, req->text says why. */
int route_choose(struct covey *vm, struct peer *peer, struct covey_req *req, struct conn **conn);
int route_wanted(const struct covey *vm, const struct peer *peer);
bool route_is_forced(struct covey *vm, uint32_t tid, int route); /* for the next message */
/* Whether route_choose(), free to choose, takes a stream to that task or begins to open one. */
bool route_takes_stream(const struct covey *vm, const struct peer *peer);
/* Much is going to that task: a stream is worth it from now on. */
void route_expect_bulk(struct peer *peer);
/* And the link for it may as well be opened now. */
void route_open_ahead(struct covey *vm, struct peer *peer);
/* The flags of frames through the daemon of a message that route_choose() let go. */
uint8_t route_flags(const struct covey *vm, const struct peer *peer);
void route_on_link_frame(struct covey *vm, const struct frame *frame, const uint8_t *payload,
                         int *fds, int nfds);
void route_check(struct covey *vm, struct peer *peer, uint64_t now_us);
void route_failed(struct covey *vm, struct peer *peer, int route, const char *why);
/* The link broke while it was being opened: asks for another, the third time gives up. */
void route_broke(struct covey *vm, struct peer *peer, int route, const char *why);
void route_free_all(struct peer *peer);
/* The state of that route; NULL: no memory. */
struct route_state *route_state_get(struct peer *peer, int route);

/* ---- route_accept.c: links that other tasks open ---- */

/* Takes a stream in that somebody opened; the descriptor, too. */
void route_accept_stream(struct covey *vm, int fd);
void route_listener_ready(struct covey *vm, struct watch *watch, uint32_t events);
/* The listener listens again when its pause is over. */
void route_accept_again(struct covey *vm, uint64_t now_us);
/* A LINK_OPEN came; descriptors that are taken become -1. */
void route_on_open(struct covey *vm, struct peer *peer, struct control_link *l, int *fds, int nfds);

/* ---- direct.c: raw Ethernet between two tasks ---- */

/* Whether such a link can be had, with the port that this task has or that comes as a descriptor.
 */
bool direct_take_port(struct covey *vm, const struct control_link *l, int *fds, int nfds);
/* What a link of the other task's would have sent in a raw frame. */
void direct_on_detour(struct covey *vm, const struct frame *frame, const uint8_t *payload);
/* Around a sleep that frames must end. False: they cannot, there is no memory. */
bool direct_sleep(struct covey *vm);
void direct_wake(struct covey *vm);
/* The links will be looked at again and again. */
void direct_look(struct covey *vm);
/* The link, not yet ready; NULL: no memory. */
struct conn *direct_create(struct covey *vm, struct peer *peer, const struct control_link *l,
                           bool opener);

/* ---- conn.c ---- */

struct conn *conn_create(struct covey *vm, struct link *link, struct peer *peer, int route);
void conn_settle(struct conn *conn);    /* looks whether frames may flow now */
void conn_ready_now(struct conn *conn); /* frames may flow */
void conn_read(struct covey *vm, struct conn *conn);
/* Whether the request, sent by this, is on its way; if not, paced_note() tells when it is. */
bool conn_left(struct conn *conn, struct covey_req *req);
/* Nobody asks any more. */
void conn_left_no_more(struct covey *vm, const struct covey_req *req);
/* Whether what is put now has to wait behind much else, or would never go. */
bool conn_lags(const struct conn *conn);
bool conn_flush(struct conn *conn); /* true: a new frame may be started */
/* Puts a frame without message; payload has at most FRAME_MESSAGE_BYTES. */
void conn_put_control(struct conn *conn, uint8_t kind, const uint8_t *payload, size_t size);
void conn_put_data(struct conn *conn, struct covey_req *req, size_t size);
/* Unless the link is full, no more follows what was put for now: it need not wait to fill a packet.
 */
void conn_push(struct conn *conn);
/* What it was sending fails: the bytes are their owner's again. */
void conn_abandon(struct conn *conn);
void conn_close(struct covey *vm, struct conn *conn, bool broken);
void conn_bury(struct covey *vm);     /* frees those closed */
bool conn_poll_all(struct covey *vm); /* some links have no descriptor: look at each */
/* Does what is due on links that have timers; returns when it must be called again. */
uint64_t conn_step_all(struct covey *vm);
/* Whether so much has not left yet of what a link of ours holds. */
bool conn_waiting(const struct covey *vm, size_t least);
bool conn_arm_all(struct covey *vm);

/* Reads the streams whose rest is over. */
void conn_wake_rested(struct covey *vm);

/* ---- brief.c: the short header of short messages ---- */

/* Writes that of a message which begins, and is whole, into out_head; false: it has none. */
bool brief_put(struct conn *conn, const struct covey_req *req);
/* Takes the one in in_head; the reason of refusal or NULL. */
const char *brief_take(struct conn *conn);

/* ---- rest.c: streams that bring messages of a schedule are read now and then ---- */

/* Begins a rest where there may be one; false: none. */
bool conn_rest(struct conn *conn);
void conn_rest_end(struct conn *conn);
/* One whose rest is over, or NULL. */
struct conn *conn_rested(const struct covey *vm, uint64_t now_us);
/* When the first rest is over; UINT64_MAX: there is none. */
uint64_t conn_rest_due_us(const struct covey *vm);

/* ---- loss.c: messages that a link took with it ---- */

void loss_note(struct conn *conn, uint64_t sequence); /* a message begins on it */
void loss_on_close(struct covey *vm, const struct conn *conn, bool broken);
void loss_on_lost(struct covey *vm, struct peer *peer, struct cursor *payload); /* LINK_LOST */
void loss_check(struct covey *vm, struct peer *peer, uint64_t now_us);

/* ---- arrival.c: messages coming in ---- */

/* A data frame of which `have` bytes of payload are here: begins or continues a message. */
void arrival_on_frame(struct covey *vm, struct peer *peer, struct inlet *inlet,
                      const struct frame *frame, const uint8_t *payload);
/* The same in pieces, for links: first the preface (message header and up to ITEM_HEADER_BYTES of
 * the message), then where the body goes. */
size_t arrival_preface_bytes(const struct frame *frame);
const char *arrival_begin(struct covey *vm, struct peer *peer, struct inlet *inlet,
                          const uint8_t *preface, size_t size);
/* Its message is one of a schedule, or a collective's and not short: others go the other way, and
 * acknowledgements would be in theirs. */
bool arrival_is_exchanged(const struct inlet *inlet);
/* For how long nobody minds that no more of its message is read. */
uint64_t arrival_rest_us(const struct inlet *inlet);
bool arrival_in_turn(const struct peer *peer, const uint8_t *preface, size_t size);
/* Memory for the next bytes of the inlet's message; *size is what fits there. */
uint8_t *arrival_target(struct inlet *inlet, size_t *size);
void arrival_received(struct covey *vm, struct peer *peer, struct inlet *inlet, size_t size);
void arrival_hold(struct inlet *inlet, struct held *held);
void arrival_release(struct covey *vm, struct peer *peer); /* what was held and is in turn now */
bool arrival_must_hold(struct peer *peer, struct inlet *inlet, const struct frame *frame,
                       const uint8_t *payload);
void arrival_drop(struct covey *vm, struct inlet *inlet); /* the rest will not come */
/* What came of those messages that no receive took, and what still comes, is for nobody. Of one
 * sender, or of all (peer NULL); those whose tag has the value under the mask. */
struct arrival_filter {
    uint32_t context;
    const struct peer *peer;
    int tag, mask;
};
void arrival_purge(struct covey *vm, const struct arrival_filter *which);
/* A message in total order: header and all. */
void arrival_on_total(struct covey *vm, struct peer *peer, const uint8_t *payload, size_t size);
/* A complete message made here; takes it. */
void arrival_deliver(struct covey *vm, struct peer *peer, struct covey_msg **msg);

/* ---- match.c: receives and unexpected messages ---- */

void match_post(struct covey *vm, struct covey_req *req); /* takes a waiting message, or waits */
void match_arrival(struct covey *vm, struct arrival *arrival);
void match_complete(struct covey *vm, struct arrival *arrival); /* it may be given out */
bool match_cancel(struct covey *vm, struct covey_req *req);
void match_free(struct covey *vm, struct arrival *arrival);
/* Nobody gets the message any more, which stays the caller's. Its receive is again the first of
 * those posted: 1, or 0 if it had none. */
unsigned match_abandon(struct covey *vm, struct arrival *arrival);
void match_again(struct covey *vm, unsigned count); /* the first posted: other messages may fit */
int match_ready_fd(struct covey *vm);    /* made when it is first asked for; or an error */
void match_ready_lost(struct covey *vm); /* a receive would fail at once */
void match_fail_source(struct covey *vm, struct peer *peer); /* receives that only it could serve */
const struct arrival *match_find(const struct covey *vm, uint32_t source, int tag);
void req_finish(struct covey_req *req, int error, const char *why);

/* ---- recv.c ---- */

/* Makes the request a receive of one array. */
int receive_init_array(struct covey_req *req, struct covey *vm, covey_tid_t tid, int type,
                       void *base, size_t capacity);
/* Starts a receive; one that names a sender learns of its end. */
void receive_start(struct covey *vm, struct covey_req *req);

/* ---- paced.c: schedules carried out ---- */

/* Something happened to a request of a schedule: it is looked at in paced_settle(). */
void paced_note(struct covey_req *req);
void paced_settle(struct covey *vm); /* from the poll loop: does what is due */
void paced_on_sync(struct covey *vm, const struct frame *frame, const uint8_t *payload);
void paced_peer_gone(struct covey *vm, const struct peer *peer);
/* A hand-over of that task, which lives, went with a link: its teams are broken. */
void paced_sync_lost(struct covey *vm, const struct peer *peer);
/* How long a message of which so much of its size came need not be read on. */
uint64_t paced_rest_us(const struct covey_req *req, uint64_t received, uint64_t size);
uint64_t paced_rate(const struct covey_req *req); /* of its messages; 0: as fast as it goes */

/* ---- credit.c ---- */

void credit_update(struct covey *vm, struct peer *peer);
void credit_reopen(struct covey *vm); /* the task waits: peers that were held back may go on */
void credit_keep(struct covey *vm, int64_t bytes); /* so much more is put aside by the program */

/* ---- notify.c ---- */

void notify_task_exit(struct covey *vm, struct peer *peer);
void notify_host(struct covey *vm, const struct control_host_event *event);
void notify_output(struct covey *vm, const struct frame *frame, const uint8_t *payload);
void notify_ended(struct covey *vm, const struct frame *frame, const uint8_t *payload);
void notify_output_taken(struct covey *vm, struct covey_msg *msg);
/* A message of what was packed, from `source` (0: nobody) with `tag`; takes it, NULL is fine. */
void notify_deliver(struct covey *vm, struct covey_msg *packed, uint32_t source, int tag);
void notify_free_all(struct covey *vm);

/* ---- call.c: what every public call begins and ends with ---- */

/* Takes the lock; the moment goes to call_end(), which adds the time to communication, less what
 * call_idle() booked as idle meanwhile. */
struct call {
    uint64_t start_us, idle_us;
};
struct call call_begin(struct covey *vm);
int call_end(struct covey *vm, const struct call *call, int result);
/* wait_until() whose time is idle time. */
int call_idle(struct covey *vm, bool (*done)(void *context), void *context, uint64_t deadline_us);

/* ---- hosts.c ---- */

/* The host table, asked from the own daemon: *hosts is freed by the caller; the number or < 0. */
int hosts_ask(struct covey *vm, struct covey_host **hosts);
/* covey_survey() inside a call. */
int tasks_survey(struct covey *vm, int64_t timeout_us, struct covey_host **hosts,
                 struct covey_task **tasks, int *task_count);
/* covey_host_stats() inside a call. */
int host_stats_ask(struct covey *vm, int64_t timeout_us, struct covey_host **hosts,
                   struct covey_host_stat **stats);

/* ---- place.c: where spawn puts tasks ---- */

/* Hosts by their indices, in the order in which tasks are dealt to them; a host that is not to be
 * used any more has index 0. */
struct deal {
    uint32_t *hosts;
    int count;
    bool free_choice; /* the tasks go where they should end first; else to the hosts in turn */
};
int deal_make(struct covey *vm, const struct covey_spawn *what, struct deal *deal);
void deal_free(struct deal *deal);
/* Forgets hosts with index 0; false: none had it, or none is left. */
bool deal_drop(struct deal *deal);
/* Sets host_of[i] to the index of the host for the i-th of n tasks. The VM's turn goes on. */
int deal_tasks(struct covey *vm, const struct covey_spawn *what, const struct deal *deal, int n,
               uint32_t *host_of);
/* What covey_place() gives. */
int place_explain(struct covey *vm, const struct covey_spawn *what, int n,
                  struct covey_place **places);
void place_free(struct covey *vm);

/* ---- enrol.c ---- */
/* Waits until no daemon of that VM runs on this host any more. */
void enrol_await_end(const char *vm, uint64_t deadline_us);

/* ---- service.c: locks, tokens and the like ---- */

/* A command or a question to the state that the VM agrees on: begun with a name (NULL: none), what
 * follows is written to `body`. */
struct service {
    struct covey *vm;
    uint8_t kind;            /* enum command_kind */
    const char *what, *name; /* "lock" and which, for the texts of errors */
    struct cursor body;
    uint8_t bytes[SERVICE_BYTES];
};
void service_begin(struct service *s, struct covey *vm, uint8_t kind, const char *what,
                   const char *name);
/* Sends a command and waits; COVEY_POLL: for no other task, only for the answer. content may be
 * NULL and is freed by the caller. */
int service_call(struct service *s, int64_t timeout_us, uint8_t **content, size_t *size);
/* The same for a question. */
int service_ask(struct service *s, uint8_t **content, size_t *size);
/* A command that is answered with a number, and a question about a holder and its number. */
int service_number(struct service *s, int64_t timeout_us, uint64_t *number);
covey_tid_t service_holder(struct service *s, uint64_t *number);
int service_name_check(const covey_t *vm, const char *what, const char *name);
/* Sends a command whose answer nobody waits for. */
void service_post(struct service *s);
void service_on_notice(struct covey *vm, const struct frame *frame, const uint8_t *payload);

/* ---- siblings.c ---- */

/* A covey_spawn() begins, and ends with these results. */
void siblings_spawning(struct covey *vm);
void siblings_spawned(struct covey *vm, const covey_tid_t *tids, int n);
void siblings_on_family(struct covey *vm, const struct frame *frame, const uint8_t *payload);
void siblings_free(struct covey *vm);

/* ---- tasker.c ---- */

void tasker_on_order(struct covey *vm, const struct frame *frame, const uint8_t *payload);

/* ---- session.c ---- */

/* An answer came that a session may have waited for in the background. */
void session_settle(struct covey *vm);
void session_free_all(struct covey *vm);

/* ---- bag_link.c, bag.c ---- */

/* Something that bags may wait for came, or is due. */
void bag_settle(struct covey *vm);
void bag_on_answer(struct covey *vm, const struct frame *frame, const uint8_t *payload);
void bag_host_gone(struct covey *vm, uint32_t host);
void bag_leave_all(struct covey *vm); /* says goodbye, and does not wait */
void bag_free_all(struct covey *vm);

/* ---- group.c ---- */
void group_free_all(struct covey *vm);
struct covey *group_vm(const struct covey_group *group);
const char *group_name(const struct covey_group *group);

#endif
