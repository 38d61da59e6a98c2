/*
 * Completion in the console and in shells: what a word may become. What fits follows from the
 * placeholder of the option or operand it stands for (see struct command): HOST, TID, ROUTE, FILE
 * ...
 */
#ifndef COVEY_TOOLS_COMPLETE_H
#define COVEY_TOOLS_COMPLETE_H

#include <stdbool.h>
#include <stddef.h>

#include "tools/base/tool.h"

struct complete_candidate {
    char *text;
    const char *help; /* one line, or NULL */
};

struct complete {
    struct complete_candidate *list; /* those that begin with prefix */
    int count;
    int capacity;
    char *prefix; /* what stands before the cursor of the word, or of its last part: h1 of h0,h1 */
    bool for_shell; /* which has global options, and no `quit`, and finds files itself: */
    bool wants_files;
};

/* Finds the candidates for the end of line[bytes]. Asks the VM where it must, and says nothing
 * when there is none. Free with complete_free(). */
void complete_find(struct complete *complete, struct tool *tool, const char *line, size_t bytes);

/* The same for the words that a shell has split: the last of count is the one to complete. Words
 * before the command may name another VM, to which the tool then turns. */
void complete_words(struct complete *complete, struct tool *tool, char *const *words, int count);

/* Adds a candidate if it begins with the prefix. */
void complete_add(struct complete *complete, const char *text);
void complete_add_helped(struct complete *complete, const char *text, const char *help);

/* How many bytes all candidates have in common; 0 when there is none. */
size_t complete_common(const struct complete *complete);

void complete_free(struct complete *complete);

#endif
