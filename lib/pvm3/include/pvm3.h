/*
 * pvm3.h - the interface of PVM 3.4.6, on Covey.
 *
 * A program that was written for PVM 3 is compiled with this header and linked with -lpvm3 (and
 * -lgpvm3 for groups). Names, values and layouts are PVM's, so that a program built for PVM's own
 * libraries runs with these. What is the same, better and different: covey-pvm(7).
 */
#ifndef _PVM3_H_
#define _PVM3_H_

#include <sys/time.h>

#define PVM_VER "3.4.6"
#define PVM_MAJOR_VERSION 3
#define PVM_MINOR_VERSION 4
#define PVM_PATCH_VERSION 6

/* ---- Encodings: pvm_initsend(), pvm_mkbuf() ----------------------------------------------- */
#define PvmDataDefault 0
#define PvmDataRaw 1
#define PvmDataInPlace 2
#define PvmDataFoo PvmDataDefault
#define PvmDataTrace 4

/* ---- Options of pvm_spawn() --------------------------------------------------------------- */
#define PvmTaskDefault 0
#define PvmTaskHost 1
#define PvmTaskArch 2
#define PvmTaskDebug 4
#define PvmTaskTrace 8
#define PvmMppFront 16
#define PvmHostCompl 32
#define PvmNoSpawnParent 64

/* ---- Kinds of pvm_notify() ---------------------------------------------------------------- */
#define PvmTaskExit 1
#define PvmHostDelete 2
#define PvmHostAdd 3
#define PvmRouteAdd 4
#define PvmRouteDelete 5
#define PvmNotifyCancel 256

/* ---- Options of pvm_setopt() and pvm_getopt(), and their values --------------------------- */
#define PvmRoute 1
#define PvmDontRoute 1
#define PvmAllowDirect 2
#define PvmRouteDirect 3
#define PvmDebugMask 2
#define PvmAutoErr 3
#define PvmOutputTid 4
#define PvmOutputCode 5
#define PvmTraceTid 6
#define PvmTraceCode 7
#define PvmTraceBuffer 8
#define PvmTraceOptions 9
#define PvmTraceFull 1
#define PvmTraceTime 2
#define PvmTraceCount 3
#define PvmFragSize 10
#define PvmResvTids 11
#define PvmSelfOutputTid 12
#define PvmSelfOutputCode 13
#define PvmSelfTraceTid 14
#define PvmSelfTraceCode 15
#define PvmSelfTraceBuffer 16
#define PvmSelfTraceOptions 17
#define PvmShowTids 18
#define PvmPollType 19
#define PvmPollConstant 1
#define PvmPollSleep 2
#define PvmPollTime 20
#define PvmOutputContext 21
#define PvmTraceContext 22
#define PvmSelfOutputContext 23
#define PvmSelfTraceContext 24
#define PvmNoReset 25

#define PvmTaskSelf 0
#define PvmTaskChild 1

#define PvmBaseContext 0

/* ---- Flags of mailboxes ------------------------------------------------------------------- */
#define PvmMboxDefault 0
#define PvmMboxPersistent 1
#define PvmMboxMultiInstance 2
#define PvmMboxOverWritable 4
#define PvmMboxFirstAvail 8
#define PvmMboxReadAndDelete 16
#define PvmMboxWaitForInfo 32
#define PvmMboxMaxFlag 512
#define PvmMboxDirectIndexShift 10
#define PvmMboxMaxDirectIndex ((unsigned)1 << 21)
#define PvmMboxDirectIndex(index) ((index) << PvmMboxDirectIndexShift)
#define PvmMboxDirectIndexOf(flags)                                                                \
    (((flags) & ((PvmMboxMaxDirectIndex - 1) << PvmMboxDirectIndexShift)) >>                       \
     PvmMboxDirectIndexShift)

#define PVMNORESETCLASS "###_PVM_NO_RESET_###"
#define PVMHOSTERCLASS "###_PVM_HOSTER_###"
#define PVMTASKERCLASS "###_PVM_TASKER_###"
#define PVMTRACERCLASS "###_PVM_TRACER_###"
#define PVMRMCLASS "###_PVM_RM_###"

/* ---- Results ------------------------------------------------------------------------------ */
#define PvmOk 0
#define PvmBadParam -2
#define PvmMismatch -3
#define PvmOverflow -4
#define PvmNoData -5
#define PvmNoHost -6
#define PvmNoFile -7
#define PvmDenied -8
#define PvmNoMem -10
#define PvmBadMsg -12
#define PvmSysErr -14
#define PvmNoBuf -15
#define PvmNoSuchBuf -16
#define PvmNullGroup -17
#define PvmDupGroup -18
#define PvmNoGroup -19
#define PvmNotInGroup -20
#define PvmNoInst -21
#define PvmHostFail -22
#define PvmNoParent -23
#define PvmNotImpl -24
#define PvmDSysErr -25
#define PvmBadVersion -26
#define PvmOutOfRes -27
#define PvmDupHost -28
#define PvmCantStart -29
#define PvmAlready -30
#define PvmNoTask -31
#define PvmNotFound -32
#define PvmExists -33
#define PvmHostrNMstr -34
#define PvmParentNotSet -35
#define PvmIPLoopback -36
#define PvmNoEntry PvmNotFound
#define PvmDupEntry PvmDenied

/* ---- Types of elements: pvm_psend(), pvm_precv(), pvm_reduce() ... ------------------------- */
#define PVM_STR 0
#define PVM_BYTE 1
#define PVM_SHORT 2
#define PVM_INT 3
#define PVM_FLOAT 4
#define PVM_CPLX 5
#define PVM_DOUBLE 6
#define PVM_DCPLX 7
#define PVM_LONG 8
#define PVM_USHORT 9
#define PVM_UINT 10
#define PVM_ULONG 11

#ifdef NOTMPNAM
#define PVMTMPNAMFUN(name) pvmtmpnam(name)
#define PVMTMPNAMLEN 128
#else
#define PVMTMPNAMFUN(name) tmpnam(name)
#ifdef L_tmpnam
#define PVMTMPNAMLEN L_tmpnam
#else
#define PVMTMPNAMLEN 128
#endif
#endif

/* Arrays of these that a call gives belong to the library, until the same call is made again. */
struct pvmhostinfo {
    int hi_tid;    /* of its daemon */
    char *hi_name; /* as in the VM */
    char *hi_arch; /* as pvmgetarch prints it */
    int hi_speed;
    int hi_dsig; /* format of its data */
};

struct pvmtaskinfo {
    int ti_tid;
    int ti_ptid; /* who spawned it */
    int ti_host; /* tid of its host's daemon */
    int ti_flag;
    char *ti_a_out; /* program */
    int ti_pid;
};

struct pvmminfo {
    int len; /* bytes */
    int ctx;
    int tag;
    int wid; /* number of a wait that it belongs to */
    int enc;
    int crc;
    int src;
    int dst;
};

struct pvmmboxinfo {
    char *mi_name;
    int mi_nentries;
    int *mi_indices;
    int *mi_owners;
    int *mi_flags;
};

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Tasks -------------------------------------------------------------------------------- */
int pvm_mytid(void);
int pvm_exit(void);
int pvm_parent(void);
int pvm_siblings(int **tids);
int pvm_spawn(char *program, char **argv, int flags, char *where, int count, int *tids);
int pvm_kill(int tid);
int pvm_sendsig(int tid, int signal_number);
int pvm_pstat(int tid);
int pvm_tasks(int where, int *count, struct pvmtaskinfo **tasks);
int pvm_export(char *name);
int pvm_unexport(char *name);
#ifdef EOF
int pvm_catchout(FILE *file);
#endif
int pvm_notify(int what, int tag, int count, int *tids);

/* ---- Hosts -------------------------------------------------------------------------------- */
int pvm_config(int *hosts, int *formats, struct pvmhostinfo **list);
int pvm_tidtohost(int tid);
int pvm_hostsync(int host, struct timeval *clock, struct timeval *delta);
int pvm_tickle(int count, int *numbers, int *result_count, int *results);
int pvm_mstat(char *host);
int pvm_archcode(char *arch);
int pvm_addhosts(char **names, int count, int *infos);
int pvm_delhosts(char **names, int count, int *infos);
int pvm_start_pvmd(int argc, char **argv, int block);
int pvm_halt(void);

/* ---- Errors and options ------------------------------------------------------------------- */
int pvm_perror(char *text);
char *pvm_strerror(void);
char *pvm_version(void);
int pvm_setopt(int what, int value);
int pvm_getopt(int what);
int pvm_getnoresets(int **tids, int *count);

/* ---- Message buffers ---------------------------------------------------------------------- */
int pvm_initsend(int encoding);
int pvm_mkbuf(int encoding);
int pvm_freebuf(int bufid);
int pvm_getsbuf(void);
int pvm_setsbuf(int bufid);
int pvm_getrbuf(void);
int pvm_setrbuf(int bufid);
int pvm_bufinfo(int bufid, int *bytes, int *tag, int *tid);
int pvm_getminfo(int bufid, struct pvmminfo *info);
int pvm_setminfo(int bufid, struct pvmminfo *info);

/* ---- Packing: every stride-th element of an array ----------------------------------------- */
int pvm_packf(const char *format, ...);
int pvm_pkbyte(char *base, int count, int stride);
int pvm_pkcplx(float *base, int count, int stride);
int pvm_pkdcplx(double *base, int count, int stride);
int pvm_pkdouble(double *base, int count, int stride);
int pvm_pkfloat(float *base, int count, int stride);
int pvm_pkint(int *base, int count, int stride);
int pvm_pklong(long *base, int count, int stride);
int pvm_pkshort(short *base, int count, int stride);
int pvm_pkuint(unsigned int *base, int count, int stride);
int pvm_pkulong(unsigned long *base, int count, int stride);
int pvm_pkushort(unsigned short *base, int count, int stride);
int pvm_pkstr(char *text);
int pvm_pkmesg(int bufid);
int pvm_pkmesgbody(int bufid);

int pvm_unpackf(const char *format, ...);
int pvm_upkbyte(char *base, int count, int stride);
int pvm_upkcplx(float *base, int count, int stride);
int pvm_upkdcplx(double *base, int count, int stride);
int pvm_upkdouble(double *base, int count, int stride);
int pvm_upkfloat(float *base, int count, int stride);
int pvm_upkint(int *base, int count, int stride);
int pvm_upklong(long *base, int count, int stride);
int pvm_upkshort(short *base, int count, int stride);
int pvm_upkuint(unsigned int *base, int count, int stride);
int pvm_upkulong(unsigned long *base, int count, int stride);
int pvm_upkushort(unsigned short *base, int count, int stride);
int pvm_upkstr(char *text);
int pvm_upkmesg(void);

/* ---- Sending and receiving: -1 is any task, any tag --------------------------------------- */
int pvm_send(int tid, int tag);
int pvm_mcast(int *tids, int count, int tag);
int pvm_psend(int tid, int tag, void *base, int count, int type);
int pvm_recv(int tid, int tag);
int pvm_nrecv(int tid, int tag);
int pvm_trecv(int tid, int tag, struct timeval *timeout);
int pvm_getfds(int **fds);
int pvm_probe(int tid, int tag);
int pvm_precv(int tid, int tag, void *base, int count, int type, int *from, int *got_tag,
              int *bytes);
int (*pvm_recvf(int (*match)(int bufid, int tid, int tag)))(int bufid, int tid, int tag);

/* ---- Contexts and message handlers -------------------------------------------------------- */
int pvm_newcontext(void);
int pvm_setcontext(int context);
int pvm_getcontext(void);
int pvm_freecontext(int context);
int pvm_addmhf(int tid, int tag, int context, int (*handler)(int bufid));
int pvm_delmhf(int handler);

/* ---- Mailboxes ---------------------------------------------------------------------------- */
int pvm_putinfo(char *name, int bufid, int flags);
int pvm_recvinfo(char *name, int index, int flags);
int pvm_delinfo(char *name, int index, int flags);
int pvm_getmboxinfo(char *pattern, int *count, struct pvmmboxinfo **boxes);
int pvm_insert(char *name, int index, int value);
int pvm_lookup(char *name, int index, int *value);
int pvm_delete(char *name, int index);

/* ---- Groups: libgpvm3 --------------------------------------------------------------------- */
int pvm_joingroup(char *group);
int pvm_lvgroup(char *group);
int pvm_gsize(char *group);
int pvm_getinst(char *group, int tid);
int pvm_gettid(char *group, int instance);
int pvm_barrier(char *group, int count);
int pvm_bcast(char *group, int tag);
int pvm_freezegroup(char *group, int size);
int pvm_reduce(void (*operation)(int *type, void *result, void *more, int *count, int *info),
               void *base, int count, int type, int tag, char *group, int root);
int pvm_scatter(void *result, void *base, int count, int type, int tag, char *group, int root);
int pvm_gather(void *result, void *base, int count, int type, int tag, char *group, int root);
void PvmMax(int *type, void *result, void *more, int *count, int *info);
void PvmMin(int *type, void *result, void *more, int *count, int *info);
void PvmSum(int *type, void *result, void *more, int *count, int *info);
void PvmProduct(int *type, void *result, void *more, int *count, int *info);

/* ---- Tasks that take over work of the daemons, and that see what others do ------------------ */
int pvm_reg_rm(struct pvmhostinfo **host);
int pvm_reg_hoster(void);
int pvm_reg_tasker(void);
int pvm_reg_tracer(int trace_context, int trace_tag, int output_context, int output_tag, char *mask,
                   int buffer, int options);

/* ---- Besides ------------------------------------------------------------------------------ */
char *pvmgetrsh(void);
char *pvmgettmp(void);
#ifdef NOTMPNAM
char *pvmtmpnam(char *name);
#endif

#ifdef __cplusplus
}
#endif

#endif
