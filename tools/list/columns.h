/*
 * The columns of lists that are longer or wider than a screen, as `covey top` and `covey ps` show
 * them: how each prints its cell of a row, and which of them a line has room for.
 */
#ifndef COVEY_TOOLS_COLUMNS_H
#define COVEY_TOOLS_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>

#include "tools/list/table.h"

#define COLUMN_CELL_BYTES 136 /* the longest is a command */

struct column {
    const char *heading;
    int width;
    int worth; /* where there is room for few, those that are worth more are shown */
    bool left; /* aligned to the left */
    void (*print)(const void *row, char *cell); /* COLUMN_CELL_BYTES of it */
};

enum { COLUMNS_MAX = 32 };

struct columns {
    const struct column *list;
    size_t count; /* <= COLUMNS_MAX */
};

/* Chooses the columns for a line of that many characters, one blank between them: shown[i] says
 * whether the i-th is. The first always is. */
void columns_choose(const struct columns *columns, int width, bool shown[COLUMNS_MAX]);

/* A line of those that are shown, of at most `width` characters; the headings for row NULL. The
 * last one has all that is left of the line if it is aligned to the left. */
void columns_line(const struct columns *columns, const bool *shown, const void *row, int width,
                  char *line, size_t size);

/* The same as a table, in which nothing is cut. table_add() is with columns_add(). */
struct table *columns_table(const struct columns *columns);
void columns_add(struct table *table, const struct columns *columns, const void *row);

/* A number in four or five characters: "999", "1.5K", "12M"; "-" for one that is not known, below
 * 0. */
void column_bytes(double bytes, char *cell);
/* With so many digits behind the point. */
void column_number(double value, int digits, char *cell);
/* Without a thousandth, or a millionth, of what does not fit. */
void column_count(double value, char *cell);

#endif
