/*
 * alltoall_same.c - is MPI_Alltoall as it is called here the same as PMPI_Alltoall, to the byte?
 *
 *   alltoall_same SEED ROUNDS FITTING
 *
 * All ranks but the last ones run where the topology has a place; the first FITTING of them are all
 * that it has places for. Each round calls both with random types, counts and communicators and
 * compares the whole of both receive buffers, gaps included. A preloaded routine that falls through
 * calls PMPI_Alltoall, and this program has one of its own that counts: so it is known what ran.
 * Rank 0 prints `same: N scheduled, M fell through`, or what differed and ends with 1.
 */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FINALIZE_SECONDS 2 /* then the end is forced: MPICH over UCX may wait there for ever */
#define INTS_MAX (1 << 18) /* of a block: 1 MiB */
#define SAME_ABOVE 16000

typedef int alltoall_call(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, MPI_Comm);

static int fell_through, scheduled, fallen;
static unsigned long random_state;

int PMPI_Alltoall(const void *send, int send_count, MPI_Datatype send_type, void *recv, int count,
                  MPI_Datatype type, MPI_Comm comm)
{
    static alltoall_call *original;

    if (!original)
        *(void **)&original = dlsym(RTLD_NEXT, "PMPI_Alltoall");
    fell_through = 1;
    return original(send, send_count, send_type, recv, count, type, comm);
}

static void die(const char *what)
{
    printf("%s\n", what);
    fflush(stdout);
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}

/* The same on all ranks: they make the same types. */
static int below(int n)
{
    random_state = random_state * 6364136223846793005UL + 1442695040888963407UL;
    return (int)((random_state >> 33) % (unsigned long)n);
}

/* ---- Types of so many ints ----------------------------------------------------------------- */

static MPI_Datatype commit(MPI_Datatype type)
{
    MPI_Type_commit(&type);
    return type;
}

static MPI_Datatype contiguous(int ints)
{
    MPI_Datatype type;

    MPI_Type_contiguous(ints, MPI_INT, &type);
    return commit(type);
}

static MPI_Datatype copy_of_contiguous(int ints)
{
    MPI_Datatype inner = contiguous(ints), type;

    MPI_Type_dup(inner, &type);
    MPI_Type_free(&inner);
    return commit(type);
}

static MPI_Datatype with_gaps(int ints)
{
    MPI_Datatype type;

    MPI_Type_vector(ints, 1, 2, MPI_INT, &type);
    return commit(type);
}

static MPI_Datatype gap_at_end(int ints)
{
    MPI_Datatype inner = contiguous(ints), type;

    MPI_Type_create_resized(inner, 0, (MPI_Aint)sizeof(int) * (ints + 3), &type);
    MPI_Type_free(&inner);
    return commit(type);
}

/* Memory without gaps, whose last int comes first in the message. */
static MPI_Datatype backwards(int ints)
{
    int *displacement = malloc((size_t)ints * sizeof *displacement);
    MPI_Datatype type;

    for (int i = 0; i < ints; i++)
        displacement[i] = ints - 1 - i;
    MPI_Type_create_indexed_block(ints, 1, displacement, MPI_INT, &type);
    free(displacement);
    return commit(type);
}

/* Begins before its address: a lower bound below 0. */
static MPI_Datatype from_below(int ints)
{
    MPI_Datatype inner = contiguous(ints), type;
    int one = 1;
    MPI_Aint at = 0;

    MPI_Type_create_struct(1, &one, &at, &inner, &type);
    MPI_Type_free(&inner);
    MPI_Type_create_resized(type, -8, (MPI_Aint)sizeof(int) * ints + 16, &inner);
    MPI_Type_free(&type);
    return commit(inner);
}

static MPI_Datatype (*const makers[])(int) = {contiguous, copy_of_contiguous, with_gaps,
                                              gap_at_end, backwards,          from_below};
#define MAKERS (int)(sizeof makers / sizeof makers[0])

/* ---- One call ------------------------------------------------------------------------------ */

struct side {
    MPI_Datatype type;
    int count;
    size_t bytes; /* of a buffer for all blocks */
};

/* A way to lay out `ints` ints: elements of a random type. */
static struct side lay_out(int ints, int blocks)
{
    struct side s = {MPI_INT, ints, 0};
    int in_one = ints == 0 ? 1 : 1 + below(ints < 4096 ? ints : 4096);
    MPI_Aint low, extent;

    while (ints % in_one != 0)
        in_one--;
    if (below(4) > 0) {
        s.type = makers[below(MAKERS)](in_one);
        s.count = ints / in_one;
    } else if (below(2)) {
        s.type = MPI_BYTE;
        s.count = ints * (int)sizeof(int);
    }
    MPI_Type_get_extent(s.type, &low, &extent);
    s.bytes = (size_t)extent * (size_t)s.count * (size_t)blocks + 64;
    return s;
}

static void free_side(struct side *s)
{
    if (s->type != MPI_INT && s->type != MPI_BYTE)
        MPI_Type_free(&s->type);
}

static char *buffer(size_t bytes, int salt)
{
    char *made = malloc(bytes + 32);

    if (!made)
        die("memory is exhausted");
    for (size_t i = 0; i < bytes + 32; i++)
        made[i] = (char)((i * 2654435761UL + (size_t)salt * 40503UL) >> 5);
    return made;
}

/*
 * Bytes and other types do not match each other in MPI: both sides are bytes or neither is. Both
 * have one type in large blocks: of the block that stays Open MPI 4.1 copies only the first 64 KiB
 * when they differ.
 */
static void agree(struct side *send, struct side *recv, int ints, int blocks)
{
    if (ints > SAME_ABOVE) {
        free_side(recv);
        *recv = *send;
    }
    while ((send->type == MPI_BYTE) != (recv->type == MPI_BYTE)) {
        free_side(recv);
        *recv = lay_out(ints, blocks);
    }
}

static void call_both(MPI_Comm comm, int blocks, int ints, int in_place, int salt)
{
    struct side send = lay_out(ints, blocks), recv = lay_out(ints, blocks);

    agree(&send, &recv, ints, blocks);
    char *from = buffer(send.bytes, salt);
    char *got = buffer(recv.bytes, salt + 77), *wanted = buffer(recv.bytes, salt + 77);
    const void *source = in_place ? MPI_IN_PLACE : from + 16;
    PMPI_Alltoall(source, send.count, send.type, wanted + 16, recv.count, recv.type, comm);
    fell_through = 0;
    MPI_Alltoall(source, send.count, send.type, got + 16, recv.count, recv.type, comm);
    if (memcmp(got, wanted, recv.bytes + 32) != 0)
        die("a byte differs");
    free(from);
    free(got);
    free(wanted);
    free_side(&send);
    if (ints <= SAME_ABOVE)
        free_side(&recv);
}

static int some_ints(void)
{
    static const int most[] = {1, 8, 300, 3000, 20000, INTS_MAX};
    int kind = below(21);

    return kind == 20 ? below(INTS_MAX + 1) : below(most[kind % 5] + 1);
}

/* Calls both in a communicator that the schedule is for, or is not. */
static void try_in(MPI_Comm comm, int blocks, int fits)
{
    int ints = some_ints(), in_place = below(4) == 0, inter, me;

    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_test_inter(comm, &inter);
    call_both(comm, blocks, ints, in_place && !inter, me * 31 + ints);
    if (fell_through == (fits && ints > 0))
        die(fits ? "fell through, though the schedule is for it" : "did not fall through");
    scheduled += !fell_through;
    fallen += fell_through;
}

/* ---- Communicators ------------------------------------------------------------------------- */

/* Of the ranks in `wanted`, in an order of chance. */
static void try_some(int me, int wanted, int fits)
{
    MPI_Comm comm;
    int key = below(1000) * (me + 1) % 997, size;

    MPI_Comm_split(MPI_COMM_WORLD, wanted ? 0 : MPI_UNDEFINED, key, &comm);
    unsigned long before = random_state;
    if (comm != MPI_COMM_NULL) {
        MPI_Comm_size(comm, &size);
        try_in(comm, size, fits);
        try_in(comm, size, fits);
        MPI_Comm_free(&comm);
    }
    random_state = before * 3 + 1; /* the same again on those who took no part */
}

static void try_intercommunicator(int me, int n)
{
    MPI_Comm half, both;
    int low = me < n / 2, others;

    if (n < 2)
        return;
    MPI_Comm_split(MPI_COMM_WORLD, low, me, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, low ? n / 2 : 0, 5, &both);
    MPI_Comm_remote_size(both, &others);
    try_in(both, others, 0);
    MPI_Comm_free(&both);
    MPI_Comm_free(&half);
}

int main(int argc, char **argv)
{
    int me, n;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    if (argc != 4)
        die("usage: alltoall_same SEED ROUNDS FITTING");
    random_state = strtoul(argv[1], NULL, 10);
    int rounds = atoi(argv[2]), fitting = atoi(argv[3]);
    for (int round = 0; round < rounds; round++) {
        try_in(MPI_COMM_WORLD, n, n == fitting);
        try_some(me, me < fitting, 1);
        try_some(me, me > 0, 0); /* as many as fit, when one more is there: but on other hosts */
        try_some(me, me % 2, fitting == 1 && n == 2);
        try_intercommunicator(me, n);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 0)
        printf("same: %d scheduled, %d fell through\n", scheduled, fallen);
    fflush(stdout);
    alarm(FINALIZE_SECONDS);
    MPI_Finalize();
    return 0;
}
