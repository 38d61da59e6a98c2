/*
 * alltoall_load.h - an all-to-all that is timed, the same on Covey (alltoall_covey.c) and on MPI
 * (alltoall_mpi.c): each is a program
 *
 *   PROGRAM ROUNDS:BYTES...
 *
 * whose rank 0 prints a line a call: BYTES SECONDS IDLE SKEW. SECONDS is from the first rank's
 * entry to the last one's return: the hosts of a lab share a clock. IDLE is the part of the
 * machine's processor time that nothing used meanwhile, SKEW the seconds within which ranks enter,
 * for they leave a barrier one after the other: twice the time after which half of them have, since
 * a few may be much later. Each result is checked; a wrong one ends the program with 1. A first
 * call of 16 KiB, which opens connections and makes schedules, is not printed.
 */
#ifndef TESTS_BENCH_ALLTOALL_LOAD_H
#define TESTS_BENCH_ALLTOALL_LOAD_H

#include <stddef.h>

#include "tests/bench/ranks.h"

struct load_span {
    double seconds, skew;
};

/* From the entries and returns of all ranks; sorts the entries. */
struct load_span load_span(int ranks, double *entered, const double *returned);

/* Waits until all ranks are there, exchanges blocks of that many bytes, and returns how long it
 * took, when all ranks have them: who is done must not check its blocks on the processor of who is
 * not. */
struct load_span load_exchange(const struct load *load, size_t bytes);

/* Seconds of a clock that all ranks share. */
double load_now(void);

#endif
