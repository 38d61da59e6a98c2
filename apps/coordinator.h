/*
 * coordinator.h - the process that the user starts: leads the runs of a demo and measures them.
 *
 * coordinator_main() enrols, chooses the hosts, has one task do the work alone where its time or
 * its result is wanted, leads the parallel run through the phases that crew.h shows, and lets the
 * program report. A program fills in its part of each step; callbacks that return an int return
 * 0, or -1 after saying what is wrong.
 */
#ifndef APPS_COORDINATOR_H
#define APPS_COORDINATOR_H

#include "apps/crew.h"
#include "apps/options.h"
#include "apps/report.h"

/* The figures of a demo, for its report. */
struct coordinator_result {
    struct measurement run;
    double sequential_s;               /* 0: not known */
    struct covey_prediction predicted; /* hosts 0: there is no calibration of them */
    const struct covey_choice *choice; /* NULL: what was asked for, or one task a host */
};

struct coordinator_program {
    void *context;
    const char *title; /* what the tasks do, for the progress line */
    /* How many tasks the program's own options ask for; 0: they do not. */
    int tasks_given;
    /* How many tasks run on that many hosts (asked > 0: so many were asked for, or chosen), and
     * which host each rank is put on. May be NULL: as many as are asked for, otherwise one a host,
     * in turn. tasks() may refuse: below 1, after saying what is wrong. */
    int (*tasks)(void *context, int hosts, int asked);
    void (*place)(void *context, int hosts, int *host_of);
    /* What is computed, for its prediction; how many tasks is not its affair. NULL: there is no
     * model of it. */
    void (*describe)(void *context, struct covey_problem *problem);
    /* Packs the program's parameters. */
    crew_pack pack_job;
    const void *job;
    /* Sends tasks the data that they cannot make themselves, or makes the bag; not timed. May be
     * NULL. */
    int (*feed)(struct crew *crew, void *context);
    /* The coordinator's own part of a parallel run; timed. May be NULL. */
    int (*conduct)(struct crew *crew, void *context);
    /* The run is over, however it ended: frees what belongs to the virtual machine. May be NULL. */
    void (*end)(void *context);
    /* Fetches the result; not timed. May be NULL: the result is not wanted. */
    int (*collect)(struct crew *crew, void *context);
    /* The work lies in a bag: tasks that end are not missed while others are left. */
    bool tolerant;
    /* collect() of the sequential run gives what the result is compared with. */
    bool compares;
    /* Prints the figures; returns the exit status of the process. */
    int (*report)(void *context, const struct coordinator_result *result);
};

/* Does all of it; returns the exit status of the process. */
int coordinator_main(const struct app_options *options, const struct coordinator_program *program);

/* Prints a report, of which the program gives what it alone knows (program, problem, parameters,
 * passed, check_method, output), in the form that the options ask for; returns the exit status of
 * the process. */
int coordinator_report(const struct app_options *options, const struct coordinator_result *result,
                       struct report *report);

#endif
