/*
 * covey/send.h - sending messages to tasks and receiving them.
 */
#ifndef COVEY_SEND_H
#define COVEY_SEND_H

#include "message.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Sends a message and returns when the library no longer needs it (not when it was received).
 * While it waits the task goes on receiving. tag is 0 .. COVEY_TAG_MAX.
 * Errors: EINVAL, ENOTASK, EHOSTFAIL, EROUTE, ETOOBIG, ENOMEM (larger than the receiver's
 * memory), EDAEMON. */
int covey_send(covey_t *vm, covey_tid_t tid, int tag, const covey_msg_t *msg);

/* Sends one message to n tasks. Every task that can get it gets it; the error returned is the
 * first of those that could not. The caller's own tid in the list is skipped. If the caller dies in
 * the middle some may get it and others not: covey_cast() is for all or none. */
int covey_mcast(covey_t *vm, const covey_tid_t *tids, size_t n, int tag, const covey_msg_t *msg);

enum covey_order {
    COVEY_ORDER_FIFO = 0, /* those of one sender in the order of sending */
    COVEY_ORDER_TOTAL = 1 /* all in one order, the same at all receivers */
};

/* Sends one message to n tasks so that all of them that survive get it or none, also when this task
 * or its host dies in the middle. FIFO: it has its place among the other messages to each of them;
 * at most COVEY_CAST_TASKS_MAX tasks; the caller's own tid is skipped. Total order: all such
 * messages of the VM come in one order to all who get them, the caller included if it is named; at
 * most COVEY_TOTAL_BYTES_MAX packed bytes to at most COVEY_TOTAL_MEMBERS_MAX tasks. See
 * covey_cast(3). Errors: as covey_mcast(); ETOOBIG; ERESOURCE (too many tasks). */
#define COVEY_CAST_TASKS_MAX 256
#define COVEY_TOTAL_BYTES_MAX 64000
#define COVEY_TOTAL_MEMBERS_MAX 64
int covey_cast(covey_t *vm, const covey_tid_t *tids, size_t n, int order, int tag,
               const covey_msg_t *msg);

/* One contiguous array as a message, in one call and without a copy of its own. */
int covey_send_array(covey_t *vm, covey_tid_t tid, int tag, int type, const void *base,
                     size_t count);

/* Receives the oldest message that matches: from `tid` or COVEY_ANY_TASK, with `tag` or
 * COVEY_ANY_TAG. Sets *msg, to be freed by the caller. Messages of one sender are received in the
 * order they were sent, and without a gap: of a sender that died, those up to one that was not sent
 * whole. Errors: ETIMEOUT, ENOTASK and EHOSTFAIL (the named sender ended and nothing of it is
 * left), EROUTE (its link broke in a message and it lives: nothing more comes of it), EDAEMON,
 * ENOMEM. */
int covey_recv(covey_t *vm, covey_tid_t tid, int tag, int64_t timeout_us, covey_msg_t **msg);

/* Receives a message of one array straight into base, at most `capacity` elements. info may be
 * NULL; the number of elements received is returned through *count (which may be NULL too).
 * Errors: as covey_recv(), and ETYPE, ETRUNC: the message is then still there to be received. */
int covey_recv_array(covey_t *vm, covey_tid_t tid, int tag, int64_t timeout_us, int type,
                     void *base, size_t capacity, size_t *count, struct covey_info *info);

/* Waits for a message that matches, without taking it. Errors: as covey_recv(). */
int covey_probe(covey_t *vm, covey_tid_t tid, int tag, int64_t timeout_us, struct covey_info *info);

/* Sends a message to the task `to` and receives one from `from`, which may be COVEY_ANY_TASK, with
 * the same tag; either may be the caller. COVEY_NO_TASK: nothing is sent, or received (*in is then
 * NULL, *count 0). Neither waits for the other, so tasks that all do this to their neighbours do
 * not wait for each other. When the time runs out the message may be sent, or not; nothing is
 * received. When sending fails and something was received before, that is in *in all the same.
 * `in` of the array form must not overlap `out`. Errors: as covey_send() and covey_recv(). */
int covey_sendrecv(covey_t *vm, covey_tid_t to, covey_tid_t from, int tag, int64_t timeout_us,
                   const covey_msg_t *out, covey_msg_t **in);
int covey_sendrecv_array(covey_t *vm, covey_tid_t to, covey_tid_t from, int tag, int64_t timeout_us,
                         int type, const void *out, size_t out_count, void *in, size_t capacity,
                         size_t *count);

/* A descriptor for poll() and its like, which is readable while covey_probe() would find a message
 * from any task with any tag, and from the loss of the daemon on. It stays the library's until
 * covey_leave(). A message that is found may still be coming. Errors: EINVAL, ERESOURCE. */
int covey_fd(covey_t *vm);

/* Says that the program puts so many more bytes of messages aside that it has received and has no
 * use for yet; negative: so many less. They count as if they had not been received: senders wait
 * when it is too much. Errors: EINVAL. */
int covey_keep(covey_t *vm, int64_t bytes);

#ifdef __cplusplus
}
#endif
#endif
