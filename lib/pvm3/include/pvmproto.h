/*
 * pvmproto.h - numbers of PVM 3.4.6 that programs see in messages which the library or a daemon
 * makes: contexts and tags of task output, and of what a scheduler, hoster or tasker is asked for.
 */
#ifndef _PVMPROTO_H_
#define _PVMPROTO_H_

/* ---- Contexts ----------------------------------------------------------------------------- */
#define BASECONTEXT (int)0
#define SYSCTX_FIRST (int)0x0007ffff
#define SYSCTX_TC (SYSCTX_FIRST - 0) /* to a task's library */
#define SYSCTX_TM (SYSCTX_FIRST - 1) /* to a daemon */
#define SYSCTX_SG (SYSCTX_FIRST - 2) /* groups */
#define SYSCTX_DG (SYSCTX_FIRST - 3) /* groups */
#define SYSCTX_RS4 (SYSCTX_FIRST - 4)
#define SYSCTX_RS5 (SYSCTX_FIRST - 5)
#define SYSCTX_RS6 (SYSCTX_FIRST - 6)
#define SYSCTX_RS7 (SYSCTX_FIRST - 7)
#define SYSCTX_RS8 (SYSCTX_FIRST - 8)
#define SYSCTX_RS9 (SYSCTX_FIRST - 9)
#define SYSCTX_LAST (SYSCTX_FIRST - 9)
#define NUM_SYSCTX (SYSCTX_FIRST - SYSCTX_LAST + 1)

/* ---- Tags of a task's library ------------------------------------------------------------- */
#define TC_FIRST (int)0x80030001
#define TC_CONREQ (TC_FIRST + 0)
#define TC_CONACK (TC_FIRST + 1)
#define TC_TASKEXIT (TC_FIRST + 2)
#define TC_NOOP (TC_FIRST + 3)
#define TC_OUTPUT (TC_FIRST + 4) /* tid, length or one of TO_..., bytes */
#define TC_SETTRACE (TC_FIRST + 5)
#define TC_SETTMASK (TC_FIRST + 6)
#define TC_SETTRCBUF (TC_FIRST + 7)
#define TC_SETTRCOPT (TC_FIRST + 8)
#define TC_SHMAT (TC_FIRST + 9)
#define TC_OUTPUTX (TC_FIRST + 10)
#define TC_SIBLINGS (TC_FIRST + 11) /* count, tids */
#define TC_LAST (TC_FIRST + 11)

#define TO_EOF 0    /* the task has ended */
#define TO_SPAWN -1 /* it is to be started, by the tid that follows */
#define TO_NEW -2   /* it has started; its parent's tid follows */

/* ---- Tags of schedulers, hosters and taskers ---------------------------------------------- */
#define SM_FIRST (int)0x80040001
#define SM_SPAWN (SM_FIRST + 0)
#define SM_EXEC (SM_FIRST + 1)
#define SM_EXECACK (SM_FIRST + 2)
#define SM_TASK (SM_FIRST + 3)
#define SM_CONFIG (SM_FIRST + 4)
#define SM_ADDHOST (SM_FIRST + 5)
#define SM_DELHOST (SM_FIRST + 6)
#define SM_ADD (SM_FIRST + 7)
#define SM_ADDACK (SM_FIRST + 8)
#define SM_NOTIFY (SM_FIRST + 9)
#define SM_TASKX (SM_FIRST + 10)
#define SM_HOSTX (SM_FIRST + 11)
#define SM_HANDOFF (SM_FIRST + 12)
#define SM_SCHED (SM_FIRST + 13)
#define SM_STHOST (SM_FIRST + 14)
#define SM_STHOSTACK (SM_FIRST + 15)
#define SM_STTASK (SM_FIRST + 16)
#define SM_LAST (SM_FIRST + 16)

#endif
