/* columns.c - the columns of a list: chosen for the width of a screen, or all, as a table. */
#include "tools/list/columns.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* ---- numbers ---- */

void column_bytes(double bytes, char *cell)
{
    static const char units[] = " KMGTPE";
    int unit = 0;
    for (; bytes >= 999.5 && unit < 6; unit++)
        bytes /= 1024;
    if (bytes < 0)
        snprintf(cell, COLUMN_CELL_BYTES, "-");
    else if (unit == 0)
        snprintf(cell, COLUMN_CELL_BYTES, "%.0f", bytes);
    else
        snprintf(cell, COLUMN_CELL_BYTES, "%.*f%c", bytes < 9.95 ? 1 : 0, bytes, units[unit]);
}

void column_number(double value, int digits, char *cell)
{
    if (value < 0)
        snprintf(cell, COLUMN_CELL_BYTES, "-");
    else
        snprintf(cell, COLUMN_CELL_BYTES, "%.*f", digits, value);
}

void column_count(double value, char *cell)
{
    if (value >= 99999500)
        snprintf(cell, COLUMN_CELL_BYTES, "%.0fM", value / 1e6);
    else if (value >= 99999.5)
        snprintf(cell, COLUMN_CELL_BYTES, "%.0fk", value / 1000);
    else
        column_number(value, 0, cell);
}

/* ---- a line of a screen ---- */

/* The column worth most of those that are not shown and fit; -1: none does. */
static int best_left(const struct columns *columns, int room, const bool *shown)
{
    int best = -1;
    for (size_t i = 0; i < columns->count; i++) {
        const struct column *c = &columns->list[i];
        if (!shown[i] && c->width + 1 <= room && (best < 0 || c->worth > columns->list[best].worth))
            best = (int)i;
    }
    return best;
}

void columns_choose(const struct columns *columns, int width, bool shown[COLUMNS_MAX])
{
    assert(columns->count > 0 && columns->count <= COLUMNS_MAX);
    int room = width - columns->list[0].width, next;
    for (size_t i = 0; i < columns->count; i++)
        shown[i] = i == 0;
    while ((next = best_left(columns, room, shown)) >= 0) {
        shown[next] = true;
        room -= columns->list[next].width + 1;
    }
}

void columns_line(const struct columns *columns, const bool *shown, const void *row, int width,
                  char *line, size_t size)
{
    size_t used = 0, last = columns->count;
    while (last > 1 && !shown[last - 1])
        last--;
    line[0] = '\0';
    for (size_t i = 0; i < last && used + 1 < size; i++) {
        const struct column *c = &columns->list[i];
        char cell[COLUMN_CELL_BYTES];
        if (!shown[i])
            continue;
        snprintf(cell, sizeof cell, "%s", c->heading);
        if (row)
            c->print(row, cell);
        bool rest = i + 1 == last && c->left && width > (int)used + c->width;
        int most = rest ? width - (int)used : c->width;
        int n = snprintf(line + used, size - used, c->left ? "%-*.*s" : "%*.*s",
                         rest ? 0 : c->width, most, cell);
        used += n > 0 ? (size_t)n : 0;
        if (i + 1 < last && used + 1 < size) {
            line[used++] = ' ';
            line[used] = '\0';
        }
    }
    table_hide_controls(line);
}

/* ---- a table ---- */

struct table *columns_table(const struct columns *columns)
{
    char texts[COLUMNS_MAX][32];
    const char *headings[COLUMNS_MAX + 1] = {NULL};
    assert(columns->count > 0 && columns->count <= COLUMNS_MAX);
    for (size_t i = 0; i < columns->count; i++) {
        const struct column *c = &columns->list[i];
        snprintf(texts[i], sizeof texts[i], "%s%s", c->left ? "" : ">", c->heading);
        headings[i] = texts[i];
    }
    return table_create(headings);
}

void columns_add(struct table *table, const struct columns *columns, const void *row)
{
    char cells[COLUMNS_MAX][COLUMN_CELL_BYTES];
    const char *texts[COLUMNS_MAX];
    for (size_t i = 0; i < columns->count; i++) {
        columns->list[i].print(row, cells[i]);
        texts[i] = cells[i];
    }
    table_add(table, texts);
}
