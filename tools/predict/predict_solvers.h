/*
 * predict_solvers.h - what the algorithms of a solver take.
 */
#ifndef COVEY_TOOLS_PREDICT_SOLVERS_H
#define COVEY_TOOLS_PREDICT_SOLVERS_H

#include "tools/predict/predict.h"

struct solver_request {
    const char *library;
    const char *size;  /* NULL: the usual one */
    const char *hosts; /* a number or names; NULL: one */
    const char *tasks; /* NULL: one a host */
};

/* Whether so named a solver is meant: sort is one where hosts are named, and otherwise the demo. */
bool predict_is_solver(const char *name, const char *hosts);

/* Prints a line for each algorithm. Returns an exit status. */
int predict_solvers(const struct predict *predict, const struct solver_request *request);

/* Measures the kernels of all solvers on this machine, if they were built. Returns an exit status.
 */
int calibrate_solvers(void);

#endif
