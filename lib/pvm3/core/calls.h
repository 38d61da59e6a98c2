/*
 * calls.h - the calls of pvm3.h as the library itself makes them: without events for a tracer.
 *
 * The functions that programs call have PVM's names and stand in calls.c: they tell the tracer and
 * call these, each of which stands where its subject is.
 */
#ifndef COVEY_PVM3_CALLS_H
#define COVEY_PVM3_CALLS_H

#include <pvm3.h>
#include <stdarg.h>
#include <stddef.h>

/* What can be packed as an array: how the names of its calls end, the type of an element, and how
 * PVM's names of the type and of its events end. */
#define PACKED_TYPES(X)                                                                            \
    X(byte, char, BYTE)                                                                            \
    X(cplx, float, CPLX)                                                                           \
    X(dcplx, double, DCPLX)                                                                        \
    X(double, double, DOUBLE)                                                                      \
    X(float, float, FLOAT)                                                                         \
    X(int, int, INT)                                                                               \
    X(long, long, LONG)                                                                            \
    X(short, short, SHORT)                                                                         \
    X(uint, unsigned int, UINT)                                                                    \
    X(ulong, unsigned long, ULONG)                                                                 \
    X(ushort, unsigned short, USHORT)

#define PACKING_CALLS(name, ctype, type)                                                           \
    int call_pk##name(ctype *base, int count, int stride);                                         \
    int call_upk##name(ctype *base, int count, int stride);
PACKED_TYPES(PACKING_CALLS)

int call_mytid(void);
int call_exit(void);
int call_parent(void);
int call_siblings(int **tids);
int call_spawn(char *program, char **argv, int flags, char *where, int count, int *tids);
int call_kill(int tid);
int call_sendsig(int tid, int signal_number);
int call_pstat(int tid);
int call_tasks(int where, int *count, struct pvmtaskinfo **tasks);
int call_notify(int what, int tag, int count, int *tids);
int call_config(int *hosts, int *formats, struct pvmhostinfo **list);
int call_tickle(int count, int *numbers, int *result_count, int *results);
int call_mstat(char *host);
int call_archcode(char *arch);
int call_addhosts(char **names, int count, int *infos);
int call_delhosts(char **names, int count, int *infos);
int call_start_pvmd(int argc, char **argv, int block);
int call_halt(void);
int call_setopt(int what, int value);
int call_getopt(int what);
int call_initsend(int encoding);
int call_mkbuf(int encoding);
int call_freebuf(int bufid);
int call_getsbuf(void);
int call_setsbuf(int bufid);
int call_getrbuf(void);
int call_setrbuf(int bufid);
int call_bufinfo(int bufid, int *bytes, int *tag, int *tid);
int call_getminfo(int bufid, struct pvmminfo *info);
int call_setminfo(int bufid, struct pvmminfo *info);
int call_pkstr(char *text);
int call_upkstr(char *text);
int call_send(int tid, int tag);
int call_mcast(int *tids, int count, int tag);
int call_psend(int tid, int tag, void *base, int count, int type);
int call_recv(int tid, int tag);
int call_nrecv(int tid, int tag);
int call_trecv(int tid, int tag, struct timeval *timeout);
int call_getfds(int **fds);
int call_probe(int tid, int tag);
int call_precv(int tid, int tag, void *base, int count, int type, int *from, int *got_tag,
               int *bytes);
int call_newcontext(void);
int call_setcontext(int context);
int call_getcontext(void);
int call_freecontext(int context);
int call_addmhf(int tid, int tag, int context, int (*handler)(int bufid));
int call_delmhf(int handler);
int call_putinfo(char *name, int bufid, int flags);
int call_recvinfo(char *name, int index, int flags);
int call_delinfo(char *name, int index, int flags);
int call_getmboxinfo(char *pattern, int *count, struct pvmmboxinfo **boxes);
int call_insert(char *name, int index, int value);
int call_lookup(char *name, int index, int *value);
int call_delete(char *name, int index);
int call_reg_rm(struct pvmhostinfo **host);
int call_reg_hoster(void);
int call_reg_tasker(void);
int call_reg_tracer(int trace_context, int trace_tag, int output_context, int output_tag,
                    char *mask, int buffer, int options);
int (*call_recvf(int (*match)(int bufid, int tid, int tag)))(int bufid, int tid, int tag);
int call_packf(const char *format, va_list list);
int call_unpackf(const char *format, va_list list);

/* A result that the program gets where it asks for it (not NULL) and the call succeeds. */
static inline void call_give(int *to, int value, int result)
{
    if (to != NULL && result == PvmOk)
        *to = value;
}

#endif
