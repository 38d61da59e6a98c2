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
