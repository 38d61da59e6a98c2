/*
 * beside_load.c - see beside_load.h. What a block has in it follows from who sends it to whom, so
 * that each rank knows what it must get.
 */
#include "tests/bench/beside_load.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#define BYTES_MAX ((size_t)1 << 26)
#define PERIOD 251 /* of the bytes of a block */
#define REPETITIONS_MIN 8
#define REPETITIONS_MAX 1000000
#define PATIENCE 4   /* samples' time, after which fewer repetitions are enough */
#define GROWTH_MIN 2 /* of the repetitions, from one sample to the next */
#define GROWTH_MAX 16

enum shape { ONE, MANY };              /* blocks that are sent, or received */
enum who { ALL, ROOT, OTHERS, PAIRS }; /* ranks that receive */

struct call {
    const char *name;
    void (*collective)(const struct load *load, size_t bytes);
    enum shape sent, received;
    enum who receivers;
    int numbers; /* a sum of doubles */
    int stream;  /* of pairs: one way, */
    int puts;    /* and without a receive */
    int pairs;   /* of pairs: 1, or 0 for all that there are */
};

static const struct call CALLS[] = {
    {.name = "ping", .receivers = PAIRS, .pairs = 1},
    {.name = "pings", .receivers = PAIRS},
    {.name = "stream", .receivers = PAIRS, .stream = 1, .pairs = 1},
    {.name = "streams", .receivers = PAIRS, .stream = 1},
    {.name = "put", .receivers = PAIRS, .stream = 1, .puts = 1, .pairs = 1},
    {.name = "barrier", .collective = load_barrier},
    {.name = "bcast", .collective = load_bcast, .receivers = OTHERS},
    {.name = "reduce", .collective = load_reduce, .receivers = ROOT, .numbers = 1},
    {.name = "allreduce", .collective = load_allreduce, .numbers = 1},
    {.name = "scan", .collective = load_scan, .numbers = 1},
    {.name = "gather", .collective = load_gather, .received = MANY, .receivers = ROOT},
    {.name = "scatter", .collective = load_scatter, .sent = MANY},
    {.name = "allgather", .collective = load_allgather, .received = MANY},
    {.name = "alltoall", .collective = load_alltoall, .sent = MANY, .received = MANY},
    {.name = "reduce_scatter", .collective = load_reduce_scatter, .sent = MANY, .numbers = 1},
};

/* What all ranks know of a sample. */
struct sample {
    double seconds;   /* of the slowest rank */
    double processor; /* of all ranks */
    double clock;     /* of rank 0, at its end */
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double processor_time(void)
{
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1e-6;
}

/* ---- What is sent, and what must come of it -------------------------------------------------- */

static unsigned char byte_of(int from, int to, size_t k)
{
    return (unsigned char)((size_t)from * 7 + (size_t)to * 13 + k % PERIOD);
}

/* Small whole numbers: their sums have no rounding, in whichever order. */
static double number_of(int from, int to, size_t k)
{
    return (double)(from + 1) * (double)(1 + ((size_t)to * 3 + k) % 11);
}

static size_t blocks(const struct load *load, enum shape shape)
{
    return shape == MANY ? (size_t)load->ranks : 1;
}

static void fill(const struct load *load, const struct call *call, size_t bytes)
{
    size_t numbers = bytes / sizeof(double);
    for (int to = 0; to < (int)blocks(load, call->sent); to++) {
        unsigned char *block = load->send + (size_t)to * bytes;
        for (size_t k = 0; !call->numbers && k < bytes; k++)
            block[k] = byte_of(load->me, to, k);
        for (size_t k = 0; call->numbers && k < numbers; k++)
            ((double *)block)[k] = number_of(load->me, to, k);
    }
}

static void clear(const struct load *load, const struct call *call, size_t bytes)
{
    memset(load->recv, 0xee, bytes * blocks(load, call->received));
}

static int acts(const struct load *load, const struct call *call)
{
    if (call->receivers != PAIRS)
        return 1;
    int pairs = call->pairs ? call->pairs : load->ranks / 2;
    return load->me < 2 * pairs;
}

static int receives(const struct load *load, const struct call *call)
{
    switch (call->receivers) {
    case ROOT:
        return load->me == 0;
    case OTHERS:
        return load->me != 0;
    case PAIRS:
        return acts(load, call) && (!call->stream || load->me % 2 == 1);
    default:
        return call->collective != load_barrier;
    }
}

/* The ranks whose numbers are summed are the first ones: as many for their numbers' factors. */
static void check_numbers(const struct load *load, const struct call *call, size_t bytes)
{
    int last = call->collective == load_scan ? load->me + 1 : load->ranks;
    int to = call->sent == MANY ? load->me : 0;
    double factor = (double)last * (double)(last + 1) / 2;
    const double *got = (const double *)load->recv;
    for (size_t k = 0; k < bytes / sizeof *got; k++)
        if (got[k] != factor * number_of(0, to, k))
            load_die("a sum is wrong");
}

static void check(const struct load *load, const struct call *call, size_t bytes)
{
    if (!receives(load, call))
        return;
    if (call->numbers) {
        check_numbers(load, call, bytes);
        return;
    }
    for (int i = 0; i < (int)blocks(load, call->received); i++) {
        int from = call->received == MANY ? i : call->receivers == PAIRS ? load->me ^ 1 : 0;
        int to = call->sent == MANY ? load->me : 0;
        const unsigned char *block = load->recv + (size_t)i * bytes;
        for (size_t k = 0; k < bytes; k++)
            if (block[k] != byte_of(from, to, k))
                load_die("a byte is wrong");
    }
}

/* ---- What is timed --------------------------------------------------------------------------- */

static void run_ping(const struct load *load, size_t bytes, int repetitions)
{
    int other = load->me ^ 1;
    for (int i = 0; i < repetitions; i++) {
        if (load->me % 2 == 0)
            load_send(load, other, load->send, bytes);
        load_recv(load, other, load->recv, bytes);
        if (load->me % 2 == 1)
            load_send(load, other, load->send, bytes);
    }
}

static void run_puts(const struct load *load, size_t bytes, int repetitions)
{
    int other = load->me ^ 1;
    char end = 0;
    for (int i = 0; load->me % 2 == 0 && i < repetitions; i++)
        load_put(load, other, load->send, bytes);
    if (load->me % 2 == 0)
        load_send(load, other, &end, 1);
    else
        load_recv(load, other, &end, 1);
}

static void run_stream(const struct load *load, size_t bytes, int repetitions)
{
    int other = load->me ^ 1;
    char answer = 0;
    for (int i = 0; i < repetitions; i++) {
        if (load->me % 2 == 0)
            load_send(load, other, load->send, bytes);
        else
            load_recv(load, other, load->recv, bytes);
    }
    if (load->me % 2 == 0)
        load_recv(load, other, &answer, 1);
    else
        load_send(load, other, &answer, 1);
}

static void repeat(const struct load *load, const struct call *call, size_t bytes, int repetitions)
{
    if (!acts(load, call))
        return;
    if (call->receivers == PAIRS) {
        (call->puts ? run_puts : call->stream ? run_stream : run_ping)(load, bytes, repetitions);
        return;
    }
    for (int i = 0; i < repetitions; i++)
        call->collective(load, bytes);
}

/* Who has no part in it waits in a barrier meanwhile, and what that costs counts. */
static struct sample take(const struct load *load, const struct call *call, size_t bytes,
                          int repetitions)
{
    enum { FIGURES = 3 };
    double mine[FIGURES], all[FIGURES * load->ranks];
    struct sample sample = {0};

    load_barrier(load, 0);
    double processor = processor_time(), start = now();
    repeat(load, call, bytes, repetitions);
    mine[2] = now();
    mine[0] = mine[2] - start;
    mine[1] = processor_time() - processor;
    load_barrier(load, 0);
    if (!acts(load, call)) {
        mine[0] = 0;
        mine[1] = processor_time() - processor;
    }
    load_share(load, mine, FIGURES, all);
    for (int i = 0; i < load->ranks; i++) {
        sample.seconds = all[i * FIGURES] > sample.seconds ? all[i * FIGURES] : sample.seconds;
        sample.processor += all[i * FIGURES + 1];
    }
    sample.clock = all[2];
    return sample;
}

/* A short sample of few calls may be one in which the kernel ran something else. */
static int is_enough(int repetitions, double seconds, double wanted)
{
    return repetitions == REPETITIONS_MAX || seconds >= wanted * PATIENCE ||
           (seconds >= wanted / 2 && repetitions >= REPETITIONS_MIN);
}

/* All ranks come to the same, from the same figures. */
static int more_repetitions(int repetitions, double seconds, double wanted)
{
    double factor = seconds > 0 ? wanted / seconds : GROWTH_MAX;
    if (factor > GROWTH_MAX)
        factor = GROWTH_MAX;
    if (factor < GROWTH_MIN)
        factor = GROWTH_MIN;
    double more = (double)repetitions * factor;
    return more > REPETITIONS_MAX ? REPETITIONS_MAX : (int)more;
}

/* The first call opens links; each sample is longer than the one before, up to one that is long
 * enough. Returns the clock of rank 0. */
static double measure(const struct load *load, const struct call *call, size_t bytes, double wanted)
{
    struct sample sample;
    int repetitions = 1;

    fill(load, call, bytes);
    clear(load, call, bytes);
    load_barrier(load, 0); /* before anybody puts there */
    repeat(load, call, bytes, 1);
    check(load, call, bytes);
    for (;;) {
        clear(load, call, bytes); /* what is checked is of the sample that counts */
        sample = take(load, call, bytes, repetitions);
        if (is_enough(repetitions, sample.seconds, wanted))
            break;
        repetitions = more_repetitions(repetitions, sample.seconds, wanted);
    }
    check(load, call, bytes);
    double operations = (double)repetitions * (call->receivers == PAIRS && !call->stream ? 2 : 1);
    if (load->me == 0)
        printf("%s %zu %d %.9f %.9f\n", call->name, bytes, repetitions, sample.seconds / operations,
               sample.processor / operations);
    fflush(stdout);
    return sample.clock;
}

static double measure_with_blocks(struct load *load, const struct call *call, size_t bytes,
                                  double wanted)
{
    load->send = malloc(bytes * blocks(load, call->sent) + 1);
    if (call->puts)
        load_open(load, bytes);
    else
        load->recv = malloc(bytes * blocks(load, call->received) + 1);
    if (!load->send || !load->recv)
        load_die("memory is exhausted");
    double clock = measure(load, call, bytes, wanted);
    free(load->send);
    if (call->puts)
        load_close(load);
    else
        free(load->recv);
    return clock;
}

static const struct call *call_named(const char *name)
{
    for (size_t i = 0; i < sizeof CALLS / sizeof *CALLS; i++)
        if (strcmp(CALLS[i].name, name) == 0)
            return &CALLS[i];
    load_die("there is no such call");
}

void load_run(struct load *load, int argc, char **argv)
{
    double sample_ms, limit_s;
    if (argc < 4 || sscanf(argv[1], "%lf", &sample_ms) != 1 ||
        sscanf(argv[2], "%lf", &limit_s) != 1)
        load_die("the arguments are SAMPLE_MS LIMIT_S CALL:BYTES...");
    double over = take(load, call_named("barrier"), 0, 1).clock + limit_s, clock = 0;
    for (int i = 3; i < argc && clock < over; i++) {
        char name[32];
        size_t bytes;
        if (sscanf(argv[i], "%31[^:]:%zu", name, &bytes) != 2 || bytes > BYTES_MAX)
            load_die("the arguments are SAMPLE_MS LIMIT_S CALL:BYTES...");
        const struct call *call = call_named(name);
        if (call->numbers && bytes % sizeof(double) != 0)
            load_die("sums are of doubles");
        clock = measure_with_blocks(load, call, bytes, sample_ms * 1e-3);
    }
}
