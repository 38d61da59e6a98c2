/*
 * error.c - error codes, their texts, and the line with the exact cause of a thread's last failure.
 */
#include "lib/msg/error.h"

#include <stdio.h>

#include "proto/wire/error.h"
#include "proto/wire/format.h"

#define ERROR_TEXT_BYTES 512

static _Thread_local char last_text[ERROR_TEXT_BYTES] = "no error";

#define ERROR_TEXT(name, number, text) [number] = text,
static const char *const texts[] = {ERRORS(ERROR_TEXT)};

#define ERROR_IS_PUBLIC(name, number, text)                                                        \
    _Static_assert((int)COVEY_##name == (int)ERROR_##name, "covey.h has another number");
ERRORS(ERROR_IS_PUBLIC)

const char *covey_strerror(int error)
{
    size_t count = sizeof texts / sizeof texts[0];
    if (error > 0 || error <= -(int)count || texts[-error] == NULL)
        return "unknown error";
    return texts[-error];
}

const char *covey_error_text(void)
{
    return last_text;
}

int error_set(int code, const char *format, ...)
{
    FORMAT(last_text, sizeof last_text, format);
    /* Names that others chose stand in the text: it stays one line, and moves no terminal. */
    char *text = last_text;
    for (; *text != '\0'; text++)
        if ((unsigned char)*text < ' ' || *text == 0x7f)
            *text = '?';
    return code;
}

int error_code(int code)
{
    return error_set(code, "%s", covey_strerror(code));
}

const char *covey_version(void)
{
    return COVEY_VERSION;
}
