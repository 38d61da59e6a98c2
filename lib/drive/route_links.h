/*
 * route_links.h - what opens and takes in links, by route: route_shm.c, route_tcp.c, direct.c.
 */
#ifndef COVEY_LIB_DRIVE_ROUTE_LINKS_H
#define COVEY_LIB_DRIVE_ROUTE_LINKS_H

#include "lib/member/routes.h"

#include <stdint.h>

struct watch;

extern const struct route_ops shm_ops, tcp_ops, ether_ops;

void route_listener_ready(struct covey *vm, struct watch *watch, uint32_t events);
/* The listener listens again when its pause is over. */
void route_accept_again(struct covey *vm, uint64_t now_us);

#endif
