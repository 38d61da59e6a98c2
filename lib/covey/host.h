/*
 * covey/host.h - the hosts of the VM and the tasks on them, how busy and how fast hosts are.
 */
#ifndef COVEY_HOST_H
#define COVEY_HOST_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

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

/* What a task waits for in a call. */
enum covey_task_wait {
    COVEY_WAITS_NOT = 0,
    COVEY_WAITS_MESSAGE = 1, /* for a message of `peer` with `tag`, or of any, or with any */
    COVEY_WAITS_SEND = 2,    /* for its message to `peer` to leave */
    COVEY_WAITS_CREDIT = 3,  /* for `peer`, to whom it sends, to take what came before */
    COVEY_WAITS_TURN = 4,    /* for its turn among the long messages that `peer` gets */
    COVEY_WAITS_NAME = 5,    /* in `call`, for what is called `name`: a lock, a bag */
    COVEY_WAITS_CALL = 6     /* in `call`, for the others of a collective call, for an answer */
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

/* What a task does. What is not known is negative: all but `cpu_s` and `memory_bytes` of one whose
 * program does not use the library, or one of an older version. Counts and times grow, and begin
 * when the task joined, those of processors when its process began; see covey_task_stats(3). */
struct covey_task_stat {
    covey_tid_t tid;
    int32_t waits;    /* enum covey_task_wait */
    covey_tid_t peer; /* of what it waits for, or COVEY_ANY_TASK */
    int32_t tag;      /* or COVEY_ANY_TAG */
    char call[32];    /* that it waits in, without `covey_`: "recv" */
    char name[72];    /* COVEY_WAITS_NAME: of what it waits for */
    double waits_s;   /* for so long */
    double at_s;      /* when all this was so, by a clock of its host's: for rates */
    double age_s;     /* since it was started; of one that was not spawned as elapsed_s */
    double elapsed_s; /* since it joined */
    double cpu_s;     /* of processors */
    double memory_bytes;
    double idle_s;          /* of elapsed_s: waiting, as covey_timing() counts; */
    double communication_s; /* in other calls */
    double sent;            /* messages, those that collective calls are made of as well */
    double sent_bytes;
    double received;
    double received_bytes;
};

/* The answer of covey_task_stats(): three arrays, to be freed with covey_free(). */
struct covey_task_stats {
    struct covey_host *hosts; /* as covey_survey() gives them */
    struct covey_task *tasks;
    struct covey_task_stat *stats; /* stats[i] of tasks[i] */
    int32_t host_count, task_count;
    int32_t left_out; /* tasks that are more than was asked for */
};

/* All tasks with what they do, `most` of them at most: all daemons are asked side by side, and one
 * that does not answer within the timeout is listed as COVEY_HOST_SUSPECT, without its tasks.
 * Errors: EINVAL, EDAEMON, ENOMEM. */
int covey_task_stats(covey_t *vm, int64_t timeout_us, int most, struct covey_task_stats *all);

/* What a task has sent to another one since both were there. */
struct covey_task_peer {
    covey_tid_t from, to;
    uint64_t sent;       /* messages, those that collective calls are made of as well */
    uint64_t sent_bytes; /* in them */
};

/* Who has sent to whom, of at most so many tasks, asked as by covey_task_stats(): sets *list (free
 * with covey_free()) to rows by rising `from` on each host, and returns their number. Of a task
 * that sends to more than some dozens of others it knows those of late. What a host does without a
 * message is not in it, as in collective calls by shared memory. Errors: as covey_task_stats(). */
int covey_task_peers(covey_t *vm, int64_t timeout_us, int most, struct covey_task_peer **list);

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
    double pack_bytes_per_s;    /* doubles into a message, one core */
    double measured_age_s;      /* of these three */
    double clock_s;             /* its time of day when it answered, seconds since 1970 */
    double swap_in_bytes_per_s; /* of the whole machine */
    double swap_out_bytes_per_s;
    double major_faults_per_s;   /* that read a page from a disk; of the whole machine */
    double memory_pressure;      /* share of the last 10 s in which something waited for memory */
    double disk_busy;            /* share of the time in which disks were, together at most 1 */
    double interrupt_busy;       /* share of the cores that served interrupts */
    double net_rate_bytes_per_s; /* of its network card, each way */
    double local_clock_s;        /* clock_s in the time zone of its daemon, as if that were UTC */
    double ends_in_s; /* its time is over then: the end of a job, or covey_host_drain() */
    double withheld;  /* tasks go there only by its name: 1 as it is drained, 2 as its owner says */
};

/* Whether the host pages: 1 if what it lacks of memory slows all that runs there, 0 if not, or if
 * its figures are not known. It does so when it swaps 1 MiB a second or more, in and out together;
 * when something waited for memory in 10 % of the last 10 s; or when less than 10 % of its memory
 * is free and pages come from a disk 100 times a second (programs are dropped and read again where
 * there is no swap). */
int covey_host_pages(const struct covey_host_stat *stat);

/* The hosts as covey_survey() gives them, and (*stats)[i] of (*hosts)[i]; all daemons are asked
 * side by side, and one that does not answer within the timeout is COVEY_HOST_SUSPECT. Free both
 * with covey_free(); returns the number of hosts. Errors: EINVAL, EDAEMON, ENOMEM. */
int covey_host_stats(covey_t *vm, int64_t timeout_us, struct covey_host **hosts,
                     struct covey_host_stat **stats);

/* Says that the time of the host with that index is over in `in_us` microseconds; negative: that it
 * is not. Tasks there are told (COVEY_NOTIFY_HOST_ENDS), and bags give them nothing that would not
 * end by then; the host itself is not ended, see covey_remove_hosts(). Errors: EINVAL, EDAEMON,
 * ENOHOST, EHOSTFAIL, ETIMEOUT, ENOMEM. */
int covey_host_drain(covey_t *vm, int host, int64_t in_us);

/* The time of day on the host with that index, in microseconds since 1970, and by how much the
 * caller's clock is ahead of that one, give or take half the way there and back. Either may be
 * NULL. Errors: EINVAL, EDAEMON, ENOHOST, EHOSTFAIL, EPROTO, ETIMEOUT, ENOMEM. */
int covey_host_clock(covey_t *vm, int host, int64_t *time_us, int64_t *ahead_us);

/* Has the daemon with that host index, or all when host is 0, measure anew how fast a core is, and
 * waits for it: some tens of milliseconds of a core. What they measured is then in
 * covey_host_stats(). Returns how many did. Errors: EINVAL, EDAEMON, ENOHOST, ERESOURCE, ETIMEOUT,
 * ENOMEM. */
int covey_measure(covey_t *vm, int host);

#ifdef __cplusplus
}
#endif
#endif
