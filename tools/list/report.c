/*
 * report.c - what listing commands print, a table or an array of JSON, and the error when standard
 * output takes no more.
 */
#include "tools/list/report.h"

#include <stdio.h>

#include "tools/base/tool.h"

#define REAL_DIGITS 12

void report_add(json_t **array, json_t *object)
{
    if (json_array_append_new(*array, object) == 0)
        return;
    json_decref(*array);
    *array = NULL;
}

int report_print(const char *what, json_t *array)
{
    if (!array)
        return tool_error(what, "memory is exhausted");
    int failed = json_dumpf(array, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(REAL_DIGITS)) < 0 ||
                 putchar('\n') < 0;
    json_decref(array);
    return failed ? TOOL_FAILED : TOOL_OK;
}

int report_table(const char *what, struct table *table)
{
    int failed = table_print(table, stdout);
    table_destroy(table);
    return failed ? tool_error(what, "memory is exhausted") : TOOL_OK;
}
