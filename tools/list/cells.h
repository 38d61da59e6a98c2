/*
 * The cells of one row of a table (tools/list/table.h), or its headings, as they grow from the
 * left. Initialised to zeros it is an empty row.
 */
#ifndef COVEY_TOOLS_CELLS_H
#define COVEY_TOOLS_CELLS_H

#include <stddef.h>

enum { CELLS_MAX = 32, CELLS_BYTES = 1024 };

struct cells {
    char text[CELLS_BYTES]; /* of all cells, each ended by a zero */
    size_t used;
    const char *list[CELLS_MAX + 1]; /* what table_create() and table_add() take; ended by NULL */
    int count;
};

/* Adds a cell. What no longer fits into CELLS_BYTES is cut off; a cell more than CELLS_MAX is left
 * out. */
void cells_add(struct cells *cells, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Adds a number >= 0 with as many digits behind the point as its size needs for three or so. */
void cells_add_figure(struct cells *cells, double value);

#endif
