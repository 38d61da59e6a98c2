/*
 * fortran.h - PVM's calls as gfortran makes them: all arguments by reference, a result as the last
 * of them, and the lengths of strings behind.
 */
#ifndef COVEY_PVM3_FORTRAN_FORTRAN_H
#define COVEY_PVM3_FORTRAN_FORTRAN_H

#include <stddef.h>

/* The call of PVM with that end of its name, when it takes as many numbers and gives one. */
#define CALL_0(name)                                                                               \
    void pvmf##name##_(int *result)                                                                \
    {                                                                                              \
        *result = pvm_##name();                                                                    \
    }
#define CALL_1(name)                                                                               \
    void pvmf##name##_(const int *a, int *result)                                                  \
    {                                                                                              \
        *result = pvm_##name(*a);                                                                  \
    }
#define CALL_2(name)                                                                               \
    void pvmf##name##_(const int *a, const int *b, int *result)                                    \
    {                                                                                              \
        *result = pvm_##name(*a, *b);                                                              \
    }

/* call.c */
void pvmfmytid_(int *tid);
void pvmfparent_(int *tid);
void pvmfexit_(int *info);
void pvmfkill_(const int *tid, int *info);
void pvmfsendsig_(const int *tid, const int *number, int *info);
void pvmfpstat_(const int *tid, int *status);
void pvmftidtohost_(const int *tid, int *host);
void pvmfhalt_(int *info);
void pvmfnotify_(const int *what, const int *tag, const int *count, int *tids, int *info);
void pvmfsetopt_(const int *what, const int *value, int *before);
void pvmfgetopt_(const int *what, int *value);
void pvmfcatchout_(const int *on, int *info);
void pvmfnewcontext_(int *context);
void pvmfsetcontext_(const int *context, int *before);
void pvmfgetcontext_(int *context);
void pvmffreecontext_(const int *context, int *info);
void pvmfsleep_(const int *seconds);
void pvmfaddmhf_(const int *tid, const int *tag, const int *context, const void *unused,
                 int (*call)(int bufid), int *number);
void pvmfdelmhf_(const int *number, int *info);
void pvmfhostsync_(const int *host, int *seconds, int *microseconds, int *delta_seconds,
                   int *delta_microseconds, int *info);

/* message.c */
void pvmfinitsend_(const int *encoding, int *bufid);
void pvmfmkbuf_(const int *encoding, int *bufid);
void pvmffreebuf_(const int *bufid, int *info);
void pvmfgetsbuf_(int *bufid);
void pvmfsetsbuf_(const int *bufid, int *before);
void pvmfgetrbuf_(int *bufid);
void pvmfsetrbuf_(const int *bufid, int *before);
void pvmfbufinfo_(const int *bufid, int *bytes, int *tag, int *tid, int *info);
void pvmfpack_(const int *what, void *base, const int *count, const int *stride, int *info);
void pvmfunpack_(const int *what, void *base, const int *count, const int *stride, int *info);
void pvmfsend_(const int *tid, const int *tag, int *info);
void pvmfmcast_(const int *count, int *tids, const int *tag, int *info);
void pvmfrecv_(const int *tid, const int *tag, int *bufid);
void pvmfnrecv_(const int *tid, const int *tag, int *bufid);
void pvmfprobe_(const int *tid, const int *tag, int *bufid);
void pvmftrecv_(const int *tid, const int *tag, const int *seconds, const int *microseconds,
                int *bufid);
void pvmfpsend_(const int *tid, const int *tag, void *base, const int *count, const int *type,
                int *info);
void pvmfprecv_(const int *tid, const int *tag, void *base, const int *count, const int *type,
                int *from, int *got_tag, int *bytes, int *info);

/* named.c: what has a name */
void pvmfspawn_(const char *program, const int *flags, const char *where, const int *count,
                int *tids, int *started, size_t program_length, size_t where_length);
void pvmfperror_(const char *text, int *info, size_t length);
void pvmfmstat_(const char *host, int *status, size_t length);
void pvmfarchcode_(const char *arch, int *code, size_t length);
void pvmfaddhost_(const char *host, int *info, size_t length);
void pvmfdelhost_(const char *host, int *info, size_t length);
void pvmfstartpvmd_(const char *arguments, const int *block, int *info, size_t length);
void pvmfputinfo_(const char *name, const int *bufid, const int *flags, int *index, size_t length);
void pvmfrecvinfo_(const char *name, const int *index, const int *flags, int *bufid, size_t length);
void pvmfdelinfo_(const char *name, const int *index, const int *flags, int *info, size_t length);

/* list.c: an entry a call */
void pvmfconfig_(int *hosts, int *formats, int *tid, char *name, char *arch, int *speed, int *info,
                 size_t name_length, size_t arch_length);
void pvmftasks_(const int *where, int *count, int *tid, int *parent, int *host, int *flag,
                char *program, int *info, size_t program_length);
void pvmfsiblings_(int *count, const int *index, int *tid);
void pvmfgetmboxinfo_(const char *pattern, char *name, int *classes, int *entries, int *index,
                      int *owner, int *flags, int *info, size_t pattern_length, size_t name_length);

/* group.c */
typedef void operation_fn(int *type, void *result, void *more, int *count, int *info);
void pvmfjoingroup_(const char *group, int *instance, size_t length);
void pvmflvgroup_(const char *group, int *info, size_t length);
void pvmfgsize_(const char *group, int *size, size_t length);
void pvmfgetinst_(const char *group, const int *tid, int *instance, size_t length);
void pvmfgettid_(const char *group, const int *instance, int *tid, size_t length);
void pvmfbarrier_(const char *group, const int *count, int *info, size_t length);
void pvmfbcast_(const char *group, const int *tag, int *info, size_t length);
void pvmffreezegroup_(const char *group, const int *size, int *info, size_t length);
void pvmfreduce_(operation_fn *operation, void *base, const int *count, const int *type,
                 const int *tag, const char *group, const int *root, int *info, size_t length);
void pvmfgather_(void *result, void *base, const int *count, const int *type, const int *tag,
                 const char *group, const int *root, int *info, size_t length);
void pvmfscatter_(void *result, void *base, const int *count, const int *type, const int *tag,
                  const char *group, const int *root, int *info, size_t length);
operation_fn pvmmax_, pvmmin_, pvmsum_, pvmproduct_;

#endif
