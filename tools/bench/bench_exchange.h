/*
 * covey bench exchange, as the console sees it: its own part of the command line, the run in
 * virtual time, what is printed, and the picture. bench_run.c has real tasks do it.
 */
#ifndef COVEY_TOOLS_BENCH_EXCHANGE_H
#define COVEY_TOOLS_BENCH_EXCHANGE_H

#include "tools/bench/bench.h"

enum {
    BENCH_KEY_DENSITY = 1101,
    BENCH_KEY_UNEQUAL,
    BENCH_KEY_TOPOLOGY,
    BENCH_KEY_SIMULATED,
    BENCH_KEY_ALPHA,
    BENCH_KEY_RATE,
    BENCH_KEY_MAP
};

/* Takes one of these options; an exit status. */
int bench_exchange_option(struct bench *bench, int key, const char *value);

/* One that was given with another benchmark, or NULL. */
const char *bench_exchange_stray(const struct bench *bench);

/* What was not said. */
int bench_exchange_settle(struct bench *bench);

/* Fills the rows: one for each density and size, with a series for each algorithm. */
int bench_exchange_run(struct bench *bench);

/* Prints them, and draws the map if one is wanted. */
int bench_exchange_report(struct bench *bench);

/* Draws the map: which algorithm is fastest, by size and density. */
int exchange_map_draw(const struct bench *bench);

/* The place of the row's fastest series. */
int exchange_best(const struct bench_row *row);

/* "64", "4 KiB". */
void exchange_size_text(int64_t bytes, char *text, size_t size);

#endif
