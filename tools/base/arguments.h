/*
 * The words of a command, read by the table of its options. What is kept as it stands goes to its
 * place at once; all else is handed to the command, one word after the other.
 */
#ifndef COVEY_TOOLS_ARGUMENTS_H
#define COVEY_TOOLS_ARGUMENTS_H

#include <stdbool.h>

#include "tools/base/args.h"

/* Where an option is kept. The key may be ARGS_OPERAND; 0 ends a list of places. */
struct arguments_place {
    int key;
    bool *flag;        /* becomes true */
    const char **text; /* becomes the value; with a count, the next of a list */
    int *count;
};

/* Takes an option, or an operand (ARGS_OPERAND); an exit status, and reading ends if not TOOL_OK.
 */
typedef int arguments_fn(void *context, int key, const char *value);

struct arguments {
    const struct args_option *options;
    const struct arguments_place *places;
    arguments_fn *take; /* what has no place; NULL: an operand is refused */
    void *context;
};

/* Reads all words after argv[0], the command's name; an exit status, after an error line where it
 * is not TOOL_OK. */
int arguments_read(const struct arguments *arguments, int argc, char **argv);

/* Keeps a value in its place; false: it has none. */
bool arguments_keep(const struct arguments_place *places, int key, const char *value);

#endif
