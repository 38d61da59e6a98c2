/* links: libcovey-domain */
/*
 * door_covey.c - what calls of a sequential program take (covey_door(3)) beside what they predict:
 * the caller alone, by a number of tasks, and as chosen, where the third call counts, for the first
 * ones start workers and measure the network.
 *
 *   door_covey TASKS solve|sort|fft SIZE...
 *
 * SIZE is the number of equations, of numbers, or of elements along each axis of a cube. A line
 * each: size, forced tasks or "chosen", tasks, hosts, predicted and measured milliseconds,
 * algorithm, why.
 */
#include <covey.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/domain/covey_domain.h"

enum { CALLS = 3 };

struct load {
    const char *name;
    int64_t size;
    double *a, *b;
};

static void fill(double *numbers, size_t n)
{
    for (size_t i = 0; i < n; i++)
        numbers[i] = rand() / (double)RAND_MAX - 0.5;
}

static int load_init(struct load *load, const char *name, int64_t size)
{
    size_t n = (size_t)size, a = strcmp(name, "solve") == 0 ? n * n : 2 * n * n * n;
    size_t b = strcmp(name, "solve") == 0 ? n : a;
    if (strcmp(name, "sort") == 0)
        a = b = n;
    *load = (struct load){name, size, aligned_alloc(64, (8 * a + 63) / 64 * 64),
                          aligned_alloc(64, (8 * b + 63) / 64 * 64)};
    if (load->a == NULL || load->b == NULL)
        return -1;
    fill(load->a, a);
    fill(load->b, b);
    return 0;
}

static int call(covey_t *vm, struct load *load, const char *options,
                struct covey_door_report *report)
{
    const int64_t n[] = {load->size, load->size, load->size};
    if (strcmp(load->name, "solve") == 0)
        return covey_solve(vm, n[0], 1, load->a, n[0], load->b, n[0], options, report);
    if (strcmp(load->name, "fft") == 0)
        return covey_fft(vm, 3, n, COVEY_FFT_FORWARD, load->a, load->b, options, report);
    fill(load->b, (size_t)n[0]);
    return covey_sort_array(vm, COVEY_DOUBLE, load->b, (size_t)n[0], options, report);
}

static int measure(covey_t *vm, struct load *load, const char *options, const char *name)
{
    struct covey_door_report report;
    int error = 0;
    for (int i = 0; i < CALLS && error == 0; i++)
        error = call(vm, load, options, &report);
    if (error != 0)
        return printf("%s\n", covey_domain_error_text()), error;
    printf("%s %8lld  %-8s %2d tasks %2d hosts  predicted %9.2f ms  took %9.2f ms  %-12s %s\n",
           load->name, (long long)load->size, name, (int)report.tasks, (int)report.hosts,
           report.predicted_s * 1e3, report.seconds * 1e3, report.algorithm, report.why);
    fflush(stdout);
    return 0;
}

int main(int argc, char **argv)
{
    covey_t *vm = NULL;
    char forced[40];
    int error = argc > 3 && covey_join(&vm, NULL) == 0 ? 0 : -1;
    for (int i = 3; i < argc && error == 0; i++) {
        struct load load;
        error = load_init(&load, argv[2], atoll(argv[i]));
        snprintf(forced, sizeof forced, "tasks=%d", atoi(argv[1]));
        if (error == 0)
            error = measure(vm, &load, "hosts=0", "alone");
        if (error == 0)
            error = measure(vm, &load, forced, "forced");
        if (error == 0)
            error = measure(vm, &load, NULL, "chosen");
        free(load.a);
        free(load.b);
    }
    covey_leave(&vm);
    return error != 0;
}
