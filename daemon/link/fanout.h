/*
 * fanout.h - datagrams that go to each of several hosts over UDP: they are gathered, so that all
 * that one host gets leave in one segmented send (udp.c), and come in with one wake-up.
 */
#ifndef COVEY_DAEMON_FANOUT_H
#define COVEY_DAEMON_FANOUT_H

#include "daemon/base/daemon.h"
#include "proto/wire/host_set.h"

struct fanout;

struct fanout *fanout_create(void);    /* NULL: no memory */
void fanout_destroy(struct fanout *f); /* what was gathered is lost; NULL is fine */

/* A copy of a datagram of at most CAST_DATAGRAM_BYTES_MAX for each of those hosts: now, or with the
 * next fanout_flush(). */
void fanout_add(struct fanout *f, struct daemon *d, const struct host_set *to, const uint8_t *bytes,
                size_t size);
void fanout_flush(struct fanout *f, struct daemon *d);

#endif
