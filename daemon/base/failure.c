/*
 * failure.c - the text of a failure: formatted once, where its cause is known.
 */
#include "daemon/base/failure.h"
#include "proto/wire/format.h"

#include <stdio.h>

int failure_set(struct failure *f, const char *format, ...)
{
    FORMAT(f->text, sizeof f->text, format);
    return -1;
}

int failure_memory(struct failure *f)
{
    return failure_set(f, "memory is exhausted");
}
