/* alltoall_mpi.c - alltoall_load.h on MPI: MPI_Alltoall, whichever one is linked or preloaded. */
#include "tests/bench/alltoall_load.h"

#include <mpi.h>
#include <stdlib.h>

const unsigned load_finalize_seconds = 1;

struct load_span load_exchange(const struct load *load, size_t bytes)
{
    double *times = calloc(2 * (size_t)load->ranks, sizeof *times);
    int count = (int)bytes;

    if (!times)
        load_die("memory is exhausted");
    MPI_Barrier(MPI_COMM_WORLD);
    double entered = load_now();
    MPI_Alltoall(load->send, count, MPI_BYTE, load->recv, count, MPI_BYTE, MPI_COMM_WORLD);
    double returned = load_now();
    MPI_Allgather(&entered, 1, MPI_DOUBLE, times, 1, MPI_DOUBLE, MPI_COMM_WORLD);
    MPI_Allgather(&returned, 1, MPI_DOUBLE, times + load->ranks, 1, MPI_DOUBLE, MPI_COMM_WORLD);
    struct load_span span = load_span(load->ranks, times, times + load->ranks);
    free(times);
    return span;
}
