/*
 * draw.h - the worker of mandel.
 */
#ifndef MANDEL_DRAW_H
#define MANDEL_DRAW_H

#include "apps/crew.h"
#include "apps/mandel/escape.h"
#include "covey.h"

/* A strip: two int32, the first row and the number of rows; 0 rows: there are no more. */
#define DRAW_TAG_STRIP CREW_PROGRAM
/* A drawn strip: the same two int32, then the counts of its pixels as uint16. */
#define DRAW_TAG_DRAWN (CREW_PROGRAM + 1)

/* What a worker must know. */
struct draw_job {
    struct escape_view view;
    int32_t bag; /* 1: strips are the items of a bag, strip and drawn strip as bytes like above */
};

/* Packs a draw_job. */
int draw_pack(covey_msg_t *msg, const void *job);

/* Lives as a task; returns the exit status of the process. */
int draw_worker(void);

#endif
