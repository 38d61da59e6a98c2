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
    return trace_ended(TEV_INITSEND, call_initsend(encoding));
}

int pvm_mkbuf(int encoding)
{
    TRACE_BEGIN(TEV_MKBUF, encoding);
    return trace_ended(TEV_MKBUF, call_mkbuf(encoding));
}

int pvm_freebuf(int bufid)
{
    TRACE_BEGIN(TEV_FREEBUF, bufid);
    return trace_ended(TEV_FREEBUF, call_freebuf(bufid));
}

int pvm_getsbuf(void)
{
    TRACE_BEGIN(TEV_GETSBUF, TRACE_NOTHING);
    return trace_ended(TEV_GETSBUF, call_getsbuf());
}

int pvm_setsbuf(int bufid)
{
    TRACE_BEGIN(TEV_SETSBUF, bufid);
    return trace_ended(TEV_SETSBUF, call_setsbuf(bufid));
}

int pvm_getrbuf(void)
{
    TRACE_BEGIN(TEV_GETRBUF, TRACE_NOTHING);
    return trace_ended(TEV_GETRBUF, call_getrbuf());
}

int pvm_setrbuf(int bufid)
{
    TRACE_BEGIN(TEV_SETRBUF, bufid);
    return trace_ended(TEV_SETRBUF, call_setrbuf(bufid));
}

int pvm_bufinfo(int bufid, int *bytes, int *tag, int *tid)
{
    int b = -1, t = -1, from = -1;
    TRACE_BEGIN(TEV_BUFINFO, bufid);
    int result = call_bufinfo(bufid, &b, &t, &from);
    TRACE_END(TEV_BUFINFO, result, b, t, from);
    call_give(bytes, b, result);
    call_give(tag, t, result);
    call_give(tid, from, result);
    return result;
}

int pvm_getminfo(int bufid, struct pvmminfo *info)
{
    TRACE_BEGIN(TEV_GETMINFO, bufid);
    return trace_ended(TEV_GETMINFO, call_getminfo(bufid, info));
}

int pvm_setminfo(int bufid, struct pvmminfo *info)
{
    TRACE_BEGIN(TEV_SETMINFO, bufid);
    return trace_ended(TEV_SETMINFO, call_setminfo(bufid, info));
}

/* Arrays of a type. */
#define PACKING(name, ctype, EVENT)                                                                \
    int pvm_pk##name(ctype *base, int count, int stride)                                           \
    {                                                                                              \
        TRACE_BEGIN(TEV_PK##EVENT, (long)base, count, stride);                                     \
        return trace_ended(TEV_PK##EVENT, call_pk##name(base, count, stride));                     \
    }                                                                                              \
    int pvm_upk##name(ctype *base, int count, int stride)                                          \
    {                                                                                              \
        TRACE_BEGIN(TEV_UPK##EVENT, (long)base, count, stride);                                    \
        return trace_ended(TEV_UPK##EVENT, call_upk##name(base, count, stride));                   \
    }
PACKED_TYPES(PACKING)

int pvm_pkstr(char *text)
{
    TRACE_BEGIN(TEV_PKSTR, (long)text);
    return trace_ended(TEV_PKSTR, call_pkstr(text));
}

int pvm_upkstr(char *text)
{
    TRACE_BEGIN(TEV_UPKSTR, (long)text);
    return trace_ended(TEV_UPKSTR, call_upkstr(text));
}

int pvm_packf(const char *format, ...)
{
    va_list values;
    va_start(values, format);
    TRACE_BEGIN(TEV_PACKF, format);
    int result = trace_ended(TEV_PACKF, call_packf(format, values));
    va_end(values);
    return result;
}

int pvm_unpackf(const char *format, ...)
{
    va_list values;
    va_start(values, format);
    TRACE_BEGIN(TEV_UNPACKF, format);
    int result = trace_ended(TEV_UNPACKF, call_unpackf(format, values));
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
    return trace_ended(TEV_SEND, call_send(tid, tag));
}

int pvm_mcast(int *tids, int count, int tag)
{
    TRACE_BEGIN(TEV_MCAST, sending_bytes(), tag, pvmmyctx, count, tids);
    return trace_ended(TEV_MCAST, call_mcast(tids, count, tag));
}

int pvm_psend(int tid, int tag, void *base, int count, int type)
{
    TRACE_BEGIN(TEV_PSEND, tid, tag, pvmmyctx, (long)base, count, type);
    return trace_ended(TEV_PSEND, call_psend(tid, tag, base, count, type));
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
    call_give(from, f, result);
    call_give(got_tag, t, result);
    call_give(bytes, b, result);
    return result;
}

int pvm_probe(int tid, int tag)
{
    TRACE_BEGIN(TEV_PROBE, tid, tag, pvmmyctx);
    return trace_ended(TEV_PROBE, call_probe(tid, tag));
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
