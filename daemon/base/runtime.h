/*
 * runtime.h - the daemon's files: a directory for each VM with a socket and a log for each host.
 *
 *   $XDG_RUNTIME_DIR/covey/VM/HOST.sock    or, without it,   /tmp/covey-UID/VM/HOST.sock
 *
 * All are open to the owner alone. In /tmp anyone could have put something at that name: it must
 * be a directory (not a link), owned by us, mode 0700.
 */
#ifndef COVEY_DAEMON_RUNTIME_H
#define COVEY_DAEMON_RUNTIME_H

#include <stdbool.h>
#include <sys/un.h>

#include "daemon/base/failure.h"

#define RUNTIME_PATH_MAX 256
#define RUNTIME_METRICS ".metrics" /* in the place of .sock: see metrics.h */

struct runtime {
    char base[RUNTIME_PATH_MAX];      /* of all VMs */
    char directory[RUNTIME_PATH_MAX]; /* of this VM */
    char socket[sizeof((struct sockaddr_un *)0)->sun_path];
    char log[RUNTIME_PATH_MAX + 8];
    int listener; /* the listening socket, -1 */
};

/* Makes the directory and listens on the socket. What a dead daemon of that host left is replaced,
 * with `first` what all dead daemons of the VM left is removed; a
 * living daemon of that host is an error that names its process; with `first` any living daemon of
 * the VM is. Returns 0 or -1. */
int runtime_open(struct runtime *runtime, const char *vm, const char *host, bool first,
                 struct failure *why);

/* Logs that stay behind: they tell why daemons ended, until the VM is started here again. */
enum runtime_logs { RUNTIME_LOGS_NONE, RUNTIME_LOGS_LESS_OWN, RUNTIME_LOGS_ALL };

/* Removes the socket and the log, but for those of `kept`; the last daemon of the VM here also what
 * dead daemons left, and the directory when it is empty. Does nothing for one that was not opened.
 */
void runtime_close(struct runtime *runtime, enum runtime_logs kept);

/* ---- for who looks after what is left there ---- */

enum runtime_flaw {
    RUNTIME_BAD_DIRECTORY, /* a daemon would refuse it; `why` says so in words */
    RUNTIME_DEAD_SOCKET,   /* nobody listens there */
    RUNTIME_OLD_LOG        /* without a socket: its daemon ended, and was not told to */
};
typedef void runtime_flaw_fn(void *context, enum runtime_flaw flaw, const char *path,
                             const char *why);

/* Calls fn for all that is wrong in the directories of all VMs of this user; changes nothing. What
 * a daemon that is just starting or ending has there is left out. */
void runtime_survey(runtime_flaw_fn *fn, void *context);

#endif
