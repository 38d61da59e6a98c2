/*
 * What every subcommand of the console gets: the VM it speaks of, the connection to it (made when
 * first needed and shared by all commands of an interactive console), and the one way to report
 * an error.
 */
#ifndef COVEY_TOOLS_TOOL_H
#define COVEY_TOOLS_TOOL_H

#include <stdbool.h>

#include "covey.h"

enum tool_status {
    TOOL_OK = 0,
    TOOL_FAILED = 1, /* it did not do what was asked */
    TOOL_USAGE = 2   /* it was asked wrongly */
};

struct tool {
    const char *vm_name; /* --vm, or covey_vm_default() */
    bool named;          /* by the user: $COVEY_SOCKET does not count then */
    bool reads_lines;    /* standard input is the console's own */
    covey_t *vm;         /* the connection, NULL until tool_join() */
};

/* Joins the VM as a console unless that was done before; reports a failure as `what`. */
int tool_join(struct tool *tool, const char *what);

/* Joins without reporting; returns 0 or an error of covey_join(). */
int tool_try_join(struct tool *tool);

/* Whether the daemon is found by $COVEY_SOCKET and not by the VM's name. */
bool tool_by_socket(const struct tool *tool);

/* Gives the connection up; the next tool_join() makes a new one. */
void tool_leave(struct tool *tool);

/* Halts the VM, gives the connection up and waits until no daemon of the VM on this host is left:
 * a VM of virtual hosts has several. Returns 0 or an error of covey_halt(). */
int tool_halt(struct tool *tool);

/* Waits until no daemon of that VM is left on this host; false if that takes too long. */
bool tool_wait_gone(const char *vm_name);

/* Turns to another VM. The name stays the caller's and must outlive the tool's use of it. */
void tool_set_vm(struct tool *tool, const char *vm_name);

/* Prints "covey: what: text" on standard error; returns TOOL_FAILED. */
int tool_error(const char *what, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same for bad arguments, with a hint where to read on; returns TOOL_USAGE. */
int tool_usage(const char *what, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Reports the calling thread's last failed covey_ call with what to do about it; returns
 * TOOL_FAILED. A connection that is dead is given up, so that a console can go on. */
int tool_failed(struct tool *tool, const char *what, int error);

#endif
