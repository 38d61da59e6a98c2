/*
 * library.h - a library of solvers as `covey predict` and `covey calibrate` see it: what it would
 * take, without running anything. The table of them is lib/domain/predict/libraries.c; a new one is
 * a row there.
 */
#ifndef COVEY_LIB_DOMAIN_BASE_LIBRARY_H
#define COVEY_LIB_DOMAIN_BASE_LIBRARY_H

#include "lib/domain/base/chooser.h"
#include "lib/domain/base/figures.h"
#include "lib/domain/covey_domain/base.h"

struct domain_library {
    const char *name;  /* what the user says: "fft" */
    const char *sizes; /* what a size looks like, in words: "N, NxN or NxNxN" */
    const char *usual; /* the size where the user says none */

    /* Sets a row for each algorithm, at most DOMAIN_ALGORITHMS_MOST, and returns their number.
     * Pure: of the figures it takes what its own measure() enters. Errors: EINVAL (the size),
     * ENOHOST (a figure is not there); the text says what. */
    int (*predict)(const char *size, const struct covey_domain_place *place,
                   const struct domain_figures *figures, struct domain_algorithm *rows);

    /* Measures this process's kernels for problems up to the usual size, in a second or two, and
     * enters seconds of the processor, names beginning with "NAME.": not a collective call.
     * Errors: ENOMEM. */
    int (*measure)(struct domain_figures *figures);
};

#endif
