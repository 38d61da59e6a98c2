/*
 * progress.c - one line on the terminal that shows how far a run is. It is written only to a
 * terminal and not to a file.
 */
#include "apps/progress.h"

#include "apps/figures.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

void progress_begin(struct progress *progress, const char *text)
{
    *progress = (struct progress){
        .enabled = isatty(STDERR_FILENO) == 1, .text = text, .started_s = figures_clock()};
    progress_show(progress, 0);
}

void progress_show(struct progress *progress, double fraction)
{
    if (!progress->enabled)
        return;
    if (fraction >= 0)
        progress->fraction = fraction;
    fprintf(stderr, "\r\033[K%s: %s %3.0f %%  %.1f s", program_invocation_short_name,
            progress->text, 100 * progress->fraction, figures_clock() - progress->started_s);
    fflush(stderr);
    progress->shown = true;
}

void progress_end(struct progress *progress)
{
    if (progress->shown)
        fputs("\r\033[K", stderr);
    progress->shown = false;
}
