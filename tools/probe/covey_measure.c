/*
 * covey-measure: how fast one core of this machine is, by its own processor time: what else runs
 * here hardly shows. It takes some 30 ms of a core, for which no daemon could wait; so coveyd runs
 * this program and reads its one line:
 *
 *   "integer" RATE "float" RATE "pack" RATE
 *
 * 64-bit operations a second, each after the one before; those of doubles, multiplications and
 * additions, several at once; bytes a second of doubles copied into a message's memory.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "daemon/process/helper.h"

#define ROUNDS 3
#define ROUND_S 0.003
#define INTEGER_OPERATIONS 4 /* of one turn of the loop */
#define FLOAT_OPERATIONS 8
#define STEPS 20000
#define NICENESS 10
#define PACK_DOUBLES ((size_t)512 * 1024) /* 4 MiB, a large message */

static double used_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Some work; returns how many operations or bytes it was. `seed` comes from outside and goes there,
 * so that no compiler does it once and for all. */
typedef double work_fn(volatile double *seed, double *memory);

static double work_integer(volatile double *seed, double *memory)
{
    uint64_t x = (uint64_t)*seed;
    (void)memory;
    for (uint64_t i = 0; i < STEPS; i++) {
        x = x * UINT64_C(6364136223846793005) + i;
        x ^= x >> 29;
    }
    *seed = (double)(x & 0xffff);
    return (double)STEPS * INTEGER_OPERATIONS;
}

static double work_float(volatile double *seed, double *memory)
{
    double a = *seed, b = a + 1, c = a + 2, d = a + 3;
    (void)memory;
    for (int i = 0; i < STEPS; i++) {
        a = a * 0.999 + 0.5;
        b = b * 0.998 + 0.5;
        c = c * 0.997 + 0.5;
        d = d * 0.996 + 0.5;
    }
    *seed = fmod(a + b + c + d, 1000);
    return (double)STEPS * FLOAT_OPERATIONS;
}

static double work_pack(volatile double *seed, double *memory)
{
    memory[0] = *seed;
    memcpy(memory + PACK_DOUBLES, memory, PACK_DOUBLES * sizeof *memory);
    *seed = memory[2 * PACK_DOUBLES - 1];
    return (double)(PACK_DOUBLES * sizeof *memory);
}

/* The best of some rounds: whatever disturbs makes it slower. */
static double rate_of(work_fn *work, double *memory)
{
    volatile double seed = 1;
    double best = 0;
    for (int i = 0; i < ROUNDS; i++) {
        double done = 0, start = used_s(), used = 0;
        while (used < ROUND_S) {
            done += work(&seed, memory);
            used = used_s() - start;
        }
        best = done / used > best ? done / used : best;
    }
    return best;
}

static double pack_rate(void)
{
    double *memory = calloc(2 * PACK_DOUBLES, sizeof *memory);
    if (memory == NULL)
        return 0;
    for (size_t i = 0; i < PACK_DOUBLES; i++)
        memory[i] = (double)i; /* else the kernel has one page for all of it */
    double rate = rate_of(work_pack, memory);
    free(memory);
    return rate;
}

/* What else runs goes first. Where the kernel shares processors out between sessions, the niceness
 * of the session is what counts (autogroups, sched(7)); coveyd gives this program one of its own.
 * Not to the lowest priority: who is killed has to run to end. */
static void yield_to_others(void)
{
    FILE *session = getsid(0) == getpid() ? fopen("/proc/self/autogroup", "we") : NULL;
    if (session != NULL) {
        fprintf(session, "%d", NICENESS);
        fclose(session); /* a kernel without autogroups goes by the process */
    }
    setpriority(PRIO_PROCESS, 0, NICENESS);
}

static const char usage[] = "usage: covey-measure [--yield]\n"
                            "\n"
                            "Prints how many integer and floating point operations a second a core "
                            "does, and how\nmany bytes it packs; coveyd calls it. --yield: what "
                            "else runs goes first.\n";

int main(int argc, char **argv)
{
    if (helper_answer(argc, argv, usage))
        return fflush(stdout) != 0;
    bool yields = argc > 1 && strcmp(argv[1], "--yield") == 0;
    if (argc > 1 + yields)
        return fprintf(stderr, "covey-measure: unexpected argument '%s'\n", argv[1 + yields]), 2;
    if (yields)
        yield_to_others();
    double integer = rate_of(work_integer, NULL), floating = rate_of(work_float, NULL);
    printf("integer %.6g float %.6g pack %.6g\n", integer, floating, pack_rate());
    return fflush(stdout) != 0;
}
