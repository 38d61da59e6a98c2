/*
 * calls_message.c - what programs call to make, send and receive messages; otherwise as calls.c.
 */
#include "lib/pvm3/core/abi.h"
#include "lib/pvm3/core/calls.h"
#include "lib/pvm3/trace/trace.h"

/* ---- Message buffers ------------------------------------------------------------------------- */

int pvm_initsend(int encoding)
{
    TRACE_BEGIN(TEV_INITSEND, encoding);
    int result = call_initsend(encoding);
    TRACE_END(TEV_INITSEND, result);
    return result;
}

int pvm_mkbuf(int encoding)
{
    TRACE_BEGIN(TEV_MKBUF, encoding);
    int result = call_mkbuf(encoding);
    TRACE_END(TEV_MKBUF, result);
    return result;
}

int pvm_freebuf(int bufid)
{
    TRACE_BEGIN(TEV_FREEBUF, bufid);
    int result = call_freebuf(bufid);
    TRACE_END(TEV_FREEBUF, result);
    return result;
}

int pvm_getsbuf(void)
{
    TRACE_BEGIN(TEV_GETSBUF, TRACE_NOTHING);
    int result = call_getsbuf();
    TRACE_END(TEV_GETSBUF, result);
    return result;
}

int pvm_setsbuf(int bufid)
{
    TRACE_BEGIN(TEV_SETSBUF, bufid);
    int result = call_setsbuf(bufid);
    TRACE_END(TEV_SETSBUF, result);
    return result;
}

int pvm_getrbuf(void)
{
    TRACE_BEGIN(TEV_GETRBUF, TRACE_NOTHING);
    int result = call_getrbuf();
    TRACE_END(TEV_GETRBUF, result);
    return result;
}

int pvm_setrbuf(int bufid)
{
    TRACE_BEGIN(TEV_SETRBUF, bufid);
    int result = call_setrbuf(bufid);
    TRACE_END(TEV_SETRBUF, result);
    return result;
}

int pvm_bufinfo(int bufid, int *bytes, int *tag, int *tid)
{
    int b = -1, t = -1, from = -1;
    TRACE_BEGIN(TEV_BUFINFO, bufid);
    int result = call_bufinfo(bufid, &b, &t, &from);
    TRACE_END(TEV_BUFINFO, result, b, t, from);
    if (bytes != NULL && result == PvmOk)
        *bytes = b;
    if (tag != NULL && result == PvmOk)
        *tag = t;
    if (tid != NULL && result == PvmOk)
        *tid = from;
    return result;
}

int pvm_getminfo(int bufid, struct pvmminfo *info)
{
    TRACE_BEGIN(TEV_GETMINFO, bufid);
    int result = call_getminfo(bufid, info);
    TRACE_END(TEV_GETMINFO, result);
    return result;
}

int pvm_setminfo(int bufid, struct pvmminfo *info)
{
    TRACE_BEGIN(TEV_SETMINFO, bufid);
    int result = call_setminfo(bufid, info);
    TRACE_END(TEV_SETMINFO, result);
    return result;
}

/* Arrays of a type. */
#define PACKING(name, ctype, EVENT)                                                                \
    int pvm_pk##name(ctype *base, int count, int stride)                                           \
    {                                                                                              \
        TRACE_BEGIN(TEV_PK##EVENT, (long)base, count, stride);                                     \
        int result = call_pk##name(base, count, stride);                                           \
        TRACE_END(TEV_PK##EVENT, result);                                                          \
        return result;                                                                             \
    }                                                                                              \
    int pvm_upk##name(ctype *base, int count, int stride)                                          \
    {                                                                                              \
        TRACE_BEGIN(TEV_UPK##EVENT, (long)base, count, stride);                                    \
        int result = call_upk##name(base, count, stride);                                          \
        TRACE_END(TEV_UPK##EVENT, result);                                                         \
        return result;                                                                             \
    }

PACKING(byte, char, BYTE)
PACKING(cplx, float, CPLX)
PACKING(dcplx, double, DCPLX)
PACKING(double, double, DOUBLE)
PACKING(float, float, FLOAT)
PACKING(int, int, INT)
PACKING(long, long, LONG)
PACKING(short, short, SHORT)
PACKING(uint, unsigned int, UINT)
PACKING(ulong, unsigned long, ULONG)
PACKING(ushort, unsigned short, USHORT)

int pvm_pkstr(char *text)
{
    TRACE_BEGIN(TEV_PKSTR, (long)text);
    int result = call_pkstr(text);
    TRACE_END(TEV_PKSTR, result);
    return result;
}

int pvm_upkstr(char *text)
{
    TRACE_BEGIN(TEV_UPKSTR, (long)text);
    int result = call_upkstr(text);
    TRACE_END(TEV_UPKSTR, result);
    return result;
}

int pvm_packf(const char *format, ...)
{
    va_list values;
    va_start(values, format);
    TRACE_BEGIN(TEV_PACKF, format);
    int result = call_packf(format, values);
    TRACE_END(TEV_PACKF, result);
    va_end(values);
    return result;
}

int pvm_unpackf(const char *format, ...)
{
    va_list values;
    va_start(values, format);
    TRACE_BEGIN(TEV_UNPACKF, format);
    int result = call_unpackf(format, values);
    TRACE_END(TEV_UNPACKF, result);
    va_end(values);
    return result;
}

/* ---- Sending and receiving ------------------------------------------------------------------- */

/* Of the message that is packed; -1: there is none. */
static int sending_bytes(void)
{
    int bytes = -1;
    if (call_getsbuf() > 0)
        call_bufinfo(call_getsbuf(), &bytes, NULL, NULL);
    return bytes;
}

/* The end of a call that received a message, or did not. */
static int received(int event, int bufid)
{
    int bytes = -1, tag = -1, from = -1;
    if (!pvmtrace_ends(event))
        return bufid;
    if (bufid > 0)
        call_bufinfo(bufid, &bytes, &tag, &from);
    pvmtrace_event(event | TEV_EVENT_EXIT, bufid, bytes, tag, pvmmyctx, from);
    return bufid;
}

int pvm_send(int tid, int tag)
{
    TRACE_BEGIN(TEV_SEND, sending_bytes(), tid, tag, pvmmyctx);
    int result = call_send(tid, tag);
    TRACE_END(TEV_SEND, result);
    return result;
}

int pvm_mcast(int *tids, int count, int tag)
{
    TRACE_BEGIN(TEV_MCAST, sending_bytes(), tag, pvmmyctx, count, tids);
    int result = call_mcast(tids, count, tag);
    TRACE_END(TEV_MCAST, result);
    return result;
}

int pvm_psend(int tid, int tag, void *base, int count, int type)
{
    TRACE_BEGIN(TEV_PSEND, tid, tag, pvmmyctx, (long)base, count, type);
    int result = call_psend(tid, tag, base, count, type);
    TRACE_END(TEV_PSEND, result);
    return result;
}

int pvm_recv(int tid, int tag)
{
    TRACE_BEGIN(TEV_RECV, tid, tag, pvmmyctx);
    return received(TEV_RECV, call_recv(tid, tag));
}

int pvm_nrecv(int tid, int tag)
{
    TRACE_BEGIN(TEV_NRECV, tid, tag, pvmmyctx);
    return received(TEV_NRECV, call_nrecv(tid, tag));
}

int pvm_trecv(int tid, int tag, struct timeval *timeout)
{
    int s = timeout == NULL ? -1 : (int)timeout->tv_sec;
    int us = timeout == NULL ? -1 : (int)timeout->tv_usec;
    TRACE_BEGIN(TEV_TRECV, tid, tag, pvmmyctx, s, us);
    return received(TEV_TRECV, call_trecv(tid, tag, timeout));
}

int pvm_precv(int tid, int tag, void *base, int count, int type, int *from, int *got_tag,
              int *bytes)
{
    int f = -1, t = -1, b = -1;
    TRACE_BEGIN(TEV_PRECV, tid, tag, pvmmyctx, (long)base, count, type);
    int result = call_precv(tid, tag, base, count, type, &f, &t, &b);
    TRACE_END(TEV_PRECV, result, b, t, pvmmyctx, f);
    if (from != NULL && result == PvmOk)
        *from = f;
    if (got_tag != NULL && result == PvmOk)
        *got_tag = t;
    if (bytes != NULL && result == PvmOk)
        *bytes = b;
    return result;
}

int pvm_probe(int tid, int tag)
{
    TRACE_BEGIN(TEV_PROBE, tid, tag, pvmmyctx);
    int result = call_probe(tid, tag);
    TRACE_END(TEV_PROBE, result);
    return result;
}

int (*pvm_recvf(int (*match)(int bufid, int tid, int tag)))(int bufid, int tid, int tag)
{
    TRACE_BEGIN(TEV_RECVF, TRACE_NOTHING);
    int (*before)(int, int, int) = call_recvf(match);
    TRACE_END(TEV_RECVF, TRACE_NOTHING);
    return before;
}

int pvm_getfds(int **fds)
{
    TRACE_BEGIN(TEV_GETFDS, TRACE_NOTHING);
    int result = call_getfds(fds);
    TRACE_END(TEV_GETFDS, result, result, result > 0 ? *fds : NULL);
    return result;
}
