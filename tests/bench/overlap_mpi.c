/*
 * overlap_mpi.c - what covey bench overlap measures, on MPI: two ranks give each other a face by
 * MPI_Isend and MPI_Irecv, compute, and wait for both (tools/bench/tasks/overlap.c).
 *
 *   overlap_mpi ROUNDS BATCH_US BYTES...
 *
 * prints a line a round and size: BYTES and the microseconds of a step of communication alone, of
 * computation alone, and of both.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tools/bench/tasks/work.h"

#define TRIALS 3
#define COUNT_MAX 1000
#define FINALIZE_SECONDS 3 /* then the end is forced: MPICH over UCX may wait there for ever */

struct side {
    int me;
    char *in, *out;
    double speed, worked; /* turns a microsecond; what came of them */
};

struct steps {
    int bytes; /* 0: nothing is sent */
    int count;
    double work_us;
};

static void step(struct side *side, int bytes, int64_t turns)
{
    MPI_Request both[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    if (bytes > 0) {
        MPI_Irecv(side->in, bytes, MPI_BYTE, !side->me, 1, MPI_COMM_WORLD, &both[0]);
        MPI_Isend(side->out, bytes, MPI_BYTE, !side->me, 1, MPI_COMM_WORLD, &both[1]);
    }
    side->worked += work_do(turns);
    MPI_Wait(&both[0], MPI_STATUS_IGNORE);
    MPI_Wait(&both[1], MPI_STATUS_IGNORE);
}

/* Of the first rank, which says how many steps and how much computation. */
static double sample(struct side *side, struct steps steps)
{
    double words[2] = {steps.count, steps.work_us};
    MPI_Bcast(words, 2, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    double start_us = work_now_us();
    for (int i = 0; i < (int)words[0]; i++)
        step(side, steps.bytes, (int64_t)(words[1] * side->speed));
    return (work_now_us() - start_us) / words[0];
}

/* The microseconds to be asked for so that the computation takes `wanted_us`. */
static double fit_work(struct side *side, int count, double wanted_us)
{
    double work_us = wanted_us;
    for (int i = 0; i < TRIALS; i++)
        work_us *= wanted_us / sample(side, (struct steps){.count = count, .work_us = work_us});
    return work_us;
}

static void measure(struct side *side, int bytes, int rounds, double batch_us)
{
    struct steps steps = {.bytes = bytes, .count = 1};
    double comm_us = 0;
    for (int i = 0; i < TRIALS; i++) {
        comm_us = sample(side, steps);
        double wanted = batch_us / (comm_us + 0.01);
        steps.count = wanted < 1 ? 1 : wanted > COUNT_MAX ? COUNT_MAX : (int)wanted;
    }
    double work_us = fit_work(side, steps.count, comm_us);
    for (int i = 0; i < rounds; i++) {
        double us = sample(side, steps);
        double comp_us = sample(side, (struct steps){.count = steps.count, .work_us = work_us});
        double both_us =
            sample(side, (struct steps){.bytes = bytes, .count = steps.count, .work_us = work_us});
        if (side->me == 0)
            printf("%d %.3f %.3f %.3f\n", bytes, us, comp_us, both_us);
    }
}

int main(int argc, char **argv)
{
    struct side side = {0};
    int ranks, most = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &side.me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc < 4 || ranks != 2) {
        fprintf(stderr, "usage, on two ranks: overlap_mpi ROUNDS BATCH_US BYTES...\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    for (int i = 3; i < argc; i++)
        most = atoi(argv[i]) > most ? atoi(argv[i]) : most;
    side.in = calloc(1, (size_t)most);
    side.out = calloc(1, (size_t)most);
    side.speed = work_speed(&side.worked);
    for (int i = 3; i < argc && side.in && side.out; i++)
        measure(&side, atoi(argv[i]), atoi(argv[1]), atof(argv[2]));
    fflush(stdout);
    MPI_Barrier(MPI_COMM_WORLD);
    alarm(FINALIZE_SECONDS);
    MPI_Finalize();
    return 0;
}
