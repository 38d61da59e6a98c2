/*
 * route_accept.h - links that other tasks open.
 */
#ifndef COVEY_LIB_ENGINE_ROUTE_ACCEPT_H
#define COVEY_LIB_ENGINE_ROUTE_ACCEPT_H

#include <stdint.h>

struct control_link;
struct covey;
struct peer;
struct watch;

/* Takes a stream in that somebody opened; the descriptor, too. */
void route_accept_stream(struct covey *vm, int fd);
void route_listener_ready(struct covey *vm, struct watch *watch, uint32_t events);
/* The listener listens again when its pause is over. */
void route_accept_again(struct covey *vm, uint64_t now_us);
/* A LINK_OPEN came; descriptors that are taken become -1. */
void route_on_open(struct covey *vm, struct peer *peer, struct control_link *l, int *fds, int nfds);

#endif
