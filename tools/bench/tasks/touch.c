/*
 * touch.c - what it takes to write a byte of memory for the first time. The system then finds a
 * page and clears it, in a virtual machine often with the help of the one that it runs in: what
 * programs allocate and fill can take longer than what they compute in it.
 *
 * The arrays are as long as those of the demos, and come from the system each time, as long blocks
 * of malloc() do.
 */
#include "tools/bench/tasks/touch.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

enum {
    BYTES = 4 << 20,
    STEP = 4096, /* the smallest page there is */
    SAMPLES = 9
};

static double processor_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double write_s(volatile char *memory)
{
    double begin_s = processor_s();
    for (size_t at = 0; at < BYTES; at += STEP)
        memory[at] = 1;
    return processor_s() - begin_s;
}

static int compare_s(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int touch_measure(void)
{
    double each_s[SAMPLES];
    for (int i = 0; i < SAMPLES; i++) {
        void *memory =
            mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) {
            perror("covey-bench: new memory cannot be measured");
            return -1;
        }
        each_s[i] = write_s(memory);
        each_s[i] -= write_s(memory);
        munmap(memory, BYTES);
    }
    qsort(each_s, SAMPLES, sizeof *each_s, compare_s);
    printf("touch %.6g\n", each_s[SAMPLES / 2] / BYTES);
    return 0;
}
