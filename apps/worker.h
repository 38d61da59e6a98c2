/*
 * worker.h - a task of a demo: what every program's tasks have in common.
 *
 * worker_run() is the other side of the phases that crew.h shows; a program fills in what it does
 * in each. Callbacks return 0 or an error of the library; worker_run() prints it.
 */
#ifndef APPS_WORKER_H
#define APPS_WORKER_H

#include "apps/crew.h"
#include "covey.h"

#include <stdbool.h>

struct worker {
    covey_t *vm;
    covey_tid_t parent; /* the coordinator */
    int rank;
    int count;
    covey_tid_t *tids; /* of all tasks, by rank */
    bool sequential;   /* does all the work alone */
    bool progress;     /* the coordinator wants to hear how far the work is */
    double progress_s; /* when it heard last */
    double computation_s;
    covey_bag_t *bag;  /* its agenda, if it has one */
    const char *doing; /* for error messages: what the task is at, such as "receiving keys" */
    const char *cause; /* and why it failed, where another library than libcovey has the words */
};

struct worker_program {
    /* Takes the parameters out of the job and makes the data; not timed. */
    int (*prepare)(void *state, struct worker *worker, covey_msg_t *job);
    /* The task's share of the parallel run; timed. */
    int (*run)(void *state, struct worker *worker);
    /* The whole work by one task; timed. */
    int (*run_alone)(void *state, struct worker *worker);
    /* Sends the task's part of the result as CREW_RESULT to the coordinator. */
    int (*send_result)(void *state, struct worker *worker);
    /* Frees what the state holds. */
    void (*finish)(void *state);
};

/* Runs a task from enrolment to its end; returns the exit status of the process. */
int worker_run(const struct worker_program *program, void *state);

/* Around each kernel, to count its time as computation. */
double worker_compute_begin(void);
void worker_compute_end(struct worker *worker, double begin);

/* The result of rank 0. */
int worker_send_solution(struct worker *worker, const struct crew_solution *solution);

/* Tells the coordinator, if it wants to hear it and not too often, what fraction is done. */
void worker_progress(struct worker *worker, double fraction);

#endif
