/*
 * used.h - what this process used of the processors in a time that has passed: pure, out of some
 * readings of its clock.
 */
#ifndef COVEY_LIB_DOMAIN_BASE_USED_H
#define COVEY_LIB_DOMAIN_BASE_USED_H

#include <stdbool.h>

#define USED_READINGS 32
#define USED_APART_S 0.25

/* One of zeros has no reading. */
struct used_log {
    struct used_reading {
        double at_s, used_s;   /* a time, and seconds of processors until then */
    } readings[USED_READINGS]; /* the oldest first */
    int count;
    bool is_open; /* the last one gives way to the next one */
};

/* Adds a reading, later than all before. One soon after another stays only until the next one. */
void used_note(struct used_log *log, double at_s, double used_s);

/* The last reading stays: a time that is asked for later will begin or end there. */
void used_keep(struct used_log *log);

/* Seconds of processors from begin_s until end_s. Between two readings they are taken to be spread
 * evenly, and before the first one to be as late as one processor can have used them. */
double used_between(const struct used_log *log, double begin_s, double end_s);

#endif
