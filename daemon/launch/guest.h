/*
 * guest.h - joining a VM by a ticket (ticket.h): the daemon prints a line for whoever runs it and
 * fetches its invitation itself, from one of the addresses of the ticket.
 */
#ifndef COVEY_DAEMON_GUEST_H
#define COVEY_DAEMON_GUEST_H

#include "daemon/launch/ticket.h"

struct guest {
    struct ticket ticket;
    struct ticket_keys keys;
};

/* Reads the ticket and prints the line on standard output. 0, or -1 with *why. */
int guest_begin(struct guest *guest, const char *ticket, struct failure *why);

/* Fetches the invitation within half a minute. *connection stays open: who invites waits there for
 * the line that says that this host has joined. 0, or -1 with *why. */
int guest_fetch(struct guest *guest, struct control_bootstrap *invitation, int *connection,
                struct failure *why);

#endif
