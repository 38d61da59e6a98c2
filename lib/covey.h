/*
 * covey.h - the task library of Covey: a pool of hosts as one virtual machine.
 *
 * A program enrols with covey_join() and then is a task of a virtual machine (VM): it can start
 * other tasks, exchange typed messages with them, form groups and be told of events. Every call
 * takes the handle that covey_join() gave. A handle may be used by several threads at once; a
 * message may be used by one thread at a time.
 *
 * Units and shapes. Times are microseconds in int64_t (`_us`); sizes are bytes unless the name
 * says elements. Strides are in elements, as in PVM: 1 is contiguous.
 *
 * Errors. Calls return 0 or a count >= 0 on success and one of enum covey_error (< 0) on failure;
 * covey_strerror() gives its text and covey_error_text() the exact cause of the calling thread's
 * last failure. Outputs are set only on success, unless a call says otherwise.
 *
 * Ownership. A call that takes `covey_msg_t **` takes the message over and sets the pointer to
 * NULL when it succeeds; when it fails the caller still owns it. What a call allocates for the
 * caller is freed by the function its comment names.
 */
#ifndef COVEY_H
#define COVEY_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define COVEY_VERSION_MAJOR 0
#define COVEY_VERSION_MINOR 1
#define COVEY_VERSION_PATCH 0
#define COVEY_VERSION "0.1.0"

/* ---- Basic types ------------------------------------------------------------------------- */

/* A task's number: positive, opaque to programs; 12 bits host, 18 bits local (as in PVM 3). */
typedef int32_t covey_tid_t;

typedef struct covey covey_t;                   /* a task's membership of one VM */
typedef struct covey_msg covey_msg_t;           /* a message: a list of typed arrays */
typedef struct covey_req covey_req_t;           /* a non-blocking send or receive under way */
typedef struct covey_group covey_group_t;       /* membership of one named group */
typedef struct covey_team covey_team_t;         /* tasks in a fixed order, for collective calls */
typedef struct covey_session covey_session_t;   /* membership of one session, with agreed views */
typedef struct covey_bag covey_bag_t;           /* an attachment to a bag of work */
typedef struct covey_topology covey_topology_t; /* switches, hosts and links of a network */
typedef struct covey_schedule covey_schedule_t; /* when each message of an all-to-all goes */
typedef struct covey_exchange_plan
    covey_exchange_plan_t; /* an exchange to be run again and again */

#define COVEY_ANY_TASK ((covey_tid_t)-1) /* receive: from any task */
#define COVEY_ANY_TAG (-1)               /* receive: any tag >= 0 */
#define COVEY_FOREVER ((int64_t)-1)      /* timeout: none */
#define COVEY_POLL ((int64_t)0)          /* timeout: do not wait */
#define COVEY_NO_PARENT ((covey_tid_t)0) /* covey_parent(): not spawned by a task */

#define COVEY_MESSAGE_BYTES_MAX ((uint64_t)1 << 40) /* the largest message */

/* Tags at and above this value are the library's own; programs use 0 .. COVEY_TAG_MAX. */
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

/* ---- Enrolment --------------------------------------------------------------------------- */

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
    const char *vm;      /* VM name; NULL: $COVEY_VM, otherwise "default" */
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

/* The host part of a tid: the index of its host, > 0. */
int covey_tid_host(covey_tid_t tid);

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

/* ---- Hosts and tasks --------------------------------------------------------------------- */

enum covey_host_state {
    COVEY_HOST_JOINING = 1,
    COVEY_HOST_UP = 2,
    COVEY_HOST_SUSPECT = 3,
    COVEY_HOST_DOWN = 4
};

struct covey_host {
    int32_t index;         /* > 0; the host part of its tasks' tids */
    int32_t state;         /* enum covey_host_state */
    int32_t cores;         /* processors that its daemon may use */
    int32_t speed;         /* relative speed, 1000 is the default */
    int32_t coordinator;   /* 1: this daemon coordinates the VM */
    int32_t big_endian;    /* 1: the host's byte order is big-endian */
    uint64_t memory_bytes; /* physical memory */
    uint64_t incarnation;  /* grows each time the daemon starts anew */
    char name[64];
    char id[40];      /* the host's UUID as text */
    char address[64]; /* address:port of its daemon as this daemon reaches it */
    char arch[32];    /* as `uname -m` */
};

/* All hosts of the VM by index; sets *list (free with covey_free()) and returns their number.
 * Errors: EDAEMON, ENOMEM. */
int covey_hosts(covey_t *vm, struct covey_host **list);

/* A task runs from the moment its program is executed, whether or not it enrols. */
enum covey_task_state { COVEY_TASK_STARTING = 1, COVEY_TASK_RUNNING = 2, COVEY_TASK_ENDING = 3 };

struct covey_task {
    covey_tid_t tid;
    covey_tid_t parent;
    covey_tid_t output; /* who receives its output; 0: nobody */
    int32_t host;       /* host index */
    int32_t pid;
    int32_t state; /* enum covey_task_state */
    char command[128];
};

/* The tasks on the host with that index, or on all hosts when host is 0; sets *list (free with
 * covey_free()) and returns their number. Errors: EDAEMON, ENOHOST, ENOMEM. */
int covey_tasks(covey_t *vm, int host, struct covey_task **list);

/* Both at once, for a look that must not wait for a host that is silent: all daemons are asked side
 * by side, and one that does not answer within the timeout is listed as COVEY_HOST_SUSPECT, without
 * its tasks, one that does as COVEY_HOST_UP. Sets *hosts and *tasks (free both with covey_free())
 * and *task_count; returns the number of hosts. Errors: EINVAL, EDAEMON, ENOMEM. */
int covey_survey(covey_t *vm, int64_t timeout_us, struct covey_host **hosts,
                 struct covey_task **tasks, int *task_count);

/* How busy a host is, and how fast. What is not known is negative. Rates are of the `interval_s`
 * seconds that ended `age_s` ago. Where the host's control group has a limit of its own, cores,
 * busy, pressure and free memory are the group's. See covey_host_stats(3). */
struct covey_host_stat {
    int32_t host;     /* index */
    int32_t known;    /* 0: its daemon did not answer, and all else is unknown */
    uint64_t machine; /* hosts that share processors have the same; 0: not known */
    double age_s;
    double interval_s; /* 0: there are no rates yet */
    double cores;      /* a quota may leave a fraction */
    double load_1m;    /* load averages, tasks */
    double load_5m;
    double load_15m;
    double cpu_busy;     /* share of the cores, 0 to 1 */
    double cpu_pressure; /* share of the last 10 s in which something waited for a core, 0 to 1 */
    double demand;       /* how many compete for the cores */
    double memory_total_bytes;
    double memory_used_bytes; /* without what caches would give back */
    double memory_free_bytes;
    double interrupts_per_s;
    double switches_per_s; /* of context */
    double disk_read_bytes_per_s;
    double disk_written_bytes_per_s;
    double net_received_bytes_per_s; /* all interfaces but the loopback */
    double net_sent_bytes_per_s;
    double tasks;         /* of the VM */
    double tasks_young;   /* of those: started so lately that the rates lack them, in parts */
    double integer_per_s; /* operations of one core */
    double float_per_s;
    double pack_bytes_per_s; /* doubles into a message, one core */
    double measured_age_s;   /* of these three */
    double clock_s;          /* its time of day when it answered, seconds since 1970 */
};

/* The hosts as covey_survey() gives them, and (*stats)[i] of (*hosts)[i]; all daemons are asked
 * side by side, and one that does not answer within the timeout is COVEY_HOST_SUSPECT. Free both
 * with covey_free(); returns the number of hosts. Errors: EINVAL, EDAEMON, ENOMEM. */
int covey_host_stats(covey_t *vm, int64_t timeout_us, struct covey_host **hosts,
                     struct covey_host_stat **stats);

/* The time of day on the host with that index, in microseconds since 1970, and by how much the
 * caller's clock is ahead of that one, give or take half the way there and back. Either may be
 * NULL. Errors: EINVAL, EDAEMON, ENOHOST, EHOSTFAIL, EPROTO, ETIMEOUT, ENOMEM. */
int covey_host_clock(covey_t *vm, int host, int64_t *time_us, int64_t *ahead_us);

/* Has the daemon with that host index, or all when host is 0, measure anew how fast a core is, and
 * waits for it: some tens of milliseconds of a core. What they measured is then in
 * covey_host_stats(). Returns how many did. Errors: EINVAL, EDAEMON, ENOHOST, ERESOURCE, ETIMEOUT,
 * ENOMEM. */
int covey_measure(covey_t *vm, int host);

/* ---- Starting and ending tasks ----------------------------------------------------------- */

enum covey_where {
    COVEY_WHERE_ANY = 0,    /* n tasks wherever they should end first */
    COVEY_WHERE_HOSTS = 1,  /* n tasks over the named hosts, in turn */
    COVEY_WHERE_OTHERS = 2, /* n tasks on any host but the caller's own */
    COVEY_WHERE_EACH = 3    /* n tasks on each host (on each named host, if hosts are named) */
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

/* ---- Starting tasks in the daemon's place ------------------------------------------------ */

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

/* ---- Messages: packing ------------------------------------------------------------------- */

enum covey_type {
    COVEY_INT8 = 1,
    COVEY_INT16 = 2,
    COVEY_INT32 = 3,
    COVEY_INT64 = 4,
    COVEY_UINT8 = 5,
    COVEY_UINT16 = 6,
    COVEY_UINT32 = 7,
    COVEY_UINT64 = 8,
    COVEY_FLOAT = 9,
    COVEY_DOUBLE = 10,
    COVEY_COMPLEX_FLOAT = 11,  /* two floats: real, imaginary */
    COVEY_COMPLEX_DOUBLE = 12, /* two doubles: real, imaginary */
    COVEY_STRING = 13,         /* one string; the count is its length in bytes without the NUL */
    COVEY_BYTES = 14,          /* uninterpreted bytes */
    COVEY_MESSAGE = 15         /* one nested message; the count is its size in bytes */
};

/* The size in bytes of one element (1 for STRING, BYTES and MESSAGE), 0 for an unknown type. */
size_t covey_type_size(int type);

/* The name of a type ("int32"); "unknown" for an unknown one. */
const char *covey_type_name(int type);

/* A new empty message, or NULL when memory is exhausted. Free it with covey_msg_free(). */
covey_msg_t *covey_msg_new(void);

/* Frees a message; NULL is fine. */
void covey_msg_free(covey_msg_t *msg);

/* Empties a message for reuse. */
void covey_msg_reset(covey_msg_t *msg);

/* Starts reading again at the first item. */
void covey_msg_rewind(covey_msg_t *msg);

/* Adds an array of `count` elements of `type`, every stride-th element of base, by copy.
 * Errors: EINVAL (type, stride 0 with count > 1), ENOMEM, ETOOBIG. */
int covey_pack(covey_msg_t *msg, int type, const void *base, size_t count, ptrdiff_t stride);

/* Adds a contiguous array without copying it: base must stay valid and unchanged until the
 * message was sent (or freed), for covey_isend() until its request is complete. */
int covey_pack_inplace(covey_msg_t *msg, int type, const void *base, size_t count);

int covey_pack_string(covey_msg_t *msg, const char *text); /* a NUL-terminated string */
int covey_pack_bytes(covey_msg_t *msg, const void *bytes, size_t count);
int covey_pack_msg(covey_msg_t *msg, const covey_msg_t *nested); /* a copy of a whole message */

/* Takes the next item into every stride-th element of base. The item must have exactly that type
 * and at least the elements still wanted; the rest of an item stays for the next call.
 * Errors: ETYPE (the text names both types and counts), EEND, EINVAL. */
int covey_unpack(covey_msg_t *msg, int type, void *base, size_t count, ptrdiff_t stride);

/* The type and number of remaining elements of the next item, without taking it. Error: EEND. */
int covey_peek(const covey_msg_t *msg, int *type, size_t *count);

/* The rest of the next item without a copy: *base belongs to the message, is aligned for the type
 * and lives until more is packed or the message freed. Errors: ETYPE, EEND. */
int covey_unpack_view(covey_msg_t *msg, int type, const void **base, size_t *count);

/* The next item, a string, into text[capacity] with a NUL. Errors: ETRUNC, ETYPE, EEND. */
int covey_unpack_string(covey_msg_t *msg, char *text, size_t capacity);
int covey_unpack_bytes(covey_msg_t *msg, void *bytes, size_t count);

/* The next item, a nested message, as a message of its own that the caller frees. */
int covey_unpack_msg(covey_msg_t *msg, covey_msg_t **nested);

#define COVEY_PACK_TYPED(suffix, ctype, type)                                                      \
    static inline int covey_pack_##suffix(covey_msg_t *msg, const ctype *base, size_t count,       \
                                          ptrdiff_t stride)                                        \
    {                                                                                              \
        return covey_pack(msg, type, base, count, stride);                                         \
    }                                                                                              \
    static inline int covey_unpack_##suffix(covey_msg_t *msg, ctype *base, size_t count,           \
                                            ptrdiff_t stride)                                      \
    {                                                                                              \
        return covey_unpack(msg, type, base, count, stride);                                       \
    }

/* covey_pack_int32(msg, base, count, stride), covey_unpack_int32(...) and so on. Complex arrays
 * are given as their real and imaginary parts in turn; count and stride are in complex numbers. */
COVEY_PACK_TYPED(int8, int8_t, COVEY_INT8)
COVEY_PACK_TYPED(int16, int16_t, COVEY_INT16)
COVEY_PACK_TYPED(int32, int32_t, COVEY_INT32)
COVEY_PACK_TYPED(int64, int64_t, COVEY_INT64)
COVEY_PACK_TYPED(uint8, uint8_t, COVEY_UINT8)
COVEY_PACK_TYPED(uint16, uint16_t, COVEY_UINT16)
COVEY_PACK_TYPED(uint32, uint32_t, COVEY_UINT32)
COVEY_PACK_TYPED(uint64, uint64_t, COVEY_UINT64)
COVEY_PACK_TYPED(float, float, COVEY_FLOAT)
COVEY_PACK_TYPED(double, double, COVEY_DOUBLE)
COVEY_PACK_TYPED(complex_float, float, COVEY_COMPLEX_FLOAT)
COVEY_PACK_TYPED(complex_double, double, COVEY_COMPLEX_DOUBLE)

/* What is known of a message that was received or probed. */
struct covey_info {
    covey_tid_t source;
    int32_t tag;
    uint64_t bytes; /* size of the packed message */
};

/* Sender, tag and size of a received message; source 0 for one that was not received. */
void covey_msg_info(const covey_msg_t *msg, struct covey_info *info);

/* ---- Messages: sending and receiving ----------------------------------------------------- */

/* Sends a message and returns when the library no longer needs it (not when it was received).
 * While it waits the task goes on receiving. tag is 0 .. COVEY_TAG_MAX.
 * Errors: EINVAL, ENOTASK, EHOSTFAIL, EROUTE, ETOOBIG, ENOMEM (larger than the receiver's
 * memory), EDAEMON. */
int covey_send(covey_t *vm, covey_tid_t tid, int tag, const covey_msg_t *msg);

/* Sends one message to n tasks. Every task that can get it gets it; the error returned is the
 * first of those that could not. The caller's own tid in the list is skipped. If the caller dies in
 * the middle some may get it and others not: covey_cast() is for all or none. */
int covey_mcast(covey_t *vm, const covey_tid_t *tids, size_t n, int tag, const covey_msg_t *msg);

enum covey_order {
    COVEY_ORDER_FIFO = 0, /* those of one sender in the order of sending */
    COVEY_ORDER_TOTAL = 1 /* all in one order, the same at all receivers */
};

/* Sends one message to n tasks so that all of them that survive get it or none, also when this task
 * or its host dies in the middle. FIFO: it has its place among the other messages to each of them;
 * at most COVEY_CAST_TASKS_MAX tasks; the caller's own tid is skipped. Total order: all such
 * messages of the VM come in one order to all who get them, the caller included if it is named; at
 * most COVEY_TOTAL_BYTES_MAX packed bytes to at most COVEY_TOTAL_MEMBERS_MAX tasks. See
 * covey_cast(3). Errors: as covey_mcast(); ETOOBIG; ERESOURCE (too many tasks). */
#define COVEY_CAST_TASKS_MAX 256
#define COVEY_TOTAL_BYTES_MAX 64000
#define COVEY_TOTAL_MEMBERS_MAX 64
int covey_cast(covey_t *vm, const covey_tid_t *tids, size_t n, int order, int tag,
               const covey_msg_t *msg);

/* One contiguous array as a message, in one call and without a copy of its own. */
int covey_send_array(covey_t *vm, covey_tid_t tid, int tag, int type, const void *base,
                     size_t count);

/* Receives the oldest message that matches: from `tid` or COVEY_ANY_TASK, with `tag` or
 * COVEY_ANY_TAG. Sets *msg, to be freed by the caller. Messages of one sender are received in the
 * order they were sent, and without a gap: of a sender that died, those up to one that was not sent
 * whole. Errors: ETIMEOUT, ENOTASK and EHOSTFAIL (the named sender ended and nothing of it is
 * left), EROUTE (its link broke in a message and it lives: nothing more comes of it), EDAEMON,
 * ENOMEM. */
int covey_recv(covey_t *vm, covey_tid_t tid, int tag, int64_t timeout_us, covey_msg_t **msg);

/* Receives a message of one array straight into base, at most `capacity` elements. info may be
 * NULL; the number of elements received is returned through *count (which may be NULL too).
 * Errors: as covey_recv(), and ETYPE, ETRUNC: the message is then still there to be received. */
int covey_recv_array(covey_t *vm, covey_tid_t tid, int tag, int64_t timeout_us, int type,
                     void *base, size_t capacity, size_t *count, struct covey_info *info);

/* Waits for a message that matches, without taking it. Errors: as covey_recv(). */
int covey_probe(covey_t *vm, covey_tid_t tid, int tag, int64_t timeout_us, struct covey_info *info);

/* A descriptor for poll() and its like, which is readable while covey_probe() would find a message
 * from any task with any tag, and from the loss of the daemon on. It stays the library's until
 * covey_leave(). A message that is found may still be coming. Errors: EINVAL, ERESOURCE. */
int covey_fd(covey_t *vm);

/* Says that the program puts so many more bytes of messages aside that it has received and has no
 * use for yet; negative: so many less. They count as if they had not been received: senders wait
 * when it is too much. Errors: EINVAL. */
int covey_keep(covey_t *vm, int64_t bytes);

/* Starts a send; takes the message over. The request is ended by covey_test(), covey_wait() or
 * covey_req_free(). It progresses while the task computes. */
int covey_isend(covey_t *vm, covey_tid_t tid, int tag, covey_msg_t **msg, covey_req_t **req);

/* The same for one contiguous array that must stay unchanged until the request is complete. */
int covey_isend_array(covey_t *vm, covey_tid_t tid, int tag, int type, const void *base,
                      size_t count, covey_req_t **req);

/* Starts a receive of a message, or of one array into base (as covey_recv_array()). */
int covey_irecv(covey_t *vm, covey_tid_t tid, int tag, covey_req_t **req);
int covey_irecv_array(covey_t *vm, covey_tid_t tid, int tag, int type, void *base, size_t capacity,
                      covey_req_t **req);

/* Whether the request is complete: 1 yes, 0 not yet, or the error it ended with. */
int covey_test(covey_req_t *req);

/* Waits until the request is complete. Errors: ETIMEOUT (it goes on), or the one it ended with. */
int covey_wait(covey_req_t *req, int64_t timeout_us);

/* Waits until one of n requests (NULL entries are skipped) is complete and returns its position.
 * Errors: ETIMEOUT, EINVAL (no request). The request's own error is given by covey_test(). */
int covey_wait_any(covey_req_t *const *reqs, size_t n, int64_t timeout_us);

/* Gives up a request. A receive that has not matched ends with ECANCELED and leaves the message
 * for others; a send of which nothing left yet ends with ECANCELED, otherwise it goes on.
 * Returns 1 when cancelled, 0 when it was too late. */
int covey_cancel(covey_req_t *req);

/* What a complete receive got: its info, its message (taken over by the caller; NULL for an array
 * receive) and the number of elements of an array receive. Each pointer may be NULL. */
int covey_req_result(covey_req_t *req, struct covey_info *info, covey_msg_t **msg, size_t *count);

/* Frees a request and sets *req to NULL. One not complete is first cancelled; a send already
 * under way is first completed. NULL is fine. */
void covey_req_free(covey_req_t **req);

/* ---- Groups ------------------------------------------------------------------------------ */

/* Joins the named group and returns the instance, the lowest number >= 0 that is free in it. Sets
 * *group, which covey_group_leave() ends. Names have 1 .. 63 bytes.
 * Errors: EINVAL, EEXIST (already a member), EDAEMON. */
int covey_group_join(covey_t *vm, const char *name, covey_group_t **group);

/* Leaves the group and sets *group to NULL. A task's end leaves all its groups. */
int covey_group_leave(covey_group_t **group);

int covey_group_instance(const covey_group_t *group); /* the caller's own instance */
int covey_group_size(covey_group_t *group);           /* number of members now */

struct covey_member {
    int32_t instance;
    covey_tid_t tid;
};

/* The members of the named group by instance, for any task, which need not be one of them: sets
 * *list (free with covey_free()) and returns their number, at least 1. Errors: EINVAL, ENOGROUP
 * (there is no such group), ENOMEM, EDAEMON. */
int covey_group_members(covey_t *vm, const char *name, struct covey_member **list);

/* The tid of an instance, and the instance of a tid. Errors: ENOTASK, EDAEMON. */
covey_tid_t covey_group_tid(covey_group_t *group, int instance);
int covey_group_instance_of(covey_group_t *group, covey_tid_t tid);

/* Waits until `count` members called it (0: all members there are). A member that ends while
 * others wait makes those waits fail with ENOTASK when the count can no longer be reached.
 * Errors: ETIMEOUT, ENOTASK, EDAEMON. */
int covey_group_barrier(covey_group_t *group, int count, int64_t timeout_us);

/* Sends a message to every other member: as covey_cast() does in the order of its sender, where
 * there are no more than COVEY_CAST_TASKS_MAX, and otherwise as covey_mcast(). Errors: as
 * covey_mcast(). */
int covey_group_bcast(covey_group_t *group, int tag, const covey_msg_t *msg);

/* covey_cast() to the members that the group has now: FIFO to all but the caller, in total order to
 * the caller, too, if it is one. Errors: as covey_cast(). */
int covey_group_cast(covey_group_t *group, int order, int tag, const covey_msg_t *msg);

/* ---- Teams --------------------------------------------------------------------------------- */

/* A team is a number of tasks in a fixed order: each has a rank, 0 .. size-1. Collective calls run
 * on teams. Making one is itself a call that all members make, in the same order at all that are
 * members of several; its messages are taken for no others, neither the program's nor another
 * team's. A handle is used by one thread at a time.
 *
 * Members stay members. When one ends, or gives up (its time ran out), and another needs it, the
 * team is broken: running and later collective calls on it end at all members with the cause. */

/* Makes a team of the tasks in that order; the caller is one of them, and all give the same list.
 * Sets *team, which covey_team_free() ends. Errors: EINVAL (a tid twice, the caller not in it, the
 * others gave another list), ENOTASK, EHOSTFAIL, ETIMEOUT, ENOMEM, EDAEMON. */
int covey_team_create(covey_t *vm, const covey_tid_t *tids, int size, int64_t timeout_us,
                      covey_team_t **team);

/* Waits until `size` members of the group called it, and makes a team of these, in the order of
 * their instances. At most COVEY_RENDEZVOUS_MAX. Errors: as covey_team_create() and
 * covey_rendezvous(). */
int covey_team_of_group(covey_group_t *group, int size, int64_t timeout_us, covey_team_t **team);

/* Divides a team: members that give the same colour form a new one, ordered by key and then by
 * rank. colour < 0: none, and *part is set to NULL. A collective call of the whole team. */
int covey_team_split(covey_team_t *team, int colour, int key, covey_team_t **part);

int covey_team_rank(const covey_team_t *team); /* the caller's own */
int covey_team_size(const covey_team_t *team);
covey_tid_t covey_team_tid(const covey_team_t *team, int rank);    /* or EINVAL */
int covey_team_rank_of(const covey_team_t *team, covey_tid_t tid); /* or ENOTASK */

/* How long each blocking collective call may take from now on; COVEY_FOREVER at first. One whose
 * time runs out gives up for all members: the team is broken. */
int covey_team_set_timeout(covey_team_t *team, int64_t timeout_us);

/* Frees the team and sets *team to NULL; not collective. What is under way is given up. NULL is
 * fine. */
void covey_team_free(covey_team_t **team);

/* ---- Operations of reductions -------------------------------------------------------------- */

enum covey_op {
    COVEY_OP_SUM = 1, /* numbers, complex ones included */
    COVEY_OP_PROD = 2,
    COVEY_OP_MIN = 3, /* numbers; of a NaN and another, the other */
    COVEY_OP_MAX = 4,
    COVEY_OP_LAND = 5, /* logical, of numbers: 0 or 1 */
    COVEY_OP_LOR = 6,
    COVEY_OP_LXOR = 7,
    COVEY_OP_BAND = 8, /* bitwise, of integers and BYTES */
    COVEY_OP_BOR = 9,
    COVEY_OP_BXOR = 10,
    COVEY_OP_MINLOC = 11, /* pairs of elements, a value and where it is: the least value, and of */
    COVEY_OP_MAXLOC = 12  /* equal ones the least place; counts are those of elements */
};

/* result[i] = left[i] op right[i] for `count` elements; result may be left or right. Called by any
 * thread of the library, without its lock; no collective call and no wait is allowed inside. */
typedef void covey_op_fn(const void *left, const void *right, void *result, size_t count, int type,
                         void *context);

/* Defines an operation and returns its number for the calls below. It is associative; commutes: 0
 * keeps the order of ranks. `grain` elements belong together (4 for matrices of 2 by 2), 1
 * otherwise: counts are then multiples of it. Every member defines it for itself.
 * Errors: EINVAL, ENOMEM. */
int covey_op_define(covey_t *vm, covey_op_fn *fn, void *context, int commutes, size_t grain);

/* ---- Collective calls ---------------------------------------------------------------------- */

/* All members call the same one with the same root, type, operation and counts, and on one team in
 * the same order; then each returns when its part is done. Arrays are contiguous, of any type but
 * STRING and MESSAGE. The covey_i... forms start the call and set *req: it progresses while the
 * task computes, the arrays stay untouched until covey_wait() or covey_test() says it is complete,
 * and covey_req_free() frees it (one not complete is given up for all: the team is broken).
 *
 * In place: where send and receive array are the same, or the own block stands already where the
 * call would put it, it is not copied. Arrays must not overlap otherwise.
 *
 * Errors of all: EINVAL (found before anything is sent), ENOTASK and EHOSTFAIL (a member ended),
 * ETIMEOUT (the time of the team ran out), ECANCELED (another member gave up), ETYPE and ETRUNC
 * (another member gave another type or count), EROUTE, ENOMEM, EDAEMON. */

/* Returns when all members called it. */
int covey_barrier(covey_team_t *team);
int covey_ibarrier(covey_team_t *team, covey_req_t **req);

/* The array of the root to all. */
int covey_bcast(covey_team_t *team, int root, int type, void *base, size_t count);
int covey_ibcast(covey_team_t *team, int root, int type, void *base, size_t count,
                 covey_req_t **req);

/* `count` elements for each member from the root, of those for rank i at send + i * count elements;
 * and in scatterv counts[i] of them at send + starts[i] elements (starts NULL: one after another).
 * send, counts and starts matter at the root alone. */
int covey_scatter(covey_team_t *team, int root, int type, const void *send, void *recv,
                  size_t count);
int covey_iscatter(covey_team_t *team, int root, int type, const void *send, void *recv,
                   size_t count, covey_req_t **req);
int covey_scatterv(covey_team_t *team, int root, int type, const void *send, const size_t *counts,
                   const size_t *starts, void *recv, size_t count);
int covey_iscatterv(covey_team_t *team, int root, int type, const void *send, const size_t *counts,
                    const size_t *starts, void *recv, size_t count, covey_req_t **req);

/* The other way: blocks of all members to the root. recv, counts and starts matter there alone. */
int covey_gather(covey_team_t *team, int root, int type, const void *send, void *recv,
                 size_t count);
int covey_igather(covey_team_t *team, int root, int type, const void *send, void *recv,
                  size_t count, covey_req_t **req);
int covey_gatherv(covey_team_t *team, int root, int type, const void *send, size_t count,
                  void *recv, const size_t *counts, const size_t *starts);
int covey_igatherv(covey_team_t *team, int root, int type, const void *send, size_t count,
                   void *recv, const size_t *counts, const size_t *starts, covey_req_t **req);

/* Blocks of all members to all: those of rank i at recv + i * count elements, and in allgatherv
 * counts[i] of them at recv + starts[i] elements; counts are the same at all. */
int covey_allgather(covey_team_t *team, int type, const void *send, void *recv, size_t count);
int covey_iallgather(covey_team_t *team, int type, const void *send, void *recv, size_t count,
                     covey_req_t **req);
int covey_allgatherv(covey_team_t *team, int type, const void *send, void *recv,
                     const size_t *counts, const size_t *starts);
int covey_iallgatherv(covey_team_t *team, int type, const void *send, void *recv,
                      const size_t *counts, const size_t *starts, covey_req_t **req);

/* A block of each member for each: send holds those for rank i at i * count elements, recv gets
 * those of rank i there. In alltoallv each pair has a count of its own: what one sends is what the
 * other receives; starts as above. */
int covey_alltoall(covey_team_t *team, int type, const void *send, void *recv, size_t count);
int covey_ialltoall(covey_team_t *team, int type, const void *send, void *recv, size_t count,
                    covey_req_t **req);
int covey_alltoallv(covey_team_t *team, int type, const void *send, const size_t *send_counts,
                    const size_t *send_starts, void *recv, const size_t *recv_counts,
                    const size_t *recv_starts);
int covey_ialltoallv(covey_team_t *team, int type, const void *send, const size_t *send_counts,
                     const size_t *send_starts, void *recv, const size_t *recv_counts,
                     const size_t *recv_starts, covey_req_t **req);

/* recv[i] = send[i] of rank 0 op that of rank 1 op ...: at the root (recv matters there alone), or
 * at all. How it is bracketed depends on the number of members and of elements; all members of an
 * allreduce have the same bits. */
int covey_reduce(covey_team_t *team, int root, int op, int type, const void *send, void *recv,
                 size_t count);
int covey_ireduce(covey_team_t *team, int root, int op, int type, const void *send, void *recv,
                  size_t count, covey_req_t **req);
int covey_allreduce(covey_team_t *team, int op, int type, const void *send, void *recv,
                    size_t count);
int covey_iallreduce(covey_team_t *team, int op, int type, const void *send, void *recv,
                     size_t count, covey_req_t **req);

/* Blocks of the result of a reduction, counts[i] elements to rank i; the same counts at all. */
int covey_reduce_scatter(covey_team_t *team, int op, int type, const void *send, void *recv,
                         const size_t *counts);
int covey_ireduce_scatter(covey_team_t *team, int op, int type, const void *send, void *recv,
                          const size_t *counts, covey_req_t **req);

/* To each member the result of those up to its rank (scan), or of those before it (exscan; recv of
 * rank 0 is left as it is). */
int covey_scan(covey_team_t *team, int op, int type, const void *send, void *recv, size_t count);
int covey_iscan(covey_team_t *team, int op, int type, const void *send, void *recv, size_t count,
                covey_req_t **req);
int covey_exscan(covey_team_t *team, int op, int type, const void *send, void *recv, size_t count);
int covey_iexscan(covey_team_t *team, int op, int type, const void *send, void *recv, size_t count,
                  covey_req_t **req);

/* Which algorithm a call takes is decided by a table, from the operation ("bcast"), the number of
 * members and the size; see covey_collectives(5). All members have the table of rank 0. */

/* The index-th algorithm of an operation, NULL behind the last. */
const char *covey_algorithm(const char *operation, int index);

/* The one that a call of so many bytes takes on this team; NULL: no such operation. */
const char *covey_team_algorithm(const covey_team_t *team, const char *operation, uint64_t bytes);

/* From now on calls of that operation take that algorithm, NULL: again the one of the table. Not
 * collective, but all members do the same. Returns 1 when it does not suit this team, where it is
 * right all the same, but no better than another. Errors: EINVAL (no such operation or algorithm).
 */
int covey_team_force(covey_team_t *team, const char *operation, const char *algorithm);

/* ---- Services of the whole VM ------------------------------------------------------------ */

/* Locks, tokens and meetings belong to the VM and are known by names of 1 .. 63 bytes, each kind by
 * its own. The daemons keep them, and a task's end gives back what it held. Numbers grow with every
 * grant in the VM: whoever guards something with a lock or a token can have the number sent along,
 * and refuse one that is smaller than the largest seen.
 *
 * Every call ends: when its time runs out, or with EDAEMON or EHOSTFAIL when the VM cannot answer
 * any more. A timeout that ran out leaves nothing behind: what was granted meanwhile is given back.
 */

/* Mutual exclusion. Waits, first come first served, until the caller holds the lock, and sets
 * *fence (may be NULL) to the number of the grant. covey_trylock() does not wait for other tasks.
 * Errors: EINVAL, EEXIST (the caller holds it or waits for it already), ETIMEOUT (another holds
 * it), ERESOURCE, EHOSTFAIL, EDAEMON. */
int covey_lock(covey_t *vm, const char *name, int64_t timeout_us, uint64_t *fence);
int covey_trylock(covey_t *vm, const char *name, uint64_t *fence);

/* Lets go of the lock, if the caller holds it under that number. Errors: EINVAL, EDENIED (it does
 * not), EHOSTFAIL, EDAEMON. */
int covey_unlock(covey_t *vm, const char *name, uint64_t fence);

/* Who holds the lock, 0 for nobody, and under which number (fence may be NULL). */
covey_tid_t covey_lock_owner(covey_t *vm, const char *name, uint64_t *fence);

/* A token is a right that one task at a time has, and that goes from task to task. Its maker holds
 * it first, and it stays until it is destroyed. When its holder ends, it goes to the next in line
 * under a new number. Errors: EINVAL, EEXIST (there is one of that name), ERESOURCE, EHOSTFAIL,
 * EDAEMON. */
int covey_token_create(covey_t *vm, const char *name, uint64_t *number);

/* Waits in line until the caller holds the token; *number (may be NULL) is what it is valid with.
 * Errors: ENOENT (no such token, or it was destroyed), EINVAL, EEXIST (the caller has it or waits
 * for it already), ETIMEOUT, EHOSTFAIL, EDAEMON. */
int covey_token_request(covey_t *vm, const char *name, int64_t timeout_us, uint64_t *number);

/* Passes the token to the next task in line (COVEY_ANY_TASK; if there is none, it rests until one
 * asks), or to the task `to`: when that one does not wait for it, its next covey_token_request()
 * gets it at once. Errors: EDENIED (the caller does not hold it under that number), ENOENT, EINVAL,
 * ENOTASK (the host of `to` is gone; the caller keeps the token), EHOSTFAIL, EDAEMON. */
int covey_token_pass(covey_t *vm, const char *name, uint64_t number, covey_tid_t to);

/* Ends the token; those who wait for it get ENOENT. While it rests, any task may, with any number.
 * Errors: EDENIED, ENOENT, EINVAL, EHOSTFAIL, EDAEMON. */
int covey_token_destroy(covey_t *vm, const char *name, uint64_t number);

/* Who holds the token, 0 while it rests, and its last number (may be NULL). Errors: ENOENT, EINVAL,
 * EHOSTFAIL, EDAEMON. */
covey_tid_t covey_token_holder(covey_t *vm, const char *name, uint64_t *number);

#define COVEY_RENDEZVOUS_MAX 256      /* tasks that meet */
#define COVEY_RENDEZVOUS_VALUE_MAX 64 /* bytes that each brings */

struct covey_party {
    covey_tid_t tid;
    int32_t bytes;
    uint8_t value[COVEY_RENDEZVOUS_VALUE_MAX];
};

/* Meets: waits until `count` tasks came under that name, each with a small value. Fills `parties`
 * (count entries, or NULL) with all of them in the order in which they came, the same for each, and
 * returns the place of the caller among them. Errors: EINVAL (others want another count), EEXIST,
 * ETIMEOUT, ENOTASK (one of those who waited has ended: all who wait get this), ERESOURCE,
 * EHOSTFAIL, EDAEMON. */
int covey_rendezvous(covey_t *vm, const char *name, int count, const void *value, size_t bytes,
                     int64_t timeout_us, struct covey_party *parties);

/* ---- Bags of work ------------------------------------------------------------------------- */

/* A bag holds items of work (agenda parallelism): any task puts, any task takes, each item has one
 * result, and each result is delivered once. It is known to the VM by a name of 1 .. 63 bytes and
 * survives the death of the daemon that holds it. A task's bytes are safe, whatever happens to one
 * host, when covey_bag_close(), or covey_bag_wait(), or covey_bag_flush() has returned. See
 * covey_bag(3).
 *
 * A taken item is leased: when the worker dies, its host dies, or the lease runs out, the item is
 * given to somebody else. When nothing else is left the last items are given twice, and the first
 * result wins. An item at which `deaths_max` workers died is set aside and reported as a result.
 *
 * A handle is used by one thread at a time. */

struct covey_bag_options {
    int64_t lease_us; /* an item that is not done by then is given again; 0: no limit */
    int deaths_max;   /* so many workers may die while they hold an item; 0: 3 */
    int in_order;     /* 1: results come in the order in which items were put */
    int keep;         /* 1: it stays when no task is attached, until covey_bag_destroy() */
    int copies;       /* hosts that have one beside the holder, 1 or 2; 0: 2; < 0: none */
};

/* Makes a bag, empty, and attaches to it. Without `keep` it ends when nobody is attached any more.
 * options may be NULL. Errors: EINVAL, EEXIST (there is one of that name), ERESOURCE, EHOSTFAIL,
 * EDAEMON, ENOMEM. */
int covey_bag_create(covey_t *vm, const char *name, const struct covey_bag_options *options,
                     covey_bag_t **bag);

/* Attaches to the bag of that name. Errors: as covey_bag_create(); ENOENT (there is none). */
int covey_bag_attach(covey_t *vm, const char *name, covey_bag_t **bag);

/* Puts an item: a copy of the bytes. Those of higher priority are given first; of one priority
 * the larger ones, and these to tasks that are fast, or (in_order) those that were put first, as
 * among items of about one size. It waits only while much is under way. Errors: EDENIED (the bag is
 * closed; perhaps of an earlier call), EHOSTFAIL, ENOENT (the bag is no more), ENOMEM, ERESOURCE (a
 * daemon that has it takes no more, see covey_bag(3); also told late), EDAEMON. */
int covey_bag_put(covey_bag_t *bag, int priority, const void *bytes, size_t size);

struct covey_bag_item {
    uint64_t number; /* counts the items of the bag from 0 in the order in which they were put */
    int32_t priority;
    int32_t deaths;    /* of workers that held it */
    const void *bytes; /* belong to the bag until covey_bag_done() or covey_bag_return() */
    size_t size;
};

/* Waits until there is an item, and takes up to `capacity` of those that are here: returns how
 * many. 0: the bag is closed and each item has its result. The next items are on their way
 * meanwhile. Errors: ETIMEOUT, and as covey_bag_put(). */
int covey_bag_take(covey_bag_t *bag, int64_t timeout_us, struct covey_bag_item *items,
                   int capacity);

/* The item is done; `result` (a copy is made) goes to whoever collects. It is not an error when
 * another worker's result came first. Errors: EINVAL (no item that this handle took), and as
 * covey_bag_put(). */
int covey_bag_done(covey_bag_t *bag, const struct covey_bag_item *item, const void *result,
                   size_t size);

/* The item is not done: it is given to somebody else, or again to this task. Errors: as
 * covey_bag_done(). */
int covey_bag_return(covey_bag_t *bag, const struct covey_bag_item *item);

struct covey_bag_result {
    uint64_t number;    /* of the item */
    covey_tid_t worker; /* 0: it was set aside */
    int32_t set_aside;  /* 1: too many workers died at it; the bytes are those of the item */
    const void *bytes;  /* belong to the bag until the next covey_bag_result() */
    size_t size;
};

/* Waits until there is a result, and takes up to `capacity` of those that are here: returns how
 * many. 0: the bag is closed and all results were taken. What a call gave counts as delivered when
 * the next one is made, or covey_bag_free(); if the task dies before, others get it. Errors: as
 * covey_bag_take(). */
int covey_bag_result(covey_bag_t *bag, int64_t timeout_us, struct covey_bag_result *results,
                     int capacity);

/* Waits until all that this handle put and did is safe. Errors: ETIMEOUT, and as covey_bag_put().
 */
int covey_bag_flush(covey_bag_t *bag, int64_t timeout_us);

/* No more items come, from any task: flushes. Errors: as covey_bag_put(). */
int covey_bag_close(covey_bag_t *bag);

/* Waits until the bag is closed and each item is done or set aside. Errors: ETIMEOUT, and as
 * covey_bag_put(). */
int covey_bag_wait(covey_bag_t *bag, int64_t timeout_us);

/* How it stands with a bag. */
struct covey_bag_info {
    char name[64];
    int32_t holder;  /* index of the host whose daemon holds it; 0: it is lost */
    int32_t backups; /* hosts that have a copy */
    int32_t tasks;   /* attached */
    int32_t closed;
    uint64_t ready, leased;                   /* items that nobody has, and that workers have */
    uint64_t results;                         /* that nobody was given yet */
    uint64_t put, done, delivered, set_aside; /* items since the beginning; results taken */
    uint64_t leases, retried, duplicated, expired; /* items given; again; twice; too late */
    uint64_t bytes;
};

/* Of this bag. Errors: as covey_bag_put(); ETIMEOUT. */
int covey_bag_info(covey_bag_t *bag, struct covey_bag_info *info);

/* Of all bags of the VM: sets *list (free with covey_free()) and returns their number. */
int covey_bags(covey_t *vm, struct covey_bag_info **list);

/* Detaches and sets *bag to NULL: what it put and did is made safe (at most 10 s), items that it
 * holds go to others. NULL is fine. covey_leave() and the end of the task do the same, without
 * waiting. */
void covey_bag_free(covey_bag_t **bag);

/* Ends the bag for all: those that use it get ENOENT. Frees the handle as covey_bag_free() does. */
int covey_bag_destroy(covey_bag_t **bag);

/* ---- Sessions, election, consensus ---------------------------------------------------------- */

/* Kept by the daemons like locks and tokens, and ended like them: see covey_services(7). */

enum covey_change {
    COVEY_VIEW_ROSTER = 0,  /* several changes at once, more than the VM keeps */
    COVEY_VIEW_JOINED = 1,  /* view->tid joined */
    COVEY_VIEW_LEFT = 2,    /* it left */
    COVEY_VIEW_ENDED = 3,   /* it ended */
    COVEY_VIEW_HOST = 4,    /* host view->host left, died or was cut off, and its members with it */
    COVEY_VIEW_EXPELLED = 5 /* view->tid was excluded by another member */
};

/* Who is in a session from this change until the next. */
struct covey_view {
    uint64_t number; /* counts the changes; never the same again under one name */
    int32_t change;  /* enum covey_change: what made it */
    covey_tid_t tid; /* whom it is about; 0: see change */
    int32_t host;
    int32_t count;              /* of members */
    const covey_tid_t *members; /* in the order of joining; the session's, until its next call */
};

/* Joins the named session, which is there while it has members. All members see the same views in
 * the same order, each from the one by which it joined, which covey_session_view() gives at first.
 * A handle is used by one thread at a time. Errors: EINVAL, EEXIST (already a member), ERESOURCE
 * (1024 sessions, 4096 members), EHOSTFAIL, EDAEMON. */
int covey_session_join(covey_t *vm, const char *name, covey_session_t **session);

/* Leaves the session and sets *session to NULL. A task's end leaves all its sessions. A handle
 * whose member was excluded is ended by this, too. NULL is fine. */
int covey_session_leave(covey_session_t **session);

/* Waits for the next view. One that was slow catches up view by view, or, when it lacks more than
 * the VM keeps (64), by one with the change COVEY_VIEW_ROSTER. Errors: ENOGROUP (the caller is no
 * member any more: covey_error_text() tells since which view and why), ETIMEOUT, EHOSTFAIL (the
 * state was lost), EDAEMON, ENOMEM. */
int covey_session_next(covey_session_t *session, int64_t timeout_us, struct covey_view *view);

/* The view that covey_session_next() gave last. */
int covey_session_view(const covey_session_t *session, struct covey_view *view);

/* From now on a message with `tag` tells of each view that covey_session_next() then has at once:
 * its number as a uint64, 0 when the session has ended for the caller. */
int covey_session_notify(covey_session_t *session, int tag);

/* Excludes another member, such as one that does not answer any more. Errors: ENOTASK (it is no
 * member), EINVAL (oneself), ENOGROUP, EHOSTFAIL, EDAEMON. */
int covey_session_expel(covey_session_t *session, covey_tid_t tid);

#define COVEY_SESSION_VALUE_MAX 1024

/* The session's shared value, by which a newcomer catches up. */
struct covey_value {
    uint64_t version;   /* grows; 0: it was never set */
    uint64_t view;      /* number of the view in which it was set */
    covey_tid_t author; /* who set it */
    int32_t bytes;
    uint8_t value[COVEY_SESSION_VALUE_MAX];
};
int covey_session_get(covey_session_t *session, struct covey_value *value);

/* Sets the shared value to value->value, in place of the version value->version; returns 1 and the
 * new version there, or 0 when it has another version: that is then in value->version, and
 * covey_session_get() gives what it is. Errors of both: ENOGROUP, EINVAL, EHOSTFAIL, EDAEMON. */
int covey_session_put(covey_session_t *session, struct covey_value *value);

/* The leader of a group in a term. Terms grow, and are fencing numbers as those of locks are: there
 * is at most one leader in a term for ever. */
struct covey_leader {
    uint64_t term;
    covey_tid_t tid;
};

/* Makes the caller a candidate of the named group, and tells who leads now: the candidate that
 * stood first. When it resigns or ends, the next one leads in a new term. Errors: EINVAL,
 * ERESOURCE, EHOSTFAIL, EDAEMON. */
int covey_elect_stand(covey_t *vm, const char *group, struct covey_leader *leader);

/* Gives up the candidacy, and with it leading. Errors: ENOGROUP (no candidate), EINVAL, EHOSTFAIL,
 * EDAEMON. */
int covey_elect_resign(covey_t *vm, const char *group);

/* Waits for a leader of a term after `term`; 0: of any. Any task may ask. All tasks learn of terms
 * in the same order; terms that have ended meanwhile are passed over. Errors: ETIMEOUT, EINVAL,
 * ERESOURCE, EHOSTFAIL, EDAEMON. */
int covey_elect_leader(covey_t *vm, const char *group, uint64_t term, int64_t timeout_us,
                       struct covey_leader *leader);

#define COVEY_DECISION_MAX 4096

/* What is proposed, and what was decided. */
struct covey_decision {
    covey_tid_t proposer;
    int32_t bytes;
    uint8_t value[COVEY_DECISION_MAX];
};

/* Proposes decision->value for a number of a series, and sets *decision to what is decided for it:
 * the value that was proposed first, the same for everyone and for ever. Errors: EINVAL, ENOENT
 * (that number was forgotten), ERESOURCE (the VM keeps no more than 1 MiB of decisions), ETIMEOUT
 * (it may be decided all the same), EHOSTFAIL, EDAEMON. */
int covey_propose(covey_t *vm, const char *series, uint64_t number, int64_t timeout_us,
                  struct covey_decision *decision);

/* Waits for the decision without proposing anything. Errors: as covey_propose(). */
int covey_learn(covey_t *vm, const char *series, uint64_t number, int64_t timeout_us,
                struct covey_decision *decision);

/* Forgets the decisions of all numbers less than `below`: they are refused from then on. With
 * UINT64_MAX the whole series, as if it had never been. Errors: EINVAL, EHOSTFAIL, EDAEMON. */
int covey_forget(covey_t *vm, const char *series, uint64_t below);

enum covey_held_kind { COVEY_HELD_LOCK = 1, COVEY_HELD_TOKEN = 2, COVEY_HELD_RENDEZVOUS = 3 };

struct covey_held {
    int32_t kind; /* enum covey_held_kind */
    char name[64];
    covey_tid_t holder; /* 0: nobody */
    uint64_t number;    /* of the last grant; of a rendezvous: how many are to meet */
    int32_t waiting;    /* tasks */
};

/* All locks, tokens and meetings of the VM; sets *list (free with covey_free(); NULL when there is
 * none) and returns their number. Errors: EINVAL, ENOMEM, EDAEMON. */
int covey_held(covey_t *vm, struct covey_held **list);

/* ---- Events ------------------------------------------------------------------------------ */

enum covey_event {
    COVEY_NOTIFY_TASK_EXIT = 1,  /* one of the given tasks ended */
    COVEY_NOTIFY_HOST_GONE = 2,  /* a host left, died or was cut off */
    COVEY_NOTIFY_HOST_ADDED = 3, /* a host joined */
    COVEY_NOTIFY_OUTPUT_END = 4  /* a task ended whose output came to the caller */
};

/* How a task ended. */
enum covey_exit_kind {
    COVEY_EXIT_STATUS = 1, /* exit(value) */
    COVEY_EXIT_SIGNAL = 2, /* killed by signal number value */
    COVEY_EXIT_HOST = 3,   /* its host is gone */
    COVEY_EXIT_UNKNOWN = 4 /* it left without being a child of the daemon */
};

struct covey_notice {
    int32_t event;     /* enum covey_event */
    covey_tid_t tid;   /* the task, or 0 */
    int32_t host;      /* host index */
    int32_t exit_kind; /* enum covey_exit_kind, for TASK_EXIT */
    int32_t value;     /* exit status or signal number */
};

/* Asks for events: each arrives as a message with `tag`, to be read by covey_unpack_notice(). Its
 * source is the task that ended, or 0 for a host event.
 * TASK_EXIT: once for each of the n tasks, at once for one that has already ended; what the task
 * had sent before can be received before the notice. HOST events: n and tids are unused, each
 * such event from now on. OUTPUT_END: likewise for each task whose output comes to the caller
 * (COVEY_OUTPUT_SELF), descendants included, behind all of its output; such a message can also be
 * read by covey_unpack_end(). Errors: EINVAL, EDAEMON. */
int covey_notify(covey_t *vm, int event, int tag, const covey_tid_t *tids, size_t n);

/* Reads a notice out of a message. Errors: ETYPE, EEND. */
int covey_unpack_notice(covey_msg_t *msg, struct covey_notice *notice);

/* What a message of COVEY_NOTIFY_OUTPUT_END says. */
struct covey_end {
    struct covey_notice notice;
    covey_tid_t parent;
    int32_t asked; /* 1: its parent ended it by covey_kill(), or ended and it was tethered */
    char host_name[64];
    char command[128]; /* as in struct covey_task */
};

/* Reads it. Errors: ETYPE, EEND. */
int covey_unpack_end(covey_msg_t *msg, struct covey_end *end);

/* ---- The virtual machine itself ---------------------------------------------------------- */

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

/* Reads the log of the daemon with that host index from *offset on, which counts from the end when
 * it is negative: at most `size` bytes, of which a call may bring fewer. *offset becomes the place
 * behind them. Returns their number, 0: there is no more yet. Errors: EDAEMON, ENOHOST, EINVAL: its
 * log is no file, for it runs in the foreground. */
int covey_log(covey_t *vm, int host, int64_t *offset, char *text, size_t size);

/* ---- Topologies and schedules ------------------------------------------------------------- */

/* A topology file describes a network as a tree: `switch NAME...`, `host NAME SWITCH [RATE]`,
 * `link SWITCH SWITCH [RATE]`, `#` comments; RATE like 100M, 2.5G, 10G, 1G by default. These calls
 * need no VM. */
struct covey_topology_node {
    char name[64];
    int32_t is_switch; /* 1: a switch, 0: a host */
};

/* Of a host's link, a is the host. */
struct covey_topology_link {
    int32_t a, b;      /* positions in the list of nodes */
    uint64_t rate_bps; /* bits per second each way */
};

enum covey_topology_form {
    COVEY_TOPOLOGY_TREE = 1, /* for people */
    COVEY_TOPOLOGY_DOT = 2,  /* for Graphviz */
    COVEY_TOPOLOGY_JSON = 3,
    COVEY_TOPOLOGY_FILE = 4 /* a topology file */
};

/* Reads the file of that path ("-": standard input), or a text; sets *topology. A mistake is named
 * by covey_error_text() as FILE:LINE:COLUMN: why. Errors: EINVAL (what is in the file), ESYS (it
 * cannot be read), ENOMEM. */
int covey_topology_load(const char *path, covey_topology_t **topology);
int covey_topology_parse(const char *text, size_t bytes, const char *name,
                         covey_topology_t **topology);

/* The nodes and the links in the order of the file; set *list (free with covey_free()) and return
 * their number. Errors: ENOMEM. */
int covey_topology_nodes(const covey_topology_t *topology, struct covey_topology_node **list);
int covey_topology_links(const covey_topology_t *topology, struct covey_topology_link **list);

/* Sets *text (free with covey_free()) to the topology in a form (enum covey_topology_form).
 * Errors: EINVAL, ENOMEM. */
int covey_topology_print(const covey_topology_t *topology, int form, char **text);

/* Frees a topology and sets *topology to NULL. NULL is fine. */
void covey_topology_free(covey_topology_t **topology);

/* A schedule lets every rank send one message to every other in phases in which no link carries
 * more than its rate allows, in as few phases as its bottleneck link needs (Faraj & Yuan); see
 * covey_schedule(3). */
struct covey_schedule_message {
    uint32_t phase;
    uint16_t from, to; /* ranks */
};

/* The first message has arrived before the second starts; positions in the list of messages. */
struct covey_schedule_sync {
    uint32_t before, after;
};

struct covey_schedule_info {
    int32_t ranks;
    uint32_t phases;
    uint32_t bound; /* phases that the bottleneck link needs */
    uint32_t slots; /* messages that the slowest link carries in a phase (perhaps fewer in the last
                       one): 1 for equal rates */
    uint64_t messages;
    uint64_t syncs;
};

enum covey_schedule_form {
    COVEY_SCHEDULE_TEXT = 1, /* a line a message and synchronisation, and one for the sum */
    COVEY_SCHEDULE_C = 2,    /* a C function for covey.h */
    COVEY_SCHEDULE_MPI = 3   /* C that takes the place of MPI_Alltoall */
};

/* Makes the schedule for `ranks` tasks; hosts[i] is where rank i runs: the position of its host in
 * the list of nodes. hosts NULL: one rank for each host, in the order of the file. Sets *schedule.
 * Errors: EINVAL (not a host; more than 2048 ranks), ENOMEM. */
int covey_schedule_create(const covey_topology_t *topology, const int32_t *hosts, int ranks,
                          covey_schedule_t **schedule);

/* Its numbers; its messages by phase; its synchronisations by the message that waits. The arrays
 * belong to the schedule. */
void covey_schedule_info(const covey_schedule_t *schedule, struct covey_schedule_info *info);
const struct covey_schedule_message *covey_schedule_messages(const covey_schedule_t *schedule);
const struct covey_schedule_sync *covey_schedule_syncs(const covey_schedule_t *schedule);

/* The name of a rank: its host's, and for several ranks on one host NAME:0, NAME:1 ...; NULL for no
 * such rank. It belongs to the schedule. */
const char *covey_schedule_rank_name(const covey_schedule_t *schedule, int rank);

/* Proves the schedule anew by means that its making does not share: each message once, no
 * contention, synchronisations that suffice, none of them implied by others. Errors: EPROTO
 * (covey_error_text() says what is wrong), ENOMEM. */
int covey_schedule_check(const covey_schedule_t *schedule);

/* Sets *text (free with covey_free()) to the schedule in a form (enum covey_schedule_form).
 * Errors: EINVAL, ENOMEM. */
int covey_schedule_print(const covey_schedule_t *schedule, int form, char **text);

/* Frees a schedule and sets *schedule to NULL. NULL is fine. */
void covey_schedule_free(covey_schedule_t **schedule);

/* The VM's topology, which its daemons keep: a team that is made takes it, if all its members'
 * hosts are in it (by name, or by what stands before the first dot of their names), and
 * covey_alltoall() may then go by its schedule. NULL: it has none from now on. Teams that are there
 * keep theirs. Errors: EINVAL, ETOOBIG (256 KiB), EEXIST (another task sets one), ERESOURCE,
 * EHOSTFAIL, EDAEMON. */
int covey_vm_set_topology(covey_t *vm, const covey_topology_t *topology);

/* Sets *topology to the VM's, to be freed by the caller. Errors: ENOENT (it has none), ENOMEM,
 * EHOSTFAIL, EDAEMON. */
int covey_vm_topology(covey_t *vm, covey_topology_t **topology);

/* Another topology for one team, or none (NULL): a call that all members make with the same, at the
 * same place among their collective calls. Errors: EINVAL (it names the hosts that the topology
 * lacks), ENOMEM, EDAEMON. */
int covey_team_set_topology(covey_team_t *team, const covey_topology_t *topology);

/* The schedule of the team, made now if it was not yet; it belongs to the team. *made_s, which may
 * be NULL, is the seconds that took. NULL: it has none, and covey_error_text() says why. */
const covey_schedule_t *covey_team_schedule(covey_team_t *team, double *made_s);

/* ---- Unstructured exchange ----------------------------------------------------------------- */

/* In an exchange each member of a team has arrays for some others, of any sizes, and only the
 * sender knows of them (Wang & Ranka). The members tell each other in few bytes who sends how much;
 * all of them then order the messages in the same way, each for itself, and keep the order: the
 * same pattern is not ordered again. See covey_exchange(3). */

enum covey_exchange_algorithm {
    COVEY_EXCHANGE_AUTO = 0,   /* by density and sizes, from measurements */
    COVEY_EXCHANGE_AC = 1,     /* asynchronous: everything at once */
    COVEY_EXCHANGE_LP = 2,     /* linear permutation: i with i XOR k, or i + k, in phase k */
    COVEY_EXCHANGE_RS_N = 3,   /* random phases, at most one message from and to a rank in each */
    COVEY_EXCHANGE_RS_NL = 4,  /* the same, and at most one a link */
    COVEY_EXCHANGE_COLOUR = 5, /* as many phases as the density, by edge colouring */
    COVEY_EXCHANGE_LONGEST = 6 /* no phases: the message with most to do behind it first */
};

enum covey_exchange_synchrony {
    COVEY_EXCHANGE_S_AUTO = 0, /* S2 for AC and RS_N, S1 for the others */
    COVEY_EXCHANGE_S1 = 1,     /* a receiver tells the sender that it is ready */
    COVEY_EXCHANGE_S2 = 2      /* all receives are posted, the order of sending spreads them */
};

/* An array for a member, or from one. */
struct covey_parcel {
    int32_t rank;
    const void *base;
    size_t count; /* of elements; 0 is a message, too */
};

/* Zeroed fields mean the defaults; the same at all members. What is pointed to stays the caller's.
 */
struct covey_exchange_options {
    int32_t algorithm;                /* enum covey_exchange_algorithm */
    int32_t synchrony;                /* enum covey_exchange_synchrony */
    const covey_topology_t *topology; /* links to be kept free, by RS_NL and LONGEST;
                                       * NULL: the team's, if it has one */
    const int32_t *hosts;             /* by rank, as for covey_schedule_create(); or NULL */
    uint64_t seed;                    /* of RS_N and RS_NL */
};

struct covey_exchange_info {
    int32_t algorithm; /* what was chosen */
    int32_t synchrony;
    int32_t ranks;
    uint32_t density; /* the most messages that a rank sends or receives */
    uint32_t phases;  /* LONGEST: 0 */
    uint32_t signals; /* LONGEST: messages that say that a link between switches is free */
    uint64_t messages;
    double bound_bytes; /* the most that a rank sends or receives, or a link carries, which counts
                         * by the slowest link's rate over its own */
    double ideal_bytes; /* LONGEST: what it takes in simulation, in the same unit; else 0 */
    double learn_s;     /* time in which the members told each other what there is */
    double schedule_s;  /* time in which the order was made; 0: it was known */
    double run_s;       /* of the last run */
    uint64_t runs;
};

/* Sends out[0 .. n-1], each to another rank (the own is fine), and receives what the others have
 * for the caller: sets *in to the arrays by rising rank, one block with their elements (free with
 * covey_free(); NULL when there is none), and returns their number. A collective call.
 * Errors: as of all collective calls; EINVAL (a rank twice). */
int covey_exchange(covey_team_t *team, int type, const struct covey_parcel *out, int n,
                   struct covey_parcel **in);

/* The same in steps, to be done again and again with other data of the same sizes. The plan is made
 * from rank and count of `out`; options may be NULL. A collective call; sets *plan. Errors: as
 * covey_exchange(). */
int covey_exchange_plan(covey_team_t *team, int type, const struct covey_parcel *out, int n,
                        const struct covey_exchange_options *options, covey_exchange_plan_t **plan);

/* From whom how much comes, by rising rank; returns their number. base is NULL. *in is the plan's.
 */
int covey_exchange_incoming(const covey_exchange_plan_t *plan, const struct covey_parcel **in);

/* Exchanges: out[i] is the array of the plan's i-th parcel, in[i] takes that of its i-th incoming
 * one. A collective call; the second form starts it, see covey_wait(). One run of a plan at a time.
 */
int covey_exchange_run(covey_exchange_plan_t *plan, const void *const *out, void *const *in);
int covey_exchange_start(covey_exchange_plan_t *plan, const void *const *out, void *const *in,
                         covey_req_t **req);

/* What the plan is, and its times so far at this member. */
void covey_exchange_info(const covey_exchange_plan_t *plan, struct covey_exchange_info *info);

/* Frees a plan that is not running and sets *plan to NULL; not collective. NULL is fine. */
void covey_exchange_free(covey_exchange_plan_t **plan);

/* A message of an order. Times are in bytes of the slowest link. */
struct covey_exchange_message {
    uint64_t bytes;
    uint64_t start, end; /* LONGEST: in simulation; else 0 */
    uint32_t phase;      /* LONGEST: 0 */
    uint16_t from, to;   /* ranks, different ones; each pair at most once */
};

/* Orders messages between `ranks` ranks without any task: sets phase or start and end of each,
 * sorts them by these, sender and receiver, and fills *info. RS_NL needs a topology. Needs no VM.
 * Errors: EINVAL, ENOMEM. */
int covey_exchange_order(struct covey_exchange_message *messages, size_t count, int ranks,
                         const struct covey_exchange_options *options,
                         struct covey_exchange_info *info);

/* The name of an algorithm ("RS_N"), and the algorithm of a name; EINVAL for an unknown one. */
const char *covey_exchange_name(int algorithm);
int covey_exchange_parse(const char *name);

/* ---- Tiled loops --------------------------------------------------------------------------- */

/* A perfect loop nest whose points depend on points before them by fixed vectors, run by a team in
 * tiles (Koziris, Sotiropoulos & Goumas). Each task computes all tiles along one dimension, the
 * largest, one after the other, and gives the faces of each to the tasks after it: while it
 * computes tile k the faces for k + 1 come in and those of k - 1 go out.
 *
 * The library keeps the values, of each task its own part and what it needs of others', packs the
 * faces and moves them. The program computes the points of a tile, row by row, in the order in
 * which they are given. See covey_tiles(3). */

#define COVEY_TILES_DIMS_MAX 8
#define COVEY_TILES_DEPENDENCES_MAX 32
#define COVEY_TILES_AHEAD_MAX 64

typedef struct covey_tiles covey_tiles_t; /* a tiled loop, of one team */
typedef struct covey_tile covey_tile_t;   /* a tile as the program gets it to compute */

/* Points one after the other: point + i * step for i of 0 .. count-1. Their values stand one after
 * the other, too, `width` elements each; the value on which such an element depends by the d-th
 * vector is offset[d] elements from it. */
struct covey_tile_row {
    int64_t point[COVEY_TILES_DIMS_MAX]; /* in the loop's own indices */
    int32_t step[COVEY_TILES_DIMS_MAX];
    int64_t count;
    void *values;
    const ptrdiff_t *offset;
    int64_t place[COVEY_TILES_DIMS_MAX]; /* the library's own */
};

/* The next row of a tile; *row is zeroed before the first one. 1, or 0 behind the last. */
int covey_tile_next(const covey_tile_t *tile, struct covey_tile_row *row);

/* Computes all points of a tile. */
typedef void covey_tile_fn(const covey_tile_t *tile, void *context);

/* Sets the value of a point outside the space, on which one inside depends. */
typedef void covey_tile_outside_fn(const int64_t *point, void *value, void *context);

/* The loop: for i_0 = 0 .. size[0]-1, for i_1 ... The same at all members. */
struct covey_tiles_loop {
    int32_t dims;
    int32_t dependences;
    int64_t size[COVEY_TILES_DIMS_MAX];
    /* D: point i needs the value of i - dependence[d]; each is lexicographically positive */
    int32_t dependence[COVEY_TILES_DEPENDENCES_MAX][COVEY_TILES_DIMS_MAX];
    /* Tiles are rectangles of the indices skew * i; integers with determinant 1 or -1, so that
     * H = diag(1 / sides) skew, and HD >= 0 if skew * dependence[d] has no negative component. All
     * zeros: no skew. */
    int32_t skew[COVEY_TILES_DIMS_MAX][COVEY_TILES_DIMS_MAX];
    int32_t type;                   /* of the elements of a value: no STRING or MESSAGE */
    int32_t width;                  /* elements of a value; 0: 1 */
    covey_tile_fn *compute;         /* not needed by covey_tiles_plan() */
    covey_tile_outside_fn *outside; /* NULL: zeros */
    void *context;                  /* of both */
};

enum covey_tiles_schedule {
    COVEY_TILES_OVERLAP = 0, /* receive for k + 1, compute k, send k - 1 */
    COVEY_TILES_BLOCK = 1    /* receive, compute, send, and each send lasts until it was received */
};

/* What the choice of the height goes by. Those that are 0 covey_tiles_create() measures, if it has
 * a height to choose; of messages all, if alpha_s is 0. */
struct covey_tiles_costs {
    double point_s; /* t_c: a point is computed */
    double alpha_s; /* a message of N bytes takes alpha + beta N */
    double beta_s;
    double start_s; /* of alpha, what a message costs a task that computes meanwhile */
    double drag_s;  /* of beta, likewise */
    double store_s; /* each byte of a message's first frame takes that much more than beta, where
                     * switches send a frame on when they have it whole */
};

/* Zeroed fields mean the defaults. The same at all members. */
struct covey_tiles_options {
    int32_t schedule;                   /* enum covey_tiles_schedule */
    int32_t along;                      /* 1 .. dims: tiles along it are one task's; 0: chosen */
    int32_t ahead;                      /* faces of so many tiles are under way at once; 0: 2 */
    int32_t grid[COVEY_TILES_DIMS_MAX]; /* tasks along each dimension; 0: chosen */
    int64_t tile[COVEY_TILES_DIMS_MAX]; /* sides of a tile; 0: chosen: the part of a task, and
                                         * along `along` the height of least time, z */
    struct covey_tiles_costs costs;
};

/* How a loop is tiled, and how long it should take. Dimensions are those of the skewed indices. */
struct covey_tiles_plan {
    int32_t dims;
    int32_t tasks; /* that compute; the others of the team have nothing */
    int32_t schedule;
    int32_t along;
    int32_t ahead;
    int32_t grid[COVEY_TILES_DIMS_MAX];
    int64_t extent[COVEY_TILES_DIMS_MAX];     /* of the space */
    int64_t tile[COVEY_TILES_DIMS_MAX];       /* sides; at the space's border tiles are smaller */
    int64_t tiles[COVEY_TILES_DIMS_MAX];      /* how many */
    int64_t face_bytes[COVEY_TILES_DIMS_MAX]; /* what a task sends on in each step */
    double points;                            /* that a task computes in a step: g = det(P) */
    double volume;                            /* of these, sent: V_comm by (2) */
    double volume_all;                        /* and if each tile were another task's: by (1) */
    int64_t steps_block;                      /* P(g) */
    int64_t steps_overlap;                    /* P'(g) */
    struct covey_tiles_costs costs;
    double computation_s;   /* t_comp */
    double communication_s; /* t_comm */
    double block_s;         /* T by (3) */
    double overlap_s;       /* T by (5), and what cannot be hidden as in (7) */
    double played_block_s;  /* the steps of all tasks played against each other */
    double played_overlap_s;
};

/* Plans without any task. Costs that are 0 count as 0; without point_s and alpha_s the height is
 * the space's. Errors: EINVAL (the loop; tiles that are not legal: HD >= 0, and no dependence may
 * reach beyond the neighbour). */
int covey_tiles_plan(const struct covey_tiles_loop *loop, const struct covey_tiles_options *options,
                     int tasks, struct covey_tiles_plan *plan);

/* A skew by which no dependence has a negative component, where the loop needs one: sets
 * loop->skew. Errors: EINVAL (a dependence is not lexicographically positive, or reaches back too
 * far). */
int covey_tiles_skew(struct covey_tiles_loop *loop);

/* Tiles the loop for the team: allocates, asks for the values outside, measures costs (compute is
 * then called for tiles whose values count for nothing), and plans. options may
 * be NULL. A collective call; sets *tiles. Errors: EINVAL (also: the members differ), ENOMEM, and
 * those of collective calls. */
int covey_tiles_create(covey_team_t *team, const struct covey_tiles_loop *loop,
                       const struct covey_tiles_options *options, covey_tiles_t **tiles);

/* Where the time of a task went in a run, from the moment at which all had begun. */
struct covey_tiles_timing {
    double total_s;
    double computation_s;   /* in compute() */
    double packing_s;       /* copying faces */
    double communication_s; /* starting sends and receives; BLOCK: all that is not idle in them */
    double idle_s;          /* waiting for faces, or for room to send the next */
    int64_t tiles;          /* computed */
    int64_t points;
    int64_t messages; /* sent */
    int64_t bytes;    /* sent */
};

/* Runs the loop. A collective call; timing may be NULL. It can be run again. Errors: those of
 * collective calls. */
int covey_tiles_run(covey_tiles_t *tiles, struct covey_tiles_timing *timing);

/* The plan, with costs as they were measured. */
void covey_tiles_info(const covey_tiles_t *tiles, struct covey_tiles_plan *plan);

/* The caller's part of the space as one tile, for covey_tile_next(); it belongs to the loop. */
const covey_tile_t *covey_tiles_part(const covey_tiles_t *tiles);

/* The value of a point that the caller computed, NULL: another did. It belongs to the loop. */
const void *covey_tiles_value(const covey_tiles_t *tiles, const int64_t *point);

/* All values of the space at the root, in the order of the untiled loop: the last index runs
 * fastest. `values` matters there alone. A collective call. */
int covey_tiles_gather(covey_tiles_t *tiles, int root, void *values);

/* Frees it and sets *tiles to NULL; not collective. NULL is fine. */
void covey_tiles_free(covey_tiles_t **tiles);

/* ---- Models ------------------------------------------------------------------------------ */

/* The models of Schmidt & Sunderam, section 3: how long the demo programs take on a number of
 * hosts, from what `covey calibrate` measured. Times are seconds, sizes bytes. These calls need no
 * VM; see covey_predict(3), covey_calibration(3). */

/* The time of a message of N bytes as alpha + beta N (section 2.3), and the residuals of the fit.
 */
struct covey_line {
    double alpha_s;
    double beta_s; /* a byte */
    double r2;     /* share of the variance that the line explains, of the weighted points */
    double worst;  /* the largest deviation of a point, as a share of its time */
};

/* Fits by least squares of the deviations relative to the times. Errors: EINVAL (fewer than two
 * different sizes, a time that is not above 0). */
int covey_line_fit(const double *bytes, const double *seconds, size_t n, struct covey_line *line);

/* The same for a route whose queues swallow messages of middle size: beta is the slope of the least
 * squares, alpha what short messages take besides. */
int covey_line_fit_ends(const double *bytes, const double *seconds, size_t n,
                        struct covey_line *line);

#define COVEY_MODEL_HOSTS_MAX 256
#define COVEY_MODEL_BLOCKS 6 /* matrix blocks that are measured: of 64, 128, ... 2048 rows */

/* What messages between hosts do to computations, and these to them: two hosts that compute and
 * send to each other, and all of them, each sending to the next. */
struct covey_load {
    double drag_s;     /* processor time that a byte takes at either end */
    double busy_s;     /* time of a byte then; 0: not measured */
    double all_drag_s; /* the same of all_hosts hosts; all_hosts 0: not measured */
    double all_busy_s;
    double all_hosts;
    double spread, all_spread; /* of what messages take then: standard deviation over mean */
};

struct covey_calibration_route {
    int32_t known;        /* 1: measured */
    int32_t inside_known; /* 1: the next but one, too */
    struct covey_load load;
    struct covey_line line;
    struct covey_line inside; /* between tasks of one host that are told to take this route */
    double inside_drag_s;     /* processor time that a byte takes there at either end */
};

/* What one task alone on the host needs; 0: not measured. */
struct covey_calibration_host {
    char name[64];
    int32_t cores;
    int32_t reserved;
    double processors;                 /* tasks that run as fast as one alone */
    double share;                      /* processor seconds that one task gets in a second */
    double madd_s[COVEY_MODEL_BLOCKS]; /* T_mult + T_add, section 3.1, by block size */
    double oper_s;                     /* T_oper, section 3.2 */
    double merge_s;                    /* a key that is merged */
    double iteration_s;                /* of the Mandelbrot set */
};

/* A message between two hosts of the calibration. */
struct covey_calibration_peers {
    int32_t route;
    int16_t hosts[2]; /* their places in it, the lower first */
    double alpha_s, beta_s;
};

#define COVEY_CALIBRATION_PEERS_MAX 6048

struct covey_calibration {
    char date[32]; /* such as 2026-11-21T22:15:00Z */
    char vm[64];
    struct covey_calibration_route routes[5]; /* by enum covey_route */
    double
        together; /* tasks at full speed on all hosts at once, where these share one machine; 0 */
    int32_t host_count;
    int32_t peer_count;
    struct covey_calibration_host hosts[COVEY_MODEL_HOSTS_MAX];
    struct covey_calibration_peers peers[COVEY_CALIBRATION_PEERS_MAX]; /* each pair once a route */
};

/* The file that holds the calibration of a VM: what COVEY_CALIBRATION names, otherwise
 * calibration.VM in covey/ of $XDG_STATE_HOME or ~/.local/state. Errors: EINVAL (no such name,
 * neither variable nor home), ETRUNC (size is too small). */
int covey_calibration_path(const char *vm_name, char *path, size_t size);

/* Reads it; sets *calibration (free with covey_free()). Errors: ENOENT (there is none), EINVAL (the
 * file makes no sense; covey_error_text() says FILE:LINE: why), ESYS, ENOMEM. */
int covey_calibration_load(const char *vm_name, struct covey_calibration **calibration);

/* Writes it, whole or not at all. Errors: EINVAL, ESYS, ENOMEM. */
int covey_calibration_save(const char *vm_name, const struct covey_calibration *calibration);

/* How a program does it. */
enum covey_form {
    COVEY_FORM_USUAL = 0,        /* as enum covey_model says */
    COVEY_FORM_BAG = 1,          /* items of a bag */
    COVEY_FORM_BAG_FETCH = 2,    /* matmul: the same, and tasks fetch the blocks that they need */
    COVEY_FORM_HIERARCHICAL = 3, /* matmul: pipe-multiply-roll in two levels */
    COVEY_FORM_PHASES = 4,       /* matmul: the same in one, and nothing is sent ahead */
};

enum covey_model {
    COVEY_MODEL_MATMUL = 1, /* pipe-multiply-roll */
    COVEY_MODEL_SORT = 2,   /* split-sort-merge */
    COVEY_MODEL_MANDEL = 3  /* Mandelbrot from a task queue */
};

/* What is to be computed. Fields that a model does not name may be 0. */
struct covey_problem {
    int32_t model; /* enum covey_model */
    int32_t tasks; /* 0: as many as the program starts when it is not told */
    int32_t route; /* between hosts; AUTO: the calibrated one with the least beta */
    int32_t paper; /* 1: the paper's equations as they stand, one task a host */
    int32_t form;  /* enum covey_form */
    int32_t grid;  /* matmul by a bag: so many rows of blocks; 0: as many as the program has */
    int64_t size;  /* matmul: N; sort: keys */
    int32_t width, height, iterations; /* mandel */
    int32_t strip;                     /* mandel: rows of a strip; 0: guided */
    double centre_re, centre_im, zoom; /* mandel */
};

/* The three parts sum up to the total. */
struct covey_prediction {
    int32_t hosts, tasks;
    double total_s;
    double computation_s;
    double communication_s;
    double idle_s;
};

/* Predicts for so many hosts; names[i] is the name of each, NULL: those of the calibration in their
 * order, again from the first when there are more. Errors: EINVAL (the problem, the number of
 * hosts), ENOHOST (a host, a route or an operation was not calibrated), ENOMEM. */
int covey_predict(const struct covey_calibration *calibration, const struct covey_problem *problem,
                  const char *const *names, int hosts, struct covey_prediction *prediction);

/* Of total times for increasing numbers of hosts, the positions of: the number beyond which no time
 * is gained (break-even, section 2.4), and the most efficient one (section 4.1), the last before
 * the slope falls below the tolerance. The slope is the share of the time that more hosts save over
 * the share by which they are more: 1 is linear speed-up, 0 none. Errors: EINVAL. */
int covey_predict_best(const int *hosts, const double *total_s, int n, double tolerance,
                       int *break_even, int *efficient);

/* All-to-all of blocks of `bytes` between all hosts of a topology. */
struct covey_alltoall_prediction {
    double bound_s; /* the load of the bottleneck link times size / B (Faraj & Yuan, section 3) */
    double scheduled_s; /* their phases, each alpha and a block on the slowest link */
    double
        unscheduled_s; /* rounds of a ring: in each the busiest link carries all that meets there */
    uint32_t phases;
    uint32_t ranks;
};

/* hosts[i] is where rank i runs, as in covey_schedule_create(), NULL: one rank a host. Rates are
 * taken net of Ethernet's and TCP's headers. Errors: EINVAL, ENOMEM. */
int covey_predict_alltoall(const covey_topology_t *topology, const int32_t *hosts, int ranks,
                           double bytes, double alpha_s,
                           struct covey_alltoall_prediction *prediction);

#ifdef __cplusplus
}
#endif
#endif
