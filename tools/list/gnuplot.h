/* Pictures that gnuplot draws. */
#ifndef COVEY_TOOLS_GNUPLOT_H
#define COVEY_TOOLS_GNUPLOT_H

#include <stdio.h>

/* Writes a script; the picture is its standard output. */
typedef void gnuplot_script_fn(const void *context, FILE *out);

/* Draws into the file of that path; nothing is left there when it fails. `what` is the command and
 * `option` the option that asked for it, for errors. Returns an exit status. */
int gnuplot_draw(const char *what, const char *option, const char *path, gnuplot_script_fn *fn,
                 const void *context);

#endif
