/*
 * veth.h - a pair of Ethernet interfaces that are each other's wire, in a network namespace of
 * their own, with a packet socket on either. Needs root.
 */
#ifndef COVEY_TESTS_UNIT_VETH_H
#define COVEY_TESTS_UNIT_VETH_H

#include "proto/wire/ether.h"

#include <stdbool.h>

/* Sockets take frames of `type`; of those that come, loss_ppm of a million get lost. Both last as
 * long as one of the sockets does. 0, or -1: not allowed here. */
int veth_open(int mtu, uint16_t type, uint32_t loss_ppm, int fds[2], struct address at[2]);

/* Whether veth_open() works here; tried once. */
bool veth_allowed(void);

#endif
