/* alltoall_mpi.c - alltoall_load.h on MPI: MPI_Alltoall, whichever one is linked or preloaded. */
#include "tests/bench/alltoall_load.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define FINALIZE_SECONDS 1 /* then the end is forced: MPICH over UCX may wait there for ever */

_Noreturn void load_die(const char *why)
{
    fprintf(stderr, "alltoall_mpi: %s\n", why);
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}

double load_exchange(const struct load *load, size_t bytes)
{
    double span[2], all[2];
    int count = (int)bytes;

    MPI_Barrier(MPI_COMM_WORLD);
    span[0] = -load_now();
    MPI_Alltoall(load->send, count, MPI_BYTE, load->recv, count, MPI_BYTE, MPI_COMM_WORLD);
    span[1] = load_now();
    MPI_Allreduce(span, all, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return all[0] + all[1];
}

int main(int argc, char **argv)
{
    struct load load = {0};

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &load.me);
    MPI_Comm_size(MPI_COMM_WORLD, &load.ranks);
    load_run(&load, argc, argv);
    MPI_Barrier(MPI_COMM_WORLD);
    alarm(FINALIZE_SECONDS);
    MPI_Finalize();
    return 0;
}
