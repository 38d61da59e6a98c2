/*
 * error.c - error codes: their texts, the last one, and the lines on standard error.
 */
#include "lib/pvm3/core/error.h"

#include <pvm3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/pvm3/core/abi.h"

#define TEXTS 37

char *pvm_errlist[TEXTS] = {
    "Success",
    "Unknown error",
    "Bad parameter",
    "Parameter mismatch",
    "Value too large",
    "End of buffer",
    "No such host",
    "No such file",
    "Permission denied",
    "Unknown error",
    "Malloc failed",
    "Unknown error",
    "Can't decode message",
    "Unknown error",
    "Can't contact local daemon",
    "No current buffer",
    "No such buffer",
    "Null group name",
    "Already in group",
    "No such group",
    "Not in group",
    "No such instance",
    "Host failed",
    "No parent task",
    "Not implemented",
    "Pvmd system error",
    "Version mismatch",
    "Out of resources",
    "Duplicate host",
    "Can't start pvmd",
    "Already in progress",
    "No such task",
    "Not Found",
    "Already Exists",
    "Hoster must run on master host",
    "Spawning parent set PvmNoParent",
    "Master Host IP Address is Loopback! (See pvm3/Readme)",
};
int pvm_nerr = TEXTS;
int pvm_errno;
int pvmautoerr = 1;

static const char *text_of(int code)
{
    return code <= 0 && code > -TEXTS ? pvm_errlist[-code] : "Unknown error";
}

static void print_head(void)
{
    if (pvmmytid > 0)
        fprintf(stderr, "libpvm [t%x]: ", (unsigned)pvmmytid);
    else
        fprintf(stderr, "libpvm [pid%d]: ", (int)getpid());
}

int lpvmerr(const char *call, int code)
{
    pvm_errno = code;
    if (code >= 0 || pvmautoerr == 0)
        return code;
    print_head();
    fprintf(stderr, "%s(): %s\n", call, text_of(code));
    if (pvmautoerr == 2)
        exit(EXIT_FAILURE);
    if (pvmautoerr == 3)
        abort();
    return code;
}

void error_note(const char *format, ...)
{
    va_list values;
    if (pvmautoerr == 0)
        return;
    va_start(values, format);
    print_head();
    vfprintf(stderr, format, values);
    fputc('\n', stderr);
    va_end(values);
}

int error_auto(void)
{
    return pvmautoerr;
}

void error_set_auto(int value)
{
    pvmautoerr = value;
}

int error_of(int covey_error)
{
    switch (covey_error) {
    case COVEY_OK:
        return PvmOk;
    case COVEY_EINVAL:
    case COVEY_ENOTASK:
        return PvmBadParam;
    case COVEY_ENOMEM:
    case COVEY_ETOOBIG:
        return PvmNoMem;
    case COVEY_ENOHOST:
        return PvmNoHost;
    case COVEY_EHOSTFAIL:
        return PvmHostFail;
    case COVEY_EVERSION:
        return PvmBadVersion;
    case COVEY_EDENIED:
        return PvmDenied;
    case COVEY_ENOENT:
    case COVEY_EEXEC:
        return PvmNoFile;
    case COVEY_ERESOURCE:
        return PvmOutOfRes;
    case COVEY_EADDHOST:
        return PvmCantStart;
    default:
        return PvmSysErr;
    }
}

int pvm_perror(char *text)
{
    print_head();
    fprintf(stderr, "%s: %s\n", text == NULL ? "(null)" : text, text_of(pvm_errno));
    return PvmOk;
}

char *pvm_strerror(void)
{
    return (char *)text_of(pvm_errno);
}

char *pvm_version(void)
{
    static char version[] = PVM_VER;
    return version;
}
