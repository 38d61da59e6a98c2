/*
 * home.h - the stream to the daemon of this host.
 */
#ifndef COVEY_LIB_MEMBER_HOME_H
#define COVEY_LIB_MEMBER_HOME_H

#include "proto/wire/frame.h"
#include <stdint.h>

struct covey;
struct covey_msg;
struct watch;

#define DAEMON_QUEUE_BYTES                                                                         \
    ((size_t)256 * 1024) /* bulk waits while more is queued to the daemon                          \
                          */

/* Queues a frame of this task to a destination and writes what the socket takes. */
int home_send(struct covey *vm, uint8_t kind, uint32_t destination, const uint8_t *payload,
              size_t size);
/* The same in two steps, for a frame with which descriptors travel; they stay the caller's. */
struct frame home_frame(const struct covey *vm, uint8_t kind, uint32_t destination, size_t size);
int home_send_frame(struct covey *vm, const struct frame *frame, const uint8_t *payload,
                    const int *fds, int nfds);
void home_flush(struct covey *vm);
void home_check(struct covey *vm); /* what could not be flushed before is tried again */
void home_ready(struct covey *vm, struct watch *watch, uint32_t events);
void home_read(struct covey *vm);
void home_lost(struct covey *vm, int error, const char *why);

void home_on_host_event(struct covey *vm, const struct frame *frame, const uint8_t *payload);
/* The program takes a message: a piece of a task's output is acknowledged. */
void home_output_taken(struct covey *vm, struct covey_msg *msg);

#endif
