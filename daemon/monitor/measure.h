/*
 * measure.h - how fast one core of this machine is, by its own processor time: what else runs here
 * hardly shows. It takes some 30 ms of a core; `coveyd --measure` does it and prints the result in
 * one line, so that the daemon waits for nothing.
 */
#ifndef COVEY_DAEMON_MEASURE_H
#define COVEY_DAEMON_MEASURE_H

#include <stdbool.h>
#include <stddef.h>

struct measure {
    double integer_per_s;    /* 64-bit operations, each after the one before */
    double float_per_s;      /* of doubles: multiplications and additions, several at once */
    double pack_bytes_per_s; /* doubles copied into a message's memory */
};

void measure_run(struct measure *m);

/* The line, and back. */
#define MEASURE_LINE_BYTES 128
void measure_print(const struct measure *m, char line[MEASURE_LINE_BYTES]);
bool measure_parse(const char *line, struct measure *m);

#endif
