/*
 * report_value.c - texts and numbers of JSON; apart from report.c, for pure files make JSON, too.
 */
#include <stdlib.h>
#include <string.h>

#include "tools/list/report.h"

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
