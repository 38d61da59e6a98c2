/*
 * A benchmark as the console sees it: what was asked for, the tasks that carry it out, the rows
 * that they send. cmd_bench.c reads the command line, bench_run.c has the tasks do it,
 * bench_print.c shows the rows.
 */
#ifndef COVEY_TOOLS_BENCH_H
#define COVEY_TOOLS_BENCH_H

#include <stdatomic.h>
#include <stdbool.h>

#include "tools/base/tool.h"
#include "tools/bench/bench_plan.h"

enum { BENCH_HOSTS_MAX = 64, BENCH_BESIDE_MAX = 4 };

/* An exchange in virtual time. */
struct bench_simulation {
    int ranks; /* 0: none, real tasks exchange */
    double alpha_us;
    double rate_bps;
};

/* Another program that measures the same: overlap. */
struct bench_beside {
    char name[24];
    const char *command;
    struct bench_row rows[BENCH_SIZES_MAX]; /* as the sizes of the plan */
};

struct bench {
    struct tool *tool;
    struct bench_plan plan;
    const char *name; /* of the benchmark, "pingpong" */
    bool json;
    bool quiet;                             /* tell nobody what fails */
    char *host_text;                        /* of --host, cut at the commas */
    const char *hosts[BENCH_HOSTS_MAX + 1]; /* into it, ended by NULL; none: chosen here */
    int host_count;
    covey_tid_t tids[BENCH_TASKS_MAX + 1]; /* the one that leads first */
    int task_count;                        /* of them */
    int alive;
    bool done;         /* the leader said that it had finished */
    bool failed;       /* and the failure was told */
    atomic_bool known; /* tids are set: a signal may end them */
    atomic_int signals;
    const char *write; /* collectives, alltoall, exchange: where the table goes, or NULL */
    struct bench_simulation simulation; /* of an exchange */
    struct bench_beside besides[BENCH_BESIDE_MAX];
    int beside_count;
    int32_t mtu;      /* of the frames on a wire of the simulation's rate; 0: 1500 */
    const char *map;  /* where the picture of its regions goes; NULL: none */
    const char *plot; /* and that of what ordering costs */
    struct bench_row rows[BENCH_ROWS_MAX];
    int row_count;
};

/* Starts a task with the words and environment of *task on a host, in the name of the command
 * `what`: tethered, and its output comes as messages. An exit status. */
int bench_spawn(struct tool *tool, const char *what, const struct covey_spawn *task,
                const char *host, covey_tid_t *tid);

/* Starts the tasks, has them measure, and collects the rows until all tasks have ended. Returns an
 * exit status, after an error line where it is not 0. */
int bench_run(struct bench *bench);

/* The benchmark of bags, from beginning to end; an exit status. */
int bench_bag(struct bench *bench);

/* Print the rows for people or for scripts; an exit status. */
int bench_print_table(struct bench *bench);
int bench_print_json(struct bench *bench);
int bench_print_collective(struct bench *bench); /* either, and --write */
int bench_print_alltoall(struct bench *bench);   /* the same */

/* The line through the medians of the series of that name, by covey_line_fit_ends() or the other
 * one; -1: there are not three sizes. */
typedef int bench_fit_fn(const double *bytes, const double *seconds, size_t n,
                         struct covey_line *line);
int bench_fit(const struct bench *bench, const char *name, bench_fit_fn *fn,
              struct covey_line *line);

/* The names of the benchmarks, from enum bench_what's first on, ended by NULL. */
extern const char *const bench_names[];

/* "array" and so on: the name of an enum bench_pack. */
const char *bench_pack_name(int pack);

#endif
