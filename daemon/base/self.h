/*
 * self.h - who and where this daemon is: its names, its number in the VM, and whether it
 * coordinates it.
 */
#ifndef COVEY_DAEMON_SELF_H
#define COVEY_DAEMON_SELF_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/wire/control.h"

struct daemon;

struct self {
    char name[HOST_NAME_MAX_BYTES + 1];  /* of the host */
    char program[256];                   /* where coveyd itself is */
    struct control_bootstrap invitation; /* how this daemon joins: options->join */
    struct host_room room;               /* of node_config.self */
};

/* This host's index; 0 before it joined. Its daemon's tid. */
uint32_t daemon_host(const struct daemon *d);
uint32_t daemon_tid(const struct daemon *d);
bool daemon_coordinates(const struct daemon *d);

#endif
