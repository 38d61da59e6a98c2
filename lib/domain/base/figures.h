/*
 * figures.h - what was measured of a machine's kernels, by name: "sort.radix8.65536". One line of a
 * file each, so that the next process, and `covey predict`, need not measure it again.
 */
#ifndef COVEY_LIB_DOMAIN_BASE_FIGURES_H
#define COVEY_LIB_DOMAIN_BASE_FIGURES_H

#include <stddef.h>

#define DOMAIN_FIGURE_NAME 64 /* characters of a name, with its end */

struct domain_figure {
    char name[DOMAIN_FIGURE_NAME];
    double value;
};

struct domain_figures {
    struct domain_figure *list; /* by name, ascending */
    size_t n;
};

/* The value of that name; 0: there is none. */
double domain_figure(const struct domain_figures *figures, const char *name);

/* Enters a value, or replaces it. The name has neither blanks nor a '#'. Errors: EINVAL (the name,
 * or a value that is not above 0), ENOMEM. */
int domain_figure_set(struct domain_figures *figures, const char *name, double value);

void domain_figures_free(struct domain_figures *figures);

/* Adds the figures of a machine that the file has; what the file has of it is replaced by the
 * figures. A file that is not there is an empty one, and lines that make no sense are passed over:
 * it is a cache. Writing is whole or not at all. Errors: ENOMEM, ESYS. */
int domain_figures_read(struct domain_figures *figures, const char *path, const char *machine);
int domain_figures_write(const struct domain_figures *figures, const char *path,
                         const char *machine);

/* That file: what COVEY_SOLVERS names, otherwise covey/solvers in $XDG_CACHE_HOME or ~/.cache. "":
 * there is neither, or COVEY_SOLVERS is empty, and nothing is kept. */
void domain_figures_path(char *path, size_t size);

#endif
