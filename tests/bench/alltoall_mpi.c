/*
 * alltoall_mpi.c - times MPI_Alltoall, whichever one is linked or preloaded.
 *
 *   alltoall_mpi ROUNDS:BYTES...
 *
 * Rank 0 prints a line a call: BYTES SECONDS IDLE. SECONDS is from the first rank's entry to the
 * last one's return: the hosts of a lab share a clock. IDLE is the part of the machine's processor
 * time that nothing used meanwhile. Each result is checked; a wrong one ends the program with 1.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define FINALIZE_SECONDS 3 /* then the end is forced: MPICH over UCX may wait there for ever */

struct exchange {
    int me, ranks;
    unsigned char *send, *recv;
};

static void die(const char *what)
{
    fprintf(stderr, "alltoall_mpi: %s\n", what);
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Jiffies of all processors since the machine started: those idle, and all. */
static void read_processors(double *idle, double *all)
{
    double part[8] = {0};
    FILE *stat = fopen("/proc/stat", "r");

    if (!stat || fscanf(stat, "cpu %lf %lf %lf %lf %lf %lf %lf %lf", &part[0], &part[1], &part[2],
                        &part[3], &part[4], &part[5], &part[6], &part[7]) != 8)
        die("/proc/stat cannot be read");
    fclose(stat);
    *idle = part[3] + part[4];
    *all = 0;
    for (int i = 0; i < 8; i++)
        *all += part[i];
}

/* Byte k of the block from one rank to another in a round. */
static unsigned char byte_of(int from, int to, int round, size_t k)
{
    return (unsigned char)((size_t)from * 7 + (size_t)to * 13 + (size_t)round * 31 + k % 251);
}

static void fill(struct exchange *x, size_t bytes, int round)
{
    for (int to = 0; to < x->ranks; to++)
        for (size_t k = 0; k < bytes; k++)
            x->send[(size_t)to * bytes + k] = byte_of(x->me, to, round, k);
    memset(x->recv, 0xee, bytes * (size_t)x->ranks);
}

static void check(const struct exchange *x, size_t bytes, int round)
{
    for (int from = 0; from < x->ranks; from++)
        for (size_t k = 0; k < bytes; k++)
            if (x->recv[(size_t)from * bytes + k] != byte_of(from, x->me, round, k))
                die("a byte is wrong");
}

static double time_one(const struct exchange *x, int bytes)
{
    double span[2], all[2];

    MPI_Barrier(MPI_COMM_WORLD);
    span[0] = -now();
    MPI_Alltoall(x->send, bytes, MPI_BYTE, x->recv, bytes, MPI_BYTE, MPI_COMM_WORLD);
    span[1] = now();
    MPI_Allreduce(span, all, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return all[0] + all[1];
}

static void run(struct exchange *x, int rounds, size_t bytes)
{
    x->send = malloc(bytes * (size_t)x->ranks);
    x->recv = malloc(bytes * (size_t)x->ranks);
    if (!x->send || !x->recv)
        die("memory is exhausted");
    for (int round = 0; round < rounds; round++) {
        double idle[2], all[2];
        fill(x, bytes, round);
        read_processors(&idle[0], &all[0]);
        double seconds = time_one(x, (int)bytes);
        read_processors(&idle[1], &all[1]);
        check(x, bytes, round);
        if (x->me == 0)
            printf("%zu %.6f %.2f\n", bytes, seconds,
                   (idle[1] - idle[0]) / (all[1] > all[0] ? all[1] - all[0] : 1));
    }
    free(x->send);
    free(x->recv);
}

int main(int argc, char **argv)
{
    struct exchange x;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &x.me);
    MPI_Comm_size(MPI_COMM_WORLD, &x.ranks);
    for (int i = 1; i < argc; i++) {
        int rounds;
        size_t bytes;
        if (sscanf(argv[i], "%d:%zu", &rounds, &bytes) != 2 || bytes == 0 || bytes > 1 << 24)
            die("usage: alltoall_mpi ROUNDS:BYTES...");
        run(&x, rounds, bytes);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    alarm(FINALIZE_SECONDS);
    MPI_Finalize();
    return 0;
}
