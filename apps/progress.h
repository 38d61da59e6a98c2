/*
 * progress.h - one line on the terminal that shows how far a run is.
 */
#ifndef APPS_PROGRESS_H
#define APPS_PROGRESS_H

#include <stdbool.h>

struct progress {
    bool enabled;     /* standard error is a terminal */
    bool shown;       /* a line stands there and must be wiped */
    const char *text; /* what runs */
    double started_s;
    double fraction;
};

/* Starts a line for what `text` says; it stays invisible unless standard error is a terminal. */
void progress_begin(struct progress *progress, const char *text);

/* Draws the line anew, with `fraction` (0 .. 1) done or, when negative, as far as last time. */
void progress_show(struct progress *progress, double fraction);

/* Wipes the line. */
void progress_end(struct progress *progress);

#endif
