/*
 * privilege.h - the one capability that coveyd may have, CAP_NET_RAW: raw sockets. It has it by the
 * file capability that `make install` sets, or as root, and gives it up when its sockets are open.
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

#endif
