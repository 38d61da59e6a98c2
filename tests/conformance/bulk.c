/* links: libcovey */
/*
 * bulk.c - bulk messages between tasks of all hosts, as contention.c and turn.c hold them up: each
 * worker sends some to every other, all at once, and small ones between; and all send to one. What
 * comes is compared. One line a test, "ok ..." or "not ok ...".
 *
 *   bulk ROUNDS [VICTIM]      worker VICTIM (a rank) kills itself in the middle of the second round
 *                             (-2: somebody else kills the first host); the others get what they
 *                             send each other all the same
 *   bulk ROUNDS burst BYTES   a task on each other host sends so much to the leader, when it is
 *                             told to: "burst MEAN WORST", the milliseconds until all is there
 *   bulk ROUNDS stagger BYTES a team gathers so much of each member, at 100 Mbit/s staggered by
 *                             rank: none has sent its part before those before it had the time to
 */
#include <covey.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { TAG_JOB = 1, TAG_DONE = 2, TAG_GO = 3, TAG_BULK = 100, WORKERS_MAX = 64 };
#define PATIENCE_US 250000000

struct job {
    int32_t rounds, victim, rank, count;
    int32_t burst, stagger; /* bytes */
    int32_t tids[WORKERS_MAX];
};

/* VICTIM -2: those of the first host, which somebody else kills. */
static int may_fail(const struct job *job, int rank)
{
    return rank == job->victim || (job->victim == -2 && covey_tid_host(job->tids[rank]) == 1);
}

static size_t size_of(int from, int to, int round)
{
    static const size_t sizes[] = {100, 70000, 1500000, 2500000};
    return sizes[(from * 7 + to * 3 + round) % 4] + (size_t)from;
}

static void fill(uint8_t *bytes, size_t size, int from, int to)
{
    for (size_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)(i * 31 + i / 251 + (size_t)from * 17 + (size_t)to);
}

static int same(const uint8_t *bytes, size_t size, int from, int to)
{
    for (size_t i = 0; i < size; i++)
        if (bytes[i] != (uint8_t)(i * 31 + i / 251 + (size_t)from * 17 + (size_t)to))
            return 0;
    return 1;
}

/* To all others at once, or in rounds of the third kind only to rank 0. */
static int goes(const struct job *job, int from, int to, int round)
{
    (void)job;
    return from != to && (round % 3 != 2 || to == 0);
}

static int start_sends(covey_t *vm, const struct job *job, int round, covey_req_t **reqs,
                       uint8_t **bytes)
{
    for (int to = 0; to < job->count; to++) {
        size_t size = size_of(job->rank, to, round);
        reqs[to] = NULL;
        bytes[to] = malloc(size);
        if (bytes[to] == NULL)
            return -1;
        fill(bytes[to], size, job->rank, to);
        if (goes(job, job->rank, to, round) &&
            covey_isend_array(vm, job->tids[to], TAG_BULK + round, COVEY_UINT8, bytes[to], size,
                              &reqs[to]) < 0 &&
            !may_fail(job, to))
            return -1;
    }
    return 0;
}

static int receive_all(covey_t *vm, const struct job *job, int round, uint8_t *room)
{
    for (int from = 0; from < job->count; from++) {
        size_t size = size_of(from, job->rank, round), count = 0;
        if (!goes(job, from, job->rank, round))
            continue;
        int error = covey_recv_array(vm, job->tids[from], TAG_BULK + round, COVEY_FOREVER,
                                     COVEY_UINT8, room, size, &count, NULL);
        if (error < 0 && may_fail(job, from))
            continue;
        if (error < 0 || count != size || !same(room, size, from, job->rank))
            return -1;
    }
    return 0;
}

static int end_sends(const struct job *job, covey_req_t **reqs, uint8_t **bytes)
{
    int status = 0;
    for (int to = 0; to < job->count; to++) {
        if (reqs[to] != NULL && covey_wait(reqs[to], COVEY_FOREVER) < 0 && !may_fail(job, to))
            status = -1;
        covey_req_free(&reqs[to]);
        free(bytes[to]);
    }
    return status;
}

static int play(covey_t *vm, const struct job *job)
{
    covey_req_t *reqs[WORKERS_MAX];
    uint8_t *bytes[WORKERS_MAX], *room = malloc(3000000);
    int status = room == NULL ? -1 : 0;
    for (int round = 0; round < job->rounds && status == 0; round++) {
        if (start_sends(vm, job, round, reqs, bytes) < 0)
            return -1;
        if (job->rank == job->victim && round == 1) {
            usleep(30000);
            kill(getpid(), SIGKILL);
        }
        if (receive_all(vm, job, round, room) < 0)
            return -1;
        status = end_sends(job, reqs, bytes);
    }
    free(room);
    return status;
}

/* ---- many to one ---- */

static int burst_send(covey_t *vm, const struct job *job)
{
    uint8_t *bytes = calloc(1, (size_t)job->burst);
    int32_t go;
    int status = bytes == NULL ? -1 : 0;
    for (int round = 0; round < job->rounds && status == 0; round++) {
        if (covey_recv_array(vm, covey_parent(vm), TAG_GO, COVEY_FOREVER, COVEY_INT32, &go, 1, NULL,
                             NULL) < 0 ||
            covey_send_array(vm, covey_parent(vm), TAG_BULK, COVEY_UINT8, bytes,
                             (size_t)job->burst) < 0)
            status = -1;
    }
    free(bytes);
    return status;
}

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int burst_once(covey_t *vm, const struct job *job, uint8_t *room)
{
    int32_t go = 0;
    covey_req_t *reqs[WORKERS_MAX];
    for (int i = 1; i < job->count; i++) {
        uint8_t *to = room + (size_t)i * (size_t)job->burst;
        if (covey_irecv_array(vm, job->tids[i], TAG_BULK, COVEY_UINT8, to, (size_t)job->burst,
                              &reqs[i]) < 0)
            return -1;
    }
    for (int i = 1; i < job->count; i++)
        if (covey_send_array(vm, job->tids[i], TAG_GO, COVEY_INT32, &go, 1) < 0)
            return -1;
    for (int i = 1; i < job->count; i++) {
        if (covey_wait(reqs[i], PATIENCE_US) < 0)
            return -1;
        covey_req_free(&reqs[i]);
    }
    return 0;
}

/* Worker 0 is on the leader's host and sends nothing. */
static void burst_lead(covey_t *vm, const struct job *job)
{
    uint8_t *room = calloc((size_t)job->count, (size_t)job->burst);
    double sum = 0, worst = 0;
    for (int round = 0; round < job->rounds; round++) {
        double start = now_ms();
        if (room == NULL || burst_once(vm, job, room) < 0) {
            printf("not ok a burst: %s\n", covey_error_text());
            return;
        }
        double took = now_ms() - start;
        sum += took;
        worst = took > worst ? took : worst;
    }
    printf("burst %.1f %.1f\n", sum / job->rounds, worst);
    free(room);
}

/* ---- staggered ---- */

/* As long as one part takes at the rate in the test's covey.conf. */
static double part_ms(const struct job *job)
{
    return job->stagger * 8.0 / 100e6 * 1e3;
}

static int gather_once(covey_team_t *team, const struct job *job, uint8_t *part, uint8_t *whole)
{
    double start = now_ms();
    size_t bytes = (size_t)job->stagger;
    fill(part, bytes, job->rank, 0);
    if (covey_gather(team, 0, COVEY_UINT8, part, whole, bytes) < 0)
        return -1;
    for (int from = 0; job->rank == 0 && from < job->count; from++)
        if (!same(whole + (size_t)from * bytes, bytes, from, 0))
            return -1;
    double took = now_ms() - start;
    if (took >= part_ms(job) * job->rank)
        return 0;
    fprintf(stderr, "rank %d sent after %.1f ms\n", (int)job->rank, took);
    return -1;
}

static int gather_staggered(covey_t *vm, const struct job *job)
{
    covey_team_t *team = NULL;
    uint8_t *part = malloc((size_t)job->stagger);
    uint8_t *whole = malloc((size_t)job->count * (size_t)job->stagger);
    int status = part == NULL || whole == NULL ||
                         covey_team_create(vm, job->tids, job->count, PATIENCE_US, &team) < 0
                     ? -1
                     : 0;
    for (int round = 0; round < job->rounds && status == 0; round++)
        status = gather_once(team, job, part, whole);
    covey_team_free(&team);
    free(part);
    free(whole);
    return status;
}

static int work(covey_t *vm)
{
    struct job job;
    size_t count = 0;
    if (covey_recv_array(vm, covey_parent(vm), TAG_JOB, COVEY_FOREVER, COVEY_INT32, &job,
                         sizeof job / sizeof(int32_t), &count, NULL) < 0)
        return 1;
    if (job.burst > 0 && job.rank == 0)
        return 0;
    int32_t status = job.burst > 0     ? burst_send(vm, &job)
                     : job.stagger > 0 ? gather_staggered(vm, &job)
                                       : play(vm, &job);
    if (status < 0)
        fprintf(stderr, "rank %d: %s\n", (int)job.rank, covey_error_text());
    covey_send_array(vm, covey_parent(vm), TAG_DONE, COVEY_INT32, &status, 1);
    covey_leave(&vm);
    return 0;
}

static int hand_out(covey_t *vm, struct job *job)
{
    for (job->rank = 0; job->rank < job->count; job->rank++)
        if (covey_send_array(vm, job->tids[job->rank], TAG_JOB, COVEY_INT32, job,
                             sizeof *job / sizeof(int32_t)) < 0)
            return -1;
    return 0;
}

static void lead(covey_t *vm, const char *program, struct job *job)
{
    const struct covey_spawn what = {.argv = (const char *[]){program, NULL},
                                     .where = COVEY_WHERE_EACH};
    int each = job->burst > 0 || job->stagger > 0 ? 1 : 2;
    job->count = covey_spawn_count(vm, &what, each);
    if (job->count < 2 || job->count > WORKERS_MAX ||
        covey_spawn(vm, &what, each, job->tids) != job->count || hand_out(vm, job) < 0) {
        printf("not ok the workers start: %s\n", covey_error_text());
        return;
    }
    if (job->burst > 0) {
        burst_lead(vm, job);
        return;
    }
    for (int rank = 0; rank < job->count; rank++) {
        int32_t status = -1;
        if (may_fail(job, rank))
            continue;
        int error = covey_recv_array(vm, job->tids[rank], TAG_DONE, PATIENCE_US, COVEY_INT32,
                                     &status, 1, NULL, NULL);
        if (error < 0 || status < 0)
            printf("not ok worker %d got all: %s\n", rank, error < 0 ? covey_error_text() : "");
        else
            printf("ok worker %d got all\n", rank);
    }
}

int main(int argc, char **argv)
{
    covey_t *vm;
    if (covey_join(&vm, NULL) < 0) {
        printf("not ok it joins: %s\n", covey_error_text());
        return 1;
    }
    if (argc < 2)
        return work(vm);
    struct job job = {.rounds = atoi(argv[1]), .victim = -1};
    if (argc == 3)
        job.victim = atoi(argv[2]);
    if (argc == 4 && strcmp(argv[2], "burst") == 0)
        job.burst = atoi(argv[3]);
    if (argc == 4 && strcmp(argv[2], "stagger") == 0)
        job.stagger = atoi(argv[3]);
    lead(vm, argv[0], &job);
    covey_leave(&vm);
    return 0;
}
