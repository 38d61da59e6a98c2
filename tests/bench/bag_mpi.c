/*
 * bag_mpi.c - a master that gives empty items to workers, one more to each as it returns one, as an
 * MPI program: what covey bench bag is compared with. Prints items a second.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { ITEM = 1, RESULT = 2, STOP = 3 };

static void work(void)
{
    for (;;) {
        int item;
        MPI_Status status;
        MPI_Recv(&item, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        if (status.MPI_TAG == STOP)
            return;
        MPI_Send(&item, 1, MPI_INT, 0, RESULT, MPI_COMM_WORLD);
    }
}

static void give(int to, int *next, int items)
{
    if (*next < items)
        MPI_Send(next, 1, MPI_INT, to, ITEM, MPI_COMM_WORLD);
    (*next)++;
}

static double lead(int items, int workers)
{
    int next = 0;
    double begin = MPI_Wtime();
    for (int turn = 0; turn < 2; turn++) /* the one at work and the next */
        for (int to = 1; to <= workers; to++)
            give(to, &next, items);
    for (int got = 0; got < items; got++) {
        int item;
        MPI_Status status;
        MPI_Recv(&item, 1, MPI_INT, MPI_ANY_SOURCE, RESULT, MPI_COMM_WORLD, &status);
        give(status.MPI_SOURCE, &next, items);
    }
    double seconds = MPI_Wtime() - begin;
    for (int to = 1; to <= workers; to++)
        MPI_Send(&next, 1, MPI_INT, to, STOP, MPI_COMM_WORLD);
    return seconds;
}

int main(int argc, char **argv)
{
    int rank, size, items = argc > 1 ? atoi(argv[1]) : 20000;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank > 0)
        work();
    else
        printf("MPI, a master and %d workers on one host: %.0f items a second\n", size - 1,
               items / lead(items, size - 1));
    MPI_Finalize();
    return 0;
}
