/*
 * nic.h - the network interface that raw Ethernet goes over: the one that is named, or the one that
 * has an IP address.
 */
#ifndef COVEY_DAEMON_NIC_H
#define COVEY_DAEMON_NIC_H

#include <net/if.h>
#include <stddef.h>

#include "daemon/base/failure.h"
#include "proto/wire/address.h"

struct nic {
    char name[IF_NAMESIZE];
    int index;
    size_t mtu;         /* bytes of payload of a frame */
    struct address mac; /* ADDRESS_ETHER */
};

/* The interface of that name or, if it is "" or NULL, the one that has `ip`, an address of
 * ADDRESS_IPV4 or ADDRESS_IPV6. It must be up and Ethernet. 0, or -1 and why. */
int nic_find(struct nic *nic, const char *name, const struct address *ip, struct failure *why);

#endif
