/*
 * MPI_Alltoall in every form that a replacement must get right: types with gaps, in place, other
 * communicators. Exit status 0 and the word `same` when each result is as it must be.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT 1500

static int wrong;

static int value(int from, int to, int k)
{
    return from * 1000003 + to * 10007 + k;
}

static void fill(int *block, int n, int me, int outgoing)
{
    for (int r = 0; r < n; r++)
        for (int k = 0; k < COUNT; k++)
            block[r * COUNT + k] = outgoing ? value(me, r, k) : -1;
}

static void check(const int *got, int n, int me, const char *what)
{
    for (int r = 0; r < n; r++)
        for (int k = 0; k < COUNT; k++)
            if (got[r * COUNT + k] != value(r, me, k)) {
                printf("%s: rank %d from %d at %d\n", what, me, r, k);
                wrong = 1;
                return;
            }
}

static void contiguous(MPI_Comm comm, const char *what)
{
    int n, me;
    MPI_Comm_size(comm, &n);
    MPI_Comm_rank(comm, &me);
    int *send = malloc(sizeof(int) * COUNT * (size_t)n),
        *recv = malloc(sizeof(int) * COUNT * (size_t)n);
    for (int round = 0; round < 3; round++) {
        fill(send, n, me, 1);
        fill(recv, n, me, 0);
        MPI_Alltoall(send, COUNT, MPI_INT, recv, COUNT, MPI_INT, comm);
        check(recv, n, me, what);
        fill(recv, n, me, 1);
        MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, recv, COUNT, MPI_INT, comm);
        check(recv, n, me, "in place");
    }
    free(send);
    free(recv);
}

/* Every second element of the memory that is sent; received as a contiguous type of another count.
 */
static void with_gaps(MPI_Comm comm)
{
    int n, me;
    MPI_Datatype gaps, whole;
    MPI_Comm_size(comm, &n);
    MPI_Comm_rank(comm, &me);
    size_t ints = (size_t)COUNT * (size_t)n;
    int *block = malloc(sizeof(int) * ints), *send = malloc(2 * sizeof(int) * ints);
    int *recv = malloc(sizeof(int) * ints);
    fill(block, n, me, 1);
    fill(recv, n, me, 0);
    for (size_t i = 0; i < ints; i++)
        send[2 * i] = block[i];
    MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &gaps);
    MPI_Type_contiguous(COUNT, MPI_INT, &whole);
    MPI_Type_commit(&gaps);
    MPI_Type_commit(&whole);
    MPI_Alltoall(send, COUNT, gaps, recv, 1, whole, comm);
    check(recv, n, me, "with gaps");
    MPI_Type_free(&gaps);
    MPI_Type_free(&whole);
    free(block);
    free(send);
    free(recv);
}

int main(int argc, char **argv)
{
    MPI_Comm turned, half;
    int me, n, any;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    contiguous(MPI_COMM_WORLD, "world");
    with_gaps(MPI_COMM_WORLD);
    MPI_Comm_split(MPI_COMM_WORLD, 0, n - me, &turned);
    contiguous(turned, "turned");
    MPI_Comm_free(&turned);
    MPI_Comm_split(MPI_COMM_WORLD, me % 2, me, &half);
    contiguous(half, "half");
    MPI_Comm_free(&half);
    MPI_Allreduce(&wrong, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (me == 0 && !any)
        printf("same\n");
    MPI_Finalize();
    return any;
}
