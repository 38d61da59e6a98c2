/*
 * covey bench exchange, as the console sees it: its own part of the command line, the run in
 * virtual time, what is printed, and the picture. bench_run.c has real tasks do it.
 */
#ifndef COVEY_TOOLS_BENCH_EXCHANGE_H
#define COVEY_TOOLS_BENCH_EXCHANGE_H

#include "tools/bench/bench.h"
#include "tools/list/report.h"

enum {
    BENCH_KEY_DENSITY = 1101,
    BENCH_KEY_UNEQUAL,
    BENCH_KEY_TOPOLOGY,
    BENCH_KEY_SIMULATED,
    BENCH_KEY_ALPHA,
    BENCH_KEY_RATE,
    BENCH_KEY_MAP,
    BENCH_KEY_PLOT
};

/* Takes one of these options; an exit status. */
int bench_exchange_option(struct bench *bench, int key, const char *value);

/* One that was given with another benchmark, or NULL. */
const char *bench_exchange_stray(const struct bench *bench);

/* What was not said. */
int bench_exchange_settle(struct bench *bench);

/* Fills the rows: one for each density and size, with a series for each algorithm. */
int bench_exchange_run(struct bench *bench);

/* Prints them, and draws the pictures that are wanted. */
int bench_exchange_report(struct bench *bench);

/* Draws the map: which algorithm is fastest, by size and density. */
int exchange_map_draw(const struct bench *bench);

/* Draws what ordering costs, as a fraction of the communication. */
int exchange_plot_draw(const struct bench *bench);

/* The time to make the order over that of the messages. */
double exchange_fraction(const struct bench_series *series);

enum { USES_MAX = 1000000 };

/* Whether ordering gains anything over AC, the first series, which orders nothing. */
struct exchange_worth {
    int once;    /* the series that is fastest with its ordering; 0: AC is */
    double gain; /* the part of AC's time that it saves */
    int uses; /* exchanges by one order after which an algorithm gains, the fewest; 0: none does */
};
struct exchange_worth exchange_worth(const struct bench_row *row);

/* The table of both, and what it comes to; an exit status. */
int exchange_worth_print(const struct bench *bench);
json_t *exchange_worth_json(const struct bench_row *row);

/* The place of the row's fastest series. */
int exchange_best(const struct bench_row *row);

/* "64", "4 KiB". */
void exchange_size_text(int64_t bytes, char *text, size_t size);

#endif
