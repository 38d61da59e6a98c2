/* links: libcovey */
/*
 * A message of 1 KiB that goes round a ring of tasks: started by covey run -n N, it prints how long
 * a hop takes, in microseconds.
 *
 *   trace_load ROUNDS
 */
#include <covey.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define WORDS 128

static double now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static void fail(const char *what)
{
    fprintf(stderr, "trace_load: %s: %s\n", what, covey_error_text());
    exit(1);
}

static void receive(covey_t *vm, covey_tid_t from, int64_t *words)
{
    if (covey_recv_array(vm, from, 1, COVEY_FOREVER, COVEY_INT64, words, WORDS, NULL, NULL) < 0)
        fail("recv");
}

static void send(covey_t *vm, covey_tid_t to, const int64_t *words)
{
    if (covey_send_array(vm, to, 1, COVEY_INT64, words, WORDS) < 0)
        fail("send");
}

int main(int argc, char **argv)
{
    covey_t *vm;
    covey_tid_t *tids = NULL;
    int64_t words[WORDS] = {0};
    int rounds = argc > 1 ? atoi(argv[1]) : 1000, me = 0;
    if (covey_join(&vm, NULL) < 0)
        fail("join");
    int n = covey_siblings(vm, &tids);
    if (n < 2)
        fail("siblings");
    while (tids[me] != covey_mytid(vm))
        me++;
    covey_tid_t next = tids[(me + 1) % n], before = tids[(me + n - 1) % n];
    double begin_us = 0;
    for (int i = -rounds / 10; i < rounds; i++) {
        if (i == 0)
            begin_us = now_us();
        if (me == 0)
            send(vm, next, words);
        receive(vm, before, words);
        if (me != 0)
            send(vm, next, words);
    }
    if (me == 0)
        printf("%.4f\n", (now_us() - begin_us) / rounds / n);
    covey_free(tids);
    covey_leave(&vm);
    return 0;
}
