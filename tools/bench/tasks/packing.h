/* What packing and unpacking cost on this host, for covey calibrate. */
#ifndef COVEY_TOOLS_BENCH_PACKING_H
#define COVEY_TOOLS_BENCH_PACKING_H

/* Needs no virtual machine. Prints a line "packing TYPE WAY ALPHA BETA R2 WORST" for each type and
 * way (enum covey_packing_type, enum covey_packing_way), in seconds of processor time, and last a
 * line "share" of how much of a processor it got. Returns the exit status of the process. */
int packing_measure(void);

#endif
