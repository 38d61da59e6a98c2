/*
 * load.c - the loads under which Covey and PVM are compared, on whatever machine.h is linked.
 *
 *   NAME_load --way ROUTE/PACKING [--host HOST] [--daemons PID,PID] LOAD [SIZE...]
 *
 * One run is one round: it starts its workers on HOST (over all hosts in turn without one), puts
 * LOAD on them and prints a line `LOAD SIZE FIGURE` for each size:
 *
 *   ping     half a round trip, us: pack, send, receive and unpack SIZE bytes
 *   stream   us a message of SIZE bytes that one task sends to another, which confirms the last
 *   cpuping, cpustream   the same, in CPU seconds a GB of everything that takes part: both tasks,
 *            the daemons PID... and the kernel's soft interrupt threads
 *   mcast    us until 8 tasks have SIZE bytes and have confirmed them
 *   spawn    us a task to start SIZE tasks, until the last one's first message is there
 *   barrier  us a barrier of SIZE tasks, of which this one is one
 *   ring     us a step of 1 KiB that SIZE tasks in a ring pass on, of which this one is one
 *
 * A figure is the median of some batches, each of which repeats its load until it takes BATCH_US;
 * before them come as many repetitions as it takes to find that number. What a batch transfers is
 * compared with what was sent.
 *
 * A worker is the same program; it gets jobs from the task that started it until one says quit.
 */
#include "tests/bench/machine.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define BATCH_US 10000.0
#define BATCHES 5
#define TOTAL_US 200000.0 /* no further batch after that */
#define WORKERS_MAX 256
#define CLOCKS_MAX 32
#define MCAST_TASKS 8
#define RING_BYTES 1024
#define GROUP "load"

enum tag { TAG_JOB = 1, TAG_READY, TAG_DATA, TAG_CONFIRM, TAG_HELLO };
enum kind { KIND_QUIT, KIND_ECHO, KIND_SINK, KIND_JOIN, KIND_BARRIER, KIND_RING };

struct job {
    int64_t kind, bytes, count, tasks;
    int64_t next; /* whom a ring goes on to; 0: the leader */
};

struct load {
    struct machine *machine;
    const char *way, *host, *program;
    int workers[WORKERS_MAX];
    int worker_count;
    clockid_t clocks[CLOCKS_MAX]; /* of the processes that take part besides the two tasks */
    int clock_count;
    uint8_t *sent, *received; /* buffers of the largest size */
};

/* One kind of load: a job for the workers, and what the leader does meanwhile. */
struct exercise {
    enum kind kind;
    void (*lead)(struct load *load, const struct job *job);
};

static void fail(const char *what)
{
    fprintf(stderr, "load: %s\n", what);
    exit(1);
}

static double seconds_of(clockid_t clock)
{
    struct timespec t;
    return clock_gettime(clock, &t) ? 0 : (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double now_us(void)
{
    return seconds_of(CLOCK_MONOTONIC) * 1e6;
}

static void fill(uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)(i * 31 + (i >> 12));
}

/* ---- The worker ---------------------------------------------------------------------------- */

static void echo(struct machine *m, int parent, const struct job *job, uint8_t *buffer)
{
    for (int64_t i = 0; i < job->count; i++) {
        machine_recv(m, parent, TAG_DATA, buffer, (size_t)job->bytes);
        machine_send(m, parent, TAG_DATA, buffer, (size_t)job->bytes);
    }
}

/* The confirmation is the last byte received, so that it cannot come before the data. */
static void sink(struct machine *m, int parent, const struct job *job, uint8_t *buffer)
{
    for (int64_t i = 0; i < job->count; i++) {
        machine_recv(m, parent, TAG_DATA, buffer, (size_t)job->bytes);
        if ((i + 1) % job->tasks == 0)
            machine_send(m, parent, TAG_CONFIRM, buffer + job->bytes - 1, 1);
    }
}

static void pass_on(struct machine *m, int parent, const struct job *job, uint8_t *buffer)
{
    int next = job->next == 0 ? parent : (int)job->next;
    for (int64_t i = 0; i < job->count; i++) {
        machine_recv(m, -1, TAG_DATA, buffer, (size_t)job->bytes);
        machine_send(m, next, TAG_DATA, buffer, (size_t)job->bytes);
    }
}

static void work_on(struct machine *m, int parent, const struct job *job, uint8_t *buffer)
{
    if (job->kind == KIND_ECHO)
        echo(m, parent, job, buffer);
    if (job->kind == KIND_SINK)
        sink(m, parent, job, buffer);
    if (job->kind == KIND_RING)
        pass_on(m, parent, job, buffer);
    if (job->kind == KIND_JOIN)
        machine_group_join(m, GROUP);
    for (int64_t i = 0; job->kind == KIND_BARRIER && i < job->count; i++)
        machine_barrier(m, GROUP, (int)job->tasks);
}

static void work(struct machine *m)
{
    int parent = machine_parent(m);
    struct job job = {.kind = KIND_ECHO};
    uint8_t *buffer = NULL;
    int64_t pid = getpid(), capacity = 0;
    while (job.kind != KIND_QUIT) {
        machine_recv(m, parent, TAG_JOB, &job, sizeof job);
        if (job.bytes > capacity) {
            free(buffer);
            buffer = calloc(1, (size_t)job.bytes);
            capacity = job.bytes;
        }
        machine_send(m, parent, TAG_READY, &pid, sizeof pid);
        work_on(m, parent, &job, buffer);
    }
    free(buffer);
}

/* ---- The leader: what it does in a batch --------------------------------------------------- */

static void lead_ping(struct load *load, const struct job *job)
{
    size_t bytes = (size_t)job->bytes;
    for (int64_t i = 0; i < job->count; i++) {
        machine_send(load->machine, load->workers[0], TAG_DATA, load->sent, bytes);
        machine_recv(load->machine, load->workers[0], TAG_DATA, load->received, bytes);
    }
    if (memcmp(load->sent, load->received, bytes) != 0)
        fail("what came back is not what was sent");
}

static void lead_ring(struct load *load, const struct job *job)
{
    size_t bytes = (size_t)job->bytes;
    int last = load->workers[load->worker_count - 1];
    for (int64_t i = 0; i < job->count; i++) {
        machine_send(load->machine, load->workers[0], TAG_DATA, load->sent, bytes);
        machine_recv(load->machine, last, TAG_DATA, load->received, bytes);
    }
    if (memcmp(load->sent, load->received, bytes) != 0)
        fail("what came round is not what was sent");
}

static void confirm(struct load *load, int worker, const struct job *job)
{
    uint8_t last;
    machine_recv(load->machine, worker, TAG_CONFIRM, &last, 1);
    if (last != load->sent[job->bytes - 1])
        fail("what arrived is not what was sent");
}

static void lead_stream(struct load *load, const struct job *job)
{
    for (int64_t i = 0; i < job->count; i++)
        machine_send(load->machine, load->workers[0], TAG_DATA, load->sent, (size_t)job->bytes);
    confirm(load, load->workers[0], job);
}

static void lead_mcast(struct load *load, const struct job *job)
{
    for (int64_t i = 0; i < job->count; i++) {
        machine_mcast(load->machine, load->workers, load->worker_count, TAG_DATA, load->sent,
                      (size_t)job->bytes);
        for (int w = 0; w < load->worker_count; w++)
            confirm(load, load->workers[w], job);
    }
}

static void lead_join(struct load *load, const struct job *job)
{
    (void)job;
    machine_group_join(load->machine, GROUP);
}

static void lead_barrier(struct load *load, const struct job *job)
{
    for (int64_t i = 0; i < job->count; i++)
        machine_barrier(load->machine, GROUP, (int)job->tasks);
}

static void lead_nothing(struct load *load, const struct job *job)
{
    (void)load;
    (void)job;
}

static const struct exercise PING = {KIND_ECHO, lead_ping}, STREAM = {KIND_SINK, lead_stream},
                             MCAST = {KIND_SINK, lead_mcast}, JOIN = {KIND_JOIN, lead_join},
                             BARRIER = {KIND_BARRIER, lead_barrier}, RING = {KIND_RING, lead_ring},
                             QUIT = {KIND_QUIT, lead_nothing};

/* ---- The leader: batches ------------------------------------------------------------------- */

struct cost {
    double us;
    double cpu_s;
};

static void clock_add(struct load *load, long pid)
{
    if (load->clock_count == CLOCKS_MAX)
        fail("too many processes to watch");
    if (clock_getcpuclockid((pid_t)pid, &load->clocks[load->clock_count]))
        fail("a process to watch is not there");
    load->clock_count++;
}

static double cpu_seconds(const struct load *load, clockid_t worker)
{
    double s = seconds_of(CLOCK_PROCESS_CPUTIME_ID) + seconds_of(worker);
    for (int i = 0; i < load->clock_count; i++)
        s += seconds_of(load->clocks[i]);
    return s;
}

/* Gives all workers the job and returns the process of the first one. */
static pid_t give(struct load *load, const struct job *job)
{
    int64_t pid = 0;
    for (int w = 0; w < load->worker_count; w++) {
        struct job its = *job;
        its.next = w + 1 < load->worker_count ? load->workers[w + 1] : 0;
        machine_send(load->machine, load->workers[w], TAG_JOB, &its, sizeof its);
    }
    for (int w = load->worker_count; w-- > 0;)
        machine_recv(load->machine, load->workers[w], TAG_READY, &pid, sizeof pid);
    return (pid_t)pid;
}

static struct cost batch(struct load *load, const struct exercise *e, const struct job *job)
{
    struct job given = *job;
    given.kind = e->kind;
    clockid_t worker;
    if (clock_getcpuclockid(give(load, &given), &worker))
        fail("the worker is not on this machine");
    double cpu = cpu_seconds(load, worker), start = now_us();
    e->lead(load, &given);
    double us = now_us() - start;
    return (struct cost){us, cpu_seconds(load, worker) - cpu};
}

static int by_us(const void *a, const void *b)
{
    const struct cost *x = a, *y = b;
    return (x->us > y->us) - (x->us < y->us);
}

/* Finds out how often the load fits into a batch, which warms it up, too. */
static void adapt(struct load *load, const struct exercise *e, struct job *job, int sink_once)
{
    double us = 0;
    for (job->count = 1; us < BATCH_US / 2; job->count *= 2) {
        job->tasks = sink_once ? job->count : job->tasks;
        us = batch(load, e, job).us;
    }
    job->count = (int64_t)((double)job->count / 2 * BATCH_US / us) + 1;
    job->tasks = sink_once ? job->count : job->tasks;
}

/* The median batch, per repetition. sink_once: the sink confirms only the last of a batch. */
static struct cost measure(struct load *load, const struct exercise *e, struct job job,
                           int sink_once)
{
    struct cost costs[BATCHES];
    double total = 0;
    int n = 0;
    adapt(load, e, &job, sink_once);
    while (n < BATCHES && (n == 0 || total < TOTAL_US)) {
        costs[n] = batch(load, e, &job);
        total += costs[n++].us;
    }
    qsort(costs, (size_t)n, sizeof *costs, by_us);
    struct cost median = costs[n / 2];
    return (struct cost){median.us / (double)job.count, median.cpu_s / (double)job.count};
}

static void start_workers(struct load *load, const char *role, const char *host, int n)
{
    const char *argv[] = {load->program, "--way", load->way, role, NULL};
    if (load->worker_count + n > WORKERS_MAX)
        fail("too many tasks");
    machine_spawn(load->machine, argv, host, n, load->workers + load->worker_count);
    load->worker_count += n;
}

static void end_workers(struct load *load)
{
    give(load, &(struct job){.kind = QUIT.kind});
    machine_wait_ends(load->machine, load->workers, load->worker_count);
    load->worker_count = 0;
}

/* ---- The loads ----------------------------------------------------------------------------- */

static double cpu_per_gb(struct cost cost, double bytes)
{
    return cost.cpu_s / bytes * 1e9;
}

static double run_ping(struct load *load, int64_t size)
{
    return measure(load, &PING, (struct job){.bytes = size}, 0).us / 2;
}

static double run_cpuping(struct load *load, int64_t size)
{
    return cpu_per_gb(measure(load, &PING, (struct job){.bytes = size}, 0), 2.0 * (double)size);
}

static double run_stream(struct load *load, int64_t size)
{
    return measure(load, &STREAM, (struct job){.bytes = size}, 1).us;
}

static double run_cpustream(struct load *load, int64_t size)
{
    return cpu_per_gb(measure(load, &STREAM, (struct job){.bytes = size}, 1), (double)size);
}

static double run_mcast(struct load *load, int64_t size)
{
    return measure(load, &MCAST, (struct job){.bytes = size, .tasks = 1}, 0).us;
}

static double run_barrier(struct load *load, int64_t tasks)
{
    start_workers(load, "worker", load->host, (int)tasks - 1);
    batch(load, &JOIN, &(struct job){.kind = KIND_JOIN});
    struct job job = {.tasks = tasks};
    double us = measure(load, &BARRIER, job, 0).us;
    end_workers(load);
    return us;
}

static double run_ring(struct load *load, int64_t tasks)
{
    start_workers(load, "worker", load->host, (int)tasks - 1);
    double us = measure(load, &RING, (struct job){.bytes = RING_BYTES}, 0).us;
    end_workers(load);
    return us / (double)tasks;
}

static double run_spawn(struct load *load, int64_t tasks)
{
    uint8_t hello;
    double start = now_us();
    start_workers(load, "hello", load->host, (int)tasks);
    for (int64_t i = 0; i < tasks; i++)
        machine_recv(load->machine, -1, TAG_HELLO, &hello, 1);
    double us = now_us() - start;
    machine_wait_ends(load->machine, load->workers, load->worker_count);
    load->worker_count = 0;
    return us / (double)tasks;
}

static const struct kind_of_load {
    const char *name;
    int workers; /* that run through all sizes; 0: the load starts its own */
    double (*run)(struct load *load, int64_t size);
} LOADS[] = {{"ping", 1, run_ping},
             {"cpuping", 1, run_cpuping},
             {"stream", 1, run_stream},
             {"cpustream", 1, run_cpustream},
             {"mcast", MCAST_TASKS, run_mcast},
             {"barrier", 0, run_barrier},
             {"spawn", 0, run_spawn},
             {"ring", 0, run_ring}};

static const struct kind_of_load *load_named(const char *name)
{
    for (size_t i = 0; i < sizeof LOADS / sizeof *LOADS; i++)
        if (strcmp(LOADS[i].name, name) == 0)
            return &LOADS[i];
    return NULL;
}

static void lead(struct load *load, const struct kind_of_load *kind, char **sizes)
{
    size_t largest = RING_BYTES;
    for (char **s = sizes; *s; s++)
        largest = strtoul(*s, NULL, 10) > largest ? strtoul(*s, NULL, 10) : largest;
    load->sent = malloc(largest);
    load->received = calloc(1, largest);
    if (load->sent == NULL || load->received == NULL)
        fail("no memory");
    fill(load->sent, largest);
    if (kind->workers)
        start_workers(load, "worker", load->host, kind->workers);
    for (char **s = sizes; *s; s++) {
        printf("%s %s %.4f\n", kind->name, *s, kind->run(load, strtol(*s, NULL, 10)));
        fflush(stdout);
    }
    if (kind->workers)
        end_workers(load);
    free(load->sent);
    free(load->received);
}

/* ---- Arguments ----------------------------------------------------------------------------- */

static void usage(void)
{
    fprintf(stderr,
            "usage: NAME_load --way ROUTE/PACKING [--host HOST] [--daemons PID,PID] LOAD SIZE...\n"
            "ways: %s\nloads: ping, cpuping, stream, cpustream, mcast, barrier, spawn, ring\n",
            machine_ways);
    exit(2);
}

static char **read_options(struct load *load, char **arg)
{
    for (; *arg && strncmp(*arg, "--", 2) == 0 && arg[1]; arg += 2) {
        if (strcmp(*arg, "--way") == 0)
            load->way = arg[1];
        else if (strcmp(*arg, "--host") == 0)
            load->host = arg[1];
        else if (strcmp(*arg, "--daemons") == 0)
            for (char *pid = strtok(arg[1], ","); pid; pid = strtok(NULL, ","))
                clock_add(load, strtol(pid, NULL, 10));
        else
            usage();
    }
    return arg;
}

int main(int argc, char **argv)
{
    struct load load = {.program = argv[0]};
    char **arg = read_options(&load, argv + (argc > 0));
    const struct kind_of_load *kind = *arg ? load_named(*arg) : NULL;
    int worker = *arg && strcmp(*arg, "worker") == 0, hello = *arg && strcmp(*arg, "hello") == 0;
    if (load.way == NULL || (kind == NULL && !worker && !hello))
        usage();
    load.machine = machine_join(load.way);
    if (hello)
        machine_send(load.machine, machine_parent(load.machine), TAG_HELLO, "", 1);
    else if (worker)
        work(load.machine);
    else
        lead(&load, kind, arg + 1);
    machine_leave(load.machine);
    return 0;
}
