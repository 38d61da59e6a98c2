/*
 * covey/join.h - becoming a task of a virtual machine, and the routes that its messages take.
 */
#ifndef COVEY_JOIN_H
#define COVEY_JOIN_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

enum covey_route {
    COVEY_ROUTE_AUTO = 0, /* shm on one host, otherwise chosen per pair, see covey_route(3) */
    COVEY_ROUTE_SHM = 1,  /* shared memory, one host */
    COVEY_ROUTE_UDP = 2,  /* datagrams through the daemons */
    COVEY_ROUTE_TCP = 3,  /* a stream straight between the two tasks */
    COVEY_ROUTE_ETHER = 4 /* raw Ethernet */
};

enum covey_role {
    COVEY_ROLE_TASK = 0,   /* an ordinary task */
    COVEY_ROLE_CONSOLE = 1 /* a console: not listed among the tasks */
};

/* How to enrol; all zero means: as the environment says (see covey_intro(3)). */
struct covey_options {
    const char *vm;      /* VM name; NULL: as covey_vm_default() says */
    const char *socket;  /* the daemon's socket; NULL: $COVEY_SOCKET, otherwise found by name */
    const char *command; /* what covey ps shows; NULL: the program's own command line */
    int role;            /* enum covey_role */
    int route;           /* enum covey_route; AUTO: $COVEY_ROUTE, otherwise AUTO */
    size_t buffer_bytes; /* unexpected messages kept while the task computes; 0: 16 MiB */
    int output; /* enum covey_output: of a program that was not spawned, where the output of
                   its tasks goes that are to inherit; INHERIT: its own output */
};

/* Enrols the process and sets *vm. options may be NULL. A process may enrol several times, each
 * time as a further task. A spawned process gets the tid under which it was spawned.
 * What the tasks print that a program spawns which was started by hand, and those that they spawn,
 * the library prints there, on descriptors 1 and 2; and on 2, in one line, that a signal ended one
 * of them. $COVEY_OUTPUT may be "print", "tag" (each line begins with the tid of its task) or
 * "none". The field `output` sets another way, DISCARD or SELF.
 * Ends within 15 s. Errors: EINVAL, EDAEMON (no daemon), ETIMEOUT (it takes nobody in, or does not
 * answer), EVERSION, EDENIED, ENOMEM, ERESOURCE. */
int covey_join(covey_t **vm, const struct covey_options *options);

/* Ends the membership and sets *vm to NULL: sends what is still queued (at most 10 s), then tells
 * the daemon. Requests and groups of the handle must not be used afterwards. NULL is fine. When the
 * process exits it leaves by itself, and the handle then stays, for handlers and threads that come
 * later: their calls end with EDAEMON. */
void covey_leave(covey_t **vm);

/* The task's own tid. */
covey_tid_t covey_mytid(const covey_t *vm);

/* The tid of the task that spawned this one, or COVEY_NO_PARENT. */
covey_tid_t covey_parent(const covey_t *vm);

/* The name of the host this task runs on, and of the VM; they belong to the handle. */
const char *covey_myhost(const covey_t *vm);
const char *covey_vm_name(const covey_t *vm);

/* The name of the VM where none is said: $COVEY_VM; in a job of Slurm, PBS, LSF or Grid Engine
 * "job-" with the job's number; otherwise "default". Writes at most `size` bytes, cut if that is
 * too few (64 are not), and returns `name`. */
const char *covey_vm_default(char *name, size_t size);

/* The host part of a tid: the index of its host, > 0. */
int covey_tid_host(covey_tid_t tid);

/* The task for people to read, such as "t40003 on berta": writes at most `size` bytes, cut if that
 * is too few (COVEY_TID_NAME_BYTES are not), and returns `name`. A host that is gone is called
 * "host 2", which all are when vm is NULL. For messages about errors: it cannot fail, and leaves
 * covey_error_text() as it is. Asks the own daemon about another host. */
#define COVEY_TID_NAME_BYTES 96
const char *covey_tid_name(covey_t *vm, covey_tid_t tid, char *name, size_t size);

/* Forces the route for all later messages to `tid`, or to every task when tid is COVEY_ANY_TASK:
 * ETHER then to those on other hosts, while those on this one are reached as by AUTO.
 * Order is kept across the change. Errors: EINVAL, EROUTE (that route cannot work). */
int covey_set_route(covey_t *vm, covey_tid_t tid, int route);

/* The route that the next message to `tid`, a short one, takes (enum covey_route, never AUTO once a
 * message was sent). Errors: EINVAL. */
int covey_route(covey_t *vm, covey_tid_t tid);

/* The name of a route ("shm"), and the route of a name; EINVAL for an unknown name. */
const char *covey_route_name(int route);
int covey_route_parse(const char *name);

/* Whom a route reaches: COVEY_REACH_INSIDE, COVEY_REACH_OUTSIDE, or the sum; 0: there is no such
 * route. Routes are numbered from 0 without gaps. */
enum covey_reach {
    COVEY_REACH_INSIDE = 1, /* tasks of the same host */
    COVEY_REACH_OUTSIDE = 2 /* tasks of other hosts */
};
int covey_route_reach(int route);

/* Where the time went since covey_join(), over all threads, in seconds of wall clock: waiting for
 * messages (idle), and all else inside calls that take the handle: sending, copying, asking
 * (communication). What remains of the elapsed time is the program's own (Schmidt & Sunderam,
 * section 3); packing and unpacking, which know no handle, count as that. */
struct covey_timing {
    double elapsed_s;
    double idle_s;
    double communication_s;
};
int covey_timing(covey_t *vm, struct covey_timing *timing);

#ifdef __cplusplus
}
#endif
#endif
