/*
 * failure.c - the text of a failure: formatted once, where its cause is known.
 */
#include "daemon/base/failure.h"

#include <stdarg.h>
#include <stdio.h>

int failure_set(struct failure *f, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(f->text, sizeof f->text, format, list);
    va_end(list);
    return -1;
}

int failure_memory(struct failure *f)
{
    return failure_set(f, "memory is exhausted");
}
