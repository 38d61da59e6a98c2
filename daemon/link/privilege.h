/*
 * privilege.h - the one capability that coveyd and covey-raw may have, CAP_NET_RAW: raw sockets.
 * They have it by a file capability, or as root. coveyd gives it up when its sockets are open.
 */
#ifndef COVEY_DAEMON_PRIVILEGE_H
#define COVEY_DAEMON_PRIVILEGE_H

#include <stdbool.h>

/* Whether raw sockets may be opened now. */
bool privilege_has_raw(void);

/* Takes CAP_NET_RAW out of the effective set, so that it must be asked for, and for good also out
 * of the permitted one. Root keeps it: see privilege.c. 0 or -errno. */
int privilege_lower_raw(bool for_good);

/* Where it was not lowered for good: takes it back for a moment. 0 or -errno. */
int privilege_raise_raw(void);

/* For covey-raw: keeps CAP_NET_RAW, lowered as above, and no other capability; what it executes has
 * none at all. 0, or -errno: it is not there. */
int privilege_keep_raw(void);

/* Whether this process may watch what others send: as root, or by a CAP_NET_RAW that was handed on
 * to it. That which coveyd has as a file does not count: everybody on the machine could watch. */
bool privilege_may_capture(void);

/* Gives up all capabilities, root's too, for good: nothing is started any more. 0 or -errno. */
int privilege_drop_all(void);

#endif
