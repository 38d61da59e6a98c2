/*
 * trace.c - events of PVM's calls, for the task that traces this one.
 *
 *   message = event / BUFFER *event BUFFER_END / DATA_ID *( did name meaning ) DATA_ID_END
 *   event   = DESC kind name *( did type value ) DESC_END / RECORD kind *value RECORD_END
 *   value   = number / string / count *( number / string )
 *
 * All of it are ints, but for the names and strings. The first event of a kind describes its data.
 * Each begins with the time in seconds and microseconds and the tid. PvmTraceTime and PvmTraceCount
 * send one event at the end: what was called, how often and for how long.
 *
 * The buffer of events is one of the program's message buffers, as in PVM: it has a number.
 */
#include "lib/pvm3/trace/trace.h"

#include <stdarg.h>
#include <string.h>

#include "lib/pvm3/core/calls.h"
#include "lib/pvm3/core/vm.h"
#include "lib/pvm3/message/pack.h"
#include "lib/pvm3/message/send.h"

#define NO_EVENTS "@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@"
#define EVENT_OF(kind) ((kind) & ~(TEV_EVENT_ENTRY | TEV_EVENT_EXIT))
#define US_PER_S 1000000
#define FIELDS 9

struct Pvmtracer pvmtrc = {.tmask = NO_EVENTS}, pvmctrc = {.tmask = NO_EVENTS};
int pvmtoplvl = 1; /* the program itself is at work: PVM's libraries set it aside, too */

static int depth; /* calls within calls */
static struct trace_writer writer;

/* ---- which data an event has ----------------------------------------------------------------- */

#define D(name) (TEV_DID_##name + 1) /* 0 ends a list */

#define RECEIVE                                                                                    \
    {                                                                                              \
        {D(RST), D(RMC), D(RCX)},                                                                  \
        {                                                                                          \
            D(MB), D(MNB), D(MC), D(MCX), D(SRC)                                                   \
        }                                                                                          \
    }
#define ARRAYS(name, ctype, TYPE)                                                                  \
    [TEV_PK##TYPE] = {{D(PDA), D(PC), D(PSD)}, {D(CC)}},                                           \
    [TEV_UPK##TYPE] = {{D(PDA), D(PC), D(PSD)}, {D(CC)}},

/* At the beginning of a call, and at its end. */
static const uint8_t fields[TEV_MAX + 1][2][FIELDS] = {
    [TEV_ADDHOSTS] = {{D(HNL)}, {D(CC)}},
    [TEV_ADDMHF] = {{D(RST), D(RMC), D(RCX)}, {D(MHI)}},
    [TEV_ARCHCODE] = {{D(AN)}, {D(AC)}},
    [TEV_BARRIER] = {{D(GN), D(GBC)}, {D(CC)}},
    [TEV_BCAST] = {{D(GN), D(MC)}, {D(CC), D(MDL)}},
    [TEV_BUFINFO] = {{D(MB)}, {D(CC), D(INB), D(IMC), D(IST)}},
    [TEV_CONFIG] = {{0}, {D(NH), D(NA), D(CC)}},
    [TEV_DELETE] = {{D(CN), D(CI)}, {D(CC)}},
    [TEV_DELHOSTS] = {{D(HNL)}, {D(CC)}},
    [TEV_DELINFO] = {{D(CN), D(CI), D(CF)}, {D(CC)}},
    [TEV_DELMHF] = {{D(MHI)}, {D(CC)}},
    [TEV_FREEBUF] = {{D(MB)}, {D(CC)}},
    [TEV_FREECONTEXT] = {{D(CXF)}, {D(CC)}},
    [TEV_GETCONTEXT] = {{0}, {D(CXC)}},
    [TEV_GETFDS] = {{0}, {D(CC), D(FDS)}},
    [TEV_GETINFO] = {{D(CN), D(CI), D(CF)}, {D(CC), D(CR)}},
    [TEV_GETINST] = {{D(GN), D(GT)}, {D(GI)}},
    [TEV_GETMBOXINFO] = {{D(CN)}, {D(CC)}},
    [TEV_GETMINFO] = {{D(MB)}, {D(CC)}},
    [TEV_GETOPT] = {{D(OPT)}, {D(OPV)}},
    [TEV_GETRBUF] = {{0}, {D(MRB)}},
    [TEV_GETSBUF] = {{0}, {D(MSB)}},
    [TEV_GETTID] = {{D(GN), D(GI)}, {D(GT)}},
    [TEV_GSIZE] = {{D(GN)}, {D(GS)}},
    [TEV_INITSEND] = {{D(ME)}, {D(MSB)}},
    [TEV_INSERT] = {{D(CN), D(CI), D(CD)}, {D(CC)}},
    [TEV_JOINGROUP] = {{D(GN)}, {D(CC)}},
    [TEV_KILL] = {{D(TT)}, {D(CC)}},
    [TEV_LOOKUP] = {{D(CN), D(CI)}, {D(CC)}},
    [TEV_LVGROUP] = {{D(GN)}, {D(CC)}},
    [TEV_MCAST] = {{D(MNB), D(MC), D(MCX), D(MDL)}, {D(CC)}},
    [TEV_MHF_INVOKE] = {{D(RST), D(RMC), D(RCX), D(MB), D(MNB), D(MC), D(MCX), D(SRC)}, {0}},
    [TEV_MKBUF] = {{D(ME)}, {D(MB)}},
    [TEV_MSTAT] = {{D(HN)}, {D(HS)}},
    [TEV_MYTID] = {{0}, {D(MT)}},
    [TEV_NEWCONTEXT] = {{0}, {D(CXN)}},
    [TEV_NOTIFY] = {{D(NE), D(NMC), D(NTL)}, {D(CC)}},
    [TEV_NRECV] = RECEIVE,
    [TEV_PACKF] = {{D(PF)}, {D(CC)}},
    [TEV_PARENT] = {{0}, {D(PT)}},
    [TEV_PKSTR] = {{D(PDA)}, {D(CC)}},
    [TEV_PRECV] = {{D(RST), D(RMC), D(RCX), D(PDA), D(PC), D(PDT)},
                   {D(CC), D(MNB), D(MC), D(MCX), D(SRC)}},
    [TEV_PROBE] = {{D(RST), D(RMC), D(RCX)}, {D(CC)}},
    [TEV_PSEND] = {{D(DST), D(MC), D(MCX), D(PDA), D(PC), D(PDT)}, {D(CC)}},
    [TEV_PSTAT] = {{D(TT)}, {D(TST)}},
    [TEV_PUTINFO] = {{D(CN), D(CI), D(CF), D(CD)}, {D(CC)}},
    [TEV_RECV] = RECEIVE,
    [TEV_REG_HOSTER] = {{0}, {D(CC)}},
    [TEV_REG_RM] = {{0}, {D(CC)}},
    [TEV_REG_TASKER] = {{0}, {D(CC)}},
    [TEV_REG_TRACER] = {{D(TRC), D(TRT), D(TRX), D(TRO), D(TRM), D(TRB), D(TRL)}, {D(CC)}},
    [TEV_SEND] = {{D(MNB), D(DST), D(MC), D(MCX)}, {D(CC)}},
    [TEV_SENDSIG] = {{D(TT), D(SN)}, {D(CC)}},
    [TEV_SETCONTEXT] = {{D(CXS)}, {D(CC)}},
    [TEV_SETMINFO] = {{D(MB)}, {D(CC)}},
    [TEV_SETOPT] = {{D(OPT), D(OPV)}, {D(OPV)}},
    [TEV_SETRBUF] = {{D(MB)}, {D(MRB)}},
    [TEV_SETSBUF] = {{D(MB)}, {D(MSB)}},
    [TEV_SIBLINGS] = {{0}, {D(SIB)}},
    [TEV_SPAWN] = {{D(SE), D(SW), D(SF), D(SC)}, {D(CC), D(STL)}},
    [TEV_START_PVMD] = {{D(BF), D(AS)}, {D(CC)}},
    [TEV_TASKS] = {{D(TW)}, {D(CC), D(TNT)}},
    [TEV_TICKLE] = {{D(TA)}, {D(CC), D(TR)}},
    [TEV_TRECV] = {{D(RST), D(RMC), D(RCX), D(MTS), D(MTU)},
                   {D(MB), D(MNB), D(MC), D(MCX), D(SRC)}},
    [TEV_UNPACKF] = {{D(PF)}, {D(CC)}},
    [TEV_UPKSTR] = {{D(PDA)}, {D(CC)}},
    PACKED_TYPES(ARRAYS)};

/* The type of a datum, as the tracer is told. */
static int type_of(int did)
{
    switch (did) {
    case TEV_DID_AN:
    case TEV_DID_CN:
    case TEV_DID_GN:
    case TEV_DID_HN:
    case TEV_DID_PF:
    case TEV_DID_SE:
    case TEV_DID_SW:
    case TEV_DID_TN:
    case TEV_DID_TRM:
        return TEV_DATA_STRING;
    case TEV_DID_AS:
    case TEV_DID_HNL:
    case TEV_DID_VID:
        return TEV_DATA_STRING | TEV_DATA_ARRAY;
    case TEV_DID_FDS:
    case TEV_DID_MDL:
    case TEV_DID_NTL:
    case TEV_DID_PRF:
    case TEV_DID_SIB:
    case TEV_DID_STL:
    case TEV_DID_TA:
    case TEV_DID_TGS:
    case TEV_DID_TGU:
    case TEV_DID_TR:
        return TEV_DATA_INT | TEV_DATA_ARRAY;
    case TEV_DID_PDA:
        return TEV_DATA_LONG;
    default:
        return TEV_DATA_INT;
    }
}

/* ---- writing --------------------------------------------------------------------------------- */

static void put_ints(struct trace_writer *w, const int *numbers, int count)
{
    w->failed |= count > 0 && pack_array(w->events, PVM_INT, numbers, count, 1) != PvmOk;
}

static void put_int(struct trace_writer *w, int number)
{
    put_ints(w, &number, 1);
}

static void put_string(struct trace_writer *w, const char *text)
{
    w->failed |= pack_string(w->events, text != NULL ? text : "") != PvmOk;
}

static void trace_put_head(struct trace_writer *w, int did)
{
    if (w->described)
        return;
    put_int(w, did);
    put_int(w, type_of(did));
}

void trace_int(struct trace_writer *w, int did, int value)
{
    trace_put_head(w, did);
    put_int(w, value);
}

void trace_string(struct trace_writer *w, int did, const char *value)
{
    trace_put_head(w, did);
    put_string(w, value);
}

static void put_long(struct trace_writer *w, int did, long value)
{
    trace_put_head(w, did);
    w->failed |= pack_array(w->events, PVM_LONG, &value, 1, 1) != PvmOk;
}

static void put_int_array(struct trace_writer *w, int did, int count, const int *values)
{
    count = values == NULL || count < 0 ? 0 : count;
    trace_put_head(w, did);
    put_int(w, count);
    put_ints(w, values, count);
}

static void put_string_array(struct trace_writer *w, int did, int count, char *const *values)
{
    count = values == NULL || count < 0 ? 0 : count;
    trace_put_head(w, did);
    put_int(w, count);
    for (int i = 0; i < count; i++)
        put_string(w, values[i]);
}

void trace_open(struct trace_writer *w, int kind, int tid)
{
    struct timeval now;
    pvmgetclock(&now);
    put_int(w, w->described ? TEV_MARK_EVENT_RECORD : TEV_MARK_EVENT_DESC);
    put_int(w, kind);
    if (!w->described)
        put_string(w, pvmtevinfo[EVENT_OF(kind)].name);
    trace_int(w, TEV_DID_TS, (int)now.tv_sec);
    trace_int(w, TEV_DID_TU, (int)now.tv_usec);
    trace_int(w, TEV_DID_TID, tid);
}

void trace_close(struct trace_writer *w)
{
    put_int(w, w->described ? TEV_MARK_EVENT_RECORD_END : TEV_MARK_EVENT_DESC_END);
}

void trace_names(struct trace_writer *w)
{
    put_int(w, TEV_MARK_DATA_ID);
    for (int i = 0; i <= TEV_DID_MAX; i++) {
        put_int(w, i);
        put_string(w, pvmtevdidlist[i].did);
        put_string(w, pvmtevdidlist[i].desc);
    }
    put_int(w, TEV_MARK_DATA_ID_END);
}

/* ---- sending --------------------------------------------------------------------------------- */

static bool traced(void)
{
    return vm_handle() != NULL && pvmtrc.trctid > 0 && pvmtrc.trctid != pvmmytid;
}

static bool writer_ready(void)
{
    if (writer.events != NULL)
        return true;
    writer.events = buffer_create(ENC_DEFAULT);
    if (writer.events != NULL && pvmtrc.trcbuf > 0)
        put_int(&writer, TEV_MARK_EVENT_BUFFER);
    return writer.events != NULL;
}

/* Calls that were made since the last time, and for how long if that was measured. */
static void send_totals(bool timed)
{
    char *names[TEV_MAX + 1];
    int seconds[TEV_MAX + 1], microseconds[TEV_MAX + 1], counts[TEV_MAX + 1], n = 0;
    for (int i = 0; i <= TEV_MAX; i++) {
        struct Pvmtevinfo *info = &pvmtevinfo[i];
        if (info->count == 0)
            continue;
        names[n] = info->name;
        seconds[n] = (int)info->total.tv_sec;
        microseconds[n] = (int)info->total.tv_usec;
        counts[n++] = info->count;
        info->total = (struct timeval){0};
        info->count = 0;
    }
    if (n == 0 || !writer_ready())
        return;
    writer.described = false;
    trace_open(&writer, timed ? TEV_TIMING : TEV_PROFILING, pvmmytid);
    trace_int(&writer, TEV_DID_VCT, n);
    put_string_array(&writer, TEV_DID_VID, n, names);
    if (timed) {
        put_int_array(&writer, TEV_DID_TGS, n, seconds);
        put_int_array(&writer, TEV_DID_TGU, n, microseconds);
    }
    put_int_array(&writer, TEV_DID_PRF, n, counts);
    trace_close(&writer);
}

void trace_flush(void)
{
    if (!traced())
        return;
    if (pvmtrc.trcopt == PvmTraceTime || pvmtrc.trcopt == PvmTraceCount)
        send_totals(pvmtrc.trcopt == PvmTraceTime);
    if (writer.events != NULL && pvmtrc.trcbuf > 0)
        put_int(&writer, TEV_MARK_EVENT_BUFFER_END);
    /* What could not be written whole is not sent. */
    struct trace_writer w = writer;
    writer = (struct trace_writer){0};
    if (w.events == NULL)
        return;
    if (!w.failed && traced())
        send_in(w.events, pvmtrc.trctid, pvmtrc.trcctx, pvmtrc.trctag);
    buffer_destroy(w.events);
}

/* ---- events of calls ------------------------------------------------------------------------- */

static void put_datum(struct trace_writer *w, int did, va_list *values)
{
    int type = type_of(did), count = 0;
    if (type & TEV_DATA_ARRAY)
        count = va_arg(*values, int);
    switch (type) {
    case TEV_DATA_STRING:
        trace_string(w, did, va_arg(*values, const char *));
        break;
    case TEV_DATA_STRING | TEV_DATA_ARRAY:
        put_string_array(w, did, count, va_arg(*values, char **));
        break;
    case TEV_DATA_INT | TEV_DATA_ARRAY:
        put_int_array(w, did, count, va_arg(*values, int *));
        break;
    case TEV_DATA_LONG:
        put_long(w, did, va_arg(*values, long));
        break;
    default:
        trace_int(w, did, va_arg(*values, int));
    }
}

/* As PVM does it counts both events of a call; and adds up how long it took. */
static void event_count(int kind)
{
    struct Pvmtevinfo *info = &pvmtevinfo[EVENT_OF(kind)];
    struct timeval now;
    if (pvmtrc.trcopt == PvmTraceTime)
        pvmgetclock(&now);
    else
        now = (struct timeval){0};
    info->count++;
    if (kind & TEV_EVENT_ENTRY) {
        info->mark = now;
        return;
    }
    int64_t us = (int64_t)info->total.tv_sec * US_PER_S + info->total.tv_usec;
    us += (int64_t)(now.tv_sec - info->mark.tv_sec) * US_PER_S + now.tv_usec - info->mark.tv_usec;
    info->total = (struct timeval){.tv_sec = us / US_PER_S, .tv_usec = us % US_PER_S};
}

void pvmtrace_event(int kind, ...)
{
    va_list values;
    va_start(values, kind);
    if (pvmtrc.trcopt == PvmTraceTime || pvmtrc.trcopt == PvmTraceCount)
        event_count(kind);
    else {
        struct Pvmtevinfo *info = &pvmtevinfo[EVENT_OF(kind)];
        int half = kind & (TEV_EVENT_ENTRY | TEV_EVENT_EXIT);
        const uint8_t *list = fields[EVENT_OF(kind)][half == TEV_EVENT_EXIT];
        if (writer_ready()) {
            writer.described = info->desc_status & half;
            info->desc_status |= half;
            trace_open(&writer, kind, pvmmytid);
            for (; *list != 0; list++)
                put_datum(&writer, *list - 1, &values);
            trace_close(&writer);
            if (pvmtrc.trcbuf <= 0 || writer.events->body.size >= (size_t)pvmtrc.trcbuf)
                trace_flush();
        }
    }
    va_end(values);
}

/* ---- which events are wanted ----------------------------------------------------------------- */

static bool wanted(int event)
{
    return pvmtoplvl != 0 && traced() && TEV_MASK_CHECK(pvmtrc.tmask, event);
}

/* A process is a task from its first call on: whoever spawned it, or traces all, may want that. */
static void look_for_tracer(void)
{
    static bool looked;
    if (!looked && vm_handle() == NULL)
        vm_find();
    looked = true;
}

bool pvmtrace_begins(int event)
{
    if (depth == 0)
        look_for_tracer();
    return depth++ == 0 && wanted(event);
}

bool pvmtrace_ends(int event)
{
    return --depth == 0 && wanted(event);
}

int trace_ended(int event, int result)
{
    TRACE_END(event, result);
    return result;
}

int trace_enter_program(void)
{
    int before = depth;
    depth = 0;
    return before;
}

void trace_leave_program(int before)
{
    depth = before;
}

/* ---- the membership -------------------------------------------------------------------------- */

void trace_start(void)
{
    for (int i = 0; i <= TEV_MAX; i++)
        pvmtevinfo[i].desc_status = pvmtevinfo[i].count = 0;
}

void trace_stop(void)
{
    trace_flush();
    pvmtrc.trctid = 0;
}

bool trace_mask_ok(const char *mask)
{
    return mask != NULL && strlen(mask) == TEV_MASK_LENGTH - 1;
}
