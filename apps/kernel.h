/*
 * kernel.h - how fast a program's own arithmetic is on this host, for `covey calibrate`.
 *
 * With --kernel a program measures instead of computing, without a virtual machine: it prints lines
 * of a name, a size where the kernel has several, and the processor seconds of one operation, and
 * last how much of a processor it got meanwhile. Processor time does not depend on who else runs
 * or on a limit that the host has; the share does.
 */
#ifndef APPS_KERNEL_H
#define APPS_KERNEL_H

#include <stdint.h>

struct kernel {
    double began_s;           /* by the clock */
    double began_processor_s; /* and by the processor */
};

void kernel_begin(struct kernel *kernel);

/* Runs fn once to warm up and then again and again, for some tenths of a second. Before each run
 * `make`, if not NULL, makes its data, which does not count. Prints a line for runs of `operations`
 * operations each; size 0: none is printed. */
void kernel_time(const char *name, int64_t size, double operations, void (*make)(void *context),
                 void (*fn)(void *context), void *context);

/* Prints the share; returns the exit status of the process. */
int kernel_end(const struct kernel *kernel);

#endif
