/*
 * alltoall_load.h - an all-to-all that is timed, the same on Covey (alltoall_covey.c) and on MPI
 * (alltoall_mpi.c): each is a program
 *
 *   PROGRAM ROUNDS:BYTES...
 *
 * whose rank 0 prints a line a call: BYTES SECONDS IDLE. SECONDS is from the first rank's entry to
 * the last one's return: the hosts of a lab share a clock. IDLE is the part of the machine's
 * processor time that nothing used meanwhile. Each result is checked; a wrong one ends the program
 * with 1. A first call of 16 KiB, which opens connections and makes schedules, is not printed.
 */
#ifndef TESTS_BENCH_ALLTOALL_LOAD_H
#define TESTS_BENCH_ALLTOALL_LOAD_H

#include <stddef.h>

#include "tests/bench/ranks.h"

/* Waits until all ranks are there, exchanges blocks of that many bytes, and returns the seconds,
 * when all ranks have them: who is done must not check its blocks on the processor of who is not.
 */
double load_exchange(const struct load *load, size_t bytes);

/* Seconds of a clock that all ranks share. */
double load_now(void);

#endif
