/*
 * message.c - buffers, packing, sending and receiving.
 */
#include "lib/pvm3/fortran/fortran.h"

#include <pvm3.h>

CALL_0(getsbuf)
CALL_0(getrbuf)
CALL_1(initsend)
CALL_1(mkbuf)
CALL_1(freebuf)
CALL_1(setsbuf)
CALL_1(setrbuf)
CALL_2(send)
CALL_2(recv)
CALL_2(nrecv)
CALL_2(probe)

void pvmfbufinfo_(const int *bufid, int *bytes, int *tag, int *tid, int *info)
{
    *info = pvm_bufinfo(*bufid, bytes, tag, tid);
}

/* By what PVM calls a type: how the calls for it end. A string is its bytes: both ends know how
 * many. */
#define TYPES(X)                                                                                   \
    X(PVM_STR, byte)                                                                               \
    X(PVM_BYTE, byte)                                                                              \
    X(PVM_SHORT, short)                                                                            \
    X(PVM_INT, int)                                                                                \
    X(PVM_FLOAT, float)                                                                            \
    X(PVM_CPLX, cplx)                                                                              \
    X(PVM_DOUBLE, double)                                                                          \
    X(PVM_DCPLX, dcplx)                                                                            \
    X(PVM_LONG, long)

#define PACK(type, name)                                                                           \
    case type:                                                                                     \
        *info = pvm_pk##name(base, *count, *stride);                                               \
        break;

#define UNPACK(type, name)                                                                         \
    case type:                                                                                     \
        *info = pvm_upk##name(base, *count, *stride);                                              \
        break;

void pvmfpack_(const int *what, void *base, const int *count, const int *stride, int *info)
{
    switch (*what) {
        TYPES(PACK)
    default:
        *info = PvmBadParam;
    }
}

void pvmfunpack_(const int *what, void *base, const int *count, const int *stride, int *info)
{
    switch (*what) {
        TYPES(UNPACK)
    default:
        *info = PvmBadParam;
    }
}

void pvmfmcast_(const int *count, int *tids, const int *tag, int *info)
{
    *info = pvm_mcast(tids, *count, *tag);
}

/* Seconds less than 0: it waits for ever. */
void pvmftrecv_(const int *tid, const int *tag, const int *seconds, const int *microseconds,
                int *bufid)
{
    struct timeval timeout = {.tv_sec = *seconds, .tv_usec = *microseconds};
    *bufid = pvm_trecv(*tid, *tag, *seconds < 0 ? NULL : &timeout);
}

void pvmfpsend_(const int *tid, const int *tag, void *base, const int *count, const int *type,
                int *info)
{
    *info = pvm_psend(*tid, *tag, base, *count, *type);
}

void pvmfprecv_(const int *tid, const int *tag, void *base, const int *count, const int *type,
                int *from, int *got_tag, int *bytes, int *info)
{
    *info = pvm_precv(*tid, *tag, base, *count, *type, from, got_tag, bytes);
}
