/*
 * beside_load.h - the loops of `make bench-mpi`, the same on Covey (beside_covey.c) and on MPI
 * (beside_mpi.c): each is a program
 *
 *   PROGRAM SAMPLE_MS LIMIT_S CALL:BYTES...
 *
 * whose rank 0 prints a line a call: CALL BYTES REPETITIONS SECONDS PROCESSOR_SECONDS, both for one
 * operation. A call is repeated until a sample lasts some SAMPLE_MS, or four times as long where
 * only a few calls last longer; when LIMIT_S are over, no other call is begun. Every rank must have
 * the right result after the sample, which is compared behind the clock; a wrong one ends the
 * program with 1.
 *
 * SECONDS are those of the rank that needs longest for all repetitions, and PROCESSOR_SECONDS are
 * summed over all ranks, user and system, all threads, those that only wait for the others
 * included. Calls without an answer, such as bcast, may overlap: the root is ahead by as much as it
 * can be.
 *
 *   ping, pings       half a round trip between ranks 0 and 1, and of all pairs 2i, 2i+1 at once
 *   stream, streams   a message one way, likewise; the last one is answered
 *   put               rank 0 puts into memory of rank 1, which waits for a message meanwhile, and
 *                     flushes: each is complete before the next one
 *   barrier, bcast, reduce, allreduce, scan: of BYTES a rank
 *   gather, scatter, allgather, alltoall, reduce_scatter: of BYTES a block, one for each rank
 */
#ifndef TESTS_BENCH_BESIDE_LOAD_H
#define TESTS_BENCH_BESIDE_LOAD_H

#include <stddef.h>

#include "tests/bench/ranks.h"

/* Every rank's `count` figures to all, those of rank i at all[i * count]. */
void load_share(const struct load *load, const double *mine, int count, double *all);

/* Blocking, and of an array. */
void load_send(const struct load *load, int rank, const void *base, size_t bytes);
void load_recv(const struct load *load, int rank, void *base, size_t bytes);

/* All ranks make their recv memory of so many bytes into which the others put, and free it. */
void load_open(struct load *load, size_t bytes);
void load_close(struct load *load);
/* Into recv of the rank; complete when it returns. */
void load_put(const struct load *load, int rank, const void *base, size_t bytes);

/* Collective calls: from send to recv, the root is 0; bcast is from send at the root to recv.
 * Reductions are sums of doubles. */
void load_barrier(const struct load *load, size_t bytes);
void load_bcast(const struct load *load, size_t bytes);
void load_reduce(const struct load *load, size_t bytes);
void load_allreduce(const struct load *load, size_t bytes);
void load_scan(const struct load *load, size_t bytes);
void load_gather(const struct load *load, size_t bytes);
void load_scatter(const struct load *load, size_t bytes);
void load_allgather(const struct load *load, size_t bytes);
void load_alltoall(const struct load *load, size_t bytes);
void load_reduce_scatter(const struct load *load, size_t bytes);

#endif
