/*
 * cells.c - the cells of a row as they are filled in from the left. All are formatted into one
 * buffer of the row, so that commands need no array of strings of their own.
 */
#include "tools/list/cells.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void cells_add(struct cells *cells, const char *format, ...)
{
    char *text = cells->text + cells->used;
    size_t room = CELLS_BYTES - cells->used;
    va_list arguments;
    if (cells->count == CELLS_MAX)
        return;
    va_start(arguments, format);
    vsnprintf(text, room, format, arguments);
    va_end(arguments);
    size_t length = strlen(text);
    cells->used +=
        length + 1 < room ? length + 1 : length; /* the last zero serves all that follow */
    cells->list[cells->count++] = text;
    cells->list[cells->count] = NULL;
}

void cells_add_figure(struct cells *cells, double value)
{
    cells_add(cells, "%.*f", value < 10 ? 2 : value < 100 ? 1 : 0, value);
}
