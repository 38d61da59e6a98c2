/* beside_mpi.c - beside_load.h on MPI, with any implementation of it. */
#include "tests/bench/beside_load.h"

#include <mpi.h>

#define TAG 1

const unsigned load_finalize_seconds = 10;

void load_share(const struct load *load, const double *mine, int count, double *all)
{
    (void)load;
    MPI_Allgather(mine, count, MPI_DOUBLE, all, count, MPI_DOUBLE, MPI_COMM_WORLD);
}

void load_send(const struct load *load, int rank, const void *base, size_t bytes)
{
    (void)load;
    MPI_Send(base, (int)bytes, MPI_BYTE, rank, TAG, MPI_COMM_WORLD);
}

void load_recv(const struct load *load, int rank, void *base, size_t bytes)
{
    (void)load;
    MPI_Recv(base, (int)bytes, MPI_BYTE, rank, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static MPI_Win window;

/* MPI wants an epoch of passive targets for puts and flushes. */
void load_open(struct load *load, size_t bytes)
{
    MPI_Win_allocate((MPI_Aint)bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &load->recv, &window);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, window);
}

void load_close(struct load *load)
{
    (void)load;
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
}

void load_put(const struct load *load, int rank, const void *base, size_t bytes)
{
    (void)load;
    MPI_Put(base, (int)bytes, MPI_BYTE, rank, 0, (int)bytes, MPI_BYTE, window);
    MPI_Win_flush(rank, window);
}

static int numbers(size_t bytes)
{
    return (int)(bytes / sizeof(double));
}

void load_barrier(const struct load *load, size_t bytes)
{
    (void)load, (void)bytes;
    MPI_Barrier(MPI_COMM_WORLD);
}

void load_bcast(const struct load *load, size_t bytes)
{
    MPI_Bcast(load->me == 0 ? load->send : load->recv, (int)bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
}

void load_reduce(const struct load *load, size_t bytes)
{
    MPI_Reduce(load->send, load->recv, numbers(bytes), MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
}

void load_allreduce(const struct load *load, size_t bytes)
{
    MPI_Allreduce(load->send, load->recv, numbers(bytes), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

void load_scan(const struct load *load, size_t bytes)
{
    MPI_Scan(load->send, load->recv, numbers(bytes), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

void load_gather(const struct load *load, size_t bytes)
{
    int count = (int)bytes;
    MPI_Gather(load->send, count, MPI_BYTE, load->recv, count, MPI_BYTE, 0, MPI_COMM_WORLD);
}

void load_scatter(const struct load *load, size_t bytes)
{
    int count = (int)bytes;
    MPI_Scatter(load->send, count, MPI_BYTE, load->recv, count, MPI_BYTE, 0, MPI_COMM_WORLD);
}

void load_allgather(const struct load *load, size_t bytes)
{
    int count = (int)bytes;
    MPI_Allgather(load->send, count, MPI_BYTE, load->recv, count, MPI_BYTE, MPI_COMM_WORLD);
}

void load_alltoall(const struct load *load, size_t bytes)
{
    int count = (int)bytes;
    MPI_Alltoall(load->send, count, MPI_BYTE, load->recv, count, MPI_BYTE, MPI_COMM_WORLD);
}

void load_reduce_scatter(const struct load *load, size_t bytes)
{
    MPI_Reduce_scatter_block(load->send, load->recv, numbers(bytes), MPI_DOUBLE, MPI_SUM,
                             MPI_COMM_WORLD);
}
