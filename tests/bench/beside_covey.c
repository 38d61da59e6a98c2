/* links: tests/bench/beside_load.c libcovey */
/*
 * beside_covey.c - beside_load.h on Covey: messages by tid and collective calls of the team of a
 * run, which `covey run` starts.
 */
#include "tests/bench/beside_load.h"

#include <covey.h>
#include <stdio.h>
#include <stdlib.h>

#define TAG 1

struct system {
    covey_t *vm;
    covey_team_t *team;
    covey_tid_t *tids;
    size_t *counts; /* of the blocks of a reduce_scatter */
    covey_window_t *window;
};

_Noreturn void load_die(const char *why)
{
    fprintf(stderr, "beside_covey: %s\n", why);
    exit(1);
}

static void must(int result, const char *what)
{
    if (result >= 0)
        return;
    fprintf(stderr, "beside_covey: %s: %s\n", what, covey_error_text());
    exit(1);
}

static covey_team_t *team_of(const struct load *load)
{
    return ((struct system *)load->system)->team;
}

void load_share(const struct load *load, const double *mine, int count, double *all)
{
    must(covey_allgather(team_of(load), COVEY_DOUBLE, mine, all, (size_t)count), "covey_allgather");
}

void load_send(const struct load *load, int rank, const void *base, size_t bytes)
{
    const struct system *system = load->system;
    must(covey_send_array(system->vm, system->tids[rank], TAG, COVEY_BYTES, base, bytes),
         "covey_send_array");
}

void load_recv(const struct load *load, int rank, void *base, size_t bytes)
{
    const struct system *system = load->system;
    must(covey_recv_array(system->vm, system->tids[rank], TAG, COVEY_FOREVER, COVEY_BYTES, base,
                          bytes, NULL, NULL),
         "covey_recv_array");
}

void load_open(struct load *load, size_t bytes)
{
    struct system *system = load->system;
    void *base;
    must(covey_window_create(system->team, bytes, 0, &base, &system->window),
         "covey_window_create");
    load->recv = base;
}

void load_close(struct load *load)
{
    struct system *system = load->system;
    must(covey_window_free(&system->window), "covey_window_free");
}

void load_put(const struct load *load, int rank, const void *base, size_t bytes)
{
    const struct system *system = load->system;
    must(covey_window_put(system->window, rank, 0, COVEY_BYTES, base, bytes), "covey_window_put");
    must(covey_window_flush(system->window, rank), "covey_window_flush");
}

static size_t numbers(size_t bytes)
{
    return bytes / sizeof(double);
}

void load_barrier(const struct load *load, size_t bytes)
{
    (void)bytes;
    must(covey_barrier(team_of(load)), "covey_barrier");
}

void load_bcast(const struct load *load, size_t bytes)
{
    void *base = load->me == 0 ? load->send : load->recv;
    must(covey_bcast(team_of(load), 0, COVEY_BYTES, base, bytes), "covey_bcast");
}

void load_reduce(const struct load *load, size_t bytes)
{
    must(covey_reduce(team_of(load), 0, COVEY_OP_SUM, COVEY_DOUBLE, load->send, load->recv,
                      numbers(bytes)),
         "covey_reduce");
}

void load_allreduce(const struct load *load, size_t bytes)
{
    must(covey_allreduce(team_of(load), COVEY_OP_SUM, COVEY_DOUBLE, load->send, load->recv,
                         numbers(bytes)),
         "covey_allreduce");
}

void load_scan(const struct load *load, size_t bytes)
{
    must(covey_scan(team_of(load), COVEY_OP_SUM, COVEY_DOUBLE, load->send, load->recv,
                    numbers(bytes)),
         "covey_scan");
}

void load_gather(const struct load *load, size_t bytes)
{
    must(covey_gather(team_of(load), 0, COVEY_BYTES, load->send, load->recv, bytes),
         "covey_gather");
}

void load_scatter(const struct load *load, size_t bytes)
{
    must(covey_scatter(team_of(load), 0, COVEY_BYTES, load->send, load->recv, bytes),
         "covey_scatter");
}

void load_allgather(const struct load *load, size_t bytes)
{
    must(covey_allgather(team_of(load), COVEY_BYTES, load->send, load->recv, bytes),
         "covey_allgather");
}

void load_alltoall(const struct load *load, size_t bytes)
{
    must(covey_alltoall(team_of(load), COVEY_BYTES, load->send, load->recv, bytes),
         "covey_alltoall");
}

void load_reduce_scatter(const struct load *load, size_t bytes)
{
    const struct system *system = load->system;
    for (int i = 0; i < load->ranks; i++)
        system->counts[i] = numbers(bytes);
    must(covey_reduce_scatter(system->team, COVEY_OP_SUM, COVEY_DOUBLE, load->send, load->recv,
                              system->counts),
         "covey_reduce_scatter");
}

int main(int argc, char **argv)
{
    struct system system;
    struct load load = {.system = &system};

    must(covey_join(&system.vm, NULL), "covey_join");
    must(covey_team_world(system.vm, &system.team), "covey_team_world");
    load.me = covey_team_rank(system.team);
    load.ranks = covey_team_size(system.team);
    system.tids = calloc((size_t)load.ranks, sizeof *system.tids);
    system.counts = calloc((size_t)load.ranks, sizeof *system.counts);
    if (!system.tids || !system.counts)
        load_die("memory is exhausted");
    for (int i = 0; i < load.ranks; i++)
        system.tids[i] = covey_team_tid(system.team, i);
    load_run(&load, argc, argv);
    must(covey_barrier(system.team), "covey_barrier");
    free(system.tids);
    free(system.counts);
    covey_team_free(&system.team);
    covey_leave(&system.vm);
    return 0;
}
