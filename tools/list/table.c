/*
 * table.c - a table of text as wide as its widest cells. Control characters in cells, which come
 * from other hosts, are shown as '?'.
 */
#include "tools/list/table.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct table {
    int columns;
    bool *right; /* per column */
    int *width;  /* per column, in characters */
    char **cells;
    size_t count; /* of cells, headings included */
    size_t capacity;
    bool lost;
};

/* Characters, not bytes: UTF-8 continuation bytes take no room. */
static int text_width(const char *text)
{
    int width = 0;
    for (; *text; text++)
        width += ((unsigned char)*text & 0xc0) != 0x80;
    return width;
}

void table_hide_controls(char *text)
{
    for (unsigned char *c = (unsigned char *)text; *c; c++) {
        if (*c < 0x20 || *c == 0x7f)
            *c = '?';
        else if (c[0] == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0)
            c[0] = c[1] = '?';
    }
}

static bool reserve_row(struct table *table)
{
    size_t wanted = table->count + (size_t)table->columns;
    if (wanted <= table->capacity)
        return true;
    size_t capacity = 2 * wanted;
    char **cells = realloc(table->cells, capacity * sizeof *cells);
    if (!cells)
        return false;
    table->cells = cells;
    table->capacity = capacity;
    return true;
}

static void add_cell(struct table *table, int column, const char *text)
{
    char *cell = strdup(text);
    if (cell) {
        table_hide_controls(cell);
        int width = text_width(cell);
        if (width > table->width[column])
            table->width[column] = width;
    }
    table->lost |= !cell;
    table->cells[table->count++] = cell;
}

void table_add(struct table *table, const char *const *cells)
{
    if (!table)
        return;
    if (!reserve_row(table)) {
        table->lost = true;
        return;
    }
    for (int i = 0; i < table->columns; i++)
        add_cell(table, i, cells[i]);
}

struct table *table_create(const char *const *headings)
{
    struct table *table = calloc(1, sizeof *table);
    if (!table)
        return NULL;
    int columns = 1;
    while (headings[columns])
        columns++;
    table->columns = columns;
    table->right = calloc((size_t)table->columns, sizeof *table->right);
    table->width = calloc((size_t)table->columns, sizeof *table->width);
    if (!table->right || !table->width || !reserve_row(table)) {
        table_destroy(table);
        return NULL;
    }
    for (int i = 0; i < table->columns; i++) {
        table->right[i] = headings[i][0] == '>';
        add_cell(table, i, headings[i] + table->right[i]);
    }
    return table;
}

const char *table_cell(char text[TABLE_CELL_BYTES], const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, TABLE_CELL_BYTES, format, arguments);
    va_end(arguments);
    return text;
}

/* Blanks are printed only before a cell that is not empty, so that no line ends with some. */
static void print_row(const struct table *table, char *const *cells, FILE *out)
{
    int blanks = 0;
    for (int i = 0; i < table->columns; i++) {
        int gap = table->width[i] - text_width(cells[i]);
        blanks += table->right[i] ? gap : 0;
        if (cells[i][0]) {
            fprintf(out, "%*s%s", blanks, "", cells[i]);
            blanks = 0;
        }
        blanks += (table->right[i] ? 0 : gap) + 2;
    }
    fputc('\n', out);
}

int table_print(const struct table *table, FILE *out)
{
    if (!table || table->lost)
        return -1;
    for (size_t i = 0; i < table->count; i += (size_t)table->columns)
        print_row(table, &table->cells[i], out);
    return 0;
}

void table_destroy(struct table *table)
{
    if (!table)
        return;
    for (size_t i = 0; i < table->count; i++)
        free(table->cells[i]);
    free(table->cells);
    free(table->right);
    free(table->width);
    free(table);
}
