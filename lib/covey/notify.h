/*
 * covey/notify.h - being told of the ends of tasks and of hosts that come and go.
 */
#ifndef COVEY_NOTIFY_H
#define COVEY_NOTIFY_H

#include "message.h"

#ifdef __cplusplus
extern "C" {
#endif

enum covey_event {
    COVEY_NOTIFY_TASK_EXIT = 1,  /* one of the given tasks ended */
    COVEY_NOTIFY_HOST_GONE = 2,  /* a host left, died or was cut off */
    COVEY_NOTIFY_HOST_ADDED = 3, /* a host joined */
    COVEY_NOTIFY_OUTPUT_END = 4, /* a task ended whose output came to the caller */
    COVEY_NOTIFY_HOST_ENDS = 5   /* the time of the caller's host is over soon */
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
    int32_t value;     /* exit status or signal number; HOST_ENDS: seconds left, < 0: no end */
};

/* Asks for events: each arrives as a message with `tag`, to be read by covey_unpack_notice(). Its
 * source is the task that ended, or 0 for a host event.
 * TASK_EXIT: once for each of the n tasks, at once for one that has already ended; what the task
 * had sent before can be received before the notice. HOST events: n and tids are unused, each
 * such event from now on. HOST_ENDS: likewise, at once if it is known, and when that changes: the
 * end of a job is told as 30 s before it, at most a tenth of what is left at the beginning.
 * OUTPUT_END: likewise for each task whose output comes to the caller
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

#ifdef __cplusplus
}
#endif
#endif
