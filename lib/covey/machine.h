/*
 * covey/machine.h - the virtual machine itself: adding and removing hosts, halting, counters, logs.
 */
#ifndef COVEY_MACHINE_H
#define COVEY_MACHINE_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

enum covey_launcher {
    COVEY_LAUNCH_DEFAULT = 0, /* exec if there is a template; else what the coordinator's
                               * covey.conf says, else ssh */
    COVEY_LAUNCH_SSH = 1,     /* OpenSSH client */
    COVEY_LAUNCH_EXEC = 2,    /* a command with {host}, {user}, {port} and {command} replaced */
    COVEY_LAUNCH_LOCAL = 3    /* another virtual host on the coordinator's machine */
};

/* A host to add. Zeroed fields mean the defaults. */
struct covey_host_spec {
    const char *name;      /* the host's name in the VM */
    const char *hostname;  /* whom the launcher calls; NULL: the name */
    const char *user;      /* the user there; NULL: the launcher's choice */
    const char *template_; /* exec launcher: the command, as one shell line */
    const char *address;   /* address that others reach it by; NULL: found out */
    const char *bind;      /* address that its daemon binds to; NULL: any */
    const char *interface; /* interface whose addresses it offers; NULL: all */
    const char *coveyd; /* path of coveyd there; NULL: the coordinator's own, for ssh then PATH */
    const char *cwd;    /* working directory of the daemon there; NULL: home or / */
    const char *config; /* path of covey.conf there; NULL: the usual ones */
    const char *const *env; /* "NAME=value" for the daemon and its tasks, ended by NULL; or NULL */
    int launcher;           /* enum covey_launcher */
    int port;               /* TCP port of the ssh server there; 0: the usual one */
    int speed;              /* relative speed; 0: as its covey.conf says, 1000 by default */
    const char *arch;       /* what it must be, as `uname -m` there; NULL: anything. A host that is
                             * something else is removed again, and did not join (EADDHOST) */
};

struct covey_host_result {
    int32_t error;  /* 0 or a negative error code */
    int32_t index;  /* host index when it joined */
    char text[256]; /* why it failed, in one line */
};

/* Adds n hosts, all at once; a host that fails does not hold back the others. results has n
 * entries. Returns the number of hosts that joined. Ends within 30 s.
 * Errors of the whole call: EINVAL, EDAEMON; of a host, with the launcher's own words: EEXIST,
 * EDENIED (it does not let in, or its host key is another), ETIMEOUT, ENOENT (no coveyd), EEXEC (it
 * cannot run there), EVERSION, ERESOURCE, EADDHOST (all else). */
int covey_add_hosts(covey_t *vm, const struct covey_host_spec *specs, int n,
                    struct covey_host_result *results);

/* Ends the daemons of n named hosts and the tasks there. Returns how many were removed. */
int covey_remove_hosts(covey_t *vm, const char *const *names, int n,
                       struct covey_host_result *results);

/* Ends the whole VM: tasks, then daemons; returns when those of this host are gone. */
int covey_halt(covey_t *vm);

struct covey_stat {
    int32_t host;  /* host index */
    char name[44]; /* such as "udp.datagrams_sent" */
    uint64_t value;
};

/* The counters of the daemon with that host index, or of all when host is 0; sets *list (free
 * with covey_free()) and returns their number. Errors: EDAEMON, ENOHOST. */
int covey_stats(covey_t *vm, int host, struct covey_stat **list);

/* What the counter of that name counts, in one line; NULL: this version has no such counter. */
const char *covey_stat_help(const char *name);

/* Reads the log of the daemon with that host index from *offset on, which counts from the end when
 * it is negative: at most `size` bytes, of which a call may bring fewer. *offset becomes the place
 * behind them. Returns their number, 0: there is no more yet. Errors: EDAEMON, ENOHOST, EINVAL: its
 * log is no file, for it runs in the foreground. */
int covey_log(covey_t *vm, int host, int64_t *offset, char *text, size_t size);

#ifdef __cplusplus
}
#endif
#endif
