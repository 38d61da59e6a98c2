/*
 * hoster.h - the hoster: a task that starts daemons on new hosts.
 */
#ifndef COVEY_PVM3_HOSTER_H
#define COVEY_PVM3_HOSTER_H

#include "lib/covey.h"

/* Who it is, for this task; 0: the VM's daemons start hosts, as nobody else does or the caller is
 * the hoster. */
int hoster_tid(void);

/* covey_add_hosts() by it. What it has not started when it ends the daemons start. */
int hoster_add(int hoster, char **names, int count, struct covey_host_result *results);

/* The error that it gave as a word, or 0. */
int hoster_error(const char *text);

#endif
