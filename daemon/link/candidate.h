/*
 * candidate.h - the addresses by which others may reach this host.
 */
#ifndef COVEY_DAEMON_CANDIDATE_H
#define COVEY_DAEMON_CANDIDATE_H

#include "daemon/base/failure.h"
#include "proto/wire/address.h"

struct candidate_wish {
    bool local;            /* 127.0.0.1 and nothing else */
    bool loopback;         /* the same where no interface has an address */
    bool ipv6;             /* the socket can do IPv6 */
    const char *bind;      /* the socket's own address, advertised when there is no `address` */
    const char *address;   /* advertise this one only; NULL or "": those that are found */
    const char *interface; /* of this interface only; NULL or "": of all */
    uint16_t port;
};

/* Fills list[HOST_ADDRESSES_MAX] and returns the count (> 0), or -1. An interface must be up and
 * not loopback, unless `loopback` says so and there is no other; IPv4 comes before IPv6; link-local
 * addresses only when there is nothing else.
 * Names are never looked up: a hosts file that says 127.0.1.1 is not asked. */
int candidate_list(const struct candidate_wish *wish, struct address *list, struct failure *why);

#endif
