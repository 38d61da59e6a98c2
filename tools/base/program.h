/* Programs that come with the console: beside it or in apps/ in a build, or where they are
 * installed. */
#ifndef COVEY_TOOLS_PROGRAM_H
#define COVEY_TOOLS_PROGRAM_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

enum { PROGRAM_PATH_BYTES = PATH_MAX + 128 };

/* Whether there is a program of that name, and where. */
bool program_look(const char *name, char *path, size_t size);

/* Finds the program of that name; returns an exit status, after an error line in the name of `what`
 * where it is not there. */
int program_find(const char *what, const char *name, char *path, size_t size);

/* Where a program that is in no folder of PATH may be after all: "./name" if it is in the current
 * folder, or its path if it is one of Covey's own. false: neither. */
bool program_guess(const char *name, char *path, size_t size);

#endif
