/*
 * chooser.h - takes the algorithm that is expected to need the least time.
 */
#ifndef COVEY_LIB_DOMAIN_BASE_CHOOSER_H
#define COVEY_LIB_DOMAIN_BASE_CHOOSER_H

#include "lib/domain/covey_domain/base.h"

#define DOMAIN_ALGORITHMS_MOST 16 /* of a library */
#define DOMAIN_KNOWN_RUNS 2       /* from which on what an algorithm takes is known */

/* One algorithm for one problem. The first of a library is "local": one member does it alone. */
struct domain_algorithm {
    const char *name;
    const char *refusal; /* why it cannot be taken here, in some words; NULL: it can */
    double seconds;      /* what its formula says that it takes */
    /* What earlier runs say, see history.h; all 0: nothing. */
    double factor;     /* by which the seconds are multiplied; 0: 1 */
    double measured_s; /* what the last run took */
    double runs;
    double again; /* how often it was tried again after it had turned out slower than others */
};

/* What it is expected to take, with what earlier runs say. */
double domain_expected_s(const struct domain_algorithm *algorithm);

/* The place of the algorithm to take: `forced`, or for DOMAIN_CHOSEN the first one with the least
 * seconds; but the first of all, by one member alone, unless that one is expected to take clearly
 * less, or a little less where it is known from earlier runs. Errors: EINVAL (the forced one cannot
 * be taken, or none can; the text says why). */
int domain_choose(const struct domain_algorithm *algorithms, int n, int forced);

/* Writes a table, a line an algorithm: its name, the milliseconds it is expected to take or why it
 * cannot be taken, where it has run what the formula said alone and what the last run took, and
 * "taken" or "forced" at the one with the place `taken`. Returns the length
 * that the whole table has; it is cut at `size`, and always ends with a NUL when size > 0. */
size_t domain_explain(const struct domain_algorithm *algorithms, int n, int taken, int forced,
                      char *text, size_t size);

#endif
