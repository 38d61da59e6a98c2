/*
 * abi.h - variables and functions that PVM's libraries export besides those of pvm3.h, and that
 * programs which were built for PVM import.
 */
#ifndef COVEY_PVM3_ABI_H
#define COVEY_PVM3_ABI_H

#include <sys/time.h>

#include "lib/covey.h"

extern char *pvm_errlist[];
extern int pvm_nerr;
extern int pvm_errno;
extern int pvmautoerr;
extern int pvmmytid; /* -1: not enrolled */
extern int pvmmyctx;
extern int pvmdebmask;

/* The membership of Covey by which the process is a task; NULL: it cannot be one. */
covey_t *pvm_covey(void);

void pvmgetclock(struct timeval *now);
void pvmsleep(int seconds);
char *pvmnametag(int tag, int *known);
void pvmdisplaymhfinfo(char *who, char *text, int tid);

#endif
