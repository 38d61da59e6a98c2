/* alltoall_load.c - see alltoall_load.h. */
#include "tests/bench/alltoall_load.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BYTES_MAX ((size_t)1 << 24)
#define PERIOD 251 /* of the bytes of a block */
#define FIRST_BYTES 16384

double load_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Time of all processors since the machine started: idle, and all. */
static void read_processors(double *idle, double *all)
{
    double part[8] = {0};
    FILE *stat = fopen("/proc/stat", "r");

    if (!stat || fscanf(stat, "cpu %lf %lf %lf %lf %lf %lf %lf %lf", &part[0], &part[1], &part[2],
                        &part[3], &part[4], &part[5], &part[6], &part[7]) != 8)
        load_die("/proc/stat cannot be read");
    fclose(stat);
    *idle = part[3] + part[4];
    *all = 0;
    for (int i = 0; i < 8; i++)
        *all += part[i];
}

static int by_time(const void *a, const void *b)
{
    const double *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

struct load_span load_span(int ranks, double *entered, const double *returned)
{
    double last = returned[0];

    for (int i = 1; i < ranks; i++)
        last = returned[i] > last ? returned[i] : last;
    qsort(entered, (size_t)ranks, sizeof *entered, by_time);
    return (struct load_span){.seconds = last - entered[0],
                              .skew = 2 * (entered[ranks / 2] - entered[0])};
}

/* Byte k of the block from one rank to another in a round. */
static unsigned char byte_of(int from, int to, int round, size_t k)
{
    return (unsigned char)((size_t)from * 7 + (size_t)to * 13 + (size_t)round * 31 + k % PERIOD);
}

static void set_size(struct load *load, size_t bytes)
{
    load->send = malloc(bytes * (size_t)load->ranks);
    load->recv = malloc(bytes * (size_t)load->ranks);
    if (!load->send || !load->recv)
        load_die("memory is exhausted");
}

static void forget_size(struct load *load)
{
    free(load->send);
    free(load->recv);
}

static void fill(const struct load *load, size_t bytes, int round)
{
    for (int to = 0; to < load->ranks; to++)
        for (size_t k = 0; k < bytes; k++)
            load->send[(size_t)to * bytes + k] = byte_of(load->me, to, round, k);
    memset(load->recv, 0xee, bytes * (size_t)load->ranks);
}

static void check(const struct load *load, size_t bytes, int round)
{
    for (int from = 0; from < load->ranks; from++)
        for (size_t k = 0; k < bytes; k++)
            if (load->recv[(size_t)from * bytes + k] != byte_of(from, load->me, round, k))
                load_die("a byte is wrong");
}

/* The first call opens connections and makes schedules, whatever its size. */
static void run_first(struct load *load)
{
    set_size(load, FIRST_BYTES);
    fill(load, FIRST_BYTES, 0);
    load_exchange(load, FIRST_BYTES);
    check(load, FIRST_BYTES, 0);
    forget_size(load);
}

static void run_round(const struct load *load, size_t bytes, int round)
{
    double idle[2], all[2];

    fill(load, bytes, round);
    read_processors(&idle[0], &all[0]);
    struct load_span span = load_exchange(load, bytes);
    read_processors(&idle[1], &all[1]);
    check(load, bytes, round);
    if (load->me != 0)
        return;
    double total = all[1] > all[0] ? all[1] - all[0] : 1;
    printf("%zu %.6f %.2f %.6f\n", bytes, span.seconds, (idle[1] - idle[0]) / total, span.skew);
    fflush(stdout);
}

static void run_size(struct load *load, int rounds, size_t bytes)
{
    set_size(load, bytes);
    for (int round = 0; round < rounds; round++)
        run_round(load, bytes, round);
    forget_size(load);
}

void load_run(struct load *load, int argc, char **argv)
{
    run_first(load);
    for (int i = 1; i < argc; i++) {
        int rounds;
        size_t bytes;
        if (sscanf(argv[i], "%d:%zu", &rounds, &bytes) != 2 || bytes == 0 || bytes > BYTES_MAX)
            load_die("the arguments are ROUNDS:BYTES...");
        run_size(load, rounds, bytes);
    }
}
