/* links: tests/bench/alltoall_load.c libcovey */
/*
 * alltoall_covey.c - alltoall_load.h on Covey: covey_alltoall() of a team with one task a host, in
 * the order of the hosts' names (n2 before n10), which is that of topologies, of the ranks of both
 * MPIs, and of predictions; hosts join a VM in any order. The first task starts the others. The
 * team has a topology, and so a schedule, where COVEY_TOPOLOGY names one.
 */
#include "tests/bench/alltoall_load.h"

#include <covey.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TAG_TIDS 1
#define TEAM_US ((int64_t)120 * 1000 * 1000)

_Noreturn void load_die(const char *why)
{
    fprintf(stderr, "alltoall_covey: %s\n", why);
    exit(1);
}

static void must(int result, const char *what)
{
    if (result >= 0)
        return;
    fprintf(stderr, "alltoall_covey: %s: %s\n", what, covey_error_text());
    exit(1);
}

struct load_span load_exchange(const struct load *load, size_t bytes)
{
    covey_team_t *team = load->system;
    double *times = calloc(2 * (size_t)load->ranks, sizeof *times);

    if (!times)
        load_die("memory is exhausted");
    must(covey_barrier(team), "covey_barrier");
    double entered = load_now();
    must(covey_alltoall(team, COVEY_BYTES, load->send, load->recv, bytes), "covey_alltoall");
    double returned = load_now();
    must(covey_allgather(team, COVEY_DOUBLE, &entered, times, 1), "covey_allgather");
    must(covey_allgather(team, COVEY_DOUBLE, &returned, times + load->ranks, 1), "covey_allgather");
    struct load_span span = load_span(load->ranks, times, times + load->ranks);
    free(times);
    return span;
}

static int by_name(const void *a, const void *b)
{
    return strverscmp(*(const char *const *)a, *(const char *const *)b);
}

/* The names of all hosts but the caller's, in order; freed by the caller, with *list. */
static const char **others(covey_t *vm, struct covey_host **list, int *count)
{
    int hosts = covey_hosts(vm, list);

    must(hosts, "covey_hosts");
    const char **names = calloc((size_t)hosts + 1, sizeof *names);
    if (!names)
        load_die("memory is exhausted");
    *count = 0;
    for (int i = 0; i < hosts; i++)
        if ((*list)[i].index != covey_tid_host(covey_mytid(vm)))
            names[(*count)++] = (*list)[i].name;
    qsort(names, (size_t)*count, sizeof *names, by_name);
    return names;
}

/* Starts this program on the other hosts; sets all tids, the own one first, and returns their
 * number. */
static int start_others(covey_t *vm, char **argv, covey_tid_t **tids)
{
    struct covey_host *list;
    int count;
    const char **names = others(vm, &list, &count);
    const char *topology = getenv("COVEY_TOPOLOGY");
    char named[4096];
    const char *env[] = {topology ? named : NULL, NULL};

    snprintf(named, sizeof named, "COVEY_TOPOLOGY=%s", topology ? topology : "");
    *tids = calloc((size_t)count + 1, sizeof **tids);
    if (!*tids)
        load_die("memory is exhausted");
    (*tids)[0] = covey_mytid(vm);
    struct covey_spawn what = {.argv = (const char *const *)argv,
                               .env = env,
                               .hosts = names,
                               .where = COVEY_WHERE_HOSTS,
                               .tether = 1};
    int started = count == 0 ? 0 : covey_spawn(vm, &what, count, *tids + 1);
    must(started, "covey_spawn");
    if (started < count)
        load_die("not all tasks started");
    covey_free(list);
    free(names);
    return count + 1;
}

static void tell_tids(covey_t *vm, const covey_tid_t *tids, int count)
{
    for (int i = 1; i < count; i++)
        must(covey_send_array(vm, tids[i], TAG_TIDS, COVEY_INT32, tids, (size_t)count),
             "covey_send_array");
}

static int hear_tids(covey_t *vm, covey_tid_t **tids)
{
    struct covey_info info;
    size_t count;

    must(covey_probe(vm, COVEY_ANY_TASK, TAG_TIDS, TEAM_US, &info), "covey_probe");
    *tids = malloc(info.bytes);
    if (!*tids)
        load_die("memory is exhausted");
    must(covey_recv_array(vm, COVEY_ANY_TASK, TAG_TIDS, TEAM_US, COVEY_INT32, *tids,
                          info.bytes / sizeof **tids, &count, NULL),
         "covey_recv_array");
    return (int)count;
}

int main(int argc, char **argv)
{
    covey_t *vm;
    covey_tid_t *tids;
    covey_team_t *team;
    struct load load = {0};

    must(covey_join(&vm, NULL), "covey_join");
    if (covey_parent(vm) == COVEY_NO_PARENT) {
        load.ranks = start_others(vm, argv, &tids);
        tell_tids(vm, tids, load.ranks);
    } else {
        load.ranks = hear_tids(vm, &tids);
    }
    must(covey_team_create(vm, tids, load.ranks, TEAM_US, &team), "covey_team_create");
    load.me = covey_team_rank(team);
    load.system = team;
    load_run(&load, argc, argv);
    covey_team_free(&team);
    free(tids);
    covey_leave(&vm);
    return 0;
}
