/* alltoall_mpi.c - alltoall_load.h on MPI: MPI_Alltoall, whichever one is linked or preloaded. */
#include "tests/bench/alltoall_load.h"

#include <mpi.h>

const unsigned load_finalize_seconds = 1;

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
