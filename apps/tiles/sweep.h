/*
 * sweep.h - what several runs of a loop gave, by height and schedule: as a table, or as JSON, which
 * `covey predict tiles --measured` reads and draws.
 */
#ifndef TILES_SWEEP_H
#define TILES_SWEEP_H

#include "apps/tiles/pipeline.h"

struct sweep {
    const struct pipeline_job *job;
    const double *figures; /* as pipeline_worker() sends them */
    int route;             /* as asked for */
};

/* The figures of a trial. */
const double *sweep_trial(const struct sweep *sweep, int trial);

/* What its total should be: of all steps played, where that is known. */
double sweep_predicted_s(const double *trial);

/* Print to standard output. Return 0, or -1 after saying what is wrong. */
int sweep_table(const struct sweep *sweep);
int sweep_json(const struct sweep *sweep);

/* Which way the faces of a trial went: "put" into memory, "sent", "put and sent", or "none". */
const char *sweep_faces(const double *trial);

#endif
