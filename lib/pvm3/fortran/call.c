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

void pvmfmytid_(int *tid)
{
    *tid = pvm_mytid();
}

void pvmfparent_(int *tid)
{
    *tid = pvm_parent();
}

void pvmfexit_(int *info)
{
    *info = pvm_exit();
}

void pvmfkill_(const int *tid, int *info)
{
    *info = pvm_kill(*tid);
}

void pvmfsendsig_(const int *tid, const int *number, int *info)
{
    *info = pvm_sendsig(*tid, *number);
}

void pvmfpstat_(const int *tid, int *status)
{
    *status = pvm_pstat(*tid);
}

void pvmftidtohost_(const int *tid, int *host)
{
    *host = pvm_tidtohost(*tid);
}

void pvmfhalt_(int *info)
{
    *info = pvm_halt();
}

void pvmfnotify_(const int *what, const int *tag, const int *count, int *tids, int *info)
{
    *info = pvm_notify(*what, *tag, *count, tids);
}

void pvmfsetopt_(const int *what, const int *value, int *before)
{
    *before = pvm_setopt(*what, *value);
}

void pvmfgetopt_(const int *what, int *value)
{
    *value = pvm_getopt(*what);
}

void pvmfcatchout_(const int *on, int *info)
{
    *info = pvm_catchout(*on ? stdout : NULL);
}

void pvmfnewcontext_(int *context)
{
    *context = pvm_newcontext();
}

void pvmfsetcontext_(const int *context, int *before)
{
    *before = pvm_setcontext(*context);
}

void pvmfgetcontext_(int *context)
{
    *context = pvm_getcontext();
}

void pvmffreecontext_(const int *context, int *info)
{
    *info = pvm_freecontext(*context);
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

void pvmfdelmhf_(const int *number, int *info)
{
    *info = pvm_delmhf(*number);
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
