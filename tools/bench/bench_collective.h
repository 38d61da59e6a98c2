/*
 * What rows of collective calls say (bench_collective.c), for those who print them, and the table
 * of the best algorithms, which the library reads.
 */
#ifndef COVEY_TOOLS_BENCH_COLLECTIVE_H
#define COVEY_TOOLS_BENCH_COLLECTIVE_H

#include "tools/bench/bench.h"

/* A row's label taken apart, and what came out. */
struct bench_finding {
    char operation[24], chosen[24];
    int members;
    const struct bench_row *row;
    double us[BENCH_SERIES_MAX]; /* medians */
    int best;                    /* of the algorithms: the library's choice is none */
};

struct bench_finding bench_finding_of(const struct bench_row *row);

/* The place of that algorithm's series, or -1: it is none of those measured. */
int bench_finding_series(const struct bench_finding *f, const char *algorithm);

/* Writes the table to bench->write, its rows for `most` members as those for any number; an exit
 * status. */
int bench_collective_write(const struct bench *bench, int most);

#endif
