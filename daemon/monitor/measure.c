#include "daemon/monitor/measure.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ROUNDS 3
#define ROUND_S 0.003
#define INTEGER_OPERATIONS 4 /* of one turn of the loop */
#define FLOAT_OPERATIONS 8
#define STEPS 20000
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

void measure_run(struct measure *m)
{
    double *memory = calloc(2 * PACK_DOUBLES, sizeof *memory);
    for (size_t i = 0; i < PACK_DOUBLES && memory != NULL; i++)
        memory[i] = (double)i; /* else the kernel has one page for all of it */
    m->integer_per_s = rate_of(work_integer, NULL);
    m->float_per_s = rate_of(work_float, NULL);
    m->pack_bytes_per_s = memory == NULL ? 0 : rate_of(work_pack, memory);
    free(memory);
}

void measure_print(const struct measure *m, char line[MEASURE_LINE_BYTES])
{
    snprintf(line, MEASURE_LINE_BYTES, "integer %.6g float %.6g pack %.6g\n", m->integer_per_s,
             m->float_per_s, m->pack_bytes_per_s);
}

static bool is_rate(double value)
{
    return isfinite(value) && value >= 0;
}

bool measure_parse(const char *line, struct measure *m)
{
    struct measure read;
    if (sscanf(line, "integer %lf float %lf pack %lf", &read.integer_per_s, &read.float_per_s,
               &read.pack_bytes_per_s) != 3 ||
        !is_rate(read.integer_per_s) || !is_rate(read.float_per_s) ||
        !is_rate(read.pack_bytes_per_s))
        return false;
    *m = read;
    return true;
}
