/*
 * error.c - the text of the last failure of each thread, as libcovey has one of its own: this
 * library uses covey.h alone and cannot set that one.
 */
#include "lib/domain/base/error.h"

#include <stdarg.h>
#include <stdio.h>

#define TEXT_BYTES 512

static _Thread_local char error_text[TEXT_BYTES];

const char *covey_domain_error_text(void)
{
    return error_text;
}

int domain_fail(int error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error_text, sizeof error_text, format, arguments);
    va_end(arguments);
    return error;
}

int domain_fail_of(int error, const char *what)
{
    return domain_fail(error, "%s: %s", what, covey_error_text());
}

/* A collective call that one member starts and gives up ends at all members. */
int domain_break(covey_team_t *team, int error)
{
    covey_req_t *request = NULL;
    if (covey_ibarrier(team, &request) == 0)
        covey_req_free(&request);
    return error;
}
