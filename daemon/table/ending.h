/*
 * ending.h - how the daemon ends: its tasks first, then its membership, then itself.
 */
#ifndef COVEY_DAEMON_ENDING_H
#define COVEY_DAEMON_ENDING_H

#include "daemon/base/daemon.h"

/* How it ends: what the exit status will be, and whether the others are still to be told. */
enum ending_way {
    ENDING_LEAVE,  /* asked to: says goodbye */
    ENDING_TOLD,   /* removed: the others know */
    ENDING_HALTED, /* the VM is halted: so do they */
    ENDING_FAILED  /* cut off, or could not join */
};

/* Begins to end; a second call has no effect. `text` says why in one line. */
void ending_begin(struct daemon *d, enum ending_way way, const char *text);
bool ending_under_way(const struct daemon *d);

/* What is to be left of logs: that of a daemon that was not told to end says why it did. */
enum runtime_logs ending_logs(const struct daemon *d);

/* A task of this host is gone. */
void ending_task_gone(struct daemon *d);

#endif
