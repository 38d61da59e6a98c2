/* What was meant by a word that is not known: the nearest one that is. */
#ifndef COVEY_TOOLS_GUESS_H
#define COVEY_TOOLS_GUESS_H

#include <stdbool.h>
#include <stddef.h>

/* The name of the command that is nearest to the word, so near that it may have been meant; NULL:
 * none is. */
const char *guess_command(const char *word);

/* Where a program that is in no folder of PATH may be after all: "./name" if it is in the current
 * folder, or its path if it is one of Covey's own. false: neither. */
bool guess_program(const char *name, char *path, size_t size);

#endif
