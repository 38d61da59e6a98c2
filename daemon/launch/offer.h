/*
 * offer.h - `coveyd --offer`: a launcher that has another program start the daemon, one that runs a
 * command on a host and gives back its first line, but cannot write to it. The VM's key does not
 * pass through that program; see ticket.h.
 */
#ifndef COVEY_DAEMON_OFFER_H
#define COVEY_DAEMON_OFFER_H

#include "daemon/base/failure.h"
#include "daemon/base/options.h"

/* The operands are the program with its arguments, then the word `run` and the words of the command
 * that starts coveyd there. The program gets two more: the host's tid, and the command as one line
 * for a shell. Standard input has the invitation, as for coveyd there. 0, or -1 with *why. */
int offer(const struct options *options, struct failure *why);

#endif
