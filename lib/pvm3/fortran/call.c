/*
 * libfpvm3: PVM's calls for Fortran.
 *
 *   call.c     those of numbers alone
 *   message.c  buffers, packing, sending and receiving
 *   named.c    those that take a name
 *   list.c     those that give one entry of a list a call
 *   group.c    groups
 *   text.c     strings
 */
#include <stdio.h>

#include "lib/pvm3/fortran/fortran.h"

#include <pvm3.h>
#include <sys/time.h>

void pvmsleep(int seconds);

CALL_0(mytid)
CALL_0(parent)
CALL_0(exit)
CALL_0(halt)
CALL_0(newcontext)
CALL_0(getcontext)
CALL_1(kill)
CALL_1(pstat)
CALL_1(tidtohost)
CALL_1(getopt)
CALL_1(setcontext)
CALL_1(freecontext)
CALL_1(delmhf)
CALL_2(sendsig)
CALL_2(setopt)

void pvmfnotify_(const int *what, const int *tag, const int *count, int *tids, int *info)
{
    *info = pvm_notify(*what, *tag, *count, tids);
}

void pvmfcatchout_(const int *on, int *info)
{
    *info = pvm_catchout(*on ? stdout : NULL);
}

void pvmfsleep_(const int *seconds)
{
    pvmsleep(*seconds);
}

/* As in PVM's library: the fourth is not looked at, and the function gets its bufid by value. */
void pvmfaddmhf_(const int *tid, const int *tag, const int *context, const void *unused,
                 int (*call)(int bufid), int *number)
{
    (void)unused;
    *number = pvm_addmhf(*tid, *tag, *context, call);
}

/* NOLINTNEXTLINE(readability-function-size): the interface of fpvm3.h */
void pvmfhostsync_(const int *host, int *seconds, int *microseconds, int *delta_seconds,
                   int *delta_microseconds, int *info)
{
    struct timeval clock = {0}, delta = {0};
    *info = pvm_hostsync(*host, &clock, &delta);
    *seconds = (int)clock.tv_sec;
    *microseconds = (int)clock.tv_usec;
    *delta_seconds = (int)delta.tv_sec;
    *delta_microseconds = (int)delta.tv_usec;
}
