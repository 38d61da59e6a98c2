/* ranks_mpi.c - a load of ranks.h as a program on MPI, with any implementation of it. */
#include "tests/bench/ranks.h"

#include <errno.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

_Noreturn void load_die(const char *why)
{
    fprintf(stderr, "%s: %s\n", program_invocation_short_name, why);
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}

int main(int argc, char **argv)
{
    struct load load = {0};

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &load.me);
    MPI_Comm_size(MPI_COMM_WORLD, &load.ranks);
    load_run(&load, argc, argv);
    MPI_Barrier(MPI_COMM_WORLD);
    alarm(load_finalize_seconds);
    MPI_Finalize();
    return 0;
}
