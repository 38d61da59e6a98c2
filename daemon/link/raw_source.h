/*
 * raw_source.h - where this daemon's packet sockets come from: its own CAP_NET_RAW, or the program
 * covey-raw, which has it alone and hands them on.
 */
#ifndef COVEY_DAEMON_RAW_SOURCE_H
#define COVEY_DAEMON_RAW_SOURCE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/base/failure.h"
#include "daemon/link/nic.h"

struct raw_source;

/* For that interface and EtherType. `own`: by our own privilege; otherwise covey-raw is started, a
 * child that is the caller's to reap: see raw_source_child(). NULL and *why. */
struct raw_source *raw_source_open(const struct nic *nic, uint16_t type, bool own,
                                   struct failure *why);
void raw_source_close(struct raw_source *source); /* covey-raw ends; NULL is fine */

pid_t raw_source_child(const struct raw_source *source); /* 0: there is none */

/* A socket of raw_socket_open(), the caller's. -1 and *why; covey-raw has two seconds. */
int raw_source_get(struct raw_source *source, uint32_t channel, uint32_t vm, struct failure *why);

#endif
