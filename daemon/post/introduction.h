/*
 * introduction.h - what the daemons add to the frames by which two tasks set up a direct link.
 */
#ifndef COVEY_DAEMON_INTRODUCTION_H
#define COVEY_DAEMON_INTRODUCTION_H

#include "daemon/post/post.h"

#define NO_DESCRIPTORS "the daemon of this host has no descriptors left to pass on"

/* A LINK_OPEN leaves its opener here, nfds descriptors with it. Gives the opener the key of a
 * stream link; refuses what cannot work. False: it goes no further (the opener was told),
 * or not yet (openings.h). */
bool introduction_depart(struct task *opener, const struct frame *frame, const uint8_t *payload,
                         int nfds);

/* Tells the opener, anywhere, that its LINK_OPEN came to nothing, and why. */
void introduction_refuse(struct daemon *d, const struct frame *open, const uint8_t *payload,
                         const char *why);

/* A LINK_OPEN or LINK_ACCEPT arrives at a task here: adds the key, or the address of the
 * accepter's host. False: the task is gone. */
bool introduction_deliver(struct daemon *d, struct task *task, const struct frame *frame,
                          const uint8_t *payload, const int *fds, int nfds);

#endif
