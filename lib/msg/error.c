/*
 * error.c - error codes, their texts, and the line with the exact cause of a thread's last failure.
 */
#include "lib/msg/error.h"

#include <stdarg.h>
#include <stdio.h>

#define ERROR_TEXT_BYTES 512

static _Thread_local char last_text[ERROR_TEXT_BYTES] = "no error";

static const char *const texts[] = {
    [-COVEY_OK] = "no error",
    [-COVEY_EINVAL] = "bad argument",
    [-COVEY_ENOMEM] = "out of memory",
    [-COVEY_ETIMEOUT] = "timed out",
    [-COVEY_ENOTASK] = "no such task",
    [-COVEY_ENOHOST] = "no such host",
    [-COVEY_EHOSTFAIL] = "host failed",
    [-COVEY_ETYPE] = "the message holds another type or fewer elements",
    [-COVEY_EEND] = "end of message",
    [-COVEY_ETOOBIG] = "message too large",
    [-COVEY_EROUTE] = "the route cannot work here",
    [-COVEY_EDAEMON] = "no daemon",
    [-COVEY_EVERSION] = "version mismatch",
    [-COVEY_EDENIED] = "not allowed",
    [-COVEY_ENOENT] = "no such program or directory",
    [-COVEY_EEXEC] = "the program could not be executed",
    [-COVEY_ERESOURCE] = "out of resources",
    [-COVEY_ENOGROUP] = "no such group",
    [-COVEY_EEXIST] = "already there",
    [-COVEY_ECANCELED] = "cancelled",
    [-COVEY_ETRUNC] = "the array is too small for the message",
    [-COVEY_EPROTO] = "protocol error",
    [-COVEY_ESYS] = "system call failed",
    [-COVEY_EHALT] = "the virtual machine is being halted",
    [-COVEY_EADDHOST] = "the host could not be started",
};

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

/* Names that others chose stand in the text: it stays one line, and moves no terminal. */
static void make_printable(char *text)
{
    for (; *text != '\0'; text++)
        if ((unsigned char)*text < ' ' || *text == 0x7f)
            *text = '?';
}

int error_set(int code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(last_text, sizeof last_text, format, args);
    va_end(args);
    make_printable(last_text);
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
