/*
 * tid.c - tids as text, "t40001", to print and to parse. It is the only place that knows the form.
 */
#include "tools/base/tid.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

const char *tid_format(covey_tid_t tid, char *text)
{
    snprintf(text, TID_TEXT_BYTES, "t%x", (unsigned)tid);
    return text;
}

covey_tid_t tid_parse(const char *text)
{
    int base = 10;
    if (*text == 't') {
        base = 16;
        text++;
    } else if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
        base = 16;
        text += 2;
    }
    if (!isxdigit((unsigned char)*text) || (text[0] == '0' && (text[1] | 32) == 'x'))
        return 0;
    char *end;
    errno = 0;
    unsigned long value = strtoul(text, &end, base);
    return errno || *end || value > INT32_MAX ? 0 : (covey_tid_t)value;
}
