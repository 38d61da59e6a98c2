/*
 * report.c - what listing commands print, a table or an array of JSON, and the error when standard
 * output takes no more.
 */
#include "tools/list/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/base/tool.h"

#define REAL_DIGITS 12

json_t *report_text(const char *text)
{
    json_t *string = json_string(text);
    if (string)
        return string;
    char *ascii = strdup(text);
    if (!ascii)
        return NULL;
    for (char *c = ascii; *c; c++) {
        if ((unsigned char)*c >= 0x80)
            *c = '?';
    }
    string = json_string(ascii);
    free(ascii);
    return string;
}

json_t *report_not_negative(double value)
{
    return value < 0 ? json_null() : json_real(value);
}

json_t *report_positive(double value)
{
    return value > 0 ? json_real(value) : json_null();
}

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
