/*
 * option.c - pvm_setopt() and pvm_getopt().
 *
 * Options that say how PVM moves bytes are kept and given back, but do nothing here: Covey chooses
 * routes from what it measured, and has no fragments and no polling that a program would set.
 */
#include <pvm3.h>
#include <stdbool.h>

#include "lib/pvm3/core/abi.h"
#include "lib/pvm3/core/calls.h"
#include "lib/pvm3/core/error.h"
#include "lib/pvm3/mailbox/mailbox.h"
#include "lib/pvm3/message/send.h"
#include "lib/pvm3/trace/trace.h"

#define OPTIONS (PvmNoReset + 1)
#define FRAGMENT_MIN 48 /* bytes of PVM's headers, and some */
#define FRAGMENT_MAX 1048576

/* What a value may be. */
struct range {
    int least, most;
};

int pvmdebmask; /* programs set it by the option, and read it */

static int values[OPTIONS] = {[PvmRoute] = PvmAllowDirect, [PvmFragSize] = 4080, [PvmShowTids] = 1};

static const struct range ranges[OPTIONS] = {
    [PvmRoute] = {PvmDontRoute, PvmRouteDirect},
    [PvmFragSize] = {FRAGMENT_MIN, FRAGMENT_MAX},
    [PvmTraceOptions] = {PvmTraceFull, PvmTraceCount},
    [PvmSelfTraceOptions] = {PvmTraceFull, PvmTraceCount},
};

/* How to wait for shared memory: PVM has it where there is no other way. */
static bool is_polling(int what)
{
    return what == PvmPollType || what == PvmPollTime;
}

static bool option_known(int what)
{
    return what >= PvmRoute && what < OPTIONS;
}

/* Where an option is kept. */
static int *place_of(int what)
{
    switch (what) {
    case PvmOutputTid:
        return &pvmctrc.outtid;
    case PvmOutputContext:
        return &pvmctrc.outctx;
    case PvmOutputCode:
        return &pvmctrc.outtag;
    case PvmTraceTid:
        return &pvmctrc.trctid;
    case PvmTraceContext:
        return &pvmctrc.trcctx;
    case PvmTraceCode:
        return &pvmctrc.trctag;
    case PvmTraceBuffer:
        return &pvmctrc.trcbuf;
    case PvmTraceOptions:
        return &pvmctrc.trcopt;
    case PvmSelfOutputTid:
        return &pvmtrc.outtid;
    case PvmSelfOutputContext:
        return &pvmtrc.outctx;
    case PvmSelfOutputCode:
        return &pvmtrc.outtag;
    case PvmSelfTraceTid:
        return &pvmtrc.trctid;
    case PvmSelfTraceContext:
        return &pvmtrc.trcctx;
    case PvmSelfTraceCode:
        return &pvmtrc.trctag;
    case PvmSelfTraceBuffer:
        return &pvmtrc.trcbuf;
    case PvmSelfTraceOptions:
        return &pvmtrc.trcopt;
    default:
        return &values[what];
    }
}

/* Output and events of children go to this task, to nobody, or where its own go; then with the same
 * tag and in the same context. */
static int target_fits(int value, int own, int own_tag, int tag)
{
    return value == 0 || value == pvmmytid || (value == own && tag == own_tag);
}

static int detail_fits(int value, int tid, int own)
{
    return tid <= 0 || tid == pvmmytid || value == own;
}

static int option_fits(int what, int value)
{
    const struct range *r = &ranges[what];
    switch (what) {
    case PvmOutputTid:
        return target_fits(value, pvmtrc.outtid, pvmtrc.outtag, pvmctrc.outtag);
    case PvmTraceTid:
        return target_fits(value, pvmtrc.trctid, pvmtrc.trctag, pvmctrc.trctag);
    case PvmOutputContext:
        return detail_fits(value, pvmctrc.outtid, pvmtrc.outctx);
    case PvmOutputCode:
        return detail_fits(value, pvmctrc.outtid, pvmtrc.outtag);
    case PvmTraceContext:
        return detail_fits(value, pvmctrc.trctid, pvmtrc.trcctx);
    case PvmTraceCode:
        return detail_fits(value, pvmctrc.trctid, pvmtrc.trctag);
    default:
        return r->most == 0 || (value >= r->least && value <= r->most);
    }
}

/* PVM's way with those that it cannot change. */
static int refused(int what)
{
    bool never = what == PvmSelfOutputContext || what == PvmSelfTraceContext || is_polling(what);
    bool idle = (what == PvmSelfOutputCode && pvmtrc.outtid <= 0) ||
                (what == PvmSelfTraceCode && pvmtrc.trctid <= 0);
    return never ? PvmNotImpl : idle;
}

int call_getopt(int what)
{
    if (!option_known(what) || is_polling(what))
        return lpvmerr("pvm_getopt", PvmBadParam);
    return what == PvmAutoErr ? error_auto() : *place_of(what);
}

int call_setopt(int what, int value)
{
    if (!option_known(what) || !option_fits(what, value))
        return lpvmerr("pvm_setopt", PvmBadParam);
    if (refused(what) != 0)
        return refused(what) < 0 ? lpvmerr("pvm_setopt", refused(what)) : 0;
    int before = call_getopt(what);
    /* What a change brings with it: events collected so far are sent as they were wanted, and where
     * the own output and events go, those of children do. */
    if (what >= PvmSelfTraceTid && what <= PvmSelfTraceOptions)
        trace_flush();
    if (what == PvmAutoErr)
        error_set_auto(value);
    int error = what == PvmNoReset && !value != !before ? mailbox_noreset(value) : PvmOk;
    if (error != PvmOk)
        return lpvmerr("pvm_setopt", error);
    if (what == PvmDebugMask)
        pvmdebmask = value;
    *place_of(what) = value;
    if (what == PvmResvTids)
        send_allow_reserved(values[what] != 0);
    if (what == PvmSelfOutputTid || what == PvmSelfOutputCode) {
        pvmctrc.outtid = pvmtrc.outtid;
        pvmctrc.outctx = pvmtrc.outctx;
        pvmctrc.outtag = pvmtrc.outtag;
    } else if (what == PvmSelfTraceTid || what == PvmSelfTraceCode) {
        pvmctrc.trctid = pvmtrc.trctid;
        pvmctrc.trcctx = pvmtrc.trcctx;
        pvmctrc.trctag = pvmtrc.trctag;
        trace_start();
    }
    return before;
}
