/*
 * order.h - messages of one host are received in the order in which they were sent.
 */
#ifndef COVEY_LIB_ENGINE_ORDER_H
#define COVEY_LIB_ENGINE_ORDER_H

#include "proto/wire/frame.h"
#include <stdbool.h>
#include <stdint.h>

struct conn;
struct covey;
struct covey_req;
struct peer;

/* The stamp of a message that starts now; 0: to a task of another host. */
uint64_t order_stamp(struct covey *vm, const struct peer *peer);
/* That of one to a task of this host, in a call that has not looked at the clock: it may be that of
 * some milliseconds ago, unless something was received or sent since. */
uint64_t order_stamp_now(struct covey *vm);
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
/* Whether a message that was seen in a ring may begin at once, for nothing else is there. If so it
 * is to begin; if not order_admits() has to be asked. */
bool order_admits_alone(struct covey *vm, const struct conn *conn, uint64_t stamp);
/* The same for one in the daemon's stream; if not the stream is not read on. */
bool order_admits_home(struct covey *vm, const struct frame *frame, const uint8_t *payload);
/* The same of what the daemon tells of tasks, hosts and services. */
bool order_admits_notice(struct covey *vm, const struct frame *frame, const uint8_t *payload);
/* Begins what is parked and has its turn; true when something did. */
bool order_settle(struct covey *vm);
void order_forget(struct conn *conn);        /* it is closed */
void order_announced(struct covey_req *req); /* it is out, or will not go */

#endif
