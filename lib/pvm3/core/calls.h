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
int call_pkbyte(char *base, int count, int stride);
int call_pkcplx(float *base, int count, int stride);
int call_pkdcplx(double *base, int count, int stride);
int call_pkdouble(double *base, int count, int stride);
int call_pkfloat(float *base, int count, int stride);
int call_pkint(int *base, int count, int stride);
int call_pklong(long *base, int count, int stride);
int call_pkshort(short *base, int count, int stride);
int call_pkuint(unsigned int *base, int count, int stride);
int call_pkulong(unsigned long *base, int count, int stride);
int call_pkushort(unsigned short *base, int count, int stride);
int call_pkstr(char *text);
int call_upkbyte(char *base, int count, int stride);
int call_upkcplx(float *base, int count, int stride);
int call_upkdcplx(double *base, int count, int stride);
int call_upkdouble(double *base, int count, int stride);
int call_upkfloat(float *base, int count, int stride);
int call_upkint(int *base, int count, int stride);
int call_upklong(long *base, int count, int stride);
int call_upkshort(short *base, int count, int stride);
int call_upkuint(unsigned int *base, int count, int stride);
int call_upkulong(unsigned long *base, int count, int stride);
int call_upkushort(unsigned short *base, int count, int stride);
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

#endif
