/*
 * misc.c - small functions that PVM's library exports besides.
 */
#define NOTMPNAM
#include <pvm3.h>
#include <pvmproto.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "lib/pvm3/core/abi.h"

void pvmgetclock(struct timeval *now)
{
    gettimeofday(now, NULL);
}

void pvmsleep(int seconds)
{
    struct timespec left = {.tv_sec = seconds};
    while (seconds > 0 && nanosleep(&left, &left) != 0)
        ;
}

static const char *const scheduler_tags[] = {
    "SM_SPAWN",   "SM_EXEC",  "SM_EXECACK", "SM_TASK",      "SM_CONFIG", "SM_ADDHOST",
    "SM_DELHOST", "SM_ADD",   "SM_ADDACK",  "SM_NOTIFY",    "SM_TASKX",  "SM_HOSTX",
    "SM_HANDOFF", "SM_SCHED", "SM_STHOST",  "SM_STHOSTACK", "SM_STTASK"};

static const char *const task_tags[] = {
    "TC_CONREQ",   "TC_CONACK",    "TC_TASKEXIT",  "TC_NOOP",  "TC_OUTPUT",  "TC_SETTRACE",
    "TC_SETTMASK", "TC_SETTRCBUF", "TC_SETTRCOPT", "TC_SHMAT", "TC_OUTPUTX", "TC_SIBLINGS"};

/* The name of a tag of the library, otherwise its number; *known, which may be NULL, tells which.
 */
char *pvmnametag(int tag, int *known)
{
    static char text[24];
    const char *name = NULL;
    if (tag >= SM_FIRST && tag <= SM_LAST)
        name = scheduler_tags[tag - SM_FIRST];
    else if (tag >= TC_FIRST && tag <= TC_LAST)
        name = task_tags[tag - TC_FIRST];
    if (known != NULL)
        *known = name != NULL;
    snprintf(text, sizeof text, "%d", tag);
    return name != NULL ? (char *)(uintptr_t)name : text;
}

static char *variable(const char *name, char *otherwise)
{
    char *set = getenv(name);
    return set != NULL && set[0] != '\0' ? set : otherwise;
}

/* The command by which hosts are reached. */
char *pvmgetrsh(void)
{
    static char ssh[] = "/usr/bin/ssh";
    return variable("PVM_RSH", ssh);
}

/* The folder for temporary files. */
char *pvmgettmp(void)
{
    static char tmp[] = "/tmp";
    return variable("PVM_TMP", tmp);
}

/* A new file there; only its name stays. */
char *pvmtmpnam(char *name)
{
    static char own[128];
    char *to = name != NULL ? name : own;
    int n = snprintf(to, sizeof own, "%s/pvmXXXXXX", pvmgettmp());
    int fd = n > 0 && (size_t)n < sizeof own ? mkstemp(to) : -1;
    if (fd < 0)
        return NULL;
    close(fd);
    unlink(to);
    return to;
}
