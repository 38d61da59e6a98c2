/*
 * Completion in the console: what a word may become. What fits follows from the placeholder of
 * the option or operand it stands for (see struct command): HOST, TID, ROUTE, FILE ...
 */
#ifndef COVEY_TOOLS_COMPLETE_H
#define COVEY_TOOLS_COMPLETE_H

#include <stddef.h>

#include "tools/base/tool.h"

struct complete {
    char **list; /* candidates that begin with prefix */
    int count;
    int capacity;
    char *prefix; /* the part of the word that stands before the cursor */
};

/* Finds the candidates for the end of line[bytes]. Asks the VM where it must, and says nothing
 * when there is none. Free with complete_free(). */
void complete_find(struct complete *complete, struct tool *tool, const char *line, size_t bytes);

/* Adds a candidate if it begins with the prefix. */
void complete_add(struct complete *complete, const char *text);

/* How many bytes all candidates have in common; 0 when there is none. */
size_t complete_common(const struct complete *complete);

void complete_free(struct complete *complete);

#endif
