/* links: libcovey-domain */
/*
 * dgemm_peak.c - what OpenBLAS's products reach on this machine: the limit of all that are made of
 * them.
 *
 *   dgemm_peak PROCESSES
 *
 * So many processes, each with one thread, multiply matrices of N x N at the same time, as tasks of
 * a factorization do. Prints the GFlop/s of all together: of each the median of its products.
 */
#include <cblas.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/bench/seconds.h"

enum { N = 2000, PRODUCTS = 7, PROCESSES_MOST = 1024 };

/* GFlop/s; 0: no memory. */
static double multiply(void)
{
    size_t count = (size_t)N * N;
    double *a = malloc(3 * count * sizeof *a), seconds[PRODUCTS];
    if (a == NULL)
        return 0;
    for (size_t i = 0; i < 3 * count; i++)
        a[i] = (double)(i % 97) * 1e-3;
    for (int i = 0; i < PRODUCTS; i++) {
        double begin = domain_now_s();
        cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, N, N, N, -1, a, N, a + count, N, 1,
                    a + 2 * count, N);
        seconds[i] = domain_now_s() - begin;
    }
    free(a);
    return 2e-9 * (double)N * N * N / median(seconds, PRODUCTS);
}

int main(int argc, char **argv)
{
    int processes = argc == 2 ? atoi(argv[1]) : 0, failed = 0;
    double *speeds = mmap(NULL, PROCESSES_MOST * sizeof *speeds, PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    double sum = 0;
    if (processes < 1 || processes > PROCESSES_MOST || speeds == MAP_FAILED) {
        fprintf(stderr, "dgemm_peak: PROCESSES is 1 to %d\n", PROCESSES_MOST);
        return 2;
    }
    openblas_set_num_threads(1);
    for (int i = 0; i < processes; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            speeds[i] = multiply();
            _exit(0);
        }
        failed |= pid < 0;
    }
    for (int i = 0; i < processes; i++)
        failed |= wait(NULL) < 0;
    for (int i = 0; i < processes; i++) {
        failed |= speeds[i] <= 0;
        sum += speeds[i];
    }
    if (failed) {
        fprintf(stderr, "dgemm_peak: a process could not be started, or had no memory\n");
        return 1;
    }
    printf("%.2f GFlop/s by %d processes\n", sum, processes);
    return 0;
}
