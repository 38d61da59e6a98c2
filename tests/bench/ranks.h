/*
 * ranks.h - a benchmark's load that is the same on Covey and on MPI: what its two programs share.
 * NAME_load.c has the loops, NAME_covey.c and NAME_mpi.c the calls that it measures; ranks_mpi.c is
 * the rest of each program on MPI.
 */
#ifndef TESTS_BENCH_RANKS_H
#define TESTS_BENCH_RANKS_H

struct load {
    int me, ranks;
    unsigned char *send, *recv; /* a block for each rank */
    void *system;               /* the program's own */
};

/* After so many seconds the end of MPI is forced: MPICH over UCX may wait there for ever. */
extern const unsigned load_finalize_seconds;

/* Says why on standard error and ends the ranks. */
_Noreturn void load_die(const char *why);

/* Runs all that the arguments ask for; me, ranks and system are set. */
void load_run(struct load *load, int argc, char **argv);

#endif
