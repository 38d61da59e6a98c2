/*
 * A prediction for a row of numbers of hosts, as covey predict makes it.
 *
 * cmd_predict.c reads the command line, predict_sweep.c computes and reads what was measured,
 * predict_print.c shows it as a table or JSON, predict_plot.c draws it. predict_tiles*.c and
 * predict_packing.c do theirs themselves, and predict_solvers.c asks a program.
 */
#ifndef COVEY_TOOLS_PREDICT_H
#define COVEY_TOOLS_PREDICT_H

#include <stdbool.h>
#include <stdio.h>

#include "tools/base/tool.h"

enum {
    PREDICT_ALLTOALL = 100,
    PREDICT_TILES,
    PREDICT_PACKING,
    PREDICT_SOLVER
}; /* beside enum covey_model */
enum { PREDICT_MEASURED_MAX = 1024 };

/* One run of a demo that was measured. */
struct predict_measured {
    int hosts;
    double total_s;
};

struct predict {
    struct tool *tool;
    int what;         /* enum covey_model or one of these */
    const char *name; /* "matmul" and so on */
    struct covey_problem problem;
    const char *topology; /* alltoall: a file; NULL: the VM's, or one switch */
    double skew_s;        /* alltoall: tasks begin within so long */
    double tolerance;
    bool json;
    bool now;            /* as hosts are loaded at present: */
    int paging, unknown; /* hosts that page and are left out; that are taken to be at rest */
    const char *plot;    /* a file, or NULL */
    struct covey_calibration *calibration;
    int counts[COVEY_MODEL_HOSTS_MAX]; /* of hosts, increasing */
    int n;
    bool usual_counts; /* alltoall: nobody said how many hosts; all of the topology, too */
    struct covey_prediction rows[COVEY_MODEL_HOSTS_MAX];
    struct covey_alltoall_prediction alltoall[COVEY_MODEL_HOSTS_MAX];
    int break_even, efficient; /* positions */
    struct predict_measured measured[PREDICT_MEASURED_MAX];
    int measured_count;
};

/* Predicts for all counts. Returns an exit status. */
int predict_sweep(struct predict *predict);

/* Reads a file of what the demo printed with --json, any number of runs. Returns an exit status. */
int predict_read_measured(struct predict *predict, const char *path);

/* Whether something else than white space is left. */
bool predict_has_more(FILE *file);

/* The calibrated route between hosts with the least beta; NULL, after an error line: none. */
const struct covey_line *predict_line(const struct predict *predict);

int predict_print(const struct predict *predict);
int predict_print_json(const struct predict *predict);
int predict_draw(const struct predict *predict);

/* Digits behind the point of so many seconds. */
int predict_digits(double seconds);

/* Words for the problem: "N = 4000". */
void predict_problem(const struct predict *predict, char *text, size_t size);

#endif
