/* What new memory costs on this host, for covey calibrate. */
#ifndef COVEY_TOOLS_BENCH_TOUCH_H
#define COVEY_TOOLS_BENCH_TOUCH_H

/* Needs no virtual machine. Prints a line "touch SECONDS": the processor time of a byte of memory
 * that is written for the first time, beyond writing it again. Returns 0, or -1 after saying why
 * not. */
int touch_measure(void);

#endif
