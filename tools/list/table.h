/*
 * A table of text: columns as wide as their widest cell, two blanks between them. Control
 * characters in cells, which come from other hosts, are shown as '?'.
 */
#ifndef COVEY_TOOLS_TABLE_H
#define COVEY_TOOLS_TABLE_H

#include <stdio.h>

struct table;

/* headings has at least one and ends with NULL; a heading that begins with '>' is a column aligned
 * to the right. NULL when memory is exhausted. */
struct table *table_create(const char *const *headings);

/* Adds a row of copies of `cells`, one per column. Memory that is exhausted shows in
 * table_print(). table may be NULL. */
void table_add(struct table *table, const char *const *cells);

/* A row of so many texts. A CELL() among them is one that is printed here; it lasts as long as the
 * block around it. */
#define TABLE_ROW(table, ...) table_add(table, (const char *const[]){__VA_ARGS__})
#define CELL(...) table_cell((char[TABLE_CELL_BYTES]){0}, __VA_ARGS__)

enum { TABLE_CELL_BYTES = 32 };

/* Prints a number or the like into text and returns it. */
const char *table_cell(char text[TABLE_CELL_BYTES], const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Prints headings and rows; 0, or -1 when table is NULL or a row was lost to lack of memory. */
int table_print(const struct table *table, FILE *out);

/* Shows control characters, those of UTF-8 with two bytes as well, as '?'. */
void table_hide_controls(char *text);

void table_destroy(struct table *table);

#endif
