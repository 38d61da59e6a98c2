/*
 * message.c - buffers, packing, sending and receiving.
 */
#include "lib/pvm3/fortran/fortran.h"

#include <pvm3.h>

void pvmfinitsend_(const int *encoding, int *bufid)
{
    *bufid = pvm_initsend(*encoding);
}

void pvmfmkbuf_(const int *encoding, int *bufid)
{
    *bufid = pvm_mkbuf(*encoding);
}

void pvmffreebuf_(const int *bufid, int *info)
{
    *info = pvm_freebuf(*bufid);
}

void pvmfgetsbuf_(int *bufid)
{
    *bufid = pvm_getsbuf();
}

void pvmfsetsbuf_(const int *bufid, int *before)
{
    *before = pvm_setsbuf(*bufid);
}

void pvmfgetrbuf_(int *bufid)
{
    *bufid = pvm_getrbuf();
}

void pvmfsetrbuf_(const int *bufid, int *before)
{
    *before = pvm_setrbuf(*bufid);
}

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

void pvmfsend_(const int *tid, const int *tag, int *info)
{
    *info = pvm_send(*tid, *tag);
}

void pvmfmcast_(const int *count, int *tids, const int *tag, int *info)
{
    *info = pvm_mcast(tids, *count, *tag);
}

void pvmfrecv_(const int *tid, const int *tag, int *bufid)
{
    *bufid = pvm_recv(*tid, *tag);
}

void pvmfnrecv_(const int *tid, const int *tag, int *bufid)
{
    *bufid = pvm_nrecv(*tid, *tag);
}

void pvmfprobe_(const int *tid, const int *tag, int *bufid)
{
    *bufid = pvm_probe(*tid, *tag);
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
