/*
 * covey/spawn.h - starting tasks, on hosts of choice, and ending them.
 */
#ifndef COVEY_SPAWN_H
#define COVEY_SPAWN_H

#include "base.h"
#include "message.h"

#ifdef __cplusplus
extern "C" {
#endif

enum covey_where {
    COVEY_WHERE_ANY = 0,    /* n tasks wherever they should end first */
    COVEY_WHERE_HOSTS = 1,  /* n tasks over the named hosts, in turn */
    COVEY_WHERE_OTHERS = 2, /* n tasks on any host but the caller's own */
    COVEY_WHERE_EACH = 3    /* n tasks on each host that is not withheld, or on each named host */
};

enum covey_output {
    COVEY_OUTPUT_INHERIT = 0, /* to whoever receives the caller's output (default); of a caller
                                 that was not spawned, as covey_join() was told */
    COVEY_OUTPUT_SELF = 1,    /* to the caller, as messages with tag COVEY_TAG_OUTPUT */
    COVEY_OUTPUT_DISCARD = 2
};

/* What each of the tasks will exchange with a task that is there. */
struct covey_traffic {
    covey_tid_t peer;
    uint64_t messages;
    uint64_t bytes; /* together */
};

/* What each of the tasks will need, as far as it is known; zeroed fields: it is not. */
struct covey_needs {
    double work_s;         /* time on an idle core of speed 1000; 0 counts as 1 s */
    uint64_t memory_bytes; /* that must be free */
    const struct covey_traffic *traffic;
    size_t traffic_count;
};

/* What to start. Zeroed fields mean the defaults. Strings and arrays stay the caller's. */
struct covey_spawn {
    const char *const *argv;  /* program and arguments, ends with NULL; a name without a slash is
                                 looked up in the daemon's PATH on the target host */
    const char *const *env;   /* "NAME=value" added to the daemon's environment, ends with NULL */
    const char *cwd;          /* working directory; NULL: the caller's */
    const char *const *hosts; /* host names for WHERE_HOSTS and WHERE_EACH, ends with NULL */
    int where;                /* enum covey_where */
    int output;               /* enum covey_output */
    int route;                /* route that the tasks use unless they say otherwise; AUTO: the one
                                 that is forced for the caller, if any */
    int tether;               /* 1: end the tasks when the caller ends */
    const struct covey_needs *needs; /* for WHERE_ANY and WHERE_OTHERS; NULL: nothing is known */
    int input; /* 1: the first task reads what covey_input() gives it; otherwise, and the others,
                  nothing: /dev/null */
    const char *arch; /* only on hosts of that architecture, as `uname -m`; a named host of another
                         one is an error. NULL: any */
};

/* The number of tasks that covey_spawn() will start: n, or n a host for WHERE_EACH.
 * Errors: ENOHOST, EDAEMON. */
int covey_spawn_count(covey_t *vm, const struct covey_spawn *what, int n);

/* Starts tasks and returns how many started. `tids` has covey_spawn_count() entries: the tid of
 * each task, or a negative error code (ENOENT, EEXEC, ERESOURCE, EHOSTFAIL ...) for each that
 * could not be started. A program that was started and then failed counts as started: its end is
 * reported by covey_notify(), however long ago it was. Output (COVEY_OUTPUT_SELF) arrives as
 * messages from the task with tag COVEY_TAG_OUTPUT, to be read with covey_unpack_output(). Errors
 * of the whole call: EINVAL, ENOHOST, EDAEMON, ENOMEM. */
int covey_spawn(covey_t *vm, const struct covey_spawn *what, int n, covey_tid_t *tids);

/* Gives the task `tid`, which the caller spawned with input = 1, n bytes to read from its standard
 * input, or the end when n is 0. Waits until the task has taken them, but for what a pipe holds; of
 * several threads only one calls this for a task. Errors: EINVAL, ENOTASK (it has ended, or reads
 * no more), EHOSTFAIL, EDAEMON, ENOMEM. */
int covey_input(covey_t *vm, covey_tid_t tid, const void *bytes, size_t n);

/* A host as covey_spawn() sees it; `share` and `end_s` are of the first task that it gets, or would
 * have got, and negative where the caller chose the hosts. */
struct covey_place {
    int32_t host;  /* index */
    int32_t tasks; /* that it gets */
    double share;  /* of a core */
    double end_s;  /* expected time of the task */
    char name[64];
    char why[160]; /* one line */
};

/* Where covey_spawn() with the same arguments would start the tasks at the moment, and why: sets
 * *places (free with covey_free()) to the hosts that could be used and returns their number. Starts
 * nothing. Errors: as covey_spawn(). */
int covey_place(covey_t *vm, const struct covey_spawn *what, int n, struct covey_place **places);

/* How many tasks would have a processor each at the moment, on the hosts that covey_spawn() with
 * the same `what` could use: sets *places (free with covey_free()) to these hosts and returns their
 * number. `tasks` of a host is its cores less what competes for them, rounded, and no more than
 * there is memory for (`needs`); hosts that share processors get them in turn. Where none is free,
 * the host on which a task should end first has 1. Starts nothing. Errors: as covey_spawn(). */
int covey_place_idle(covey_t *vm, const struct covey_spawn *what, struct covey_place **places);

/* Reads an output message: *stream is 1 (standard output) or 2 (standard error), *text whole
 * lines of *bytes bytes that belong to the message, not ended by a NUL. Errors: ETYPE, EEND. */
int covey_unpack_output(covey_msg_t *msg, int *stream, const char **text, size_t *bytes);

/* The tasks that one covey_spawn() started with the caller, itself among them, in the order of that
 * call's `tids`, which may be told only when that has ended; the caller alone when nobody spawned
 * it. Sets *tids (free with covey_free()) and returns their number. Errors: ENOTASK (the spawner
 * has ended), ENOENT (it has spawned thousands since), EDAEMON, ENOMEM. */
int covey_siblings(covey_t *vm, covey_tid_t **tids);

/* Ends a task: SIGTERM, and SIGKILL to what is left of it after 3 s. Errors: ENOTASK, EHOSTFAIL. */
int covey_kill(covey_t *vm, covey_tid_t tid);

/* Sends a signal to a task. Errors: ENOTASK, EHOSTFAIL, EINVAL (signal number). */
int covey_signal(covey_t *vm, covey_tid_t tid, int signal_number);

/* ---- In the daemon's place --------------------------------------------------------------- */

/* The caller starts the tasks of its host from now on, whoever spawns them: each comes as a message
 * with `tag`, whose source is the daemon, to be read by covey_unpack_order(). A negative tag: no
 * longer. What was ordered and neither said to have started nor enrolled is started by the daemon
 * when the caller gives back, leaves or dies. Errors: EEXIST (another task does), EINVAL, EDAEMON.
 */
int covey_tasker(covey_t *vm, int tag);

/* A task to be started: a process with these arguments, and these variables besides the caller's
 * own, by which it becomes that task when it joins. Where its output goes is the caller's affair.
 */
struct covey_start_order {
    covey_tid_t tid, parent;
    const char *program; /* where it lies */
    const char *cwd;
    const char *const *argv, *const *env; /* end with NULL */
};

/* Reads an order; free it with covey_free(). Errors: ETYPE, EEND, EPROTO, ENOMEM. */
int covey_unpack_order(covey_msg_t *msg, struct covey_start_order **order);

/* Says that the ordered task was started, as this process; and that it has ended, or could not be
 * started: STATUS, SIGNAL or UNKNOWN of enum covey_exit_kind. Without the latter the task ends,
 * nobody knows how, a second after its process. Of a task that has ended, or is not the caller's,
 * nothing is told. Errors: EINVAL, EDAEMON. */
int covey_order_started(covey_t *vm, covey_tid_t tid, int32_t pid);
int covey_order_ended(covey_t *vm, covey_tid_t tid, int exit_kind, int32_t value);

#ifdef __cplusplus
}
#endif
#endif
