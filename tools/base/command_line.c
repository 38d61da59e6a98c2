/*
 * command_line.c - the words of a command that is put together piece by piece, each of them
 * formatted. A failed allocation shows once, at the end, so that callers need not check every
 * word.
 */
#include "tools/base/command_line.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void command_line_add(struct command_line *line, const char *format, ...)
{
    char *word = NULL;
    va_list arguments;
    va_start(arguments, format);
    int size = vasprintf(&word, format, arguments);
    va_end(arguments);
    char **words = reallocarray(line->words, line->count + 2, sizeof *words);
    if (words)
        line->words = words;
    if (size < 0 || !words) {
        line->lost = true;
        free(size < 0 ? NULL : word);
        return;
    }
    words[line->count++] = word;
    words[line->count] = NULL;
}

void command_line_free(struct command_line *line)
{
    for (size_t i = 0; i < line->count; i++)
        free(line->words[i]);
    free(line->words);
}
