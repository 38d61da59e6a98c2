/* Where completion finds the words that a placeholder stands for. */
#ifndef COVEY_TOOLS_CANDIDATE_H
#define COVEY_TOOLS_CANDIDATE_H

#include "tools/console/complete.h"

/* Adds all that `placeholder` ("HOST", "TID", "FILE" ...) may be; an unknown one adds nothing. */
void candidate_add(struct complete *complete, struct tool *tool, const char *placeholder);

#endif
