/* What the commands that list things print on standard output: a table, or a value of JSON. */
#ifndef COVEY_TOOLS_REPORT_H
#define COVEY_TOOLS_REPORT_H

#include <jansson.h>

#include "tools/list/table.h"

/* A JSON string of a text from another host; what is not UTF-8 becomes '?'. */
json_t *report_text(const char *text);

/* A number, or null for one that is not known: below 0, or not above it. */
json_t *report_not_negative(double value);
json_t *report_positive(double value);

/* Appends object to *array. When that fails, or either is NULL, *array is dropped and becomes NULL:
 * report_print() then says so. */
void report_add(json_t **array, json_t *object);

/* Prints the array and drops the reference to it; NULL means that memory was exhausted. Returns
 * an exit status. */
int report_print(const char *what, json_t *array);

/* Prints the table and destroys it; NULL means that memory was exhausted. Returns an exit status.
 */
int report_table(const char *what, struct table *table);

#endif
