/*
 * covey bench overlap, as the console sees it: the programs that are measured beside it, and what
 * is printed. bench_run.c has the tasks do it; a row is a route and a size, and its three series
 * are the times of communication, of computation, and of both together.
 */
#ifndef COVEY_TOOLS_BENCH_OVERLAP_H
#define COVEY_TOOLS_BENCH_OVERLAP_H

#include "tools/bench/bench.h"

enum { OVERLAP_COMMUNICATION, OVERLAP_COMPUTATION, OVERLAP_BOTH, OVERLAP_SERIES };

/* Takes --beside NAME=COMMAND; an exit status. */
int bench_overlap_beside(struct bench *bench, const char *text);

/* Runs the programs beside, one after the other; an exit status. */
int bench_overlap_run_beside(struct bench *bench);

int bench_overlap_report(struct bench *bench);

/* Frees what the programs beside measured. */
void bench_overlap_free(struct bench *bench);

#endif
