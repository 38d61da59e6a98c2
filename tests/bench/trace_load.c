/* links: libcovey */
/*
 * A message that goes round a ring of tasks, by turns while nobody traces and while `covey trace`
 * records into a file. Started by covey run -n N, it prints for each pair of turns how long a hop
 * takes without and with a trace, in microseconds. Both are measured in one run: where the system
 * has put the tasks makes more of a difference than the trace.
 *
 *   trace_load ROUNDS PAIRS FILE [BYTES]
 */
#include <covey.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BYTES_MAX 65536

struct ring {
    covey_t *vm;
    covey_tid_t before, next;
    int me, count;
    size_t bytes;
    uint8_t message[BYTES_MAX];
};

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

static void receive(struct ring *r)
{
    if (covey_recv_array(r->vm, r->before, 1, COVEY_FOREVER, COVEY_UINT8, r->message, r->bytes,
                         NULL, NULL) < 0)
        fail("recv");
}

static void send(struct ring *r)
{
    if (covey_send_array(r->vm, r->next, 1, COVEY_UINT8, r->message, r->bytes) < 0)
        fail("send");
}

/* How long a hop of so many rounds took, by the first task's clock. */
static double rounds_run(struct ring *r, int rounds)
{
    double begin_us = now_us();
    for (int i = 0; i < rounds; i++) {
        if (r->me == 0)
            send(r);
        receive(r);
        if (r->me != 0)
            send(r);
    }
    return (now_us() - begin_us) / rounds / r->count;
}

/* The others wait for the first message meanwhile. */
static void trace_switch(const struct ring *r, const char *file)
{
    char command[512];
    if (r->me != 0)
        return;
    if (file == NULL)
        snprintf(command, sizeof command, "covey trace stop");
    else
        snprintf(command, sizeof command, "covey trace start '%s' >/dev/null", file);
    if (system(command) != 0) {
        fprintf(stderr, "trace_load: %s: it failed\n", command);
        exit(1);
    }
}

static double turn_run(struct ring *r, int rounds, const char *file)
{
    if (file != NULL)
        trace_switch(r, file);
    rounds_run(r, rounds / 8);
    double hop_us = rounds_run(r, rounds);
    if (file != NULL)
        trace_switch(r, NULL);
    return hop_us;
}

static void ring_join(struct ring *r)
{
    covey_tid_t *tids = NULL;
    if (covey_join(&r->vm, NULL) < 0)
        fail("join");
    r->count = covey_siblings(r->vm, &tids);
    if (r->count < 2)
        fail("siblings");
    while (tids[r->me] != covey_mytid(r->vm))
        r->me++;
    r->next = tids[(r->me + 1) % r->count];
    r->before = tids[(r->me + r->count - 1) % r->count];
    covey_free(tids);
}

int main(int argc, char **argv)
{
    static struct ring r;
    if (argc < 4)
        return 2;
    int rounds = atoi(argv[1]), pairs = atoi(argv[2]);
    r.bytes = argc > 4 ? (size_t)atoi(argv[4]) : 1024;
    if (rounds < 1 || r.bytes > BYTES_MAX)
        return 2;
    ring_join(&r);
    rounds_run(&r, rounds / 8);
    for (int i = 0; i < pairs; i++) {
        /* off on, on off, ...: what changes steadily changes both */
        double first_us = turn_run(&r, rounds, i % 2 == 0 ? NULL : argv[3]);
        double then_us = turn_run(&r, rounds, i % 2 == 0 ? argv[3] : NULL);
        if (r.me == 0)
            printf("%.4f %.4f\n", i % 2 == 0 ? first_us : then_us, i % 2 == 0 ? then_us : first_us);
    }
    covey_leave(&r.vm);
    return 0;
}
