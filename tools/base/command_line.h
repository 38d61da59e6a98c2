/*
 * command_line.h - the words of a command that is put together piece by piece.
 */
#ifndef COVEY_TOOLS_COMMAND_LINE_H
#define COVEY_TOOLS_COMMAND_LINE_H

#include <stdbool.h>
#include <stddef.h>

/* Zeroed: empty. */
struct command_line {
    char **words; /* ends with NULL; NULL: no word yet */
    size_t count;
    bool lost; /* memory was exhausted */
};

__attribute__((format(printf, 2, 3))) void command_line_add(struct command_line *line,
                                                            const char *format, ...);
void command_line_free(struct command_line *line);

#endif
