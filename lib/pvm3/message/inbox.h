/*
 * inbox.h - messages that have come and were not received yet, in the order in which they came.
 */
#ifndef COVEY_PVM3_INBOX_H
#define COVEY_PVM3_INBOX_H

#include <stdint.h>

#include "lib/pvm3/message/buffer.h"

/* Waits for the next message of Covey and lets it be taken by whom it is for. Returns 1, 0 when
 * none came in time, or an error of PVM. */
int inbox_pull(int64_t timeout_us);

/* A message for the program, unless a handler takes it. */
void inbox_deliver(struct buffer *b);

/* The same of one that this task's daemon would have sent it. */
void inbox_deliver_by_daemon(struct buffer *b, int tag, int context);

struct buffer *inbox_first(void);
struct buffer *inbox_last(void);

/* Takes a buffer out, if it is in; how often that was done. */
void inbox_remove(struct buffer *b);
unsigned inbox_removals(void);

void inbox_clear(void);

#endif
