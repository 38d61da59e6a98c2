/*
 * report.h - the figures of a run as a table for people or as JSON for scripts.
 */
#ifndef APPS_REPORT_H
#define APPS_REPORT_H

#include "apps/figures.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* What was measured of one run. */
struct measurement {
    double total_s; /* from the start signal until the last task was done; of a bag, result came */
    int tasks;
    struct figures *each;     /* by rank; freed by measurement_free() */
    const char *const *hosts; /* by rank; the caller's */
    uint32_t routes;          /* bit r: route r was in use */
};

void measurement_free(struct measurement *measurement);

struct report {
    const char *program;
    const char *problem;  /* the size in words, such as "N = 3000 on 2 x 2 tasks" */
    json_t *parameters;   /* the same for scripts; borrowed */
    int route;            /* as asked for */
    double sequential_s;  /* 0: not known */
    bool checked, passed; /* passed: only if it was checked */
    const char *check_method;
    const char *output; /* file that was written, or NULL */
    const struct measurement *run;
    const struct covey_prediction *predicted; /* hosts 0: nothing was predicted */
    const struct covey_choice *choice;        /* of the tasks and hosts; NULL: none was made */
};

/* Prints to standard output. Returns 0, or -1 after saying what is wrong. */
int report_table(const struct report *report);
int report_json(const struct report *report);

/* The number of different names among n. */
int report_distinct(const char *const *names, int n);

/* The routes in a set as "shm+udp", or `none` for an empty set. */
void report_routes(uint32_t routes, const char *none, char *text, size_t capacity);

#endif
