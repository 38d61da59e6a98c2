/*
 * covey/base.h - the words that all others use: tids, timeouts, errors.
 */
#ifndef COVEY_BASE_H
#define COVEY_BASE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define COVEY_VERSION_MAJOR 0
#define COVEY_VERSION_MINOR 1
#define COVEY_VERSION_PATCH 0
#define COVEY_VERSION "0.1.0"

/* A task's number: positive, opaque to programs; 12 bits host, 18 bits local (as in PVM 3). */
typedef int32_t covey_tid_t;

/* A task's membership of one VM. In C++ covey is the namespace of covey.hpp. */
#ifdef __cplusplus
typedef struct covey_vm covey_t;
#else
typedef struct covey covey_t;
#endif

#define COVEY_ANY_TASK ((covey_tid_t)-1) /* receive: from any task */
#define COVEY_NO_TASK ((covey_tid_t)0)   /* nobody */
#define COVEY_ANY_TAG (-1)               /* receive: any tag >= 0 */
#define COVEY_FOREVER ((int64_t)-1)      /* timeout: none */
#define COVEY_POLL ((int64_t)0)          /* timeout: do not wait */
#define COVEY_NO_PARENT ((covey_tid_t)0) /* covey_parent(): not spawned by a task */

#define COVEY_MESSAGE_BYTES_MAX ((uint64_t)1 << 40) /* the largest message */

/* Tags above this value are the library's own; programs use 0 .. COVEY_TAG_MAX. */
#define COVEY_TAG_MAX 0x3fffffff
#define COVEY_TAG_OUTPUT 0x40000001 /* a piece of a task's output, see covey_spawn() */

enum covey_error {
    COVEY_OK = 0,
    COVEY_EINVAL = -1,     /* an argument is out of range */
    COVEY_ENOMEM = -2,     /* memory is exhausted, or the message is larger than memory */
    COVEY_ETIMEOUT = -3,   /* the time allowed ran out, or nothing is there yet (COVEY_POLL) */
    COVEY_ENOTASK = -4,    /* no such task, or it has ended */
    COVEY_ENOHOST = -5,    /* no such host in the VM */
    COVEY_EHOSTFAIL = -6,  /* the host died or was cut off */
    COVEY_ETYPE = -7,      /* unpacking: the message holds another type or too few elements */
    COVEY_EEND = -8,       /* unpacking: the message has no further item */
    COVEY_ETOOBIG = -9,    /* the message would exceed COVEY_MESSAGE_BYTES_MAX */
    COVEY_EROUTE = -10,    /* the forced route cannot work between these two tasks */
    COVEY_EDAEMON = -11,   /* no daemon runs here, or it ended */
    COVEY_EVERSION = -12,  /* the other side speaks another version */
    COVEY_EDENIED = -13,   /* not allowed */
    COVEY_ENOENT = -14,    /* spawn: no such program or directory on that host; no such token */
    COVEY_EEXEC = -15,     /* spawn: the program is there but could not be executed */
    COVEY_ERESOURCE = -16, /* processes, descriptors or another limit is exhausted */
    COVEY_ENOGROUP = -17,  /* no such group, or not a member of it */
    COVEY_EEXIST = -18,    /* it is there already */
    COVEY_ECANCELED = -19, /* the request was cancelled */
    COVEY_ETRUNC = -20,    /* the caller's array is too small for what arrived */
    COVEY_EPROTO = -21,    /* a peer broke the protocol */
    COVEY_ESYS = -22,      /* a system call failed; covey_error_text() names it */
    COVEY_EHALT = -23,     /* the VM is being halted */
    COVEY_EADDHOST = -24   /* a host could not be started; the text gives the launcher's words */
};

/* The fixed English text of an error code (or of 0); never NULL. */
const char *covey_strerror(int error);

/* One line with the exact cause of the calling thread's last failed call; never NULL. It belongs
 * to the library and stays valid until the thread's next call. */
const char *covey_error_text(void);

/* The version of the library that runs, as "0.1.0". */
const char *covey_version(void);

/* Frees an array that a covey_ call allocated (host, task and statistics lists). NULL is fine. */
void covey_free(void *array);

#ifdef __cplusplus
}
#endif
#endif
